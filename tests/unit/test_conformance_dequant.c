#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "core/cpu.h"
#include "stress/conformance.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX (1u << 18)
static char bytes[FILE_MAX];

static size_t slurp(const char *name)
{
    const char *root = getenv("ROOT");
    char path[512];

    snprintf(path, sizeof(path), "%s/tests/vectors/dequant.%s.safetensors", root ? root : ".",
             name);
    FILE *f = fopen(path, "rb");
    if (!f)
        fail_msg("%s cannot be opened", path);
    size_t n = fread(bytes, 1, FILE_MAX, f);
    fclose(f);
    return n;
}

static struct conformance_result check(size_t n)
{
    struct conformance_result r;
    struct err e = {0};

    if (conformance_check(bytes, n, cpu_features(), &r, &e) != 0)
        fail_msg("%s", e.msg);
    return r;
}

/* Replaces the first place of `from` by `to`, of the same length. */
static void edit(size_t n, const char *from, const char *to)
{
    size_t len = strlen(from);

    assert_int_equal(strlen(to), len);
    for (size_t i = 0; i + len <= n; i++) {
        if (memcmp(bytes + i, from, len) == 0) {
            memcpy(bytes + i, to, len);
            return;
        }
    }
    fail_msg("%s is not in the file", from);
}

/* The data of a tensor. */
static char *data(const char *name)
{
    unsigned long header = 0, begin = 0;

    for (int i = 7; i >= 0; i--)
        header = header << 8 | (unsigned char)bytes[i];
    char *at = strstr(bytes + 8, name);
    assert_non_null(at);
    assert_int_equal(sscanf(strstr(at, "data_offsets\":[") + 15, "%lu", &begin), 1);
    return bytes + 8 + header + begin;
}

/* Each edit is a wrong implementation seen from the other side: no variant may pass. */
static void what_is_read_otherwise_fails(void **state)
{
    static const struct {
        const char *file, *from, *to;
    } cases[] = {
        {"gptq-v1-int4-g32-zp", "\"zero_offset\":\"1\"", "\"zero_offset\":\"0\""},
        {"gptq-v2-int4-g32-zp", "\"zero_offset\":\"0\"", "\"zero_offset\":\"1\""},
        {"gptq-v1-int4-g16-actorder", "in.g_idx", "xx.g_idx"}, /* then the groups go in order */
        {"ct_pack-int4-g16-zp-gidx-bf16", "in.weight_g_idx", "xx.weight_g_idx"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t n = slurp(cases[i].file);
        assert_int_equal(check(n).state, CONFORMANCE_PASS);
        edit(n, cases[i].from, cases[i].to);
        struct conformance_result r = check(n);
        if (r.state == CONFORMANCE_PASS)
            fail_msg("%s passes with %s", cases[i].file, cases[i].to);
        for (size_t k = 0; k < r.output_count; k++)
            assert_false(r.outputs[k].ok);
    }
}

/* Kinds of one size each take the other's blocks, and come out wrong. */
static void blocks_of_another_type_fail(void **state)
{
    size_t n = slurp("gguf_q4_0-random");

    (void)state;
    edit(n, "dequant.gguf_q4_0\"", "dequant.gguf_q5_0\"");
    assert_int_equal(check(n).state, CONFORMANCE_MALFORMED); /* 22 bytes for 32, not 18 */
    n = slurp("gguf_mxfp4-random");
    edit(n, "dequant.gguf_mxfp4", "dequant.gguf_q4_KK");
    assert_int_equal(check(n).state, CONFORMANCE_UNKNOWN_OP);
}

static void one_changed_code_fails_in_every_variant(void **state)
{
    static const char *const files[][2] = {{"ct_mxfp4-r4-c96", "\"in.weight_packed\""},
                                           {"ct_pack-int4-g32-sym-bf16", "\"in.weight_packed\""},
                                           {"awq-g32-r16-c64", "\"in.qweight\""},
                                           {"gptq-v1-int4-g16-actorder", "\"in.qweight\""},
                                           {"fp8_block-3x5-r7-c23", "\"in.weight\""},
                                           {"gguf_q6_K-random", "\"in.data\""},
                                           {"ct_nvfp4-r5-c96", "\"in.weight_packed\""}};

    (void)state;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        size_t n = slurp(files[i][0]);
        char *p = data(files[i][1]) + 17; /* the first scales are 0 in some */
        *p = (char)(*p ^ 0xc5);
        struct conformance_result r = check(n);
        if (r.state != CONFORMANCE_FAIL)
            fail_msg("%s: %s", files[i][0], conformance_state_name(r.state));
        for (size_t k = 0; k < r.output_count; k++)
            assert_false(r.outputs[k].ok);
    }
}

