#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "fixture_model.h"
#include "model/module.h"

/* Tensors of one module as the formats' documents lay them out, and the name that is to come. */
struct layout {
    const char *format;
    uint64_t rows, cols; /* 0: the headers do not tell the shape */
    struct {
        const char *part, *dtype;
        unsigned bits;
        uint64_t dims[4];
    } tensors[5];
};

static const struct layout layouts[] = {
    {"bf16", 96, 256, {{"weight", "BF16", 16, {96, 256}}}},
    {"f16", 96, 256, {{"weight", "F16", 16, {96, 256}}}},
    {"f32", 96, 256, {{"weight", "F32", 32, {96, 256}}}},
    {"i64", 96, 256, {{"weight", "I64", 64, {96, 256}}}},
    {"mxfp4-pack-quantized",
     96,
     256,
     {{"weight_packed", "U8", 8, {96, 128}}, {"weight_scale", "U8", 8, {96, 8}}}},
    {"nvfp4-pack-quantized",
     96,
     256,
     {{"weight_packed", "U8", 8, {96, 128}},
      {"weight_scale", "F8_E4M3", 8, {96, 16}},
      {"weight_global_scale", "F32", 32, {1}},
      {"input_global_scale", "F32", 32, {1}}}},
    {"unknown", 96, 256, {{"weight_packed", "U8", 8, {96, 128}}}},
    {"mxfp8-quantized",
     96,
     256,
     {{"weight", "F8_E4M3", 8, {96, 256}}, {"weight_scale", "U8", 8, {96, 8}}}},
    {"pack-quantized-int4-g32",
     0,
     0,
     {{"weight_packed", "I32", 32, {96, 32}},
      {"weight_scale", "BF16", 16, {96, 8}},
      {"weight_shape", "I64", 64, {2}}}},
    {"pack-quantized-int8-channel",
     0,
     0,
     {{"weight_packed", "I32", 32, {96, 64}},
      {"weight_scale", "BF16", 16, {96, 1}},
      {"weight_shape", "I32", 32, {2}}}},
    {"pack-quantized-int3-g128",
     0,
     0,
     {{"weight_packed", "I32", 32, {96, 24}},
      {"weight_scale", "BF16", 16, {96, 2}},
      {"weight_shape", "I64", 64, {2}}}},
    {"fp8-block-128x128",
     96,
     256,
     {{"weight", "F8_E4M3", 8, {96, 256}}, {"weight_scale_inv", "F32", 32, {1, 2}}}},
    {"fp8-channel",
     96,
     256,
     {{"weight", "F8_E4M3", 8, {96, 256}}, {"weight_scale", "BF16", 16, {96, 1}}}},
    {"fp8-tensor",
     96,
     256,
     {{"weight", "F8_E4M3", 8, {96, 256}},
      {"weight_scale", "F32", 32, {1}},
      {"input_scale", "F32", 32, {1}}}},
    {"fp8", 96, 256, {{"weight", "F8_E4M3", 8, {96, 256}}}},
    {"int8-channel",
     96,
     256,
     {{"weight", "I8", 8, {96, 256}}, {"weight_scale", "BF16", 16, {96, 1}}}},
    {"int8-g64", 96, 256, {{"weight", "I8", 8, {96, 256}}, {"weight_scale", "BF16", 16, {96, 4}}}},
    {"modelopt-nvfp4",
     96,
     256,
     {{"weight", "U8", 8, {96, 128}},
      {"weight_scale", "F8_E4M3", 8, {96, 16}},
      {"weight_scale_2", "F32", 32, {1}},
      {"input_scale", "F32", 32, {1}}}},
    {"gptq-int4",
     0,
     0,
     {{"qweight", "I32", 32, {32, 96}},
      {"qzeros", "I32", 32, {2, 12}},
      {"scales", "F16", 16, {2, 96}},
      {"g_idx", "I32", 32, {256}}}},
    {"gptq-int3",
     0,
     0,
     {{"qweight", "I32", 32, {24, 96}},
      {"qzeros", "I32", 32, {2, 9}},
      {"scales", "F16", 16, {2, 96}}}},
    {"awq-int4",
     0,
     0,
     {{"qweight", "I32", 32, {256, 12}},
      {"qzeros", "I32", 32, {2, 12}},
      {"scales", "F16", 16, {2, 96}}}},
    {"mlx-int8-g64",
     0,
     0,
     {{"weight", "U32", 32, {96, 64}},
      {"scales", "BF16", 16, {96, 4}},
      {"biases", "BF16", 16, {96, 4}}}},
    {"mlx-fp4-g32", 0, 0, {{"weight", "U32", 32, {96, 32}}, {"scales", "U8", 8, {96, 8}}}},
    {"bnb-nf4",
     0,
     0,
     {{"weight", "U8", 8, {12288, 1}},
      {"weight.absmax", "F32", 32, {384}},
      {"weight.quant_map", "F32", 32, {16}},
      {"weight.quant_state.bitsandbytes__nf4", "U8", 8, {80}}}},
    {"bnb-int8", 96, 256, {{"weight", "I8", 8, {96, 256}}, {"SCB", "F32", 32, {96}}}},
    {"exl3",
     0,
     0,
     {{"trellis", "I16", 16, {16, 6, 64}}, {"suh", "F16", 16, {256}}, {"svh", "F16", 16, {96}}}},
};

