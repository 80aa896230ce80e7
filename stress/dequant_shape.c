#include "stress/dequant_shape.h"
#include "core/text.h"
#include <stdio.h>
#include <string.h>

#define GROUP_MAX (1u << 20) /* the largest that a format is named by */

bool dequant_shape_plain(const char *format)
{
    static const enum dtype plain[] = {DTYPE_BOOL, DTYPE_U8,   DTYPE_I8,  DTYPE_I16, DTYPE_U16,
                                       DTYPE_F16,  DTYPE_BF16, DTYPE_I32, DTYPE_U32, DTYPE_F32,
                                       DTYPE_I64,  DTYPE_U64,  DTYPE_F64, DTYPE_C64};

    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
        if (strcasecmp(format, dtype_name(plain[i])) == 0)
            return true;
    }
    return false;
}

/* True if format is the pattern with numbers from 1 to GROUP_MAX in the place of each #. */
static bool matches(const char *format, const char *pattern, unsigned *ret_a, unsigned *ret_b)
{
    unsigned *const numbers[] = {ret_a, ret_b};
    size_t n = 0;

    for (; *pattern; pattern++) {
        if (*pattern != '#') {
            if (*format++ != *pattern)
                return false;
            continue;
        }
        unsigned x = 0;
        for (; *format >= '0' && *format <= '9' && x <= GROUP_MAX; format++)
            x = 10 * x + (unsigned)(*format - '0');
        if (x == 0 || x > GROUP_MAX)
            return false;
        *numbers[n++] = x;
    }
    return *format == '\0';
}

#define ROW 0          /* a group of all columns */
#define ALL UINT32_MAX /* a block of all rows */

static const struct {
    const char *pattern; /* # is a number */
    enum dequant_kind kind;
    enum { FIXED, GROUP, BITS, BITS_GROUP, BLOCK } numbers; /* what # stands for, in order */
    unsigned bits, group;                                   /* where the name has no number */
    uint32_t block_rows;
    enum dtype scale;
} formats[] = {
    {"mxfp4-pack-quantized", DEQUANT_CT_MXFP4, FIXED, 4, 32, 1, DTYPE_F8_E8M0},
    {"nvfp4-pack-quantized", DEQUANT_CT_NVFP4, FIXED, 4, 16, 1, DTYPE_F8_E4M3},
    {"modelopt-nvfp4", DEQUANT_MODELOPT_NVFP4, FIXED, 4, 16, 1, DTYPE_F8_E4M3},
    {"mxfp4-blocks", DEQUANT_GPTOSS_MXFP4, FIXED, 4, 32, 1, DTYPE_F8_E8M0},
    {"mxfp8-quantized", DEQUANT_FP8_BLOCK, FIXED, 8, 32, 1, DTYPE_F8_E8M0},
    {"pack-quantized-int#-g#", DEQUANT_CT_PACK, BITS_GROUP, 0, 0, 1, DTYPE_BF16},
    {"pack-quantized-int#-channel", DEQUANT_CT_PACK, BITS, 0, ROW, 1, DTYPE_BF16},
    {"int8-g#", DEQUANT_CT_INT8, GROUP, 8, 0, 1, DTYPE_BF16},
    {"int8-channel", DEQUANT_CT_INT8, FIXED, 8, ROW, 1, DTYPE_BF16},
    {"int8-tensor", DEQUANT_CT_INT8, FIXED, 8, ROW, ALL, DTYPE_BF16},
    {"fp8-block-#x#", DEQUANT_FP8_BLOCK, BLOCK, 8, 0, 0, DTYPE_F32},
    {"fp8-g#", DEQUANT_FP8_BLOCK, GROUP, 8, 0, 1, DTYPE_F32},
    {"fp8-channel", DEQUANT_FP8_CHANNEL, FIXED, 8, ROW, 1, DTYPE_F32},
    {"fp8-tensor", DEQUANT_FP8_TENSOR, FIXED, 8, ROW, ALL, DTYPE_F32},
    {"gptq-int#", DEQUANT_GPTQ, BITS, 0, 128, 1, DTYPE_F16},
    {"awq-int4", DEQUANT_AWQ, FIXED, 4, 128, 1, DTYPE_F16},
};

static bool of_table(const char *format, struct dequant_matrix *m)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        unsigned a = 0, b = 0;
        if (!matches(format, formats[i].pattern, &a, &b))
            continue;
        m->kind = formats[i].kind;
        m->bits = formats[i].bits;
        m->group = formats[i].group;
        m->block_rows = formats[i].block_rows;
        m->scale_dtype = formats[i].scale;
        switch (formats[i].numbers) {
        case FIXED: break;
        case GROUP: m->group = a; break;
        case BITS: m->bits = a; break;
        case BITS_GROUP:
            m->bits = a;
            m->group = b;
            break;
        case BLOCK:
            m->block_rows = a;
            m->group = b;
            break;
        }
        return true;
    }
    return false;
}

/* "gguf-q4_k" is the kind gguf_q4_K. */
static bool of_gguf(const char *format, struct dequant_matrix *m)
{
    for (int i = DEQUANT_GGUF_Q4_0; text_starts(format, "gguf-") && i < DEQUANT_KINDS; i++) {
        if (strcasecmp(format + strlen("gguf-"),
                       dequant_name((enum dequant_kind)i) + strlen("gguf_")) == 0) {
            m->kind = (enum dequant_kind)i;
            m->group = 256; /* or 32, eight of which that is */
            return true;
        }
    }
    return false;
}

int dequant_shape_of(const char *format, uint64_t rows, uint64_t cols, struct dequant_matrix *ret,
                     struct err *e)
{
    static const int present;
    struct dequant_matrix m = {.rows = rows, .zero_offset = 1};
    struct dequant_bytes bytes;
    char plain[64];

    if (!of_table(format, &m) && !of_gguf(format, &m))
        return err_set(e, ERR_UNSUPPORTED, "no kernel here unpacks the format %s",
                       text_plain(format, plain, sizeof(plain)));
    if (m.group == ROW)
        m.group = cols;
    m.cols = (cols + m.group - 1) / m.group * m.group;
    if (m.block_rows == ALL)
        m.block_rows = rows;
    if (m.kind == DEQUANT_AWQ || m.kind == DEQUANT_GPTQ)
        m.zero = &present;
    if (dequant_check(&m, &bytes, e)) {
        e->code = ERR_UNSUPPORTED;
        return err_wrap(e, "no kernel here unpacks the format %s",
                        text_plain(format, plain, sizeof(plain)));
    }
    *ret = m;
    return 0;
}
