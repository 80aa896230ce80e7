#ifndef STRESS_FLASH_H
#define STRESS_FLASH_H
#include <stdint.h>

/* Attention over a tile of tokens at a time, with a running maximum and sum for each query (Milakov
 * and Gimelshein 2018), so that the cache is read once and scratch does not grow with the context.
 * Tiles are widened to F32 and padded with zeros to FLASH_PAD columns and FLASH_TILE rows. */

#define FLASH_TILE 32u
#define FLASH_PAD 32u /* two vectors of the widest kind */

static inline uint64_t flash_pad(uint64_t n)
{
    return (n + FLASH_PAD - 1) / FLASH_PAD * FLASH_PAD;
}

#if defined(__AVX2__) /* the sizes above are for everybody, the rest is for the variants */
#include "stress/vec.h"
#include <math.h>

/* n elements of a stored array from element `from`, times c, into row, with zeros up to width. */
static inline void flash_row(enum dtype t, const void *array, uint64_t from, uint64_t n, float c,
                             float *row, uint64_t width)
{
    uint64_t i = 0;
    vec scale = vec_set(c);

    for (; i + VEC_LANES <= n; i += VEC_LANES)
        vec_store(row + i, vec_stored(t, array, from + i) * scale);
    if (i < n) {
        vec_store(row + i, vec_stored_n(t, array, from + i, n - i) * scale);
        i += VEC_LANES;
    }
    for (; i < width; i += VEC_LANES)
        vec_store(row + i, vec_set(0));
}

/* scores[g][t] = q[g] . k[t] for FLASH_TILE rows of k; rows of q and k are `width` apart, and
 * `width` is padded. Two queries by four tokens: eight sums hide the latency of the FMA. */
static inline void flash_scores(uint64_t queries, uint64_t width, const float *q, const float *k,
                                float *scores)
{
    for (uint64_t t = 0; t < FLASH_TILE; t += 4) {
        const float *k0 = k + t * width, *k1 = k0 + width, *k2 = k1 + width, *k3 = k2 + width;
        for (uint64_t g = 0; g < queries; g += 2) {
            const float *qa = q + g * width, *qb = g + 1 < queries ? qa + width : qa;
            vec a0 = vec_set(0), a1 = a0, a2 = a0, a3 = a0, b0 = a0, b1 = a0, b2 = a0, b3 = a0;
            for (uint64_t i = 0; i < width; i += VEC_LANES) {
                vec a = vec_load(qa + i), b = vec_load(qb + i), x = vec_load(k0 + i);
                a0 = vec_fma(a, x, a0);
                b0 = vec_fma(b, x, b0);
                x = vec_load(k1 + i);
                a1 = vec_fma(a, x, a1);
                b1 = vec_fma(b, x, b1);
                x = vec_load(k2 + i);
                a2 = vec_fma(a, x, a2);
                b2 = vec_fma(b, x, b2);
                x = vec_load(k3 + i);
                a3 = vec_fma(a, x, a3);
                b3 = vec_fma(b, x, b3);
            }
            _mm_storeu_ps(scores + g * FLASH_TILE + t, vec_sum4(a0, a1, a2, a3));
            if (g + 1 < queries)
                _mm_storeu_ps(scores + (g + 1) * FLASH_TILE + t, vec_sum4(b0, b1, b2, b3));
        }
    }
}

/* Turns n logits of a query into weights relative to its running maximum *top, and adds them to its
 * running *sum. Returns the factor that what was summed before has to be multiplied by. */
static inline float flash_soften(uint64_t n, float *p, float *top, float *sum)
{
    float old = *top;

    for (uint64_t t = n; t < FLASH_TILE; t++)
        p[t] = -INFINITY; /* weight 0 */
    vec high = vec_set(old);
    for (uint64_t t = 0; t < FLASH_TILE; t += VEC_LANES)
        high = vec_max(vec_load(p + t), high); /* NaN is passed over here, and comes back below */
    *top = vec_top(high);
    vec total = vec_set(0), reference = vec_set(*top);
    for (uint64_t t = 0; t < FLASH_TILE; t += VEC_LANES) {
        vec x = vec_exp(vec_load(p + t) - reference);
        vec_store(p + t, x);
        total = total + x;
    }
    float factor = expf(old - *top);
    *sum = *sum * factor + vec_sum(total);
    return factor;
}

