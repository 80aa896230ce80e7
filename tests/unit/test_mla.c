#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "core/cpu.h"
#include "stress/mla.h"
#include <math.h>
#include <stdlib.h>

#define T 21u
#define H 3u
#define DN 7u
#define DR 5u
#define R 18u
#define DV 4u

static const struct mla_shape shape = {.tokens = T,
                                       .heads = H,
                                       .nope_dim = DN,
                                       .rope_dim = DR,
                                       .rank = R,
                                       .value_dim = DV,
                                       .scale = 0.3,
                                       .store = DTYPE_F32};

static void fill(float *x, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)(seed >> 8) / 8388608.0f - 1;
    }
}

/* The absorbed form of the last token is the last row of the expanded one: two ways to bracket the
 * same product, with different sums. */
static void absorbed_and_expanded_agree(void **state)
{
    float qn[T * H * DN], qr[T * H * DR], c[T * R], kr[T * DR], uk[H * DN * R], uv[H * DV * R];
    float all[T * H * DV], one[H * DV], q[H * (DN + DR)];
    const unsigned masks[] = {0, CPU_AVX2, CPU_AVX2 | CPU_AVX512};
    void *wide = aligned_alloc(64, mla_expanded_scratch_bytes(&shape));
    void *scratch = aligned_alloc(64, mla_scratch_bytes(&shape));
    struct mla_ops ops;

    (void)state;
    fill(qn, T * H * DN, 1);
    fill(qr, T * H * DR, 2);
    fill(c, T * R, 3);
    fill(kr, T * DR, 4);
    fill(uk, H * DN * R, 5);
    fill(uv, H * DV * R, 6);
    mla_expanded(&shape, qn, qr, c, kr, uk, uv, all, wide);
    for (unsigned h = 0; h < H; h++) {
        for (unsigned i = 0; i < DN; i++)
            q[h * (DN + DR) + i] = qn[((T - 1) * H + h) * DN + i];
        for (unsigned i = 0; i < DR; i++)
            q[h * (DN + DR) + DN + i] = qr[((T - 1) * H + h) * DR + i];
    }
    for (unsigned m = 0; m < 3; m++) {
        if ((cpu_features() & masks[m]) != masks[m])
            continue;
        mla_init(&ops, masks[m]);
        ops.decode(&shape, q, c, kr, uk, uv, one, scratch);
        for (unsigned i = 0; i < H * DV; i++)
            assert_float_equal(one[i], all[(T - 1) * H * DV + i], 2e-5);
    }
    free(wide);
    free(scratch);
}

/* One head, all widths 1: the logit is scale (q w_uk c + q_r k_r), the value w_uv c. */
static void one_of_everything_is_a_sigmoid(void **state)
{
    const struct mla_shape s = {.tokens = 2,
                                .heads = 1,
                                .nope_dim = 1,
                                .rope_dim = 1,
                                .rank = 1,
                                .value_dim = 1,
                                .scale = 0.5,
                                .store = DTYPE_BF16};
    const float q[] = {3, 2};
    const uint16_t c[] = {0x3f80, 0x4000}, kr[] = {0x4080, 0x3f80}; /* 1, 2; 4, 1 */
    const uint16_t uk = 0x4000, uv = 0x4120;                        /* 2; 10 */
    const unsigned masks[] = {0, CPU_AVX2, CPU_AVX2 | CPU_AVX512};
    void *scratch = aligned_alloc(64, mla_scratch_bytes(&s));
    struct mla_ops ops;
    float out;

    (void)state;
    for (unsigned m = 0; m < 3; m++) {
        if ((cpu_features() & masks[m]) != masks[m])
            continue;
        mla_init(&ops, masks[m]);
        ops.decode(&s, q, c, kr, &uk, &uv, &out, scratch);
        /* logits 0.5 (6 + 8) = 7 and 0.5 (12 + 2) = 7: the mean of 10 and 20 */
        assert_float_equal(out, 15, 1e-5);
    }
    free(scratch);
}

static void absurd_shapes_need_more_than_there_is(void **state)
{
    struct mla_shape s = shape;

    (void)state;
    s.rank = UINT64_MAX - 1;
    assert_true(mla_scratch_bytes(&s) == SIZE_MAX);
    s = shape;
    s.tokens = UINT64_MAX / 8;
    assert_true(mla_scratch_bytes(&s) == SIZE_MAX);
    assert_true(mla_expanded_scratch_bytes(&s) == SIZE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(absorbed_and_expanded_agree),
        cmocka_unit_test(one_of_everything_is_a_sigmoid),
        cmocka_unit_test(absurd_shapes_need_more_than_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
