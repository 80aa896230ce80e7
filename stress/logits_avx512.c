#include "stress/logits.h"
#include <immintrin.h>
#include <string.h>

/* A block of w of this size (1 MB) stays in the second cache while all tokens pass by it. */
#define ROWS_BLOCK 128
#define WIDTH_BLOCK 2048

/* The first n lanes of sixteen. */
static __mmask16 lanes(size_t n)
{
    return _cvtu32_mask16(n < 16 ? (1u << n) - 1 : 0xFFFFu);
}

static __m512 load(const float *p, size_t i, __mmask16 m)
{
    return _mm512_maskz_loadu_ps(m, p + i);
}

/* One token, one row: the edges. */
static float dot(const float *x, const float *w, size_t n)
{
    __m512 s = _mm512_setzero_ps();

    for (size_t i = 0; i < n; i += 16) {
        __mmask16 m = lanes(n - i);
        s = _mm512_fmadd_ps(load(x, i, m), load(w, i, m), s);
    }
    return _mm512_reduce_add_ps(s);
}

/* The sums of one token have names of their own: in an array they would live in memory. */
#define START(t) \
    __m512 s##t##0 = _mm512_setzero_ps(), s##t##1 = s##t##0, s##t##2 = s##t##0, s##t##3 = s##t##0
#define STEP(t)                                    \
    do {                                           \
        __m512 v = load(x + (t)*width, i, m);      \
        s##t##0 = _mm512_fmadd_ps(v, w0, s##t##0); \
        s##t##1 = _mm512_fmadd_ps(v, w1, s##t##1); \
        s##t##2 = _mm512_fmadd_ps(v, w2, s##t##2); \
        s##t##3 = _mm512_fmadd_ps(v, w3, s##t##3); \
    } while (0)
#define FINISH(t)                                           \
    do {                                                    \
        ret[(t)*rows] += _mm512_reduce_add_ps(s##t##0);     \
        ret[(t)*rows + 1] += _mm512_reduce_add_ps(s##t##1); \
        ret[(t)*rows + 2] += _mm512_reduce_add_ps(s##t##2); \
        ret[(t)*rows + 3] += _mm512_reduce_add_ps(s##t##3); \
    } while (0)

/* Four tokens, four rows, n columns: sixteen sums in registers. */
static void tile(size_t width, size_t n, size_t rows, const float *x, const float *w, float *ret)
{
    START(0);
    START(1);
    START(2);
    START(3);
    for (size_t i = 0; i < n; i += 16) {
        __mmask16 m = lanes(n - i);
        __m512 w0 = load(w, i, m), w1 = load(w + width, i, m);
        __m512 w2 = load(w + 2 * width, i, m), w3 = load(w + 3 * width, i, m);
        STEP(0);
        STEP(1);
        STEP(2);
        STEP(3);
    }
    FINISH(0);
    FINISH(1);
    FINISH(2);
    FINISH(3);
}

/* Rows r0 to r1 over n columns, of which x and w point at the first. */
static void block(size_t tokens, size_t rows, size_t width, size_t r0, size_t r1, size_t n,
                  const float *x, const float *w, float *ret)
{
    size_t t = 0;

    for (; t + 4 <= tokens; t += 4) {
        size_t r = r0;
        for (; r + 4 <= r1; r += 4)
            tile(width, n, rows, x + t * width, w + r * width, ret + t * rows + r);
        for (; r < r1; r++) {
            for (size_t j = t; j < t + 4; j++)
                ret[j * rows + r] += dot(x + j * width, w + r * width, n);
        }
    }
    for (; t < tokens; t++) {
        for (size_t r = r0; r < r1; r++)
            ret[t * rows + r] += dot(x + t * width, w + r * width, n);
    }
}

void logits_avx512(size_t tokens, size_t rows, size_t width, const float *x, const float *w,
                   float *ret)
{
    memset(ret, 0, tokens * rows * sizeof(*ret));
    for (size_t r0 = 0; r0 < rows; r0 += ROWS_BLOCK) {
        size_t r1 = rows - r0 < ROWS_BLOCK ? rows : r0 + ROWS_BLOCK;
        for (size_t i = 0; i < width; i += WIDTH_BLOCK) {
            size_t n = width - i < WIDTH_BLOCK ? width - i : WIDTH_BLOCK;
            block(tokens, rows, width, r0, r1, n, x + i, w + i, ret);
        }
    }
}
