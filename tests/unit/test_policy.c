/* The policy file: strict about keys, generous about what is left out. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "audit/policy.h"
#include "core/file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int parse(const char *text, struct policy *ret, struct err *e)
{
    *e = (struct err){0};
    return policy_parse(text, strlen(text), ret, e);
}

static void rejects(const char *text, int code, const char *says)
{
    struct policy p;
    struct err e;
    int rc = parse(text, &p, &e);

    if (rc == 0)
        fail_msg("accepted: %s", text);
    if (rc != code || !strstr(e.msg, says))
        fail_msg("%s: code %d (wanted %d), \"%s\" (wanted \"%s\")", text, rc, code, e.msg, says);
}

static void builtin_has_the_documented_values(void **state)
{
    struct policy p;

    (void)state;
    policy_builtin(&p);
    assert_string_equal(p.name, "builtin");
    assert_int_equal(p.backend_count, 4);
    assert_string_equal(p.backends[1].name, "vllm");
    assert_string_equal(p.backends[1].hardware, "sm100");
    assert_int_equal(p.context_count, 2);
    assert_int_equal(p.contexts_tokens[0], 131072);
    assert_int_equal(policy_context_max(&p), 1048576);
    for (size_t i = 0; i < POLICY_ITEMS; i++)
        assert_true(p.required[i]);
    assert_int_equal(p.fail_on, VERDICT_UNKNOWN);
    assert_true(p.fallback_time_max_ratio == 3);
    assert_true(p.cache_off_max_ratio == 0.02);
    assert_int_equal(p.constant_min_lengths, 3);
    assert_false(p.accept_extrapolation);
    assert_true(p.decode_layer_max_ns == 0);
    assert_true(p.accept_synthetic);
    assert_true(p.tokens_per_expert_min == 50);
    assert_true(p.max_mean_excess_warn_ratio == 0.25);
    assert_true(p.max_mean_excess_fail_ratio == 1);
    assert_true(p.cv_excess_warn_ratio == 0.15);
    assert_true(p.cv_excess_fail_ratio == 0.75);
    assert_int_equal(p.unused_max_experts, 0);
    policy_release(&p);
}

/* Printing is complete: every key of the file comes out again, byte for byte. */
static void builtin_prints_as_its_file(void **state)
{
    struct policy p;
    struct buf file, printed;
    struct err e = {0};
    char path[4096];
    const char *root = getenv("ROOT");

    (void)state;
    snprintf(path, sizeof path, "%s/audit/policy.json", root ? root : ".");
    buf_init(&file, POLICY_BYTES_MAX);
    buf_init(&printed, POLICY_BYTES_MAX);
    assert_int_equal(file_read(path, &file, &e), 0);
    policy_builtin(&p);
    policy_json(&p, &printed);
    assert_string_equal(printed.data, file.data);
    policy_release(&p);
    buf_release(&file);
    buf_release(&printed);
}

static void what_is_left_out_is_builtin(void **state)
{
    struct policy p;
    struct err e;

    (void)state;
    assert_int_equal(parse("{}", &p, &e), 0);
    assert_string_equal(p.name, "unnamed");
    assert_int_equal(p.backend_count, 4);
    assert_true(p.cache_off_max_ratio == 0.02);
    policy_release(&p);
    assert_int_equal(parse("{\"context\":{\"cache_off_max_ratio\":0.05}}", &p, &e), 0);
    assert_true(p.cache_off_max_ratio == 0.05);
    assert_int_equal(p.constant_min_lengths, 3);
    assert_int_equal(p.context_count, 2);
    policy_release(&p);
}

