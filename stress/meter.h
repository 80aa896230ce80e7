#ifndef STRESS_METER_H
#define STRESS_METER_H
#include <stdint.h>

/* How long a piece of work takes, and how sure that is. The method is nanobench's: epochs of as
 * many iterations as make the clock's own resolution vanish, and the median over epochs.
 *
 * Inside the clock: the calls of the callback, one after the other, and one indirect call each.
 * Outside: the warm-up (one call), the choice of the iterations per epoch and all arithmetic of the
 * meter. Nothing flushes caches between iterations: a callback whose data fits a cache is measured
 * out of that cache. */

#define METER_EPOCHS_MIN 11     /* epochs behind a median that may be called ok (nanobench) */
#define METER_EPOCHS_LEAST 3    /* epochs made whatever the budget: fewer have no spread */
#define METER_EPOCH_NS 1000000u /* an epoch is at least 1 ms long ... */
#define METER_EPOCH_TICKS 1000u /* ... and at least 1000 steps of the clock */
#define METER_SPREAD_MAX 0.05   /* MAD over median from which a result is unstable (nanobench) */
#define METER_ITERATIONS_MAX (1ull << 24) /* in an epoch */

enum meter_state {
    METER_OK,
    METER_UNSTABLE, /* the MAD is more than 5 % of the median */
    METER_SHORT     /* the budget ended before METER_EPOCHS_MIN epochs, or an epoch stayed shorter
                       than it should be at METER_ITERATIONS_MAX iterations */
};

typedef void meter_fn(void *ctx);

/* A clock: nanoseconds that never go back. */
struct meter_clock {
    uint64_t (*now_ns)(void *ctx);
    void *ctx;
};

/* The system's monotonic clock; and the CPU time of the calling thread, which leaves out what other
 * processes take of the processor: for work of one thread that never waits. */
extern const struct meter_clock meter_wall, meter_thread;

struct meter_opts {
    uint64_t budget_ns; /* of all the calls, warm-up included, by `wall`; 0: no bound */
    const struct meter_clock *clock; /* of the epochs; NULL: meter_wall */
    const struct meter_clock *wall;  /* of the budget; NULL: the same as `clock` */
};

struct meter_result {
    double median_ns, mad_ns, min_ns; /* of one iteration; the MAD is not scaled to a sigma */
    uint64_t iterations;              /* per epoch */
    unsigned epochs;
    uint64_t spent_ns;      /* by everything, warm-up included, by `wall` */
    uint64_t resolution_ns; /* smallest step of the clock that was seen */
    enum meter_state state;
};

/* Measures fn(ctx) over METER_EPOCHS_MIN epochs, or fewer if the budget would not hold them. Makes
 * at least 1 + METER_EPOCHS_LEAST calls, so a callback that takes longer than budget_ns / 4 goes
 * over the budget; the caller decides beforehand. */
void meter_measure(meter_fn *fn, void *ctx, const struct meter_opts *o, struct meter_result *ret);

/* Two callbacks side by side: pairs of epochs, a then b, then b then a, so that whatever drifts
 * hits both. Each keeps its own iterations per epoch. */
struct meter_pair {
    struct meter_result a, b;
    double ratio;           /* median of b over median of a */
    double ratio_mad;       /* MAD of the ratios of the single pairs around their median */
    enum meter_state state; /* METER_SHORT if either is; else METER_UNSTABLE if ratio_mad is over 5
                               % of the ratio */
};
void meter_compare(meter_fn *a, void *a_ctx, meter_fn *b, void *b_ctx, const struct meter_opts *o,
                   struct meter_pair *ret);

const char *meter_state_name(enum meter_state s); /* "ok", "unstable", "too short" */

#endif
