#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "core/cpu.h"
#include "stress/dequant.h"
#include "stress/dequant_number.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Blocks worked by hand from the published formats: the OCP MX specification, compressed-tensors,
 * AutoAWQ, AutoGPTQ, ggml-common.h. Each expectation holds for the definition and every variant. */

#define VALUES_MAX 512

static struct dequant_bytes checked(const struct dequant_matrix *m)
{
    struct dequant_bytes b;
    struct err e = {0};

    if (dequant_check(m, &b, &e))
        fail_msg("%s", e.msg);
    return b;
}

/* The whole matrix in every variant that this host has; ret_w has what the last one gave. */
static void every(const struct dequant_matrix *m, const float *want, float *ret_w)
{
    static const unsigned masks[] = {0, CPU_AVX2, CPU_AVX2 | CPU_AVX512};
    uint64_t n = m->rows * m->cols;

    assert_true(n <= VALUES_MAX);
    for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
        struct dequant_ops ops;
        if ((cpu_features() & masks[i]) != masks[i])
            continue;
        dequant_init(&ops, m->kind, masks[i]);
        memset(ret_w, 0x7f, n * sizeof(float));
        ops.rows(m, 0, m->rows, ret_w);
        for (uint64_t j = 0; want && j < n; j++) {
            if (ret_w[j] != want[j])
                fail_msg("%s %s: number %llu is %.9g, not %.9g", dequant_name(m->kind), ops.variant,
                         (unsigned long long)j, (double)ret_w[j], (double)want[j]);
        }
    }
}

static void numbers_are_those_of_the_specification(void **state)
{
    static const float e2m1[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};

    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        assert_true(dequant_number_e2m1[i] == e2m1[i]);
        assert_true(dequant_number_e2m1[i + 8] == -e2m1[i]);
    }
    assert_true(signbit(dequant_number_e2m1[8]));
    assert_true(dequant_number_e4m3(0x00) == 0 && signbit(dequant_number_e4m3(0x80)));
    assert_true(dequant_number_e4m3(0x01) == 0x1p-9f);
    assert_true(dequant_number_e4m3(0x07) == 7 * 0x1p-9f);
    assert_true(dequant_number_e4m3(0x08) == 0x1p-6f);
    assert_true(dequant_number_e4m3(0x38) == 1 && dequant_number_e4m3(0xb9) == -1.125f);
    assert_true(dequant_number_e4m3(0x7e) == 448 && dequant_number_e4m3(0xfe) == -448);
    assert_true(isnan(dequant_number_e4m3(0x7f)) && isnan(dequant_number_e4m3(0xff)));
    assert_true(dequant_number_e8m0(127) == 1 && dequant_number_e8m0(0) == 0x1p-127f);
    assert_true(dequant_number_e8m0(254) == 0x1p127f && isnan(dequant_number_e8m0(255)));
    assert_true(dequant_number_half((const uint8_t[]){0x01, 0x80}) == -0x1p-24f);
}

/* Every code of E4M3 through the block kind: the variants decode them another way. */
static void every_e4m3_code_is_decoded(void **state)
{
    const float one = 1;
    uint8_t weight[256];
    float want[256], w[VALUES_MAX];
    struct dequant_matrix m = {.kind = DEQUANT_FP8_TENSOR,
                               .rows = 2,
                               .cols = 128,
                               .group = 128,
                               .block_rows = 2,
                               .scale_dtype = DTYPE_F32,
                               .weight = weight,
                               .scale = &one};

    (void)state;
    for (unsigned i = 0; i < 256; i++) {
        unsigned exponent = i >> 3 & 15;
        weight[i] = (uint8_t)i;
        want[i] =
            ldexpf((float)(exponent ? 8 + (i & 7) : i & 7), (int)(exponent ? exponent : 1) - 10);
        want[i] = i & 0x80 ? -want[i] : want[i];
    }
    weight[0x7f] = weight[0xff] = 0; /* NaN is not equal to itself: looked at apart */
    want[0x7f] = want[0xff] = 0;
    every(&m, want, w);
    weight[0x7f] = 0x7f;
    every(&m, NULL, w);
    assert_true(isnan(w[0x7f]));
    assert_int_equal(checked(&m).scale, 4);
}

