#include "stress/conformance_ops.h"
#include "core/cpu.h"
#include "core/text.h"
#include "stress/attn.h"
#include "stress/conformance_dequant.h"
#include "stress/delta.h"
#include "stress/mla.h"
#include "stress/moe.h"
#include "stress/residual.h"
#include "stress/route.h"
#include <math.h>
#include <string.h>

/* The masks to try in turn. A mask whose variant is not built gives what the one before it gave,
 * and is passed over; so is one that the host does not have. */
static const unsigned masks[] = {0, CPU_AVX2, CPU_AVX2 | CPU_AVX512};
#define MASKS (sizeof(masks) / sizeof(masks[0]))

static bool fresh(unsigned i, unsigned cpu_mask, const char *variant, const char **last)
{
    if ((masks[i] & cpu_mask) != masks[i] || (*last && strcmp(*last, variant) == 0))
        return false;
    *last = variant;
    return true;
}

/* Causal attention takes time by the square of the tokens. */
static void limit_tokens(struct conformance_case *c, uint64_t tokens)
{
    if (!conformance_case_failed(c) && tokens > CONFORMANCE_OPS_TOKENS_MAX)
        err_set(&c->e, ERR_LIMIT, "%llu tokens of attention; at most %u are checked",
                (unsigned long long)tokens, CONFORMANCE_OPS_TOKENS_MAX);
}

static void gqa(struct conformance_case *c, unsigned cpu_mask)
{
    struct attn_shape s = {.store = DTYPE_F32};
    struct attn_ops ops;
    const char *last = NULL;

    s.scale = conformance_case_number(c, "scale");
    s.window = conformance_case_count(c, "window");
    const float *q = conformance_case_f32(c, "in.q", &s.tokens, &s.heads, &s.key_dim, NULL);
    const float *k = conformance_case_f32(c, "in.k", &s.tokens, &s.key_heads, &s.key_dim, NULL);
    s.value_heads = s.key_heads;
    const float *v = conformance_case_f32(c, "in.v", &s.tokens, &s.value_heads, &s.value_dim, NULL);
    const float *sinks = NULL, *want;
    if (conformance_case_has(c, "in.sinks"))
        sinks = conformance_case_f32(c, "in.sinks", &s.heads, NULL);
    want = conformance_case_f32(c, "out.o", &s.tokens, &s.heads, &s.value_dim, NULL);
    conformance_case_all_used(c);
    limit_tokens(c, s.tokens);
    uint64_t n = s.tokens * s.heads * s.value_dim;
    float *got = conformance_case_alloc(c, n, sizeof(float));
    void *scratch = conformance_case_alloc(c, attn_scratch_bytes(&s), 1);
    for (unsigned i = 0; scratch && i < MASKS; i++) {
        attn_init(&ops, masks[i]);
        if (!fresh(i, cpu_mask, ops.variant, &last))
            continue;
        attn_causal(&ops, &s, q, k, v, sinks, got, scratch);
        conformance_case_compare(c, "o", ops.variant, got, want, n);
    }
}

