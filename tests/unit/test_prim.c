#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "core/cpu.h"
#include "stress/act.h"
#include "stress/prim.h"
#include <float.h>
#include <math.h>

#define N 4099u /* no multiple of a vector */

static const unsigned masks[] = {0, CPU_AVX2, CPU_AVX2 | CPU_AVX512};

typedef void map_fn(uint64_t n, const float *a, float *ret_y);

/* f over [from, to], against libm in double: ulps units of the result's last place, or least. */
static void near(map_fn *f, double (*want)(double), double from, double to, double ulps,
                 double least)
{
    static float x[N], y[N];

    for (unsigned i = 0; i < N; i++)
        x[i] = (float)(from + (to - from) * i / (N - 1));
    f(N, x, y);
    for (unsigned i = 0; i < N; i++) {
        double w = want((double)x[i]);
        if (!(fabs((double)y[i] - w) <= ulps * (double)FLT_EPSILON * fabs(w) + least))
            fail_msg("at %.9g: %.9g is not %.9g", (double)x[i], (double)y[i], w);
    }
}

static void functions_are_those_of_libm(void **state)
{
    (void)state;
    for (unsigned m = 0; m < 3; m++) {
        struct prim_ops p;
        if ((cpu_features() & masks[m]) != masks[m])
            continue;
        prim_init(&p, masks[m]);
        near(p.exp, exp, -87, 88, 2, 0);
        near(p.exp, exp, -120, -87, 0, 3e-45); /* subnormal and zero */
        near(p.sigmoid, act_sigmoid, -80, 120, 3, 0);
        near(p.softplus, act_softplus, -80, 100, 3, 0);
        near(p.tanh, tanh, -20, 20, 3, 0);
        near(p.tanh, tanh, -0.7, 0.7, 3, 0);
    }
}

static void ends_of_the_range_and_nan(void **state)
{
    const float x[] = {INFINITY, -INFINITY, NAN, 89, -110};
    float y[5];

    (void)state;
    for (unsigned m = 0; m < 3; m++) {
        struct prim_ops p;
        if ((cpu_features() & masks[m]) != masks[m])
            continue;
        prim_init(&p, masks[m]);
        p.exp(5, x, y);
        assert_true(isinf(y[0]) && y[1] == 0 && isnan(y[2]) && isinf(y[3]) && y[4] == 0);
        p.sigmoid(5, x, y);
        assert_true(y[0] == 1 && y[1] == 0 && isnan(y[2]));
        p.softplus(5, x, y);
        assert_true(isinf(y[0]) && y[1] == 0 && isnan(y[2]) && y[3] == 89);
        p.tanh(5, x, y);
        assert_true(y[0] == 1 && y[1] == -1 && isnan(y[2]));
        p.relu(5, x, y);
        assert_true(isinf(y[0]) && y[1] == 0 && isnan(y[2]) && y[3] == 89 && y[4] == 0);
        p.softmax(3, x + 2, y);
        assert_true(isnan(y[0]) && isnan(y[1]) && isnan(y[2]));
    }
}

/* A matrix of 3 x 21 whose products are whole numbers: exact in any order. */
static void products_are_exact_for_whole_numbers(void **state)
{
    float m[63], x[21], y[21], a[3] = {1, 2, -3};
    uint16_t half[63];

    (void)state;
    for (unsigned i = 0; i < 63; i++) {
        m[i] = (float)(i % 8);
        half[i] = (uint16_t[]){0, 0x3f80, 0x4000, 0x4040, 0x4080, 0x40a0, 0x40c0, 0x40e0}[i % 8];
    }
    for (unsigned i = 0; i < 21; i++)
        x[i] = (float)i - 10;
    for (unsigned k = 0; k < 3; k++) {
        struct prim_ops p;
        if ((cpu_features() & masks[k]) != masks[k])
            continue;
        prim_init(&p, masks[k]);
        for (unsigned store = 0; store < 2; store++) {
            p.matvec(3, 21, store ? DTYPE_BF16 : DTYPE_F32, store ? (const void *)half : m, x, y);
            for (unsigned r = 0; r < 3; r++) {
                int want = 0;
                for (int c = 0; c < 21; c++)
                    want += ((int)r * 21 + c) % 8 * (c - 10);
                assert_true((double)y[r] == want);
            }
        }
        p.matvec_t(3, 21, m, a, y);
        for (unsigned c = 0; c < 21; c++) {
            int want = (int)(c % 8) + 2 * (int)((21 + c) % 8) - 3 * (int)((42 + c) % 8);
            assert_true((double)y[c] == want);
        }
        assert_float_equal(p.dot(21, x, x), 770, 0);
        assert_float_equal(p.sum_squares(21, x), 770, 0);
        p.add_outer(3, 21, a, x, m);
        assert_float_equal(m[62], 6 + -3 * 10, 0);
        p.scale_rows(3, 21, a, m);
        assert_float_equal(m[62], -3 * (6 + -3 * 10), 0);
        for (unsigned i = 0; i < 63; i++)
            m[i] = (float)(i % 8);
        p.widen(63, DTYPE_BF16, half, m);
        assert_float_equal(m[62], 6, 0);
    }
}

static void elementwise_operations(void **state)
{
    float a[19], b[19], y[19];

    (void)state;
    for (unsigned i = 0; i < 19; i++) {
        a[i] = (float)i;
        b[i] = 2;
    }
    for (unsigned k = 0; k < 3; k++) {
        struct prim_ops p;
        if ((cpu_features() & masks[k]) != masks[k])
            continue;
        prim_init(&p, masks[k]);
        p.mul(19, a, b, y);
        assert_float_equal(y[18], 36, 0);
        p.add(19, a, b, y);
        assert_float_equal(y[18], 20, 0);
        p.sub(19, a, b, y);
        assert_float_equal(y[18], 16, 0);
        p.scale(19, -3, a, y);
        assert_float_equal(y[18], -54, 0);
        p.softmax(19, b, y);
        assert_float_equal(y[18], 1.0 / 19, 1e-7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_those_of_libm),
        cmocka_unit_test(ends_of_the_range_and_nan),
        cmocka_unit_test(products_are_exact_for_whole_numbers),
        cmocka_unit_test(elementwise_operations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
