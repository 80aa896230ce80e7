#ifndef STRESS_DEQUANT_NUMBER_H
#define STRESS_DEQUANT_NUMBER_H
#include "model/dtype.h"
#include <stdint.h>
#include <string.h>

/* The numbers that quantized formats are made of, one at a time. */

/* FP4 of the OCP MX specification: bit 3 is the sign. */
static const float dequant_number_e2m1[16] = {0,     0.5f,  1,  1.5f,  2,  3,  4,  6,
                                              -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6};
/* IQ4_NL's table (ggml-common.h). */
static const float dequant_number_iq4[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                             1,    13,   25,  38,  53,  69,  89,  113};

static inline float dequant_number_bits(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* F8_E4M3: bias 7, subnormals m * 2^-9, 0x7f is NaN, no infinities. */
static inline float dequant_number_e4m3(uint8_t code)
{
    uint32_t exponent = code >> 3 & 15, m = code & 7;

    if ((code & 0x7f) == 0x7f)
        return dequant_number_bits(0x7fc00000);
    /* (8 + m) * 2^(exponent - 10); an exponent of 0 stands for 1, without the 8 */
    float power = dequant_number_bits(((exponent ? exponent : 1) + 117) << 23);
    float x = (float)(exponent ? 8 + m : m) * power;
    return code & 0x80 ? -x : x;
}

/* F8_E8M0: 2^(code - 127), 255 is NaN. 2^-127 is a subnormal float. */
static inline float dequant_number_e8m0(uint8_t code)
{
    return dequant_number_bits(code == 255 ? 0x7fc00000 : code ? (uint32_t)code << 23 : 1u << 22);
}

/* Element i of an array of scales: F32, F16, BF16 or F8_E8M0. */
static inline float dequant_number_scale(enum dtype t, const void *array, uint64_t i)
{
    float x = 0;

    if (t == DTYPE_F8_E8M0)
        return dequant_number_e8m0(((const uint8_t *)array)[i]);
    dtype_to_f32(t, (const uint8_t *)array + i * (t == DTYPE_F32 ? 4 : 2), 1, &x);
    return x;
}

/* The half at p, which need not be aligned. */
static inline float dequant_number_half(const uint8_t *p)
{
    float x = 0;

    dtype_to_f32(DTYPE_F16, p, 1, &x);
    return x;
}

/* Field n of `bits` bits, 2, 4 or 8, in a list of words. */
static inline uint32_t dequant_number_field(const void *words, uint64_t n, unsigned bits)
{
    uint64_t at = n * bits;
    uint32_t word;

    memcpy(&word, (const uint8_t *)words + at / 32 * 4, sizeof(word));
    return word >> at % 32 & ((1u << bits) - 1);
}

#endif
