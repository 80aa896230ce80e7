#ifndef STRESS_DEQUANT_LANES_H
#define STRESS_DEQUANT_LANES_H
#include "stress/dequant.h"

/* The body of the variants dequant_avx2 and dequant_avx512, for the kinds that keep their scales in
 * tensors of their own; those of GGUF are in dequant_blocks.h. Each does the operations of the
 * definition in its order, and so gives its bits. A number of four bits is looked up in a table of
 * sixteen that was multiplied by the scale before. Nothing is read behind an array: what is left of
 * a run goes through a buffer. */

#if defined(__AVX2__)
#include "stress/dequant_number.h"
#include "stress/dequant_packed.h"
#include "stress/vec.h"
#include <stdbool.h>

/* --- VEC_LANES codes ---------------------------------------------------------------------------
 */

#if defined(__AVX512F__)

typedef __m512i dequant_lanes_int;

static inline dequant_lanes_int dequant_lanes_u8(const uint8_t *p)
{
    return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)p));
}
static inline dequant_lanes_int dequant_lanes_i8(const uint8_t *p)
{
    return _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(const void *)p));
}
/* Fields of four bits, each with what lies above it in its word. */
static inline dequant_lanes_int dequant_lanes_fields(const uint8_t *p)
{
    int words[2];

    memcpy(words, p, sizeof(words));
    return _mm512_srlv_epi32(
        _mm512_mask_set1_epi32(_mm512_set1_epi32(words[0]), 0xff00, words[1]),
        _mm512_set_epi32(28, 24, 20, 16, 12, 8, 4, 0, 28, 24, 20, 16, 12, 8, 4, 0));
}
static inline dequant_lanes_int dequant_lanes_right(dequant_lanes_int x, unsigned bits)
{
    return _mm512_srli_epi32(x, bits);
}
static inline dequant_lanes_int dequant_lanes_left(dequant_lanes_int x, unsigned bits)
{
    return _mm512_slli_epi32(x, bits);
}
static inline dequant_lanes_int dequant_lanes_and(dequant_lanes_int x, int n)
{
    return _mm512_and_si512(x, _mm512_set1_epi32(n));
}
static inline dequant_lanes_int dequant_lanes_or(dequant_lanes_int x, dequant_lanes_int y)
{
    return _mm512_or_si512(x, y);
}
/* Bits 0, 1, 2 and so on of a word, each with what lies above it. */
static inline dequant_lanes_int dequant_lanes_bits(uint32_t word)
{
    return _mm512_srlv_epi32(
        _mm512_set1_epi32((int)word),
        _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
}
/* x - n as floats; exact. */
static inline vec dequant_lanes_real(dequant_lanes_int x, int n)
{
    return _mm512_cvtepi32_ps(_mm512_sub_epi32(x, _mm512_set1_epi32(n)));
}
/* E4M3 by way of halves: their exponent is 8 further from its end, NaN has a code of its own. */
static inline vec dequant_lanes_e4m3(const uint8_t *p)
{
    __m256i x = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(const void *)p));
    __m256i low = _mm256_and_si256(x, _mm256_set1_epi16(0x7f));
    __m256i sign = _mm256_slli_epi16(_mm256_srli_epi16(x, 7), 15);
    __m256i nan = _mm256_cmpeq_epi16(low, _mm256_set1_epi16(0x7f));
    __m256i half = _mm256_or_si256(_mm256_slli_epi16(low, 7), _mm256_or_si256(sign, nan));

    return _mm512_cvtph_ps(half) * vec_set(256);
}

#else

typedef __m256i dequant_lanes_int;

