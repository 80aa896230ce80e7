#include "stress/conformance_dequant.h"
#include "core/cpu.h"
#include "stress/dequant.h"
#include "stress/dequant_gguf.h"
#include "stress/dequant_number.h"
#include <math.h>
#include <string.h>

static const unsigned masks[] = {0, CPU_AVX2, CPU_AVX2 | CPU_AVX512};
#define MASKS (sizeof(masks) / sizeof(masks[0]))

/* n / d, or 0, which no dimension of a file has. */
static uint64_t over(uint64_t n, uint64_t d)
{
    return d ? n / d : 0;
}

static void check_scales(struct conformance_case *c, const char *name, enum dtype t,
                         const void *scales, uint64_t n)
{
    for (uint64_t i = 0; scales && i < n; i++) {
        float x = t == DTYPE_F8_E4M3 ? dequant_number_e4m3(((const uint8_t *)scales)[i])
                                     : dequant_number_scale(t, scales, i);
        if (!isfinite(x)) {
            err_set(&c->e, ERR_FORMAT, "tensor %s holds %g at element %llu", name, (double)x,
                    (unsigned long long)i);
            return;
        }
    }
}

/* Scales [rows][cols] of one of the dtypes that a scale may have. */
static const void *scales(struct conformance_case *c, const char *name, uint64_t rows,
                          uint64_t cols, enum dtype *ret_dtype)
{
    enum dtype t = conformance_case_dtype(c, name);
    bool known = t == DTYPE_F16 || t == DTYPE_BF16 || t == DTYPE_F8_E8M0;
    const void *x;

    *ret_dtype = known ? t : DTYPE_F32; /* of which a failure then speaks */
    x = conformance_case_stored(c, name, *ret_dtype, &rows, &cols, NULL);
    check_scales(c, name, *ret_dtype, x, rows * cols);
    return x;
}

/* The only element of a tensor of shape [] or [1]. */
static const void *scalar(struct conformance_case *c, const char *name, enum dtype *ret_dtype)
{
    enum dtype t = conformance_case_dtype(c, name);
    uint64_t one = 1;
    const void *x;

    *ret_dtype = t == DTYPE_BF16 || t == DTYPE_F16 ? t : DTYPE_F32;
    x = conformance_case_dims(c, name) ? conformance_case_stored(c, name, *ret_dtype, &one, NULL)
                                       : conformance_case_stored(c, name, *ret_dtype, NULL);
    check_scales(c, name, *ret_dtype, x, 1);
    return x;
}

static void take_groups(struct conformance_case *c, struct dequant_matrix *m, const char *name)
{
    uint64_t cols = m->cols, groups = over(m->cols, m->group);

    if (!conformance_case_has(c, name))
        return;
    m->g_idx = conformance_case_stored(c, name, DTYPE_I32, &cols, NULL);
    for (uint64_t i = 0; m->g_idx && i < cols; i++) {
        if (m->g_idx[i] < 0 || (uint64_t)m->g_idx[i] >= groups) {
            err_set(&c->e, ERR_FORMAT, "tensor %s holds %d at element %llu; there are %llu groups",
                    name, m->g_idx[i], (unsigned long long)i, (unsigned long long)groups);
            return;
        }
    }
}

static void take_pack(struct conformance_case *c, struct dequant_matrix *m)
{
    uint64_t rows = m->rows, groups, words, zeros, two = 2;

    m->bits = (unsigned)conformance_case_count(c, "bits");
    m->group = conformance_case_count(c, "group_size");
    groups = over(m->cols, m->group);
    words = (m->cols * m->bits + 31) / 32;
    zeros = (rows * m->bits + 31) / 32;
    m->weight = conformance_case_stored(c, "in.weight_packed", DTYPE_I32, &rows, &words, NULL);
    m->scale = scales(c, "in.weight_scale", rows, groups, &m->scale_dtype);
    if (!conformance_case_count(c, "symmetric"))
        m->zero =
            conformance_case_stored(c, "in.weight_zero_point", DTYPE_I32, &zeros, &groups, NULL);
    take_groups(c, m, "in.weight_g_idx");
    const int64_t *shape = conformance_case_i64(c, "in.weight_shape", &two, NULL);
    if (shape && (shape[0] != (int64_t)m->rows || shape[1] != (int64_t)m->cols))
        err_set(&c->e, ERR_FORMAT, "tensor in.weight_shape says %lld x %lld, not rows x cols",
                (long long)shape[0], (long long)shape[1]);
}

