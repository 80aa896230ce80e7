#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "core/cpu.h"
#include "stress/delta.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define C 6u /* tokens of one chunk */
#define DK 5u
#define DV 4u

static void fill(float *x, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)(seed >> 8) / 8388608.0f - 1;
    }
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* One channel and one value, by hand: q~ = k~ = 1 (the norm of one number), the decay is
 * exp(-5 sigmoid(z)), and after the write o = S. */
static void one_number_by_hand(void **state)
{
    const struct delta_shape s = {.heads = 1,
                                  .key_dim = 1,
                                  .value_dim = 1,
                                  .gate = KDA_GATE_BOUNDED,
                                  .lower_bound = -5,
                                  .l2_eps = 0};
    const float q = 2, k = 3, v = 4, z = 0, b = 0, a_log = 0;
    const struct delta_in in = {.q = &q, .k = &k, .v = &v, .z = &z, .b = &b, .a_log = &a_log};
    const unsigned masks[] = {0, CPU_AVX2, CPU_AVX2 | CPU_AVX512};
    void *scratch = aligned_alloc(64, delta_scratch_bytes(&s));
    struct delta_ops ops;

    (void)state;
    for (unsigned m = 0; m < 3; m++) {
        float S = 10, out;
        if ((cpu_features() & masks[m]) != masks[m])
            continue;
        delta_init(&ops, masks[m]);
        ops.step(&s, &in, &S, &out, scratch);
        /* decayed: 10 e^-2.5 = 0.820850; beta = 1/2: half way to v */
        assert_float_equal(S, (0.820850 + 4) / 2, 1e-5);
        assert_float_equal(out, S, 1e-6);
    }
    free(scratch);
}

static void the_softplus_gate_by_hand(void **state)
{
    const struct delta_shape s = {
        .heads = 1, .key_dim = 1, .value_dim = 1, .gate = KDA_GATE_SOFTPLUS, .l2_eps = 0};
    const float q = 1, k = 1, v = 0, z = 0, b = -100, a_log = 1.0986123f; /* e^a_log = 3 */
    const struct delta_in in = {.q = &q, .k = &k, .v = &v, .z = &z, .b = &b, .a_log = &a_log};
    const unsigned masks[] = {0, CPU_AVX2, CPU_AVX2 | CPU_AVX512};
    void *scratch = aligned_alloc(64, delta_scratch_bytes(&s));
    struct delta_ops ops;

    (void)state;
    for (unsigned m = 0; m < 3; m++) {
        float S = 8, out;
        if ((cpu_features() & masks[m]) != masks[m])
            continue;
        delta_init(&ops, masks[m]);
        ops.step(&s, &in, &S, &out, scratch);
        /* exp(-3 ln 2) = 1/8, and nothing written */
        assert_float_equal(S, 1, 1e-6);
    }
    free(scratch);
}

/* What the chunkwise form of Kimi Linear needs of a chunk: unit vectors, log decays summed up, the
 * write strengths, and the triangular system's right sides. */
struct chunk {
    double q[C][DK], k[C][DK], sum[C][DK], beta[C];
    double w[C][DK], u[C][DV], fresh[C][DV];
};

static void unit(const float *x, double scale, double *ret)
{
    double squares = 1e-6;

    for (unsigned i = 0; i < DK; i++)
        squares += (double)x[i] * (double)x[i];
    for (unsigned i = 0; i < DK; i++)
        ret[i] = (double)x[i] / sqrt(squares) * scale;
}

static double decayed(const struct chunk *c, const double *a, unsigned r, const double *b,
                      unsigned i)
{
    double sum = 0;

    for (unsigned d = 0; d < DK; d++)
        sum += a[d] * b[d] * exp(c->sum[r][d] - c->sum[i][d]);
    return sum;
}

/* M (G * K) and M V by forward substitution, with M = (I + L)^-1 Diag(beta). */
static void solve(struct chunk *c, const float *v)
{
    for (unsigned r = 0; r < C; r++) {
        for (unsigned d = 0; d < DK; d++)
            c->w[r][d] = c->beta[r] * exp(c->sum[r][d]) * c->k[r][d];
        for (unsigned j = 0; j < DV; j++)
            c->u[r][j] = c->beta[r] * (double)v[r * DV + j];
        for (unsigned i = 0; i < r; i++) {
            double l = c->beta[r] * decayed(c, c->k[r], r, c->k[i], i);
            for (unsigned d = 0; d < DK; d++)
                c->w[r][d] -= l * c->w[i][d];
            for (unsigned j = 0; j < DV; j++)
                c->u[r][j] -= l * c->u[i][j];
        }
    }
}

