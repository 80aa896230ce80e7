#include "stress/dequant_packed.h"
#include "stress/dequant_number.h"

/* The group whose scale and zero point are at hand. */
struct group {
    uint64_t index;
    int zero;
    float scale;
};

static uint64_t group_of(const struct dequant_matrix *m, uint64_t c)
{
    return m->g_idx ? (uint64_t)m->g_idx[c] : c / m->group;
}

/* Zero points are packed along the rows: field r of column g. */
static struct group ct_group(const struct dequant_matrix *m, uint64_t r, uint64_t g)
{
    uint64_t groups = m->cols / m->group, at = r * m->bits;
    int zero = 1 << (m->bits - 1);

    if (m->zero) {
        const uint8_t *word = (const uint8_t *)m->zero + (at / 32 * groups + g) * 4;
        zero = (int)dequant_number_field(word, at % 32 / m->bits, m->bits);
    }
    return (struct group){g, zero, dequant_number_scale(m->scale_dtype, m->scale, r * groups + g)};
}

void dequant_packed_ct(const struct dequant_matrix *m, uint64_t row, uint64_t count, float *ret_w)
{
    uint64_t row_bytes = (m->cols * m->bits + 31) / 32 * 4;

    for (uint64_t r = row; r < row + count; r++) {
        const uint8_t *words = (const uint8_t *)m->weight + r * row_bytes;
        struct group x = ct_group(m, r, group_of(m, 0));
        for (uint64_t c = 0; c < m->cols; c++) {
            uint64_t g = group_of(m, c);
            if (g != x.index)
                x = ct_group(m, r, g);
            *ret_w++ = (float)((int)dequant_number_field(words, c, m->bits) - x.zero) * x.scale;
        }
    }
}

void dequant_packed_int8(const struct dequant_matrix *m, uint64_t row, uint64_t count, float *ret_w)
{
    const int8_t *weight = (const int8_t *)m->weight + row * m->cols, *zero = m->zero;
    uint64_t groups = m->cols / m->group;

    for (uint64_t r = row; r < row + count; r++) {
        for (uint64_t g = 0; g < groups; g++) {
            uint64_t at = r / m->block_rows * groups + g;
            float scale = dequant_number_scale(m->scale_dtype, m->scale, at);
            int z = zero ? zero[at] : 0;
            for (uint64_t i = 0; i < m->group; i++)
                *ret_w++ = (float)(*weight++ - z) * scale;
        }
    }
}

/* Row r lies in nibble place[r % 8] of word r / 8: AutoAWQ's interleave. */
void dequant_packed_awq(const struct dequant_matrix *m, uint64_t row, uint64_t count, float *ret_w)
{
    static const uint8_t place[8] = {0, 4, 1, 5, 2, 6, 3, 7};
    uint64_t groups = m->cols / m->group;

    for (uint64_t r = row; r < row + count; r++) {
        uint64_t field = r / 8 * 8 + place[r % 8];
        for (uint64_t g = 0; g < groups; g++) {
            float scale = dequant_number_scale(DTYPE_F16, m->scale, g * m->rows + r);
            int z = (int)dequant_number_field(m->zero, g * m->rows + field, 4);
            for (uint64_t c = g * m->group; c < (g + 1) * m->group; c++) {
                int q = (int)dequant_number_field(m->weight, c * m->rows + field, 4);
                *ret_w++ = (float)(q - z) * scale;
            }
        }
    }
}

static struct group gptq_group(const struct dequant_matrix *m, uint64_t r, uint64_t g)
{
    uint64_t at = g * m->rows + r;

    return (struct group){g, (int)(dequant_number_field(m->zero, at, m->bits) + m->zero_offset),
                          dequant_number_scale(DTYPE_F16, m->scale, at)};
}

void dequant_packed_gptq(const struct dequant_matrix *m, uint64_t row, uint64_t count, float *ret_w)
{
    unsigned per_word = 32 / m->bits;

    for (uint64_t r = row; r < row + count; r++) {
        struct group x = gptq_group(m, r, group_of(m, 0));
        for (uint64_t c = 0; c < m->cols; c++) {
            uint64_t g = group_of(m, c);
            const uint8_t *word = (const uint8_t *)m->weight + (c / per_word * m->rows + r) * 4;
            if (g != x.index)
                x = gptq_group(m, r, g);
            *ret_w++ =
                (float)((int)dequant_number_field(word, c % per_word, m->bits) - x.zero) * x.scale;
        }
    }
}

/* Edge blocks are partial. */
void dequant_packed_fp8(const struct dequant_matrix *m, uint64_t row, uint64_t count, float *ret_w)
{
    const uint8_t *weight = (const uint8_t *)m->weight + row * m->cols;
    uint64_t groups = (m->cols + m->group - 1) / m->group;

    for (uint64_t r = row; r < row + count; r++) {
        for (uint64_t g = 0; g < groups; g++) {
            uint64_t at = r / m->block_rows * groups + g, left = m->cols - g * m->group;
            float scale = dequant_number_scale(m->scale_dtype, m->scale, at);
            for (uint64_t i = 0; i < m->group && i < left; i++)
                *ret_w++ = dequant_number_e4m3(*weight++) * scale;
        }
    }
}

float dequant_packed_scale(const struct dequant_matrix *m, uint64_t group)
{
    uint8_t code = ((const uint8_t *)m->scale)[group];

    if (m->kind == DEQUANT_CT_NVFP4)
        return dequant_number_e4m3(code) / m->global;
    if (m->kind == DEQUANT_MODELOPT_NVFP4)
        return dequant_number_e4m3(code) * m->global;
    return dequant_number_e8m0(code);
}

/* Groups are whole within a row, and rows one behind the other: so the groups are a list. */
void dequant_packed_fp4(const struct dequant_matrix *m, uint64_t row, uint64_t count, float *ret_w)
{
    const uint8_t *weight = m->weight;
    uint64_t groups = m->cols / m->group;

    for (uint64_t g = row * groups; g < (row + count) * groups; g++) {
        float scale = dequant_packed_scale(m, g);
        for (uint64_t i = g * m->group; i < (g + 1) * m->group; i++)
            *ret_w++ = dequant_number_e2m1[weight[i / 2] >> i % 2 * 4 & 15] * scale;
    }
}
