#include "stress/mla.h"
#include "core/cpu.h"
#include "stress/mla_tiled.h"
#include "stress/scratch.h"
#include "stress/stored.h"
#include <math.h>
#include <string.h>

/* Turns n logits into weights in place, and returns their sum. */
static double soften(uint64_t n, double *p)
{
    double top = -INFINITY, sum = 0;

    for (uint64_t t = 0; t < n; t++) {
        if (p[t] > top)
            top = p[t];
    }
    for (uint64_t t = 0; t < n; t++) {
        p[t] = exp(p[t] - top);
        sum += p[t];
    }
    return sum;
}

/* scale * (absorbed . c_t + q_rope . k_rope_t) */
static double logit(const struct mla_shape *s, const double *absorbed, const float *q_rope,
                    const void *c, const void *k_rope, uint64_t t)
{
    double sum = 0;

    for (uint64_t i = 0; i < s->rank; i++)
        sum += absorbed[i] * stored_at(s->store, c, t * s->rank + i);
    for (uint64_t i = 0; i < s->rope_dim; i++)
        sum += (double)q_rope[i] * stored_at(s->store, k_rope, t * s->rope_dim + i);
    return s->scale * sum;
}

/* The definition of one token, absorbed. */
static void decode(const struct mla_shape *s, const float *q, const void *c, const void *k_rope,
                   const void *w_uk, const void *w_uv, float *ret_out, void *scratch)
{
    double *p = scratch_take(&scratch, s->tokens, sizeof(double));
    double *absorbed = scratch_take(&scratch, s->rank, sizeof(double));
    double *mixed = scratch_take(&scratch, s->rank, sizeof(double));

    for (uint64_t h = 0; h < s->heads; h++) {
        const float *qh = q + h * (s->nope_dim + s->rope_dim);
        memset(absorbed, 0, s->rank * sizeof(double));
        for (uint64_t n = 0; n < s->nope_dim; n++)
            for (uint64_t i = 0; i < s->rank; i++)
                absorbed[i] +=
                    (double)qh[n] * stored_at(s->store, w_uk, (h * s->nope_dim + n) * s->rank + i);
        for (uint64_t t = 0; t < s->tokens; t++)
            p[t] = logit(s, absorbed, qh + s->nope_dim, c, k_rope, t);
        double weight = soften(s->tokens, p);
        memset(mixed, 0, s->rank * sizeof(double));
        for (uint64_t t = 0; t < s->tokens; t++)
            for (uint64_t i = 0; i < s->rank; i++)
                mixed[i] += p[t] * stored_at(s->store, c, t * s->rank + i);
        for (uint64_t j = 0; j < s->value_dim; j++) {
            double sum = 0;
            for (uint64_t i = 0; i < s->rank; i++)
                sum += mixed[i] * stored_at(s->store, w_uv, (h * s->value_dim + j) * s->rank + i);
            ret_out[h * s->value_dim + j] = s->tokens ? (float)(sum / weight) : 0;
        }
    }
}

void mla_init(struct mla_ops *ops, unsigned cpu_mask)
{
    ops->decode = decode;
    ops->variant = "c";
#if defined(__x86_64__)
    if (cpu_mask & CPU_AVX2)
        mla_avx2(ops);
    if (cpu_mask & CPU_AVX512)
        mla_avx512(ops);
#else
    (void)cpu_mask;
#endif
}

/* y [T][rows] = m [rows][rank] c_t for each token, in double. */
static void expand(const struct mla_shape *s, uint64_t rows, const float *m, const float *c,
                   double *ret_y)
{
    for (uint64_t t = 0; t < s->tokens; t++) {
        for (uint64_t r = 0; r < rows; r++) {
            double sum = 0;
            for (uint64_t i = 0; i < s->rank; i++)
                sum += (double)m[r * s->rank + i] * (double)c[t * s->rank + i];
            ret_y[t * rows + r] = sum;
        }
    }
}

/* Row t of one head over its expanded keys and values. */
static void expanded_row(const struct mla_shape *s, uint64_t h, uint64_t t, const float *q_nope,
                         const float *q_rope, const float *k_rope, const double *keys,
                         const double *values, double *p, float *ret_out)
{
    const float *qn = q_nope + (t * s->heads + h) * s->nope_dim;

    for (uint64_t u = 0; u <= t; u++) {
        double sum = 0;
        for (uint64_t i = 0; i < s->nope_dim; i++)
            sum += (double)qn[i] * keys[u * s->nope_dim + i];
        for (uint64_t i = 0; i < s->rope_dim; i++)
            sum += (double)q_rope[(t * s->heads + h) * s->rope_dim + i] *
                   (double)k_rope[u * s->rope_dim + i];
        p[u] = s->scale * sum;
    }
    double weight = soften(t + 1, p);
    for (uint64_t j = 0; j < s->value_dim; j++) {
        double sum = 0;
        for (uint64_t u = 0; u <= t; u++)
            sum += p[u] * values[u * s->value_dim + j];
        ret_out[(t * s->heads + h) * s->value_dim + j] = (float)(sum / weight);
    }
}

void mla_expanded(const struct mla_shape *s, const float *q_nope, const float *q_rope,
                  const float *c, const float *k_rope, const float *w_uk, const float *w_uv,
                  float *ret_out, void *scratch)
{
    double *p = scratch_take(&scratch, s->tokens, sizeof(double));
    double *keys = scratch_take(&scratch, s->tokens * s->nope_dim, sizeof(double));
    double *values = scratch_take(&scratch, s->tokens * s->value_dim, sizeof(double));

    for (uint64_t h = 0; h < s->heads; h++) {
        expand(s, s->nope_dim, w_uk + h * s->nope_dim * s->rank, c, keys);
        expand(s, s->value_dim, w_uv + h * s->value_dim * s->rank, c, values);
        for (uint64_t t = 0; t < s->tokens; t++)
            expanded_row(s, h, t, q_nope, q_rope, k_rope, keys, values, p, ret_out);
    }
}

size_t mla_scratch_bytes(const struct mla_shape *s)
{
    size_t definition = 0;

    scratch_need(&definition, s->tokens, sizeof(double));
    scratch_need(&definition, s->rank, sizeof(double));
    scratch_need(&definition, s->rank, sizeof(double));
    return scratch_max(definition, mla_tiled_scratch_bytes(s));
}

size_t mla_expanded_scratch_bytes(const struct mla_shape *s)
{
    uint64_t keys, values;
    size_t total = 0;

    if (__builtin_mul_overflow(s->tokens, s->nope_dim, &keys) ||
        __builtin_mul_overflow(s->tokens, s->value_dim, &values))
        return SIZE_MAX;
    scratch_need(&total, s->tokens, sizeof(double));
    scratch_need(&total, keys, sizeof(double));
    scratch_need(&total, values, sizeof(double));
    return total;
}
