#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "model/jsontok.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads all of a document, from an exact allocation so that a read past the end is seen. The kinds
 * go to ret_kinds as letters, the last text or number to ret_last. */
static int read_all(const char *doc, size_t n, char *ret_kinds, size_t room, char ret_last[200],
                    struct err *e)
{
    static const char letters[] = "$o}a]ktun10z";
    char *copy = malloc(n ? n : 1);
    struct mem_arena arena = {0};
    struct jsontok t;
    struct jsontok_token token;
    size_t k = 0;
    int rc;

    assert_non_null(copy);
    memcpy(copy, doc, n);
    jsontok_init(&t, copy, n, &arena);
    do {
        rc = jsontok_next(&t, &token, e);
        if (rc)
            break;
        if (k + 2 < room)
            ret_kinds[k++] = letters[token.kind];
        if (token.len && token.len < 200)
            snprintf(ret_last, 200, "%.*s", (int)token.len, token.text);
    } while (token.kind != JSONTOK_END);
    ret_kinds[k] = '\0';
    jsontok_release(&t);
    mem_arena_release(&arena);
    free(copy);
    return rc;
}

static void expect(const char *doc, const char *kinds, const char *last)
{
    char got[300], text[200] = "";
    struct err e = {0};

    if (read_all(doc, strlen(doc), got, sizeof(got), text, &e))
        fail_msg("%s: %s", doc, e.msg);
    assert_string_equal(got, kinds);
    assert_string_equal(text, last);
}

static void valid_documents_give_their_tokens(void **state)
{
    (void)state;
    expect("{}", "o}$", "");
    expect("\r\n\t []  \n", "a]$", "");
    expect("{\"a\":[1,{\"b\":null}],\"c\":true}", "okauokz}]k1}$", "c");
    expect("0", "u$", "0");
    expect("18446744073709551615", "u$", "18446744073709551615");
    expect("false", "0$", "");
    expect("[\"\",\"x\"]", "att]$", "x");
}

static void integers_are_exact_and_other_numbers_told_apart(void **state)
{
    static const struct {
        const char *doc;
        enum jsontok_kind kind;
        uint64_t value;
        const char *name;
    } t[] = {
        {"9007199254740993", JSONTOK_UINT, 9007199254740993u, "a whole number"},
        {"18446744073709551615", JSONTOK_UINT, UINT64_MAX, "a whole number"},
        {"18446744073709551616", JSONTOK_NUMBER, 0, "a number over 64 bits"},
        {"99999999999999999999999999", JSONTOK_NUMBER, 0, "a number over 64 bits"},
        {"-1", JSONTOK_NUMBER, 0, "a negative number"},
        {"-0", JSONTOK_NUMBER, 0, "a negative number"},
        {"1.0", JSONTOK_NUMBER, 0, "a number with a fraction"},
        {"1e3", JSONTOK_NUMBER, 0, "a number with an exponent"},
        {"1.5E-3", JSONTOK_NUMBER, 0, "a number with an exponent"},
        {"1e400", JSONTOK_NUMBER, 0, "a number with an exponent"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        struct mem_arena arena = {0};
        struct jsontok j;
        struct jsontok_token token;
        struct err e = {0};
        jsontok_init(&j, t[i].doc, strlen(t[i].doc), &arena);
        assert_int_equal(jsontok_next(&j, &token, &e), 0);
        assert_int_equal(token.kind, t[i].kind);
        assert_true(token.u64 == t[i].value);
        assert_string_equal(jsontok_name(&token), t[i].name);
        jsontok_release(&j);
    }
}

static void escapes_are_resolved(void **state)
{
    (void)state;
    expect("\"\\u0061\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "t$", "a\"\\/\b\f\n\r\t");
    expect("\"\\u00e9\\u20AC\"", "t$", "\xc3\xa9\xe2\x82\xac");
    expect("\"\\ud83d\\ude00\"", "t$", "\xf0\x9f\x98\x80");
    expect("\"\xf0\x9f\x98\x80\xc3\xa9\"", "t$", "\xf0\x9f\x98\x80\xc3\xa9");
}

static void what_the_rfc_forbids_is_refused(void **state)
{
    static const char *const bad[] = {
        "", " ", "{", "[", "]", "}", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "{\"a\"}", "{\"a\":}",
        "{\"a\":1,}", "{,}", "{a:1}", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "{1:2}", "[1}", "{\"a\":1]",
        "01", "-", "+1", "1.", ".5", "1e", "1e+", "-01", "0x1", "1a", "NaN", "Infinity", "nul",
        "tru", "True", "'a'", "\"a", "\"\\", "\"\\\"", "\"\\x41\"", "\"\\u12\"", "\"\\u12g4\"",
        "\"\\u000\"", "\"a\nb\"", "\"\t\"", "\"\x7f\"x", "{} {}", "{}x", "1 2", "\v1", "\f1",
        "/*c*/1", "[1]//", "\xef\xbb\xbf{}", "{}\xef\xbb\xbf",
        /* bad UTF-8: stray continuation, overlong, surrogate, past U+10FFFF, cut */
        "\"\x80\"", "\"\xc0\xaf\"", "\"\xc1\x81\"", "\"\xe0\x80\xaf\"", "\"\xed\xa0\x80\"",
        "\"\xf4\x90\x80\x80\"", "\"\xf0\x80\x80\x80\"", "\"\xf5\x80\x80\x80\"", "\"\xe2\x82\"",
        "\"\xc3\"", "\xc3\xa9"};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char kinds[100], last[200];
        struct err e = {0};
        int rc = read_all(bad[i], strlen(bad[i]), kinds, sizeof(kinds), last, &e);
        if (rc != ERR_FORMAT)
            fail_msg("%s was taken (%d, %s)", bad[i], rc, kinds);
        assert_non_null(strstr(e.msg, "byte"));
    }
}

