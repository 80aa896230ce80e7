#include "stress/fallback.h"
#include "core/clock.h"
#include "core/mem.h"
#include "core/text.h"
#include "stress/delta.h"
#include "stress/kernel.h"
#include "stress/meter.h"
#include "stress/moe.h"
#include "stress/residual.h"
#include "stress/route.h"
#include "stress/seed.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define BF16_BYTES 2u
#define OPERATORS 3
#define MEMORY_BUDGET (4ull << 30)
/* Bytes a second at which a slow host fills and reads weights, and the calls of a comparison: what
 * a shape is judged by before it is tried. */
#define SLOW_RATE 2e9
#define CALLS_MIN (2 * (1 + METER_EPOCHS_LEAST))
#define DISTINCT_EXPERTS 2 /* stored experts for each that a token picks */
#define PIECES_MAX 20      /* the experts of moe.latent need 17 */

/* One operator with its data, ready on both paths. */
struct trial {
    const char *op;
    struct kernel_shape shape; /* for the cost functions */
    char words[200];           /* the shape, and what was made smaller */
    const char *variant;
    meter_fn *fused, *composed;
    struct prim_ops prim;
    void *pieces[PIECES_MAX]; /* everything allocated */
    size_t piece_count;
    struct delta_shape delta;
    struct delta_ops delta_ops;
    struct delta_in delta_in;
    float *state[2]; /* of each path */
    struct residual_shape residual;
    struct residual_ops residual_ops;
    const void **sources;
    const float *query, *norm;
    struct moe_shape moe;
    struct moe_ops moe_ops;
    struct moe_weights weights;
    const void **experts[3]; /* w1, w2, w3 of each expert */
    uint32_t *picked;
    const float *x;
    float *out;
    void *scratch;
};

struct plan {
    const struct model *model;
    const struct fallback_opts *o;
    uint64_t time_ns; /* for this operator; 0: no bound */
    uint64_t memory_bytes;
};

/* A piece of memory that the trial owns, filled unless seed is 0. */
static int piece(struct trial *t, uint64_t count, uint64_t size, bool bf16, uint64_t seed,
                 void **ret, struct err *e)
{
    int rc = mem_try(count, size, ret, e);

    if (rc)
        return rc;
    assert(t->piece_count < PIECES_MAX);
    t->pieces[t->piece_count++] = *ret;
    if (seed)
        seed_fill(*ret, count * size, bf16, seed);
    return 0;
}

static int floats(struct trial *t, uint64_t count, uint64_t seed, float **ret, struct err *e)
{
    void *p;
    int rc = piece(t, count, sizeof(float), false, seed, &p, e);

    if (rc == 0)
        *ret = p;
    return rc;
}

static void discard(struct trial *t)
{
    for (size_t i = 0; i < t->piece_count; i++)
        free(t->pieces[i]);
}

static void delta_fused_path(void *ctx)
{
    struct trial *t = ctx;

    t->delta_ops.step(&t->delta, &t->delta_in, t->state[0], t->out, t->scratch);
}

static void delta_composed_path(void *ctx)
{
    struct trial *t = ctx;

    delta_composed(&t->prim, &t->delta, &t->delta_in, t->state[1], t->out, t->scratch);
}

