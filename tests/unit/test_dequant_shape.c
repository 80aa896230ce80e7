#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "model/gguf_type.h"
#include "stress/dequant_gguf.h"
#include "stress/dequant_shape.h"
#include <string.h>

static struct dequant_matrix shape(const char *format)
{
    struct dequant_matrix m = {0};
    struct err e = {0};

    if (dequant_shape_of(format, 64, 4096, &m, &e))
        fail_msg("%s: %s", format, e.msg);
    return m;
}

static void names_become_shapes(void **state)
{
    static const struct {
        const char *format;
        enum dequant_kind kind;
        unsigned bits, group, block_rows;
        enum dtype scale;
    } cases[] = {
        {"mxfp4-pack-quantized", DEQUANT_CT_MXFP4, 4, 32, 1, DTYPE_F8_E8M0},
        {"nvfp4-pack-quantized", DEQUANT_CT_NVFP4, 4, 16, 1, DTYPE_F8_E4M3},
        {"modelopt-nvfp4", DEQUANT_MODELOPT_NVFP4, 4, 16, 1, DTYPE_F8_E4M3},
        {"mxfp4-blocks", DEQUANT_GPTOSS_MXFP4, 4, 32, 1, DTYPE_F8_E8M0},
        {"mxfp8-quantized", DEQUANT_FP8_BLOCK, 8, 32, 1, DTYPE_F8_E8M0},
        {"pack-quantized-int4-g32", DEQUANT_CT_PACK, 4, 32, 1, DTYPE_BF16},
        {"pack-quantized-int8-channel", DEQUANT_CT_PACK, 8, 4096, 1, DTYPE_BF16},
        {"int8-g128", DEQUANT_CT_INT8, 8, 128, 1, DTYPE_BF16},
        {"int8-channel", DEQUANT_CT_INT8, 8, 4096, 1, DTYPE_BF16},
        {"int8-tensor", DEQUANT_CT_INT8, 8, 4096, 64, DTYPE_BF16},
        {"fp8-block-128x64", DEQUANT_FP8_BLOCK, 8, 64, 128, DTYPE_F32},
        {"fp8-channel", DEQUANT_FP8_CHANNEL, 8, 4096, 1, DTYPE_F32},
        {"fp8-tensor", DEQUANT_FP8_TENSOR, 8, 4096, 64, DTYPE_F32},
        {"fp8-g128", DEQUANT_FP8_BLOCK, 8, 128, 1, DTYPE_F32},
        {"gptq-int2", DEQUANT_GPTQ, 2, 128, 1, DTYPE_F16},
        {"awq-int4", DEQUANT_AWQ, 4, 128, 1, DTYPE_F16},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct dequant_matrix m = shape(cases[i].format);
        assert_int_equal(m.kind, cases[i].kind);
        assert_int_equal(m.bits, cases[i].bits);
        assert_int_equal(m.group, cases[i].group);
        assert_int_equal(m.block_rows, cases[i].block_rows);
        assert_int_equal(m.scale_dtype, cases[i].scale);
        assert_true(m.rows == 64 && m.cols == 4096);
        assert_false(dequant_shape_plain(cases[i].format));
    }
}

/* The names are those of model/gguf_type.c, the blocks as large as it says. */
static void gguf_types_become_kinds_of_the_same_size(void **state)
{
    unsigned found = 0;

    (void)state;
    for (uint32_t id = 0; id < 64; id++) {
        const struct gguf_type *t = gguf_type_find(id);
        struct dequant_matrix m;
        struct err e = {0};
        if (!t || strncmp(t->format, "gguf-", 5) != 0 ||
            dequant_shape_of(t->format, 8, 4096, &m, &e) != 0)
            continue;
        assert_int_equal(dequant_gguf_values(m.kind), t->block_elements);
        assert_int_equal(dequant_gguf_bytes(m.kind), t->block_bytes);
        found++;
    }
    assert_int_equal(found, DEQUANT_KINDS - DEQUANT_GGUF_Q4_0);
}

static void columns_grow_until_the_last_group_is_whole(void **state)
{
    (void)state;
    assert_int_equal(shape("pack-quantized-int4-g48").cols, 4128);
    assert_int_equal(shape("pack-quantized-int8-g1048576").cols, 1048576);
}

static void plain_formats_need_no_unpacking(void **state)
{
    static const char *const plain[] = {"bf16", "f16", "f32", "f64", "i8", "u8", "i64", "bool"};
    static const char *const packed[] = {"fp8",     "unknown", "f8_e4m3", "exl3",
                                         "bnb-nf4", "f4",      "",        "bf16+f32"};

    (void)state;
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
        assert_true(dequant_shape_plain(plain[i]));
    for (size_t i = 0; i < sizeof(packed) / sizeof(packed[0]); i++)
        assert_false(dequant_shape_plain(packed[i]));
}

static void formats_without_a_kernel_are_named(void **state)
{
    static const char *const formats[] = {"exl3",
                                          "bnb-nf4",
                                          "mlx-int4-g64",
                                          "fp8",
                                          "unknown",
                                          "gptq-int3",
                                          "awq-int8",
                                          "gguf-iq1_s",
                                          "pack-quantized-int2-g32",
                                          "pack-quantized-int4-g",
                                          "pack-quantized-int4-g0",
                                          "pack-quantized-int4-g32x",
                                          "pack-quantized-int4-g99999999999999999999",
                                          "fp8-block-128",
                                          "gguf-",
                                          ""};

    (void)state;
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        struct dequant_matrix m = {.rows = 77};
        struct err e = {0};
        assert_int_equal(dequant_shape_of(formats[i], 64, 4096, &m, &e), ERR_UNSUPPORTED);
        if (!strstr(e.msg, formats[i]))
            fail_msg("%s, without %s", e.msg, formats[i]);
        assert_int_equal(m.rows, 77);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_become_shapes),
        cmocka_unit_test(gguf_types_become_kinds_of_the_same_size),
        cmocka_unit_test(columns_grow_until_the_last_group_is_whole),
        cmocka_unit_test(plain_formats_need_no_unpacking),
        cmocka_unit_test(formats_without_a_kernel_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
