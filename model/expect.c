#include "model/expect.h"
#include "core/text.h"
#include "model/expect_list.h"
#include "model/expect_mixers.h"
#include "model/family.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

/* --- feed-forwards */

static void three(struct expect_list *l, enum quant_class class, const char *dir, uint64_t inner,
                  uint64_t width, const struct ffn *x, bool fused)
{
    if (fused) {
        expect_list_matrix(l, class, dir, "gate_up_proj", 2 * inner, width);
    } else {
        if (x->gated)
            expect_list_matrix(l, class, dir, "gate_proj", inner, width);
        expect_list_matrix(l, class, dir, "up_proj", inner, width);
    }
    expect_list_matrix(l, class, dir, "down_proj", width, inner);
    if (!x->bias)
        return;
    if (x->gated)
        expect_list_vector(l, dir, "gate_proj.bias", inner);
    expect_list_vector(l, dir, "up_proj.bias", inner);
    expect_list_vector(l, dir, "down_proj.bias", width);
}

static void expert(const struct ffn *x, struct expect_list *l, const char *dir, const char *name,
                   uint64_t rows, uint64_t cols)
{
    struct expect *p = expect_list_add(l, QUANT_ROUTED_EXPERTS, rows, cols, 0,
                                       "%s.experts.*.%s.weight", dir, name);
    p->copies = x->router.experts;
    p->copies_active = x->router.top_k;
}

/* A tensor for all experts: its elements are those of one. */
static void joint(const struct ffn *x, struct expect_list *l, const char *dir, const char *name,
                  uint64_t rows, uint64_t cols)
{
    struct expect *p = expect_list_add(l, cols ? QUANT_ROUTED_EXPERTS : QUANT_NORMS,
                                       x->router.experts, rows, cols, "%s.experts.%s", dir, name);
    p->joint = true;
    p->elements = rows * (cols ? cols : 1);
    p->copies = x->router.experts;
    p->copies_active = x->router.top_k;
}

static void routed(const struct model *m, const struct ffn *x, struct expect_list *l)
{
    const struct family *f = m->traits;
    const char *dir = f->moe_dir;
    if (f->experts_fused || m->experts_fused) {
        joint(x, l, dir, "gate_up_proj", 2ull * x->inner, x->latent);
        joint(x, l, dir, "down_proj", x->latent, x->inner);
        if (f->experts_bias) {
            joint(x, l, dir, "gate_up_proj_bias", 2ull * x->inner, 0);
            joint(x, l, dir, "down_proj_bias", x->latent, 0);
        }
        return;
    }
    if (x->gated)
        expert(x, l, dir, f->gate, x->inner, x->latent);
    expert(x, l, dir, f->up, x->inner, x->latent);
    expert(x, l, dir, f->down, x->latent, x->inner);
}

static void experts(const struct model *m, const struct ffn *x, struct expect_list *l)
{
    const struct family *f = m->traits;
    const char *dir = f->moe_dir, *router = f->router ? f->router : "gate";
    char shared[64];
    expect_list_add(l, QUANT_ROUTER, x->router.experts, x->router.on_latent ? x->latent : m->hidden,
                    0, "%s.%s.weight", dir, router);
    if (f->experts_bias)
        expect_list_add(l, QUANT_NORMS, x->router.experts, 0, 0, "%s.%s.bias", dir, router);
    if (x->router.bias)
        expect_list_vector(l, dir, f->correction ? f->correction : "gate.e_score_correction_bias",
                           x->router.experts);
    if (x->kind == FFN_MOE_LATENT) {
        expect_list_matrix(l, QUANT_LATENT, dir, f->latent_down, x->latent, m->hidden);
        if (x->latent_norm)
            expect_list_vector(l, dir, "routed_expert_norm.weight", x->latent);
        expect_list_matrix(l, QUANT_LATENT, dir, f->latent_up, m->hidden, x->latent);
    }
    routed(m, x, l);
    if (x->shared && f->shared_dir) {
        struct ffn plain = *x;
        plain.bias = false;
        snprintf(shared, sizeof shared, "%s.%s", dir, f->shared_dir);
        three(l, QUANT_SHARED_EXPERTS, shared, x->shared_inner, m->hidden, &plain, false);
    }
    if (x->shared_gate)
        expect_list_add(l, QUANT_SHARED_EXPERTS, 1, m->hidden, 0, "%s.shared_expert_gate.weight",
                        dir);
}

/* --- layers, and what lies around them */

/* A layer that a search left without a mixer or a feed-forward has no norm in front of it. */
static bool bare(const struct layer *x, const char *name, int n)
{
    return (x->mixer.kind == MIXER_NONE && !strncmp(name, "input_layernorm", (size_t)n)) ||
           (x->ffn.kind == FFN_NONE && !strncmp(name, "post_attention_layernorm", (size_t)n));
}