static void every_key_is_read(void **state)
{
    static const char text[] =
        "{\"name\":\"nightly\",\"version\":1,\"target\":{\"backends\":[{\"name\":\"llama.cpp\","
        "\"hardware\":\"metal\"}],\"context_lengths\":[\"1M\",\"4K\",\"5000\"]},"
        "\"required\":[\"fingerprint\",\"formats\"],\"fail_on\":\"warn\","
        "\"operators\":{\"fallback_time_max_ratio\":1.5},"
        "\"context\":{\"cache_off_max_ratio\":0,\"constant_min_lengths\":4,"
        "\"extrapolation\":\"warn\",\"decode_layer_max_ns\":2e6},"
        "\"experts\":{\"accept_synthetic\":false,\"tokens_per_expert_min\":64,"
        "\"max_mean_excess_warn_ratio\":0.1,\"max_mean_excess_fail_ratio\":0.1,"
        "\"cv_excess_warn_ratio\":0.2,\"cv_excess_fail_ratio\":0.3,\"unused_max_experts\":2}}";
    struct policy p, q;
    struct buf once, twice;
    struct err e;

    (void)state;
    assert_int_equal(parse(text, &p, &e), 0);
    assert_string_equal(p.name, "nightly");
    assert_int_equal(p.backend_count, 1);
    assert_string_equal(p.backends[0].hardware, "metal");
    assert_int_equal(p.context_count, 3);
    assert_int_equal(p.contexts_tokens[0], 4096);
    assert_int_equal(p.contexts_tokens[1], 5000);
    assert_int_equal(p.contexts_tokens[2], 1048576);
    assert_true(p.required[VERDICT_FINGERPRINT] && p.required[VERDICT_FORMATS]);
    assert_false(p.required[VERDICT_OPERATORS] || p.required[VERDICT_CONTEXT] ||
                 p.required[VERDICT_EXPERTS]);
    assert_int_equal(p.fail_on, VERDICT_WARN);
    assert_true(p.fallback_time_max_ratio == 1.5 && p.cache_off_max_ratio == 0);
    assert_int_equal(p.constant_min_lengths, 4);
    assert_true(p.accept_extrapolation && p.decode_layer_max_ns == 2e6);
    assert_true(!p.accept_synthetic && p.tokens_per_expert_min == 64);
    assert_true(p.max_mean_excess_warn_ratio == 0.1 && p.max_mean_excess_fail_ratio == 0.1);
    assert_true(p.cv_excess_warn_ratio == 0.2 && p.cv_excess_fail_ratio == 0.3);
    assert_int_equal(p.unused_max_experts, 2);
    buf_init(&once, POLICY_BYTES_MAX);
    buf_init(&twice, POLICY_BYTES_MAX);
    policy_json(&p, &once);
    assert_int_equal(parse(once.data, &q, &e), 0);
    policy_json(&q, &twice);
    assert_string_equal(once.data, twice.data);
    policy_release(&p);
    policy_release(&q);
    buf_release(&once);
    buf_release(&twice);
}

static void unknown_keys_are_named_with_their_path(void **state)
{
    (void)state;
    rejects("{\"targets\":{}}", ERR_USAGE, "targets: no such key; did you mean target?");
    rejects("{\"target\":{\"backend\":[]}}", ERR_USAGE,
            "target.backend: no such key; did you mean backends?");
    rejects("{\"target\":{\"context\":[\"1M\"]}}", ERR_USAGE,
            "target.context: no such key; did you mean context_lengths?");
    rejects("{\"target\":{\"backends\":[{\"name\":\"a\",\"hardware\":\"sm90\"},"
            "{\"name\":\"a\",\"hardwear\":\"b\"}]}}",
            ERR_USAGE, "target.backends[1].hardwear: no such key; did you mean hardware?");
    rejects("{\"context\":{\"cache_off_ratio\":1}}", ERR_USAGE,
            "context.cache_off_ratio: no such key");
    rejects("{\"experts\":{\"acept_synthetic\":true}}", ERR_USAGE,
            "experts.acept_synthetic: no such key; did you mean accept_synthetic?");
    rejects("{\"zzz\":1}", ERR_USAGE, "zzz: no such key");
    rejects("{\"Name\":\"x\"}", ERR_USAGE, "Name: no such key; did you mean name?");
}

static void a_far_word_is_not_guessed(void **state)
{
    struct policy p;
    struct err e;

    (void)state;
    assert_int_equal(parse("{\"latency\":1}", &p, &e), ERR_USAGE);
    assert_null(strstr(e.msg, "did you mean"));
}