static void key_decoupled(struct conformance_case *c, unsigned cpu_mask)
{
    struct attn_shape s = {.store = DTYPE_F32};
    struct attn_weights w = {0};
    struct attn_ops ops;
    uint64_t hidden = 0;
    const char *last = NULL;

    s.heads = conformance_case_count(c, "heads");
    s.key_heads = conformance_case_count(c, "key_heads");
    s.value_heads = conformance_case_count(c, "value_heads");
    s.key_dim = conformance_case_count(c, "key_dim");
    s.value_dim = conformance_case_count(c, "value_dim");
    if (conformance_case_failed(c))
        return;
    if (!s.heads || !s.key_heads || !s.value_heads || !s.key_dim || !s.value_dim) {
        err_set(&c->e, ERR_FORMAT, "a head count or a width is 0");
        return;
    }
    s.scale = 1 / sqrt((double)s.key_dim);
    uint64_t nq = s.heads * s.key_dim, nk = s.key_heads * s.key_dim;
    uint64_t nv = s.value_heads * s.value_dim, no = s.heads * s.value_dim;
    const float *x = conformance_case_f32(c, "in.x", &s.tokens, &hidden, NULL);
    w.wq = conformance_case_f32(c, "in.wq", &nq, &hidden, NULL);
    w.wk = conformance_case_f32(c, "in.wk", &nk, &hidden, NULL);
    w.wv = conformance_case_f32(c, "in.wv", &nv, &hidden, NULL);
    w.wo = conformance_case_f32(c, "in.wo", &hidden, &no, NULL);
    const float *want = conformance_case_f32(c, "out.y", &s.tokens, &hidden, NULL);
    conformance_case_all_used(c);
    limit_tokens(c, s.tokens);
    float *got = conformance_case_alloc(c, s.tokens * hidden, sizeof(float));
    void *work = conformance_case_alloc(c, attn_project_bytes(&s), 1);
    void *scratch = conformance_case_alloc(c, attn_scratch_bytes(&s), 1);
    for (unsigned i = 0; scratch && i < MASKS; i++) {
        attn_init(&ops, masks[i]);
        if (!fresh(i, cpu_mask, ops.variant, &last))
            continue;
        attn_key_decoupled(&ops, &s, hidden, &w, x, got, work, scratch);
        conformance_case_compare(c, "y", ops.variant, got, want, s.tokens * hidden);
    }
}

struct mla_arrays {
    const float *q_nope, *q_rope, *c, *k_rope, *w_uk, *w_uv;
};

/* Row by row through the decode of a variant: what a server would do, token after token. */
static void mla_rows(const struct mla_ops *ops, const struct mla_shape *s,
                     const struct mla_arrays *a, float *q, float *ret_out, void *scratch)
{
    struct mla_shape row = *s;
    uint64_t dn = s->nope_dim, dr = s->rope_dim;

    for (uint64_t t = 0; t < s->tokens; t++) {
        for (uint64_t h = 0; h < s->heads; h++) {
            uint64_t at = t * s->heads + h;
            memcpy(q + h * (dn + dr), a->q_nope + at * dn, dn * sizeof(float));
            if (dr)
                memcpy(q + h * (dn + dr) + dn, a->q_rope + at * dr, dr * sizeof(float));
        }
        row.tokens = t + 1;
        ops->decode(&row, q, a->c, a->k_rope, a->w_uk, a->w_uv,
                    ret_out + t * s->heads * s->value_dim, scratch);
    }
}

static void mla(struct conformance_case *c, unsigned cpu_mask)
{
    struct mla_shape s = {.store = DTYPE_F32};
    struct mla_arrays a = {0};
    struct mla_ops ops;
    const char *last = NULL;

    s.scale = conformance_case_number(c, "scale");
    a.q_nope = conformance_case_f32(c, "in.q_nope", &s.tokens, &s.heads, &s.nope_dim, NULL);
    if (conformance_case_has(c, "in.q_rope")) {
        a.q_rope = conformance_case_f32(c, "in.q_rope", &s.tokens, &s.heads, &s.rope_dim, NULL);
        a.k_rope = conformance_case_f32(c, "in.k_rope", &s.tokens, &s.rope_dim, NULL);
    }
    a.c = conformance_case_f32(c, "in.c", &s.tokens, &s.rank, NULL);
    a.w_uk = conformance_case_f32(c, "in.w_uk", &s.heads, &s.nope_dim, &s.rank, NULL);
    a.w_uv = conformance_case_f32(c, "in.w_uv", &s.heads, &s.value_dim, &s.rank, NULL);
    const float *want = conformance_case_f32(c, "out.o", &s.tokens, &s.heads, &s.value_dim, NULL);
    conformance_case_all_used(c);
    limit_tokens(c, s.tokens);
    uint64_t n = s.tokens * s.heads * s.value_dim;
    float *got = conformance_case_alloc(c, n, sizeof(float));
    float *q = conformance_case_alloc(c, s.heads * (s.nope_dim + s.rope_dim), sizeof(float));
    void *wide = conformance_case_alloc(c, mla_expanded_scratch_bytes(&s), 1);
    void *scratch = conformance_case_alloc(c, mla_scratch_bytes(&s), 1);
    if (!scratch)
        return;
    mla_expanded(&s, a.q_nope, a.q_rope, a.c, a.k_rope, a.w_uk, a.w_uv, got, wide);
    conformance_case_compare(c, "o", "expanded", got, want, n);
    for (unsigned i = 0; i < MASKS; i++) {
        mla_init(&ops, masks[i]);
        if (!fresh(i, cpu_mask, ops.variant, &last))
            continue;
        mla_rows(&ops, &s, &a, q, got, scratch);
        conformance_case_compare(c, "o", ops.variant, got, want, n);
    }
}

