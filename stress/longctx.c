#include "stress/longctx.h"
#include "core/clock.h"
#include "core/cpu.h"
#include "core/text.h"
#include "model/cost.h"
#include "stress/counters.h"
#include "stress/fit.h"
#include "stress/kinds.h"
#include "stress/ladder.h"
#include "stress/roof.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define CACHE_TOLERANCE 0.01 /* of the fit of bytes, beside what pages add */
#define CACHE_TOLERANCE_MAX 0.1
#define TIME_TOLERANCE 0.25 /* of the fit of times: caches and neighbours bend them */
#define ROOF_NS_MAX 3000000000ull
#define ROOF_SHARE 8 /* of the time budget, for one bandwidth */
#define PREDICTED "computed from the layers' shapes"
#define MEASURED "measured in this process"

struct run {
    const struct model *model;
    const struct longctx_opts *o;
    const struct fact_sink *sink;
    struct counters counters;
    struct kinds kinds;
    uint64_t deadline_ns; /* 0: none */
    double bandwidth;     /* bytes/s of one thread; 0: not known */
    uint64_t done, total; /* rungs, for the progress */
};

static int put_point(struct run *r, const char *series, const char *scope, uint64_t tokens,
                     double y, double y_error, const char *unit, const char *note, struct err *e)
{
    const struct fact_point p = {.series = series,
                                 .scope = scope,
                                 .x = (double)tokens,
                                 .y = y,
                                 .y_error = y_error,
                                 .x_unit = "tokens",
                                 .y_unit = unit,
                                 .note = note};

    return r->sink->put_point ? r->sink->put_point(r->sink->ctx, &p, e) : 0;
}

static int put_predictions(struct run *r, struct err *e)
{
    uint64_t tokens[LADDER_RUNGS_MAX];
    static const struct mixer plain = {.kind = MIXER_GQA};
    bool unknown = false;

    for (size_t g = 0; g < r->kinds.count; g++) {
        const struct kinds_group *group = &r->kinds.groups[g];
        size_t n = ladder_plan(&group->mixer, r->o->target_tokens, tokens);
        bool none = group->mixer.kind == MIXER_UNKNOWN;
        unknown = unknown || none;
        r->total += n;
        for (size_t i = 0; i < n; i++) {
            double y =
                none ? NAN
                     : (double)group->layers * (double)cost_mixer_bytes(&group->mixer, tokens[i]);
            int rc = put_point(r, "cache.predicted", group->scope, tokens[i], y, 0, "bytes",
                               none ? "the mixer's kind is not known" : "", e);
            if (rc)
                return rc;
        }
    }
    size_t n = ladder_plan(&plain, r->o->target_tokens, tokens);
    for (size_t i = 0; i < n; i++) {
        double y = unknown ? NAN : (double)cost_model_bytes(r->model, tokens[i]);
        int rc = put_point(r, "cache.predicted", "model", tokens[i], y, 0, "bytes",
                           unknown ? "some layers have a mixer of unknown kind" : "", e);
        if (rc)
            return rc;
    }
    return 0;
}

static int put_counters(struct run *r, struct err *e)
{
    char text[COUNTERS_WHY_BYTES + 120];

    counters_init(&r->counters);
    snprintf(text, sizeof(text), "%s: %s%s", counters_state_name(r->counters.state),
             r->counters.why,
             r->counters.state == COUNTERS_OK ? ""
                                              : "; task clock, page faults and context switches "
                                                "stand in");
    return fact_put_text(r->sink, FACT_STRESS_COUNTERS, "", text, "PAPI and a known loop", e);
}

/* The bandwidth with one thread (scope "") or with several. */
static int put_bandwidth(struct run *r, unsigned threads, const char *scope, double *ret_rate,
                         struct err *e)
{
    struct roof_opts ro = {.threads = threads,
                           .cpu = r->o->cpu,
                           .memory_budget_bytes = r->o->memory_budget_bytes,
                           .time_budget_ns = ROOF_NS_MAX};
    struct err why = {0};
    struct roof roof;
    char source[240], cache[TEXT_NUMBER_BYTES];