/* -8 to 7 are stored as 0 to 15, eight to a word, the first in the lowest bits. */
static void words_hold_eight_numbers_from_the_lowest_bits_up(void **state)
{
    const uint32_t words[2] = {0x76543210, 0xfedcba98}, eights[1] = {0x7f80ff00};
    const uint16_t half[1] = {0x3f00}; /* BF16 0.5 */
    float want[16], w[VALUES_MAX];
    struct dequant_matrix m = {.kind = DEQUANT_CT_PACK,
                               .rows = 1,
                               .cols = 16,
                               .group = 16,
                               .block_rows = 1,
                               .bits = 4,
                               .scale_dtype = DTYPE_BF16,
                               .weight = words,
                               .scale = half};

    (void)state;
    for (int i = 0; i < 16; i++)
        want[i] = (float)(i - 8) / 2;
    every(&m, want, w);
    assert_int_equal(checked(&m).weight, 8);
    m.weight = eights;
    m.bits = 8;
    m.cols = m.group = 4;
    every(&m, (const float[]){-64, 63.5f, 0, -0.5f}, w);
}

/* The zero point of row r is field r of a word of its group: row 8 is in the second word. */
static void zero_points_are_packed_along_the_rows(void **state)
{
    const uint32_t words[9] = {9, 9, 9, 9, 9, 9, 9, 9, 9};
    const uint32_t zero[2] = {0x76543210, 0x00000005};
    const float scale[9] = {1, 1, 1, 1, 1, 1, 1, 1, 10};
    float w[VALUES_MAX];
    struct dequant_matrix m = {.kind = DEQUANT_CT_PACK,
                               .rows = 9,
                               .cols = 1,
                               .group = 1,
                               .block_rows = 1,
                               .bits = 4,
                               .scale_dtype = DTYPE_F32,
                               .weight = words,
                               .scale = scale,
                               .zero = zero};

    (void)state;
    every(&m, (const float[]){9, 8, 7, 6, 5, 4, 3, 2, 40}, w);
    assert_int_equal(checked(&m).zero, 8);
}

/* AutoAWQ packs outputs 0 2 4 6 1 3 5 7 of eight from the lowest nibble up, and adds no one. */
static void awq_interleaves_the_outputs(void **state)
{
    uint32_t words[8], zero[1] = {0x11111111};
    uint16_t scale[8];
    float want[64], w[VALUES_MAX];
    struct dequant_matrix m = {.kind = DEQUANT_AWQ,
                               .rows = 8,
                               .cols = 8,
                               .group = 8,
                               .block_rows = 1,
                               .weight = words,
                               .scale = scale,
                               .zero = zero};

    (void)state;
    for (unsigned c = 0; c < 8; c++) { /* output r of column c is r + c, modulo 16 */
        static const unsigned order[8] = {0, 2, 4, 6, 1, 3, 5, 7};
        words[c] = 0;
        for (unsigned n = 0; n < 8; n++)
            words[c] |= ((order[n] + c) & 15) << 4 * n;
        scale[c] = c == 3 ? 0x4000 : 0x3c00; /* 2 for output 3, else 1 */
    }
    for (unsigned r = 0; r < 8; r++) {
        for (unsigned c = 0; c < 8; c++)
            want[8 * r + c] = ((float)(r + c) - 1) * (r == 3 ? 2 : 1);
    }
    every(&m, want, w);
}

/* Symmetric 4-bit GPTQ stores 7 in the first version, which means 8, and 8 in the second. */
static void gptq_adds_one_in_its_first_version(void **state)
{
    uint32_t words[8], first[1] = {0x77777777}, second[1] = {0x88888888};
    uint16_t scale[8];
    float want[64], w[VALUES_MAX];
    struct dequant_matrix m = {.kind = DEQUANT_GPTQ,
                               .rows = 8,
                               .cols = 8,
                               .group = 8,
                               .block_rows = 1,
                               .bits = 4,
                               .zero_offset = 1,
                               .weight = words,
                               .scale = scale,
                               .zero = first};

    (void)state;
    for (unsigned r = 0; r < 8; r++) { /* column c of row r is r + c */
        words[r] = 0;
        for (unsigned c = 0; c < 8; c++)
            words[r] |= (r + c) << 4 * c;
        scale[r] = 0x3800; /* 0.5 */
    }
    for (unsigned i = 0; i < 64; i++)
        want[i] = ((float)(i / 8 + i % 8) - 8) / 2;
    every(&m, want, w);
    m.zero = second;
    m.zero_offset = 0;
    every(&m, want, w);
}

