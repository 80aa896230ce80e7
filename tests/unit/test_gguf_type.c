#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "model/gguf_type.h"
#include <string.h>

/* Block structs of ggml-common.h, field by field: d and m are halves. */
static void blocks_have_the_bytes_of_their_structs(void **state)
{
    static const struct {
        uint32_t id, elements, bytes;
        const char *name, *format;
    } t[] = {{0, 1, 4, "F32", "f32"},
             {1, 1, 2, "F16", "f16"},
             {2, 32, 2 + 16, "Q4_0", "gguf-q4_0"},
             {3, 32, 2 * 2 + 16, "Q4_1", "gguf-q4_1"},
             {6, 32, 2 + 4 + 16, "Q5_0", "gguf-q5_0"},
             {7, 32, 2 * 2 + 4 + 16, "Q5_1", "gguf-q5_1"},
             {8, 32, 2 + 32, "Q8_0", "gguf-q8_0"},
             {9, 32, 2 * 2 + 32, "Q8_1", "gguf-q8_1"},
             {10, 256, 256 / 16 + 256 / 4 + 2 * 2, "Q2_K", "gguf-q2_k"},
             {11, 256, 256 / 8 + 256 / 4 + 12 + 2, "Q3_K", "gguf-q3_k"},
             {12, 256, 2 * 2 + 12 + 256 / 2, "Q4_K", "gguf-q4_k"},
             {13, 256, 2 * 2 + 12 + 256 / 8 + 256 / 2, "Q5_K", "gguf-q5_k"},
             {14, 256, 256 / 2 + 256 / 4 + 256 / 16 + 2, "Q6_K", "gguf-q6_k"},
             {15, 256, 4 + 256 + 256 / 16 * 2, "Q8_K", "gguf-q8_k"},
             {16, 256, 2 + 256 / 8 * 2, "IQ2_XXS", "gguf-iq2_xxs"},
             {17, 256, 2 + 256 / 8 * 2 + 256 / 32, "IQ2_XS", "gguf-iq2_xs"},
             {18, 256, 2 + 3 * 256 / 8, "IQ3_XXS", "gguf-iq3_xxs"},
             {19, 256, 2 + 256 / 8 + 256 / 32 * 2, "IQ1_S", "gguf-iq1_s"},
             {20, 32, 2 + 16, "IQ4_NL", "gguf-iq4_nl"},
             {21, 256, 2 + 256 / 4 + 256 / 32 + 256 / 8 + 256 / 64, "IQ3_S", "gguf-iq3_s"},
             {22, 256, 2 + 256 / 4 + 256 / 32 + 256 / 32, "IQ2_S", "gguf-iq2_s"},
             {23, 256, 2 + 2 + 256 / 64 + 256 / 2, "IQ4_XS", "gguf-iq4_xs"},
             {24, 1, 1, "I8", "i8"},
             {25, 1, 2, "I16", "i16"},
             {26, 1, 4, "I32", "i32"},
             {27, 1, 8, "I64", "i64"},
             {28, 1, 8, "F64", "f64"},
             {29, 256, 256 / 8 + 256 / 16 + 256 / 32, "IQ1_M", "gguf-iq1_m"},
             {30, 1, 2, "BF16", "bf16"},
             {34, 256, (256 - 4 * 256 / 64) / 5 + 256 / 64 + 2, "TQ1_0", "gguf-tq1_0"},
             {35, 256, 256 / 4 + 2, "TQ2_0", "gguf-tq2_0"},
             {39, 32, 1 + 16, "MXFP4", "gguf-mxfp4"},
             {40, 64, 64 / 16 + 32, "NVFP4", "gguf-nvfp4"},
             {41, 128, 2 + 128 / 8, "Q1_0", "gguf-q1_0"},
             {42, 64, 2 + 64 / 4, "Q2_0", "gguf-q2_0"}};
    size_t known = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        const struct gguf_type *x = gguf_type_find(t[i].id);
        assert_non_null(x);
        assert_string_equal(x->name, t[i].name);
        assert_string_equal(x->format, t[i].format);
        if (x->block_elements != t[i].elements || x->block_bytes != t[i].bytes)
            fail_msg("%s has %u numbers in %u bytes", x->name, x->block_elements, x->block_bytes);
        assert_ptr_equal(gguf_type_named(t[i].format), x);
        assert_int_equal(x->dtype == DTYPE_UNKNOWN, strncmp(x->format, "gguf-", 5) == 0);
        if (x->dtype != DTYPE_UNKNOWN)
            assert_int_equal(dtype_bits(x->dtype), 8 * x->block_bytes);
    }
    for (uint32_t id = 0; id < 2000; id++)
        known += gguf_type_find(id) != NULL;
    assert_int_equal(known, sizeof(t) / sizeof(t[0]));
    assert_null(gguf_type_find(UINT32_MAX));
    assert_null(gguf_type_named("gguf-q9"));
}

static void removed_types_are_named_and_not_known(void **state)
{
    static const uint32_t gone[] = {4, 5, 31, 32, 33, 36, 37, 38};

    (void)state;
    for (size_t i = 0; i < 8; i++) {
        assert_non_null(gguf_type_removed(gone[i]));
        assert_null(gguf_type_find(gone[i]));
    }
    assert_null(gguf_type_removed(2));
    assert_null(gguf_type_removed(999));
}

/* Effective bits as published for the types. */
static void bits_a_weight_count_the_scales(void **state)
{
    static const struct {
        const char *format;
        double bits;
    } t[] = {{"gguf-q4_0", 4.5},     {"gguf-q8_0", 8.5},    {"gguf-q2_k", 2.625},
             {"gguf-q3_k", 3.4375},  {"gguf-q4_k", 4.5},    {"gguf-q5_k", 5.5},
             {"gguf-q6_k", 6.5625},  {"gguf-iq4_xs", 4.25}, {"gguf-mxfp4", 4.25},
             {"gguf-nvfp4", 4.5},    {"bf16", 16},          {"gguf-iq2_xxs", 2.0625},
             {"gguf-tq1_0", 1.6875}, {"gguf-iq1_s", 1.5625}};

    (void)state;
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
        assert_true(gguf_type_bits(gguf_type_named(t[i].format)) == t[i].bits);
}

static void file_types_name_a_format_that_exists(void **state)
{
    const char *name, *format;
    size_t known = 0;

    (void)state;
    assert_int_equal(gguf_type_of_file(15, &name, &format), 0);
    assert_string_equal(name, "Q4_K_M");
    assert_string_equal(format, "gguf-q4_k");
    assert_int_equal(gguf_type_of_file(4, &name, &format), -1); /* was never kept */
    assert_int_equal(gguf_type_of_file(1024, &name, &format), -1);
    for (uint64_t i = 0; i < 100; i++)
        if (gguf_type_of_file(i, &name, &format) == 0) {
            assert_non_null(gguf_type_named(format));
            known++;
        }
    assert_true(known > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_have_the_bytes_of_their_structs),
        cmocka_unit_test(removed_types_are_named_and_not_known),
        cmocka_unit_test(bits_a_weight_count_the_scales),
        cmocka_unit_test(file_types_name_a_format_that_exists),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
