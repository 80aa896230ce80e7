#include "stress/seed.h"
#include <string.h>

void seed_fill(void *ret, uint64_t bytes, bool bf16, uint64_t seed)
{
    const uint64_t keep = bf16 ? 0x807F807F807F807Full : 0x807FFFFF807FFFFFull;
    const uint64_t exponent = bf16 ? 0x3E803E803E803E80ull : 0x3E8000003E800000ull;
    unsigned char *out = ret;
    uint64_t i = 0, word;

    for (; i + sizeof(word) <= bytes; i += sizeof(word)) {
        word = (seed_next(&seed) & keep) | exponent;
        memcpy(out + i, &word, sizeof(word));
    }
    word = (seed_next(&seed) & keep) | exponent;
    memcpy(out + i, &word, bytes - i);
}