/* Columns of any order: the group is what g_idx says. */
static void a_column_is_in_the_group_that_is_listed(void **state)
{
    const uint32_t words[1] = {0xffffffff};
    const float scale[2] = {1, 100};
    const int32_t g_idx[8] = {1, 0, 1, 1, 0, 0, 0, 1};
    float w[VALUES_MAX];
    struct dequant_matrix m = {.kind = DEQUANT_CT_PACK,
                               .rows = 1,
                               .cols = 8,
                               .group = 4,
                               .block_rows = 1,
                               .bits = 4,
                               .scale_dtype = DTYPE_F32,
                               .weight = words,
                               .scale = scale,
                               .g_idx = g_idx};

    (void)state;
    every(&m, (const float[]){700, 7, 700, 700, 7, 7, 7, 700}, w);
}

/* weight_scale_inv is multiplied, despite its name; the last block of a row is narrow. */
static void fp8_blocks_are_multiplied_and_may_be_partial(void **state)
{
    const uint8_t weight[10] = {0x38, 0x38, 0x38, 0x38, 0x38, 0xb8, 0xb8, 0xb8, 0xb8, 0xb8};
    const float scale[3] = {2, 4, 8};
    float w[VALUES_MAX];
    struct dequant_matrix m = {.kind = DEQUANT_FP8_BLOCK,
                               .rows = 2,
                               .cols = 5,
                               .group = 2,
                               .block_rows = 2,
                               .scale_dtype = DTYPE_F32,
                               .weight = weight,
                               .scale = scale};

    (void)state;
    every(&m, (const float[]){2, 2, 4, 4, 8, -2, -2, -4, -4, -8}, w);
    assert_int_equal(checked(&m).scale, 12);
}

/* compressed-tensors: the low nibble is the even column. GGUF: the low nibbles of a block first. */
static void nibbles_of_mxfp4_lie_in_two_orders(void **state)
{
    uint8_t packed[16] = {0x21}, block[17] = {128, 0x21}, scale[1] = {128};
    float want[32] = {1, 2}, w[VALUES_MAX];
    struct dequant_matrix m = {.kind = DEQUANT_CT_MXFP4,
                               .rows = 1,
                               .cols = 32,
                               .group = 32,
                               .block_rows = 1,
                               .weight = packed,
                               .scale = scale};

    (void)state;
    packed[15] = 0xf0; /* the last column: -6 */
    want[31] = -12;
    every(&m, want, w);
    m.kind = DEQUANT_GPTOSS_MXFP4;
    every(&m, want, w);
    m.kind = DEQUANT_GGUF_MXFP4;
    m.weight = block;
    want[1] = want[31] = 0;
    want[16] = 2;
    every(&m, want, w);
}

/* One library divides by the global scale, the other multiplies. */
static void global_scales_of_nvfp4_go_two_ways(void **state)
{
    uint8_t packed[8], scale[1] = {0x40}; /* 2 */
    float want[16], w[VALUES_MAX];
    struct dequant_matrix m = {.kind = DEQUANT_CT_NVFP4,
                               .rows = 1,
                               .cols = 16,
                               .group = 16,
                               .block_rows = 1,
                               .global = 4,
                               .weight = packed,
                               .scale = scale};

    (void)state;
    for (unsigned i = 0; i < 16; i++) {
        packed[i / 2] = (uint8_t)(i % 2 ? packed[i / 2] | i << 4 : i);
        want[i] = dequant_number_e2m1[i] / 2;
    }
    every(&m, want, w);
    m.kind = DEQUANT_MODELOPT_NVFP4;
    for (unsigned i = 0; i < 16; i++)
        want[i] *= 16;
    every(&m, want, w);
}

static void gguf(enum dequant_kind kind, const uint8_t *block, const float *want)
{
    float w[VALUES_MAX];
    struct dequant_matrix m = {
        .kind = kind, .rows = 1, .cols = kind < DEQUANT_GGUF_Q2_K ? 32 : 256, .weight = block};

    every(&m, want, w);
}

