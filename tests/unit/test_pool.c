#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "core/pool.c"

struct tally {
    atomic_uint ran[1000];
    atomic_uint worker_over;
    unsigned threads;
    size_t order[1000];
    size_t ordered;
};

static void count(void *ctx, size_t index, unsigned worker)
{
    struct tally *t = ctx;

    atomic_fetch_add(&t->ran[index], 1);
    if (worker >= t->threads)
        atomic_fetch_add(&t->worker_over, 1);
}

static void each_index_runs_once(void **state)
{
    static const unsigned threads[] = {1, 2, 3, 8, 64, 0};
    static const size_t jobs[] = {0, 1, 2, 7, 1000};
    struct err e = {0};

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        for (size_t j = 0; j < 5; j++) {
            struct tally t = {.threads = threads[i] ? threads[i] : cpu_count()};
            assert_int_equal(pool_run(threads[i], jobs[j], count, &t, &e), 0);
            for (size_t k = 0; k < 1000; k++)
                assert_int_equal(atomic_load(&t.ran[k]), k < jobs[j] ? 1 : 0);
            assert_int_equal(atomic_load(&t.worker_over), 0);
        }
    }
}

static void record(void *ctx, size_t index, unsigned worker)
{
    struct tally *t = ctx;

    (void)worker;
    t->order[t->ordered++] = index;
}

static void indices_are_handed_out_in_order(void **state)
{
    struct tally t = {0};
    struct err e = {0};

    (void)state;
    assert_int_equal(pool_run(1, 1000, record, &t, &e), 0);
    assert_int_equal(t.ordered, 1000);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(t.order[i], i);
}

static void too_many_threads_are_refused(void **state)
{
    struct tally t = {0};
    struct err e = {0};

    (void)state;
    assert_int_equal(pool_run(POOL_THREADS_MAX + 1, 1, count, &t, &e), ERR_LIMIT);
    assert_int_equal(atomic_load(&t.ran[0]), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_index_runs_once),
        cmocka_unit_test(indices_are_handed_out_in_order),
        cmocka_unit_test(too_many_threads_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
