/* Each kernel's variants and composed paths against its definition: every CPU level of this host,
 * sizes that are no multiple of a vector, arrays that end at an unmapped page, NaN in each input.
 * What a sum of n products may be off by is proportional to the sum of their magnitudes, and so are
 * the bounds here. Prints what fails; exit 0 if nothing does. */
#include "tests/kernels/kcheck.h"
#include "stress/attn.h"
#include "stress/delta.h"
#include "stress/mla.h"
#include "stress/moe.h"
#include "stress/prim.h"
#include "stress/residual.h"
#include "tests/kernels/kcheck_dequant.h"

/* --- attention -------------------------------------------------------------------------------- */

struct attn_data {
    struct attn_shape s;
    float *q, *sinks, *want, *got;
    void *k, *v;
    double *bound;
};

/* Weights are off by what their logits are off by, and sum to one: the error of an output is that
 * of a logit (the magnitudes of its products) times the largest value. */
static void attn_bound(struct attn_data *d)
{
    const struct attn_shape *s = &d->s;
    double top = 0;

    for (uint64_t i = 0; i < s->tokens * s->value_heads * s->value_dim; i++)
        top = fmax(top, fabs(stored_at(s->store, d->v, i)));
    for (uint64_t i = 0; i < s->heads * s->value_dim; i++)
        d->bound[i] = 8 * EPS * (4 + s->scale * (double)s->key_dim) * top;
}

static void attn_all(struct attn_data *d)
{
    const struct attn_shape *s = &d->s;
    void *scratch = scratch_of(attn_scratch_bytes(s));
    void *composed = scratch_of(attn_composed_scratch_bytes(s));
    uint64_t n = s->heads * s->value_dim;
    struct attn_ops ops;
    struct prim_ops prim;

    attn_init(&ops, 0);
    ops.decode(s, d->q, d->k, d->v, d->sinks, d->want, scratch);
    attn_bound(d);
    for (unsigned i = 0; i <= MASKS; i++) {
        unsigned mask = i ? masks[i - 1] : 0;
        if ((cpu_features() & mask) != mask)
            continue;
        attn_init(&ops, mask);
        prim_init(&prim, mask);
        what = ops.variant;
        memset(d->got, 0x7f, n * sizeof(float));
        ops.decode(s, d->q, d->k, d->v, d->sinks, d->got, scratch);
        same(d->got, d->want, d->bound, n);
        what = "composed";
        attn_composed(&prim, s, d->q, d->k, d->v, d->sinks, d->got, composed);
        same(d->got, d->want, d->bound, n);
    }
}

static void attn_one(const struct attn_shape *s, bool sinks)
{
    struct attn_data d = {.s = *s};
    uint64_t n = s->heads * s->value_dim;

    snprintf(label, sizeof(label), "attn T=%d heads %d/%d/%d dims %d/%d window %d%s %s",
             (int)s->tokens, (int)s->heads, (int)s->key_heads, (int)s->value_heads, (int)s->key_dim,
             (int)s->value_dim, (int)s->window, sinks ? " sinks" : "",
             s->store == DTYPE_BF16 ? "bf16" : "f32");
    d.q = floats(s->heads * s->key_dim);
    d.k = stored(s->store, s->tokens * s->key_heads * s->key_dim);
    d.v = stored(s->store, s->tokens * s->value_heads * s->value_dim);
    d.sinks = sinks ? floats(s->heads) : NULL;
    d.want = guarded(n, sizeof(float));
    d.got = guarded(n, sizeof(float));
    d.bound = guarded(n, sizeof(double));
    attn_all(&d);
    if (s->tokens > 0 && s->heads % s->value_heads == 0) {
        /* the last value of the last token: one column of the heads that read it */
        put(s->store, d.v, s->tokens * s->value_heads * s->value_dim - 1, NAN);
        attn_all(&d);
        want_count(nans(d.want, n), s->heads / s->value_heads);
        d.q[0] = NAN; /* and all of head 0 */
        attn_all(&d);
        want_count(nans(d.want, n),
                   s->heads / s->value_heads + s->value_dim - (s->value_heads == 1 ? 1 : 0));
    }
    release();
}

static void attn(void)
{
    static const uint64_t tokens[] = {0, 1, 2, 3, 7, 33, 130};
    static const uint64_t shapes[][5] = {{1, 1, 1, 1, 1},    {4, 2, 2, 16, 16}, {6, 2, 3, 9, 37},
                                         {8, 1, 1, 70, 5},   {5, 5, 5, 33, 64}, {12, 4, 2, 128, 31},
                                         {3, 2, 2, 24, 130}, {6, 1, 6, 7, 96}};

    for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        for (unsigned t = 0; t < 14; t++) {
            struct attn_shape s = {.tokens = tokens[t / 2],
                                   .heads = shapes[i][0],
                                   .key_heads = shapes[i][1],
                                   .value_heads = shapes[i][2],
                                   .key_dim = shapes[i][3],
                                   .value_dim = shapes[i][4],
                                   .window = i % 3 == 1 ? 5 : 0,
                                   .scale = 1 / sqrt((double)shapes[i][3]),
                                   .store = t % 2 ? DTYPE_BF16 : DTYPE_F32};
            attn_one(&s, i % 2 == 1);
        }
    }
}

