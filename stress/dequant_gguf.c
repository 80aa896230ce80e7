#include "stress/dequant_gguf.h"
#include "stress/dequant_number.h"

#define half dequant_number_half

/* One block b into its values w. What ggml computes in these types is a product that a float holds
 * exactly, and at most one sum: the order of the factors is free. */
typedef void block_fn(const uint8_t *b, float *ret_w);

/* Value e of 32: low nibbles of 16 bytes, then high ones. */
static int nibble(const uint8_t *qs, unsigned e)
{
    return e < 16 ? qs[e] & 15 : qs[e - 16] >> 4;
}

static int bit(const uint8_t *bytes, unsigned i)
{
    return bytes[i / 8] >> i % 8 & 1;
}

static void q4_0(const uint8_t *b, float *ret_w)
{
    float d = half(b);

    for (unsigned e = 0; e < 32; e++)
        ret_w[e] = d * (float)(nibble(b + 2, e) - 8);
}

static void q4_1(const uint8_t *b, float *ret_w)
{
    float d = half(b), m = half(b + 2);

    for (unsigned e = 0; e < 32; e++)
        ret_w[e] = d * (float)nibble(b + 4, e) + m;
}

static void q5_0(const uint8_t *b, float *ret_w)
{
    float d = half(b);

    for (unsigned e = 0; e < 32; e++)
        ret_w[e] = d * (float)(nibble(b + 6, e) + 16 * bit(b + 2, e) - 16);
}

static void q5_1(const uint8_t *b, float *ret_w)
{
    float d = half(b), m = half(b + 2);

    for (unsigned e = 0; e < 32; e++)
        ret_w[e] = d * (float)(nibble(b + 8, e) + 16 * bit(b + 4, e)) + m;
}

static void q8_0(const uint8_t *b, float *ret_w)
{
    float d = half(b);

    for (unsigned e = 0; e < 32; e++)
        ret_w[e] = d * (float)(int8_t)b[2 + e];
}

static void iq4_nl(const uint8_t *b, float *ret_w)
{
    float d = half(b);

    for (unsigned e = 0; e < 32; e++)
        ret_w[e] = d * dequant_number_iq4[nibble(b + 2, e)];
}

static void mxfp4(const uint8_t *b, float *ret_w)
{
    float scale = dequant_number_e8m0(b[0]);

    for (unsigned e = 0; e < 32; e++)
        ret_w[e] = dequant_number_e2m1[nibble(b + 1, e)] * scale;
}

/* Value e of 256 of two bits each: in each half of the block four planes of 32 bytes. */
static int plane(const uint8_t *qs, unsigned e)
{
    return qs[e / 128 * 32 + e % 32] >> e % 128 / 32 * 2 & 3;
}

static void q2_K(const uint8_t *b, float *ret_w)
{
    float d = half(b + 80), dmin = half(b + 82);

    for (unsigned e = 0; e < 256; e++) {
        unsigned s = b[e / 16];
        ret_w[e] = d * (float)(s & 15) * (float)plane(b + 16, e) - dmin * (float)(s >> 4);
    }
}

static void q3_K(const uint8_t *b, float *ret_w)
{
    const uint8_t *sc = b + 96;
    float d = half(b + 108);

    for (unsigned e = 0; e < 256; e++) {
        unsigned i = e / 16;
        int s = (i < 8 ? sc[i] & 15 : sc[i - 8] >> 4) + (sc[8 + i % 4] >> i / 4 * 2 & 3) * 16 - 32;
        int q = plane(b + 32, e) - (b[e % 32] >> e / 32 & 1 ? 0 : 4);
        ret_w[e] = d * (float)s * (float)q;
    }
}

/* Value e of 256 of four bits each: 32 low nibbles, then the high ones of the same 32 bytes. */
static int nibble_K(const uint8_t *qs, unsigned e)
{
    return qs[e / 64 * 32 + e % 32] >> e / 32 % 2 * 4 & 15;
}

static void q4_K(const uint8_t *b, float *ret_w)
{
    float d = half(b), dmin = half(b + 2);

    for (unsigned e = 0; e < 256; e++) {
        unsigned s, l;
        dequant_gguf_six(b + 4, e / 32, &s, &l);
        ret_w[e] = d * (float)s * (float)nibble_K(b + 16, e) - dmin * (float)l;
    }
}

static void q5_K(const uint8_t *b, float *ret_w)
{
    float d = half(b), dmin = half(b + 2);

    for (unsigned e = 0; e < 256; e++) {
        int q = nibble_K(b + 48, e) + 16 * (b[16 + e % 32] >> e / 32 & 1);
        unsigned s, l;
        dequant_gguf_six(b + 4, e / 32, &s, &l);
        ret_w[e] = d * (float)s * (float)q - dmin * (float)l;
    }
}

static void q6_K(const uint8_t *b, float *ret_w)
{
    const uint8_t *qh = b + 128;
    const int8_t *sc = (const int8_t *)(b + 192);
    float d = half(b + 208);

    for (unsigned e = 0; e < 256; e++) {
        unsigned n = e / 128, k = e % 128 / 32;
        int low = b[64 * n + 32 * (k % 2) + e % 32] >> k / 2 * 4 & 15;
        int q = low + 16 * (qh[32 * n + e % 32] >> 2 * k & 3) - 32;
        ret_w[e] = d * (float)sc[e / 16] * (float)q;
    }
}

static const struct {
    unsigned values, bytes;
    block_fn *block;
} types[DEQUANT_KINDS] = {
    [DEQUANT_GGUF_Q4_0] = {32, 18, q4_0},   [DEQUANT_GGUF_Q4_1] = {32, 20, q4_1},
    [DEQUANT_GGUF_Q5_0] = {32, 22, q5_0},   [DEQUANT_GGUF_Q5_1] = {32, 24, q5_1},
    [DEQUANT_GGUF_Q8_0] = {32, 34, q8_0},   [DEQUANT_GGUF_IQ4_NL] = {32, 18, iq4_nl},
    [DEQUANT_GGUF_MXFP4] = {32, 17, mxfp4}, [DEQUANT_GGUF_Q2_K] = {256, 84, q2_K},
    [DEQUANT_GGUF_Q3_K] = {256, 110, q3_K}, [DEQUANT_GGUF_Q4_K] = {256, 144, q4_K},
    [DEQUANT_GGUF_Q5_K] = {256, 176, q5_K}, [DEQUANT_GGUF_Q6_K] = {256, 210, q6_K},
};

unsigned dequant_gguf_values(enum dequant_kind kind)
{
    return types[kind].values;
}

unsigned dequant_gguf_bytes(enum dequant_kind kind)
{
    return types[kind].bytes;
}

/* Rows are whole blocks, one behind the other. */
void dequant_gguf_rows(const struct dequant_matrix *m, uint64_t row, uint64_t count, float *ret_w)
{
    unsigned values = types[m->kind].values, bytes = types[m->kind].bytes;
    uint64_t blocks = m->cols / values;
    const uint8_t *b = (const uint8_t *)m->weight + row * blocks * bytes;

    for (uint64_t i = 0; i < count * blocks; i++, b += bytes, ret_w += values)
        types[m->kind].block(b, ret_w);
}
