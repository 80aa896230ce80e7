#include "model/expect.h"
#include "core/text.h"
#include "model/family.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- making a list */

/* Appends a parameter of the given shape; cols 0: a vector, taps 0: no third dimension. */
static struct expect *add(struct expect_list *l, enum quant_class class, uint64_t rows,
                          uint64_t cols, uint64_t taps, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
static struct expect *add(struct expect_list *l, enum quant_class class, uint64_t rows,
                          uint64_t cols, uint64_t taps, const char *fmt, ...)
{
    assert(l->count < EXPECT_ITEMS_MAX);
    struct expect *x = &l->items[l->count++];
    *x = (struct expect){.class = class, .copies = 1, .copies_active = 1, .shape = {rows}};
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(x->name, sizeof x->name, fmt, ap);
    va_end(ap);
    assert(n > 0 && (size_t)n < sizeof x->name);
    x->dims = 1;
    if (cols)
        x->shape[x->dims++] = cols;
    if (taps)
        x->shape[x->dims++] = taps;
    x->elements = rows * (cols ? cols : 1) * (taps ? taps : 1);
    x->role = text_ends(x->name, ".weight") ? MODULE_WEIGHT
              : text_ends(x->name, ".bias") ? MODULE_BIAS
                                            : MODULE_PLAIN;
    x->base = (size_t)n - (x->role == MODULE_WEIGHT ? strlen(".weight")
                           : x->role == MODULE_BIAS ? strlen(".bias")
                                                    : 0);
    const char *star = strchr(x->name, '*');
    x->star = star ? (size_t)(star - x->name) : 0;
    return x;
}

static void matrix(struct expect_list *l, enum quant_class class, const char *name, uint64_t rows,
                   uint64_t cols)
{
    add(l, class, rows, cols, 0, "%s.weight", name);
}

static void vector(struct expect_list *l, const char *name, uint64_t n)
{
    add(l, QUANT_NORMS, n, 0, 0, "%s", name);
}

/* --- mixers */

static void softmax(const struct model *m, const struct mixer *x, struct expect_list *l)
{
    uint64_t q = (uint64_t)x->heads * x->key_dim, k = (uint64_t)x->key_heads * x->key_dim;
    uint64_t v = (uint64_t)x->value_heads * x->value_dim, o = (uint64_t)x->heads * x->value_dim;
    matrix(l, QUANT_ATTENTION, "self_attn.q_proj", q, m->hidden);
    matrix(l, QUANT_ATTENTION, "self_attn.k_proj", k, m->hidden);
    matrix(l, QUANT_ATTENTION, "self_attn.v_proj", v, m->hidden);
    matrix(l, QUANT_ATTENTION, "self_attn.o_proj", m->hidden, o);
    if (x->output_gate)
        matrix(l, QUANT_ATTENTION, "self_attn.g_proj", o, m->hidden);
    if (x->qkv_bias) {
        vector(l, "self_attn.q_proj.bias", q);
        vector(l, "self_attn.k_proj.bias", k);
        vector(l, "self_attn.v_proj.bias", v);
    }
    if (x->o_bias)
        vector(l, "self_attn.o_proj.bias", m->hidden);
    if (x->qk_norm) {
        vector(l, "self_attn.q_norm.weight", x->key_dim);
        vector(l, "self_attn.k_norm.weight", x->key_dim);
    }
}

static void latent(const struct model *m, const struct mixer *x, struct expect_list *l)
{
    uint64_t q = (uint64_t)x->heads * x->key_dim, o = (uint64_t)x->heads * x->value_dim;
    uint64_t kv = (uint64_t)x->heads * ((uint64_t)x->nope_dim + x->value_dim);
    if (x->q_rank) {
        matrix(l, QUANT_ATTENTION, "self_attn.q_a_proj", x->q_rank, m->hidden);
        vector(l, "self_attn.q_a_layernorm.weight", x->q_rank);
        matrix(l, QUANT_ATTENTION, "self_attn.q_b_proj", q, x->q_rank);
    } else {
        matrix(l, QUANT_ATTENTION, "self_attn.q_proj", q, m->hidden);
    }
    matrix(l, QUANT_ATTENTION, "self_attn.kv_a_proj_with_mqa", (uint64_t)x->kv_rank + x->rope_dim,
           m->hidden);
    vector(l, "self_attn.kv_a_layernorm.weight", x->kv_rank);
    matrix(l, QUANT_ATTENTION, "self_attn.kv_b_proj", kv, x->kv_rank);
    if (x->output_gate)
        matrix(l, QUANT_ATTENTION, "self_attn.g_proj", o, m->hidden);
    matrix(l, QUANT_ATTENTION, "self_attn.o_proj", m->hidden, o);
}

static void delta(const struct model *m, const struct mixer *x, struct expect_list *l)
{
    uint64_t k = (uint64_t)x->heads * x->key_dim, v = (uint64_t)x->value_heads * x->value_dim;
    const char *gate = m->kda_fused ? "self_attn.forget_gate." : "self_attn.";
    matrix(l, QUANT_ATTENTION, "self_attn.q_proj", k, m->hidden);
    matrix(l, QUANT_ATTENTION, "self_attn.k_proj", k, m->hidden);
    matrix(l, QUANT_ATTENTION, "self_attn.v_proj", v, m->hidden);
    if (m->kda_fused) {
        add(l, QUANT_NORMS, 2 * k + v, 1, x->conv_kernel, "self_attn.conv1d.weight");
    } else {
        add(l, QUANT_NORMS, k, 1, x->conv_kernel, "self_attn.q_conv1d.weight");
        add(l, QUANT_NORMS, k, 1, x->conv_kernel, "self_attn.k_conv1d.weight");
        add(l, QUANT_NORMS, v, 1, x->conv_kernel, "self_attn.v_conv1d.weight");
    }
    add(l, QUANT_ATTENTION, x->key_dim, m->hidden, 0, "%sf_a_proj.weight", gate);
    add(l, QUANT_ATTENTION, k, x->key_dim, 0, "%sf_b_proj.weight", gate);
    add(l, QUANT_NORMS, x->heads, 0, 0, "%sA_log", gate);
    add(l, QUANT_NORMS, k, 0, 0, "%sdt_bias", gate);
    matrix(l, QUANT_ATTENTION, "self_attn.b_proj", x->heads, m->hidden);
    if (x->full_rank_gate) {
        matrix(l, QUANT_ATTENTION, "self_attn.g_proj", v, m->hidden);
    } else {
        matrix(l, QUANT_ATTENTION, "self_attn.g_a_proj", x->key_dim, m->hidden);
        matrix(l, QUANT_ATTENTION, "self_attn.g_b_proj", v, x->key_dim);
    }
    vector(l, "self_attn.o_norm.weight", x->value_dim);
    matrix(l, QUANT_ATTENTION, "self_attn.o_proj", m->hidden, v);
}

/* --- feed-forwards */

static void three(struct expect_list *l, enum quant_class class, const char *dir, uint64_t inner,
                  uint64_t width, bool gated, bool bias)
{
    if (gated)
        add(l, class, inner, width, 0, "%s.gate_proj.weight", dir);
    add(l, class, inner, width, 0, "%s.up_proj.weight", dir);
    add(l, class, width, inner, 0, "%s.down_proj.weight", dir);
    if (bias) {
        if (gated)
            add(l, QUANT_NORMS, inner, 0, 0, "%s.gate_proj.bias", dir);
        add(l, QUANT_NORMS, inner, 0, 0, "%s.up_proj.bias", dir);
        add(l, QUANT_NORMS, width, 0, 0, "%s.down_proj.bias", dir);
    }
}

static void expert(const struct ffn *x, struct expect_list *l, const char *dir, const char *name,
                   uint64_t rows, uint64_t cols)
{
    struct expect *p =
        add(l, QUANT_ROUTED_EXPERTS, rows, cols, 0, "%s.experts.*.%s.weight", dir, name);
    p->copies = x->router.experts;
    p->copies_active = x->router.top_k;
}

static void experts(const struct model *m, const struct ffn *x, struct expect_list *l)
{
    const struct family *f = m->traits;
    const char *dir = f->moe_dir;
    char shared[64];
    add(l, QUANT_ROUTER, x->router.experts, x->router.on_latent ? x->latent : m->hidden, 0,
        "%s.gate.weight", dir);
    if (x->router.bias)
        add(l, QUANT_NORMS, x->router.experts, 0, 0, "%s.gate.e_score_correction_bias", dir);
    if (x->kind == FFN_MOE_LATENT) {
        add(l, QUANT_LATENT, x->latent, m->hidden, 0, "%s.routed_expert_down_proj.weight", dir);
        if (x->latent_norm)
            add(l, QUANT_NORMS, x->latent, 0, 0, "%s.routed_expert_norm.weight", dir);
        add(l, QUANT_LATENT, m->hidden, x->latent, 0, "%s.routed_expert_up_proj.weight", dir);
    }
    if (x->gated)
        expert(x, l, dir, f->gate, x->inner, x->latent);
    expert(x, l, dir, f->up, x->inner, x->latent);
    expert(x, l, dir, f->down, x->latent, x->inner);
    if (x->shared) {
        snprintf(shared, sizeof shared, "%s.%s", dir, f->shared_dir);
        three(l, QUANT_SHARED_EXPERTS, shared, x->shared_inner, m->hidden, x->gated, false);
    }
    if (x->shared_gate)
        add(l, QUANT_SHARED_EXPERTS, 1, m->hidden, 0, "%s.shared_expert_gate.weight", dir);
}

/* --- layers, and what lies around them */

void expect_layer(const struct model *m, uint32_t layer, struct expect_list *ret)
{
    const struct layer *x = &m->layers[layer];
    ret->count = 0;
    switch (x->mixer.kind) {
    case MIXER_GQA:
    case MIXER_KEY_DECOUPLED: softmax(m, &x->mixer, ret); break;
    case MIXER_MLA: latent(m, &x->mixer, ret); break;
    case MIXER_KDA: delta(m, &x->mixer, ret); break;
    case MIXER_UNKNOWN:
    case MIXERS: break;
    }
    vector(ret, "input_layernorm.weight", m->hidden);
    vector(ret, "post_attention_layernorm.weight", m->hidden);
    if (x->residual != RESIDUAL_ADD) {
        vector(ret, "self_attention_res_norm.weight", m->hidden);
        vector(ret, "mlp_res_norm.weight", m->hidden);
        matrix(ret, QUANT_ATTNRES, "self_attention_res_proj", 1, m->hidden);
        matrix(ret, QUANT_ATTNRES, "mlp_res_proj", 1, m->hidden);
    }
    if (x->ffn.kind == FFN_DENSE)
        three(ret, QUANT_DENSE_FFN, "mlp", x->ffn.inner, m->hidden, x->ffn.gated, x->ffn.bias);
    else if (x->ffn.kind == FFN_MOE || x->ffn.kind == FFN_MOE_LATENT)
        experts(m, &x->ffn, ret);
}

void expect_outer(const struct model *m, struct expect_list *ret)
{
    size_t n = strlen(m->prefix);
    bool below = n >= 6 && !strcmp(m->prefix + n - 6, "model.");
    ret->count = 0;
    add(ret, QUANT_EMBEDDING, m->vocab, m->hidden, 0, "%sembed_tokens.weight", m->prefix);
    add(ret, QUANT_NORMS, m->hidden, 0, 0, "%snorm.weight", m->prefix);
    if (m->attnres_block) {
        add(ret, QUANT_NORMS, m->hidden, 0, 0, "%soutput_attn_res_norm.weight", m->prefix);
        add(ret, QUANT_ATTNRES, 1, m->hidden, 0, "%soutput_attn_res_proj.weight", m->prefix);
    }
    /* The head stands beside "model.", not in it. */
    if (!m->tied_embeddings)
        add(ret, QUANT_HEAD, m->vocab, m->hidden, 0, "%.*slm_head.weight", (int)(below ? n - 6 : n),
            m->prefix);
}

/* --- finding */

void expect_finder_init(struct expect_finder *f, const struct model *m)
{
    f->m = m;
    f->ready = false;
    expect_outer(m, &f->outer);
}

/* Reads a decimal number without leading zeros at s, before end. False if there is none, or it is
 * longer than any layer or expert number. */
static bool number(const char *s, const char *end, uint32_t *ret, const char **ret_end)
{
    uint32_t n = 0;
    const char *p = s;
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        if (p - s > 6)
            return false;
        n = n * 10 + (uint32_t)(*p - '0');
    }
    if (p == s || (*s == '0' && p - s > 1))
        return false;
    *ret = n;
    *ret_end = p;
    return true;
}

