#include "stress/balance.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/cpu.h"
#include "core/mem.h"
#include "core/text.h"
#include "stress/gate.h"
#include "stress/normal.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOKENS_PER_EXPERT 64.0
#define MEMORY_BUDGET (4ull << 30)
#define SOURCE "the model's routers on synthetic inputs"
#define LAYERS_TEXT_MAX (64u << 10)

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* sum (2i - E - 1) x_(i) / (E sum x), i from 1 over the counts in rising order. */
static double gini_of(const uint64_t *counts, uint32_t experts, double sum)
{
    uint64_t *sorted = mem_alloc(experts, sizeof(*sorted));
    double weighted = 0;

    memcpy(sorted, counts, experts * sizeof(*sorted));
    qsort(sorted, experts, sizeof(*sorted), by_value);
    for (uint32_t i = 0; i < experts; i++)
        weighted += (2.0 * (i + 1) - experts - 1) * (double)sorted[i];
    free(sorted);
    return weighted / (experts * sum);
}

int balance_of(const uint64_t *counts, uint32_t experts, uint32_t top_k, struct balance *ret,
               struct err *e)
{
    struct balance b = {.experts = experts};
    double square = 0, entropy = 0;
    uint64_t max = 0;

    if (experts < 2 || top_k == 0 || top_k > experts)
        return err_set(e, ERR_USAGE, "%u of %u experts are no choice to judge", top_k, experts);
    for (uint32_t i = 0; i < experts; i++) {
        if (__builtin_add_overflow(b.copies, counts[i], &b.copies))
            return err_set(e, ERR_LIMIT, "the loads leave 64 bits at expert %u", i);
        if (counts[i] > max)
            max = counts[i];
        if (counts[i] == 0)
            b.unused++;
    }
    if (b.copies == 0)
        return err_set(e, ERR_USAGE, "no token was counted");
    b.mean = (double)b.copies / experts;
    for (uint32_t i = 0; i < experts; i++) {
        double distance = (double)counts[i] - b.mean;
        double share = (double)counts[i] / (double)b.copies;
        square += distance * distance;
        if (counts[i])
            entropy -= share * log(share);
    }
    b.max_mean = (double)max / b.mean;
    b.balancedness = b.mean / (double)max;
    b.max_vio = b.max_mean - 1;
    b.cv = sqrt(square / experts) / b.mean;
    b.entropy = entropy / log(experts);
    b.gini = gini_of(counts, experts, (double)b.copies);
    /* A token picks top_k different experts, so a count is a sum of draws with probability k/E. */
    double chance = (1 - (double)top_k / experts) / b.mean;
    b.cv_floor = sqrt(chance);
    b.max_mean_floor = 1 + sqrt(2 * log(experts) * chance);
    b.too_few = b.mean < BALANCE_TOKENS_PER_EXPERT_MIN;
    *ret = b;
    return 0;
}

double balance_slowdown(const uint64_t *counts, uint32_t layers, uint32_t experts)
{
    double max_sum = 0, mean_sum = 0;

    for (uint32_t l = 0; l < layers; l++) {
        const uint64_t *row = counts + (size_t)l * experts;
        uint64_t max = 0;
        double sum = 0;
        for (uint32_t i = 0; i < experts; i++) {
            max = row[i] > max ? row[i] : max;
            sum += (double)row[i];
        }
        max_sum += (double)max;
        mean_sum += sum / experts;
    }
    return mean_sum > 0 ? max_sum / mean_sum : NAN;
}

/* What came of a layer. */
struct outcome {
    bool tried;
    uint64_t *counts; /* [experts], or NULL: see why */
    char why[ERR_MSG_BYTES];
};

/* A run over the expert layers. */
struct drive {
    const struct model *model;
    const struct inventory *inv;
    const char *dir;
    const struct balance_opts *o;
    const struct fact_sink *sink;
    uint32_t *layers;         /* [count]: layers with experts */
    struct outcome *outcomes; /* [count] */
    uint32_t count;
    double per_expert; /* tokens that an expert is to get in the mean; not used with o->tokens */
    uint64_t rows;     /* of x: the tokens of the layer that needs most */
    uint64_t tokens;   /* fewest that a layer routed */
    double mean;       /* smallest mean load of an expert, once a layer was routed */
    float *x;          /* [rows][hidden] */
    uint64_t deadline_ns;
    char why[160]; /* of what was left out */
    uint32_t measured;
    struct balance worst[5]; /* by figure */
    uint32_t worst_layer[5];
};

/* The figures, in the order of `worst`. */
enum { MAX_MEAN, CV, ENTROPY, GINI, UNUSED, FIGURES };

