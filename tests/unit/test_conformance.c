#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "core/cpu.h"
#include "stress/conformance.h"
#include "stress/conformance_case.h"
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX (1u << 20)
static char bytes[FILE_MAX];

static size_t slurp(const char *folder, const char *name)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    if (!f)
        fail_msg("%s cannot be opened", path);
    size_t n = fread(bytes, 1, FILE_MAX, f);
    fclose(f);
    return n;
}

static const char *vectors(void)
{
    static char path[512];
    const char *root = getenv("ROOT");

    snprintf(path, sizeof(path), "%s/tests/vectors", root ? root : ".");
    return path;
}

static struct conformance_result check(size_t n)
{
    struct conformance_result r;
    struct err e = {0};

    if (conformance_check(bytes, n, cpu_features(), &r, &e) != 0)
        fail_msg("%s", e.msg);
    return r;
}

/* Replaces the only place of `from` by `to`, of the same length. */
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

/* Every file of a folder: pass, or, for operators without a definition, missing. Returns how many
 * passed; *ret_missing may be NULL, then none may be missing. */
static unsigned sweep(const char *folder, unsigned *ret_missing)
{
    DIR *d = opendir(folder);
    struct dirent *f;
    unsigned passed = 0;

    if (!d)
        return 0;
    while ((f = readdir(d)) != NULL) {
        if (!strstr(f->d_name, ".safetensors"))
            continue;
        struct conformance_result r = check(slurp(folder, f->d_name));
        if (r.state == CONFORMANCE_MISSING && ret_missing) {
            assert_true(r.reason[0] != 0);
            ++*ret_missing;
            continue;
        }
        if (r.state != CONFORMANCE_PASS)
            fail_msg("%s: %s %s", f->d_name, conformance_state_name(r.state), r.reason);
        assert_true(r.output_count > 0);
        passed++;
    }
    closedir(d);
    return passed;
}

static void every_vector_in_the_tree_passes(void **state)
{
    (void)state;
    assert_true(sweep(vectors(), NULL) >= 157);
}

static void every_golden_file_passes_or_is_named_as_missing(void **state)
{
    const char *golden = getenv("GOLDEN");
    unsigned missing = 0;
    DIR *d = opendir(golden ? golden : "../shared/golden");

    (void)state;
    if (!d) {
        puts("skip: no folder of golden files (GOLDEN)");
        skip();
    }
    closedir(d);
    assert_true(sweep(golden ? golden : "../shared/golden", &missing) >= 157);
    assert_true(missing > 0);
}

/* Each edit is a wrong implementation seen from the other side: the file says another thing, and
 * the kernels must notice in every variant. */
static void a_changed_parameter_fails(void **state)
{
    static const struct {
        const char *file, *from, *to;
    } cases[] = {
        {"attention.kda-bounded-h2-d16-t20-smallnorm", "0.000001\"", "0.000002\""},
        {"attention.kda-bounded-h3-d16-t31-bound2", "-2.5", "-2.4"},
        {"attention.gqa-h6kv3-d8-dv12-t33-window5", "\"window\":\"5\"", "\"window\":\"6\""},
        {"attention.gqa-h4kv2-d16-t37", "\"scale\":\"0.25\"", "\"scale\":\"0.26\""},
        {"residual.attnres_block-l7-block3-t5-d33", "\"block\":\"3\"", "\"block\":\"4\""},
        {"residual.attnres-n4-t3-d20-eps", "\"eps\":\"0.00001\"", "\"eps\":\"0.00002\""},
        {"moe.route-sigmoid-e16-k4-t13-bias", "2.446", "2.447"},
        {"moe.route-sigmoid-e12-k3-g4of2-t11-negative", "\"top_groups\":\"2\"",
         "\"top_groups\":\"3\""},
        {"moe.latent-kimi-situ-norm-shared", "\"situ_beta\":\"4\"", "\"situ_beta\":\"5\""},
        {"moe.latent-nemotron-relu2-shared", "relu2\"", "silu\" "}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char name[128];
        snprintf(name, sizeof(name), "%s.safetensors", cases[i].file);
        size_t n = slurp(vectors(), name);
        struct conformance_result before = check(n);
        assert_int_equal(before.state, CONFORMANCE_PASS);
        edit(n, cases[i].from, cases[i].to);
        struct conformance_result r = check(n);
        if (r.state != CONFORMANCE_FAIL)
            fail_msg("%s with %s: %s", cases[i].file, cases[i].to, conformance_state_name(r.state));
    }
}