    if (r->o->time_budget_ns && r->o->time_budget_ns / ROOF_SHARE < ro.time_budget_ns)
        ro.time_budget_ns = r->o->time_budget_ns / ROOF_SHARE;
    if (roof_measure(&ro, &roof, &why))
        return fact_put_unknown(r->sink, FACT_STRESS_BANDWIDTH, scope, why.msg, e);
    snprintf(source, sizeof(source),
             MEASURED ": sum of 64-bit words, %s, %u thread%s, %u epochs%s, %s%s%s%s", roof.variant,
             roof.threads, roof.threads == 1 ? "" : "s", roof.epochs,
             roof.threads == 1 ? " of CPU time" : "", meter_state_name(roof.state),
             roof.small ? "; working set under 4 times the last cache (" : "",
             roof.small ? text_bytes(roof.last_cache_bytes, cache) : "",
             roof.small ? "): the rate may be the cache's" : "");
    *ret_rate = roof.bytes_per_s;
    int rc = fact_put_real(r->sink, FACT_STRESS_BANDWIDTH, scope, roof.bytes_per_s,
                           roof.bytes_per_s_mad, source, e);
    if (rc)
        return rc;
    return fact_put_int(r->sink, FACT_STRESS_BANDWIDTH_SET, scope, (int64_t)roof.working_set_bytes,
                        source, e);
}

/* The memory is a floor only for what does not fit a cache between one step and the next. */
static int put_floor(struct run *r, const struct kinds_group *g, const struct ladder_rung *u,
                     struct err *e)
{
    double ns = r->bandwidth > 0 ? 1e9 * u->move_bytes / r->bandwidth : NAN;
    unsigned long cache = cpu_last_cache_bytes();
    char note[120] = "", a[TEXT_NUMBER_BYTES], b[TEXT_NUMBER_BYTES];

    if (u->move_bytes <= 0 || isnan(ns)) {
        ns = NAN;
        snprintf(note, sizeof(note), "the bytes or the read bandwidth are not known");
    } else if (u->move_bytes < (double)cache) {
        ns = NAN;
        snprintf(note, sizeof(note), "%s fit the last cache of %s: memory is no floor",
                 text_bytes((uint64_t)u->move_bytes, a), text_bytes(cache, b));
    }
    return put_point(r, "decode.floor", g->scope, u->tokens, ns, 0, "ns/token", note, e);
}

static int put_points(struct run *r, const struct kinds_group *g, const struct ladder *l,
                      struct err *e)
{
    double n = g->layers;
    int rc = 0;

    for (size_t i = 0; i < l->count && rc == 0; i++) {
        const struct ladder_rung *u = &l->rungs[i];
        bool seen = u->reached && u->resident_bytes >= 0;
        double ns = u->reached ? u->time.median_ns : NAN;
        const char *hidden =
            u->reached ? "the system does not say what memory is resident" : u->note;
        rc = put_point(r, "cache.layout", g->scope, u->tokens,
                       u->reached ? n * (double)u->layout_bytes : NAN, 0, "bytes", u->note, e);
        if (rc == 0)
            rc = put_point(r, "cache.measured", g->scope, u->tokens,
                           seen ? n * (double)u->resident_bytes : NAN,
                           seen ? n * (double)u->page_error_bytes : 0, "bytes", seen ? "" : hidden,
                           e);
        if (rc == 0)
            rc = put_point(r, "decode.measured", g->scope, u->tokens, ns,
                           u->reached ? u->time.mad_ns : 0, "ns/token", u->note, e);
        if (rc == 0)
            rc = put_floor(r, g, u, e);
    }
    return rc;
}

static void expect(const struct run *r, const struct kinds_group *g, struct fit_expectation *ret)
{
    const struct mixer *x = &g->mixer;
    double n = g->layers;
    double at0 = n * (double)cost_mixer_bytes(x, 0), at1 = n * (double)cost_mixer_bytes(x, 1);

    *ret = (struct fit_expectation){.growth = FIT_LINEAR, .slope = at1 - at0, .intercept = at0};
    if (at1 <= at0) {
        ret->growth = FIT_CONSTANT;
    } else if (x->window && x->window < r->o->target_tokens) {
        ret->growth = FIT_PLATEAU;
        ret->intercept = n * (double)cost_mixer_bytes(x, x->window);
    }
}

