#include "stress/attn.h"
#include "core/cpu.h"
#include "stress/attn_tiled.h"
#include "stress/scratch.h"
#include "stress/stored.h"
#include <math.h>
#include <string.h>

static double dot(const struct attn_shape *s, const float *q, const void *k, uint64_t from)
{
    double sum = 0;

    for (uint64_t i = 0; i < s->key_dim; i++)
        sum += (double)q[i] * stored_at(s->store, k, from + i);
    return sum;
}

/* The definition. Two passes over the logits of a head: their maximum, then weights and sums. */
static void decode(const struct attn_shape *s, const float *q, const void *k, const void *v,
                   const float *sinks, float *ret_out, void *scratch)
{
    double *p = scratch_take(&scratch, s->tokens, sizeof(double));
    double *sum = scratch_take(&scratch, s->value_dim, sizeof(double));
    uint64_t first = s->window && s->window < s->tokens ? s->tokens - s->window : 0;

    for (uint64_t h = 0; h < s->heads; h++) {
        uint64_t kh = h * s->key_heads / s->heads, vh = h * s->value_heads / s->heads;
        double top = sinks ? (double)sinks[h] : -INFINITY;
        for (uint64_t t = first; t < s->tokens; t++) {
            uint64_t row = (t * s->key_heads + kh) * s->key_dim;
            p[t] = s->scale * dot(s, q + h * s->key_dim, k, row);
            if (p[t] > top)
                top = p[t];
        }
        double weight = sinks ? exp((double)sinks[h] - top) : 0;
        memset(sum, 0, s->value_dim * sizeof(double));
        for (uint64_t t = first; t < s->tokens; t++) {
            double w = exp(p[t] - top);
            uint64_t row = (t * s->value_heads + vh) * s->value_dim;
            weight += w;
            for (uint64_t i = 0; i < s->value_dim; i++)
                sum[i] += w * stored_at(s->store, v, row + i);
        }
        for (uint64_t i = 0; i < s->value_dim; i++)
            ret_out[h * s->value_dim + i] = s->tokens ? (float)(sum[i] / weight) : 0;
    }
}

void attn_init(struct attn_ops *ops, unsigned cpu_mask)
{
    ops->decode = decode;
    ops->variant = "c";
#if defined(__x86_64__)
    if (cpu_mask & CPU_AVX2)
        attn_avx2(ops);
    if (cpu_mask & CPU_AVX512)
        attn_avx512(ops);
#else
    (void)cpu_mask;
#endif
}

size_t attn_scratch_bytes(const struct attn_shape *s)
{
    size_t definition = 0;

    scratch_need(&definition, s->tokens, sizeof(double));
    scratch_need(&definition, s->value_dim, sizeof(double));
    return scratch_max(definition, attn_tiled_scratch_bytes(s));
}

void attn_causal(const struct attn_ops *ops, const struct attn_shape *s, const float *q,
                 const void *k, const void *v, const float *sinks, float *ret_out, void *scratch)
{
    struct attn_shape row = *s;

    for (uint64_t t = 0; t < s->tokens; t++) {
        row.tokens = t + 1;
        ops->decode(&row, q + t * s->heads * s->key_dim, k, v, sinks,
                    ret_out + t * s->heads * s->value_dim, scratch);
    }
}

/* y [rows] = m [rows][cols] x, in double. */
static void project(uint64_t rows, uint64_t cols, const float *m, const float *x, float *ret_y)
{
    for (uint64_t r = 0; r < rows; r++) {
        double sum = 0;
        for (uint64_t c = 0; c < cols; c++)
            sum += (double)m[r * cols + c] * (double)x[c];
        ret_y[r] = (float)sum;
    }
}

size_t attn_project_bytes(const struct attn_shape *s)
{
    const uint64_t widths[] = {s->heads * s->key_dim, s->key_heads * s->key_dim,
                               s->value_heads * s->value_dim, s->heads * s->value_dim};
    size_t total = 0;

    for (unsigned i = 0; i < 4; i++) {
        uint64_t count;
        if (__builtin_mul_overflow(widths[i], s->tokens, &count))
            return SIZE_MAX;
        scratch_need(&total, count, sizeof(float));
    }
    return total;
}

void attn_key_decoupled(const struct attn_ops *ops, const struct attn_shape *s, uint64_t hidden,
                        const struct attn_weights *w, const float *x, float *ret_y, void *work,
                        void *scratch)
{
    uint64_t nq = s->heads * s->key_dim, nk = s->key_heads * s->key_dim;
    uint64_t nv = s->value_heads * s->value_dim, no = s->heads * s->value_dim;
    float *q = scratch_take(&work, s->tokens * nq, sizeof(float));
    float *k = scratch_take(&work, s->tokens * nk, sizeof(float));
    float *v = scratch_take(&work, s->tokens * nv, sizeof(float));
    float *o = scratch_take(&work, s->tokens * no, sizeof(float));

    for (uint64_t t = 0; t < s->tokens; t++) {
        project(nq, hidden, w->wq, x + t * hidden, q + t * nq);
        project(nk, hidden, w->wk, x + t * hidden, k + t * nk);
        project(nv, hidden, w->wv, x + t * hidden, v + t * nv);
    }
    attn_causal(ops, s, q, k, v, NULL, o, scratch);
    for (uint64_t t = 0; t < s->tokens; t++)
        project(hidden, no, w->wo, o + t * no, ret_y + t * hidden);
}