static void swapped_inputs_fail(void **state)
{
    size_t n = slurp(vectors(), "attention.gqa-h4kv4-d16-t19-sinks.safetensors");

    (void)state;
    edit(n, "\"in.k\"", "\"in.x\"");
    edit(n, "\"in.v\"", "\"in.k\"");
    edit(n, "\"in.x\"", "\"in.v\"");
    struct conformance_result r = check(n);
    assert_int_equal(r.state, CONFORMANCE_FAIL);
    for (size_t i = 0; i < r.output_count; i++)
        assert_false(r.outputs[i].ok); /* the definition and every variant */
}

static void one_changed_result_fails(void **state)
{
    size_t n = slurp(vectors(), "attention.mla-h2-dn16-dr8-r24-dv16-t33.safetensors");
    float x;

    (void)state;
    memcpy(&x, bytes + n - 4, 4);
    assert_int_equal(check(n).state, CONFORMANCE_PASS);
    x += 0.01f;
    memcpy(bytes + n - 4, &x, 4); /* the last tensor's last element, an input or a result */
    assert_int_equal(check(n).state, CONFORMANCE_FAIL);
}

static void a_wrong_integer_fails_whatever_the_tolerance(void **state)
{
    size_t n = slurp(vectors(), "moe.route-softmax-e8-k2-t17.safetensors");

    (void)state;
    edit(n, "0.000001", "99999999");
    char *counts = strstr(bytes + 8, "\"out.counts\"");
    unsigned long header = 8 + (unsigned char)bytes[0] + 256ul * (unsigned char)bytes[1];
    unsigned long begin = 0;
    assert_non_null(counts);
    assert_int_equal(sscanf(strstr(counts, "data_offsets\":[") + 15, "%lu", &begin), 1);
    bytes[header + begin]++;
    struct conformance_result r = check(n);
    assert_int_equal(r.state, CONFORMANCE_FAIL);
    assert_string_equal(r.outputs[2].name, "counts");
    assert_true(r.outputs[2].error == 1 && !r.outputs[2].ok && r.outputs[0].ok);
}

static void malformed(size_t n, const char *word)
{
    struct conformance_result r = check(n);

    if (r.state != CONFORMANCE_MALFORMED || !strstr(r.reason, word))
        fail_msg("%s: %s, without %s", conformance_state_name(r.state), r.reason, word);
    assert_int_equal(r.output_count, 0);
}

static void what_is_missing_or_wrong_is_named(void **state)
{
    static const char file[] = "attention.gqa-h4kv4-d16-t19-sinks.safetensors";
    size_t n;

    (void)state;
    n = slurp(vectors(), file);
    edit(n, "\"scale\"", "\"scald\"");
    malformed(n, "scale");
    n = slurp(vectors(), file);
    edit(n, "\"tolerance\"", "\"tolerancf\"");
    malformed(n, "tolerance");
    n = slurp(vectors(), file);
    edit(n, "\"in.k\"", "\"in.K\"");
    malformed(n, "in.k");
    n = slurp(vectors(), file);
    edit(n, "\"in.sinks\"", "\"in.sinkt\""); /* optional: but then it is nobody's */
    malformed(n, "in.sinkt");
    n = slurp(vectors(), file);
    edit(n, "\"out.o\"", "\"out.p\"");
    malformed(n, "out.o");
    n = slurp(vectors(), file);
    edit(n, "0.25\"", "nan \"");
    malformed(n, "scale");
    n = slurp(vectors(), file);
    edit(n, "[19,4,16]", "[19,8,8] "); /* as many elements */
    malformed(n, "shape");
    n = slurp(vectors(), file);
    edit(n, "\"window\":\"0\"", "\"window\":\"h\"");
    malformed(n, "window");
    n = slurp(vectors(), file);
    malformed(n - 1, "");
    malformed(7, "");
    malformed(0, "");
}

