#ifndef STRESS_DEQUANT_BLOCKS_H
#define STRESS_DEQUANT_BLOCKS_H
#include "stress/dequant_gguf.h"
#include "stress/dequant_lanes.h"

/* The kinds of GGUF in the variants dequant_avx2 and dequant_avx512: a function for a block, which
 * writes whole vectors, and the walk over the blocks of a range of rows. */

#if defined(__AVX2__)

static inline void dequant_blocks_q4(const struct dequant_lanes_table *t, const uint8_t *qs,
                                     float *ret_w)
{
    for (unsigned i = 0; i < 16; i += VEC_LANES) {
        dequant_lanes_int x = dequant_lanes_u8(qs + i);
        vec_store(ret_w + i, dequant_lanes_at(*t, x));
        vec_store(ret_w + 16 + i, dequant_lanes_at(*t, dequant_lanes_right(x, 4)));
    }
}

/* Nibbles with a fifth bit from qh; less `offset`, times d, and m on top where the kind has it. */
static inline void dequant_blocks_q5(const uint8_t *qs, const uint8_t *qh, int offset, float d,
                                     const float *m, float *ret_w)
{
    uint32_t word;

    memcpy(&word, qh, sizeof(word));
    for (unsigned i = 0; i < 32; i += VEC_LANES) {
        dequant_lanes_int low = dequant_lanes_right(dequant_lanes_u8(qs + i % 16), i / 16 * 4);
        dequant_lanes_int high = dequant_lanes_and(dequant_lanes_bits(word >> i), 1);
        low = dequant_lanes_or(dequant_lanes_and(low, 15), dequant_lanes_left(high, 4));
        vec x = dequant_lanes_real(low, offset) * vec_set(d);
        if (m)
            x = x + vec_set(*m);
        vec_store(ret_w + i, x);
    }
}

/* The two bits of plane k of 32 bytes. */
static inline dequant_lanes_int dequant_blocks_plane(const uint8_t *p, unsigned k)
{
    return dequant_lanes_and(dequant_lanes_right(dequant_lanes_u8(p), 2 * k), 3);
}

static inline void dequant_blocks_q2_K(const uint8_t *b, float *ret_w)
{
    float d = dequant_lanes_half(b + 80), dmin = dequant_lanes_half(b + 82);

    for (unsigned e = 0; e < 256; e += VEC_LANES) {
        dequant_lanes_int q = dequant_blocks_plane(b + 16 + e / 128 * 32 + e % 32, e % 128 / 32);
        unsigned s = b[e / 16];
        vec_store(ret_w + e, dequant_lanes_real(q, 0) * vec_set(d * (float)(s & 15)) -
                                 vec_set(dmin * (float)(s >> 4)));
    }
}

static inline void dequant_blocks_q3_K(const uint8_t *b, float *ret_w)
{
    const uint8_t *sc = b + 96;
    float d = dequant_lanes_half(b + 108);

    for (unsigned e = 0; e < 256; e += VEC_LANES) {
        unsigned i = e / 16;
        int s = (i < 8 ? sc[i] & 15 : sc[i - 8] >> 4) + (sc[8 + i % 4] >> i / 4 * 2 & 3) * 16 - 32;
        dequant_lanes_int q = dequant_blocks_plane(b + 32 + e / 128 * 32 + e % 32, e % 128 / 32);
        dequant_lanes_int high = dequant_lanes_right(dequant_lanes_u8(b + e % 32), e / 32);
        q = dequant_lanes_or(q, dequant_lanes_left(dequant_lanes_and(high, 1), 2));
        vec_store(ret_w + e, dequant_lanes_real(q, 4) * vec_set(d * (float)s));
    }
}

static inline void dequant_blocks_q4_K(const uint8_t *b, float *ret_w)
{
    const struct dequant_lanes_table counts = dequant_lanes_table(dequant_lanes_counts);
    float d = dequant_lanes_half(b), dmin = dequant_lanes_half(b + 2);

    for (unsigned i = 0; i < 8; i++, ret_w += 32) {
        unsigned s, l;
        dequant_gguf_six(b + 4, i, &s, &l);
        struct dequant_lanes_table t =
            dequant_lanes_minus(dequant_lanes_times(counts, d * (float)s), dmin * (float)l);
        for (unsigned j = 0; j < 32; j += VEC_LANES) {
            dequant_lanes_int x = dequant_lanes_u8(b + 16 + i / 2 * 32 + j);
            vec_store(ret_w + j, dequant_lanes_at(t, dequant_lanes_right(x, i % 2 * 4)));
        }
    }
}