static void take_int8(struct conformance_case *c, struct dequant_matrix *m)
{
    uint64_t rows = m->rows, cols = m->cols, groups;

    m->group = conformance_case_count(c, "group_size");
    groups = over(cols, m->group);
    m->weight = conformance_case_stored(c, "in.weight", DTYPE_I8, &rows, &cols, NULL);
    m->scale = scales(c, "in.weight_scale", rows, groups, &m->scale_dtype);
    if (!conformance_case_count(c, "symmetric"))
        m->zero =
            conformance_case_stored(c, "in.weight_zero_point", DTYPE_I8, &rows, &groups, NULL);
}

static void take_transposed(struct conformance_case *c, struct dequant_matrix *m)
{
    uint64_t rows = m->rows, cols = m->cols, groups, tall, wide;
    bool gptq = m->kind == DEQUANT_GPTQ;

    m->bits = gptq ? (unsigned)conformance_case_count(c, "bits") : 4;
    m->zero_offset = gptq ? (unsigned)conformance_case_count(c, "zero_offset") : 0;
    m->group = conformance_case_count(c, "group_size");
    groups = over(cols, m->group);
    tall = cols * m->bits / 32;
    wide = rows * m->bits / 32;
    if (gptq)
        m->weight = conformance_case_stored(c, "in.qweight", DTYPE_I32, &tall, &rows, NULL);
    else
        m->weight = conformance_case_stored(c, "in.qweight", DTYPE_I32, &cols, &wide, NULL);
    m->zero = conformance_case_stored(c, "in.qzeros", DTYPE_I32, &groups, &wide, NULL);
    m->scale = scales(c, "in.scales", groups, rows, &m->scale_dtype);
    if (m->scale && m->scale_dtype != DTYPE_F16)
        err_set(&c->e, ERR_FORMAT, "tensor in.scales is %s; F16 is wanted",
                dtype_name(m->scale_dtype));
    if (gptq)
        take_groups(c, m, "in.g_idx");
}

static void take_fp8(struct conformance_case *c, struct dequant_matrix *m)
{
    uint64_t rows = m->rows, cols = m->cols;

    m->weight = conformance_case_stored(c, "in.weight", DTYPE_F8_E4M3, &rows, &cols, NULL);
    m->group = cols;
    if (m->kind == DEQUANT_FP8_TENSOR) {
        m->block_rows = rows;
        m->scale = scalar(c, "in.weight_scale", &m->scale_dtype);
    } else if (m->kind == DEQUANT_FP8_CHANNEL) {
        m->scale = scales(c, "in.weight_scale", rows, 1, &m->scale_dtype);
    } else {
        m->block_rows = conformance_case_count(c, "block_rows");
        m->group = conformance_case_count(c, "block_cols");
        m->scale = scales(c, "in.weight_scale_inv", over(rows + m->block_rows - 1, m->block_rows),
                          over(cols + m->group - 1, m->group), &m->scale_dtype);
    }
}

static void take_fp4(struct conformance_case *c, struct dequant_matrix *m)
{
    static const char *const names[][2] = {{"in.weight_packed", NULL},
                                           {"in.weight_packed", "in.weight_global_scale"},
                                           {"in.weight", "in.weight_scale_2"}};
    unsigned at = m->kind == DEQUANT_CT_MXFP4 ? 0 : m->kind == DEQUANT_CT_NVFP4 ? 1 : 2;
    uint64_t rows = m->rows, bytes = m->cols / 2, groups;
    enum dtype t = at ? DTYPE_F8_E4M3 : DTYPE_U8;

    m->group = conformance_case_count(c, "group_size");
    groups = over(m->cols, m->group);
    m->weight = conformance_case_stored(c, names[at][0], DTYPE_U8, &rows, &bytes, NULL);
    m->scale = conformance_case_stored(c, "in.weight_scale", t, &rows, &groups, NULL);
    check_scales(c, "in.weight_scale", at ? t : DTYPE_F8_E8M0, m->scale, rows * groups);
    if (!at)
        return;
    const void *global = scalar(c, names[at][1], &m->scale_dtype);
    if (global)
        m->global = dequant_number_scale(m->scale_dtype, global, 0);
    if (global && m->global == 0 && m->kind == DEQUANT_CT_NVFP4)
        err_set(&c->e, ERR_FORMAT, "tensor %s is 0", names[at][1]);
}