/* attention.kda, or 0 with t->op NULL if no layer uses it. Its few megabytes fit every budget. */
static int prepare_delta(const struct plan *p, struct trial *t, struct err *e)
{
    const struct mixer *x = NULL;
    float *in = NULL;

    for (uint32_t i = 0; i < p->model->layer_count && !x; i++) {
        if (p->model->layers[i].mixer.kind == MIXER_KDA)
            x = &p->model->layers[i].mixer;
    }
    if (!x)
        return 0;
    t->op = "attention.kda";
    t->fused = delta_fused_path;
    t->composed = delta_composed_path;
    t->delta =
        (struct delta_shape){x->heads, x->key_dim, x->value_dim, x->gate, x->lower_bound, 1e-6};
    t->shape = (struct kernel_shape){.tokens = 1,
                                     .heads = x->heads,
                                     .key_heads = x->heads,
                                     .value_heads = x->heads,
                                     .key_dim = x->key_dim,
                                     .value_dim = x->value_dim,
                                     .store_bytes = sizeof(float)};
    if (!x->heads || !x->key_dim || !x->value_dim)
        return err_set(e, ERR_UNSUPPORTED, "the shape of the kda mixer is not complete");
    snprintf(t->words, sizeof(t->words), "%u heads, %u x %u, F32 state", x->heads, x->key_dim,
             x->value_dim);
    delta_init(&t->delta_ops, p->o->cpu);
    t->variant = t->delta_ops.variant;
    size_t one = delta_scratch_bytes(&t->delta), other = delta_composed_scratch_bytes(&t->delta);
    uint64_t keys = (uint64_t)x->heads * x->key_dim, values = (uint64_t)x->heads * x->value_dim;
    int rc = floats(t, 3 * keys + values + 2ull * x->heads, p->o->seed + 1, &in, e);
    for (size_t i = 0; i < 2 && rc == 0; i++)
        rc = floats(t, keys * x->value_dim, p->o->seed + 2, &t->state[i], e);
    if (rc == 0)
        rc = floats(t, values, 0, &t->out, e);
    if (rc == 0)
        rc = piece(t, one > other ? one : other, 1, false, 0, &t->scratch, e);
    if (rc)
        return rc;
    t->delta_in = (struct delta_in){in,
                                    in + keys,
                                    in + 3 * keys,
                                    in + 2 * keys,
                                    in + 3 * keys + values,
                                    in + 3 * keys + values + x->heads};
    return 0;
}

static void residual_fused_path(void *ctx)
{
    struct trial *t = ctx;

    t->residual_ops.mix(&t->residual, t->sources, t->query, t->norm, t->out, NULL, t->scratch);
}

static void residual_composed_path(void *ctx)
{
    struct trial *t = ctx;

    residual_composed(&t->prim, &t->residual, t->sources, t->query, t->norm, t->out, NULL,
                      t->scratch);
}

/* residual.attnres_block at the widest place: the last, that looks at every block. */
static int prepare_residual(const struct plan *p, struct trial *t, struct err *e)
{
    const struct model *m = p->model;
    uint64_t n = model_attnres_sources(m), bytes;
    float *query = NULL, *norm = NULL;
    void *store = NULL, *sources = NULL;

    if (m->attnres_block == 0 || n < 2)
        return 0;
    t->op = "residual.attnres_block";
    t->fused = residual_fused_path;
    t->composed = residual_composed_path;
    t->residual = (struct residual_shape){n, m->hidden, m->norm_eps, DTYPE_BF16};
    t->shape = (struct kernel_shape){
        .tokens = 1, .hidden = m->hidden, .sources = n, .store_bytes = BF16_BYTES};
    snprintf(t->words, sizeof(t->words), "%llu sources of %u, BF16", (unsigned long long)n,
             m->hidden);
    residual_init(&t->residual_ops, p->o->cpu);
    t->variant = t->residual_ops.variant;
    bytes = (uint64_t)m->hidden * BF16_BYTES;
    size_t one = residual_scratch_bytes(&t->residual);
    size_t other = residual_composed_scratch_bytes(&t->residual);
    int rc = piece(t, n, bytes, true, p->o->seed + 3, &store, e);
    if (rc == 0)
        rc = piece(t, n, sizeof(void *), false, 0, &sources, e);
    if (rc == 0)
        rc = floats(t, m->hidden, p->o->seed + 4, &query, e);
    if (rc == 0)
        rc = floats(t, m->hidden, p->o->seed + 5, &norm, e);
    if (rc == 0)
        rc = floats(t, m->hidden, 0, &t->out, e);
    if (rc == 0)
        rc = piece(t, one > other ? one : other, 1, false, 0, &t->scratch, e);
    if (rc)
        return rc;
    t->sources = sources;
    t->query = query;
    t->norm = norm;
    for (uint64_t i = 0; i < n; i++)
        t->sources[i] = (const char *)store + i * bytes;
    return 0;
}

