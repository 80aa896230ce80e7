#ifndef STRESS_SCRATCH_H
#define STRESS_SCRATCH_H
#include <stddef.h>
#include <stdint.h>

/* Scratch that a caller brings and a kernel divides: the same calls in the same order say how much
 * is needed and hand it out. Each part starts at a multiple of 64 bytes. */

/* *total plus room for count elements of size bytes; SIZE_MAX once it does not fit. */
static inline void scratch_need(size_t *total, uint64_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - 128 ||
        __builtin_add_overflow(*total, (bytes + 63) & ~(size_t)63, total))
        *total = SIZE_MAX;
}

/* The next count elements of size bytes at *at, which moves on. */
static inline void *scratch_take(void **at, uint64_t count, size_t size)
{
    char *part = *at;

    *at = part + ((count * size + 63) & ~(size_t)63);
    return part;
}

/* The larger of two needs. */
static inline size_t scratch_max(size_t a, size_t b)
{
    return a > b ? a : b;
}

#endif
