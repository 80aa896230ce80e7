#include "stress/dequant_synthetic.h"
#include "core/mem.h"
#include "stress/dequant_gguf.h"
#include "stress/seed.h"
#include <stdlib.h>
#include <string.h>

/* bytes of memory with random bits, of which each byte is masked. */
static void *noise(uint64_t bytes, uint8_t mask, uint64_t *seed, struct err *e)
{
    uint64_t all = 0x0101010101010101u * mask;
    void *p;

    if (mem_try((bytes + 7) / 8, 8, &p, e) != 0)
        return NULL;
    for (uint64_t i = 0; i < (bytes + 7) / 8; i++)
        ((uint64_t *)p)[i] = seed_next(seed) & all;
    return p;
}

static void put_half(uint8_t *p, uint64_t *seed)
{
    uint16_t half = (uint16_t)(0x2000 | (seed_next(seed) & 0x3ff)); /* 2^-7 to 2^-6 */

    memcpy(p, &half, sizeof(half));
}

/* The halves of each GGUF block, or its exponent. */
static void put_heads(const struct dequant_matrix *m, uint8_t *b, uint64_t bytes, uint64_t *seed)
{
    static const struct {
        uint8_t at, count; /* the first half, and how many there are */
    } heads[DEQUANT_KINDS] = {
        [DEQUANT_GGUF_Q4_0] = {0, 1},   [DEQUANT_GGUF_Q4_1] = {0, 2},
        [DEQUANT_GGUF_Q5_0] = {0, 1},   [DEQUANT_GGUF_Q5_1] = {0, 2},
        [DEQUANT_GGUF_Q8_0] = {0, 1},   [DEQUANT_GGUF_IQ4_NL] = {0, 1},
        [DEQUANT_GGUF_Q2_K] = {80, 2},  [DEQUANT_GGUF_Q3_K] = {108, 1},
        [DEQUANT_GGUF_Q4_K] = {0, 2},   [DEQUANT_GGUF_Q5_K] = {0, 2},
        [DEQUANT_GGUF_Q6_K] = {208, 1},
    };
    unsigned step = dequant_gguf_bytes(m->kind);

    for (uint64_t i = 0; i < bytes; i += step) {
        for (unsigned j = 0; j < heads[m->kind].count; j++)
            put_half(b + i + heads[m->kind].at + 2 * j, seed);
        if (m->kind == DEQUANT_GGUF_MXFP4)
            b[i] = (uint8_t)(120 + b[i] % 8);
    }
}

static void put_scales(const struct dequant_matrix *m, void *scales, uint64_t bytes, uint64_t *seed)
{
    bool fp4 = m->kind >= DEQUANT_CT_MXFP4;
    bool e4m3 = m->kind == DEQUANT_CT_NVFP4 || m->kind == DEQUANT_MODELOPT_NVFP4;
    uint8_t *p = scales;

    if (fp4 || m->scale_dtype == DTYPE_F8_E8M0) {
        for (uint64_t i = 0; i < bytes; i++)
            p[i] = (uint8_t)(e4m3 ? 0x30 + p[i] % 16 : 120 + p[i] % 8);
    } else if (m->scale_dtype == DTYPE_F32) {
        for (uint64_t i = 0; i < bytes / 4; i++)
            ((uint32_t *)scales)[i] = 0x3c000000u | ((uint32_t *)scales)[i] >> 9;
    } else if (m->scale_dtype == DTYPE_BF16) {
        for (uint64_t i = 0; i < bytes / 2; i++)
            ((uint16_t *)scales)[i] = (uint16_t)(0x3c00 | (((uint16_t *)scales)[i] & 0x7f));
    } else {
        for (uint64_t i = 0; i < bytes / 2; i++)
            put_half(p + 2 * i, seed);
    }
}

int dequant_synthetic_open(const struct dequant_matrix *shape, uint64_t seed,
                           struct dequant_synthetic *ret, struct err *e)
{
    struct dequant_synthetic s = {.m = *shape};
    struct dequant_bytes b;
    struct err first = {0};
    bool fp8 = shape->kind >= DEQUANT_FP8_BLOCK && shape->kind <= DEQUANT_FP8_CHANNEL;

    if (dequant_check(shape, &b, e))
        return e->code;
    const uint64_t bytes[4] = {b.weight, b.scale, b.zero, b.g_idx};
    for (unsigned i = 0; i < 4 && !first.code; i++) {
        s.stored_bytes += bytes[i];
        if (bytes[i]) /* E4M3 without its highest exponents, in which NaN is */
            s.arrays[i] = noise(bytes[i], fp8 && i == 0 ? 0xbf : 0xff, &seed, &first);
    }
    if (first.code) {
        dequant_synthetic_close(&s);
        *e = first;
        return e->code;
    }
    int32_t *g_idx = s.arrays[3];
    for (uint64_t i = 0; g_idx && i < s.m.cols; i++)
        g_idx[i] = (int32_t)((uint32_t)g_idx[i] % (s.m.cols / s.m.group));
    if (dequant_gguf_values(s.m.kind))
        put_heads(&s.m, s.arrays[0], b.weight, &seed);
    else
        put_scales(&s.m, s.arrays[1], b.scale, &seed);
    s.m.weight = s.arrays[0];
    s.m.scale = s.arrays[1];
    s.m.zero = s.arrays[2];
    s.m.g_idx = g_idx;
    s.m.global = s.m.kind == DEQUANT_CT_NVFP4 ? 0x1p7f : 0x1p-7f;
    *ret = s;
    return 0;
}

void dequant_synthetic_close(struct dequant_synthetic *s)
{
    for (unsigned i = 0; i < 4; i++)
        free(s->arrays[i]);
}