/* The experts' rows lie one below the other: how many experts there are does not matter. */
static void take_gptoss(struct conformance_case *c, struct dequant_matrix *m)
{
    uint64_t experts = 0, rows = 0, blocks = m->cols / 32, bytes = 16;

    m->group = 32;
    m->weight =
        conformance_case_stored(c, "in.blocks", DTYPE_U8, &experts, &rows, &blocks, &bytes, NULL);
    m->scale = conformance_case_stored(c, "in.scales", DTYPE_U8, &experts, &rows, &blocks, NULL);
    check_scales(c, "in.scales", DTYPE_F8_E8M0, m->scale, experts * rows * blocks);
    if (!conformance_case_failed(c) && experts * rows != m->rows)
        err_set(&c->e, ERR_FORMAT, "tensor in.blocks has %llu rows in %llu experts; rows is %llu",
                (unsigned long long)rows, (unsigned long long)experts, (unsigned long long)m->rows);
}

static void take_gguf(struct conformance_case *c, struct dequant_matrix *m)
{
    uint64_t rows = m->rows;
    uint64_t bytes = m->cols / dequant_gguf_values(m->kind) * dequant_gguf_bytes(m->kind);

    m->weight = conformance_case_stored(c, "in.data", DTYPE_U8, &rows, &bytes, NULL);
}

static void take(struct conformance_case *c, struct dequant_matrix *m)
{
    switch (m->kind) {
    case DEQUANT_CT_PACK: take_pack(c, m); break;
    case DEQUANT_CT_INT8: take_int8(c, m); break;
    case DEQUANT_AWQ:
    case DEQUANT_GPTQ: take_transposed(c, m); break;
    case DEQUANT_FP8_BLOCK:
    case DEQUANT_FP8_TENSOR:
    case DEQUANT_FP8_CHANNEL: take_fp8(c, m); break;
    case DEQUANT_CT_MXFP4:
    case DEQUANT_CT_NVFP4:
    case DEQUANT_MODELOPT_NVFP4: take_fp4(c, m); break;
    case DEQUANT_GPTOSS_MXFP4: take_gptoss(c, m); break;
    default: take_gguf(c, m); break;
    }
}

/* A dimension of an array that does not come out is 0, which a tensor's shape sets and does not
 * meet: dequant_check refuses such a matrix before anything reads it. */
void conformance_dequant(struct conformance_case *c, unsigned cpu_mask)
{
    const char *op = conformance_case_text(c, "op"), *last = "";
    struct dequant_matrix m = {.block_rows = 1};
    struct dequant_bytes bytes;
    struct dequant_ops ops;

    if (!op) /* the case failed before this */
        return;
    m.kind = dequant_find(op + strlen("dequant."));
    m.rows = conformance_case_count(c, "rows");
    m.cols = conformance_case_count(c, "cols");
    if (!conformance_case_failed(c) && (m.rows == 0 || m.cols == 0))
        err_set(&c->e, ERR_FORMAT, "parameter rows or cols is 0");
    take(c, &m);
    const float *want = conformance_case_f32(c, "out.w", &m.rows, &m.cols, NULL);
    conformance_case_all_used(c);
    if (conformance_case_failed(c) || dequant_check(&m, &bytes, &c->e))
        return;
    float *got = conformance_case_alloc(c, m.rows * m.cols, sizeof(float));
    for (unsigned i = 0; got && i < MASKS; i++) {
        dequant_init(&ops, m.kind, masks[i]);
        if ((masks[i] & cpu_mask) != masks[i] || strcmp(last, ops.variant) == 0)
            continue;
        last = ops.variant;
        ops.rows(&m, 0, m.rows, got);
        conformance_case_compare(c, "w", ops.variant, got, want, m.rows * m.cols);
    }
}
