#include "stress/ladder.h"
#include "core/clock.h"
#include "core/text.h"
#include "stress/decode.h"
#include <stdio.h>

#define FIRST_TOKENS 4096u
#define RUNGS_MIN 3
/* Steps that a rung makes at least: warm-up, the epochs below which there is no spread, and one
 * under the counters. */
#define STEPS_MIN (1 + METER_EPOCHS_LEAST + 1)

static size_t insert(uint64_t *list, size_t n, uint64_t value)
{
    size_t at = 0;

    while (at < n && list[at] < value)
        at++;
    if (at < n && list[at] == value)
        return n;
    for (size_t i = n; i > at; i--)
        list[i] = list[i - 1];
    list[at] = value;
    return n + 1;
}

size_t ladder_plan(const struct mixer *x, uint64_t target_tokens,
                   uint64_t ret_tokens[LADDER_RUNGS_MAX])
{
    size_t n = insert(ret_tokens, 0, target_tokens);

    for (uint64_t t = FIRST_TOKENS; t < target_tokens; t *= 2)
        n = insert(ret_tokens, n, t);
    for (uint64_t part = 1; part <= 4; part *= 2) {
        uint64_t t = x->window / part;
        if (t && t < target_tokens)
            n = insert(ret_tokens, n, t);
    }
    /* a fit needs three rungs: short targets get theirs below the usual first one */
    for (uint64_t t = target_tokens / 2; n < RUNGS_MIN && t; t /= 2)
        n = insert(ret_tokens, n, t);
    return n;
}

/* What the last rung taught about the next. */
struct pace {
    double step_ns, bytes, flops; /* of one step; step_ns 0: nothing yet */
    double fill_ns_byte;
};

static double expected_ns(const struct pace *p, const struct decode_need *n)
{
    double fill = p->fill_ns_byte * (double)n->cache_bytes;

    if (p->step_ns <= 0)
        return fill;
    double more = n->move_bytes / p->bytes;
    if (p->flops > 0 && n->flops / p->flops > more)
        more = n->flops / p->flops;
    return fill + STEPS_MIN * p->step_ns * more;
}

/* True if there is no room; the rung then says for what. */
static bool over_memory(const struct decode_need *n, uint64_t budget, struct ladder_rung *r)
{
    char cache[TEXT_NUMBER_BYTES], other[TEXT_NUMBER_BYTES], room[TEXT_NUMBER_BYTES];

    if (n->cache_bytes <= budget && n->other_bytes <= budget - n->cache_bytes)
        return false;
    snprintf(
        r->note, sizeof(r->note),
        "memory: one layer needs %s bytes of cache and %s bytes beside it; the budget is %s bytes",
        text_count(n->cache_bytes, cache), text_count(n->other_bytes, other),
        text_count(budget, room));
    return true;
}

static bool over_time(const struct decode_need *n, const struct pace *p, uint64_t deadline_ns,
                      struct ladder_rung *r)
{
    char want[TEXT_NUMBER_BYTES], left[TEXT_NUMBER_BYTES];
    uint64_t now = clock_ns();
    double left_ns = deadline_ns > now ? (double)(deadline_ns - now) : 0;
    double want_ns = expected_ns(p, n);

    if (!deadline_ns || want_ns < left_ns)
        return false;
    if (left_ns <= 0)
        snprintf(r->note, sizeof(r->note), "time: the budget is used up");
    else
        snprintf(r->note, sizeof(r->note),
                 "time: it would take about %s; %s of the budget are left",
                 text_duration(want_ns, want), text_duration(left_ns, left));
    return true;
}

/* Share of the time left for timing this rung; 0 without a deadline. */
static uint64_t share_ns(const struct ladder *l, size_t at, uint64_t deadline_ns)
{
    uint64_t now = clock_ns();
    double ahead = 0;

    if (!deadline_ns)
        return 0;
    if (now >= deadline_ns)
        return 1;
    for (size_t i = at; i < l->count; i++)
        ahead += l->rungs[i].note[0] ? 0 : l->rungs[i].move_bytes;
    if (ahead <= 0)
        return 1;
    return 1 + (uint64_t)((double)(deadline_ns - now) * l->rungs[at].move_bytes / ahead);
}

static void stand(const struct ladder_opts *o, struct counters *c, size_t at, struct pace *pace,
                  struct ladder *l)
{
    struct ladder_rung *r = &l->rungs[at];
    struct err e = {0};
    struct decode *d;

    if (decode_open(o->mixer, r->tokens, o->seed, o->cpu, &d, &e)) {
        snprintf(r->note, sizeof(r->note), "%s", e.msg);
        return;
    }
    struct meter_opts mo = {
        .budget_ns = share_ns(l, at, o->deadline_ns), .clock = &meter_thread, .wall = &meter_wall};
    meter_measure(decode_step, d, &mo, &r->time);
    counters_measure(c, decode_step, d, &l->counters);
    r->resident_bytes = d->resident_bytes;
    r->page_error_bytes = d->page_error_bytes;
    r->reached = true;
    l->variant = d->variant;
    l->longest = at;
    *pace = (struct pace){.step_ns = r->time.median_ns,
                          .bytes = d->need.move_bytes,
                          .flops = d->need.flops,
                          .fill_ns_byte = (double)d->fill_ns / (double)d->need.cache_bytes};
    decode_close(d);
}

void ladder_climb(const struct ladder_opts *o, struct counters *c, struct ladder *ret)
{
    uint64_t tokens[LADDER_RUNGS_MAX];
    struct decode_need needs[LADDER_RUNGS_MAX];
    /* Touching fresh memory goes at 1 GB/s or better. */
    struct pace pace = {.fill_ns_byte = 1};
    struct err e = {0};

    *ret = (struct ladder){.variant = ""};
    ret->count = ret->longest = ladder_plan(o->mixer, o->target_tokens, tokens);
    for (size_t i = 0; i < ret->count; i++) {
        struct ladder_rung *r = &ret->rungs[i];
        r->tokens = tokens[i];
        r->resident_bytes = -1;
        if (decode_need(o->mixer, tokens[i], &needs[i], &e)) {
            snprintf(r->note, sizeof(r->note), "%s", e.msg);
            continue;
        }
        r->layout_bytes = needs[i].cache_bytes;
        r->move_bytes = needs[i].move_bytes;
        (void)over_memory(&needs[i], o->memory_budget_bytes, r);
    }
    for (size_t i = 0; i < ret->count; i++) {
        struct ladder_rung *r = &ret->rungs[i];
        if (!r->note[0] && !over_time(&needs[i], &pace, o->deadline_ns, r))
            stand(o, c, i, &pace, ret);
        if (o->tick)
            o->tick(o->tick_ctx);
    }
}