static void wrong_types_are_named(void **state)
{
    (void)state;
    rejects("[]", ERR_USAGE, "policy: must be an object, and is an array");
    rejects("{\"name\":3}", ERR_USAGE, "name: must be a text");
    rejects("{\"version\":\"1\"}", ERR_USAGE, "version: must be");
    rejects("{\"target\":[]}", ERR_USAGE, "target: must be an object");
    rejects("{\"target\":{\"backends\":{}}}", ERR_USAGE, "target.backends: must be an array");
    rejects("{\"target\":{\"backends\":[\"vllm\"]}}", ERR_USAGE, "target.backends[0]: must be");
    rejects("{\"target\":{\"backends\":[{\"name\":\"vllm\"}]}}", ERR_USAGE,
            "target.backends[0].hardware: must be a text, and is missing");
    rejects("{\"target\":{\"context_lengths\":[131072]}}", ERR_USAGE,
            "target.context_lengths: must be an array of texts");
    rejects("{\"required\":\"formats\"}", ERR_USAGE, "required: must be an array");
    rejects("{\"required\":[1]}", ERR_USAGE, "required: must be an array of texts");
    rejects("{\"fail_on\":true}", ERR_USAGE, "fail_on: must be a text");
    rejects("{\"operators\":1}", ERR_USAGE, "operators: must be an object");
    rejects("{\"operators\":{\"fallback_time_max_ratio\":\"3\"}}", ERR_USAGE,
            "operators.fallback_time_max_ratio: must be a number");
    rejects("{\"operators\":{\"fallback_time_max_ratio\":null}}", ERR_USAGE,
            "operators.fallback_time_max_ratio: must be a number");
    rejects("{\"context\":{\"decode_layer_max_ns\":\"1ms\"}}", ERR_USAGE,
            "context.decode_layer_max_ns: must be a number, or null");
    rejects("{\"context\":{\"extrapolation\":true}}", ERR_USAGE, "context.extrapolation: must be");
    rejects("{\"experts\":{\"accept_synthetic\":1}}", ERR_USAGE,
            "experts.accept_synthetic: must be true or false");
}

static void values_out_of_range_are_named(void **state)
{
    (void)state;
    rejects("{\"version\":2}", ERR_USAGE, "version: must be 1");
    rejects("{\"operators\":{\"fallback_time_max_ratio\":0.5}}", ERR_USAGE,
            "operators.fallback_time_max_ratio: must be from 1 to");
    rejects("{\"context\":{\"cache_off_max_ratio\":1.01}}", ERR_USAGE,
            "context.cache_off_max_ratio: must be from 0 to 1");
    rejects("{\"context\":{\"cache_off_max_ratio\":-0.01}}", ERR_USAGE, "must be from 0 to 1");
    rejects("{\"context\":{\"constant_min_lengths\":2}}", ERR_USAGE,
            "context.constant_min_lengths: must be from 3");
    rejects("{\"context\":{\"constant_min_lengths\":3.5}}", ERR_USAGE,
            "context.constant_min_lengths: must be a whole number");
    rejects("{\"context\":{\"decode_layer_max_ns\":0}}", ERR_USAGE, "must be from 1");
    rejects("{\"experts\":{\"max_mean_excess_warn_ratio\":2}}", ERR_USAGE,
            "experts.max_mean_excess_warn_ratio: must not be above");
    rejects("{\"experts\":{\"cv_excess_fail_ratio\":0.1}}", ERR_USAGE,
            "experts.cv_excess_warn_ratio: must not be above");
    rejects("{\"target\":{\"context_lengths\":[\"0\"]}}", ERR_USAGE, "context_lengths[0]");
    rejects("{\"target\":{\"context_lengths\":[\"4K\",\"2048M\"]}}", ERR_USAGE,
            "context_lengths[1]: must be from 1 to");
    rejects("{\"target\":{\"context_lengths\":[\"128 K\"]}}", ERR_USAGE, "context_lengths[0]");
    rejects("{\"target\":{\"context_lengths\":[]}}", ERR_USAGE, "at least one");
    rejects("{\"target\":{\"backends\":[]}}", ERR_USAGE, "target.backends: must name at least one");
    rejects("{\"required\":[]}", ERR_USAGE, "required: must name at least one item");
    rejects("{\"name\":\"\"}", ERR_USAGE, "name: must not be empty");
    rejects("{\"name\":\"a\\nb\"}", ERR_USAGE, "name: must not hold");
    rejects("{\"target\":{\"backends\":[{\"name\":\"a\",\"hardware\":\"h100\"}]}}", ERR_USAGE,
            "target.backends[0].hardware: no support table knows h100");
    rejects("{\"target\":{\"backends\":[{\"name\":\"a|b\",\"hardware\":\"c\"}]}}", ERR_USAGE,
            "target.backends[0].name: must not hold |");
}

