#include "stress/delta.h"
#include "core/cpu.h"
#include "stress/delta_lanes.h"
#include "stress/scratch.h"
#include <math.h>
#include <string.h>

/* 1/sqrt(sum x^2 + eps) */
static double inverse_norm(uint64_t n, const float *x, double eps)
{
    double sum = 0;

    for (uint64_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return 1 / sqrt(sum + eps);
}

/* The decay of a channel, exp(g). */
static double decay(const struct delta_shape *s, double rate, double z)
{
    if (s->gate == KDA_GATE_BOUNDED)
        return exp(s->lower_bound * act_sigmoid(rate * z));
    return exp(-rate * act_softplus(z));
}

/* The definition. read is S^T k~ of the decayed state, and then beta (v - that). */
static void step(const struct delta_shape *s, const struct delta_in *in, float *state,
                 float *ret_out, void *scratch)
{
    uint64_t dk = s->key_dim, dv = s->value_dim;
    double *a = scratch_take(&scratch, dk, sizeof(double));
    double *read = scratch_take(&scratch, dv, sizeof(double));
    double *out = scratch_take(&scratch, dv, sizeof(double));

    for (uint64_t h = 0; h < s->heads; h++) {
        const float *q = in->q + h * dk, *k = in->k + h * dk, *v = in->v + h * dv;
        float *S = state + h * dk * dv;
        double q_norm = inverse_norm(dk, q, s->l2_eps) / sqrt((double)dk);
        double k_norm = inverse_norm(dk, k, s->l2_eps);
        double beta = act_sigmoid((double)in->b[h]), rate = exp((double)in->a_log[h]);

        memset(read, 0, dv * sizeof(double));
        memset(out, 0, dv * sizeof(double));
        for (uint64_t i = 0; i < dk; i++) {
            a[i] = decay(s, rate, (double)in->z[h * dk + i]);
            for (uint64_t j = 0; j < dv; j++)
                read[j] += a[i] * (double)S[i * dv + j] * ((double)k[i] * k_norm);
        }
        for (uint64_t j = 0; j < dv; j++)
            read[j] = beta * ((double)v[j] - read[j]);
        for (uint64_t i = 0; i < dk; i++) {
            for (uint64_t j = 0; j < dv; j++) {
                double x = a[i] * (double)S[i * dv + j] + (double)k[i] * k_norm * read[j];
                out[j] += x * ((double)q[i] * q_norm);
                S[i * dv + j] = (float)x;
            }
        }
        for (uint64_t j = 0; j < dv; j++)
            ret_out[h * dv + j] = (float)out[j];
    }
}

void delta_init(struct delta_ops *ops, unsigned cpu_mask)
{
    ops->step = step;
    ops->variant = "c";
#if defined(__x86_64__)
    if (cpu_mask & CPU_AVX2)
        delta_avx2(ops);
    if (cpu_mask & CPU_AVX512)
        delta_avx512(ops);
#else
    (void)cpu_mask;
#endif
}

size_t delta_scratch_bytes(const struct delta_shape *s)
{
    size_t definition = 0;

    scratch_need(&definition, s->key_dim, sizeof(double));
    scratch_need(&definition, s->value_dim, sizeof(double));
    scratch_need(&definition, s->value_dim, sizeof(double));
    return scratch_max(definition, delta_lanes_scratch_bytes(s));
}

void delta_sequence(const struct delta_ops *ops, const struct delta_shape *s, uint64_t tokens,
                    const struct delta_in *in, float *state, float *ret_out, void *scratch)
{
    uint64_t keys = s->heads * s->key_dim, values = s->heads * s->value_dim;

    for (uint64_t t = 0; t < tokens; t++) {
        struct delta_in one = {.q = in->q + t * keys,
                               .k = in->k + t * keys,
                               .v = in->v + t * values,
                               .z = in->z + t * keys,
                               .b = in->b + t * s->heads,
                               .a_log = in->a_log};
        ops->step(s, &one, state, ret_out + t * values, scratch);
    }
}

void delta_conv(uint64_t channels, uint64_t taps, const float *w, float *history, const float *x,
                float *ret_y)
{
    for (uint64_t c = 0; c < channels; c++) {
        float *past = history + c * (taps - 1);
        const float *tap = w + c * taps;
        double sum = (double)tap[taps - 1] * (double)x[c];

        for (uint64_t i = 0; i + 1 < taps; i++)
            sum += (double)tap[i] * (double)past[i];
        if (taps > 1) {
            memmove(past, past + 1, (taps - 2) * sizeof(float));
            past[taps - 2] = x[c];
        }
        ret_y[c] = (float)(sum * act_sigmoid(sum));
    }
}