static inline dequant_lanes_int dequant_lanes_u8(const uint8_t *p)
{
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p));
}
static inline dequant_lanes_int dequant_lanes_i8(const uint8_t *p)
{
    return _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p));
}
static inline dequant_lanes_int dequant_lanes_fields(const uint8_t *p)
{
    int word;

    memcpy(&word, p, sizeof(word));
    return _mm256_srlv_epi32(_mm256_set1_epi32(word),
                             _mm256_set_epi32(28, 24, 20, 16, 12, 8, 4, 0));
}
static inline dequant_lanes_int dequant_lanes_right(dequant_lanes_int x, unsigned bits)
{
    return _mm256_srli_epi32(x, (int)bits);
}
static inline dequant_lanes_int dequant_lanes_left(dequant_lanes_int x, unsigned bits)
{
    return _mm256_slli_epi32(x, (int)bits);
}
static inline dequant_lanes_int dequant_lanes_and(dequant_lanes_int x, int n)
{
    return _mm256_and_si256(x, _mm256_set1_epi32(n));
}
static inline dequant_lanes_int dequant_lanes_or(dequant_lanes_int x, dequant_lanes_int y)
{
    return _mm256_or_si256(x, y);
}
static inline dequant_lanes_int dequant_lanes_bits(uint32_t word)
{
    return _mm256_srlv_epi32(_mm256_set1_epi32((int)word),
                             _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0));
}
static inline vec dequant_lanes_real(dequant_lanes_int x, int n)
{
    return _mm256_cvtepi32_ps(_mm256_sub_epi32(x, _mm256_set1_epi32(n)));
}
static inline vec dequant_lanes_e4m3(const uint8_t *p)
{
    __m128i x = _mm_cvtepu8_epi16(_mm_loadl_epi64((const __m128i *)(const void *)p));
    __m128i low = _mm_and_si128(x, _mm_set1_epi16(0x7f));
    __m128i sign = _mm_slli_epi16(_mm_srli_epi16(x, 7), 15);
    __m128i nan = _mm_cmpeq_epi16(low, _mm_set1_epi16(0x7f));
    __m128i half = _mm_or_si128(_mm_slli_epi16(low, 7), _mm_or_si128(sign, nan));

    return _mm256_cvtph_ps(half) * vec_set(256);
}

#endif

/* --- a table of sixteen floats -----------------------------------------------------------------
 */

#define DEQUANT_LANES_PARTS (16 / VEC_LANES)
struct dequant_lanes_table {
    vec part[DEQUANT_LANES_PARTS];
};

static inline struct dequant_lanes_table dequant_lanes_table(const float x[16])
{
    struct dequant_lanes_table t;

    for (unsigned i = 0; i < DEQUANT_LANES_PARTS; i++)
        t.part[i] = vec_load(x + i * VEC_LANES);
    return t;
}
static inline struct dequant_lanes_table dequant_lanes_minus(struct dequant_lanes_table t, float x)
{
    for (unsigned i = 0; i < DEQUANT_LANES_PARTS; i++)
        t.part[i] = t.part[i] - vec_set(x);
    return t;
}
static inline struct dequant_lanes_table dequant_lanes_times(struct dequant_lanes_table t, float x)
{
    for (unsigned i = 0; i < DEQUANT_LANES_PARTS; i++)
        t.part[i] = t.part[i] * vec_set(x);
    return t;
}
/* What stands there for the lower four bits of each code. */
static inline vec dequant_lanes_at(struct dequant_lanes_table t, dequant_lanes_int codes)
{
#if defined(__AVX512F__)
    return _mm512_permutexvar_ps(codes, t.part[0]);
#else
    return _mm256_blendv_ps(_mm256_permutevar8x32_ps(t.part[0], codes),
                            _mm256_permutevar8x32_ps(t.part[1], codes),
                            _mm256_castsi256_ps(_mm256_slli_epi32(codes, 28)));
#endif
}

static const float dequant_lanes_counts[16] = {0, 1, 2,  3,  4,  5,  6,  7,
                                               8, 9, 10, 11, 12, 13, 14, 15};

/* --- runs of n numbers with one scale ----------------------------------------------------------
 */

/* Nibbles in the order of their bytes, the low one first. */
static inline void dequant_lanes_nibbles(struct dequant_lanes_table t, const uint8_t *p, uint64_t n,
                                         float *ret_w)
{
    uint8_t rest[VEC_LANES / 2] = {0};
    uint64_t i = 0;

    for (; i + VEC_LANES <= n; i += VEC_LANES)
        vec_store(ret_w + i, dequant_lanes_at(t, dequant_lanes_fields(p + i / 2)));
    if (i < n) {
        memcpy(rest, p + i / 2, (n - i + 1) / 2);
        vec_store_n(ret_w + i, n - i, dequant_lanes_at(t, dequant_lanes_fields(rest)));
    }
}

