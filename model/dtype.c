#include "model/dtype.h"
#include <string.h>

static const struct {
    const char *name;
    unsigned bits;
} types[DTYPES] = {
    [DTYPE_UNKNOWN] = {"unknown", 0},
    [DTYPE_F4] = {"F4", 4},
    [DTYPE_F6_E2M3] = {"F6_E2M3", 6},
    [DTYPE_F6_E3M2] = {"F6_E3M2", 6},
    [DTYPE_BOOL] = {"BOOL", 8},
    [DTYPE_U8] = {"U8", 8},
    [DTYPE_I8] = {"I8", 8},
    [DTYPE_F8_E5M2] = {"F8_E5M2", 8},
    [DTYPE_F8_E4M3] = {"F8_E4M3", 8},
    [DTYPE_F8_E8M0] = {"F8_E8M0", 8},
    [DTYPE_F8_E4M3FNUZ] = {"F8_E4M3FNUZ", 8},
    [DTYPE_F8_E5M2FNUZ] = {"F8_E5M2FNUZ", 8},
    [DTYPE_I16] = {"I16", 16},
    [DTYPE_U16] = {"U16", 16},
    [DTYPE_F16] = {"F16", 16},
    [DTYPE_BF16] = {"BF16", 16},
    [DTYPE_I32] = {"I32", 32},
    [DTYPE_U32] = {"U32", 32},
    [DTYPE_F32] = {"F32", 32},
    [DTYPE_I64] = {"I64", 64},
    [DTYPE_U64] = {"U64", 64},
    [DTYPE_F64] = {"F64", 64},
    [DTYPE_C64] = {"C64", 64},
};

enum dtype dtype_parse(const char *name, size_t len)
{
    for (int t = DTYPE_UNKNOWN + 1; t < DTYPES; t++)
        if (strlen(types[t].name) == len && memcmp(types[t].name, name, len) == 0)
            return (enum dtype)t;
    return DTYPE_UNKNOWN;
}

const char *dtype_name(enum dtype t)
{
    return types[(unsigned)t < DTYPES ? t : DTYPE_UNKNOWN].name;
}

unsigned dtype_bits(enum dtype t)
{
    return types[(unsigned)t < DTYPES ? t : DTYPE_UNKNOWN].bits;
}

static uint64_t load(const unsigned char *p, unsigned bytes)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < bytes; i++)
        v |= (uint64_t)p[i] << (8 * i);
    return v;
}

/* The bits of the float that equals an IEEE 754 half. Bits, so that a NaN keeps its payload. */
static uint32_t half_bits(uint32_t h)
{
    uint32_t sign = (h & 0x8000u) << 16, exponent = h >> 10 & 31, fraction = h & 0x3ff;

    if (exponent == 31)
        return sign | 0x7f800000u | fraction << 13;
    if (exponent)
        return sign | (exponent + 112) << 23 | fraction << 13; /* 127 - 15: the two biases */
    if (!fraction)
        return sign;
    /* A subnormal half is a normal float: shift until the leading one is the implicit bit. */
    exponent = 113;
    while (!(fraction & 0x400)) {
        fraction <<= 1;
        exponent--;
    }
    return sign | exponent << 23 | (fraction & 0x3ff) << 13;
}

int dtype_to_f32(enum dtype t, const void *bytes, size_t n, float *ret)
{
    const unsigned char *p = bytes;
    unsigned width = dtype_bits(t) / 8;

    if (t != DTYPE_BF16 && t != DTYPE_F16 && t != DTYPE_F32 && t != DTYPE_F64)
        return -1;
    for (size_t i = 0; i < n; i++) {
        uint64_t raw = load(p + i * width, width);
        uint32_t bits = (uint32_t)raw;
        if (t == DTYPE_F64) {
            double d;
            memcpy(&d, &raw, sizeof(d));
            ret[i] = (float)d;
            continue;
        }
        if (t == DTYPE_BF16)
            bits = (uint32_t)raw << 16;
        else if (t == DTYPE_F16)
            bits = half_bits((uint32_t)raw);
        memcpy(&ret[i], &bits, sizeof(bits));
    }
    return 0;
}