static void surrogates_alone_and_nul_are_refused(void **state)
{
    static const char *const bad[] = {"\"\\u0000\"",        "\"a\\u0000b\"",      "\"\\ud800\"",
                                      "\"\\ud800x\"",       "\"\\ud800\\u0041\"", "\"\\udc00\"",
                                      "\"\\udc00\\ud800\"", "\"\\ud83d\\ud83d\""};
    char kinds[100], last[200];
    struct err e = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(read_all(bad[i], strlen(bad[i]), kinds, sizeof(kinds), last, &e),
                         ERR_FORMAT);
    assert_int_equal(read_all("{}\0\0", 4, kinds, sizeof(kinds), last, &e), ERR_FORMAT);
    assert_int_equal(read_all("\"a\0b\"", 5, kinds, sizeof(kinds), last, &e), ERR_FORMAT);
}

static void keys_twice_are_refused_at_any_level(void **state)
{
    static const char *const bad[] = {"{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":2}",
                                      "[{\"x\":{\"a\":1,\"b\":2,\"a\":3}}]", "{\"\":1,\"\":1}",
                                      "{\"a\":{\"a\":1},\"b\":{\"a\":1},\"a\":1}"};
    char kinds[100], last[200];
    struct err e = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(read_all(bad[i], strlen(bad[i]), kinds, sizeof(kinds), last, &e),
                         ERR_FORMAT);
        assert_non_null(strstr(e.msg, "stands twice"));
    }
    assert_int_equal(read_all("{\"twin\":1,\"twin\":1}", 19, kinds, 100, last, &e), ERR_FORMAT);
    assert_non_null(strstr(e.msg, "\"twin\""));
    expect("{\"a\":{\"a\":1},\"b\":[{\"a\":1},{\"a\":1}],\"A\":1}", "okoku}kaoku}oku}]ku}$", "1");
}