static void kda(struct conformance_case *c, unsigned cpu_mask)
{
    static const char *const gates[] = {"softplus", "bounded", NULL};
    struct delta_shape s = {0};
    struct delta_in in = {0};
    struct delta_ops ops;
    uint64_t tokens = 0;
    const char *last = NULL;

    s.gate = conformance_case_word(c, "gate", gates) ? KDA_GATE_BOUNDED : KDA_GATE_SOFTPLUS;
    if (s.gate == KDA_GATE_BOUNDED)
        s.lower_bound = conformance_case_number(c, "lower_bound");
    s.l2_eps = conformance_case_number(c, "l2_eps");
    in.q = conformance_case_f32(c, "in.q", &tokens, &s.heads, &s.key_dim, NULL);
    in.k = conformance_case_f32(c, "in.k", &tokens, &s.heads, &s.key_dim, NULL);
    in.v = conformance_case_f32(c, "in.v", &tokens, &s.heads, &s.value_dim, NULL);
    in.z = conformance_case_f32(c, "in.z", &tokens, &s.heads, &s.key_dim, NULL);
    in.b = conformance_case_f32(c, "in.b", &tokens, &s.heads, NULL);
    in.a_log = conformance_case_f32(c, "in.a_log", &s.heads, NULL);
    const float *s0 = conformance_case_f32(c, "in.s0", &s.heads, &s.key_dim, &s.value_dim, NULL);
    const float *want_o = conformance_case_f32(c, "out.o", &tokens, &s.heads, &s.value_dim, NULL);
    const float *want_s =
        conformance_case_f32(c, "out.s", &s.heads, &s.key_dim, &s.value_dim, NULL);
    conformance_case_all_used(c);
    uint64_t n = tokens * s.heads * s.value_dim, states = s.heads * s.key_dim * s.value_dim;
    float *o = conformance_case_alloc(c, n, sizeof(float));
    float *state = conformance_case_alloc(c, states, sizeof(float));
    void *scratch = conformance_case_alloc(c, delta_scratch_bytes(&s), 1);
    for (unsigned i = 0; scratch && i < MASKS; i++) {
        delta_init(&ops, masks[i]);
        if (!fresh(i, cpu_mask, ops.variant, &last))
            continue;
        memcpy(state, s0, states * sizeof(float));
        delta_sequence(&ops, &s, tokens, &in, state, o, scratch);
        conformance_case_compare(c, "o", ops.variant, o, want_o, n);
        conformance_case_compare(c, "s", ops.variant, state, want_s, states);
    }
}

