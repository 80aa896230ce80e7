#ifndef STRESS_SEED_H
#define STRESS_SEED_H
#include <stdbool.h>
#include <stdint.h>

/* splitmix64 (Steele, Lea, Flood 2014): any seed will do, and a number is one step. */
static inline uint64_t seed_next(uint64_t *s)
{
    uint64_t z = (*s += 0x9E3779B97F4A7C15ull);

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

/* From the open interval (0, 1), 53 bits. */
static inline double seed_unit(uint64_t *s)
{
    return ((double)(seed_next(s) >> 11) + 0.5) * 0x1p-53;
}

/* Fills memory with BF16 or F32 numbers of random sign and of magnitude 0.25 to 0.5: a fixed
 * exponent, so that no sum over them overflows and none is subnormal. */
void seed_fill(void *ret, uint64_t bytes, bool bf16, uint64_t seed);

#endif
