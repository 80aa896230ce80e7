#include "stress/dequant.h"
#include "core/cpu.h"
#include "stress/dequant_gguf.h"
#include "stress/dequant_packed.h"
#include <stdbool.h>
#include <string.h>

static const struct {
    const char *name;
    dequant_rows_fn *rows; /* the definition */
    unsigned bits;         /* of a number; 0: as the matrix says, in words, or GGUF */
} kinds[DEQUANT_KINDS] = {
    [DEQUANT_CT_PACK] = {"ct_pack", dequant_packed_ct, 0},
    [DEQUANT_CT_INT8] = {"ct_int8", dequant_packed_int8, 8},
    [DEQUANT_AWQ] = {"awq", dequant_packed_awq, 4},
    [DEQUANT_GPTQ] = {"gptq", dequant_packed_gptq, 0},
    [DEQUANT_FP8_BLOCK] = {"fp8_block", dequant_packed_fp8, 8},
    [DEQUANT_FP8_TENSOR] = {"fp8_tensor", dequant_packed_fp8, 8},
    [DEQUANT_FP8_CHANNEL] = {"fp8_channel", dequant_packed_fp8, 8},
    [DEQUANT_CT_MXFP4] = {"ct_mxfp4", dequant_packed_fp4, 4},
    [DEQUANT_GPTOSS_MXFP4] = {"gptoss_mxfp4", dequant_packed_fp4, 4},
    [DEQUANT_CT_NVFP4] = {"ct_nvfp4", dequant_packed_fp4, 4},
    [DEQUANT_MODELOPT_NVFP4] = {"modelopt_nvfp4", dequant_packed_fp4, 4},
    [DEQUANT_GGUF_Q4_0] = {"gguf_q4_0", dequant_gguf_rows, 0},
    [DEQUANT_GGUF_Q4_1] = {"gguf_q4_1", dequant_gguf_rows, 0},
    [DEQUANT_GGUF_Q5_0] = {"gguf_q5_0", dequant_gguf_rows, 0},
    [DEQUANT_GGUF_Q5_1] = {"gguf_q5_1", dequant_gguf_rows, 0},
    [DEQUANT_GGUF_Q8_0] = {"gguf_q8_0", dequant_gguf_rows, 0},
    [DEQUANT_GGUF_IQ4_NL] = {"gguf_iq4_nl", dequant_gguf_rows, 0},
    [DEQUANT_GGUF_MXFP4] = {"gguf_mxfp4", dequant_gguf_rows, 0},
    [DEQUANT_GGUF_Q2_K] = {"gguf_q2_K", dequant_gguf_rows, 0},
    [DEQUANT_GGUF_Q3_K] = {"gguf_q3_K", dequant_gguf_rows, 0},
    [DEQUANT_GGUF_Q4_K] = {"gguf_q4_K", dequant_gguf_rows, 0},
    [DEQUANT_GGUF_Q5_K] = {"gguf_q5_K", dequant_gguf_rows, 0},
    [DEQUANT_GGUF_Q6_K] = {"gguf_q6_K", dequant_gguf_rows, 0},
};

const char *dequant_name(enum dequant_kind kind)
{
    return kinds[kind].name;
}

enum dequant_kind dequant_find(const char *name)
{
    for (int i = 0; i < DEQUANT_KINDS; i++) {
        if (strcmp(kinds[i].name, name) == 0)
            return (enum dequant_kind)i;
    }
    return DEQUANT_KINDS;
}

void dequant_init(struct dequant_ops *ops, enum dequant_kind kind, unsigned cpu_mask)
{
    ops->rows = kinds[kind].rows;
    ops->variant = "c";
#if defined(__x86_64__)
    if (cpu_mask & CPU_AVX2)
        dequant_avx2(ops, kind);
    if (cpu_mask & CPU_AVX512)
        dequant_avx512(ops, kind);
#else
    (void)cpu_mask;
#endif
}

static int refuse(const struct dequant_matrix *m, struct err *e, const char *why)
{
    return err_set(e, ERR_FORMAT, "%s cannot store %llu x %llu numbers: %s", kinds[m->kind].name,
                   (unsigned long long)m->rows, (unsigned long long)m->cols, why);
}

static bool has_bits(const struct dequant_matrix *m)
{
    return m->bits == 4 || m->bits == 8 || (m->bits == 2 && m->kind == DEQUANT_GPTQ);
}

