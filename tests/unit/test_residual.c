#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "core/cpu.h"
#include "stress/residual.h"
#include <math.h>
#include <stdlib.h>

static const unsigned masks[] = {0, CPU_AVX2, CPU_AVX2 | CPU_AVX512};

/* A query of zeros, as training starts with: the plain mean. */
static void a_zero_query_gives_the_mean(void **state)
{
    const struct residual_shape s = {.sources = 3, .hidden = 2, .eps = 1e-5, .store = DTYPE_BF16};
    const uint16_t a[] = {0x3f80, 0x0000}, b[] = {0x4000, 0x0000}, c[] = {0x40c0, 0x4040};
    const void *v[] = {a, b, c}; /* 1 0, 2 0, 6 3 */
    const float w[] = {0, 0}, norm[] = {1, 1};
    float h[2], p[3];
    void *scratch = aligned_alloc(64, residual_scratch_bytes(&s));
    struct residual_ops ops;

    (void)state;
    for (unsigned m = 0; m < 3; m++) {
        if ((cpu_features() & masks[m]) != masks[m])
            continue;
        residual_init(&ops, masks[m]);
        ops.mix(&s, v, w, norm, h, p, scratch);
        assert_float_equal(h[0], 3, 1e-6);
        assert_float_equal(h[1], 1, 1e-6);
        assert_float_equal(p[2], 1.0 / 3, 1e-6);
    }
    free(scratch);
}

/* Keys are normalised: a source ten times as large has the same logit; values are not. */
static void logits_see_directions_and_values_lengths(void **state)
{
    const struct residual_shape s = {.sources = 2, .hidden = 2, .eps = 0, .store = DTYPE_F32};
    const float a[] = {3, 4}, b[] = {30, 40};
    const void *v[] = {a, b};
    const float w[] = {2, -1}, norm[] = {0.5f, 3};
    float h[2], p[2];
    void *scratch = aligned_alloc(64, residual_scratch_bytes(&s));
    struct residual_ops ops;

    (void)state;
    for (unsigned m = 0; m < 3; m++) {
        if ((cpu_features() & masks[m]) != masks[m])
            continue;
        residual_init(&ops, masks[m]);
        ops.mix(&s, v, w, norm, h, p, scratch);
        assert_float_equal(p[0], 0.5, 1e-6);
        assert_float_equal(h[0], 16.5, 1e-5);
    }
    free(scratch);
}

/* Sources (1, 0) and (0, 1) have root mean squares of sqrt(1/2), so the logits are w norm sqrt(2):
 * 2 and 0 with w = (2, 0), norm = (1/sqrt(2), 1). */
static void the_norm_weight_and_the_query_multiply(void **state)
{
    const struct residual_shape s = {.sources = 2, .hidden = 2, .eps = 0, .store = DTYPE_F32};
    const float a[] = {1, 0}, b[] = {0, 1};
    const void *v[] = {a, b};
    const float w[] = {2, 0}, norm[] = {0.70710678f, 1};
    float h[2];
    void *scratch = aligned_alloc(64, residual_scratch_bytes(&s));
    struct residual_ops ops;

    (void)state;
    for (unsigned m = 0; m < 3; m++) {
        if ((cpu_features() & masks[m]) != masks[m])
            continue;
        residual_init(&ops, masks[m]);
        ops.mix(&s, v, w, norm, h, NULL, scratch);
        assert_float_equal(h[0], 0.8807971, 1e-6); /* 1/(1 + e^-2) */
    }
    free(scratch);
}

/* Zero queries turn every row into the mean of its sources, which shows which these are: embed is
 * 1, and sub-layer l puts out 10^(l+1). */
static void rows_look_at_blocks_and_the_running_sum(void **state)
{
    const struct residual_block b = {
        .layers = 4, .tokens = 1, .hidden = 1, .block = 2, .eps = 1e-5};
    const float embed = 1, f[] = {10, 100, 1000, 10000};
    const float w[5] = {0}, norm[] = {1, 1, 1, 1, 1};
    float h[5];
    void *scratch = aligned_alloc(64, residual_block_scratch_bytes(&b));
    struct residual_ops ops;

    (void)state;
    for (unsigned m = 0; m < 3; m++) {
        if ((cpu_features() & masks[m]) != masks[m])
            continue;
        residual_init(&ops, masks[m]);
        residual_block(&ops, &b, &embed, f, w, norm, h, scratch);
        assert_float_equal(h[0], 1, 0);
        assert_float_equal(h[1], (1 + 10) / 2.0, 1e-5);
        assert_float_equal(h[2], (1 + 110) / 2.0, 1e-4);
        assert_float_equal(h[3], 1111 / 3.0f, 1e-3);
        assert_float_equal(h[4], 11111 / 3.0f, 1e-2);
    }
    free(scratch);
}

static void absurd_shapes_need_more_than_there_is(void **state)
{
    const struct residual_shape s = {.sources = UINT64_MAX / 2, .hidden = 4};
    const struct residual_block b = {.layers = UINT64_MAX / 2, .hidden = 4, .block = 1};

    (void)state;
    assert_true(residual_scratch_bytes(&s) == SIZE_MAX);
    assert_true(residual_composed_scratch_bytes(&s) == SIZE_MAX);
    assert_true(residual_block_scratch_bytes(&b) == SIZE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_zero_query_gives_the_mean),
        cmocka_unit_test(logits_see_directions_and_values_lengths),
        cmocka_unit_test(the_norm_weight_and_the_query_multiply),
        cmocka_unit_test(rows_look_at_blocks_and_the_running_sum),
        cmocka_unit_test(absurd_shapes_need_more_than_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