static inline void dequant_lanes_floats(const uint8_t *p, uint64_t n, float scale, float *ret_w)
{
    uint8_t rest[VEC_LANES] = {0};
    uint64_t i = 0;

    for (; i + VEC_LANES <= n; i += VEC_LANES)
        vec_store(ret_w + i, dequant_lanes_e4m3(p + i) * vec_set(scale));
    if (i < n) {
        memcpy(rest, p + i, n - i);
        vec_store_n(ret_w + i, n - i, dequant_lanes_e4m3(rest) * vec_set(scale));
    }
}

static inline void dequant_lanes_signed(const uint8_t *p, uint64_t n, int zero, float scale,
                                        float *ret_w)
{
    uint8_t rest[VEC_LANES] = {0};
    uint64_t i = 0;

    for (; i + VEC_LANES <= n; i += VEC_LANES)
        vec_store(ret_w + i, dequant_lanes_real(dequant_lanes_i8(p + i), zero) * vec_set(scale));
    if (i < n) {
        memcpy(rest, p + i, n - i);
        vec_store_n(ret_w + i, n - i,
                    dequant_lanes_real(dequant_lanes_i8(rest), zero) * vec_set(scale));
    }
}

static inline void dequant_lanes_unsigned(const uint8_t *p, uint64_t n, int zero, float scale,
                                          float *ret_w)
{
    uint8_t rest[VEC_LANES] = {0};
    uint64_t i = 0;

    for (; i + VEC_LANES <= n; i += VEC_LANES)
        vec_store(ret_w + i, dequant_lanes_real(dequant_lanes_u8(p + i), zero) * vec_set(scale));
    if (i < n) {
        memcpy(rest, p + i, n - i);
        vec_store_n(ret_w + i, n - i,
                    dequant_lanes_real(dequant_lanes_u8(rest), zero) * vec_set(scale));
    }
}

/* --- the kinds ---------------------------------------------------------------------------------
 */

static inline float dequant_lanes_half(const uint8_t *p)
{
    uint16_t half;

    memcpy(&half, p, sizeof(half));
    return _cvtsh_ss(half);
}

/* Element i of an array of scales, as dequant_number_scale. */
static inline float dequant_lanes_scale(enum dtype t, const void *array, uint64_t i)
{
    switch (t) {
    case DTYPE_F32: return ((const float *)array)[i];
    case DTYPE_BF16: return stored_bf16(((const uint16_t *)array)[i]);
    case DTYPE_F16: return dequant_lanes_half((const uint8_t *)array + 2 * i);
    default: return dequant_number_e8m0(((const uint8_t *)array)[i]);
    }
}

static void dequant_lanes_ct(const struct dequant_matrix *m, uint64_t row, uint64_t count,
                             float *ret_w)
{
    const struct dequant_lanes_table counts = dequant_lanes_table(dequant_lanes_counts);
    uint64_t groups = m->cols / m->group, row_bytes = (m->cols * m->bits + 31) / 32 * 4;

    if (m->g_idx || (groups > 1 && m->group * m->bits % 8)) {
        dequant_packed_ct(m, row, count, ret_w);
        return;
    }
    for (uint64_t r = row; r < row + count; r++) {
        const uint8_t *p = (const uint8_t *)m->weight + r * row_bytes;
        uint64_t at = r * m->bits, words = at / 32 * groups * 4; /* before this row's zero points */
        for (uint64_t g = 0; g < groups; g++, p += m->group * m->bits / 8, ret_w += m->group) {
            float scale = dequant_lanes_scale(m->scale_dtype, m->scale, r * groups + g);
            int z = m->zero ? (int)dequant_number_field((const uint8_t *)m->zero + words + 4 * g,
                                                        at % 32 / m->bits, m->bits)
                            : 1 << (m->bits - 1);
            if (m->bits == 4)
                dequant_lanes_nibbles(
                    dequant_lanes_times(dequant_lanes_minus(counts, (float)z), scale), p, m->group,
                    ret_w);
            else
                dequant_lanes_unsigned(p, m->group, z, scale, ret_w);
        }
    }
}

