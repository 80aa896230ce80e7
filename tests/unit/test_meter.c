#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "stress/meter.h"

/* A clock that only the callback and the looks at it move, so that no case depends on this host. */
struct bench {
    uint64_t now, tick;    /* a look takes one tick */
    const uint64_t *costs; /* ns of the calls in turn */
    unsigned cost_count, calls;
};

static uint64_t bench_now(void *ctx)
{
    struct bench *b = ctx;

    return b->now += b->tick;
}

static void work(void *ctx)
{
    struct bench *b = ctx;

    b->now += b->costs[b->calls++ % b->cost_count];
}

/* Two callbacks on one clock. */
struct half {
    struct bench *b;
    uint64_t cost;
    char name;
    char *log; /* names in the order of the epochs, if not NULL */
    unsigned *logged;
};

static void half_work(void *ctx)
{
    struct half *h = ctx;

    h->b->now += h->cost;
    if (h->log && *h->logged < 64)
        h->log[(*h->logged)++] = h->name;
}

static void two_clocks(void *ctx)
{
    struct half **both = ctx;

    half_work(both[0]);
    half_work(both[1]);
}

static struct meter_result measure(const uint64_t *costs, unsigned n, uint64_t budget,
                                   uint64_t tick, struct bench *b)
{
    struct meter_clock clock = {bench_now, b};
    struct meter_opts o = {.budget_ns = budget, .clock = &clock};
    struct meter_result r;

    *b = (struct bench){.tick = tick, .costs = costs, .cost_count = n};
    meter_measure(work, b, &o, &r);
    return r;
}

static void slow_callback_runs_once_an_epoch(void **state)
{
    static const uint64_t costs[] = {50000000};
    struct bench b;
    struct meter_result r = measure(costs, 1, 0, 1, &b);

    (void)state;
    assert_int_equal(r.iterations, 1);
    assert_int_equal(r.epochs, METER_EPOCHS_MIN);
    assert_int_equal(b.calls, 1 + METER_EPOCHS_MIN); /* warm-up, and each epoch */
    assert_true(r.median_ns >= 50000000 && r.median_ns <= 50000002);
    assert_true(r.mad_ns <= 1);
    assert_int_equal(r.state, METER_OK);
}

static void fast_callback_fills_a_millisecond(void **state)
{
    static const uint64_t costs[] = {100};
    struct bench b;
    struct meter_result r = measure(costs, 1, 0, 1, &b);

    (void)state;
    assert_true(r.iterations * 100 >= METER_EPOCH_NS);
    assert_true(r.iterations * 100 <= 3 * METER_EPOCH_NS);
    assert_true(r.median_ns >= 100 && r.median_ns < 100.01);
    assert_int_equal(r.state, METER_OK);
}

static void epoch_outlasts_a_coarse_clock(void **state)
{
    static const uint64_t costs[] = {100};
    struct bench b;
    struct meter_result r = measure(costs, 1, 0, 15000, &b); /* a tick of 15 us */

    (void)state;
    assert_int_equal(r.resolution_ns, 15000);
    assert_true(r.iterations * 100 >= 1000ull * 15000);
    assert_true(r.median_ns < 100.2); /* the tick is under a thousandth */
}

static void cold_first_call_is_not_counted(void **state)
{
    static uint64_t costs[64];
    struct bench b;

    (void)state;
    for (unsigned i = 0; i < 64; i++)
        costs[i] = i ? 20000000 : 900000000;
    struct meter_result r = measure(costs, 64, 0, 1, &b);
    assert_true(r.median_ns < 20000003 && r.min_ns < 20000003 && r.mad_ns < 3);
}

static void spread_over_five_percent_is_unstable(void **state)
{
    /* Epochs of 40, 50, 60 ms in turn: median 50, MAD 10. */
    static const uint64_t costs[] = {50000000, 40000000, 60000000};
    struct bench b;
    struct meter_result r = measure(costs, 3, 0, 0, &b);

    (void)state;
    assert_true(r.median_ns == 50000000.0);
    assert_true(r.mad_ns == 10000000.0);
    assert_true(r.min_ns == 40000000.0);
    assert_int_equal(r.state, METER_UNSTABLE);
}

static void one_outlier_does_not_move_the_median(void **state)
{
    static uint64_t costs[12];
    struct bench b;

    (void)state;
    for (unsigned i = 0; i < 12; i++)
        costs[i] = i == 5 ? 5000000000 : 50000000;
    struct meter_result r = measure(costs, 12, 0, 0, &b);
    assert_true(r.median_ns == 50000000.0 && r.mad_ns == 0);
    assert_int_equal(r.state, METER_OK);
}

