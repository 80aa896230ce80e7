#ifndef STRESS_DEQUANT_GGUF_H
#define STRESS_DEQUANT_GGUF_H
#include "stress/dequant.h"

/* The kinds of GGUF: blocks of 32 or 256 numbers, with their scales inside. */

unsigned dequant_gguf_values(enum dequant_kind kind); /* of a block; 0 for other kinds */
unsigned dequant_gguf_bytes(enum dequant_kind kind);  /* of a block; 0 for other kinds */
dequant_rows_fn dequant_gguf_rows;                    /* the definitions */

/* Scale and minimum i of 8 of the 12 bytes with six bits each that q4_K and q5_K have. */
static inline void dequant_gguf_six(const uint8_t *sc, unsigned i, unsigned *ret_scale,
                                    unsigned *ret_minimum)
{
    if (i < 4) {
        *ret_scale = sc[i] & 63;
        *ret_minimum = sc[i + 4] & 63;
    } else {
        *ret_scale = (sc[i + 4] & 15u) + 16u * (sc[i - 4] >> 6);
        *ret_minimum = (sc[i + 4] >> 4) + 16u * (sc[i] >> 6);
    }
}

#endif
