#ifndef MODEL_DTYPE_H
#define MODEL_DTYPE_H
#include <stddef.h>
#include <stdint.h>

/* Element types of safetensors files, with the library's names and bit widths. */
enum dtype {
    DTYPE_UNKNOWN, /* a name we do not know: size comes from the offsets */
    DTYPE_F4,
    DTYPE_F6_E2M3,
    DTYPE_F6_E3M2,
    DTYPE_BOOL,
    DTYPE_U8,
    DTYPE_I8,
    DTYPE_F8_E5M2,
    DTYPE_F8_E4M3,
    DTYPE_F8_E8M0,
    DTYPE_F8_E4M3FNUZ,
    DTYPE_F8_E5M2FNUZ,
    DTYPE_I16,
    DTYPE_U16,
    DTYPE_F16,
    DTYPE_BF16,
    DTYPE_I32,
    DTYPE_U32,
    DTYPE_F32,
    DTYPE_I64,
    DTYPE_U64,
    DTYPE_F64,
    DTYPE_C64,
    DTYPES
};

enum dtype dtype_parse(const char *name, size_t len); /* DTYPE_UNKNOWN for other names */
const char *dtype_name(enum dtype t);                 /* "BF16"; "unknown" */
unsigned dtype_bits(enum dtype t);                    /* 16; 0 for DTYPE_UNKNOWN */

/* One element of BF16, F16, F32 or F64 storage, little-endian, as a float; exact but for F64, which
 * is rounded. n elements. Returns 0, or -1 for another dtype. */
int dtype_to_f32(enum dtype t, const void *bytes, size_t n, float *ret);

#endif
