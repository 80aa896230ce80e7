#include "stress/roof.h"
#include <immintrin.h>

uint64_t roof_sum_avx2(const uint64_t *p, size_t n)
{
    __m256i s[8];
    uint64_t lanes[4];

    for (int j = 0; j < 8; j++)
        s[j] = _mm256_setzero_si256();
    for (size_t i = 0; i < n; i += 32) {
        for (size_t j = 0; j < 8; j++)
            s[j] = _mm256_add_epi64(s[j], _mm256_load_si256((const void *)(p + i + 4 * j)));
    }
    for (int j = 1; j < 8; j++)
        s[0] = _mm256_add_epi64(s[0], s[j]);
    _mm256_storeu_si256((void *)lanes, s[0]);
    return lanes[0] + lanes[1] + lanes[2] + lanes[3];
}
