#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "stress/normal.h"

static void rows_have_a_mean_square_of_one(void **state)
{
    static float x[3][101];
    struct err e = {0};

    (void)state;
    assert_int_equal(normal_draw(x[0], 3, 101, 1, 1, &e), 0);
    for (int t = 0; t < 3; t++) {
        double square = 0;
        for (int i = 0; i < 101; i++)
            square += (double)x[t][i] * (double)x[t][i];
        assert_true(fabs(square / 101 - 1) < 1e-6);
    }
}

/* 65,536 numbers: mean 0 within 5/256, fourth moment 3 within five of its standard errors
 * (sqrt(96/65536)), and the tails that a normal has: 4.55 % beyond 2, 0.27 % beyond 3. */
static void numbers_are_normal(void **state)
{
    static float x[256 * 256];
    struct err e = {0};
    double mean = 0, fourth = 0, two = 0, three = 0, n = 256 * 256;

    (void)state;
    assert_int_equal(normal_draw(x, 256, 256, 7, 2, &e), 0);
    for (int i = 0; i < 256 * 256; i++) {
        double v = (double)x[i];
        mean += v;
        fourth += v * v * v * v;
        two += fabs(v) > 2;
        three += fabs(v) > 3;
    }
    assert_true(fabs(mean / n) < 5.0 / 256);
    assert_true(fabs(fourth / n - 3) < 5 * sqrt(96 / n));
    assert_true(fabs(two / n - 0.0455) < 0.005);
    assert_true(fabs(three / n - 0.0027) < 0.0012);
}

static void rows_depend_on_the_seed_and_not_on_threads(void **state)
{
    static float a[200 * 8], b[200 * 8];
    struct err e = {0};

    (void)state;
    assert_int_equal(normal_draw(a, 200, 8, 3, 1, &e), 0);
    assert_int_equal(normal_draw(b, 200, 8, 3, 4, &e), 0);
    assert_memory_equal(a, b, sizeof(a));
    assert_int_equal(normal_draw(b, 200, 8, 4, 1, &e), 0);
    assert_memory_not_equal(a, b, sizeof(a));
    assert_memory_not_equal(a, a + 8, 8 * sizeof(float)); /* nor are two rows alike */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_have_a_mean_square_of_one),
        cmocka_unit_test(numbers_are_normal),
        cmocka_unit_test(rows_depend_on_the_seed_and_not_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
