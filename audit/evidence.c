#include "audit/evidence.h"
#include "audit/coverage.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/text.h"
#include "probes/host.h"
#include "stress/balance.h"
#include "stress/dequant_rate.h"
#include "stress/fallback.h"
#include "stress/longctx.h"
#include <stdlib.h>
#include <string.h>

void evidence_init(struct evidence *v)
{
    *v = (struct evidence){0};
    fact_list_init(&v->facts);
}

void evidence_release(struct evidence *v)
{
    fact_list_release(&v->facts);
    free(v->supports);
    mem_arena_release(&v->arena);
    *v = (struct evidence){0};
}

/* For --verbose: what the time went into. Ends the progress line. */
static void tell_time(const char *stage, uint64_t start_ns)
{
    char text[TEXT_NUMBER_BYTES];

    log_progress_done();
    log_detail("%s: %s", stage, text_duration((double)(clock_ns() - start_ns), text));
}

int evidence_subject(struct evidence *v, struct subject *s, struct err *e)
{
    struct fact_sink sink = fact_list_sink(&v->facts);
    struct host host;

    host_read(&host);
    if (host_facts(&host, &sink, e))
        return e->code;
    return subject_facts(s, &sink, e);
}

int evidence_fingerprint(struct evidence *v, const struct manifest *m, const char *why,
                         struct err *e)
{
    struct fact_sink sink = fact_list_sink(&v->facts);

    if (m)
        return manifest_facts(m, &sink, e);
    return fact_put_unknown(&sink, FACT_FINGERPRINT_DIGEST, "", why, e);
}

static const char *keep(struct evidence *v, const char *s)
{
    return mem_arena_strndup(&v->arena, s, strlen(s));
}

static int keep_row(void *ctx, const struct run_support *row, struct err *e)
{
    struct evidence *v = ctx;

    (void)e;
    v->supports =
        mem_grow(v->supports, &v->support_cap, v->support_count + 1, sizeof(*v->supports));
    v->supports[v->support_count++] = (struct run_support){.backend = keep(v, row->backend),
                                                           .kind = keep(v, row->kind),
                                                           .entry = keep(v, row->entry),
                                                           .hardware = keep(v, row->hardware),
                                                           .status = keep(v, row->status),
                                                           .condition = keep(v, row->condition),
                                                           .source = keep(v, row->source),
                                                           .as_of = keep(v, row->as_of)};
    return 0;
}

int evidence_coverage(struct evidence *v, const struct policy *p, const struct support *tables,
                      struct err *e)
{
    struct fact_sink sink = fact_list_sink(&v->facts);

    return coverage_put(&v->facts, p, tables, &sink, keep_row, v, e);
}

void evidence_limits(const struct options *o, const struct policy *p, struct evidence_limits *ret)
{
    uint64_t memory = o->memory_bytes ? o->memory_bytes : EVIDENCE_MEMORY_DEFAULT;
    struct host host;

    host_read(&host);
    if (host.memory_bytes && memory > host.memory_bytes / 2)
        memory = host.memory_bytes / 2;
    *ret = (struct evidence_limits){.budget_ns =
                                        o->budget_ns ? o->budget_ns : EVIDENCE_BUDGET_DEFAULT_NS,
                                    .memory_bytes = memory,
                                    .target_tokens = policy_context_max(p)};
}

int evidence_stress(struct evidence *v, const struct subject *s, const struct options *o,
                    const struct evidence_limits *l, struct err *e)
{
    struct fact_sink sink = fact_list_sink(&v->facts);
    struct progress progress = log_progress();
    uint64_t start = clock_ns();
    struct longctx_opts opts = {.target_tokens = l->target_tokens,
                                .memory_budget_bytes = l->memory_bytes,
                                .time_budget_ns = l->budget_ns,
                                .seed = o->seed,
                                .cpu = o->cpu,
                                .progress = &progress};
    struct err why = {0};

    if (!s->has_model)
        return fact_put_unknown(&sink, FACT_STRESS_REACHED, "", s->model_why, e);
    int rc = longctx_run(&s->model, &opts, &sink, &why);
    tell_time("ladder of context lengths", start);
    return rc ? fact_put_unknown(&sink, FACT_STRESS_REACHED, "", why.msg, e) : 0;
}

int evidence_dequant(struct evidence *v, const struct subject *s, const struct options *o,
                     const struct evidence_limits *l, struct err *e)
{
    const struct fact *roof = fact_list_find(&v->facts, FACT_STRESS_BANDWIDTH, "");
    struct fact_sink sink = fact_list_sink(&v->facts);
    struct progress progress = log_progress();
    uint64_t start = clock_ns();
    struct dequant_rate_opts opts = {.time_budget_ns = l->budget_ns,
                                     .memory_budget_bytes = l->memory_bytes,
                                     .seed = o->seed,
                                     .cpu = o->cpu,
                                     .progress = &progress};

    if (roof && roof->state == FACT_KNOWN)
        opts.read_bandwidth = roof->x;
    if (!s->has_observed)
        return fact_put_unknown(&sink, FACT_FORMAT_DEQUANT_RATE, "", "no tensor headers at hand",
                                e);
    int rc = dequant_rate_run(&s->observed, &opts, &sink, e);
    tell_time("unpacking of the stored formats", start);
    return rc;
}

int evidence_fallback(struct evidence *v, const struct subject *s, const struct options *o,
                      const struct evidence_limits *l, struct err *e)
{
    struct fact_sink sink = fact_list_sink(&v->facts);
    struct progress progress = log_progress();
    uint64_t start = clock_ns();
    struct fallback_opts opts = {.time_budget_ns = l->budget_ns,
                                 .memory_budget_bytes = l->memory_bytes,
                                 .seed = o->seed,
                                 .cpu = o->cpu,
                                 .progress = &progress};
    struct err why = {0};

    if (!s->has_model)
        return fact_put_unknown(&sink, FACT_FALLBACK_TIME, "", s->model_why, e);
    int rc = fallback_run(&s->model, &opts, &sink, &why);
    tell_time("fused against composed operators", start);
    return rc ? fact_put_unknown(&sink, FACT_FALLBACK_TIME, "", why.msg, e) : 0;
}

int evidence_balance(struct evidence *v, const struct subject *s, const struct options *o,
                     const struct evidence_limits *l, struct err *e)
{
    struct fact_sink sink = fact_list_sink(&v->facts);
    struct progress progress = log_progress();
    uint64_t start = clock_ns();
    struct balance_opts opts = {.tokens = o->tokens,
                                .time_budget_ns = l->budget_ns,
                                .memory_budget_bytes = l->memory_bytes,
                                .seed = o->seed,
                                .cpu = o->cpu,
                                .progress = &progress};
    struct err why = {0};

    if (!s->has_model)
        return fact_put_unknown(&sink, FACT_BALANCE_SOURCE, "", s->model_why, e);
    int rc = balance_run(&s->model, s->tensors ? s->tensors : &s->local.inventory,
                         s->local.folder, &opts, &sink, &why);
    tell_time("load of the experts", start);
    return rc ? fact_put_unknown(&sink, FACT_BALANCE_SOURCE, "", why.msg, e) : 0;
}