static const struct expect *match(const struct expect_list *l, const char *name, size_t bytes,
                                  enum module_role role, uint32_t *ret_expert)
{
    for (size_t i = 0; i < l->count; i++) {
        const struct expect *x = &l->items[i];
        if (x->role != role)
            continue;
        if (!x->star) {
            if (x->base == bytes && !memcmp(x->name, name, bytes))
                return x;
            continue;
        }
        const char *end = name + bytes, *p;
        size_t tail = x->base - x->star - 1;
        if (bytes > x->star + tail && !memcmp(x->name, name, x->star) &&
            number(name + x->star, end, ret_expert, &p) && (size_t)(end - p) == tail &&
            !memcmp(p, x->name + x->star + 1, tail))
            return x;
    }
    return NULL;
}

/* The head stands beside the text model's prefix, also where it is tied and not expected. */
static bool is_head(const char *name, size_t module_bytes)
{
    static const char head[] = "lm_head";
    size_t n = sizeof head - 1;
    return module_bytes >= n && !memcmp(name + module_bytes - n, head, n) &&
           (module_bytes == n || name[module_bytes - n - 1] == '.');
}

void expect_find(struct expect_finder *f, const char *name, size_t module_bytes,
                 enum module_role role, struct expect_hit *ret)
{
    static const char layers[] = "layers.";
    const struct model *m = f->m;
    size_t n = strlen(m->prefix), k = sizeof layers - 1;
    const char *end = name + module_bytes, *p;
    enum module_role kind = role == MODULE_PLAIN || role == MODULE_BIAS ? role : MODULE_WEIGHT;
    *ret = (struct expect_hit){.rest = name};
    if (module_bytes < n + k || memcmp(name, m->prefix, n) || memcmp(name + n, layers, k) ||
        !number(name + n + k, end, &ret->layer, &p) || p == end || *p != '.') {
        ret->item = match(&f->outer, name, module_bytes, kind, &ret->expert);
        bool inside =
            is_head(name, module_bytes) || (n && module_bytes >= n && !memcmp(name, m->prefix, n));
        ret->place = ret->item || inside ? EXPECT_OUTER : EXPECT_FOREIGN;
        return;
    }
    ret->rest = p + 1;
    uint32_t as = ret->layer;
    ret->place = EXPECT_LAYER;
    if (ret->layer >= m->layer_count) {
        ret->place = ret->layer - m->layer_count < m->mtp_layers ? EXPECT_MTP : EXPECT_BEYOND;
        if (ret->place == EXPECT_BEYOND)
            return;
        as = m->layer_count - 1;
    }
    if (!f->ready || f->at != as) {
        expect_layer(m, as, &f->layer);
        f->at = as;
        f->ready = true;
    }
    ret->item = match(&f->layer, ret->rest, (size_t)(end - ret->rest), kind, &ret->expert);
}

enum quant_class expect_class(const struct expect_hit *hit, const char *name, size_t module_bytes)
{
    if (hit->place == EXPECT_MTP)
        return QUANT_MTP;
    if (hit->item)
        return hit->item->class;
    return is_head(name, module_bytes) ? QUANT_HEAD : QUANT_OTHER;
}
