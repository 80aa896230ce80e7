#ifndef STRESS_DEQUANT_TRANSPOSED_H
#define STRESS_DEQUANT_TRANSPOSED_H
#include "stress/dequant.h"

/* The AVX2 variants of gptq and awq, which store columns: tiles of 8 columns of 8 rows are computed
 * as stored, with a row a lane, and turned. All rows of a panel of columns are done before the next
 * one, since they share its cache lines. */

#if defined(__AVX2__)
#include "stress/dequant_number.h"
#include "stress/dequant_packed.h"
#include <immintrin.h>

/* Zero points and scales of 8 rows in one group. */
struct dequant_transposed_group {
    uint64_t index;
    __m256i zero;
    __m256 scale;
};

static inline __m256 dequant_transposed_scale(const struct dequant_matrix *m, uint64_t r,
                                              uint64_t g)
{
    const uint16_t *at = (const uint16_t *)m->scale + g * m->rows + r;

    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)at));
}

static inline __m256 dequant_transposed_real(__m256i codes,
                                             const struct dequant_transposed_group *x)
{
    return _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_sub_epi32(codes, x->zero)), x->scale);
}

/* Column k of the tile is v[k]; row i goes to ret_w + i * stride. */
static inline void dequant_transposed_store(const __m256 v[8], float *ret_w, uint64_t stride)
{
    __m256 pair[8], four[8];

    for (int i = 0; i < 8; i += 2) {
        pair[i] = _mm256_unpacklo_ps(v[i], v[i + 1]);     /* rows 0 1 4 5 of two columns */
        pair[i + 1] = _mm256_unpackhi_ps(v[i], v[i + 1]); /* rows 2 3 6 7 */
    }
    for (int i = 0; i < 8; i += 4) { /* rows 0 4, 1 5, 2 6, 3 7 of four columns */
        four[i] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0x44);
        four[i + 1] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0xee);
        four[i + 2] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0x44);
        four[i + 3] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0xee);
    }
    for (uint64_t i = 0; i < 4; i++) {
        _mm256_storeu_ps(ret_w + i * stride, _mm256_permute2f128_ps(four[i], four[i + 4], 0x20));
        _mm256_storeu_ps(ret_w + (i + 4) * stride,
                         _mm256_permute2f128_ps(four[i], four[i + 4], 0x31));
    }
}

static inline struct dequant_transposed_group
dequant_transposed_gptq_group(const struct dequant_matrix *m, uint64_t r, uint64_t g)
{
    int zero[8];

    for (uint64_t i = 0; i < 8; i++)
        zero[i] =
            (int)(dequant_number_field(m->zero, g * m->rows + r + i, m->bits) + m->zero_offset);
    return (struct dequant_transposed_group){
        g, _mm256_loadu_si256((const __m256i *)(const void *)zero),
        dequant_transposed_scale(m, r, g)};
}

/* Column c of rows r to r + 7, as the codes are stored. */
static inline __m256i dequant_transposed_gptq_codes(const struct dequant_matrix *m, uint64_t r,
                                                    uint64_t c)
{
    uint64_t bit = c * m->bits;
    const int32_t *words = (const int32_t *)m->weight + bit / 32 * m->rows + r;
    __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)words);

    return _mm256_and_si256(_mm256_srl_epi32(x, _mm_cvtsi64_si128((long long)(bit % 32))),
                            _mm256_set1_epi32((1 << m->bits) - 1));
}

#define DEQUANT_TRANSPOSED_PANEL 128u /* columns: of the usual group */

/* Columns from to end - 1 of rows r to r + 7; 8 columns of a tile need not be in one group. */
static inline void dequant_transposed_gptq_panel(const struct dequant_matrix *m, uint64_t r,
                                                 uint64_t from, uint64_t end, float *ret_w)
{
    struct dequant_transposed_group x = {.index = UINT64_MAX};
    __m256 v[8];

    for (; from < end; from += 8) {
        for (uint64_t k = 0; k < 8; k++) {
            uint64_t c = from + k, g = m->g_idx ? (uint64_t)m->g_idx[c] : c / m->group;
            if (g != x.index)
                x = dequant_transposed_gptq_group(m, r, g);
            v[k] = dequant_transposed_real(dequant_transposed_gptq_codes(m, r, c), &x);
        }
        dequant_transposed_store(v, ret_w + from, m->cols);
    }
}

/* What makes no whole tile is left to the definition. */
static void dequant_transposed_gptq(const struct dequant_matrix *m, uint64_t row, uint64_t count,
                                    float *ret_w)
{
    uint64_t whole = m->cols % 8 ? 0 : count / 8 * 8, end;

    for (uint64_t from = 0; from < m->cols; from = end) {
        end = m->cols - from < DEQUANT_TRANSPOSED_PANEL ? m->cols : from + DEQUANT_TRANSPOSED_PANEL;
        for (uint64_t i = 0; i < whole; i += 8)
            dequant_transposed_gptq_panel(m, row + i, from, end, ret_w + i * m->cols);
    }
    dequant_packed_gptq(m, row + whole, count - whole, ret_w + whole * m->cols);
}

/* The rows of word r / 8 of a list of words, whose nibbles AutoAWQ interleaves. */
static inline __m256i dequant_transposed_awq_rows(const void *words, uint64_t at)
{
    const __m256i shift = _mm256_set_epi32(28, 12, 24, 8, 20, 4, 16, 0);
    __m256i word = _mm256_set1_epi32(((const int32_t *)words)[at]);

    return _mm256_and_si256(_mm256_srlv_epi32(word, shift), _mm256_set1_epi32(15));
}

/* Group g of rows r to r + 7, r a multiple of 8. */
static inline void dequant_transposed_awq_panel(const struct dequant_matrix *m, uint64_t r,
                                                uint64_t g, float *ret_w)
{
    uint64_t words = m->rows / 8;
    struct dequant_transposed_group x = {g, dequant_transposed_awq_rows(m->zero, g * words + r / 8),
                                         dequant_transposed_scale(m, r, g)};
    __m256 v[8];

    for (uint64_t c = g * m->group; c < (g + 1) * m->group; c += 8) {
        for (uint64_t k = 0; k < 8; k++)
            v[k] = dequant_transposed_real(
                dequant_transposed_awq_rows(m->weight, (c + k) * words + r / 8), &x);
        dequant_transposed_store(v, ret_w + c, m->cols);
    }
}

/* Tiles start at whole words, and a group is one or more of them: the rest is the definition's. */
static void dequant_transposed_awq(const struct dequant_matrix *m, uint64_t row, uint64_t count,
                                   float *ret_w)
{
    uint64_t end = row + count, first = (row + 7) / 8 * 8, last = end / 8 * 8;

    if (m->group % 8 || first >= last)
        first = last = end;
    dequant_packed_awq(m, row, first - row, ret_w);
    for (uint64_t g = 0; g < m->cols / m->group; g++) {
        for (uint64_t r = first; r < last; r += 8)
            dequant_transposed_awq_panel(m, r, g, ret_w + (r - row) * m->cols);
    }
    dequant_packed_awq(m, last, end - last, ret_w + (last - row) * m->cols);
}

#endif
#endif