static void dequant_lanes_int8(const struct dequant_matrix *m, uint64_t row, uint64_t count,
                               float *ret_w)
{
    const uint8_t *p = (const uint8_t *)m->weight + row * m->cols;
    const int8_t *zero = m->zero;
    uint64_t groups = m->cols / m->group;

    for (uint64_t r = row; r < row + count; r++) {
        uint64_t at = r / m->block_rows * groups;
        for (uint64_t g = 0; g < groups; g++, at++, p += m->group, ret_w += m->group)
            dequant_lanes_signed(p, m->group, zero ? zero[at] : 0,
                                 dequant_lanes_scale(m->scale_dtype, m->scale, at), ret_w);
    }
}

static void dequant_lanes_fp8(const struct dequant_matrix *m, uint64_t row, uint64_t count,
                              float *ret_w)
{
    const uint8_t *p = (const uint8_t *)m->weight + row * m->cols;
    uint64_t groups = (m->cols + m->group - 1) / m->group;

    for (uint64_t r = row; r < row + count; r++) {
        uint64_t at = r / m->block_rows * groups, n;
        for (uint64_t left = m->cols; left > 0; left -= n, at++, p += n, ret_w += n) {
            n = left < m->group ? left : m->group;
            dequant_lanes_floats(p, n, dequant_lanes_scale(m->scale_dtype, m->scale, at), ret_w);
        }
    }
}

static void dequant_lanes_mxfp4(const struct dequant_matrix *m, uint64_t row, uint64_t count,
                                float *ret_w)
{
    const struct dequant_lanes_table e2m1 = dequant_lanes_table(dequant_number_e2m1);
    uint64_t groups = m->cols / m->group;
    const uint8_t *scale = (const uint8_t *)m->scale + row * groups;
    const uint8_t *p = (const uint8_t *)m->weight + row * m->cols / 2;

    for (uint64_t i = 0; i < count * groups; i++, p += m->group / 2, ret_w += m->group)
        dequant_lanes_nibbles(dequant_lanes_times(e2m1, dequant_number_e8m0(scale[i])), p, m->group,
                              ret_w);
}

/* Scales a few at a time, since each takes a division or a product of its own. */
static void dequant_lanes_nvfp4(const struct dequant_matrix *m, uint64_t row, uint64_t count,
                                float *ret_w)
{
    const struct dequant_lanes_table e2m1 = dequant_lanes_table(dequant_number_e2m1);
    uint64_t groups = m->cols / m->group, all = count * groups;
    const uint8_t *codes = (const uint8_t *)m->scale + row * groups;
    const uint8_t *p = (const uint8_t *)m->weight + row * m->cols / 2;
    vec global = vec_set(m->global);
    float scale[64] = {0};

    for (uint64_t from = 0; from < all; from += 64) {
        uint64_t n = all - from < 64 ? all - from : 64;
        dequant_lanes_floats(codes + from, n, 1, scale);
        for (unsigned i = 0; i < 64; i += VEC_LANES) {
            vec x = vec_load(scale + i);
            vec_store(scale + i, m->kind == DEQUANT_CT_NVFP4 ? x / global : x * global);
        }
        for (uint64_t i = 0; i < n; i++, p += m->group / 2, ret_w += m->group)
            dequant_lanes_nibbles(dequant_lanes_times(e2m1, scale[i]), p, m->group, ret_w);
    }
}

/* NULL for a kind without lanes here. */
static inline dequant_rows_fn *dequant_lanes_of(enum dequant_kind kind)
{
    switch (kind) {
    case DEQUANT_CT_PACK: return dequant_lanes_ct;
    case DEQUANT_CT_INT8: return dequant_lanes_int8;
    case DEQUANT_FP8_BLOCK:
    case DEQUANT_FP8_TENSOR:
    case DEQUANT_FP8_CHANNEL: return dequant_lanes_fp8;
    case DEQUANT_CT_MXFP4:
    case DEQUANT_GPTOSS_MXFP4: return dequant_lanes_mxfp4;
    case DEQUANT_CT_NVFP4:
    case DEQUANT_MODELOPT_NVFP4: return dequant_lanes_nvfp4;
    default: return NULL;
    }
}

#endif
#endif