static void attnres(struct conformance_case *c, unsigned cpu_mask)
{
    struct residual_shape s = {.store = DTYPE_F32};
    struct residual_ops ops;
    uint64_t tokens = 0;
    const char *last = NULL;

    s.eps = conformance_case_number(c, "eps");
    const float *v = conformance_case_f32(c, "in.v", &s.sources, &tokens, &s.hidden, NULL);
    const float *w = conformance_case_f32(c, "in.w", &s.hidden, NULL);
    const float *norm = conformance_case_f32(c, "in.norm", &s.hidden, NULL);
    const float *want_h = conformance_case_f32(c, "out.h", &tokens, &s.hidden, NULL);
    const float *want_p = conformance_case_f32(c, "out.p", &tokens, &s.sources, NULL);
    conformance_case_all_used(c);
    float *h = conformance_case_alloc(c, tokens * s.hidden, sizeof(float));
    float *p = conformance_case_alloc(c, tokens * s.sources, sizeof(float));
    const void **at = conformance_case_alloc(c, s.sources, sizeof(void *));
    void *scratch = conformance_case_alloc(c, residual_scratch_bytes(&s), 1);
    for (unsigned i = 0; scratch && i < MASKS; i++) {
        residual_init(&ops, masks[i]);
        if (!fresh(i, cpu_mask, ops.variant, &last))
            continue;
        for (uint64_t t = 0; t < tokens; t++) {
            for (uint64_t n = 0; n < s.sources; n++)
                at[n] = v + (n * tokens + t) * s.hidden;
            ops.mix(&s, at, w, norm, h + t * s.hidden, p + t * s.sources, scratch);
        }
        conformance_case_compare(c, "h", ops.variant, h, want_h, tokens * s.hidden);
        conformance_case_compare(c, "p", ops.variant, p, want_p, tokens * s.sources);
    }
}

static void attnres_block(struct conformance_case *c, unsigned cpu_mask)
{
    struct residual_block b = {0};
    struct residual_ops ops;
    const char *last = NULL;

    b.eps = conformance_case_number(c, "eps");
    b.block = conformance_case_count(c, "block");
    if (b.block == 0 && !conformance_case_failed(c))
        err_set(&c->e, ERR_FORMAT, "parameter block is 0");
    const float *embed = conformance_case_f32(c, "in.embed", &b.tokens, &b.hidden, NULL);
    const float *f = conformance_case_f32(c, "in.f", &b.layers, &b.tokens, &b.hidden, NULL);
    uint64_t rows = b.layers + 1;
    const float *w = conformance_case_f32(c, "in.w", &rows, &b.hidden, NULL);
    const float *norm = conformance_case_f32(c, "in.norm", &rows, &b.hidden, NULL);
    const float *want = conformance_case_f32(c, "out.h", &rows, &b.tokens, &b.hidden, NULL);
    conformance_case_all_used(c);
    if (conformance_case_failed(c))
        return;
    uint64_t n = rows * b.tokens * b.hidden;
    float *got = conformance_case_alloc(c, n, sizeof(float));
    void *scratch = conformance_case_alloc(c, residual_block_scratch_bytes(&b), 1);
    for (unsigned i = 0; scratch && i < MASKS; i++) {
        residual_init(&ops, masks[i]);
        if (!fresh(i, cpu_mask, ops.variant, &last))
            continue;
        residual_block(&ops, &b, embed, f, w, norm, got, scratch);
        conformance_case_compare(c, "h", ops.variant, got, want, n);
    }
}

static void read_router(struct conformance_case *c, struct router *ret)
{
    static const char *const scores[] = {"softmax", "sigmoid", "softmax_after_topk", "sqrtsoftplus",
                                         NULL};
    static const enum router_score kinds[] = {ROUTER_SOFTMAX, ROUTER_SIGMOID,
                                              ROUTER_SOFTMAX_AFTER_TOPK, ROUTER_SQRTSOFTPLUS};

    ret->score = kinds[conformance_case_word(c, "score", scores)];
    ret->top_k = (uint32_t)conformance_case_count(c, "top_k");
    ret->groups = (uint32_t)conformance_case_count(c, "groups");
    ret->top_groups = (uint32_t)conformance_case_count(c, "top_groups");
    ret->renormalize = conformance_case_count(c, "renormalize") != 0;
    ret->scaling = conformance_case_number(c, "scaling");
}

