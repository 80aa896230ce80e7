#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "core/cpu.h"
#include "stress/attn.h"
#include <math.h>
#include <stdlib.h>

/* Every level of this CPU, the definition first. */
static unsigned levels(unsigned ret[3])
{
    const unsigned all[] = {0, CPU_AVX2, CPU_AVX2 | CPU_AVX512};
    unsigned n = 0;

    for (unsigned i = 0; i < 3; i++) {
        if ((cpu_features() & all[i]) == all[i])
            ret[n++] = all[i];
    }
    return n;
}

static void decode(unsigned mask, const struct attn_shape *s, const float *q, const void *k,
                   const void *v, const float *sinks, float *ret_out)
{
    struct attn_ops ops;
    void *scratch = aligned_alloc(64, attn_scratch_bytes(s));

    attn_init(&ops, mask);
    ops.decode(s, q, k, v, sinks, ret_out, scratch);
    free(scratch);
}

static void equal_logits_give_the_mean_of_the_window(void **state)
{
    struct attn_shape s = {.tokens = 4,
                           .heads = 1,
                           .key_heads = 1,
                           .value_heads = 1,
                           .key_dim = 1,
                           .value_dim = 2,
                           .scale = 1,
                           .store = DTYPE_F32};
    const float q = 0, k[] = {5, 6, 7, 8}, v[] = {1, 10, 2, 20, 3, 30, 4, 40};
    float out[2];
    unsigned mask[3], n = levels(mask);

    (void)state;
    for (unsigned i = 0; i < n; i++) {
        s.window = 0;
        decode(mask[i], &s, &q, k, v, NULL, out);
        assert_float_equal(out[0], 2.5, 1e-6);
        assert_float_equal(out[1], 25, 1e-5);
        s.window = 2; /* itself and the one before */
        decode(mask[i], &s, &q, k, v, NULL, out);
        assert_float_equal(out[0], 3.5, 1e-6);
        s.window = 99;
        decode(mask[i], &s, &q, k, v, NULL, out);
        assert_float_equal(out[0], 2.5, 1e-6);
    }
}

static void a_sink_takes_weight_and_gives_nothing(void **state)
{
    const struct attn_shape s = {.tokens = 1,
                                 .heads = 2,
                                 .key_heads = 1,
                                 .value_heads = 1,
                                 .key_dim = 1,
                                 .value_dim = 1,
                                 .scale = 0.5,
                                 .store = DTYPE_F32};
    const float q[] = {2, 2}, k = 3, v = 8;    /* the logit is 0.5 * 2 * 3 = 3 */
    const float sinks[] = {3, 3 + 1.0986123f}; /* as heavy; three times as heavy (ln 3) */
    float out[2];
    unsigned mask[3], n = levels(mask);

    (void)state;
    for (unsigned i = 0; i < n; i++) {
        decode(mask[i], &s, q, &k, &v, sinks, out);
        assert_float_equal(out[0], 4, 1e-5);
        assert_float_equal(out[1], 2, 1e-5);
    }
}

static void a_softmax_of_two_is_a_sigmoid(void **state)
{
    const struct attn_shape s = {.tokens = 2,
                                 .heads = 1,
                                 .key_heads = 1,
                                 .value_heads = 1,
                                 .key_dim = 2,
                                 .value_dim = 1,
                                 .scale = 2,
                                 .store = DTYPE_F32};
    const float q[] = {1, -1}, k[] = {0.25f, 0, 0, 0.5f}, v[] = {1, 0};
    float out;
    unsigned mask[3], n = levels(mask);

    (void)state;
    for (unsigned i = 0; i < n; i++) {
        decode(mask[i], &s, q, k, v, NULL, &out);
        /* logits 0.5 and -1: 1/(1 + e^-1.5) */
        assert_float_equal(out, 0.8175745, 1e-6);
    }
}

/* Three query heads over two key heads read 0, 0, 1; over two value heads likewise; and with four
 * value heads 0, 1, 2, of which the last is not read. */
