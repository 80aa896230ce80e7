#include "stress/roof.h"
#include <immintrin.h>

uint64_t roof_sum_avx512(const uint64_t *p, size_t n)
{
    __m512i s[8];

    for (int j = 0; j < 8; j++)
        s[j] = _mm512_setzero_si512();
    for (size_t i = 0; i < n; i += 64) {
        for (size_t j = 0; j < 8; j++)
            s[j] = _mm512_add_epi64(s[j], _mm512_load_si512((const void *)(p + i + 8 * j)));
    }
    for (int j = 1; j < 8; j++)
        s[0] = _mm512_add_epi64(s[0], s[j]);
    return (uint64_t)_mm512_reduce_add_epi64(s[0]);
}
