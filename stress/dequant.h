#ifndef STRESS_DEQUANT_H
#define STRESS_DEQUANT_H
#include "core/err.h"
#include "model/dtype.h"
#include <stddef.h>
#include <stdint.h>

/* Quantized weights to F32: the dequant.KIND operators of the conformance SPEC, which says for each
 * kind how its numbers are stored and what they mean. */
enum dequant_kind {
    DEQUANT_CT_PACK,
    DEQUANT_CT_INT8,
    DEQUANT_AWQ,
    DEQUANT_GPTQ,
    DEQUANT_FP8_BLOCK,
    DEQUANT_FP8_TENSOR,
    DEQUANT_FP8_CHANNEL,
    DEQUANT_CT_MXFP4,
    DEQUANT_GPTOSS_MXFP4,
    DEQUANT_CT_NVFP4,
    DEQUANT_MODELOPT_NVFP4,
    DEQUANT_GGUF_Q4_0, /* the first of the GGUF kinds */
    DEQUANT_GGUF_Q4_1,
    DEQUANT_GGUF_Q5_0,
    DEQUANT_GGUF_Q5_1,
    DEQUANT_GGUF_Q8_0,
    DEQUANT_GGUF_IQ4_NL,
    DEQUANT_GGUF_MXFP4,
    DEQUANT_GGUF_Q2_K,
    DEQUANT_GGUF_Q3_K,
    DEQUANT_GGUF_Q4_K,
    DEQUANT_GGUF_Q5_K,
    DEQUANT_GGUF_Q6_K,
    DEQUANT_KINDS
};

#define DEQUANT_ROWS_MAX (1ull << 32)
#define DEQUANT_COLS_MAX (1ull << 26)

/* One matrix as it is stored. rows are output features and cols input features, also where the
 * format stores the transpose. Arrays are aligned to their elements; words are little-endian. */
struct dequant_matrix {
    enum dequant_kind kind;
    uint64_t rows, cols;
    uint64_t group;      /* columns that share a scale: group_size, block_cols; not read for GGUF */
    uint64_t block_rows; /* rows that share a scale: of the FP8 kinds; 1 for the others */
    unsigned bits;       /* of a packed number: ct_pack 4 or 8, gptq 2, 4 or 8; else not read */
    unsigned zero_offset;   /* gptq: 1, of gptq_v2 0; else not read */
    enum dtype scale_dtype; /* F32, F16 or BF16; fp8_block also F8_E8M0; else not read */
    float global;           /* weight_global_scale of ct_nvfp4, weight_scale_2 of modelopt_nvfp4 */
    const void *weight;     /* weight_packed, qweight, blocks, data */
    const void *scale;      /* NULL for GGUF, which keeps its scales in the blocks */
    const void *zero;       /* NULL: symmetric. Never NULL for awq and gptq */
    const int32_t *g_idx;   /* [cols] of 0 to cols/group - 1, or NULL: column / group */
};

/* Bytes of the arrays of a matrix; 0 for those that the kind has not. */
struct dequant_bytes {
    uint64_t weight, scale, zero, g_idx;
};

/* Whether the shape is one that the kind can store, and what its arrays take; the pointers are not
 * read, but zero and g_idx count only where they are not NULL (awq and gptq: always zero).
 * ERR_FORMAT with the reason otherwise. */
int dequant_check(const struct dequant_matrix *m, struct dequant_bytes *ret, struct err *e);

/* Rows row to row + count - 1 into ret_w [count][cols]. m is as dequant_check wants it. Codes that
 * mean NaN (0x7f of E4M3, 255 of E8M0) give NaN. Does not allocate. Variants give the bits of the
 * definition, the sign of zero included. */
typedef void dequant_rows_fn(const struct dequant_matrix *m, uint64_t row, uint64_t count,
                             float *ret_w);

struct dequant_ops {
    dequant_rows_fn *rows;
    const char *variant;
};
void dequant_init(struct dequant_ops *ops, enum dequant_kind kind, unsigned cpu_mask);

const char *dequant_name(enum dequant_kind kind); /* "ct_pack": KIND, without "dequant." */
/* The kind of that name, or DEQUANT_KINDS. */
enum dequant_kind dequant_find(const char *name);

/* The variants, for dequant_init: each puts itself over what is there if it has the kind. */
void dequant_avx2(struct dequant_ops *ops, enum dequant_kind kind);
void dequant_avx512(struct dequant_ops *ops, enum dequant_kind kind);

#endif