/* Tokens to route: those asked for, or as many as give an expert per_expert in the mean. */
static uint64_t tokens_for(const struct drive *d, const struct router *r)
{
    if (d->o->tokens || !r->top_k)
        return r->top_k ? d->o->tokens : 0;
    return (uint64_t)ceil(d->per_expert * r->experts / r->top_k);
}

static uint64_t most_tokens(const struct drive *d)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < d->count; i++) {
        uint64_t n = tokens_for(d, &d->model->layers[d->layers[i]].ffn.router);
        most = n > most ? n : most;
    }
    return most;
}

static uint32_t find_layers(struct drive *d)
{
    const struct model *m = d->model;

    d->layers = mem_alloc(m->layer_count, sizeof(*d->layers));
    d->outcomes = mem_alloc(m->layer_count, sizeof(*d->outcomes));
    for (uint32_t i = 0; i < m->layer_count; i++) {
        if (m->layers[i].ffn.kind == FFN_MOE || m->layers[i].ffn.kind == FFN_MOE_LATENT)
            d->layers[d->count++] = i;
    }
    return d->count;
}

/* Room for the inputs, within the budget. */
static int make_room(struct drive *d, struct err *e)
{
    uint64_t budget = d->o->memory_budget_bytes ? d->o->memory_budget_bytes : MEMORY_BUDGET;
    uint64_t bytes;
    char a[TEXT_NUMBER_BYTES], b[TEXT_NUMBER_BYTES];
    void *p;

    d->rows = most_tokens(d);
    if (d->rows == 0 || d->model->hidden == 0)
        return err_set(e, ERR_UNSUPPORTED, "the router's experts or width are not known");
    if (__builtin_mul_overflow(d->rows, (uint64_t)d->model->hidden * sizeof(float), &bytes) ||
        bytes > budget)
        return err_set(e, ERR_LIMIT,
                       "memory: %s synthetic tokens do not fit the budget of %s bytes",
                       text_count(d->rows, a), text_count(budget, b));
    int rc = mem_try(bytes, 1, &p, e);
    if (rc == 0)
        d->x = p;
    return rc;
}

/* What a layer costs: reading it, and each token. */
struct price {
    double layer_ns, token_ns, draw_ns; /* draw_ns: of one token's input */
};

static int find_price(struct drive *d, struct price *ret, struct err *e)
{
    uint64_t threads = d->o->threads ? d->o->threads : cpu_count();
    uint64_t trial = threads * GATE_BLOCK < d->rows ? threads * GATE_BLOCK : d->rows;
    struct gate g;
    struct err why = {0};
    int rc = -1;

    for (uint32_t i = 0; i < d->count; i++) {
        uint64_t a = clock_ns();
        rc = gate_init(d->model, d->layers[i], d->inv, d->dir, &g, i ? &why : e);
        if (rc)
            continue;
        uint64_t b = clock_ns();
        rc = normal_draw(d->x, trial, d->model->hidden, d->o->seed, d->o->threads, e);
        uint64_t c = clock_ns();
        uint64_t *counts = mem_alloc(g.router.experts, sizeof(*counts));
        if (rc == 0)
            rc = gate_route(&g, d->x, trial, d->o->threads, d->o->cpu, counts, e);
        *ret = (struct price){(double)(b - a), (double)(clock_ns() - c) / (double)trial,
                              (double)(c - b) / (double)trial};
        free(counts);
        gate_release(&g);
        return rc;
    }
    return rc;
}

/* Fewer tokens, the fewest that say something, if the time does not hold all layers at the tokens
 * wished for. Returns what a layer should then take. */
static double choose_tokens(struct drive *d, const struct price *p)
{
    uint64_t now = clock_ns();
    double left = d->deadline_ns > now ? (double)(d->deadline_ns - now) : 0;
    double n = (double)d->rows;
    bool enough =
        n * p->draw_ns + d->count * (p->layer_ns + n * p->token_ns) <= left || !d->deadline_ns;

    if (!enough && !d->o->tokens && d->per_expert > BALANCE_TOKENS_PER_EXPERT_MIN) {
        d->per_expert = BALANCE_TOKENS_PER_EXPERT_MIN;
        d->rows = most_tokens(d);
        n = (double)d->rows;
    }
    return p->layer_ns + n * p->token_ns;
}

static int put_unknowns(struct drive *d, const char *scope, const char *why, struct err *e)
{
    static const enum fact_key keys[] = {FACT_BALANCE_MAX_MEAN, FACT_BALANCE_CV,
                                         FACT_BALANCE_ENTROPY, FACT_BALANCE_GINI,
                                         FACT_BALANCE_UNUSED};
    int rc = 0;

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && rc == 0; i++)
        rc = fact_put_unknown(d->sink, keys[i], scope, why, e);
    return rc;
}

