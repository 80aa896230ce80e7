#include "stress/attn.h"
#include "stress/scratch.h"
#include <string.h>

/* ret [heads][n][dim]: tokens from `first` on of the cached head that each query head reads. */
static void repeat(const struct prim_ops *p, const struct attn_shape *s, const void *cache,
                   uint64_t heads, uint64_t dim, uint64_t first, uint64_t n, float *ret)
{
    uint64_t bytes = s->store == DTYPE_BF16 ? 2 : 4;

    for (uint64_t h = 0; h < s->heads; h++) {
        for (uint64_t t = 0; t < n; t++) {
            uint64_t row = ((first + t) * heads + h * heads / s->heads) * dim;
            p->widen(dim, s->store, (const char *)cache + row * bytes, ret + (h * n + t) * dim);
        }
    }
}

void attn_composed(const struct prim_ops *p, const struct attn_shape *s, const float *q,
                   const void *k, const void *v, const float *sinks, float *ret_out, void *scratch)
{
    uint64_t first = s->window && s->window < s->tokens ? s->tokens - s->window : 0;
    uint64_t n = s->tokens - first, row = n + 1; /* room for the sink behind the logits */
    float *keys = scratch_take(&scratch, s->heads * n * s->key_dim, sizeof(float));
    float *values = scratch_take(&scratch, s->heads * n * s->value_dim, sizeof(float));
    float *w = scratch_take(&scratch, s->heads * row, sizeof(float));

    if (n == 0) {
        memset(ret_out, 0, s->heads * s->value_dim * sizeof(float));
        return;
    }
    repeat(p, s, k, s->key_heads, s->key_dim, first, n, keys);
    repeat(p, s, v, s->value_heads, s->value_dim, first, n, values);
    for (uint64_t h = 0; h < s->heads; h++) {
        p->matvec(n, s->key_dim, DTYPE_F32, keys + h * n * s->key_dim, q + h * s->key_dim,
                  w + h * row);
        w[h * row + n] = 0;
    }
    p->scale(s->heads * row, (float)s->scale, w, w);
    for (uint64_t h = 0; h < s->heads; h++) {
        if (sinks)
            w[h * row + n] = sinks[h];
        p->softmax(sinks ? row : n, w + h * row, w + h * row);
    }
    for (uint64_t h = 0; h < s->heads; h++)
        p->matvec_t(n, s->value_dim, values + h * n * s->value_dim, w + h * row,
                    ret_out + h * s->value_dim);
}

size_t attn_composed_scratch_bytes(const struct attn_shape *s)
{
    uint64_t n = s->window && s->window < s->tokens ? s->window : s->tokens, all, keys, values;
    size_t total = 0;

    if (__builtin_mul_overflow(s->heads, n, &all) || n == UINT64_MAX ||
        __builtin_mul_overflow(all, s->key_dim, &keys) ||
        __builtin_mul_overflow(all, s->value_dim, &values) ||
        __builtin_add_overflow(all, s->heads, &all))
        return SIZE_MAX;
    scratch_need(&total, keys, sizeof(float));
    scratch_need(&total, values, sizeof(float));
    scratch_need(&total, all, sizeof(float));
    return total;
}
