#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "stress/act.h"
#include <math.h>

static void values_by_hand(void **state)
{
    (void)state;
    assert_float_equal(act_plain(ACT_SILU, 0, 1), 0.7310586, 1e-7);
    assert_float_equal(act_plain(ACT_RELU2, 0, 3), 9, 0);
    assert_float_equal(act_plain(ACT_RELU2, 0, -3), 0, 0);
    assert_float_equal(act_plain(ACT_IDENTITY, 0, -3), -3, 0);
    assert_float_equal(act_gated(ACT_SILU, 0, 0, 1, 2), 1.4621172, 1e-6);
    /* 4 tanh(1/4) sigmoid(1) * 25 tanh(2/25) */
    assert_float_equal(act_gated(ACT_SITU, 4, 25, 1, 2), 1.4293511, 1e-6);
}

/* |f| <= b1 * b2 = 100, however large the inputs are. */
static void situ_is_bounded(void **state)
{
    (void)state;
    assert_float_equal(act_gated(ACT_SITU, 4, 25, 1e30, 1e30), 100, 1e-9);
    assert_float_equal(act_gated(ACT_SITU, 4, 25, 1e30, -1e30), -100, 1e-9);
    assert_float_equal(act_gated(ACT_SITU, 4, 25, -1e30, 1e30), 0, 1e-9);
}

static void nothing_overflows_and_nan_stays(void **state)
{
    (void)state;
    assert_float_equal(act_sigmoid(-1e6), 0, 0);
    assert_float_equal(act_sigmoid(1e6), 1, 0);
    assert_float_equal(act_softplus(1e6), 1e6, 0);
    assert_true(act_softplus(-700) > 0);
    for (unsigned k = 0; k < ACTS; k++)
        assert_true(isnan(act_plain((enum act_kind)k, 4, NAN)));
    assert_true(isnan(act_sigmoid(NAN)) && isnan(act_softplus(NAN)));
}

static void names_go_both_ways(void **state)
{
    enum act_kind k;

    (void)state;
    for (unsigned i = 0; i < ACTS; i++) {
        assert_int_equal(act_parse(act_name((enum act_kind)i), &k), 0);
        assert_int_equal(k, i);
    }
    assert_int_equal(act_parse("gelu", &k), -1);
    assert_int_equal(act_of(FFN_ACT_SITU, &k), 0);
    assert_int_equal(k, ACT_SITU);
    assert_int_equal(act_of(FFN_ACT_GELU, &k), -1);
    assert_int_equal(act_of(FFN_ACT_UNKNOWN, &k), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_by_hand),
        cmocka_unit_test(situ_is_bounded),
        cmocka_unit_test(nothing_overflows_and_nan_stays),
        cmocka_unit_test(names_go_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
