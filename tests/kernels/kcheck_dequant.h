#ifndef TESTS_KERNELS_KCHECK_DEQUANT_H
#define TESTS_KERNELS_KCHECK_DEQUANT_H
#include "stress/dequant.h"
#include "tests/kernels/kcheck.h"

/* Dequantization: no bound, the bits of the definition. Arrays hold whatever bytes there are, NaN
 * and infinite scales too. Ranges of rows must be what they are in the whole. */

static void *noise(uint64_t bytes)
{
    uint8_t *p = guarded(bytes, 1);

    for (uint64_t i = 0; i < bytes; i++)
        p[i] = (uint8_t)((random_float() + 1) * 128);
    return p;
}

/* The same bits, or NaN in both: which NaN is the processor's choice. */
static void same_bits(const float *got, const float *want, uint64_t n)
{
    checks++;
    for (uint64_t i = 0; i < n; i++) {
        if (memcmp(&got[i], &want[i], sizeof(float)) == 0 || (isnan(got[i]) && isnan(want[i])))
            continue;
        fail(i, (double)got[i], (double)want[i], 0);
        return;
    }
}

static void dequant_ranges(const struct dequant_matrix *m, unsigned mask, const float *whole)
{
    struct dequant_ops ops;

    dequant_init(&ops, m->kind, mask);
    what = ops.variant;
    for (uint64_t row = 0; row < m->rows; row += 1 + row / 2) {
        for (uint64_t count = 0; row + count <= m->rows; count += 1 + count) {
            unsigned before = array_count;
            float *got = guarded(count * m->cols, sizeof(float));
            memset(got, 0x7f, count * m->cols * sizeof(float));
            ops.rows(m, row, count, got);
            same_bits(got, whole + row * m->cols, count * m->cols);
            while (array_count > before) { /* or there would be too many */
                array_count--;
                munmap(arrays[array_count].map, arrays[array_count].bytes);
            }
        }
    }
}

static void dequant_one(const struct dequant_matrix *shape, bool zero, bool g_idx)
{
    static const int present;
    static const int32_t groups;
    struct dequant_matrix m = *shape;
    struct dequant_bytes b;
    struct dequant_ops ops;
    struct err e = {0};

    m.zero = zero ? &present : NULL;
    m.g_idx = g_idx ? &groups : NULL;
    snprintf(label, sizeof(label), "dequant %s %d x %d group %d bits %d%s%s scale %s",
             dequant_name(m.kind), (int)m.rows, (int)m.cols, (int)m.group, (int)m.bits,
             zero ? " zero" : "", g_idx ? " g_idx" : "", dtype_name(m.scale_dtype));
    what = "check";
    checks++;
    if (dequant_check(&m, &b, &e)) {
        failures++;
        puts(e.msg);
        return;
    }
    m.weight = noise(b.weight);
    m.scale = b.scale ? noise(b.scale) : NULL;
    m.zero = b.zero ? noise(b.zero) : NULL;
    m.global = m.kind == DEQUANT_CT_NVFP4 ? 1234.5f : 0.003f;
    int32_t *idx = b.g_idx ? guarded(m.cols, sizeof(int32_t)) : NULL;
    for (uint64_t i = 0; idx && i < m.cols; i++)
        idx[i] = (int32_t)((random_float() + 1) / 2 * (float)(m.cols / m.group - 1) + 0.5f);
    m.g_idx = idx;
    float *want = guarded(m.rows * m.cols, sizeof(float));
    dequant_init(&ops, m.kind, 0);
    ops.rows(&m, 0, m.rows, want);
    for (unsigned i = 0; i <= MASKS; i++) {
        unsigned mask = i ? masks[i - 1] : 0;
        if ((cpu_features() & mask) == mask)
            dequant_ranges(&m, mask, want);
    }
    release();
}

/* rows, cols, group, bits, block rows; the dtypes of scales in turn. */
struct dequant_case {
    enum dequant_kind kind;
    unsigned rows, cols, group, bits, block_rows;
    bool zero, g_idx;
};

