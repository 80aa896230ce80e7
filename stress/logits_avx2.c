#include "stress/logits.h"
#include <immintrin.h>
#include <string.h>

/* A block of w of this size (512 KB) stays in the second cache while all tokens pass by it. */
#define ROWS_BLOCK 64
#define WIDTH_BLOCK 2048

static float sum_of(__m256 v)
{
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));

    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

/* One token, one row: the edges. */
static float dot(const float *x, const float *w, size_t n)
{
    __m256 s = _mm256_setzero_ps();
    float rest = 0;
    size_t i = 0;

    for (; i + 8 <= n; i += 8)
        s = _mm256_fmadd_ps(_mm256_loadu_ps(x + i), _mm256_loadu_ps(w + i), s);
    for (; i < n; i++)
        rest += x[i] * w[i];
    return sum_of(s) + rest;
}

/* The sums of one token have names of their own: in an array they would live in memory. */
#define START(t) __m256 s##t##0 = _mm256_setzero_ps(), s##t##1 = s##t##0, s##t##2 = s##t##0
#define STEP(t)                                        \
    do {                                               \
        __m256 v = _mm256_loadu_ps(x + (t)*width + i); \
        s##t##0 = _mm256_fmadd_ps(v, w0, s##t##0);     \
        s##t##1 = _mm256_fmadd_ps(v, w1, s##t##1);     \
        s##t##2 = _mm256_fmadd_ps(v, w2, s##t##2);     \
    } while (0)
#define FINISH(t)                             \
    do {                                      \
        ret[(t)*rows] += sum_of(s##t##0);     \
        ret[(t)*rows + 1] += sum_of(s##t##1); \
        ret[(t)*rows + 2] += sum_of(s##t##2); \
    } while (0)

/* Four tokens, three rows, n columns: twelve sums leave four of the sixteen registers for what is
 * loaded. */
static void tile(size_t width, size_t n, size_t rows, const float *x, const float *w, float *ret)
{
    size_t i = 0;
    START(0);
    START(1);
    START(2);
    START(3);

    for (; i + 8 <= n; i += 8) {
        __m256 w0 = _mm256_loadu_ps(w + i), w1 = _mm256_loadu_ps(w + width + i);
        __m256 w2 = _mm256_loadu_ps(w + 2 * width + i);
        STEP(0);
        STEP(1);
        STEP(2);
        STEP(3);
    }
    FINISH(0);
    FINISH(1);
    FINISH(2);
    FINISH(3);
    for (size_t t = 0; i < n && t < 4; t++) {
        for (size_t r = 0; r < 3; r++)
            ret[t * rows + r] += dot(x + t * width + i, w + r * width + i, n - i);
    }
}

static void block(size_t tokens, size_t rows, size_t width, size_t r0, size_t r1, size_t n,
                  const float *x, const float *w, float *ret)
{
    size_t t = 0;

    for (; t + 4 <= tokens; t += 4) {
        size_t r = r0;
        for (; r + 3 <= r1; r += 3)
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

void logits_avx2(size_t tokens, size_t rows, size_t width, const float *x, const float *w,
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