/* --- MLA -------------------------------------------------------------------------------------- */

static void mla_one(const struct mla_shape *s)
{
    uint64_t n = s->heads * s->value_dim, q_dim = s->nope_dim + s->rope_dim;
    float *q = floats(s->heads * q_dim);
    void *c = stored(s->store, s->tokens * s->rank);
    void *k_rope = s->rope_dim ? stored(s->store, s->tokens * s->rope_dim) : NULL;
    void *w_uk = stored(s->store, s->heads * s->nope_dim * s->rank);
    void *w_uv = stored(s->store, s->heads * s->value_dim * s->rank);
    float *want = guarded(n, sizeof(float)), *got = guarded(n, sizeof(float));
    double *bound = guarded(n, sizeof(double));
    void *scratch = scratch_of(mla_scratch_bytes(s));
    struct mla_ops ops;

    snprintf(label, sizeof(label), "mla T=%d heads %d nope %d rope %d rank %d value %d %s",
             (int)s->tokens, (int)s->heads, (int)s->nope_dim, (int)s->rope_dim, (int)s->rank,
             (int)s->value_dim, s->store == DTYPE_BF16 ? "bf16" : "f32");
    /* a logit is nope_dim x rank + rope_dim products of magnitude 1/8 or so, an output rank of them
     */
    for (uint64_t i = 0; i < n; i++)
        bound[i] = 2 * EPS * (8 + s->scale * (double)(s->nope_dim * s->rank + s->rope_dim)) *
                   (double)s->rank / 2;
    for (unsigned bad = 0; bad < 2; bad++) {
        if (bad && s->tokens)
            put(s->store, c, 0, NAN); /* the latent of token 0 is in every logit */
        mla_init(&ops, 0);
        ops.decode(s, q, c, k_rope, w_uk, w_uv, want, scratch);
        what = "c";
        want_count(nans(want, n), bad && s->tokens ? n : 0);
        for (unsigned i = 0; i < MASKS; i++) {
            if ((cpu_features() & masks[i]) != masks[i])
                continue;
            mla_init(&ops, masks[i]);
            what = ops.variant;
            ops.decode(s, q, c, k_rope, w_uk, w_uv, got, scratch);
            same(got, want, bound, n);
        }
    }
    release();
}

static void mla(void)
{
    static const uint64_t tokens[] = {0, 1, 2, 3, 7, 33, 130};
    static const uint64_t shapes[][5] = {
        {1, 1, 0, 1, 1}, {3, 8, 4, 16, 12}, {2, 5, 3, 33, 9}, {5, 16, 8, 40, 20}, {4, 7, 0, 31, 6}};

    for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        for (unsigned t = 0; t < 14; t++) {
            struct mla_shape s = {.tokens = tokens[t / 2],
                                  .heads = shapes[i][0],
                                  .nope_dim = shapes[i][1],
                                  .rope_dim = shapes[i][2],
                                  .rank = shapes[i][3],
                                  .value_dim = shapes[i][4],
                                  .scale = 1 / sqrt((double)(shapes[i][1] + shapes[i][2])),
                                  .store = t % 2 ? DTYPE_BF16 : DTYPE_F32};
            mla_one(&s);
        }
    }
}

/* --- KDA -------------------------------------------------------------------------------------- */

struct delta_data {
    struct delta_shape s;
    struct delta_in in;
    float *state, *want, *got; /* state before; out, then state after */
    double *bound;
    uint64_t values, states;
};

static void delta_all(struct delta_data *d)
{
    void *scratch = scratch_of(delta_scratch_bytes(&d->s));
    void *composed = scratch_of(delta_composed_scratch_bytes(&d->s));
    size_t bytes = d->states * sizeof(float);
    uint64_t all = d->values + d->states;
    struct delta_ops ops;
    struct prim_ops prim;

    delta_init(&ops, 0);
    memcpy(d->want + d->values, d->state, bytes);
    ops.step(&d->s, &d->in, d->want + d->values, d->want, scratch);
    /* every number is at most 2 here, and an output is a sum of key_dim of them times a unit vector
     */
    for (uint64_t i = 0; i < all; i++)
        d->bound[i] = 16 * EPS * (4 + sqrt((double)d->s.key_dim));
    for (unsigned i = 0; i <= MASKS; i++) {
        unsigned mask = i ? masks[i - 1] : 0;
        if ((cpu_features() & mask) != mask)
            continue;
        delta_init(&ops, mask);
        prim_init(&prim, mask);
        what = ops.variant;
        memcpy(d->got + d->values, d->state, bytes);
        ops.step(&d->s, &d->in, d->got + d->values, d->got, scratch);
        same(d->got, d->want, d->bound, all);
        what = "composed";
        memcpy(d->got + d->values, d->state, bytes);
        delta_composed(&prim, &d->s, &d->in, d->got + d->values, d->got, composed);
        same(d->got, d->want, d->bound, all);
    }
}