/* Largest relative distance of one layer's bytes from the prediction: of the layout, which must hit
 * it, and of resident memory beyond what pages add. */
static double distance(const struct kinds_group *g, const struct ladder *l)
{
    double worst = 0;

    for (size_t i = 0; i < l->count; i++) {
        const struct ladder_rung *u = &l->rungs[i];
        if (!u->reached)
            continue;
        double want = (double)cost_mixer_bytes(&g->mixer, u->tokens);
        double off = fabs((double)u->layout_bytes - want);
        if (u->resident_bytes >= 0)
            off = fmax(off, fabs((double)u->resident_bytes - want) - (double)u->page_error_bytes);
        worst = fmax(worst, off / want);
    }
    return worst;
}

/* Resident memory comes in pages, so no constant is known better than they are large. */
static int put_fit_values(struct run *r, const char *scope, const struct fit *f, double pages_bytes,
                          const char *source, struct err *e)
{
    bool level = f->growth == FIT_CONSTANT || f->growth == FIT_PLATEAU;
    double error = isfinite(f->slope_error) ? f->slope_error : 0;
    int rc = fact_put_real(r->sink, FACT_STRESS_CACHE_SLOPE, scope, f->slope, error, source, e);

    if (rc)
        return rc;
    error = level || !isfinite(f->intercept_error) ? 0 : f->intercept_error;
    return fact_put_real(r->sink, FACT_STRESS_CACHE_CONSTANT, scope,
                         level ? f->level : f->intercept, fmax(error, pages_bytes), source, e);
}

static int put_cache(struct run *r, const struct kinds_group *g, const struct ladder *l,
                     struct err *e)
{
    struct fit_point p[LADDER_RUNGS_MAX];
    struct fit_opts fo = {.tolerance = CACHE_TOLERANCE};
    struct fit_expectation want;
    struct fit_check check;
    struct fit f;
    double pages_bytes = 0;
    char source[80];
    size_t n = 0;

    for (size_t i = 0; i < l->count; i++) {
        const struct ladder_rung *u = &l->rungs[i];
        if (!u->reached || u->resident_bytes < 0)
            continue;
        pages_bytes = fmax(pages_bytes, g->layers * (double)u->page_error_bytes);
        double pages = (double)u->page_error_bytes / (double)u->layout_bytes;
        fo.tolerance = fmax(fo.tolerance, fmin(pages, CACHE_TOLERANCE_MAX));
        p[n].x = (double)u->tokens;
        p[n++].y = g->layers * (double)u->resident_bytes;
    }
    fit_of(p, n, &fo, &f);
    expect(r, g, &want);
    fit_compare(&f, &want, n ? p[0].x : 0, fo.tolerance, &check);
    snprintf(source, sizeof(source), "fit over %zu lengths " MEASURED, n);
    int rc = fact_put_text(r->sink, FACT_STRESS_GROWTH_EXPECTED, g->scope,
                           fit_growth_name(want.growth), PREDICTED, e);
    if (rc == 0)
        rc = fact_put_real(r->sink, FACT_STRESS_CACHE_SLOPE_EXPECTED, g->scope, want.slope, 0,
                           PREDICTED, e);
    if (rc == 0)
        rc = fact_put_real(r->sink, FACT_STRESS_CACHE_CONSTANT_EXPECTED, g->scope, want.intercept,
                           0, PREDICTED, e);
    if (rc)
        return rc;
    if (f.growth == FIT_UNKNOWN) {
        rc = fact_put_unknown(r->sink, FACT_STRESS_GROWTH, g->scope, f.why, e);
        return rc ? rc : fact_put_unknown(r->sink, FACT_STRESS_CACHE_AGREES, g->scope, f.why, e);
    }
    rc = fact_put_text(r->sink, FACT_STRESS_GROWTH, g->scope, fit_growth_name(f.growth), source, e);
    if (rc == 0)
        rc = fact_put_text(r->sink, FACT_STRESS_CACHE_AGREES, g->scope,
                           check.verdict == FIT_AGREES ? "yes" : check.why, source, e);
    if (rc == 0)
        rc = put_fit_values(r, g->scope, &f, pages_bytes, source, e);
    if (rc == 0)
        rc = fact_put_real(r->sink, FACT_STRESS_CACHE_OFF, g->scope, distance(g, l), 0,
                           MEASURED ", page rounding left out", e);
    return rc;
}