static bool is_fp8(enum dequant_kind kind)
{
    return kind == DEQUANT_FP8_BLOCK || kind == DEQUANT_FP8_TENSOR || kind == DEQUANT_FP8_CHANNEL;
}

/* Of one scale; 0 if its dtype is none that the kind has. */
static uint64_t scale_bytes(const struct dequant_matrix *m)
{
    if (m->kind >= DEQUANT_CT_MXFP4)
        return 1;
    if (m->kind == DEQUANT_AWQ || m->kind == DEQUANT_GPTQ)
        return 2;
    switch (m->scale_dtype) {
    case DTYPE_F32: return 4;
    case DTYPE_F16:
    case DTYPE_BF16: return 2;
    case DTYPE_F8_E8M0: return m->kind == DEQUANT_FP8_BLOCK ? 1 : 0;
    default: return 0;
    }
}

/* What a shape of a kind with scales in a tensor of their own has to be. */
static int check_packed(const struct dequant_matrix *m, struct err *e)
{
    bool words = !kinds[m->kind].bits;

    if (m->group == 0 || m->group > DEQUANT_COLS_MAX)
        return refuse(m, e, "a group has no columns, or too many");
    if (!is_fp8(m->kind) && m->cols % m->group)
        return refuse(m, e, "the last group would not be whole");
    if (m->block_rows == 0 || (m->block_rows > 1 && !is_fp8(m->kind) && m->kind != DEQUANT_CT_INT8))
        return refuse(m, e, "a scale is for one row");
    if (words && !has_bits(m))
        return refuse(m, e, "the number of bits is none that is read");
    if (m->kind == DEQUANT_AWQ && m->rows % 8)
        return refuse(m, e, "rows come in words of 8");
    if (m->kind == DEQUANT_GPTQ && (m->rows * m->bits % 32 || m->cols * m->bits % 32))
        return refuse(m, e, "rows and columns fill whole words");
    if (m->kind >= DEQUANT_CT_MXFP4 && m->group % 2)
        return refuse(m, e, "a group fills whole bytes");
    if (m->g_idx && !words)
        return refuse(m, e, "its groups are not listed column by column");
    if (!scale_bytes(m))
        return refuse(m, e, "the scale has a dtype that is not read");
    return 0;
}

/* Of the array of zero points: ct_pack's words run down the rows, one column a group. */
static uint64_t zero_bytes(const struct dequant_matrix *m, unsigned bits, uint64_t groups)
{
    switch (m->kind) {
    case DEQUANT_CT_PACK: return m->zero ? (m->rows * bits + 31) / 32 * 4 * groups : 0;
    case DEQUANT_CT_INT8:
        return m->zero ? (m->rows + m->block_rows - 1) / m->block_rows * groups : 0;
    case DEQUANT_AWQ:
    case DEQUANT_GPTQ: return groups * (m->rows * bits / 8);
    default: return 0;
    }
}

int dequant_check(const struct dequant_matrix *m, struct dequant_bytes *ret, struct err *e)
{
    unsigned values = dequant_gguf_values(m->kind), bits = kinds[m->kind].bits;
    uint64_t rows = m->rows, cols = m->cols;

    if (rows == 0 || rows > DEQUANT_ROWS_MAX || cols == 0 || cols > DEQUANT_COLS_MAX)
        return refuse(m, e, "a dimension is 0 or over the limit");
    if (values && cols % values)
        return refuse(m, e, "a row is no whole number of blocks");
    if (values) {
        *ret =
            (struct dequant_bytes){.weight = rows * (cols / values) * dequant_gguf_bytes(m->kind)};
        return 0;
    }
    if (check_packed(m, e))
        return e->code;
    /* 2^32 rows of 2^26 columns of 32 bits are 63 bits of bits. */
    if (!bits)
        bits = m->bits;
    uint64_t groups = (cols + m->group - 1) / m->group;
    uint64_t scales = (rows + m->block_rows - 1) / m->block_rows * groups;
    bool words = m->kind == DEQUANT_CT_PACK; /* that end with each row */
    *ret = (struct dequant_bytes){.weight = words ? rows * ((cols * bits + 31) / 32 * 4)
                                                  : rows * cols * bits / 8,
                                  .scale = scales * scale_bytes(m),
                                  .zero = zero_bytes(m, bits, groups),
                                  .g_idx = m->g_idx ? cols * sizeof(int32_t) : 0};
    return 0;
}