static void heads_read_the_head_of_their_share_rounded_down(void **state)
{
    struct attn_shape s = {.tokens = 2,
                           .heads = 3,
                           .key_heads = 2,
                           .value_heads = 2,
                           .key_dim = 1,
                           .value_dim = 1,
                           .scale = 100,
                           .store = DTYPE_F32};
    const float q[] = {1, 1, 1};
    const float k[] = {1, 0, 0, 1}; /* key head 0 finds token 0, key head 1 token 1 */
    const float v2[] = {10, 11, 20, 21}, v4[] = {10, 11, 12, 13, 20, 21, 22, 23};
    float out[3];
    unsigned mask[3], n = levels(mask);

    (void)state;
    for (unsigned i = 0; i < n; i++) {
        s.value_heads = 2;
        decode(mask[i], &s, q, k, v2, NULL, out);
        assert_float_equal(out[0], 10, 1e-5);
        assert_float_equal(out[1], 10, 1e-5);
        assert_float_equal(out[2], 21, 1e-5);
        s.value_heads = 4;
        decode(mask[i], &s, q, k, v4, NULL, out);
        assert_float_equal(out[0], 10, 1e-5);
        assert_float_equal(out[1], 11, 1e-5);
        assert_float_equal(out[2], 22, 1e-5);
    }
}

static void a_bf16_cache_is_the_upper_half_of_an_f32_cache(void **state)
{
    struct attn_shape s = {.tokens = 2,
                           .heads = 1,
                           .key_heads = 1,
                           .value_heads = 1,
                           .key_dim = 1,
                           .value_dim = 1,
                           .scale = 1,
                           .store = DTYPE_BF16};
    const float q = 0;
    const uint16_t k[] = {0x3f80, 0x3f80}, v[] = {0x4040, 0xc0a0}; /* 1, 1; 3, -5 */
    float out;
    unsigned mask[3], n = levels(mask);

    (void)state;
    for (unsigned i = 0; i < n; i++) {
        decode(mask[i], &s, &q, k, v, NULL, &out);
        assert_float_equal(out, -1, 1e-6);
    }
}

static void large_logits_do_not_overflow(void **state)
{
    const struct attn_shape s = {.tokens = 2,
                                 .heads = 1,
                                 .key_heads = 1,
                                 .value_heads = 1,
                                 .key_dim = 1,
                                 .value_dim = 1,
                                 .scale = 1,
                                 .store = DTYPE_F32};
    const float q = 1000, k[] = {30, -30}, v[] = {7, 9};
    float out;
    unsigned mask[3], n = levels(mask);

    (void)state;
    for (unsigned i = 0; i < n; i++) {
        decode(mask[i], &s, &q, k, v, NULL, &out);
        assert_float_equal(out, 7, 1e-6);
    }
}

static void an_empty_cache_gives_zeros(void **state)
{
    const struct attn_shape s = {.heads = 1,
                                 .key_heads = 1,
                                 .value_heads = 1,
                                 .key_dim = 1,
                                 .value_dim = 1,
                                 .scale = 1,
                                 .store = DTYPE_F32};
    const float q = 1;
    float out = 9;
    unsigned mask[3], n = levels(mask);

    (void)state;
    for (unsigned i = 0; i < n; i++) {
        out = 9;
        decode(mask[i], &s, &q, NULL, NULL, NULL, &out);
        assert_true(out == 0);
        decode(mask[i], &s, &q, NULL, NULL, &q, &out);
        assert_true(out == 0);
    }
}

static void absurd_shapes_need_more_than_there_is(void **state)
{
    struct attn_shape s = {.tokens = UINT64_MAX / 2,
                           .heads = 1,
                           .key_heads = 1,
                           .value_heads = 1,
                           .key_dim = 1,
                           .value_dim = 1};

    (void)state;
    assert_true(attn_scratch_bytes(&s) == SIZE_MAX);
    assert_true(attn_composed_scratch_bytes(&s) == SIZE_MAX);
    s.tokens = 1;
    s.heads = UINT64_MAX / 8;
    assert_true(attn_scratch_bytes(&s) == SIZE_MAX);
    s.key_dim = UINT64_MAX - 3;
    assert_true(attn_scratch_bytes(&s) == SIZE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_logits_give_the_mean_of_the_window),
        cmocka_unit_test(a_sink_takes_weight_and_gives_nothing),
        cmocka_unit_test(a_softmax_of_two_is_a_sigmoid),
        cmocka_unit_test(heads_read_the_head_of_their_share_rounded_down),
        cmocka_unit_test(a_bf16_cache_is_the_upper_half_of_an_f32_cache),
        cmocka_unit_test(large_logits_do_not_overflow),
        cmocka_unit_test(an_empty_cache_gives_zeros),
        cmocka_unit_test(absurd_shapes_need_more_than_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
