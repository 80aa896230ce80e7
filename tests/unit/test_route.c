#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "stress/route.h"
#include <math.h>
#include <stdlib.h>

static const struct router plain = {
    .score = ROUTER_SIGMOID, .experts = 4, .top_k = 2, .groups = 1, .top_groups = 1, .scaling = 1};

static void one(const struct router *r, const float *logits, const float *bias, uint32_t *idx,
                float *w)
{
    void *scratch = aligned_alloc(64, route_scratch_bytes(r));
    struct err e = {0};

    assert_int_equal(route_check(r, &e), 0);
    route_token(r, logits, bias, idx, w, scratch);
    free(scratch);
}

static void the_bias_picks_and_does_not_weigh(void **state)
{
    const float logits[] = {0, 0, 0, 3}, bias[] = {0, 5, 0, 0};
    uint32_t idx[2];
    float w[2];

    (void)state;
    one(&plain, logits, bias, idx, w);
    assert_int_equal(idx[0], 1);
    assert_int_equal(idx[1], 3);
    assert_float_equal(w[0], 0.5, 1e-7);
    assert_float_equal(w[1], 0.9525741, 1e-6);
}

static void ties_go_to_the_lower_index(void **state)
{
    const float logits[] = {1, 2, 2, 2};
    uint32_t idx[2];
    float w[2];

    (void)state;
    one(&plain, logits, NULL, idx, w);
    assert_int_equal(idx[0], 1);
    assert_int_equal(idx[1], 2);
}

/* Biased scores of the groups: 0.5 + 0.5, 0.9 + 0.01: the second has the largest expert and the
 * smaller sum. A softmax keeps the logits' order. */
static void a_group_is_as_good_as_its_best_two(void **state)
{
    struct router r = plain;
    const float logits[] = {0, 0, 2, -5};
    uint32_t idx[2];
    float w[2];

    (void)state;
    r.groups = 2;
    one(&r, logits, NULL, idx, w);
    assert_int_equal(idx[0], 0);
    assert_int_equal(idx[1], 1);
}

static void experts_outside_the_groups_are_not_picked_for_negative_scores(void **state)
{
    struct router r = plain;
    const float logits[] = {0, 0, 0, 0}, bias[] = {-9, -9, -99, 0};
    uint32_t idx[2];
    float w[2];

    (void)state;
    r.groups = 2;
    one(&r, logits, bias, idx, w);
    assert_int_equal(idx[0], 0);
    assert_int_equal(idx[1], 1);
}

static void weights_by_score_function(void **state)
{
    struct router r = plain;
    const float logits[] = {0, 1.0986123f, -50, -50}; /* e^1.0986 = 3 */
    uint32_t idx[2];
    float w[2];

    (void)state;
    r.score = ROUTER_SOFTMAX;
    one(&r, logits, NULL, idx, w);
    assert_float_equal(w[0], 0.75, 1e-6);
    r.score = ROUTER_SOFTMAX_AFTER_TOPK;
    r.top_k = 1;
    r.scaling = 2.5;
    one(&r, logits, NULL, idx, w);
    assert_float_equal(w[0], 2.5, 1e-6);
    r.score = ROUTER_SQRTSOFTPLUS;
    r.scaling = 1;
    one(&r, logits, NULL, idx, w);
    assert_float_equal(w[0], sqrt(log(4)), 1e-6);
    r = plain;
    r.renormalize = true;
    r.scaling = 10;
    one(&r, logits, NULL, idx, w);
    assert_float_equal(w[0], 6, 1e-5); /* 3/4 against 1/2 */
    assert_float_equal(w[1], 4, 1e-5);
}

static void a_nan_is_picked_and_shows(void **state)
{
    const float logits[] = {0, 1, NAN, 2};
    uint32_t idx[2];
    float w[2];

    (void)state;
    one(&plain, logits, NULL, idx, w);
    assert_int_equal(idx[0], 2);
    assert_true(isnan(w[0]));
    assert_int_equal(idx[1], 3);
}

static void counts_add_up_to_the_picks(void **state)
{
    struct router r = plain;
    float logits[7 * 4], w[7 * 2];
    uint32_t idx[7 * 2];
    uint64_t counts[4] = {1, 0, 0, 0}, sum = 0; /* added to what is there */
    void *scratch = aligned_alloc(64, route_scratch_bytes(&r));

    (void)state;
    for (unsigned i = 0; i < 28; i++)
        logits[i] = (float)((i * 7) % 5);
    route_batch(&r, 7, logits, NULL, idx, w, counts, scratch);
    for (unsigned i = 0; i < 4; i++)
        sum += counts[i];
    assert_int_equal(sum, 1 + 7 * 2);
    free(scratch);
}

static void routers_that_make_no_sense_are_refused(void **state)
{
    const struct router bad[] = {
        {.score = ROUTER_UNKNOWN, .experts = 4, .top_k = 2},
        {.score = ROUTER_SIGMOID, .experts = 0, .top_k = 1},
        {.score = ROUTER_SIGMOID, .experts = 4, .top_k = 0},
        {.score = ROUTER_SIGMOID, .experts = 4, .top_k = 5},
        {.score = ROUTER_SIGMOID, .experts = 4, .top_k = 2, .groups = 3, .top_groups = 1},
        {.score = ROUTER_SIGMOID, .experts = 4, .top_k = 2, .groups = 4, .top_groups = 2},
        {.score = ROUTER_SIGMOID, .experts = 8, .top_k = 3, .groups = 4, .top_groups = 1},
        {.score = ROUTER_SIGMOID, .experts = 8, .top_k = 3, .groups = 4, .top_groups = 5},
        {.score = ROUTER_SIGMOID, .experts = ROUTE_EXPERTS_MAX + 1, .top_k = 1}};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct err e = {0};
        assert_int_equal(route_check(&bad[i], &e), ERR_UNSUPPORTED);
        assert_true(e.msg[0] != 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bias_picks_and_does_not_weigh),
        cmocka_unit_test(ties_go_to_the_lower_index),
        cmocka_unit_test(a_group_is_as_good_as_its_best_two),
        cmocka_unit_test(experts_outside_the_groups_are_not_picked_for_negative_scores),
        cmocka_unit_test(weights_by_score_function),
        cmocka_unit_test(a_nan_is_picked_and_shows),
        cmocka_unit_test(counts_add_up_to_the_picks),
        cmocka_unit_test(routers_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