static void malformed(size_t n, const char *word)
{
    struct conformance_result r = check(n);

    if (r.state != CONFORMANCE_MALFORMED || !strstr(r.reason, word))
        fail_msg("%s: %s, without %s", conformance_state_name(r.state), r.reason, word);
}

static void parameters_that_do_not_fit_are_named(void **state)
{
    static const struct {
        const char *file, *from, *to, *word;
    } cases[] = {
        {"ct_pack-int4-g32-sym-bf16", "\"bits\":\"4\"", "\"bits\":\"5\"", "weight_packed"},
        {"ct_pack-int4-g32-sym-bf16", "\"bits\":\"4\"", "\"bits\":\"0\"", "bits"},
        {"ct_pack-int4-g32-sym-bf16", "\"group_size\":\"32\"", "\"group_size\":\"48\"",
         "weight_scale"},
        {"ct_pack-int4-g32-sym-bf16", "\"group_size\":\"32\"", "\"group_size\":\"00\"", "group"},
        {"ct_pack-int4-g32-sym-bf16", "\"rows\":\"8\"", "\"rows\":\"0\"", "rows"},
        {"ct_pack-int4-g32-sym-bf16", "\"symmetric\":\"1\"", "\"symmetric\":\"0\"", "zero_point"},
        {"ct_pack-int4-g32-sym-bf16", "\"symmetric\"", "\"symmetrix\"", "symmetric"},
        {"ct_pack-int4-g32-zp-bf16-r13", "\"symmetric\":\"0\"", "\"symmetric\":\"1\"",
         "none of this"},
        {"ct_mxfp4-r4-c96", "\"cols\":\"96\"", "\"cols\":\"64\"", "weight_packed"},
        {"ct_mxfp4-r4-c96", "\"group_size\":\"32\"", "\"group_size\":\"96\"", "weight_scale"},
        {"gptoss_mxfp4-e2-r6-c64", "\"rows\":\"12\"", "\"rows\":\"13\"", "experts"},
        {"gguf_q4_K-random", "\"cols\":\"512\"", "\"cols\":\"300\"", "data"},
        {"fp8_block-3x5-r7-c23", "\"block_rows\":\"3\"", "\"block_rows\":\"0\"", "one row"},
        {"fp8_block-3x5-r7-c23", "\"block_cols\":\"5\"", "\"block_cols\":\"6\"", "scale_inv"},
        {"gguf_q8_0-random", "\"tolerance\"", "\"tolerancf\"", "tolerance"},
        {"awq-g32-r16-c64", "\"F16\"", "\"I16\"", "in.scales"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t n = slurp(cases[i].file);
        edit(n, cases[i].from, cases[i].to);
        malformed(n, cases[i].word);
    }
}

static void contents_that_cannot_be_read_are_named(void **state)
{
    size_t n = slurp("ct_pack-int4-g16-zp-gidx-bf16");
    const int32_t four = 4, minus = -1;
    const int64_t seven = 7;

    (void)state;
    assert_int_equal(check(n).state, CONFORMANCE_PASS);
    memcpy(data("\"in.weight_g_idx\"") + 20, &four, sizeof(four));
    malformed(n, "there are 4 groups");
    memcpy(data("\"in.weight_g_idx\"") + 20, &minus, sizeof(minus));
    malformed(n, "in.weight_g_idx holds -1 at element 5");
    n = slurp("ct_pack-int4-g16-zp-gidx-bf16");
    memcpy(data("\"in.weight_shape\""), &seven, sizeof(seven));
    malformed(n, "in.weight_shape says 7 x 64");
    n = slurp("ct_mxfp4-r4-c96");
    data("\"in.weight_scale\"")[2] = (char)255;
    malformed(n, "in.weight_scale holds nan at element 2");
    n = slurp("ct_nvfp4-r5-c96");
    data("\"in.weight_scale\"")[3] = 0x7f;
    malformed(n, "in.weight_scale holds nan at element 3");
    n = slurp("ct_nvfp4-r5-c96");
    memset(data("\"in.weight_global_scale\""), 0, 4);
    malformed(n, "weight_global_scale is 0");
    n = slurp("fp8_channel-r1-c256-f16");
    memcpy(data("\"in.weight_scale\""), "\x00\x7c", 2);
    malformed(n, "in.weight_scale holds inf");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_otherwise_fails),
        cmocka_unit_test(blocks_of_another_type_fail),
        cmocka_unit_test(one_changed_code_fails_in_every_variant),
        cmocka_unit_test(parameters_that_do_not_fit_are_named),
        cmocka_unit_test(contents_that_cannot_be_read_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