/* d is 2 (0x4000) and m is 1 (0x3c00) in what follows. */
static void gguf_blocks_of_32(void **state)
{
    uint8_t b[34] = {0x00, 0x40};
    float want[32];

    (void)state;
    memset(b + 2, 0x88, 16); /* q4_0: 8 is nought */
    b[2] = 0xf0;
    memset(want, 0, sizeof(want));
    want[0] = -16;
    want[16] = 14;
    gguf(DEQUANT_GGUF_Q4_0, b, want);

    for (unsigned i = 0; i < 32; i++) /* iq4_nl: 8 is 1 */
        want[i] = 2;
    want[0] = -254;
    want[16] = 226;
    gguf(DEQUANT_GGUF_IQ4_NL, b, want);

    memset(b + 2, 0, sizeof(b) - 2); /* q8_0 */
    memset(want, 0, sizeof(want));
    b[2] = 0x80;
    b[33] = 0x7f;
    want[0] = -256;
    want[31] = 254;
    gguf(DEQUANT_GGUF_Q8_0, b, want);

    memset(b + 2, 0, sizeof(b) - 2);
    b[3] = 0x3c;
    b[4 + 15] = 0x5f; /* q4_1: numbers 15 and 31 */
    for (unsigned i = 0; i < 32; i++)
        want[i] = 1;
    want[15] = 31;
    want[31] = 11;
    gguf(DEQUANT_GGUF_Q4_1, b, want);
}

static void gguf_blocks_with_a_fifth_bit(void **state)
{
    uint8_t b[24] = {0x00, 0x40, 0x01, 0x00, 0x01, 0x80}; /* bits 0, 16 and 31 */
    float want[32];

    (void)state;
    b[6] = 0x21; /* number 0 is 1 + 16, number 16 is 2 + 16, number 31 is 16; others 0 */
    for (unsigned i = 0; i < 32; i++)
        want[i] = -32;
    want[0] = 2;
    want[16] = 4;
    want[31] = 0;
    gguf(DEQUANT_GGUF_Q5_0, b, want);

    memcpy(b, (const uint8_t[]){0x00, 0x40, 0x00, 0x3c, 0x01, 0x00, 0x01, 0x80, 0x21}, 9);
    for (unsigned i = 0; i < 32; i++)
        want[i] = 1;
    want[0] = 35;
    want[16] = 37;
    want[31] = 33;
    gguf(DEQUANT_GGUF_Q5_1, b, want);
}

/* The 12 bytes hold a scale of 63 - i and a minimum of i + 17 for each eighth, six bits each, the
 * last four with their upper two bits above the first eight bytes' (ggml get_scale_min_k4). */
static void put_six(uint8_t *sc)
{
    for (unsigned i = 0; i < 4; i++) {
        unsigned s = 63 - i, m = 17 + i, s4 = 63 - (i + 4), m4 = 17 + (i + 4);
        sc[i] = (uint8_t)(s | s4 >> 4 << 6);
        sc[i + 4] = (uint8_t)(m | m4 >> 4 << 6);
        sc[i + 8] = (uint8_t)((s4 & 15) | (m4 & 15) << 4);
    }
}

static void gguf_q4_K_and_q5_K(void **state)
{
    uint8_t b[176] = {0x00, 0x40, 0x00, 0x3c};
    float want[256];

    (void)state;
    put_six(b + 4);
    for (unsigned i = 0; i < 128; i++)
        b[16 + i] = (uint8_t)(i % 16 | (15 - i % 16) << 4);
    for (unsigned e = 0; e < 256; e++) {
        unsigned i = e / 32, q = i % 2 ? 15 - e % 16 : e % 16;
        want[e] = 2 * (63 - (float)i) * (float)q - (17 + (float)i);
    }
    gguf(DEQUANT_GGUF_Q4_K, b, want);

    memmove(b + 48, b + 16, 128);
    for (unsigned i = 0; i < 32; i++) /* bit k of byte i is the fifth of number 32 k + i */
        b[16 + i] = i % 2 ? 0xff : 0x01;
    for (unsigned e = 0; e < 256; e++) {
        if (e % 2 || e < 32)
            want[e] += 2 * (63 - (float)(e / 32)) * 16;
    }
    gguf(DEQUANT_GGUF_Q5_K, b, want);
}