static void delta_one(uint64_t heads, uint64_t dk, uint64_t dv, enum kda_gate gate)
{
    struct delta_data d = {.s = {.heads = heads,
                                 .key_dim = dk,
                                 .value_dim = dv,
                                 .gate = gate,
                                 .lower_bound = -5,
                                 .l2_eps = 1e-6},
                           .values = heads * dv,
                           .states = heads * dk * dv};
    float *k = floats(heads * dk), *z = floats(heads * dk);

    snprintf(label, sizeof(label), "kda heads %d dims %d/%d %s", (int)heads, (int)dk, (int)dv,
             gate == KDA_GATE_BOUNDED ? "bounded" : "softplus");
    d.in = (struct delta_in){.q = floats(heads * dk),
                             .k = k,
                             .v = floats(heads * dv),
                             .z = z,
                             .b = floats(heads),
                             .a_log = floats(heads)};
    d.state = floats(d.states);
    d.want = guarded(d.values + d.states, sizeof(float));
    d.got = guarded(d.values + d.states, sizeof(float));
    d.bound = guarded(d.values + d.states, sizeof(double));
    delta_all(&d);
    d.state[d.states - 1] = NAN; /* the last column of the last head */
    delta_all(&d);
    want_count(nans(d.want, d.values), 1);
    want_count(nans(d.want + d.values, d.states), dk);
    z[0] = NAN; /* the decay of a channel of head 0, which goes into all that is read there */
    delta_all(&d);
    want_count(nans(d.want, d.values), dv + (heads > 1 ? 1 : 0));
    k[heads * dk - 1] = NAN; /* all of the last head */
    delta_all(&d);
    want_count(nans(d.want, d.values), heads > 1 ? 2 * dv : dv);
    release();
}

static void delta(void)
{
    static const uint64_t shapes[][3] = {{1, 1, 1},   {2, 7, 3},   {3, 16, 16}, {2, 33, 37},
                                         {1, 130, 5}, {2, 5, 130}, {2, 128, 64}};

    for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        delta_one(shapes[i][0], shapes[i][1], shapes[i][2], KDA_GATE_SOFTPLUS);
        delta_one(shapes[i][0], shapes[i][1], shapes[i][2], KDA_GATE_BOUNDED);
    }
}

/* --- attention residuals ---------------------------------------------------------------------- */

static void residual_one(uint64_t sources, uint64_t hidden, enum dtype store)
{
    struct residual_shape s = {.sources = sources, .hidden = hidden, .eps = 1e-5, .store = store};
    const void *v[40];
    void *last = NULL;
    float *w = floats(hidden), *norm = floats(hidden), *want = guarded(hidden, sizeof(float));
    float *got = guarded(hidden, sizeof(float)), *p = guarded(sources, sizeof(float));
    double *bound = guarded(hidden, sizeof(double));
    void *scratch = scratch_of(residual_scratch_bytes(&s));
    void *composed = scratch_of(residual_composed_scratch_bytes(&s));
    struct residual_ops ops;
    struct prim_ops prim;

    snprintf(label, sizeof(label), "attnres sources %d hidden %d %s", (int)sources, (int)hidden,
             store == DTYPE_BF16 ? "bf16" : "f32");
    for (uint64_t i = 0; i < sources; i++)
        v[i] = last = stored(store, hidden);
    /* a logit is the sum of hidden products over a root mean square of about 1/2 */
    for (uint64_t i = 0; i < hidden; i++)
        bound[i] = 4 * EPS * (8 + (double)hidden);
    for (unsigned bad = 0; bad < 2; bad++) {
        if (bad)
            put(store, last, hidden - 1, NAN);
        residual_init(&ops, 0);
        ops.mix(&s, v, w, norm, want, p, scratch);
        what = "c";
        want_count(nans(want, hidden), bad ? hidden : 0);
        for (unsigned i = 0; i <= MASKS; i++) {
            unsigned mask = i ? masks[i - 1] : 0;
            if ((cpu_features() & mask) != mask)
                continue;
            residual_init(&ops, mask);
            prim_init(&prim, mask);
            what = ops.variant;
            ops.mix(&s, v, w, norm, got, p, scratch);
            same(got, want, bound, hidden);
            what = "composed";
            residual_composed(&prim, &s, v, w, norm, got, p, composed);
            same(got, want, bound, hidden);
        }
    }
    release();
}