static void norms(const struct model *m, const struct layer *x, struct expect_list *l)
{
    const char *at = m->traits->norms ? m->traits->norms
                     : m->traits->layout == FAMILY_LAYOUT_NEMOTRON
                         ? "norm"
                         : "input_layernorm post_attention_layernorm";
    while (*at) {
        int n = (int)strcspn(at, " ");
        if (!bare(x, at, n))
            expect_list_add(l, QUANT_NORMS, m->hidden, 0, 0, "%.*s.weight", n, at);
        at += n;
        at += strspn(at, " ");
    }
}

void expect_layer(const struct model *m, uint32_t layer, struct expect_list *ret)
{
    const struct layer *x = &m->layers[layer];
    const char *mlp = m->traits->mlp_dir ? m->traits->mlp_dir : "mlp";
    ret->count = 0;
    if (m->traits->layout == FAMILY_LAYOUT_UNKNOWN)
        return;
    if (m->traits->layout == FAMILY_LAYOUT_NEMOTRON)
        mlp = "mixer";
    expect_mixers_add(m, &x->mixer, ret);
    norms(m, x, ret);
    if (x->residual == RESIDUAL_ATTNRES || x->residual == RESIDUAL_ATTNRES_BLOCK) {
        expect_list_add(ret, QUANT_NORMS, m->hidden, 0, 0, "self_attention_res_norm.weight");
        expect_list_add(ret, QUANT_NORMS, m->hidden, 0, 0, "mlp_res_norm.weight");
        expect_list_add(ret, QUANT_ATTNRES, 1, m->hidden, 0, "self_attention_res_proj.weight");
        expect_list_add(ret, QUANT_ATTNRES, 1, m->hidden, 0, "mlp_res_proj.weight");
    }
    if (x->ffn.kind == FFN_DENSE)
        three(ret, QUANT_DENSE_FFN, mlp, x->ffn.inner, m->hidden, &x->ffn, m->traits->fused);
    else if ((x->ffn.kind == FFN_MOE || x->ffn.kind == FFN_MOE_LATENT) && m->traits->moe_dir)
        experts(m, &x->ffn, ret);
}

void expect_head(const struct model *m, char ret[EXPECT_HEAD_BYTES])
{
    size_t n = strlen(m->prefix);
    bool below = n >= 6 && !strcmp(m->prefix + n - 6, "model.");
    /* The head stands beside "model.", not in it, and alone beside other prefixes of the family. */
    if (m->head || m->traits->layout == FAMILY_LAYOUT_NEMOTRON)
        snprintf(ret, EXPECT_HEAD_BYTES, "%s", m->head ? m->head : "lm_head.weight");
    else
        snprintf(ret, EXPECT_HEAD_BYTES, "%.*slm_head.weight", (int)(below ? n - 6 : n), m->prefix);
}

void expect_outer(const struct model *m, struct expect_list *ret)
{
    bool other = m->traits->layout == FAMILY_LAYOUT_NEMOTRON;
    char head[EXPECT_HEAD_BYTES];
    ret->count = 0;
    if (m->traits->layout == FAMILY_LAYOUT_UNKNOWN)
        return;
    expect_list_add(ret, QUANT_EMBEDDING, m->vocab, m->hidden, 0, "%s%s.weight", m->prefix,
                    other ? "embeddings" : "embed_tokens");
    expect_list_add(ret, QUANT_NORMS, m->hidden, 0, 0, "%s%s.weight", m->prefix,
                    other ? "norm_f" : "norm");
    if (m->attnres_block) {
        expect_list_add(ret, QUANT_NORMS, m->hidden, 0, 0, "%soutput_attn_res_norm.weight",
                        m->prefix);
        expect_list_add(ret, QUANT_ATTNRES, 1, m->hidden, 0, "%soutput_attn_res_proj.weight",
                        m->prefix);
    }
    expect_head(m, head);
    if (!m->tied_embeddings)
        expect_list_add(ret, QUANT_HEAD, m->vocab, m->hidden, 0, "%s", head);
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
        if (x->role != role && !(x->joint && role == MODULE_WEIGHT))
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

/* Draft layers that stand beside the text model and not behind its layers: mtp.layers.N.*, with
 * what feeds them (mtp.fc, mtp.norm). */
static bool draft(const char *name, const char *end, const struct model *m, uint32_t *ret_layer)
{
    static const char mtp[] = "mtp.", layers[] = "mtp.layers.";
    const char *p;
    uint32_t n = 0;
    if ((size_t)(end - name) < sizeof mtp || memcmp(name, mtp, sizeof mtp - 1))
        return false;
    if ((size_t)(end - name) > sizeof layers && !memcmp(name, layers, sizeof layers - 1) &&
        !number(name + sizeof layers - 1, end, &n, &p))
        n = 0;
    *ret_layer = m->layer_count + n;
    return true;
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
        ret->place = ret->item || inside                ? EXPECT_OUTER
                     : draft(name, end, m, &ret->layer) ? EXPECT_MTP
                                                        : EXPECT_FOREIGN;
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