/* acc[g][i] = factor[g]*acc[g][i] + sum_t p[g][t] v[t][i] over n rows of v, which are v_width
 * apart; rows of acc are `width` apart, and `width` is padded. One to four queries. */
static inline void flash_values4(uint64_t queries, uint64_t width, uint64_t n, const float *p,
                                 const float *factor, const float *v, uint64_t v_width, float *acc)
{
    uint64_t b = queries > 1 ? 1 : 0, c = queries > 2 ? 2 : 0, d = queries > 3 ? 3 : 0;
    const float *pa = p, *pb = p + b * FLASH_TILE, *pc = p + c * FLASH_TILE,
                *pd = p + d * FLASH_TILE;
    const vec fa = vec_set(factor[0]), fb = vec_set(factor[b]), fc = vec_set(factor[c]),
              fd = vec_set(factor[d]);

    for (uint64_t i = 0; i < width; i += 2 * VEC_LANES) {
        float *at = acc + i;
        vec a0 = fa * vec_load(at), a1 = fa * vec_load(at + VEC_LANES);
        vec b0 = fb * vec_load(at + b * width), b1 = fb * vec_load(at + b * width + VEC_LANES);
        vec c0 = fc * vec_load(at + c * width), c1 = fc * vec_load(at + c * width + VEC_LANES);
        vec d0 = fd * vec_load(at + d * width), d1 = fd * vec_load(at + d * width + VEC_LANES);
        for (uint64_t t = 0; t < n; t++) {
            vec x = vec_load(v + t * v_width + i), y = vec_load(v + t * v_width + i + VEC_LANES);
            vec w = vec_set(pa[t]);
            a0 = vec_fma(w, x, a0);
            a1 = vec_fma(w, y, a1);
            w = vec_set(pb[t]);
            b0 = vec_fma(w, x, b0);
            b1 = vec_fma(w, y, b1);
            w = vec_set(pc[t]);
            c0 = vec_fma(w, x, c0);
            c1 = vec_fma(w, y, c1);
            w = vec_set(pd[t]);
            d0 = vec_fma(w, x, d0);
            d1 = vec_fma(w, y, d1);
        }
        /* with fewer queries the same row is stored again, last the one that is right */
        vec_store(at + d * width, d0);
        vec_store(at + d * width + VEC_LANES, d1);
        vec_store(at + c * width, c0);
        vec_store(at + c * width + VEC_LANES, c1);
        vec_store(at + b * width, b0);
        vec_store(at + b * width + VEC_LANES, b1);
        vec_store(at, a0);
        vec_store(at + VEC_LANES, a1);
    }
}

/* The same for a single query: a quarter of the work. */
static inline void flash_values1(uint64_t width, uint64_t n, const float *p, float factor,
                                 const float *v, uint64_t v_width, float *acc)
{
    for (uint64_t i = 0; i < width; i += 2 * VEC_LANES) {
        vec a = vec_set(factor) * vec_load(acc + i), b = vec_set(0);
        vec c = vec_set(factor) * vec_load(acc + i + VEC_LANES), d = b;
        uint64_t t = 0;
        for (; t + 2 <= n; t += 2) {
            const float *x = v + t * v_width + i;
            a = vec_fma(vec_set(p[t]), vec_load(x), a);
            b = vec_fma(vec_set(p[t + 1]), vec_load(x + v_width), b);
            c = vec_fma(vec_set(p[t]), vec_load(x + VEC_LANES), c);
            d = vec_fma(vec_set(p[t + 1]), vec_load(x + v_width + VEC_LANES), d);
        }
        if (t < n) {
            a = vec_fma(vec_set(p[t]), vec_load(v + t * v_width + i), a);
            c = vec_fma(vec_set(p[t]), vec_load(v + t * v_width + i + VEC_LANES), c);
        }
        vec_store(acc + i, a + b);
        vec_store(acc + i + VEC_LANES, c + d);
    }
}

static inline void flash_values(uint64_t queries, uint64_t width, uint64_t n, const float *p,
                                const float *factor, const float *v, uint64_t v_width, float *acc)
{
    uint64_t g = 0;

    while (queries - g >= 2) {
        uint64_t some = queries - g < 4 ? queries - g : 4;
        flash_values4(some, width, n, p + g * FLASH_TILE, factor + g, v, v_width, acc + g * width);
        g += some;
    }
    if (g < queries)
        flash_values1(width, n, p + g * FLASH_TILE, factor[g], v, v_width, acc + g * width);
}

#endif
#endif