static void residual(void)
{
    static const uint64_t hidden[] = {1, 3, 16, 33, 65, 127, 200};
    static const uint64_t sources[] = {1, 2, 9, 33};

    for (unsigned i = 0; i < 7; i++) {
        for (unsigned n = 0; n < 4; n++) {
            residual_one(sources[n], hidden[i], DTYPE_F32);
            residual_one(sources[n], hidden[i], DTYPE_BF16);
        }
    }
}

/* --- experts ---------------------------------------------------------------------------------- */

static void moe_all(const struct moe_shape *s, const struct moe_weights *w, const float *x,
                    bool bad)
{
    float *want = guarded(s->hidden, sizeof(float)), *got = guarded(s->hidden, sizeof(float));
    double *bound = guarded(s->hidden, sizeof(double));
    uint32_t *idx = guarded(s->router.top_k, sizeof(uint32_t));
    void *scratch = scratch_of(moe_scratch_bytes(s));
    void *composed = scratch_of(moe_composed_scratch_bytes(s));
    struct moe_ops ops;
    struct prim_ops prim;
    double top = 0;

    moe_init(&ops, 0);
    ops.token(s, w, x, want, idx, scratch);
    what = "c";
    want_count(nans(want, s->hidden), bad ? s->hidden : 0);
    for (uint64_t i = 0; i < s->hidden; i++)
        top = fmax(top, fabs((double)want[i]));
    for (uint64_t i = 0; i < s->hidden; i++)
        bound[i] = 64 * EPS * (top + 1);
    for (unsigned i = 0; i <= MASKS; i++) {
        unsigned mask = i ? masks[i - 1] : 0;
        if ((cpu_features() & mask) != mask)
            continue;
        moe_init(&ops, mask);
        prim_init(&prim, mask);
        what = ops.variant;
        ops.token(s, w, x, got, idx, scratch);
        same(got, want, bound, s->hidden);
        what = "composed";
        moe_composed(&prim, s, w, x, got, idx, composed);
        same(got, want, bound, s->hidden);
    }
}

static void moe_one(enum act_kind act, enum dtype store, bool gated, bool shared)
{
    struct moe_shape s = {.hidden = 37,
                          .latent = 19,
                          .inner = 21,
                          .shared_inner = shared ? 33 : 0,
                          .router = {.score = ROUTER_SIGMOID,
                                     .experts = 5,
                                     .top_k = 2,
                                     .groups = 1,
                                     .top_groups = 1,
                                     .renormalize = true,
                                     .scaling = 1},
                          .act = act,
                          .situ_beta = 4,
                          .situ_linear_beta = 25,
                          .eps = 1e-5,
                          .store = store};
    const void *e[3][5];
    float *x = floats(s.hidden);

    snprintf(label, sizeof(label), "moe %s %s%s%s", act_name(act),
             store == DTYPE_BF16 ? "bf16" : "f32", gated ? " gated" : "", shared ? " shared" : "");
    for (unsigned i = 0; i < 15; i++)
        e[i % 3][i / 3] = stored(store, s.inner * s.latent);
    struct moe_weights w = {.router = stored(store, 5 * s.hidden),
                            .down = stored(store, s.latent * s.hidden),
                            .up = stored(store, s.latent * s.hidden),
                            .norm = shared ? floats(s.latent) : NULL,
                            .w1 = e[0],
                            .w3 = gated ? e[1] : NULL,
                            .w2 = e[2]};
    if (shared) {
        w.sw1 = stored(store, s.shared_inner * s.hidden);
        w.sw2 = stored(store, s.shared_inner * s.hidden);
        w.sw3 = gated ? stored(store, s.shared_inner * s.hidden) : NULL;
    }
    moe_all(&s, &w, x, false);
    x[s.hidden - 1] = NAN;
    moe_all(&s, &w, x, true);
    release();
}

static void moe(void)
{
    for (unsigned i = 0; i < 8 * ACTS; i++)
        moe_one((enum act_kind)(i / 8), i % 2 ? DTYPE_BF16 : DTYPE_F32, i / 2 % 2, i / 4 % 2);
}

int main(void)
{
    attn();
    mla();
    delta();
    residual();
    moe();
    dequant();
    if (!(cpu_features() & CPU_AVX2))
        puts("this host has no AVX2: only the definitions and the composed paths were checked");
    else if (!(cpu_features() & CPU_AVX512))
        puts("this host has no AVX-512: those variants were not checked");
    printf("%u checks, %u failures\n", checks, failures);
    return failures != 0;
}
