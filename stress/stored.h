#ifndef STRESS_STORED_H
#define STRESS_STORED_H
#include "model/dtype.h"
#include <stdint.h>
#include <string.h>

/* Elements as caches and weights keep them: F32, or BF16, which is the upper half of an F32. */

static inline float stored_bf16(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    float x;

    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* Element i of an array stored as t, DTYPE_BF16 or DTYPE_F32. */
static inline double stored_at(enum dtype t, const void *array, uint64_t i)
{
    if (t == DTYPE_BF16)
        return (double)stored_bf16(((const uint16_t *)array)[i]);
    return (double)((const float *)array)[i];
}

/* The address of element i. */
static inline const void *stored_from(enum dtype t, const void *array, uint64_t i)
{
    return (const char *)array + i * (t == DTYPE_BF16 ? 2u : 4u);
}

#endif
