#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "core/cpu.h"
#include "stress/roof.c"

static void every_variant_reads_every_word_once(void **state)
{
    static _Alignas(64) uint64_t words[1024];
    uint64_t want = 0;

    (void)state;
    for (size_t i = 0; i < 1024; i++) {
        words[i] = 0x9E3779B97F4A7C15ull * (i + 1);
        want += words[i];
    }
    assert_true(roof_sum_c(words, 1024) == want);
    assert_true(roof_sum_c(words, 0) == 0);
#if defined(__x86_64__)
    if (cpu_features() & CPU_AVX2)
        assert_true(roof_sum_avx2(words, 1024) == want);
    if (cpu_features() & CPU_AVX512)
        assert_true(roof_sum_avx512(words, 1024) == want);
#endif
}

static void parts_of_threads_cover_the_set(void **state)
{
    static _Alignas(64) uint64_t words[64 * 7];
    uint64_t sums[3], want = 0;
    struct reading r = {.sum = roof_sum_c,
                        .words = words,
                        .count = 64 * 7,
                        .parts = 3,
                        .part_words = 64 * 3,
                        .sums = sums};

    (void)state;
    for (size_t i = 0; i < 64 * 7; i++)
        want += words[i] = i * i;
    read_all(&r);
    assert_true(sums[0] + sums[1] + sums[2] == want);
}

static void working_set_is_four_caches_when_it_may_be(void **state)
{
    struct roof_opts o = {.time_budget_ns = 60000000000ull};

    (void)state;
    assert_true(choose_set(&o, 32ull << 20) == 128ull << 20);
    o.memory_budget_bytes = 100ull << 20;
    assert_true(choose_set(&o, 32ull << 20) == 100ull << 20);
    o.memory_budget_bytes = 1; /* never under the least that is worth reading */
    assert_true(choose_set(&o, 32ull << 20) == SET_BYTES_MIN);
    o = (struct roof_opts){.time_budget_ns = 1000000000};
    assert_true(choose_set(&o, 300ull << 20) < 400ull << 20);
}

static void small_working_set_is_said_to_be_small(void **state)
{
    struct roof_opts o = {.threads = 1,
                          .cpu = cpu_features(),
                          .memory_budget_bytes = 16ull << 20,
                          .time_budget_ns = 200000000};
    struct roof r;
    struct err e = {0};

    (void)state;
    assert_int_equal(roof_measure(&o, &r, &e), 0);
    assert_true(r.working_set_bytes == 16ull << 20);
    assert_true(r.bytes_per_s > 0 && r.bytes_per_s_mad >= 0);
    assert_int_equal(r.threads, 1);
    if (cpu_last_cache_bytes() == 0 || 4 * cpu_last_cache_bytes() > 16ull << 20)
        assert_true(r.small);
    assert_true(r.epochs >= METER_EPOCHS_LEAST);
}

static void mask_chooses_the_variant(void **state)
{
    const char *name;

    (void)state;
    choose(0, &name);
    assert_string_equal(name, "c");
#if defined(__x86_64__)
    choose(CPU_AVX2, &name);
    assert_string_equal(name, "avx2");
    choose(CPU_AVX2 | CPU_AVX512, &name);
    assert_string_equal(name, "avx512");
#endif
}

static void too_many_threads_are_refused(void **state)
{
    struct roof_opts o = {.threads = POOL_THREADS_MAX + 1};
    struct roof r;
    struct err e = {0};

    (void)state;
    assert_int_equal(roof_measure(&o, &r, &e), ERR_LIMIT);
    assert_non_null(strstr(e.msg, "1024"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_variant_reads_every_word_once),
        cmocka_unit_test(parts_of_threads_cover_the_set),
        cmocka_unit_test(working_set_is_four_caches_when_it_may_be),
        cmocka_unit_test(small_working_set_is_said_to_be_small),
        cmocka_unit_test(mask_chooses_the_variant),
        cmocka_unit_test(too_many_threads_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