static void moe_fused_path(void *ctx)
{
    struct trial *t = ctx;

    t->moe_ops.token(&t->moe, &t->weights, t->x, t->out, t->picked, t->scratch);
}

static void moe_composed_path(void *ctx)
{
    struct trial *t = ctx;

    moe_composed(&t->prim, &t->moe, &t->weights, t->x, t->out, t->picked, t->scratch);
}

static void moe_kernel_shape(struct trial *t, bool gated)
{
    const struct moe_shape *s = &t->moe;

    t->shape = (struct kernel_shape){.tokens = 1,
                                     .hidden = s->hidden,
                                     .latent = s->latent,
                                     .inner = s->inner,
                                     .shared_inner = s->shared_inner,
                                     .experts = s->router.experts,
                                     .top_k = s->router.top_k,
                                     .store_bytes = BF16_BYTES,
                                     .gated = gated};
}

/* Bytes of one expert, and of everything that all tokens share. */
static double expert_bytes(const struct moe_shape *s, bool gated)
{
    return (gated ? 3.0 : 2.0) * BF16_BYTES * (double)s->latent * (double)s->inner;
}

static double shared_bytes(const struct moe_shape *s, bool gated)
{
    double width = (double)s->hidden;

    return BF16_BYTES * width *
           ((double)s->router.experts + 2 * (double)s->latent +
            (gated ? 3 : 2) * (double)s->shared_inner);
}

/* Stored experts and an inner width that the memory and the time hold. */
static uint64_t fit_moe(const struct plan *p, struct trial *t, bool gated)
{
    struct moe_shape *s = &t->moe;
    uint64_t k = s->router.top_k, full = s->inner;
    uint64_t stored =
        k * DISTINCT_EXPERTS < s->router.experts ? k * DISTINCT_EXPERTS : s->router.experts;
    double memory = (double)p->memory_bytes, seconds = 1e-9 * (double)p->time_ns;
    char text[100] = "";

    for (;; s->inner /= 2, s->shared_inner /= 2) {
        double one = expert_bytes(s, gated), shared = shared_bytes(s, gated);
        double moved = shared + (double)k * one;
        while (stored > 1 && shared + (double)stored * one > memory)
            stored--;
        double all = shared + (double)stored * one;
        bool in_time = p->time_ns == 0 || (all + CALLS_MIN * moved) / SLOW_RATE <= seconds;
        if ((stored >= k && in_time) || s->inner < 2)
            break;
        stored =
            k * DISTINCT_EXPERTS < s->router.experts ? k * DISTINCT_EXPERTS : s->router.experts;
    }
    if (s->inner != full)
        snprintf(text, sizeof(text), "; made smaller for the budget: inner width %llu, not %llu",
                 (unsigned long long)s->inner, (unsigned long long)full);
    snprintf(t->words, sizeof(t->words),
             "hidden %llu, latent %llu, inner %llu, %u experts (%llu of them stored), top %llu, "
             "BF16%s",
             (unsigned long long)s->hidden, (unsigned long long)s->latent,
             (unsigned long long)s->inner, s->router.experts, (unsigned long long)stored,
             (unsigned long long)k, text);
    return stored;
}

static int store_experts(struct trial *t, uint64_t stored, bool gated, uint64_t seed, struct err *e)
{
    const struct moe_shape *s = &t->moe;
    uint64_t bytes = s->latent * s->inner * BF16_BYTES;
    int rc = 0;

    for (size_t i = 0; i < (gated ? 3u : 2u) && rc == 0; i++) {
        void *store = NULL, *table = NULL;
        rc = piece(t, stored, bytes, true, seed + i, &store, e);
        if (rc == 0)
            rc = piece(t, s->router.experts, sizeof(void *), false, 0, &table, e);
        if (rc)
            break;
        t->experts[i] = table;
        for (uint32_t j = 0; j < s->router.experts; j++)
            t->experts[i][j] = (const char *)store + j % stored * bytes;
    }
    return rc;
}

