#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "model/index.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int parse(const char *text, struct finding_list *f, struct shard_index *ret, struct err *e)
{
    size_t n = strlen(text);
    char *copy = malloc(n ? n : 1);

    assert_non_null(copy);
    memcpy(copy, text, n);
    int rc = index_parse(copy, n, f, ret, e);
    free(copy);
    return rc;
}

static void refused(const char *text, int code, const char *part)
{
    struct shard_index x;
    struct finding_list f = {0};
    struct err e = {0};
    int rc = parse(text, &f, &x, &e);

    if (rc != code || !strstr(e.msg, part))
        fail_msg("%s gave %d (%s)", text, rc, e.msg);
    finding_list_release(&f);
}

static void an_index_is_read_and_sorted(void **state)
{
    struct shard_index x;
    struct finding_list f = {0};
    struct err e = {0};

    (void)state;
    assert_int_equal(
        parse("{\"metadata\":{\"total_size\":9007199254740993,\"x\":[{}]},"
              "\"weight_map\":{\"b\":\"z-2.safetensors\",\"a\":\"sub/y-1.safetensors\","
              "\"c\":\"z-2.safetensors\",\"\\u0061b\":\"m.safetensors\"},\"more\":1}",
              &f, &x, &e),
        0);
    assert_int_equal(f.count, 0);
    assert_true(x.has_total_size);
    assert_true(x.total_size == 9007199254740993u);
    assert_int_equal(x.shard_count, 3);
    assert_string_equal(x.shards[0], "m.safetensors");
    assert_string_equal(x.shards[1], "sub/y-1.safetensors");
    assert_string_equal(x.shards[2], "z-2.safetensors");
    assert_int_equal(x.count, 4);
    assert_string_equal(x.entries[0].name, "a");
    assert_int_equal(x.entries[0].shard, 1);
    assert_string_equal(x.entries[1].name, "ab");
    assert_int_equal(x.entries[1].shard, 0);
    assert_string_equal(x.entries[2].name, "b");
    assert_int_equal(x.entries[2].shard, 2);
    assert_int_equal(x.entries[3].shard, 2);
    assert_int_equal(index_find_shard(&x, "sub/y-1.safetensors"), 1);
    assert_int_equal(index_find_shard(&x, "y-1.safetensors"), -1);
    index_release(&x);
}

static void total_size_is_optional_and_may_be_spelled_as_a_float(void **state)
{
    static const struct {
        const char *text;
        int has;
        uint64_t value;
        size_t findings;
    } t[] = {{"{\"weight_map\":{\"a\":\"s\"}}", 0, 0, 0},
             {"{\"metadata\":{},\"weight_map\":{\"a\":\"s\"}}", 0, 0, 0},
             {"{\"metadata\":null,\"weight_map\":{\"a\":\"s\"}}", 0, 0, 0},
             {"{\"metadata\":{\"total_size\":0},\"weight_map\":{\"a\":\"s\"}}", 1, 0, 0},
             {"{\"metadata\":{\"total_size\":1234.0},\"weight_map\":{\"a\":\"s\"}}", 1, 1234, 0},
             {"{\"metadata\":{\"total_size\":1.2e3},\"weight_map\":{\"a\":\"s\"}}", 1, 1200, 0},
             {"{\"metadata\":{\"total_size\":1234.5},\"weight_map\":{\"a\":\"s\"}}", 0, 0, 1},
             {"{\"metadata\":{\"total_size\":-8},\"weight_map\":{\"a\":\"s\"}}", 0, 0, 1},
             {"{\"metadata\":{\"total_size\":1e99},\"weight_map\":{\"a\":\"s\"}}", 0, 0, 1},
             {"{\"metadata\":{\"total_size\":\"8\"},\"weight_map\":{\"a\":\"s\"}}", 0, 0, 1},
             {"{\"metadata\":{\"total_size\":[8]},\"weight_map\":{\"a\":\"s\"}}", 0, 0, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        struct shard_index x;
        struct finding_list f = {0};
        struct err e = {0};
        if (parse(t[i].text, &f, &x, &e))
            fail_msg("%s: %s", t[i].text, e.msg);
        assert_int_equal(x.has_total_size, t[i].has);
        if (t[i].has)
            assert_true(x.total_size == t[i].value);
        assert_int_equal(f.count, t[i].findings);
        if (f.count)
            assert_string_equal(f.items[0].code, "index-total-size");
        index_release(&x);
        finding_list_release(&f);
    }
}

static void shard_names_that_could_leave_the_folder_are_refused(void **state)
{
    static const char *const bad[] = {"../x",      "/x",     "http://x",  "a/../b",  "a/..",
                                      "..",        ".",      "./x",       "a//b",    "a/",
                                      "",          "a\\\\b", "..\\\\x",   "C:x",     "C:\\\\x",
                                      "file:///x", "a\\nb",  "a\\u007fb", "hf://o/r"};
    static const char *const good[] = {"x",        "sub/x", "sub/deep/x.safetensors", "..x",
                                       "a..b/c..", "...",   "\xc3\xa9.safetensors",   "a b",
                                       "shard-1:2"};
    char text[200];

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        snprintf(text, sizeof(text), "{\"weight_map\":{\"w\":\"%s\"}}", bad[i]);
        refused(text, ERR_FORMAT, "tensor \"w\": the shard name");
    }
    refused("{\"weight_map\":{\"w\":\"../x\"}}", ERR_FORMAT, "\"../x\" has a \"..\" part");
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct shard_index x;
        struct finding_list f = {0};
        struct err e = {0};
        snprintf(text, sizeof(text), "{\"weight_map\":{\"w\":\"%s\"}}", good[i]);
        if (parse(text, &f, &x, &e))
            fail_msg("%s: %s", good[i], e.msg);
        index_release(&x);
    }
    char *big = malloc(3000);
    assert_non_null(big);
    memset(big, 'x', 2999);
    memcpy(big, "{\"weight_map\":{\"w\":\"", 20);
    memcpy(big + 2995, "\"}}", 4);
    refused(big, ERR_LIMIT, "1024");
    free(big);
}

