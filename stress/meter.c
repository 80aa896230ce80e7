#include "stress/meter.h"
#include "core/clock.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A callback so slow that its cold call is this many epochs long runs once an epoch; finding out
 * how much faster it is when warm would cost one more call. */
#define COLD_EPOCHS 10

/* One side of a measurement: what is called, and how often an epoch calls it. */
struct side {
    meter_fn *fn;
    void *ctx;
    uint64_t iterations;
    uint64_t target_ns; /* shortest epoch that is long enough */
    bool reached;       /* an epoch of `iterations` is that long */
    double samples[METER_EPOCHS_MIN];
};

static uint64_t wall_now(void *ctx)
{
    (void)ctx;
    return clock_ns();
}

static uint64_t thread_now(void *ctx)
{
    struct timespec t = {0, 0};

    (void)ctx;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

const struct meter_clock meter_wall = {wall_now, NULL}, meter_thread = {thread_now, NULL};

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The median of v[0..n), n > 0; sorts v. */
static double median(double *v, unsigned n)
{
    qsort(v, n, sizeof(*v), by_value);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* The median of the distances from `middle`, with which it overwrites v. */
static double spread(double *v, unsigned n, double middle)
{
    for (unsigned i = 0; i < n; i++)
        v[i] = v[i] < middle ? middle - v[i] : v[i] - middle;
    return median(v, n);
}

/* The smallest step that the clock makes between two looks at it. */
static uint64_t resolution(const struct meter_clock *clock)
{
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < 64; i++) {
        uint64_t a = clock->now_ns(clock->ctx), b = a;
        for (int look = 0; look < 1000 && b == a; look++)
            b = clock->now_ns(clock->ctx);
        if (b > a && b - a < least)
            least = b - a;
    }
    return least == UINT64_MAX ? 1 : least;
}

static uint64_t run_epoch(const struct meter_clock *clock, const struct side *s)
{
    uint64_t start = clock->now_ns(clock->ctx);

    for (uint64_t i = 0; i < s->iterations; i++)
        s->fn(s->ctx);
    return clock->now_ns(clock->ctx) - start;
}

/* Warms the side up and finds how many iterations make an epoch. */
static void warm_up(const struct meter_clock *clock, uint64_t resolution_ns, struct side *s)
{
    s->target_ns = METER_EPOCH_TICKS * resolution_ns;
    if (s->target_ns < METER_EPOCH_NS)
        s->target_ns = METER_EPOCH_NS;
    s->iterations = 1;
    s->reached = run_epoch(clock, s) / COLD_EPOCHS >= s->target_ns;
    while (!s->reached) {
        uint64_t ns = run_epoch(clock, s);
        s->reached = ns >= s->target_ns;
        if (s->reached || s->iterations >= METER_ITERATIONS_MAX)
            break;
        /* A tenth more than the ratio asks for, and from 2 to 100 times as many at once: a first
         * look that is only a few ticks long says little. */
        double grow = 1.1 * (double)s->target_ns / (double)(ns ? ns : 1);
        grow = grow < 2 ? 2 : grow > 100 ? 100 : grow;
        s->iterations = (uint64_t)((double)s->iterations * grow);
        if (s->iterations > METER_ITERATIONS_MAX)
            s->iterations = METER_ITERATIONS_MAX;
    }
}

static void sample(const struct meter_clock *clock, struct side *s, unsigned epoch)
{
    s->samples[epoch] = (double)run_epoch(clock, s) / (double)s->iterations;
}

static void summarise(const struct side *s, unsigned epochs, struct meter_result *r)
{
    double v[METER_EPOCHS_MIN];

    memcpy(v, s->samples, epochs * sizeof(*v));
    r->median_ns = median(v, epochs);
    r->min_ns = v[0];
    r->mad_ns = spread(v, epochs, r->median_ns);
    r->iterations = s->iterations;
    r->epochs = epochs;
    if (epochs < METER_EPOCHS_MIN || !s->reached)
        r->state = METER_SHORT;
    else
        r->state = r->mad_ns > METER_SPREAD_MAX * r->median_ns ? METER_UNSTABLE : METER_OK;
}

/* True if the budget holds no further epoch as long as the last one. */
static bool out_of_time(uint64_t budget_ns, uint64_t start, uint64_t before, uint64_t now)
{
    return budget_ns && now - start + (now - before) > budget_ns;
}

void meter_measure(meter_fn *fn, void *ctx, const struct meter_opts *o, struct meter_result *ret)
{
    const struct meter_clock *clock = o->clock ? o->clock : &meter_wall;
    const struct meter_clock *wall = o->wall ? o->wall : clock;
    struct side s = {.fn = fn, .ctx = ctx};
    struct meter_result r = {.resolution_ns = resolution(clock)};
    uint64_t start = wall->now_ns(wall->ctx), now;
    unsigned epochs = 0;

    warm_up(clock, r.resolution_ns, &s);
    now = wall->now_ns(wall->ctx);
    while (epochs < METER_EPOCHS_MIN) {
        uint64_t before = now;
        sample(clock, &s, epochs++);
        now = wall->now_ns(wall->ctx);
        if (epochs >= METER_EPOCHS_LEAST && out_of_time(o->budget_ns, start, before, now))
            break;
    }
    summarise(&s, epochs, &r);
    r.spent_ns = now - start;
    *ret = r;
}

void meter_compare(meter_fn *a, void *a_ctx, meter_fn *b, void *b_ctx, const struct meter_opts *o,
                   struct meter_pair *ret)
{
    const struct meter_clock *clock = o->clock ? o->clock : &meter_wall;
    const struct meter_clock *wall = o->wall ? o->wall : clock;
    struct side sides[2] = {{.fn = a, .ctx = a_ctx}, {.fn = b, .ctx = b_ctx}};
    struct meter_pair p = {.a.resolution_ns = resolution(clock)};
    double ratios[METER_EPOCHS_MIN];
    uint64_t start = wall->now_ns(wall->ctx), now;
    unsigned epochs = 0;

    p.b.resolution_ns = p.a.resolution_ns;
    warm_up(clock, p.a.resolution_ns, &sides[0]);
    warm_up(clock, p.a.resolution_ns, &sides[1]);
    now = wall->now_ns(wall->ctx);
    while (epochs < METER_EPOCHS_MIN) {
        uint64_t before = now;
        /* Every other pair the other way round, so that being second is no advantage. */
        sample(clock, &sides[epochs % 2], epochs);
        sample(clock, &sides[1 - epochs % 2], epochs);
        ratios[epochs] = sides[1].samples[epochs] / sides[0].samples[epochs];
        epochs++;
        now = wall->now_ns(wall->ctx);
        if (epochs >= METER_EPOCHS_LEAST && out_of_time(o->budget_ns, start, before, now))
            break;
    }
    summarise(&sides[0], epochs, &p.a);
    summarise(&sides[1], epochs, &p.b);
    p.a.spent_ns = p.b.spent_ns = now - start;
    p.ratio = p.b.median_ns / p.a.median_ns;
    p.ratio_mad = spread(ratios, epochs, median(ratios, epochs));
    if (p.a.state == METER_SHORT || p.b.state == METER_SHORT)
        p.state = METER_SHORT;
    else
        p.state = p.ratio_mad > METER_SPREAD_MAX * p.ratio ? METER_UNSTABLE : METER_OK;
    *ret = p;
}

const char *meter_state_name(enum meter_state s)
{
    switch (s) {
    case METER_OK: return "ok";
    case METER_UNSTABLE: return "unstable";
    case METER_SHORT: return "too short";
    }
    return "?";
}
