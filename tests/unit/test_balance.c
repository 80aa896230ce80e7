#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "stress/balance.h"

/* Loads of the example in the README of deepseek-ai/EPLB. */
static const uint64_t layer_a[12] = {90, 132, 40, 61, 104, 165, 39, 4, 73, 56, 183, 86};
static const uint64_t layer_b[12] = {20, 107, 104, 64, 19, 197, 187, 157, 172, 86, 16, 27};

static struct balance balance(const uint64_t *counts, uint32_t experts, uint32_t top_k)
{
    struct balance b;
    struct err e = {0};

    if (balance_of(counts, experts, top_k, &b, &e))
        fail_msg("%s", e.msg);
    return b;
}

static void assert_close(double got, double want, double within)
{
    if (!(fabs(got - want) <= within))
        fail_msg("%.10g is not %.10g", got, want);
}

/* MaxVio, CV, H/ln E, Gini: facts, coverage 5.1, to the four digits given there. */
static void published_loads_give_the_published_figures(void **state)
{
    struct balance a = balance(layer_a, 12, 1), b = balance(layer_b, 12, 1);

    (void)state;
    assert_close(a.max_vio, 1.1258, 5e-5);
    assert_close(a.cv, 0.5890, 5e-5);
    assert_close(a.entropy, 0.9242, 5e-5);
    assert_close(a.gini, 0.3297, 5e-5);
    assert_close(b.max_vio, 1.0450, 5e-5);
    assert_close(b.cv, 0.6843, 5e-5);
    assert_close(b.entropy, 0.8958, 5e-5);
    assert_close(b.gini, 0.3867, 5e-5);
    assert_int_equal(a.copies, 1033);
    assert_close(a.balancedness * a.max_mean, 1, 1e-12);
}

static void even_load_is_even(void **state)
{
    uint64_t counts[60];
    struct balance b;

    (void)state;
    for (int i = 0; i < 60; i++)
        counts[i] = 1000;
    b = balance(counts, 60, 4);
    assert_true(b.max_mean == 1 && b.cv == 0 && b.max_vio == 0 && b.unused == 0);
    assert_close(b.entropy, 1, 1e-12);
    assert_close(b.gini, 0, 1e-12);
    assert_false(b.too_few);
}

static void one_expert_takes_all(void **state)
{
    uint64_t counts[8] = {0, 0, 0, 8000};
    struct balance b = balance(counts, 8, 1);

    (void)state;
    assert_true(b.max_mean == 8 && b.unused == 7 && b.entropy == 0);
    assert_close(b.gini, 7.0 / 8, 1e-12);
    assert_close(b.cv, sqrt(7), 1e-12);
}

/* 60 experts of which four are never picked: normalised by 60, not by the largest id seen. */
static void entropy_is_normalised_by_the_models_experts(void **state)
{
    uint64_t counts[60] = {0};

    (void)state;
    for (int i = 0; i < 56; i++)
        counts[i] = 100;
    assert_close(balance(counts, 60, 4).entropy, log(56) / log(60), 1e-12);
}

/* Facts, coverage 5.1: E=256, k=8: 512 tokens give max/mean 1.82 from chance alone, 4096 give 1.26
 * and E=896, k=16: 1024 give 1.81, 8192 give 1.27. The floor may be over these by 0.05. */
static void floors_are_what_chance_gives(void **state)
{
    static const struct {
        uint32_t experts, k, tokens;
        double simulated;
    } cases[] = {
        {256, 8, 512, 1.82}, {256, 8, 4096, 1.26}, {896, 16, 1024, 1.81}, {896, 16, 8192, 1.27}};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        uint64_t counts[896];
        for (uint32_t j = 0; j < cases[i].experts; j++)
            counts[j] = 0;
        counts[0] = (uint64_t)cases[i].tokens * cases[i].k;
        struct balance b = balance(counts, cases[i].experts, cases[i].k);
        assert_close(b.max_mean_floor, cases[i].simulated, 0.05);
        assert_close(b.mean, (double)counts[0] / cases[i].experts, 1e-9);
        assert_close(b.cv_floor, sqrt((1 - (double)cases[i].k / cases[i].experts) / b.mean), 1e-12);
    }
}

static uint64_t next(uint64_t *s)
{
    uint64_t z = (*s += 0x9E3779B97F4A7C15ull);

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

/* Tokens that pick k different experts, all alike: the figures stay at their floors. */
static void uniform_routing_stays_within_the_floor(void **state)
{
    uint64_t counts[256] = {0}, seed = 7;
    uint32_t ids[256];
    struct balance b;

    (void)state;
    for (uint32_t i = 0; i < 256; i++)
        ids[i] = i;
    for (int t = 0; t < 4096; t++) {
        for (uint32_t j = 0; j < 8; j++) { /* the start of a shuffle */
            uint32_t other = j + (uint32_t)(next(&seed) % (256 - j));
            uint32_t id = ids[other];
            ids[other] = ids[j];
            ids[j] = id;
            counts[id]++;
        }
    }
    b = balance(counts, 256, 8);
    assert_true(b.max_mean <= b.max_mean_floor);
    assert_true(b.max_mean > b.max_mean_floor - 0.15);
    assert_close(b.cv, b.cv_floor, 0.15 * b.cv_floor);
}

static void few_tokens_refuse_a_verdict(void **state)
{
    uint64_t counts[4] = {49, 49, 49, 49};

    (void)state;
    assert_true(balance(counts, 4, 1).too_few);
    for (int i = 0; i < 4; i++)
        counts[i] = 50;
    assert_false(balance(counts, 4, 1).too_few);
}

/* Two layers, each with one rank doing three quarters of the work, the other way round. Their sum
 * is perfectly even, and a mean over layers says 1.0; each layer waits for its busy rank. */
static void mirrored_layers_do_not_cancel(void **state)
{
    static const uint64_t ranks[2][2] = {{300, 100}, {100, 300}};

    (void)state;
    assert_close(balance_slowdown(&ranks[0][0], 2, 2), 1.5, 1e-12);
    assert_close(balance(ranks[0], 2, 1).max_mean, 1.5, 1e-12);
    assert_close(balance(ranks[1], 2, 1).max_mean, 1.5, 1e-12);
    assert_true(isnan(balance_slowdown(&ranks[0][0], 0, 2)));
}

static void loads_that_cannot_be_judged_are_refused(void **state)
{
    uint64_t none[4] = {0}, huge[2] = {UINT64_MAX, 1};
    struct balance b;
    struct err e = {0};

    (void)state;
    assert_int_equal(balance_of(none, 4, 1, &b, &e), ERR_USAGE);
    assert_int_equal(balance_of(layer_a, 1, 1, &b, &e), ERR_USAGE);
    assert_int_equal(balance_of(layer_a, 12, 0, &b, &e), ERR_USAGE);
    assert_int_equal(balance_of(layer_a, 12, 13, &b, &e), ERR_USAGE);
    assert_int_equal(balance_of(huge, 2, 1, &b, &e), ERR_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_loads_give_the_published_figures),
        cmocka_unit_test(even_load_is_even),
        cmocka_unit_test(one_expert_takes_all),
        cmocka_unit_test(entropy_is_normalised_by_the_models_experts),
        cmocka_unit_test(floors_are_what_chance_gives),
        cmocka_unit_test(uniform_routing_stays_within_the_floor),
        cmocka_unit_test(few_tokens_refuse_a_verdict),
        cmocka_unit_test(mirrored_layers_do_not_cancel),
        cmocka_unit_test(loads_that_cannot_be_judged_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