static void take(const struct layout *l, struct fixture_tensors *t, struct module *ret)
{
    size_t at = 0;
    fixture_tensors_start(t);
    for (size_t i = 0; i < 5 && l->tensors[i].part; i++)
        fixture_tensor(t, l->tensors[i].dtype, l->tensors[i].bits, l->tensors[i].dims, "a.proj.%s",
                       l->tensors[i].part);
    fixture_tensors_finish(t);
    assert_true(module_next(&t->inv, &at, ret));
    assert_int_equal(at, t->inv.count);
    assert_int_equal(ret->tensors, t->inv.count);
    assert_int_equal(ret->bytes, t->inv.stored_bytes);
    assert_int_equal(ret->module_bytes, strlen("a.proj"));
}

static void formats_are_told_from_names_dtypes_and_shapes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        const struct layout *l = &layouts[i];
        const uint64_t right[2] = {96, 256}, wrong[2] = {96, 257};
        struct fixture_tensors t;
        struct module x;
        char format[MODULE_FORMAT_BYTES];
        uint64_t shape[TENSOR_DIMS_MAX];
        uint8_t dims = 0;
        take(l, &t, &x);
        if (strcmp(module_format(&x, (uint64_t)96 * 256, format), l->format))
            fail_msg("%s came out as %s", l->format, format);
        bool told = module_shape(&x, &dims, shape);
        if (told != (l->rows != 0) || (told && (dims != 2 || shape[0] != 96 || shape[1] != 256)))
            fail_msg("%s: shape", l->format);
        /* EXL3's trellis says nothing of the shape but its bits */
        if (!module_holds(&x, 2, right) || module_holds(&x, 2, wrong))
            fail_msg("%s: holds", l->format);
        fixture_tensors_end(&t);
    }
}

static void gpt_oss_blocks_unpack_to_their_rows(void **state)
{
    struct fixture_tensors t;
    struct module x;
    char format[MODULE_FORMAT_BYTES];
    uint64_t shape[TENSOR_DIMS_MAX];
    uint8_t dims;
    size_t at = 0;
    (void)state;
    fixture_tensors_start(&t);
    fixture_tensor(&t, "U8", 8, FIXTURE_DIMS(4, 64, 8, 16), "a.gate_up_proj_blocks");
    fixture_tensor(&t, "U8", 8, FIXTURE_DIMS(4, 64, 8), "a.gate_up_proj_scales");
    fixture_tensors_finish(&t);
    assert_true(module_next(&t.inv, &at, &x));
    assert_int_equal(x.tensors, 2);
    assert_string_equal(module_format(&x, 0, format), "mxfp4-blocks");
    assert_true(module_shape(&x, &dims, shape));
    assert_int_equal(dims, 3);
    assert_int_equal(shape[2], 256);
    fixture_tensors_end(&t);
}