static void a_number_that_is_not_finite_is_malformed(void **state)
{
    size_t n = slurp(vectors(), "attention.gqa-t1-h1-d4.safetensors");
    const float nan = NAN;

    (void)state;
    memcpy(bytes + n - 4, &nan, 4);
    malformed(n, "holds nan");
}

static void other_operators_are_unknown(void **state)
{
    size_t n = slurp(vectors(), "attention.gqa-t1-h1-d4.safetensors");

    (void)state;
    edit(n, "attention.gqa", "dequant.kinds");
    struct conformance_result r = check(n);
    assert_int_equal(r.state, CONFORMANCE_UNKNOWN_OP);
    assert_string_equal(r.op, "dequant.kinds");
    edit(n, "dequant.kinds", "attention.xyz");
    r = check(n);
    assert_int_equal(r.state, CONFORMANCE_UNKNOWN_OP);
    assert_true(r.reason[0] != 0 && r.output_count == 0);
}

static void nan_in_a_result_is_a_failure(void **state)
{
    struct conformance_result r = {0};
    struct conformance_case c = {.result = &r, .tolerance = 1e9};
    const float want[] = {1, 2}, nan[] = {1, NAN}, inf[] = {-INFINITY, 2}, good[] = {1, 2.5f};

    (void)state;
    conformance_case_compare(&c, "o", "c", nan, want, 2);
    conformance_case_compare(&c, "o", "c", inf, want, 2);
    c.tolerance = 0.25;
    conformance_case_compare(&c, "o", "c", good, want, 2);
    c.tolerance = 0;
    conformance_case_compare(&c, "o", "c", want, want, 2);
    conformance_case_compare(&c, "o", "c", good, want, 2);
    assert_false(r.outputs[0].ok);
    assert_false(r.outputs[1].ok);
    assert_true(r.outputs[2].ok && r.outputs[2].error == 0.25);
    assert_true(r.outputs[3].ok);
    assert_false(r.outputs[4].ok);
}

static void zeros_of_either_sign_are_equal_and_subnormals_count(void **state)
{
    struct conformance_result r = {0};
    struct conformance_case c = {.result = &r, .tolerance = 0};
    const float want[] = {0, 1e-40f}, same[] = {-0.0f, 1e-40f}, flushed[] = {0, 0};

    (void)state;
    conformance_case_compare(&c, "w", "c", same, want, 2);
    conformance_case_compare(&c, "w", "c", flushed, want, 2);
    assert_true(r.outputs[0].ok);
    assert_false(r.outputs[1].ok);
}

static void the_mask_says_which_variants_run(void **state)
{
    size_t n = slurp(vectors(), "attention.kda-softplus-h2-d16-t70.safetensors");
    struct conformance_result r;
    struct err e = {0};

    (void)state;
    assert_int_equal(conformance_check(bytes, n, 0, &r, &e), 0);
    assert_int_equal(r.output_count, 2);
    assert_string_equal(r.outputs[0].variant, "c");
    if (!(cpu_features() & CPU_AVX2))
        return;
    assert_int_equal(conformance_check(bytes, n, CPU_AVX2, &r, &e), 0);
    assert_int_equal(r.output_count, 4);
    assert_string_equal(r.outputs[3].variant, "avx2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_vector_in_the_tree_passes),
        cmocka_unit_test(every_golden_file_passes_or_is_named_as_missing),
        cmocka_unit_test(a_changed_parameter_fails),
        cmocka_unit_test(swapped_inputs_fail),
        cmocka_unit_test(one_changed_result_fails),
        cmocka_unit_test(a_wrong_integer_fails_whatever_the_tolerance),
        cmocka_unit_test(what_is_missing_or_wrong_is_named),
        cmocka_unit_test(a_number_that_is_not_finite_is_malformed),
        cmocka_unit_test(other_operators_are_unknown),
        cmocka_unit_test(nan_in_a_result_is_a_failure),
        cmocka_unit_test(zeros_of_either_sign_are_equal_and_subnormals_count),
        cmocka_unit_test(the_mask_says_which_variants_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