static inline void dequant_blocks_q5_K(const uint8_t *b, float *ret_w)
{
    float d = dequant_lanes_half(b), dmin = dequant_lanes_half(b + 2);

    for (unsigned i = 0; i < 8; i++, ret_w += 32) {
        unsigned s, l;
        dequant_gguf_six(b + 4, i, &s, &l);
        for (unsigned j = 0; j < 32; j += VEC_LANES) {
            dequant_lanes_int low =
                dequant_lanes_right(dequant_lanes_u8(b + 48 + i / 2 * 32 + j), i % 2 * 4);
            dequant_lanes_int high =
                dequant_lanes_and(dequant_lanes_right(dequant_lanes_u8(b + 16 + j), i), 1);
            low = dequant_lanes_or(dequant_lanes_and(low, 15), dequant_lanes_left(high, 4));
            vec_store(ret_w + j, dequant_lanes_real(low, 0) * vec_set(d * (float)s) -
                                     vec_set(dmin * (float)l));
        }
    }
}

static inline void dequant_blocks_q6_K(const uint8_t *b, float *ret_w)
{
    const int8_t *sc = (const int8_t *)(b + 192);
    float d = dequant_lanes_half(b + 208);

    for (unsigned e = 0; e < 256; e += VEC_LANES) {
        unsigned n = e / 128, k = e % 128 / 32;
        dequant_lanes_int low =
            dequant_lanes_right(dequant_lanes_u8(b + 64 * n + 32 * (k % 2) + e % 32), k / 2 * 4);
        dequant_lanes_int high = dequant_blocks_plane(b + 128 + 32 * n + e % 32, k);
        low = dequant_lanes_or(dequant_lanes_and(low, 15), dequant_lanes_left(high, 4));
        vec_store(ret_w + e, dequant_lanes_real(low, 32) * vec_set(d * (float)sc[e / 16]));
    }
}

/* One block of any kind. */
static inline void dequant_blocks_one(enum dequant_kind kind, const struct dequant_lanes_table *t,
                                      const uint8_t *b, float *ret_w)
{
    struct dequant_lanes_table scaled;
    float m;

    switch (kind) {
    case DEQUANT_GGUF_Q4_0:
    case DEQUANT_GGUF_IQ4_NL:
        scaled = dequant_lanes_times(*t, dequant_lanes_half(b));
        dequant_blocks_q4(&scaled, b + 2, ret_w);
        break;
    case DEQUANT_GGUF_MXFP4:
        scaled = dequant_lanes_times(*t, dequant_number_e8m0(b[0]));
        dequant_blocks_q4(&scaled, b + 1, ret_w);
        break;
    case DEQUANT_GGUF_Q4_1:
        scaled = dequant_lanes_minus(dequant_lanes_times(*t, dequant_lanes_half(b)),
                                     -dequant_lanes_half(b + 2));
        dequant_blocks_q4(&scaled, b + 4, ret_w);
        break;
    case DEQUANT_GGUF_Q5_0:
        dequant_blocks_q5(b + 6, b + 2, 16, dequant_lanes_half(b), NULL, ret_w);
        break;
    case DEQUANT_GGUF_Q5_1:
        m = dequant_lanes_half(b + 2);
        dequant_blocks_q5(b + 8, b + 4, 0, dequant_lanes_half(b), &m, ret_w);
        break;
    case DEQUANT_GGUF_Q8_0: dequant_lanes_signed(b + 2, 32, 0, dequant_lanes_half(b), ret_w); break;
    case DEQUANT_GGUF_Q2_K: dequant_blocks_q2_K(b, ret_w); break;
    case DEQUANT_GGUF_Q3_K: dequant_blocks_q3_K(b, ret_w); break;
    case DEQUANT_GGUF_Q4_K: dequant_blocks_q4_K(b, ret_w); break;
    case DEQUANT_GGUF_Q5_K: dequant_blocks_q5_K(b, ret_w); break;
    default: dequant_blocks_q6_K(b, ret_w); break;
    }
}

static void dequant_blocks_rows(const struct dequant_matrix *m, uint64_t row, uint64_t count,
                                float *ret_w)
{
    enum dequant_kind kind = m->kind;
    unsigned values = dequant_gguf_values(kind), bytes = dequant_gguf_bytes(kind);
    uint64_t blocks = m->cols / values;
    const uint8_t *b = (const uint8_t *)m->weight + row * blocks * bytes;
    struct dequant_lanes_table t =
        dequant_lanes_table(kind == DEQUANT_GGUF_MXFP4    ? dequant_number_e2m1
                            : kind == DEQUANT_GGUF_IQ4_NL ? dequant_number_iq4
                                                          : dequant_lanes_counts);

    if (kind == DEQUANT_GGUF_Q4_0)
        t = dequant_lanes_minus(t, 8);
    for (uint64_t i = 0; i < count * blocks; i++, b += bytes, ret_w += values)
        dequant_blocks_one(kind, &t, b, ret_w);
}

#endif
#endif