static int put_decode_growth(struct run *r, const struct kinds_group *g, const struct ladder *l,
                             struct err *e)
{
    struct fit_point p[LADDER_RUNGS_MAX];
    const struct fit_opts fo = {.tolerance = TIME_TOLERANCE, .relative = true};
    struct fit f;
    size_t n = 0, outlier;
    char source[160], at[TEXT_NUMBER_BYTES];

    for (size_t i = 0; i < l->count; i++) {
        if (!l->rungs[i].reached)
            continue;
        p[n].x = (double)l->rungs[i].tokens;
        p[n++].y = l->rungs[i].time.min_ns; /* neighbours only ever add */
    }
    fit_of_times(p, n, &fo, &f, &outlier);
    snprintf(source, sizeof(source), "fit of each length's fastest epoch, tolerance 25 %%");
    if (outlier < n)
        snprintf(
            source, sizeof(source),
            "fit of each length's fastest epoch, tolerance 25 %%; %s tokens left out, an outlier",
            text_tokens((uint64_t)p[outlier].x, at));
    if (f.growth == FIT_UNKNOWN)
        return fact_put_unknown(r->sink, FACT_STRESS_DECODE_GROWTH, g->scope, f.why, e);
    return fact_put_text(r->sink, FACT_STRESS_DECODE_GROWTH, g->scope, fit_growth_name(f.growth),
                         source, e);
}

static int put_quality(struct run *r, const struct kinds_group *g, const struct ladder *l,
                       struct err *e)
{
    const struct ladder_rung *u = &l->rungs[l->longest];
    const struct counters_values *v = &l->counters;
    char text[240], cpu[TEXT_NUMBER_BYTES];

    snprintf(text, sizeof(text),
             "%s: %u epochs of %llu step%s; one more took %s of CPU time, with %lld page faults "
             "from disk, %lld others, %lld forced context switches",
             meter_state_name(u->time.state), u->time.epochs,
             (unsigned long long)u->time.iterations, u->time.iterations == 1 ? "" : "s",
             text_duration((double)v->task_clock_ns, cpu), (long long)v->major_faults,
             (long long)v->minor_faults, (long long)v->switches_forced);
    int rc = fact_put_text(r->sink, FACT_STRESS_DECODE_QUALITY, g->scope, text, MEASURED, e);
    if (rc)
        return rc;
    if (!v->hardware)
        return fact_put_unknown(r->sink, FACT_STRESS_IPC, g->scope, r->counters.why, e);
    return fact_put_real(r->sink, FACT_STRESS_IPC, g->scope,
                         (double)v->instructions / (double)v->cycles, 0, "PAPI, one step", e);
}

static int put_decode(struct run *r, const struct kinds_group *g, const struct ladder *l,
                      struct err *e)
{
    const struct ladder_rung *u = &l->rungs[l->longest];
    double rate = 1e9 * u->move_bytes / u->time.median_ns;
    char source[120], at[TEXT_NUMBER_BYTES];

    snprintf(source, sizeof(source),
             MEASURED " at %s tokens: CPU time, one layer, batch 1, one thread",
             text_tokens(u->tokens, at));
    int rc = fact_put_real(r->sink, FACT_STRESS_DECODE, g->scope, u->time.median_ns, u->time.mad_ns,
                           source, e);
    if (rc == 0)
        rc = fact_put_real(r->sink, FACT_STRESS_DECODE_RATE, g->scope, rate,
                           rate * u->time.mad_ns / u->time.median_ns,
                           "bytes by the kernel's cost function over measured time", e);
    if (rc == 0)
        rc = fact_put_text(r->sink, FACT_STRESS_VARIANT, g->scope, l->variant, MEASURED, e);
    if (rc == 0)
        rc = fact_put_int(r->sink, FACT_STRESS_EPOCHS, g->scope, u->time.epochs, MEASURED, e);
    if (rc == 0)
        rc = put_decode_growth(r, g, l, e);
    return rc ? rc : put_quality(r, g, l, e);
}