static int store_moe(struct trial *t, uint64_t stored, bool gated, uint64_t seed, struct err *e)
{
    const struct moe_shape *s = &t->moe;
    uint64_t reads = s->router.on_latent ? s->latent : s->hidden;
    void *router = NULL, *down = NULL, *up = NULL, *shared[3] = {NULL}, *picked = NULL;
    float *x = NULL, *norm = NULL;
    size_t one = moe_scratch_bytes(s), other = moe_composed_scratch_bytes(s);
    int rc = store_experts(t, stored, gated, seed, e);

    if (rc == 0)
        rc = piece(t, s->router.experts, reads * BF16_BYTES, true, seed + 4, &router, e);
    if (rc == 0)
        rc = piece(t, s->latent, s->hidden * BF16_BYTES, true, seed + 5, &down, e);
    if (rc == 0)
        rc = piece(t, s->hidden, s->latent * BF16_BYTES, true, seed + 6, &up, e);
    for (size_t i = 0; i < 3 && rc == 0 && s->shared_inner; i++) {
        if (i < 2 || gated)
            rc = piece(t, s->shared_inner, s->hidden * BF16_BYTES, true, seed + 7, &shared[i], e);
    }
    if (rc == 0)
        rc = floats(t, s->latent, seed + 8, &norm, e);
    if (rc == 0)
        rc = floats(t, s->hidden, seed + 9, &x, e);
    if (rc == 0)
        rc = floats(t, s->hidden, 0, &t->out, e);
    if (rc == 0)
        rc = piece(t, s->router.top_k, sizeof(uint32_t), false, 0, &picked, e);
    if (rc == 0)
        rc = piece(t, one > other ? one : other, 1, false, 0, &t->scratch, e);
    t->x = x;
    t->picked = picked;
    t->weights = (struct moe_weights){.router = router,
                                      .down = down,
                                      .up = up,
                                      .norm = norm,
                                      .w1 = t->experts[0],
                                      .w2 = t->experts[1],
                                      .w3 = t->experts[2],
                                      .sw1 = shared[0],
                                      .sw2 = shared[1],
                                      .sw3 = shared[2]};
    return rc;
}

static int prepare_moe(const struct plan *p, struct trial *t, struct err *e)
{
    const struct ffn *f = NULL;
    enum act_kind act;

    for (uint32_t i = 0; i < p->model->layer_count && !f; i++) {
        if (p->model->layers[i].ffn.kind == FFN_MOE_LATENT)
            f = &p->model->layers[i].ffn;
    }
    if (!f)
        return 0;
    t->op = "moe.latent";
    t->fused = moe_fused_path;
    t->composed = moe_composed_path;
    if (act_of(f->act, &act))
        return err_set(e, ERR_UNSUPPORTED, "the activation %s has no definition here",
                       model_act_name(f->act));
    int rc = route_check(&f->router, e);
    if (rc)
        return rc;
    if (!f->inner || !f->latent || !p->model->hidden)
        return err_set(e, ERR_UNSUPPORTED, "the widths of the experts are not known");
    t->moe = (struct moe_shape){.hidden = p->model->hidden,
                                .latent = f->latent,
                                .inner = f->inner,
                                .shared_inner = f->shared ? f->shared_inner : 0,
                                .router = f->router,
                                .act = act,
                                .situ_beta = f->situ_beta,
                                .situ_linear_beta = f->situ_linear_beta,
                                .eps = p->model->norm_eps,
                                .store = DTYPE_BF16};
    moe_kernel_shape(t, f->gated); /* of the model, whatever the budget makes of it */
    uint64_t stored = fit_moe(p, t, f->gated);
    moe_init(&t->moe_ops, p->o->cpu);
    t->variant = t->moe_ops.variant;
    rc = store_moe(t, stored, f->gated, p->o->seed + 20, e);
    if (!f->latent_norm)
        t->weights.norm = NULL;
    return rc;
}

