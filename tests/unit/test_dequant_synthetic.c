#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "core/mem.h"
#include "stress/dequant_shape.h"
#include "stress/dequant_synthetic.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const formats[] = {"mxfp4-pack-quantized",
                                      "nvfp4-pack-quantized",
                                      "modelopt-nvfp4",
                                      "mxfp4-blocks",
                                      "mxfp8-quantized",
                                      "pack-quantized-int4-g32",
                                      "int8-channel",
                                      "fp8-block-128x128",
                                      "fp8-channel",
                                      "fp8-tensor",
                                      "gptq-int4",
                                      "gptq-int8",
                                      "awq-int4",
                                      "gguf-q4_0",
                                      "gguf-q4_1",
                                      "gguf-q5_0",
                                      "gguf-q5_1",
                                      "gguf-q8_0",
                                      "gguf-iq4_nl",
                                      "gguf-mxfp4",
                                      "gguf-q2_k",
                                      "gguf-q3_k",
                                      "gguf-q4_k",
                                      "gguf-q5_k",
                                      "gguf-q6_k"};

/* What is slow on some processors, or means nothing, is not in what rates are measured on. */
static void numbers_are_finite_and_not_subnormal(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        struct dequant_synthetic s;
        struct dequant_matrix m;
        struct dequant_ops ops;
        struct err e = {0};
        unsigned other = 0;
        if (dequant_shape_of(formats[i], 16, 512, &m, &e) || dequant_synthetic_open(&m, 5, &s, &e))
            fail_msg("%s", e.msg);
        float *w = mem_alloc(m.rows * m.cols, sizeof(*w));
        dequant_init(&ops, m.kind, 0);
        ops.rows(&s.m, 0, m.rows, w);
        for (uint64_t j = 0; j < m.rows * m.cols; j++) {
            if (w[j] != 0 && !isnormal(w[j]))
                fail_msg("%s: number %u is %g", formats[i], (unsigned)j, (double)w[j]);
            other += w[j] != w[0];
        }
        assert_true(other > m.rows * m.cols / 2);
        free(w);
        dequant_synthetic_close(&s);
    }
}

static void the_same_seed_gives_the_same_matrix(void **state)
{
    struct dequant_synthetic a, b, c;
    struct dequant_matrix m;
    struct err e = {0};

    (void)state;
    assert_int_equal(dequant_shape_of("gptq-int4", 8, 128, &m, &e), 0);
    assert_int_equal(dequant_synthetic_open(&m, 1, &a, &e), 0);
    assert_int_equal(dequant_synthetic_open(&m, 1, &b, &e), 0);
    assert_int_equal(dequant_synthetic_open(&m, 2, &c, &e), 0);
    /* 8 x 128 numbers of 4 bits, a half for each row, a word of zero points */
    assert_int_equal(a.stored_bytes, 512 + 16 + 4);
    assert_memory_equal(a.m.weight, b.m.weight, 512);
    assert_memory_not_equal(a.m.weight, c.m.weight, 512);
    dequant_synthetic_close(&a);
    dequant_synthetic_close(&b);
    dequant_synthetic_close(&c);
}

static void groups_that_are_listed_exist(void **state)
{
    static const int32_t wanted;
    struct dequant_matrix m = {.kind = DEQUANT_CT_PACK,
                               .rows = 1,
                               .cols = 256,
                               .group = 32,
                               .block_rows = 1,
                               .bits = 4,
                               .scale_dtype = DTYPE_F16,
                               .g_idx = &wanted};
    struct dequant_synthetic s;
    struct err e = {0};
    unsigned seen = 0;

    (void)state;
    assert_int_equal(dequant_synthetic_open(&m, 3, &s, &e), 0);
    for (unsigned i = 0; i < 256; i++) {
        assert_in_range(s.m.g_idx[i], 0, 7);
        seen |= 1u << s.m.g_idx[i];
    }
    assert_int_equal(seen, 255);
    dequant_synthetic_close(&s);
}

static void what_cannot_be_made_is_an_error(void **state)
{
    struct dequant_matrix m = {.kind = DEQUANT_GGUF_Q8_0, .rows = 1ull << 32, .cols = 1u << 26};
    struct dequant_synthetic s;
    struct err e = {0};

    (void)state;
    assert_int_equal(dequant_synthetic_open(&m, 1, &s, &e), ERR_LIMIT);
    m.cols = 33;
    assert_int_equal(dequant_synthetic_open(&m, 1, &s, &e), ERR_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_finite_and_not_subnormal),
        cmocka_unit_test(the_same_seed_gives_the_same_matrix),
        cmocka_unit_test(groups_that_are_listed_exist),
        cmocka_unit_test(what_cannot_be_made_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
