#ifndef STRESS_MLA_TILED_H
#define STRESS_MLA_TILED_H
#include "stress/flash.h"
#include "stress/mla.h"
#include "stress/scratch.h"

/* The body of the variants mla_avx2 and mla_avx512: the absorbed form with the cache read once, a
 * tile of tokens at a time for all heads, sums in F32 (stress/flash.h). */

static inline size_t mla_tiled_scratch_bytes(const struct mla_shape *s)
{
    uint64_t kw, vw = flash_pad(s->rank), q, out;
    size_t total = 0;

    if (__builtin_add_overflow(s->rank, s->rope_dim, &kw))
        return SIZE_MAX;
    kw = flash_pad(kw);
    if (__builtin_mul_overflow(s->heads, kw, &q) || __builtin_mul_overflow(s->heads, vw, &out))
        return SIZE_MAX;
    scratch_need(&total, q, sizeof(float));
    scratch_need(&total, out, sizeof(float));
    scratch_need(&total, s->heads, FLASH_TILE * sizeof(float));
    scratch_need(&total, s->heads, 3 * sizeof(float));
    scratch_need(&total, kw, FLASH_TILE * sizeof(float));
    return total;
}

#if defined(__AVX2__)

/* row [rank] = c * w_uk^T q over nope_dim rows of w_uk from element `from` on. */
static inline void mla_tiled_absorb(const struct mla_shape *s, const float *q, const void *w_uk,
                                    uint64_t from, float *row)
{
    uint64_t r = s->rank, i = 0;

    for (; i + 2 * VEC_LANES <= r; i += 2 * VEC_LANES) {
        vec a = vec_set(0), b = a;
        for (uint64_t n = 0; n < s->nope_dim; n++) {
            vec x = vec_set(q[n]);
            a = vec_fma(x, vec_stored(s->store, w_uk, from + n * r + i), a);
            b = vec_fma(x, vec_stored(s->store, w_uk, from + n * r + i + VEC_LANES), b);
        }
        vec_store(row + i, a * vec_set((float)s->scale));
        vec_store(row + i + VEC_LANES, b * vec_set((float)s->scale));
    }
    for (; i < r; i += VEC_LANES) {
        uint64_t some = r - i < VEC_LANES ? r - i : VEC_LANES;
        vec a = vec_set(0);
        for (uint64_t n = 0; n < s->nope_dim; n++)
            a = vec_fma(vec_set(q[n]), vec_stored_n(s->store, w_uk, from + n * r + i, some), a);
        vec_store_n(row + i, some, a * vec_set((float)s->scale));
    }
}

/* n tokens of the cache widened, latent and rotated key side by side; further rows are zero. */
static inline void mla_tiled_rows(const struct mla_shape *s, const void *c, const void *k_rope,
                                  uint64_t t, uint64_t n, float *rows, uint64_t width)
{
    for (uint64_t i = 0; i < n; i++) {
        float *row = rows + i * width;
        flash_row(s->store, c, (t + i) * s->rank, s->rank, 1, row, width);
        /* the latent's last vector wrote zeros where the key begins: the key comes second */
        for (uint64_t j = 0; j < s->rope_dim; j++)
            row[s->rank + j] = (float)stored_at(s->store, k_rope, (t + i) * s->rope_dim + j);
    }
    memset(rows + n * width, 0, (FLASH_TILE - n) * width * sizeof(float));
}

static void mla_tiled_decode(const struct mla_shape *s, const float *q, const void *c,
                             const void *k_rope, const void *w_uk, const void *w_uv, float *ret_out,
                             void *scratch)
{
    uint64_t kw = flash_pad(s->rank + s->rope_dim), vw = flash_pad(s->rank), r = s->rank;
    float *absorbed = scratch_take(&scratch, s->heads * kw, sizeof(float));
    float *out = scratch_take(&scratch, s->heads * vw, sizeof(float));
    float *p = scratch_take(&scratch, s->heads, FLASH_TILE * sizeof(float));
    float *top = scratch_take(&scratch, s->heads, 3 * sizeof(float));
    float *sum = top + s->heads, *factor = sum + s->heads, *rows = scratch;

    memset(out, 0, s->heads * vw * sizeof(float));
    memset(absorbed, 0, s->heads * kw * sizeof(float));
    for (uint64_t h = 0; h < s->heads; h++) {
        const float *qh = q + h * (s->nope_dim + s->rope_dim);
        mla_tiled_absorb(s, qh, w_uk, h * s->nope_dim * r, absorbed + h * kw);
        for (uint64_t j = 0; j < s->rope_dim; j++)
            absorbed[h * kw + r + j] = (float)s->scale * qh[s->nope_dim + j];
        top[h] = -INFINITY;
        sum[h] = 0;
    }
    for (uint64_t t = 0; t < s->tokens; t += FLASH_TILE) {
        uint64_t n = s->tokens - t < FLASH_TILE ? s->tokens - t : FLASH_TILE;
        mla_tiled_rows(s, c, k_rope, t, n, rows, kw);
        flash_scores(s->heads, kw, absorbed, rows, p);
        for (uint64_t h = 0; h < s->heads; h++)
            factor[h] = flash_soften(n, p + h * FLASH_TILE, top + h, sum + h);
        /* the values are the first `rank` columns; sums over the padding behind are not read */
        flash_values(s->heads, vw, n, p, factor, rows, kw, out);
    }
    for (uint64_t h = 0; h < s->heads; h++) {
        for (uint64_t j = 0; j < s->value_dim; j++) {
            float x = vec_dot(s->store, w_uv, (h * s->value_dim + j) * r, out + h * vw, r);
            ret_out[h * s->value_dim + j] = s->tokens ? x / sum[h] : 0;
        }
    }
}

#endif
#endif
