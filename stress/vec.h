#ifndef STRESS_VEC_H
#define STRESS_VEC_H
#include "model/dtype.h"
#include "stress/stored.h"
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

/* A vector of floats of the width that the including file is built for: 16 lanes in *_avx512.c, 8
 * in
 * *_avx2.c. A partial load reads n lanes and no byte behind them, the others are 0; a partial store
 * writes n lanes. */

#if defined(__AVX512F__)

typedef __m512 vec;
#define VEC_LANES 16u

static inline vec vec_set(float x)
{
    return _mm512_set1_ps(x);
}
static inline vec vec_load(const float *p)
{
    return _mm512_loadu_ps(p);
}
static inline vec vec_load_n(const float *p, uint64_t n)
{
    return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1u), p);
}
static inline void vec_store(float *p, vec x)
{
    _mm512_storeu_ps(p, x);
}
static inline void vec_store_n(float *p, uint64_t n, vec x)
{
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1u), x);
}
static inline vec vec_widen(__m256i halves)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}
static inline vec vec_load_bf16(const uint16_t *p)
{
    return vec_widen(_mm256_loadu_si256((const __m256i *)(const void *)p));
}
static inline vec vec_load_bf16_n(const uint16_t *p, uint64_t n)
{
    return vec_widen(_mm256_maskz_loadu_epi16((__mmask16)((1u << n) - 1u), p));
}
static inline vec vec_fma(vec a, vec b, vec c)
{
    return _mm512_fmadd_ps(a, b, c);
}
/* The second where one is NaN. */
static inline vec vec_max(vec a, vec b)
{
    return _mm512_max_ps(a, b);
}
static inline vec vec_min(vec a, vec b)
{
    return _mm512_min_ps(a, b);
}
/* Without optimisation this intrinsic is a macro, and gcc's has a constant of the wrong sign. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
static inline vec vec_round(vec x)
{
    return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
#pragma GCC diagnostic pop
static inline vec vec_abs(vec x)
{
    return _mm512_abs_ps(x);
}
/* x with the sign of s. */
static inline vec vec_sign(vec x, vec s)
{
    return _mm512_or_ps(vec_abs(x), _mm512_and_ps(s, vec_set(-0.0f)));
}
/* a where x < limit, else b (also where x is NaN). */
static inline vec vec_below(vec x, float limit, vec a, vec b)
{
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(x, vec_set(limit), _CMP_LT_OQ), b, a);
}
/* p * 2^n for whole n; subnormal results are rounded, not flushed. */
static inline vec vec_ldexp(vec p, vec n)
{
    return _mm512_scalef_ps(p, n);
}
static inline float vec_sum(vec x)
{
    return _mm512_reduce_add_ps(x);
}
static inline float vec_top(vec x)
{
    return _mm512_reduce_max_ps(x);
}
/* The sums of four vectors. */
static inline __m128 vec_sum4(vec a, vec b, vec c, vec d)
{
    __m512 ab = _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
    __m512 cd = _mm512_add_ps(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
    __m512 x = _mm512_add_ps(
        _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(ab), _mm512_castps_pd(cd))),
        _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(ab), _mm512_castps_pd(cd))));
    __m256 y = _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
    return _mm_add_ps(_mm256_castps256_ps128(y), _mm256_extractf128_ps(y, 1));
}

#else

typedef __m256 vec;
#define VEC_LANES 8u

static inline vec vec_set(float x)
{
    return _mm256_set1_ps(x);
}
static inline __m256i vec_lanes(uint64_t n)
{
    static const int32_t mask[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return _mm256_loadu_si256((const __m256i *)(const void *)(mask + 8 - n));
}
static inline vec vec_load(const float *p)
{
    return _mm256_loadu_ps(p);
}
static inline vec vec_load_n(const float *p, uint64_t n)
{
    return _mm256_maskload_ps(p, vec_lanes(n));
}
static inline void vec_store(float *p, vec x)
{
    _mm256_storeu_ps(p, x);
}
static inline void vec_store_n(float *p, uint64_t n, vec x)
{
    _mm256_maskstore_ps(p, vec_lanes(n), x);
}
static inline vec vec_widen(__m128i halves)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
}
static inline vec vec_load_bf16(const uint16_t *p)
{
    return vec_widen(_mm_loadu_si128((const __m128i *)(const void *)p));
}
static inline vec vec_load_bf16_n(const uint16_t *p, uint64_t n)
{
    uint16_t part[8] = {0};

    memcpy(part, p, n * sizeof(*p));
    return vec_load_bf16(part);
}
static inline vec vec_fma(vec a, vec b, vec c)
{
    return _mm256_fmadd_ps(a, b, c);
}
static inline vec vec_max(vec a, vec b)
{
    return _mm256_max_ps(a, b);
}
static inline vec vec_min(vec a, vec b)
{
    return _mm256_min_ps(a, b);
}
static inline vec vec_round(vec x)
{
    return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
static inline vec vec_abs(vec x)
{
    return _mm256_andnot_ps(vec_set(-0.0f), x);
}
static inline vec vec_sign(vec x, vec s)
{
    return _mm256_or_ps(vec_abs(x), _mm256_and_ps(s, vec_set(-0.0f)));
}
static inline vec vec_below(vec x, float limit, vec a, vec b)
{
    return _mm256_blendv_ps(b, a, _mm256_cmp_ps(x, vec_set(limit), _CMP_LT_OQ));
}
static inline vec vec_power2(__m256i n)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
}
static inline vec vec_ldexp(vec p, vec n)
{
    /* in two steps, each within the exponents of normal numbers for |n| <= 252 */
    __m256i whole = _mm256_cvtps_epi32(n), half = _mm256_srai_epi32(whole, 1);
    return p * vec_power2(half) * vec_power2(_mm256_sub_epi32(whole, half));
}
static inline __m128 vec_sum4(vec a, vec b, vec c, vec d)
{
    __m256 x = _mm256_hadd_ps(_mm256_hadd_ps(a, b), _mm256_hadd_ps(c, d));
    return _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
}
static inline float vec_sum(vec x)
{
    __m128 y = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    y = _mm_add_ps(y, _mm_movehl_ps(y, y));
    return _mm_cvtss_f32(_mm_add_ss(y, _mm_movehdup_ps(y)));
}
static inline float vec_top(vec x)
{
    __m128 y = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    y = _mm_max_ps(y, _mm_movehl_ps(y, y));
    return _mm_cvtss_f32(_mm_max_ss(y, _mm_movehdup_ps(y)));
}