static int put_bytes(const struct trial *t, const struct fact_sink *sink, struct err *e)
{
    const struct kernel *k = kernel_find(t->op);

    if (!k || !k->fused || !k->composed)
        return fact_put_unknown(sink, FACT_FALLBACK_BYTES, t->op, "no cost function", e);
    struct kernel_cost fused = k->fused(&t->shape), composed = k->composed(&t->shape);
    return fact_put_real(sink, FACT_FALLBACK_BYTES, t->op, composed.bytes / fused.bytes, 0,
                         "cost functions of the kernels, at the model's shape", e);
}

static int put_time(const struct trial *t, const struct meter_pair *m, const struct fact_sink *sink,
                    struct err *e)
{
    char source[420], a[TEXT_NUMBER_BYTES], b[TEXT_NUMBER_BYTES];

    snprintf(source, sizeof(source),
             "CPU time on this host: fused %s (%s) against composed %s (%s), one token, one "
             "thread, %u pairs, %s; %s",
             t->variant, text_duration(m->a.median_ns, a), t->prim.variant,
             text_duration(m->b.median_ns, b), m->a.epochs, meter_state_name(m->state), t->words);
    return fact_put_real(sink, FACT_FALLBACK_TIME, t->op, m->ratio, m->ratio_mad, source, e);
}

typedef int prepare_fn(const struct plan *p, struct trial *t, struct err *e);

/* One operator: what stands in its way becomes a fact; an error is the sink's. */
static int run_trial(prepare_fn *prepare, const struct plan *p, const struct fact_sink *sink,
                     struct err *e)
{
    struct trial *t = mem_alloc(1, sizeof(*t));
    uint64_t start = clock_ns();
    struct err why = {0};
    struct meter_pair m;
    int rc;

    prim_init(&t->prim, p->o->cpu);
    rc = prepare(p, t, &why);
    if (rc && t->op) {
        rc = fact_put_unknown(sink, FACT_FALLBACK_TIME, t->op, why.msg, e);
    } else if (t->op) {
        uint64_t spent = clock_ns() - start;
        struct meter_opts mo = {.budget_ns = p->time_ns == 0      ? 0
                                             : p->time_ns > spent ? p->time_ns - spent
                                                                  : 1,
                                .clock = &meter_thread,
                                .wall = &meter_wall};
        meter_compare(t->fused, t, t->composed, t, &mo, &m);
        rc = put_time(t, &m, sink, e);
        if (rc == 0)
            rc = put_bytes(t, sink, e);
    }
    discard(t);
    free(t);
    return rc;
}

int fallback_run(const struct model *m, const struct fallback_opts *o, const struct fact_sink *sink,
                 struct err *e)
{
    static prepare_fn *const prepare[OPERATORS] = {prepare_delta, prepare_residual, prepare_moe};
    uint64_t deadline = clock_ns() + o->time_budget_ns;
    int rc = 0;

    for (size_t i = 0; i < OPERATORS && rc == 0; i++) {
        struct plan p = {.model = m, .o = o};
        uint64_t now = clock_ns();
        p.memory_bytes = o->memory_budget_bytes ? o->memory_budget_bytes : MEMORY_BUDGET;
        if (o->time_budget_ns)
            p.time_ns = 1 + (deadline > now ? deadline - now : 0) / (OPERATORS - i);
        rc = run_trial(prepare[i], &p, sink, e);
        if (o->progress && o->progress->tick)
            o->progress->tick(o->progress->ctx, "comparing", i + 1, OPERATORS, "operators");
    }
    return rc;
}
