#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "core/cpu.h"
#include "stress/moe.h"
#include <math.h>
#include <stdlib.h>

static const unsigned masks[] = {0, CPU_AVX2, CPU_AVX2 | CPU_AVX512};

/* Two channels, a latent of one, inner width one, two experts. Numbers small enough for a head. */
static const float router[] = {1, 0, 0, 1}, down[] = {1, 1}, up[] = {1, -1};
static const float e0[] = {2}, e1[] = {3}, one[] = {1};
static const void *const w1[] = {e0, e1}, *const w2[] = {one, one}, *const w3[] = {one, one};

static const struct moe_shape shape = {.hidden = 2,
                                       .latent = 1,
                                       .inner = 1,
                                       .router = {.score = ROUTER_SOFTMAX,
                                                  .experts = 2,
                                                  .top_k = 1,
                                                  .scaling = 1,
                                                  .renormalize = true},
                                       .act = ACT_IDENTITY,
                                       .situ_beta = 4,
                                       .situ_linear_beta = 25,
                                       .eps = 0,
                                       .store = DTYPE_F32};

static const struct moe_weights weights = {
    .router = router, .down = down, .up = up, .w1 = w1, .w2 = w2};

/* In every variant, fused and composed. */
static void expect(const struct moe_shape *s, const struct moe_weights *w, const float *x,
                   uint32_t expert, double y0, double y1)
{
    void *scratch = aligned_alloc(64, moe_scratch_bytes(s));
    void *composed = aligned_alloc(64, moe_composed_scratch_bytes(s));
    struct prim_ops prim;
    struct moe_ops ops;

    for (unsigned m = 0; m < 3; m++) {
        if ((cpu_features() & masks[m]) != masks[m])
            continue;
        for (unsigned path = 0; path < 2; path++) {
            float y[2];
            uint32_t idx;
            moe_init(&ops, masks[m]);
            prim_init(&prim, masks[m]);
            if (path == 0)
                ops.token(s, w, x, y, &idx, scratch);
            else
                moe_composed(&prim, s, w, x, y, &idx, composed);
            assert_int_equal(idx, expert);
            assert_float_equal(y[0], y0, 1e-5);
            assert_float_equal(y[1], y1, 1e-5);
        }
    }
    free(scratch);
    free(composed);
}

static void a_token_goes_through_its_expert(void **state)
{
    const float left[] = {5, 1}, right[] = {1, 5};

    (void)state;
    expect(&shape, &weights, left, 0, 12, -12);  /* z = 6, times 2 */
    expect(&shape, &weights, right, 1, 18, -18); /* z = 6, times 3 */
}

static void routing_on_the_latent_sees_one_number(void **state)
{
    struct moe_shape s = shape;
    struct moe_weights w = weights;
    const float latent_router[] = {-1, 1}, x[] = {5, 1};

    (void)state;
    s.router.on_latent = true;
    w.router = latent_router;
    expect(&s, &w, x, 1, 18, -18);
}

static void a_gate_multiplies(void **state)
{
    struct moe_shape s = shape;
    struct moe_weights w = weights;
    const float x[] = {2, 1};

    (void)state;
    w.w3 = w3;
    expect(&s, &w, x, 0, 18, -18); /* (2 * 3) * 3 */
    s.act = ACT_RELU2;
    expect(&s, &w, x, 0, 108, -108); /* 6^2 * 3 */
    s.act = ACT_SITU;
    /* 4 tanh(6/4) sigmoid(6) * 25 tanh(3/25) */
    expect(&s, &w, x, 0, 10.7832122, -10.7832122);
    s.act = ACT_SILU;
    expect(&s, &w, x, 0, 17.9554912, -17.9554912); /* 6 sigmoid(6) * 3 */
}

/* The norm of one number is its sign, whatever the expert's weight was. */
static void the_norm_stands_between_experts_and_up(void **state)
{
    struct moe_shape s = shape;
    struct moe_weights w = weights;
    const float x[] = {5, 1}, norm[] = {7};

    (void)state;
    s.router.scaling = 3;
    expect(&s, &w, x, 0, 36, -36);
    w.norm = norm;
    expect(&s, &w, x, 0, 7, -7);
}

static void the_shared_expert_reads_the_hidden_vector(void **state)
{
    struct moe_shape s = shape;
    struct moe_weights w = weights;
    const float x[] = {5, 1}, sw1[] = {1, 0}, sw2[] = {1, 1}, sw3[] = {0, 2};

    (void)state;
    s.shared_inner = 1;
    w.sw1 = sw1;
    w.sw2 = sw2;
    expect(&s, &w, x, 0, 12 + 5, -12 + 5);
    w.sw3 = sw3;
    expect(&s, &w, x, 0, 12 + 10, -12 + 10);
}

static void the_bias_picks_only(void **state)
{
    struct moe_shape s = shape;
    struct moe_weights w = weights;
    const float x[] = {5, 1}, bias[] = {0, 9};

    (void)state;
    s.router.renormalize = false;
    w.bias = bias;
    /* expert 1 with the weight of logit 1 beside 5: 1/(1 + e^4) */
    expect(&s, &w, x, 1, 18 * 0.01798621, -18 * 0.01798621);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_goes_through_its_expert),
        cmocka_unit_test(routing_on_the_latent_sees_one_number),
        cmocka_unit_test(a_gate_multiplies),
        cmocka_unit_test(the_norm_stands_between_experts_and_up),
        cmocka_unit_test(the_shared_expert_reads_the_hidden_vector),
        cmocka_unit_test(the_bias_picks_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
