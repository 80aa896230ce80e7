#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "core/cpu.h"
#include "stress/ladder.h"

static const struct mixer mla = {
    .kind = MIXER_MLA, .heads = 2, .value_dim = 16, .kv_rank = 32, .nope_dim = 16, .rope_dim = 16};
static struct ladder l;

static const struct ladder *climb(const struct mixer *x, uint64_t target, uint64_t memory,
                                  uint64_t deadline)
{
    struct ladder_opts o = {.mixer = x,
                            .target_tokens = target,
                            .memory_budget_bytes = memory,
                            .deadline_ns = deadline,
                            .seed = 1,
                            .cpu = cpu_features()};
    struct counters c;

    counters_init(&c);
    ladder_climb(&o, &c, &l);
    return &l;
}

static void assert_plan(const struct mixer *x, uint64_t target, const uint64_t *want, size_t n)
{
    uint64_t got[LADDER_RUNGS_MAX];

    assert_int_equal(ladder_plan(x, target, got), n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(got[i], want[i]);
}

static void rungs_double_up_to_the_target(void **state)
{
    static const uint64_t even[] = {4096, 8192, 16384}, odd[] = {4096, 8192, 10000},
                          low[] = {25, 50, 100};
    uint64_t all[LADDER_RUNGS_MAX];

    (void)state;
    assert_plan(&mla, 16384, even, 3);
    assert_plan(&mla, 10000, odd, 3);
    assert_plan(&mla, 100, low, 3);
    assert_int_equal(ladder_plan(&mla, 1048576, all), 9);
    assert_int_equal(ladder_plan(&mla, 1ull << 32, all), 21);
}

static void window_gets_rungs_on_its_rise(void **state)
{
    struct mixer x = {.kind = MIXER_GQA, .window = 1000};
    static const uint64_t small[] = {250, 500, 1000, 4096, 8192};
    static const uint64_t large[] = {4096, 8192, 16384, 32768};

    (void)state;
    assert_plan(&x, 8192, small, 5);
    x.window = 16384;
    assert_plan(&x, 32768, large, 4);
}

static void rung_over_the_memory_says_what_it_needs(void **state)
{
    /* 96 bytes a token: 393,216 and 786,432 fit, 1,572,864 does not. */
    climb(&mla, 16384, 1400000, 0);
    (void)state;
    assert_int_equal(l.count, 3);
    assert_true(l.rungs[0].reached && l.rungs[1].reached && !l.rungs[2].reached);
    assert_int_equal(l.longest, 1);
    assert_non_null(strstr(l.rungs[2].note, "1,572,864"));
    assert_non_null(strstr(l.rungs[2].note, "1,400,000"));
    assert_int_equal(l.rungs[2].layout_bytes, 1572864);
    assert_string_equal(l.rungs[1].note, "");
    assert_true(l.rungs[1].time.epochs >= METER_EPOCHS_LEAST);
    assert_true(l.variant[0] != '\0');
}

static void rung_out_of_time_keeps_its_place(void **state)
{
    climb(&mla, 16384, 1u << 30, 1); /* a deadline long past */
    (void)state;
    assert_int_equal(l.count, 3);
    assert_int_equal(l.longest, l.count);
    for (size_t i = 0; i < 3; i++) {
        assert_false(l.rungs[i].reached);
        assert_non_null(strstr(l.rungs[i].note, "time"));
        assert_true(l.rungs[i].tokens == 4096ull << i);
    }
    assert_string_equal(l.variant, "");
}

static void mixer_without_a_shape_has_notes_on_every_rung(void **state)
{
    struct mixer x = {.kind = MIXER_KDA};

    climb(&x, 8192, 1u << 30, 0);
    (void)state;
    assert_int_equal(l.count, 3);
    assert_int_equal(l.longest, l.count);
    for (size_t i = 0; i < l.count; i++)
        assert_non_null(strstr(l.rungs[i].note, "kda"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rungs_double_up_to_the_target),
        cmocka_unit_test(window_gets_rungs_on_its_rise),
        cmocka_unit_test(rung_over_the_memory_says_what_it_needs),
        cmocka_unit_test(rung_out_of_time_keeps_its_place),
        cmocka_unit_test(mixer_without_a_shape_has_notes_on_every_rung),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