static void steps_equal_the_chunkwise_form(void **state)
{
    const struct delta_shape s = {.heads = 1,
                                  .key_dim = DK,
                                  .value_dim = DV,
                                  .gate = KDA_GATE_BOUNDED,
                                  .lower_bound = -5,
                                  .l2_eps = 1e-6};
    float q[C * DK], k[C * DK], v[C * DV], z[C * DK], b[C], S0[DK * DV], S[DK * DV], out[C * DV];
    const float a_log = 0.3f;
    const struct delta_in in = {.q = q, .k = k, .v = v, .z = z, .b = b, .a_log = &a_log};
    const unsigned masks[] = {0, CPU_AVX2, CPU_AVX2 | CPU_AVX512};
    void *scratch = aligned_alloc(64, delta_scratch_bytes(&s));
    struct delta_ops ops;
    struct chunk c;

    (void)state;
    fill(q, C * DK, 1);
    fill(k, C * DK, 2);
    fill(v, C * DV, 3);
    fill(z, C * DK, 4);
    fill(b, C, 5);
    fill(S0, DK * DV, 6);
    for (unsigned t = 0; t < C; t++) {
        unit(q + t * DK, 1 / sqrt(DK), c.q[t]);
        unit(k + t * DK, 1, c.k[t]);
        c.beta[t] = sigmoid((double)b[t]);
        for (unsigned d = 0; d < DK; d++)
            c.sum[t][d] =
                (t ? c.sum[t - 1][d] : 0) - 5 * sigmoid(exp((double)a_log) * (double)z[t * DK + d]);
    }
    solve(&c, v);
    for (unsigned r = 0; r < C; r++)
        for (unsigned j = 0; j < DV; j++) {
            c.fresh[r][j] = c.u[r][j];
            for (unsigned d = 0; d < DK; d++)
                c.fresh[r][j] -= c.w[r][d] * (double)S0[d * DV + j];
        }
    for (unsigned m = 0; m < 3; m++) {
        if ((cpu_features() & masks[m]) != masks[m])
            continue;
        delta_init(&ops, masks[m]);
        memcpy(S, S0, sizeof(S));
        delta_sequence(&ops, &s, C, &in, S, out, scratch);
        for (unsigned r = 0; r < C; r++)
            for (unsigned j = 0; j < DV; j++) {
                double want = 0;
                for (unsigned d = 0; d < DK; d++)
                    want += exp(c.sum[r][d]) * c.q[r][d] * (double)S0[d * DV + j];
                for (unsigned i = 0; i <= r; i++)
                    want += decayed(&c, c.q[r], r, c.k[i], i) * c.fresh[i][j];
                assert_true(fabs((double)out[r * DV + j] - want) < 2e-6);
            }
        for (unsigned d = 0; d < DK; d++)
            for (unsigned j = 0; j < DV; j++) {
                double want = exp(c.sum[C - 1][d]) * (double)S0[d * DV + j];
                for (unsigned i = 0; i < C; i++)
                    want += exp(c.sum[C - 1][d] - c.sum[i][d]) * c.k[i][d] * c.fresh[i][j];
                assert_true(fabs((double)S[d * DV + j] - want) < 2e-6);
            }
    }
    free(scratch);
}

/* Two channels, taps 1 2 3 4: y = silu(of the last four inputs), and the history moves on. */
static void the_convolution_sees_four_tokens(void **state)
{
    const float w[] = {1, 2, 3, 4, 0, 0, 0, 1};
    float history[] = {0, 0, 0, 0, 0, 0}, y[2];
    const double want[] = {4, 4 * 2 + 3, 4 * 3 + 3 * 2 + 2, 4 * 4 + 3 * 3 + 2 * 2 + 1,
                           4 * 5 + 3 * 4 + 2 * 3 + 2};

    (void)state;
    for (unsigned t = 0; t < 5; t++) {
        const float x[] = {(float)(t + 1), 1};
        delta_conv(2, 4, w, history, x, y);
        assert_true(fabs((double)y[0] - want[t] * sigmoid(want[t])) < 1e-5);
        assert_float_equal(y[1], 0.7310586, 1e-6);
    }
    assert_float_equal(history[0], 3, 0);
    assert_float_equal(history[2], 5, 0);
}

static void a_convolution_of_one_tap_has_no_history(void **state)
{
    const float w = 2;
    float x = 3;

    (void)state;
    delta_conv(1, 1, &w, NULL, &x, &x);
    assert_float_equal(x, 5.9851643, 1e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_number_by_hand),
        cmocka_unit_test(the_softplus_gate_by_hand),
        cmocka_unit_test(steps_equal_the_chunkwise_form),
        cmocka_unit_test(the_convolution_sees_four_tokens),
        cmocka_unit_test(a_convolution_of_one_tap_has_no_history),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