static int put_limit(struct run *r, const struct kinds_group *g, const struct ladder *l,
                     struct err *e)
{
    const struct ladder_rung *stop = NULL;
    char text[LADDER_NOTE_BYTES + 80], at[TEXT_NUMBER_BYTES];

    for (size_t i = 0; i < l->count && !stop; i++) {
        if (!l->rungs[i].reached)
            stop = &l->rungs[i];
    }
    if (!stop)
        return fact_put_absent(r->sink, FACT_STRESS_LIMIT, g->scope,
                               "every length up to the target was measured", e);
    snprintf(text, sizeof(text), "at %s tokens: %s", text_tokens(stop->tokens, at), stop->note);
    return fact_put_text(r->sink, FACT_STRESS_LIMIT, g->scope, text, MEASURED, e);
}

static void tick(void *ctx)
{
    struct run *r = ctx;

    r->done++;
    if (r->o->progress && r->o->progress->tick)
        r->o->progress->tick(r->o->progress->ctx, "measuring", r->done, r->total, "lengths");
}

static int run_group(struct run *r, size_t index, struct err *e)
{
    const struct kinds_group *g = &r->kinds.groups[index];
    uint64_t now = clock_ns();
    struct ladder l;
    struct ladder_opts lo = {.mixer = &g->mixer,
                             .target_tokens = r->o->target_tokens,
                             .memory_budget_bytes = r->o->memory_budget_bytes,
                             .seed = r->o->seed,
                             .cpu = r->o->cpu,
                             .tick = tick,
                             .tick_ctx = r};

    if (r->deadline_ns) /* what is left, evenly over the kinds that are left */
        lo.deadline_ns =
            now + (r->deadline_ns > now ? r->deadline_ns - now : 0) / (r->kinds.count - index);
    ladder_climb(&lo, &r->counters, &l);
    int rc = put_points(r, g, &l, e);
    if (rc == 0)
        rc = put_limit(r, g, &l, e);
    if (rc)
        return rc;
    if (l.longest == l.count) {
        static const enum fact_key keys[] = {FACT_STRESS_REACHED, FACT_STRESS_GROWTH,
                                             FACT_STRESS_DECODE};
        for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && rc == 0; i++)
            rc = fact_put_unknown(r->sink, keys[i], g->scope, l.rungs[0].note, e);
        return rc;
    }
    rc = fact_put_int(r->sink, FACT_STRESS_REACHED, g->scope, (int64_t)l.rungs[l.longest].tokens,
                      MEASURED, e);
    if (rc == 0)
        rc = put_cache(r, g, &l, e);
    return rc ? rc : put_decode(r, g, &l, e);
}

int longctx_run(const struct model *m, const struct longctx_opts *o, const struct fact_sink *sink,
                struct err *e)
{
    struct run r = {.model = m, .o = o, .sink = sink};
    unsigned threads = o->threads ? o->threads : cpu_count();
    double all = 0;

    if (o->target_tokens == 0 || o->target_tokens > LONGCTX_TARGET_MAX)
        return err_set(e, ERR_USAGE, "a target of %llu tokens is not between 1 and %llu",
                       (unsigned long long)o->target_tokens,
                       (unsigned long long)LONGCTX_TARGET_MAX);
    if (o->time_budget_ns)
        r.deadline_ns = clock_ns() + o->time_budget_ns;
    int rc = kinds_of(m, o->target_tokens, &r.kinds, e);
    if (rc == 0)
        rc = fact_put_int(sink, FACT_STRESS_TARGET, "", (int64_t)o->target_tokens, "options", e);
    if (rc == 0)
        rc = put_predictions(&r, e);
    if (rc == 0)
        rc = put_counters(&r, e);
    if (rc == 0)
        rc = put_bandwidth(&r, 1, "", &r.bandwidth, e);
    if (rc == 0 && threads > 1)
        rc = put_bandwidth(&r, threads, "all threads", &all, e);
    for (size_t i = 0; i < r.kinds.count && rc == 0; i++)
        rc = run_group(&r, i, e);
    return rc;
}