static int put_figure(struct drive *d, int figure, const char *scope, const struct balance *b,
                      const char *source, struct err *e)
{
    const struct fact_sink *s = d->sink;
    int rc;

    switch (figure) {
    case MAX_MEAN:
        rc = fact_put_real(s, FACT_BALANCE_MAX_MEAN, scope, b->max_mean, 0, source, e);
        return rc ? rc
                  : fact_put_real(s, FACT_BALANCE_MAX_MEAN_FLOOR, scope, b->max_mean_floor, 0,
                                  "1 + sqrt(2 ln E (1 - k/E) / mean)", e);
    case CV:
        rc = fact_put_real(s, FACT_BALANCE_CV, scope, b->cv, 0, source, e);
        return rc ? rc
                  : fact_put_real(s, FACT_BALANCE_CV_FLOOR, scope, b->cv_floor, 0,
                                  "sqrt((1 - k/E) / mean)", e);
    case ENTROPY: return fact_put_real(s, FACT_BALANCE_ENTROPY, scope, b->entropy, 0, source, e);
    case GINI: return fact_put_real(s, FACT_BALANCE_GINI, scope, b->gini, 0, source, e);
    default: return fact_put_int(s, FACT_BALANCE_UNUSED, scope, b->unused, source, e);
    }
}

static bool is_worse(int figure, const struct balance *a, const struct balance *b)
{
    switch (figure) {
    case MAX_MEAN: return a->max_mean > b->max_mean;
    case CV: return a->cv > b->cv;
    case ENTROPY: return a->entropy < b->entropy;
    case GINI: return a->gini > b->gini;
    default: return a->unused > b->unused;
    }
}

static int put_layer(struct drive *d, uint32_t layer, const uint64_t *counts, struct err *e)
{
    const struct router *r = &d->model->layers[layer].ffn.router;
    struct balance b;
    char scope[32];
    int rc = balance_of(counts, r->experts, r->top_k, &b, e);

    snprintf(scope, sizeof(scope), "layer %u", layer);
    for (uint32_t i = 0; i < r->experts && rc == 0 && d->sink->put_load; i++) {
        const struct fact_load l = {layer, i, counts[i]};
        rc = d->sink->put_load(d->sink->ctx, &l, e);
    }
    if (rc == 0 && b.too_few) {
        snprintf(d->why, sizeof(d->why),
                 "%.1f tokens an expert are too few: under %.0f, chance "
                 "drowns the figures",
                 b.mean, BALANCE_TOKENS_PER_EXPERT_MIN);
        return put_unknowns(d, scope, d->why, e);
    }
    for (int i = 0; i < FIGURES && rc == 0; i++) {
        rc = put_figure(d, i, scope, &b, SOURCE, e);
        if (d->measured == 0 || is_worse(i, &b, &d->worst[i])) {
            d->worst[i] = b;
            d->worst_layer[i] = layer;
        }
    }
    d->measured++;
    return rc;
}

/* Routes one layer. */
static void run_layer(struct drive *d, uint32_t at)
{
    const struct router *r = &d->model->layers[d->layers[at]].ffn.router;
    struct outcome *out = &d->outcomes[at];
    uint64_t tokens = tokens_for(d, r);
    struct err why = {0};
    struct gate g;

    out->tried = true;
    int rc = gate_init(d->model, d->layers[at], d->inv, d->dir, &g, &why);
    if (rc == 0) {
        out->counts = mem_alloc(r->experts, sizeof(*out->counts));
        rc = gate_route(&g, d->x, tokens, d->o->threads, d->o->cpu, out->counts, &why);
        gate_release(&g);
        double mean = (double)tokens * r->top_k / r->experts;
        if (rc == 0 && (d->tokens == 0 || mean < d->mean))
            d->mean = mean;
        if (rc == 0 && (d->tokens == 0 || tokens < d->tokens))
            d->tokens = tokens;
    }
    if (rc) {
        free(out->counts);
        out->counts = NULL;
        snprintf(out->why, sizeof(out->why), "%s", why.msg);
    }
}

/* Goes over the layers in ever finer steps, so that those seen are spread evenly whenever the time
 * ends. step_ns is what a layer should take. */
static void run_layers(struct drive *d, double step_ns)
{
    char budget[TEXT_NUMBER_BYTES], tokens[TEXT_NUMBER_BYTES];
    uint32_t step = 1, done = 0;

    while (step < d->count)
        step *= 2;
    for (; step; step /= 2) {
        for (uint64_t i = 0; i < d->count; i += step) {
            uint64_t start = clock_ns();
            if (d->outcomes[i].tried)
                continue;
            if (d->deadline_ns && (double)start + step_ns > (double)d->deadline_ns) {
                snprintf(d->why, sizeof(d->why),
                         "the time budget of %s holds %s at %s tokens a layer",
                         text_duration((double)d->o->time_budget_ns, budget),
                         done ? "no more layers" : "not one layer", text_count(d->rows, tokens));
                return;
            }
            run_layer(d, (uint32_t)i);
            step_ns = (double)(clock_ns() - start);
            done++;
            if (d->o->progress && d->o->progress->tick)
                d->o->progress->tick(d->o->progress->ctx, "routing", done, d->count, "layers");
        }
    }
}