static void a_twin_among_many_keys_is_found(void **state)
{
    size_t cap = 1 << 20, n = 0;
    char *doc = malloc(cap), kinds[8], last[200];
    struct err e = {0};

    (void)state;
    assert_non_null(doc);
    for (int twin = 0; twin < 2; twin++) {
        n = (size_t)snprintf(doc, cap, "{");
        for (int i = 0; i < 20000; i++)
            n += (size_t)snprintf(doc + n, cap - n, "\"layers.%d.weight\":1,", i);
        n += (size_t)snprintf(doc + n, cap - n, "\"layers.%d.weight\":1}", twin ? 777 : 20000);
        assert_int_equal(read_all(doc, n, kinds, sizeof(kinds), last, &e), twin ? ERR_FORMAT : 0);
    }
    assert_non_null(strstr(e.msg, "layers.777.weight"));
    free(doc);
}

static void depth_has_a_limit(void **state)
{
    char doc[2000], kinds[400], last[200];
    struct err e = {0};

    (void)state;
    memset(doc, '[', 64);
    memset(doc + 64, ']', 64);
    assert_int_equal(read_all(doc, 128, kinds, sizeof(kinds), last, &e), 0);
    memset(doc, '[', 65);
    memset(doc + 65, ']', 65);
    assert_int_equal(read_all(doc, 130, kinds, sizeof(kinds), last, &e), ERR_LIMIT);
    memset(doc, '[', sizeof(doc));
    assert_int_equal(read_all(doc, sizeof(doc), kinds, sizeof(kinds), last, &e), ERR_LIMIT);
    /* objects and arrays mixed down to the last level close with their own bracket */
    char *p = doc;
    for (int i = 0; i < 32; i++)
        p += sprintf(p, "[{\"k\":");
    p += sprintf(p, "1");
    for (int i = 0; i < 32; i++)
        p += sprintf(p, "}]");
    assert_int_equal(read_all(doc, strlen(doc), kinds, sizeof(kinds), last, &e), 0);
}

static void skip_passes_one_value(void **state)
{
    static const char doc[] = "{\"a\":{\"x\":[1,[2,{}]],\"y\":{}},\"b\":[],\"c\":3}";
    struct mem_arena arena = {0};
    struct jsontok t;
    struct jsontok_token token;
    struct err e = {0};
    int keys = 0;

    (void)state;
    jsontok_init(&t, doc, strlen(doc), &arena);
    assert_int_equal(jsontok_next(&t, &token, &e), 0);
    for (;;) {
        assert_int_equal(jsontok_next(&t, &token, &e), 0);
        if (token.kind == JSONTOK_OBJECT_END)
            break;
        assert_int_equal(token.kind, JSONTOK_KEY);
        keys++;
        assert_int_equal(jsontok_next(&t, &token, &e), 0);
        assert_int_equal(jsontok_skip(&t, &token, &e), 0);
    }
    assert_int_equal(keys, 3);
    assert_int_equal(token.u64, 0);
    assert_int_equal(jsontok_next(&t, &token, &e), 0);
    assert_int_equal(token.kind, JSONTOK_END);
    jsontok_release(&t);
}

static void errors_say_where(void **state)
{
    char kinds[100], last[200];
    struct err e = {0};

    (void)state;
    assert_int_equal(read_all("{\n\"a\": 01}", 10, kinds, sizeof(kinds), last, &e), ERR_FORMAT);
    assert_string_equal(e.msg, "a number with a leading zero at byte 7 (line 2)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_documents_give_their_tokens),
        cmocka_unit_test(integers_are_exact_and_other_numbers_told_apart),
        cmocka_unit_test(escapes_are_resolved),
        cmocka_unit_test(what_the_rfc_forbids_is_refused),
        cmocka_unit_test(surrogates_alone_and_nul_are_refused),
        cmocka_unit_test(keys_twice_are_refused_at_any_level),
        cmocka_unit_test(a_twin_among_many_keys_is_found),
        cmocka_unit_test(depth_has_a_limit),
        cmocka_unit_test(skip_passes_one_value),
        cmocka_unit_test(errors_say_where),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