static void dequant(void)
{
    static const enum dtype dtypes[] = {DTYPE_F32, DTYPE_BF16, DTYPE_F16, DTYPE_F8_E8M0};
    static const struct dequant_case cases[] = {{DEQUANT_CT_PACK, 5, 96, 32, 4, 1, 0, 0},
                                                {DEQUANT_CT_PACK, 13, 96, 32, 4, 1, 1, 0},
                                                {DEQUANT_CT_PACK, 9, 44, 44, 4, 1, 1, 0},
                                                {DEQUANT_CT_PACK, 3, 1, 1, 4, 1, 1, 0},
                                                {DEQUANT_CT_PACK, 7, 33, 11, 4, 1, 1, 0},
                                                {DEQUANT_CT_PACK, 6, 64, 16, 4, 1, 1, 1},
                                                {DEQUANT_CT_PACK, 3, 60, 20, 4, 1, 0, 0},
                                                {DEQUANT_CT_PACK, 6, 70, 10, 8, 1, 1, 0},
                                                {DEQUANT_CT_PACK, 6, 37, 37, 8, 1, 0, 0},
                                                {DEQUANT_CT_PACK, 4, 64, 8, 8, 1, 1, 1},
                                                {DEQUANT_CT_INT8, 5, 97, 97, 8, 1, 1, 0},
                                                {DEQUANT_CT_INT8, 4, 96, 3, 8, 1, 1, 0},
                                                {DEQUANT_CT_INT8, 7, 50, 50, 8, 7, 0, 0},
                                                {DEQUANT_CT_INT8, 1, 1, 1, 8, 1, 0, 0},
                                                {DEQUANT_AWQ, 40, 64, 32, 4, 1, 1, 0},
                                                {DEQUANT_AWQ, 8, 12, 4, 4, 1, 1, 0},
                                                {DEQUANT_AWQ, 24, 8, 8, 4, 1, 1, 0},
                                                {DEQUANT_AWQ, 16, 3, 1, 4, 1, 1, 0},
                                                {DEQUANT_GPTQ, 24, 64, 16, 4, 1, 1, 1},
                                                {DEQUANT_GPTQ, 8, 56, 56, 4, 1, 1, 0},
                                                {DEQUANT_GPTQ, 24, 24, 12, 4, 1, 1, 0},
                                                {DEQUANT_GPTQ, 12, 20, 4, 8, 1, 1, 0},
                                                {DEQUANT_GPTQ, 12, 64, 32, 8, 1, 1, 1},
                                                {DEQUANT_GPTQ, 32, 48, 16, 2, 1, 1, 0},
                                                {DEQUANT_FP8_BLOCK, 7, 23, 5, 8, 3, 0, 0},
                                                {DEQUANT_FP8_BLOCK, 5, 130, 128, 8, 2, 0, 0},
                                                {DEQUANT_FP8_BLOCK, 3, 64, 32, 8, 1, 0, 0},
                                                {DEQUANT_FP8_TENSOR, 5, 33, 33, 8, 5, 0, 0},
                                                {DEQUANT_FP8_CHANNEL, 6, 50, 50, 8, 1, 0, 0},
                                                {DEQUANT_CT_MXFP4, 5, 96, 32, 4, 1, 0, 0},
                                                {DEQUANT_CT_MXFP4, 3, 22, 22, 4, 1, 0, 0},
                                                {DEQUANT_GPTOSS_MXFP4, 6, 64, 32, 4, 1, 0, 0},
                                                {DEQUANT_CT_NVFP4, 5, 80, 16, 4, 1, 0, 0},
                                                {DEQUANT_CT_NVFP4, 70, 16, 2, 4, 1, 0, 0},
                                                {DEQUANT_MODELOPT_NVFP4, 3, 48, 16, 4, 1, 0, 0}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct dequant_case *c = &cases[i];
        for (unsigned t = 0; t < (c->kind == DEQUANT_FP8_BLOCK ? 4 : 3); t++) {
            struct dequant_matrix m = {
                .kind = c->kind,
                .rows = c->rows,
                .cols = c->cols,
                .group = c->group,
                .block_rows = c->block_rows,
                .bits = c->bits,
                .zero_offset = t % 2,
                .scale_dtype =
                    c->kind == DEQUANT_AWQ || c->kind == DEQUANT_GPTQ ? DTYPE_F16 : dtypes[t]};
            dequant_one(&m, c->zero, c->g_idx);
        }
    }
    for (int k = DEQUANT_GGUF_Q4_0; k < DEQUANT_KINDS; k++) {
        for (unsigned t = 0; t < 3; t++) {
            struct dequant_matrix m = {
                .kind = (enum dequant_kind)k, .rows = 1 + 2 * t, .cols = 256 * (t + 1)};
            dequant_one(&m, false, false);
        }
    }
}

#endif