/* Once the number of experts is known. */
static void check_router(struct conformance_case *c, uint64_t experts, struct router *ret)
{
    if (conformance_case_failed(c))
        return;
    ret->experts = (uint32_t)experts;
    if (route_check(ret, &c->e) != 0)
        c->e.code = ERR_FORMAT;
}

static void count_picks(const uint32_t *idx, uint64_t n, int64_t *counts, int64_t *ret_idx)
{
    for (uint64_t i = 0; i < n; i++) {
        counts[idx[i]]++;
        if (ret_idx)
            ret_idx[i] = idx[i];
    }
}

static void route(struct conformance_case *c, unsigned cpu_mask)
{
    struct router r = {0};
    uint64_t tokens = 0, experts = 0;
    const float *bias = NULL;

    (void)cpu_mask; /* routing has no variants */
    read_router(c, &r);
    uint64_t top_k = r.top_k;
    const float *logits = conformance_case_f32(c, "in.logits", &tokens, &experts, NULL);
    if (conformance_case_has(c, "in.bias"))
        bias = conformance_case_f32(c, "in.bias", &experts, NULL);
    check_router(c, experts, &r);
    const int64_t *want_idx = conformance_case_i64(c, "out.idx", &tokens, &top_k, NULL);
    const float *want_w = conformance_case_f32(c, "out.w", &tokens, &top_k, NULL);
    const int64_t *want_counts = conformance_case_i64(c, "out.counts", &experts, NULL);
    conformance_case_all_used(c);
    uint64_t n = tokens * top_k;
    uint32_t *idx = conformance_case_alloc(c, n, sizeof(uint32_t));
    float *w = conformance_case_alloc(c, n, sizeof(float));
    int64_t *wide = conformance_case_alloc(c, n, sizeof(int64_t));
    int64_t *counts = conformance_case_alloc(c, experts, sizeof(int64_t));
    void *scratch = conformance_case_alloc(c, route_scratch_bytes(&r), 1);
    if (!scratch)
        return;
    for (uint64_t t = 0; t < tokens; t++)
        route_token(&r, logits + t * experts, bias, idx + t * top_k, w + t * top_k, scratch);
    count_picks(idx, n, counts, wide);
    conformance_case_compare_i64(c, "idx", "c", wide, want_idx, n);
    conformance_case_compare(c, "w", "c", w, want_w, n);
    conformance_case_compare_i64(c, "counts", "c", counts, want_counts, experts);
}

/* The matrices, with pointers to each expert's. */
static void read_moe(struct conformance_case *c, struct moe_shape *s, struct moe_weights *w)
{
    uint64_t experts = 0, l = 0, d = s->hidden, m = 0, ms = 0;
    const float *w1, *w2, *w3 = NULL;

    w->down = conformance_case_f32(c, "in.down", &l, &d, NULL);
    w->up = conformance_case_f32(c, "in.up", &d, &l, NULL);
    w->router = conformance_case_f32(c, "in.router", &experts, s->router.on_latent ? &l : &d, NULL);
    if (conformance_case_has(c, "in.bias"))
        w->bias = conformance_case_f32(c, "in.bias", &experts, NULL);
    if (conformance_case_has(c, "in.norm"))
        w->norm = conformance_case_f32(c, "in.norm", &l, NULL);
    w1 = conformance_case_f32(c, "in.w1", &experts, &m, &l, NULL);
    if (conformance_case_has(c, "in.w3"))
        w3 = conformance_case_f32(c, "in.w3", &experts, &m, &l, NULL);
    w2 = conformance_case_f32(c, "in.w2", &experts, &l, &m, NULL);
    if (conformance_case_has(c, "in.sw1") || conformance_case_has(c, "in.sw2")) {
        w->sw1 = conformance_case_f32(c, "in.sw1", &ms, &d, NULL);
        w->sw2 = conformance_case_f32(c, "in.sw2", &d, &ms, NULL);
        if (conformance_case_has(c, "in.sw3"))
            w->sw3 = conformance_case_f32(c, "in.sw3", &ms, &d, NULL);
    }
    check_router(c, experts, &s->router);
    const void **at = conformance_case_alloc(c, 3 * experts, sizeof(void *));
    for (uint64_t e = 0; at && e < experts; e++) {
        at[e] = w1 + e * m * l;
        at[experts + e] = w2 + e * l * m;
        if (w3)
            at[2 * experts + e] = w3 + e * m * l;
    }
    w->w1 = at;
    w->w2 = at ? at + experts : NULL;
    w->w3 = at && w3 ? at + 2 * experts : NULL;
    s->latent = l;
    s->inner = m;
    s->shared_inner = ms;
}

