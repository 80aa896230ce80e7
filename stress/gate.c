#include "stress/gate.h"
#include "core/cpu.h"
#include "core/mem.h"
#include "core/pool.h"
#include "model/weights.h"
#include "stress/logits.h"
#include "stress/route.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NAME_BYTES 512

static const char *const weight_names[] = {"block_sparse_moe.gate.weight",
                                           "mlp.gate.weight",
                                           "mlp.router.weight",
                                           "mixer.gate.weight",
                                           "feed_forward.router.weight",
                                           NULL};
static const char *const bias_names[] = {
    "block_sparse_moe.gate.e_score_correction_bias", "block_sparse_moe.e_score_correction_bias",
    "mlp.gate.e_score_correction_bias", "mixer.gate.e_score_correction_bias", NULL};
static const char *const offset_names[] = {"mlp.router.bias", NULL};
static const char *const down_names[] = {"block_sparse_moe.routed_expert_down_proj.weight",
                                         "mixer.fc1_latent_proj.weight", NULL};

/* The first of the names that the layer has, or NULL. */
static const struct tensor *find(const struct model *m, uint32_t layer, const struct inventory *inv,
                                 const char *const *names)
{
    char full[NAME_BYTES];

    for (size_t i = 0; names[i]; i++) {
        int n = snprintf(full, sizeof(full), "%slayers.%u.%s", m->prefix, layer, names[i]);
        const struct tensor *t =
            n > 0 && (size_t)n < sizeof(full) ? inventory_find(inv, full) : NULL;
        if (t)
            return t;
    }
    return NULL;
}

static int missing(const struct model *m, uint32_t layer, const char *what,
                   const char *const *names, struct err *e)
{
    char list[NAME_BYTES / 2] = "";
    size_t used = 0;

    for (size_t i = 0; names[i]; i++) {
        int n = snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "", names[i]);
        if (n < 0 || (size_t)n >= sizeof(list) - used)
            break;
        used += (size_t)n;
    }
    return err_set(e, ERR_NOTFOUND, "no %s under %.100slayers.%u (looked for %s)", what, m->prefix,
                   layer, list);
}

/* Reads a tensor of rows x cols (cols 0: a vector of rows) whole. */
static int load(const char *dir, const struct inventory *inv, const struct tensor *t, uint64_t rows,
                uint64_t cols, float **ret, struct err *e)
{
    char shape[96];
    uint64_t n = rows * (cols ? cols : 1); /* both are 32-bit numbers */
    bool fits = cols ? t->dims == 2 && t->shape[0] == rows && t->shape[1] == cols
                     : t->dims == 1 && t->shape[0] == rows;
    void *p;

    if (!fits)
        return err_set(e, ERR_FORMAT, "%.200s has shape %s, and the model has %llu x %llu", t->name,
                       tensor_shape_text(t, shape, sizeof(shape)), (unsigned long long)rows,
                       (unsigned long long)(cols ? cols : 1));
    int rc = mem_try(n, sizeof(float), &p, e);
    if (rc == 0)
        *ret = p;
    if (rc == 0)
        rc = weights_read_f32(dir, inv, t, 0, n, *ret, e);
    for (uint64_t i = 0; i < n && rc == 0; i++) {
        if (!isfinite((*ret)[i]))
            rc = err_set(e, ERR_FORMAT, "value %llu is not finite", (unsigned long long)i);
    }
    return rc ? err_wrap(e, "%.200s", t->name) : 0;
}

static int load_all(const struct model *m, uint32_t layer, const struct inventory *inv,
                    const char *dir, struct gate *g, struct err *e)
{
    const struct tensor *weight = find(m, layer, inv, weight_names);
    const struct tensor *bias = find(m, layer, inv, bias_names);
    const struct tensor *offset = find(m, layer, inv, offset_names);
    const struct tensor *down = g->router.on_latent ? find(m, layer, inv, down_names) : NULL;
    int rc = 0;

    if (!weight)
        return missing(m, layer, "router", weight_names, e);
    if (g->router.bias && !bias)
        return missing(m, layer, "correction bias", bias_names, e);
    if (g->router.on_latent && !down)
        return missing(m, layer, "projection into the latent", down_names, e);
    rc = load(dir, inv, weight, g->router.experts, g->width, &g->weight, e);
    if (rc == 0 && bias)
        rc = load(dir, inv, bias, g->router.experts, 0, &g->bias, e);
    if (rc == 0 && offset)
        rc = load(dir, inv, offset, g->router.experts, 0, &g->offset, e);
    if (rc == 0 && down)
        rc = load(dir, inv, down, g->width, g->hidden, &g->down, e);
    return rc;
}