static void unknown_and_doubled_words_are_named(void **state)
{
    (void)state;
    rejects("{\"required\":[\"format\"]}", ERR_USAGE,
            "required: format: no such item; did you mean formats?");
    rejects("{\"required\":[\"readiness\"]}", ERR_USAGE, "required: readiness: no such item");
    rejects("{\"required\":[\"formats\",\"context\",\"formats\"]}", ERR_USAGE,
            "required: formats is there twice");
    rejects("{\"fail_on\":\"unknwon\"}", ERR_USAGE, "did you mean unknown?");
    rejects("{\"fail_on\":\"pass\"}", ERR_USAGE, "fail_on: pass: no such");
    rejects("{\"target\":{\"context_lengths\":[\"1M\",\"4K\",\"1024K\"]}}", ERR_USAGE,
            "target.context_lengths[2]: this length is there already");
    rejects("{\"target\":{\"backends\":[{\"name\":\"a\",\"hardware\":\"sm90\"},"
            "{\"name\":\"a\",\"hardware\":\"any\"},{\"name\":\"a\",\"hardware\":\"sm90\"}]}}",
            ERR_USAGE, "target.backends[2]: the same as entry 0");
    rejects("{\"name\":\"a\",\"name\":\"b\"}", ERR_FORMAT, "name");
}

static void text_that_is_no_json_is_an_error(void **state)
{
    (void)state;
    rejects("", ERR_FORMAT, "");
    rejects("{\"name\":\"a\"} x", ERR_FORMAT, "");
    rejects("{name:1}", ERR_FORMAT, "");
}

static void limits_are_named(void **state)
{
    struct buf b;
    struct policy p;
    struct err e = {0};
    char *big = calloc(1, POLICY_BYTES_MAX + 1);

    (void)state;
    assert_non_null(big);
    memset(big, ' ', POLICY_BYTES_MAX + 1);
    assert_int_equal(policy_parse(big, POLICY_BYTES_MAX + 1, &p, &e), ERR_LIMIT);
    free(big);
    buf_init(&b, POLICY_BYTES_MAX);
    buf_adds(&b, "{\"target\":{\"backends\":[");
    for (int i = 0; i <= POLICY_BACKENDS_MAX; i++)
        buf_addf(&b, "%s{\"name\":\"b%d\",\"hardware\":\"any\"}", i ? "," : "", i);
    buf_adds(&b, "]}}");
    rejects(b.data, ERR_LIMIT, "target.backends: 33 entries, at most 32");
    b.len = 0;
    buf_adds(&b, "{\"target\":{\"context_lengths\":[");
    for (int i = 0; i <= POLICY_CONTEXTS_MAX; i++)
        buf_addf(&b, "%s\"%d\"", i ? "," : "", i + 1);
    buf_adds(&b, "]}}");
    rejects(b.data, ERR_LIMIT, "target.context_lengths: 33 entries, at most 32");
    b.len = 0;
    buf_adds(&b, "{\"name\":\"");
    for (int i = 0; i <= POLICY_NAME_BYTES_MAX; i++)
        buf_addc(&b, 'x');
    buf_adds(&b, "\"}");
    rejects(b.data, ERR_LIMIT, "name: 101 bytes, at most 100");
    buf_release(&b);
}

static void a_file_is_read_and_named_in_errors(void **state)
{
    char path[] = "/tmp/policy-XXXXXX";
    static const char good[] = "{\"name\":\"from a file\"}", bad[] = "{\"nam\":\"x\"}";
    struct policy p;
    struct err e = {0};
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, good, sizeof good - 1), (ssize_t)(sizeof good - 1));
    assert_int_equal(policy_read(path, &p, &e), 0);
    assert_string_equal(p.name, "from a file");
    policy_release(&p);
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(pwrite(fd, bad, sizeof bad - 1, 0), (ssize_t)(sizeof bad - 1));
    assert_int_equal(policy_read(path, &p, &e), ERR_USAGE);
    assert_non_null(strstr(e.msg, path));
    assert_non_null(strstr(e.msg, "nam: no such key"));
    close(fd);
    unlink(path);
    assert_int_equal(policy_read(path, &p, &e), ERR_NOTFOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builtin_has_the_documented_values),
        cmocka_unit_test(builtin_prints_as_its_file),
        cmocka_unit_test(what_is_left_out_is_builtin),
        cmocka_unit_test(every_key_is_read),
        cmocka_unit_test(unknown_keys_are_named_with_their_path),
        cmocka_unit_test(a_far_word_is_not_guessed),
        cmocka_unit_test(wrong_types_are_named),
        cmocka_unit_test(values_out_of_range_are_named),
        cmocka_unit_test(unknown_and_doubled_words_are_named),
        cmocka_unit_test(text_that_is_no_json_is_an_error),
        cmocka_unit_test(limits_are_named),
        cmocka_unit_test(a_file_is_read_and_named_in_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