static void gguf_q2_K_and_q3_K(void **state)
{
    uint8_t b[84], c[110];
    float want[256];

    (void)state;
    memset(b, 0, sizeof(b));
    for (unsigned i = 0; i < 16; i++)
        b[i] = (uint8_t)(i | (15 - i) << 4);
    memset(b + 16, 0xe4, 64); /* planes 0 to 3 hold 0 to 3 */
    b[81] = 0x40;
    b[83] = 0x3c;
    for (unsigned e = 0; e < 256; e++)
        want[e] = 2 * (float)(e / 16) * (float)(e % 128 / 32) - (15 - (float)(e / 16));
    gguf(DEQUANT_GGUF_Q2_K, b, want);

    /* Scale i is 4 i, less 32: low four bits in nibbles of bytes 0 to 7, upper two, by fours, in
     * bytes 8 to 11. hmask 0x0f: nothing to take off in the first half. */
    memset(c, 0, sizeof(c));
    memset(c, 0x0f, 32);
    memset(c + 32, 0xe4, 64);
    for (unsigned i = 0; i < 16; i++) {
        c[96 + i % 8] = (uint8_t)(c[96 + i % 8] | (4 * i & 15) << (i < 8 ? 0 : 4));
        c[104 + i % 4] = (uint8_t)(c[104 + i % 4] | (4 * i >> 4) << i / 4 * 2);
    }
    c[109] = 0x40;
    for (unsigned e = 0; e < 256; e++)
        want[e] = 2 * (4 * (float)(e / 16) - 32) * ((float)(e % 128 / 32) - (e < 128 ? 0 : 4));
    gguf(DEQUANT_GGUF_Q3_K, c, want);
}

static void gguf_q6_K(void **state)
{
    uint8_t b[210];
    float want[256];

    (void)state;
    memset(b, 0x31, 128);      /* ql: 1 for planes 0 and 1, 3 for 2 and 3 */
    memset(b + 128, 0xe4, 64); /* qh: planes 0 to 3 have 0 to 3 above */
    for (unsigned i = 0; i < 16; i++)
        b[192 + i] = (uint8_t)(i * 17 - 128);
    b[208] = 0x00;
    b[209] = 0x40;
    for (unsigned e = 0; e < 256; e++) {
        int k = (int)(e % 128 / 32), q = (k < 2 ? 1 : 3) + 16 * k - 32;
        want[e] = 2 * (float)((int)(e / 16) * 17 - 128) * (float)q;
    }
    gguf(DEQUANT_GGUF_Q6_K, b, want);
}

/* A range of rows is what it is in the whole, wherever it starts. */
static void rows_do_not_depend_on_where_the_range_starts(void **state)
{
    uint32_t words[24];
    uint16_t scale[24];
    float whole[24 * 8], part[24 * 8];
    struct dequant_matrix m = {.kind = DEQUANT_GPTQ,
                               .rows = 24,
                               .cols = 8,
                               .group = 8,
                               .block_rows = 1,
                               .bits = 4,
                               .weight = words,
                               .scale = scale,
                               .zero = (const uint32_t[]){0x12345678, 0x9abcdef0, 0x13579bdf}};
    struct dequant_ops ops;

    (void)state;
    for (unsigned i = 0; i < 24; i++) {
        words[i] = 0x9e3779b9u * (i + 1);
        scale[i] = (uint16_t)(0x3000 + 37 * i);
    }
    every(&m, NULL, whole);
    dequant_init(&ops, m.kind, cpu_features());
    for (uint64_t row = 0; row < 24; row++) {
        for (uint64_t count = 0; row + count <= 24; count++) {
            ops.rows(&m, row, count, part);
            assert_memory_equal(part, whole + row * 8, count * 8 * sizeof(float));
        }
    }
}

static void names_lead_back_to_their_kinds(void **state)
{
    (void)state;
    for (int i = 0; i < DEQUANT_KINDS; i++)
        assert_int_equal(dequant_find(dequant_name((enum dequant_kind)i)), i);
    assert_int_equal(dequant_find("gguf_q4_k"), DEQUANT_KINDS);
    assert_int_equal(dequant_find(""), DEQUANT_KINDS);
}