#endif

/* VEC_LANES elements, or n of them, from element i of a stored array. */
static inline vec vec_stored(enum dtype t, const void *array, uint64_t i)
{
    return t == DTYPE_BF16 ? vec_load_bf16((const uint16_t *)array + i)
                           : vec_load((const float *)array + i);
}
static inline vec vec_stored_n(enum dtype t, const void *array, uint64_t i, uint64_t n)
{
    return t == DTYPE_BF16 ? vec_load_bf16_n((const uint16_t *)array + i, n)
                           : vec_load_n((const float *)array + i, n);
}

/* Sum of m[i] x[i], m from element `from` of a stored array. */
static inline float vec_dot(enum dtype t, const void *m, uint64_t from, const float *x, uint64_t n)
{
    vec a = vec_set(0), b = a, c = a, d = a;
    uint64_t i = 0;

    for (; i + 4 * VEC_LANES <= n; i += 4 * VEC_LANES) {
        const float *at = x + i;
        a = vec_fma(vec_stored(t, m, from + i), vec_load(at), a);
        b = vec_fma(vec_stored(t, m, from + i + VEC_LANES), vec_load(at + VEC_LANES), b);
        c = vec_fma(vec_stored(t, m, from + i + 2 * VEC_LANES), vec_load(at + 2 * VEC_LANES), c);
        d = vec_fma(vec_stored(t, m, from + i + 3 * VEC_LANES), vec_load(at + 3 * VEC_LANES), d);
    }
    for (; i + VEC_LANES <= n; i += VEC_LANES)
        a = vec_fma(vec_stored(t, m, from + i), vec_load(x + i), a);
    if (i < n)
        b = vec_fma(vec_stored_n(t, m, from + i, n - i), vec_load_n(x + i, n - i), b);
    return vec_sum((a + b) + (c + d));
}

/* e^x. Range reduction by ln 2 in two parts, then the polynomial of Cephes' expf (error below one
 * unit in the last place on the reduced range). 0 below -104, infinity above 88.73, NaN stays. */
static inline vec vec_exp(vec x)
{
    x = vec_min(vec_set(89), vec_max(vec_set(-104), x));
    vec n = vec_round(x * vec_set(1.44269504088896341f));
    vec r = vec_fma(n, vec_set(-0.693359375f), x);
    r = vec_fma(n, vec_set(2.12194440e-4f), r);
    vec p = vec_fma(vec_set(1.9875691500e-4f), r, vec_set(1.3981999507e-3f));
    p = vec_fma(p, r, vec_set(8.3334519073e-3f));
    p = vec_fma(p, r, vec_set(4.1665795894e-2f));
    p = vec_fma(p, r, vec_set(1.6666665459e-1f));
    p = vec_fma(p, r, vec_set(5.0000001201e-1f));
    p = vec_fma(p, r * r, r) + vec_set(1);
    return vec_ldexp(p, n);
}

static inline vec vec_sigmoid(vec x)
{
    return vec_set(1) / (vec_set(1) + vec_exp(vec_set(0) - x));
}

/* log(1 + y) for y in [0, 1]: 2 atanh(s) with s = y/(2+y) <= 1/3, whose series is cut where the
 * next term, s^16/17 of the sum, is below 2e-9. */
static inline vec vec_log1p(vec y)
{
    vec s = y / (y + vec_set(2)), z = s * s;
    vec p = vec_fma(z, vec_set(1.0f / 15), vec_set(1.0f / 13));
    p = vec_fma(z, p, vec_set(1.0f / 11));
    p = vec_fma(z, p, vec_set(1.0f / 9));
    p = vec_fma(z, p, vec_set(1.0f / 7));
    p = vec_fma(z, p, vec_set(1.0f / 5));
    p = vec_fma(z, p, vec_set(1.0f / 3));
    return (s + s) * vec_fma(z, p, vec_set(1));
}

static inline vec vec_softplus(vec x)
{
    return vec_max(vec_set(0), x) + vec_log1p(vec_exp(vec_set(0) - vec_abs(x)));
}

/* From e^-2|x| where that loses no digits, else the polynomial of Cephes' tanhf. */
static inline vec vec_tanh(vec x)
{
    vec a = vec_abs(x), e = vec_exp(vec_set(-2) * a), z = x * x;
    vec big = vec_sign((vec_set(1) - e) / (vec_set(1) + e), x);
    vec p = vec_fma(z, vec_set(-5.70498872745e-3f), vec_set(2.06390887954e-2f));
    p = vec_fma(z, p, vec_set(-5.37397155531e-2f));
    p = vec_fma(z, p, vec_set(1.33314422036e-1f));
    p = vec_fma(z, p, vec_set(-3.33332819422e-1f));
    return vec_below(a, 0.625f, vec_fma(p * z, x, x), big);
}

#endif