static void names_twice_are_refused(void **state)
{
    (void)state;
    refused("{\"weight_map\":{\"a\":\"s\",\"a\":\"s\"}}", ERR_FORMAT, "\"a\" stands twice");
    refused("{\"weight_map\":{\"a\":\"s\",\"\\u0061\":\"t\"}}", ERR_FORMAT, "stands twice");
    refused("{\"weight_map\":{\"a\":\"s\"},\"weight_map\":{}}", ERR_FORMAT, "stands twice");
    refused("{\"metadata\":{\"total_size\":1,\"total_size\":2},\"weight_map\":{\"a\":\"s\"}}",
            ERR_FORMAT, "stands twice");
}

static void the_form_is_checked(void **state)
{
    (void)state;
    refused("", ERR_FORMAT, "no document");
    refused("[]", ERR_FORMAT, "the index is an array");
    refused("{}", ERR_FORMAT, "has no weight_map");
    refused("{\"weight_map\":[]}", ERR_FORMAT, "weight_map is an array");
    refused("{\"weight_map\":{\"a\":1}}", ERR_FORMAT, "tensor \"a\": is a whole number");
    refused("{\"weight_map\":{\"a\":null}}", ERR_FORMAT, "tensor \"a\": is null");
    refused("{\"metadata\":3,\"weight_map\":{}}", ERR_FORMAT, "metadata is a whole number");
    refused("{\"weight_map\":{\"a\":\"s\"}", ERR_FORMAT, "ends in the middle"); /* cut short */
    refused("{\"weight_map\":{\"a\":\"s\"}}x", ERR_FORMAT, "after the end");
    refused("{\"weight_map\":{\"a\\u0000\":\"s\"}}", ERR_FORMAT, "\\u0000");
}

static void a_byte_order_mark_is_a_finding(void **state)
{
    struct shard_index x;
    struct finding_list f = {0};
    struct err e = {0};

    (void)state;
    assert_int_equal(parse("\xef\xbb\xbf{\"weight_map\":{}}", &f, &x, &e), 0);
    assert_int_equal(f.count, 2);
    assert_string_equal(f.items[0].code, "index-bom");
    assert_int_equal(f.items[0].severity, FINDING_WARN);
    assert_string_equal(f.items[1].code, "index-empty");
    index_release(&x);
    finding_list_release(&f);
}

/* The size of Kimi K3's index: 500,000 names. No time is asserted; a quadratic reader would be
 * noticed by whoever waits. */
static void half_a_million_entries_are_read(void **state)
{
    size_t cap = 64u << 20, n = 0, entries = 500000;
    char *text = malloc(cap);
    struct shard_index x;
    struct finding_list f = {0};
    struct err e = {0};

    (void)state;
    assert_non_null(text);
    n += (size_t)snprintf(text, cap, "{\"metadata\":{\"total_size\":1},\"weight_map\":{");
    for (size_t i = 0; i < entries; i++)
        n += (size_t)snprintf(text + n, cap - n,
                              "%s\n\"language_model.model.layers.%zu.block_sparse_moe.experts.%zu."
                              "w1.weight_packed\": \"model-%05zu-of-00096.safetensors\"",
                              i ? "," : "", i % 93, i / 93, i * 96 / entries + 1);
    n += (size_t)snprintf(text + n, cap - n, "}}");
    assert_true(n > 50u << 20);
    assert_int_equal(index_parse(text, n, &f, &x, &e), 0);
    free(text);
    assert_int_equal(x.count, entries);
    assert_int_equal(x.shard_count, 96);
    for (size_t i = 1; i < x.count; i++)
        if (strcmp(x.entries[i - 1].name, x.entries[i].name) >= 0)
            fail_msg("not sorted at %zu", i);
    index_release(&x);
}

static void too_many_shards_are_a_limit(void **state)
{
    size_t cap = 1u << 20, n = 0;
    char *text = malloc(cap);

    (void)state;
    assert_non_null(text);
    n += (size_t)snprintf(text, cap, "{\"weight_map\":{");
    for (int i = 0; i <= 10000; i++)
        n += (size_t)snprintf(text + n, cap - n, "\"t%d\":\"s%d\",", i, i);
    snprintf(text + n - 1, cap - n, "}}");
    refused(text, ERR_LIMIT, "10000 shards");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_index_is_read_and_sorted),
        cmocka_unit_test(total_size_is_optional_and_may_be_spelled_as_a_float),
        cmocka_unit_test(shard_names_that_could_leave_the_folder_are_refused),
        cmocka_unit_test(names_twice_are_refused),
        cmocka_unit_test(the_form_is_checked),
        cmocka_unit_test(a_byte_order_mark_is_a_finding),
        cmocka_unit_test(half_a_million_entries_are_read),
        cmocka_unit_test(too_many_shards_are_a_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