static void refused(struct dequant_matrix m, const char *word)
{
    struct dequant_bytes b = {.weight = 77};
    struct err e = {0};

    assert_int_equal(dequant_check(&m, &b, &e), ERR_FORMAT);
    if (!strstr(e.msg, word) || !strstr(e.msg, dequant_name(m.kind)))
        fail_msg("%s, without %s", e.msg, word);
    assert_int_equal(b.weight, 77);
}

static void shapes_that_cannot_be_stored_are_refused(void **state)
{
    const struct dequant_matrix pack = {.kind = DEQUANT_CT_PACK,
                                        .rows = 8,
                                        .cols = 64,
                                        .group = 32,
                                        .block_rows = 1,
                                        .bits = 4,
                                        .scale_dtype = DTYPE_BF16};
    struct dequant_matrix m = pack;

    (void)state;
    checked(&m);
    m.rows = 0;
    refused(m, "0 x 64");
    m.rows = DEQUANT_ROWS_MAX + 1;
    refused(m, "limit");
    m = pack;
    m.group = 0;
    refused(m, "group");
    m.group = 24;
    refused(m, "whole");
    m = pack;
    m.bits = 3;
    refused(m, "bits");
    m = pack;
    m.scale_dtype = DTYPE_F8_E8M0;
    refused(m, "dtype");
    m = pack;
    m.block_rows = 2;
    refused(m, "one row");
    m.kind = DEQUANT_AWQ;
    m.block_rows = 1;
    m.rows = 9;
    refused(m, "words of 8");
    m.kind = DEQUANT_GPTQ;
    refused(m, "whole words");
    m = pack;
    m.kind = DEQUANT_CT_MXFP4;
    m.group = 1;
    refused(m, "bytes");
    m = (struct dequant_matrix){.kind = DEQUANT_GGUF_Q4_K, .rows = 1, .cols = 128};
    refused(m, "blocks");
}

/* The largest shape that is let through: its sizes are far from where 64 bits end. */
static void sizes_do_not_overflow(void **state)
{
    struct dequant_matrix m = {.kind = DEQUANT_CT_PACK,
                               .rows = DEQUANT_ROWS_MAX,
                               .cols = DEQUANT_COLS_MAX,
                               .group = 1,
                               .block_rows = 1,
                               .bits = 8,
                               .scale_dtype = DTYPE_F32,
                               .zero = &m};

    (void)state;
    struct dequant_bytes b = checked(&m);
    assert_true(b.weight == 1ull << 58 && b.scale == 1ull << 60 && b.zero == 1ull << 58);
    m.kind = DEQUANT_GPTQ;
    b = checked(&m);
    assert_true(b.weight == 1ull << 58 && b.zero == 1ull << 58);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_those_of_the_specification),
        cmocka_unit_test(every_e4m3_code_is_decoded),
        cmocka_unit_test(words_hold_eight_numbers_from_the_lowest_bits_up),
        cmocka_unit_test(zero_points_are_packed_along_the_rows),
        cmocka_unit_test(awq_interleaves_the_outputs),
        cmocka_unit_test(gptq_adds_one_in_its_first_version),
        cmocka_unit_test(a_column_is_in_the_group_that_is_listed),
        cmocka_unit_test(fp8_blocks_are_multiplied_and_may_be_partial),
        cmocka_unit_test(nibbles_of_mxfp4_lie_in_two_orders),
        cmocka_unit_test(global_scales_of_nvfp4_go_two_ways),
        cmocka_unit_test(gguf_blocks_of_32),
        cmocka_unit_test(gguf_blocks_with_a_fifth_bit),
        cmocka_unit_test(gguf_q4_K_and_q5_K),
        cmocka_unit_test(gguf_q2_K_and_q3_K),
        cmocka_unit_test(gguf_q6_K),
        cmocka_unit_test(rows_do_not_depend_on_where_the_range_starts),
        cmocka_unit_test(names_lead_back_to_their_kinds),
        cmocka_unit_test(shapes_that_cannot_be_stored_are_refused),
        cmocka_unit_test(sizes_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