/* "layers 3 to 5, 9: why" of those left out. */
static int put_left_out(struct drive *d, struct err *e)
{
    struct buf text;
    uint32_t out = 0;

    buf_init(&text, LAYERS_TEXT_MAX);
    for (uint32_t i = 0; i < d->count; i++) {
        uint32_t end = i;
        if (d->outcomes[i].tried)
            continue;
        while (end + 1 < d->count && !d->outcomes[end + 1].tried)
            end++;
        buf_addf(&text, "%s%u", out ? ", " : "layers ", d->layers[i]);
        if (end > i)
            buf_addf(&text, " to %u", d->layers[end]);
        out += end - i + 1;
        i = end;
    }
    if (out)
        buf_addf(&text, ": %s", d->why);
    int rc = buf_check(&text, "the list of layers left out", e);
    if (rc == 0)
        rc = out ? fact_put_text(d->sink, FACT_BALANCE_LEFT_OUT, "", text.data, SOURCE, e)
                 : fact_put_absent(d->sink, FACT_BALANCE_LEFT_OUT, "", SOURCE, e);
    buf_release(&text);
    return rc;
}

static int put_sums(struct drive *d, struct err *e)
{
    char text[200], tokens[TEXT_NUMBER_BYTES];
    int rc = 0;

    snprintf(text, sizeof(text),
             "synthetic inputs through the real routers: %s standard normal vectors of mean square "
             "one, seed %llu",
             text_count(d->rows, tokens), (unsigned long long)d->o->seed);
    rc = fact_put_text(d->sink, FACT_BALANCE_SOURCE, "", text, "router weights", e);
    if (rc == 0)
        rc = fact_put_int(d->sink, FACT_BALANCE_LAYERS, "", d->measured, SOURCE, e);
    if (rc == 0)
        rc = put_left_out(d, e);
    if (rc == 0 && d->tokens)
        rc = fact_put_int(d->sink, FACT_BALANCE_TOKENS, "", (int64_t)d->tokens, SOURCE, e);
    if (rc == 0 && d->tokens)
        rc = fact_put_real(d->sink, FACT_BALANCE_TOKENS_PER_EXPERT, "", d->mean, 0, SOURCE, e);
    if (rc == 0 && d->measured == 0)
        return put_unknowns(d, "worst", d->why[0] ? d->why : "no layer could be judged", e);
    for (int i = 0; i < FIGURES && rc == 0; i++) {
        snprintf(text, sizeof(text), "layer %u: " SOURCE, d->worst_layer[i]);
        rc = put_figure(d, i, "worst", &d->worst[i], text, e);
    }
    return rc;
}

static int put_layers(struct drive *d, struct err *e)
{
    int rc = 0;

    for (uint32_t i = 0; i < d->count && rc == 0; i++) {
        const struct outcome *out = &d->outcomes[i];
        char scope[32];
        snprintf(scope, sizeof(scope), "layer %u", d->layers[i]);
        if (out->counts)
            rc = put_layer(d, d->layers[i], out->counts, e);
        else if (out->tried)
            rc = put_unknowns(d, scope, out->why, e);
    }
    return rc ? rc : put_sums(d, e);
}

int balance_run(const struct model *m, const struct inventory *inv, const char *dir,
                const struct balance_opts *o, const struct fact_sink *sink, struct err *e)
{
    struct drive d = {.model = m, .inv = inv, .dir = dir, .o = o, .sink = sink};
    struct price price;
    struct err why = {0};
    int rc;

    if (o->time_budget_ns)
        d.deadline_ns = clock_ns() + o->time_budget_ns;
    d.per_expert = o->tokens_per_expert > 0 ? o->tokens_per_expert : TOKENS_PER_EXPERT;
    if (find_layers(&d) == 0) {
        rc = fact_put_absent(sink, FACT_BALANCE_SOURCE, "", "no layer of the model has experts", e);
    } else if (make_room(&d, &why) || find_price(&d, &price, &why)) {
        rc = fact_put_unknown(sink, FACT_BALANCE_SOURCE, "", why.msg, e);
    } else {
        double step_ns = choose_tokens(&d, &price);
        rc = normal_draw(d.x, d.rows, m->hidden, o->seed, o->threads, e);
        if (rc == 0)
            run_layers(&d, step_ns);
        if (rc == 0)
            rc = put_layers(&d, e);
    }
    for (uint32_t i = 0; i < d.count; i++)
        free(d.outcomes[i].counts);
    free(d.outcomes);
    free(d.layers);
    free(d.x);
    return rc;
}