static void budget_that_ends_early_says_so(void **state)
{
    static const uint64_t costs[] = {50000000};
    struct bench b;
    struct meter_result r = measure(costs, 1, 300000000, 0, &b);

    (void)state;
    assert_int_equal(r.epochs, 5); /* the warm-up and five: a sixth would take it to 350 ms */
    assert_int_equal(r.state, METER_SHORT);
    assert_int_equal(r.spent_ns, 300000000);
    r = measure(costs, 1, 1, 0, &b); /* no budget at all: still enough for a spread */
    assert_int_equal(r.epochs, METER_EPOCHS_LEAST);
    assert_int_equal(r.state, METER_SHORT);
}

/* A callback that others keep off the processor: 10 ms of its own take 100 ms of the wall. */
static void budget_counts_the_wall_and_epochs_their_own_clock(void **state)
{
    struct bench own = {.tick = 0}, wall = {.tick = 0};
    struct half b = {.b = &wall, .cost = 100000000}, a = {.b = &own, .cost = 10000000};
    struct half *both[2] = {&a, &b};
    struct meter_clock clock = {bench_now, &own}, outer = {bench_now, &wall};
    struct meter_opts o = {.budget_ns = 600000000, .clock = &clock, .wall = &outer};
    struct meter_result r;

    (void)state;
    meter_measure(two_clocks, both, &o, &r);
    assert_true(r.median_ns == 10000000.0);
    assert_int_equal(r.epochs, 5); /* and the warm-up: 600 ms of the wall */
    assert_int_equal(r.spent_ns, 600000000);
    assert_int_equal(r.state, METER_SHORT);
}

static void clock_that_stands_still_ends_as_too_short(void **state)
{
    static const uint64_t costs[] = {0};
    struct bench b;
    struct meter_result r = measure(costs, 1, 0, 0, &b);

    (void)state;
    assert_int_equal(r.iterations, METER_ITERATIONS_MAX);
    assert_int_equal(r.state, METER_SHORT);
}

static void comparison_gives_the_ratio_of_b_over_a(void **state)
{
    struct bench b = {.tick = 0};
    struct half x = {.b = &b, .cost = 20000000, .name = 'a'};
    struct half y = {.b = &b, .cost = 50000000, .name = 'b'};
    struct meter_clock clock = {bench_now, &b};
    struct meter_opts o = {.clock = &clock};
    struct meter_pair p;
    char log[64];
    unsigned logged = 0;

    (void)state;
    x.log = y.log = log;
    x.logged = y.logged = &logged;
    meter_compare(half_work, &x, half_work, &y, &o, &p);
    assert_true(p.ratio == 2.5 && p.ratio_mad == 0);
    assert_int_equal(p.state, METER_OK);
    assert_int_equal(p.a.epochs, METER_EPOCHS_MIN);
    /* After one warm-up each: pairs, every other one the other way round. */
    assert_memory_equal(log,
                        "abab"
                        "baab"
                        "ba",
                        10);
}

static void comparison_within_a_budget_is_too_short(void **state)
{
    struct bench b = {.tick = 0};
    struct half x = {.b = &b, .cost = 20000000}, y = {.b = &b, .cost = 20000000};
    struct meter_clock clock = {bench_now, &b};
    struct meter_opts o = {.budget_ns = 100000000, .clock = &clock};
    struct meter_pair p;

    (void)state;
    meter_compare(half_work, &x, half_work, &y, &o, &p);
    assert_int_equal(p.a.epochs, METER_EPOCHS_LEAST);
    assert_int_equal(p.state, METER_SHORT);
    assert_true(p.ratio == 1.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_callback_runs_once_an_epoch),
        cmocka_unit_test(fast_callback_fills_a_millisecond),
        cmocka_unit_test(epoch_outlasts_a_coarse_clock),
        cmocka_unit_test(cold_first_call_is_not_counted),
        cmocka_unit_test(spread_over_five_percent_is_unstable),
        cmocka_unit_test(one_outlier_does_not_move_the_median),
        cmocka_unit_test(budget_that_ends_early_says_so),
        cmocka_unit_test(budget_counts_the_wall_and_epochs_their_own_clock),
        cmocka_unit_test(clock_that_stands_still_ends_as_too_short),
        cmocka_unit_test(comparison_gives_the_ratio_of_b_over_a),
        cmocka_unit_test(comparison_within_a_budget_is_too_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
