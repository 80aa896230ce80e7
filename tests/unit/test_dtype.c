#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "model/dtype.h"
#include <string.h>

/* Names and widths: safetensors' own table (tensor.rs). */
static void names_and_bits_are_the_librarys(void **state)
{
    static const struct {
        const char *name;
        unsigned bits;
    } t[] = {{"F4", 4},   {"F6_E2M3", 6},     {"F6_E3M2", 6},     {"BOOL", 8}, {"U8", 8},
             {"I8", 8},   {"F8_E5M2", 8},     {"F8_E4M3", 8},     {"I16", 16}, {"F8_E8M0", 8},
             {"U16", 16}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"F16", 16}, {"BF16", 16},
             {"I32", 32}, {"U32", 32},        {"F32", 32},        {"I64", 64}, {"U64", 64},
             {"F64", 64}, {"C64", 64}};

    (void)state;
    assert_int_equal(sizeof(t) / sizeof(t[0]), DTYPES - 1);
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        enum dtype d = dtype_parse(t[i].name, strlen(t[i].name));
        assert_int_not_equal(d, DTYPE_UNKNOWN);
        assert_int_equal(dtype_bits(d), t[i].bits);
        assert_string_equal(dtype_name(d), t[i].name);
    }
}

static void other_names_are_unknown(void **state)
{
    static const char *const no[] = {"",    "F3_X",  "f32",     "F32 ",     "F",
                                     "BF1", "BF167", "unknown", "F8_E4M3FN"};

    (void)state;
    for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
        assert_int_equal(dtype_parse(no[i], strlen(no[i])), DTYPE_UNKNOWN);
    assert_int_equal(dtype_bits(DTYPE_UNKNOWN), 0);
    assert_string_equal(dtype_name(DTYPE_UNKNOWN), "unknown");
    assert_int_equal(dtype_parse("BF16", 2), DTYPE_UNKNOWN); /* len rules, not the NUL */
}

static uint32_t bits_of(float x)
{
    uint32_t b;

    memcpy(&b, &x, sizeof(b));
    return b;
}

/* Values from IEEE 754's definition of binary16: python3 -c 'struct.unpack("<e", ...)'. */
static void halves_convert_exactly(void **state)
{
    static const struct {
        uint16_t half;
        uint32_t bits;
    } t[] = {{0x0000, 0x00000000}, {0x8000, 0x80000000}, {0x3c00, 0x3f800000},
             {0xc000, 0xc0000000}, {0x7bff, 0x477fe000}, /* 65504 */
             {0x0400, 0x38800000},                       /* 2^-14, least normal */
             {0x03ff, 0x387fc000},                       /* greatest subnormal */
             {0x0001, 0x33800000},                       /* 2^-24 */
             {0x8001, 0xb3800000}, {0x7c00, 0x7f800000}, {0xfc00, 0xff800000},
             {0x7e01, 0x7fc02000}, {0x3555, 0x3eaaa000}};

    (void)state;
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        unsigned char in[2] = {(unsigned char)t[i].half, (unsigned char)(t[i].half >> 8)};
        float out;
        assert_int_equal(dtype_to_f32(DTYPE_F16, in, 1, &out), 0);
        assert_int_equal(bits_of(out), t[i].bits);
    }
}

static void other_floats_convert(void **state)
{
    static const unsigned char bf[] = {0x80, 0x3f, 0x49, 0xc0};
    static const unsigned char f32[] = {0, 0, 0x80, 0x3f, 0xdb, 0x0f, 0x49, 0x40};
    static const unsigned char f64[] = {0,    0,    0,    0,    0,    0,    0xf0, 0x3f,
                                        0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xb9, 0x3f}; /* 0.1 */
    float out[2] = {7, 7};

    (void)state;
    assert_int_equal(dtype_to_f32(DTYPE_BF16, bf, 2, out), 0);
    assert_int_equal(bits_of(out[0]), 0x3f800000);
    assert_int_equal(bits_of(out[1]), 0xc0490000);
    assert_int_equal(dtype_to_f32(DTYPE_F32, f32, 2, out), 0);
    assert_int_equal(bits_of(out[1]), 0x40490fdb);
    assert_int_equal(dtype_to_f32(DTYPE_F64, f64, 2, out), 0);
    assert_int_equal(bits_of(out[0]), 0x3f800000);
    assert_int_equal(bits_of(out[1]), 0x3dcccccd);
    assert_int_equal(dtype_to_f32(DTYPE_U8, bf, 2, out), -1);
    assert_int_equal(dtype_to_f32(DTYPE_UNKNOWN, bf, 2, out), -1);
    assert_int_equal(bits_of(out[1]), 0x3dcccccd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_bits_are_the_librarys),
        cmocka_unit_test(other_names_are_unknown),
        cmocka_unit_test(halves_convert_exactly),
        cmocka_unit_test(other_floats_convert),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