int gate_init(const struct model *m, uint32_t layer, const struct inventory *inv, const char *dir,
              struct gate *ret, struct err *e)
{
    const struct ffn *f = &m->layers[layer].ffn;
    struct gate g = {.router = f->router,
                     .hidden = m->hidden,
                     .width = f->router.on_latent ? f->latent : m->hidden};
    int rc = route_check(&g.router, e);

    if (rc == 0 && g.width == 0)
        rc = err_set(e, ERR_UNSUPPORTED, "the width that the router reads is not known");
    if (rc == 0)
        rc = load_all(m, layer, inv, dir, &g, e);
    if (rc) {
        gate_release(&g);
        return rc;
    }
    *ret = g;
    return 0;
}

void gate_release(struct gate *g)
{
    free(g->weight);
    free(g->down);
    free(g->bias);
    free(g->offset);
    *g = (struct gate){.weight = NULL};
}

/* What a thread needs of its own. */
struct desk {
    float *logits; /* [GATE_BLOCK][experts] */
    float *latent; /* [GATE_BLOCK][width], or NULL */
    float *picked; /* [GATE_BLOCK][top_k] weights */
    uint32_t *idx; /* [GATE_BLOCK][top_k] */
    uint64_t *counts;
    void *scratch;
};

struct routing {
    const struct gate *gate;
    const float *x;
    uint64_t tokens;
    struct logits_ops ops;
    struct desk *desks;
};

static void route_block(void *ctx, size_t index, unsigned worker)
{
    struct routing *r = ctx;
    const struct gate *g = r->gate;
    struct desk *d = &r->desks[worker];
    uint64_t first = index * (uint64_t)GATE_BLOCK;
    size_t n = r->tokens - first < GATE_BLOCK ? (size_t)(r->tokens - first) : GATE_BLOCK;
    const float *x = r->x + first * g->hidden;

    if (g->down) {
        r->ops.multiply(n, g->width, g->hidden, x, g->down, d->latent);
        x = d->latent;
    }
    r->ops.multiply(n, g->router.experts, g->width, x, g->weight, d->logits);
    for (size_t t = 0; g->offset && t < n; t++) {
        for (uint32_t i = 0; i < g->router.experts; i++)
            d->logits[t * g->router.experts + i] += g->offset[i];
    }
    route_batch(&g->router, n, d->logits, g->bias, d->idx, d->picked, d->counts, d->scratch);
}

static int set_up(const struct gate *g, struct desk *d, struct err *e)
{
    void *p[6] = {NULL};
    const size_t wants[6] = {g->router.experts * sizeof(float),
                             g->down ? g->width * sizeof(float) : 0,
                             g->router.top_k * sizeof(float),
                             g->router.top_k * sizeof(uint32_t),
                             0,
                             0};
    int rc = 0;

    for (size_t i = 0; i < 4 && rc == 0; i++)
        rc = mem_try(GATE_BLOCK, wants[i], &p[i], e);
    if (rc == 0)
        rc = mem_try(g->router.experts, sizeof(uint64_t), &p[4], e);
    if (rc == 0)
        rc = mem_try(route_scratch_bytes(&g->router), 1, &p[5], e);
    *d = (struct desk){p[0], p[1], p[2], p[3], p[4], p[5]};
    return rc;
}

static void clear(struct desk *d)
{
    free(d->logits);
    free(d->latent);
    free(d->picked);
    free(d->idx);
    free(d->counts);
    free(d->scratch);
}

int gate_route(const struct gate *g, const float *x, uint64_t tokens, unsigned threads,
               unsigned cpu_mask, uint64_t *counts, struct err *e)
{
    struct routing r = {.gate = g, .x = x, .tokens = tokens};
    size_t jobs = (size_t)((tokens + GATE_BLOCK - 1) / GATE_BLOCK);
    unsigned workers = threads ? threads : cpu_count();
    int rc = 0;

    workers = workers > POOL_THREADS_MAX ? POOL_THREADS_MAX : workers;
    logits_init(&r.ops, cpu_mask);
    r.desks = mem_alloc(workers, sizeof(*r.desks));
    for (unsigned i = 0; i < workers && rc == 0; i++)
        rc = set_up(g, &r.desks[i], e);
    if (rc == 0)
        rc = pool_run(workers, jobs, route_block, &r, e);
    for (unsigned i = 0; i < workers; i++) {
        for (uint32_t j = 0; j < g->router.experts && rc == 0; j++)
            counts[j] += r.desks[i].counts[j];
        clear(&r.desks[i]);
    }
    free(r.desks);
    return rc;
}