static void latent(struct conformance_case *c, unsigned cpu_mask)
{
    static const char *const on[] = {"hidden", "latent", NULL};
    static const char *const acts[] = {"silu", "situ", "relu2", "identity", NULL};
    struct moe_shape s = {.store = DTYPE_F32};
    struct moe_weights w = {0};
    struct moe_ops ops;
    uint64_t tokens = 0;
    const char *last = NULL;

    read_router(c, &s.router);
    s.router.on_latent = conformance_case_word(c, "route_on", on) == 1;
    act_parse(acts[conformance_case_word(c, "act", acts)], &s.act);
    s.situ_beta = conformance_case_number(c, "situ_beta");
    s.situ_linear_beta = conformance_case_number(c, "situ_linear_beta");
    s.eps = conformance_case_number(c, "eps");
    const float *x = conformance_case_f32(c, "in.x", &tokens, &s.hidden, NULL);
    read_moe(c, &s, &w);
    uint64_t experts = s.router.experts, k = s.router.top_k, n = tokens * s.hidden;
    const float *want_y = conformance_case_f32(c, "out.y", &tokens, &s.hidden, NULL);
    const int64_t *want_counts = conformance_case_i64(c, "out.counts", &experts, NULL);
    conformance_case_all_used(c);
    float *y = conformance_case_alloc(c, n, sizeof(float));
    uint32_t *idx = conformance_case_alloc(c, k, sizeof(uint32_t));
    int64_t *counts = conformance_case_alloc(c, experts, sizeof(int64_t));
    void *scratch = conformance_case_alloc(c, moe_scratch_bytes(&s), 1);
    for (unsigned i = 0; scratch && i < MASKS; i++) {
        moe_init(&ops, masks[i]);
        if (!fresh(i, cpu_mask, ops.variant, &last))
            continue;
        memset(counts, 0, experts * sizeof(int64_t));
        for (uint64_t t = 0; t < tokens; t++) {
            ops.token(&s, &w, x + t * s.hidden, y + t * s.hidden, idx, scratch);
            count_picks(idx, k, counts, NULL);
        }
        conformance_case_compare(c, "y", ops.variant, y, want_y, n);
        conformance_case_compare_i64(c, "counts", ops.variant, counts, want_counts, experts);
    }
}

conformance_ops_fn *conformance_ops_find(const char *op)
{
    static const struct {
        const char *op;
        conformance_ops_fn *run;
    } table[] = {{"attention.gqa", gqa},        {"attention.key_decoupled", key_decoupled},
                 {"attention.mla", mla},        {"attention.kda", kda},
                 {"residual.attnres", attnres}, {"residual.attnres_block", attnres_block},
                 {"moe.route", route},          {"moe.latent", latent}};

    if (text_starts(op, "dequant."))
        return conformance_dequant;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (strcmp(table[i].op, op) == 0)
            return table[i].run;
    }
    return NULL;
}
