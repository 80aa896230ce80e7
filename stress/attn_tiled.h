#ifndef STRESS_ATTN_TILED_H
#define STRESS_ATTN_TILED_H
#include "stress/attn.h"
#include "stress/flash.h"
#include "stress/scratch.h"

/* The body of the variants attn_avx2 and attn_avx512: the cache once, a tile of tokens at a time,
 * sums in F32 (stress/flash.h). */

static inline size_t attn_tiled_scratch_bytes(const struct attn_shape *s)
{
    uint64_t kw = flash_pad(s->key_dim), vw = flash_pad(s->value_dim), q, out;
    size_t total = 0;

    if (__builtin_mul_overflow(s->heads, kw, &q) || __builtin_mul_overflow(s->heads, vw, &out))
        return SIZE_MAX;
    scratch_need(&total, q, sizeof(float));
    scratch_need(&total, out, sizeof(float));
    scratch_need(&total, s->heads, FLASH_TILE * sizeof(float));
    scratch_need(&total, s->heads, 3 * sizeof(float));
    scratch_need(&total, kw > vw ? kw : vw, FLASH_TILE * sizeof(float));
    return total;
}

#if defined(__AVX2__)

/* What a call keeps: queries (scaled, padded), running sums of values, weights of this tile, and
 * per head the running maximum, the running sum of weights, and this tile's factor. */
struct attn_tiled {
    uint64_t kw, vw;
    float *q, *out, *p, *top, *sum, *factor, *rows;
};

/* n tokens of one head of k or v, from token t on, widened; rows up to FLASH_TILE are zero. */
static inline void attn_tiled_rows(enum dtype store, const void *cache, uint64_t t, uint64_t n,
                                   uint64_t heads, uint64_t head, uint64_t dim, float *rows,
                                   uint64_t width)
{
    for (uint64_t i = 0; i < n; i++)
        flash_row(store, cache, ((t + i) * heads + head) * dim, dim, 1, rows + i * width, width);
    memset(rows + n * width, 0, (FLASH_TILE - n) * width * sizeof(float));
}

/* First query head that reads head `head` of `of`; with head == of, the number of query heads. */
static inline uint64_t attn_tiled_first(const struct attn_shape *s, uint64_t head, uint64_t of)
{
    return (head * s->heads + of - 1) / of;
}

static inline void attn_tiled_tile(const struct attn_shape *s, const struct attn_tiled *a,
                                   const void *k, const void *v, uint64_t t, uint64_t n)
{
    for (uint64_t kh = 0; kh < s->key_heads; kh++) {
        uint64_t h = attn_tiled_first(s, kh, s->key_heads);
        uint64_t heads = attn_tiled_first(s, kh + 1, s->key_heads) - h;
        attn_tiled_rows(s->store, k, t, n, s->key_heads, kh, s->key_dim, a->rows, a->kw);
        flash_scores(heads, a->kw, a->q + h * a->kw, a->rows, a->p + h * FLASH_TILE);
    }
    for (uint64_t h = 0; h < s->heads; h++)
        a->factor[h] = flash_soften(n, a->p + h * FLASH_TILE, a->top + h, a->sum + h);
    for (uint64_t vh = 0; vh < s->value_heads; vh++) {
        uint64_t h = attn_tiled_first(s, vh, s->value_heads);
        uint64_t heads = attn_tiled_first(s, vh + 1, s->value_heads) - h;
        attn_tiled_rows(s->store, v, t, n, s->value_heads, vh, s->value_dim, a->rows, a->vw);
        flash_values(heads, a->vw, n, a->p + h * FLASH_TILE, a->factor + h, a->rows, a->vw,
                     a->out + h * a->vw);
    }
}

static void attn_tiled_decode(const struct attn_shape *s, const float *q, const void *k,
                              const void *v, const float *sinks, float *ret_out, void *scratch)
{
    struct attn_tiled a = {.kw = flash_pad(s->key_dim), .vw = flash_pad(s->value_dim)};
    uint64_t first = s->window && s->window < s->tokens ? s->tokens - s->window : 0;

    a.q = scratch_take(&scratch, s->heads * a.kw, sizeof(float));
    a.out = scratch_take(&scratch, s->heads * a.vw, sizeof(float));
    a.p = scratch_take(&scratch, s->heads, FLASH_TILE * sizeof(float));
    a.top = scratch_take(&scratch, s->heads, 3 * sizeof(float));
    a.sum = a.top + s->heads;
    a.factor = a.sum + s->heads;
    a.rows = scratch;
    memset(a.out, 0, s->heads * a.vw * sizeof(float));
    for (uint64_t h = 0; h < s->heads; h++) {
        flash_row(DTYPE_F32, q, h * s->key_dim, s->key_dim, (float)s->scale, a.q + h * a.kw, a.kw);
        a.top[h] = sinks ? sinks[h] : -INFINITY;
        a.sum[h] = sinks ? 1 : 0; /* the sink's own weight, e^(sink - top) */
    }
    for (uint64_t t = first; t < s->tokens; t += FLASH_TILE)
        attn_tiled_tile(s, &a, k, v, t, s->tokens - t < FLASH_TILE ? s->tokens - t : FLASH_TILE);
    for (uint64_t h = 0; h < s->heads; h++)
        for (uint64_t i = 0; i < s->value_dim; i++)
            ret_out[h * s->value_dim + i] = s->tokens ? a.out[h * a.vw + i] / a.sum[h] : 0;
}

#endif
#endif