static void edge_blocks_may_be_partial(void **state)
{
    static const struct {
        uint64_t rows, cols, s_rows, s_cols;
        const char *format;
    } cases[] = {
        {576, 7168, 5, 56, "fp8-block-128x128"},
        {7168, 2048, 56, 16, "fp8-block-128x128"},
        {1024, 1024, 32, 32, "fp8-block-32x32"},
        {1024, 1024, 1024, 8, "fp8-g128"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture_tensors t;
        struct module x;
        char format[MODULE_FORMAT_BYTES];
        size_t at = 0;
        fixture_tensors_start(&t);
        fixture_tensor(&t, "F8_E4M3", 8, FIXTURE_DIMS(cases[i].rows, cases[i].cols), "a.weight");
        FIXTURE_F32(&t, FIXTURE_DIMS(cases[i].s_rows, cases[i].s_cols), "a.weight_scale_inv");
        fixture_tensors_finish(&t);
        assert_true(module_next(&t.inv, &at, &x));
        assert_string_equal(module_format(&x, 0, format), cases[i].format);
        fixture_tensors_end(&t);
    }
}

static void plain_tensors_and_biases_are_kept_apart(void **state)
{
    static const struct {
        const char *name;
        size_t module, tensors;
    } want[] = {{"a.A_log", 7, 1}, {"a.dt_bias", 9, 1}, {"a.q.bias", 3, 2}, {"a.qq.weight", 4, 1}};
    struct fixture_tensors t;
    struct module x;
    size_t at = 0;
    (void)state;
    fixture_tensors_start(&t);
    FIXTURE_F32(&t, FIXTURE_DIMS(4), "a.A_log");
    FIXTURE_F32(&t, FIXTURE_DIMS(4), "a.dt_bias");
    FIXTURE_BF16(&t, FIXTURE_DIMS(4, 4), "a.q.weight");
    FIXTURE_BF16(&t, FIXTURE_DIMS(4), "a.q.bias");
    FIXTURE_BF16(&t, FIXTURE_DIMS(4, 4), "a.qq.weight");
    fixture_tensors_finish(&t);
    for (size_t i = 0; i < 4; i++) {
        assert_true(module_next(&t.inv, &at, &x));
        assert_string_equal(x.name, want[i].name);
        assert_int_equal(x.module_bytes, want[i].module);
        assert_int_equal(x.tensors, want[i].tensors);
    }
    assert_false(module_next(&t.inv, &at, &x));
    fixture_tensors_end(&t);
}

static void companions_alone_hold_no_numbers(void **state)
{
    struct fixture_tensors t;
    struct module x;
    char format[MODULE_FORMAT_BYTES];
    size_t at = 0;
    (void)state;
    fixture_tensors_start(&t);
    FIXTURE_F32(&t, FIXTURE_DIMS(1), "a.attn.k_scale");
    FIXTURE_F32(&t, FIXTURE_DIMS(1), "a.attn.v_scale");
    fixture_tensors_finish(&t);
    assert_true(module_next(&t.inv, &at, &x));
    assert_null(module_data(&x));
    assert_string_equal(module_format(&x, 0, format), "unknown");
    fixture_tensors_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_are_told_from_names_dtypes_and_shapes),
        cmocka_unit_test(gpt_oss_blocks_unpack_to_their_rows),
        cmocka_unit_test(edge_blocks_may_be_partial),
        cmocka_unit_test(plain_tensors_and_biases_are_kept_apart),
        cmocka_unit_test(companions_alone_hold_no_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
