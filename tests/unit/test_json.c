#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <dirent.h>
#include <unistd.h>
#include "core/file.h"
#include "core/json.c"

static int parse(const char *text, struct cJSON **ret, struct err *e)
{
    /* an exact allocation: AddressSanitizer sees a read past the end */
    size_t n = strlen(text);
    char *exact = mem_alloc(n, 1);
    memcpy(exact, text, n);
    int rc = json_parse(exact, n, ret, NULL, e);
    free(exact);
    return rc;
}

static void takes(const char *text)
{
    struct cJSON *doc = NULL;
    struct err e = {0};

    if (parse(text, &doc, &e) != 0)
        fail_msg("%s was refused: %s", text, e.msg);
    json_free(doc);
}

static void refuses(const char *text, enum err_code code, const char *words)
{
    struct cJSON *doc = (struct cJSON *)&doc;
    struct err e = {0};

    if (parse(text, &doc, &e) != (int)code)
        fail_msg("%s: not refused as it should be: %s", text, e.msg);
    assert_ptr_equal(doc, &doc);
    if (!strstr(e.msg, words))
        fail_msg("%s: the message is \"%s\", without \"%s\"", text, e.msg, words);
}

/* The values that RFC 8259 allows; the list follows the y_ cases of the JSON parsing test suite. */
static void takes_what_the_rfc_allows(void **state)
{
    static const char *const good[] = {
        "null",
        "true",
        "false",
        "0",
        "-0",
        "\"\"",
        "[]",
        "{}",
        " [ ] ",
        "\t\r\n{ \"a\" : 1 }\n",
        "[1,2,3]",
        "[[],[[]]]",
        "{\"a\":{\"b\":{}}}",
        "-1.5e+10",
        "1E5",
        "1e-5",
        "0.1",
        "123456789",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
        "\"\\u00e9\\uD834\\uDD1E\"",
        "\"\xc3\xa9\xf0\x9d\x84\x9e\"",
        "\"\x7f\"",
        "\"\xe2\x80\xa8\"",
        "{\"\":0}",
        "{\"a\":1,\"A\":2}",
        "{\"a\":[{\"a\":1},{\"a\":2}]}",
        "[1e308]",
        "[5e-324]",
        "[1e-400]",
        "[-9007199254740993]",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        takes(good[i]);
}

static void refuses_what_the_rfc_forbids(void **state)
{
    static const char *const bad[] = {
        "",
        " ",
        "nul",
        "True",
        "truex",
        "NaN",
        "Infinity",
        "-Infinity",
        "01",
        "-01",
        "1.",
        ".5",
        "+1",
        "-",
        "1e",
        "1e+",
        "0x10",
        "1_000",
        "[",
        "]",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[1]]",
        "{",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,",
        "{\"a\":1,}",
        "{a:1}",
        "{'a':1}",
        "{1:1}",
        "{\"a\" 1}",
        "{\"a\":1 \"b\":2}",
        "[}",
        "{]",
        "\"",
        "\"a",
        "\"\\",
        "\"\\x\"",
        "\"\\u\"",
        "\"\\u12\"",
        "\"\\u123g\"",
        "\"\\U0041\"",
        "'a'",
        "\"\t\"",
        "\"\n\"",
        "\"\x01\"",
        "\"\x1f\"",
        "[1]x",
        "1 2",
        "{}{}",
        "// c\n1",
        "/**/1",
        "[1]\v",
        "\f1",
        "\xc2\xa0"
        "1",
        "\"\xff\"",
        "\"\xc0\x80\"",
        "\"\xed\xa0\x80\"",
        "\"\xe2\x82\"",
        "\"\xe2\x82",
        "\xff",
        "[\"a\",\n4\n,1,",
        "\xef\xbb\xbf\xef\xbb\xbf"
        "1",
        "\xef\xbb",
        "[1]\xef\xbb\xbf",
        "\"\\uD834\"",
        "\"\\uD834\\u0041\"",
        "\"\\uDD1E\"",
        "\"\\uD834\\",
        "\"\\uD834\\uDD1",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        refuses(bad[i], ERR_FORMAT, "");
}

static void refuses_nul_everywhere(void **state)
{
    static const char raw[][8] = {"\"a\0b\"", "[1]\0", "\0", "1\0002"};
    struct cJSON *doc;
    struct err e = {0};

    (void)state;
    refuses("{\"a\\u0000b\":1}", ERR_FORMAT, "\\u0000");
    refuses("\"\\u0000\"", ERR_FORMAT, "\\u0000");
    assert_int_equal(json_parse(raw[0], 5, &doc, NULL, &e), ERR_FORMAT);
    assert_int_equal(json_parse(raw[1], 4, &doc, NULL, &e), ERR_FORMAT);
    assert_int_equal(json_parse(raw[2], 1, &doc, NULL, &e), ERR_FORMAT);
    assert_int_equal(json_parse(raw[3], 3, &doc, NULL, &e), ERR_FORMAT);
}

static void refuses_a_key_twice_in_one_object(void **state)
{
    (void)state;
    refuses("{\"a\":1,\"a\":2}", ERR_FORMAT, "\"a\"");
    refuses("{\"a\":1,\"b\":2,\"\\u0061\":3}", ERR_FORMAT, "\"a\"");
    refuses("{\"\":1,\"\":2}", ERR_FORMAT, "twice");
    refuses("[{},{\"x\":[[{\"k/1\":1,\"k\\/1\":2}]]}]", ERR_FORMAT, "\"k/1\"");
    refuses("{\"z\":{\"q\":1},\"y\":{\"q\":1,\"q\":1}}", ERR_FORMAT, "\"q\"");
    refuses("{\"e\x1b[2J\":1", ERR_FORMAT, "control character");
    refuses("{\"\\u001b\":1,\"\\u001b\":1}", ERR_FORMAT, "\\x1b");
}

static void message_says_line_and_column(void **state)
{
    (void)state;
    refuses("{\n  \"a\": 01\n}", ERR_FORMAT, "line 2, column 8");
    refuses("[1,\r\n2,\r\n\"\xc3\xa9\xc3\xa9\" x]", ERR_FORMAT, "line 3, column 6: 'x'");
    refuses("[1,2", ERR_FORMAT, "line 1, column 5: the text ends where a comma or ] must stand");
    refuses("\x1b", ERR_FORMAT, "'\\x1b' stands where a value must stand");
    refuses("\"abc", ERR_FORMAT, "line 1, column 1: the string that starts here has no end");
}

static void oddities_are_taken_and_told(void **state)
{
    static const struct {
        const char *text;
        unsigned odd;
        const char *print;
    } cases[] = {
        {"7", 0, "7\n"},
        {"\xef\xbb\xbf"
         "7",
         JSON_ODD_BOM, "7\n"},
        {"[0.0, Infinity]", JSON_ODD_WORDS, "[0,null]\n"},
        {"[-Infinity,-1,NaN]", JSON_ODD_WORDS, "[null,-1,null]\n"},
        {"NaN", JSON_ODD_WORDS, "null\n"},
        {"[NaN,NaN,NaN,NaN]", JSON_ODD_WORDS, "[null,null,null,null]\n"},
        {"\xef\xbb\xbf{\"NaN\":NaN,\"\\\"-Infinity\":\"Infinity\"}", JSON_ODD_BOM | JSON_ODD_WORDS,
         "{\"NaN\":null,\"\\\"-Infinity\":\"Infinity\"}\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cJSON *doc;
        struct err e = {0};
        struct buf b;
        unsigned odd = 99;
        if (json_parse(cases[i].text, strlen(cases[i].text), &doc, &odd, &e) != 0)
            fail_msg("%s: %s", cases[i].text, e.msg);
        assert_int_equal(odd, cases[i].odd);
        buf_init(&b, 1000);
        json_print(doc, true, &b);
        assert_string_equal(b.data, cases[i].print);
        buf_release(&b);
        json_free(doc);
        if (cases[i].odd)
            refuses(cases[i].text, ERR_FORMAT, "line 1");
    }
}

static void words_close_to_oddities_are_refused(void **state)
{
    static const char *const bad[] = {
        "nan",        "Nan",        "NaNs", "Inf", "Infinityx", "+Infinity", "-NaN",
        "--Infinity", "- Infinity", "-I",   "N",   "{NaN:1}",   "1Infinity"};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct cJSON *doc = NULL;
        struct err e = {0};
        unsigned odd = 99;
        if (json_parse(bad[i], strlen(bad[i]), &doc, &odd, &e) != ERR_FORMAT)
            fail_msg("%s was taken", bad[i]);
        assert_int_equal(odd, 99);
    }
}

static void nest(struct buf *b, size_t depth, const char *open, const char *inner,
                 const char *close)
{
    buf_init(b, 64u << 20);
    for (size_t i = 0; i < depth; i++)
        buf_adds(b, open);
    buf_adds(b, inner);
    for (size_t i = 0; i < depth; i++)
        buf_adds(b, close);
}

static void depth_has_a_limit(void **state)
{
    static const size_t deep[] = {JSON_DEPTH_MAX + 1, 1000, 1001, 2000000};
    struct buf b;

    (void)state;
    nest(&b, JSON_DEPTH_MAX, "[", "", "]");
    takes(b.data);
    buf_release(&b);
    nest(&b, JSON_DEPTH_MAX, "{\"a\":", "1", "}");
    takes(b.data);
    buf_release(&b);
    for (size_t i = 0; i < 4; i++) {
        nest(&b, deep[i], "[", "", "]");
        refuses(b.data, ERR_LIMIT, "64 levels");
        buf_release(&b);
    }
    nest(&b, 2000000, "{\"a\":", "1", "}");
    refuses(b.data, ERR_LIMIT, "64 levels");
    buf_release(&b);
}

static void size_and_count_have_limits(void **state)
{
    struct cJSON *doc;
    struct err e = {0};
    size_t n = (size_t)JSON_DOCUMENT_BYTES_MAX + 1;

    (void)state;
    char *big = mem_alloc(n, 1);
    memset(big, ' ', n);
    assert_int_equal(json_parse(big, n, &doc, NULL, &e), ERR_LIMIT);
    big[0] = '0';
    assert_int_equal(json_parse(big, n - 1, &doc, NULL, &e), 0);
    json_free(doc);
    memset(big, '0', n);
    big[0] = '[';
    for (size_t i = 2; i < n; i += 2)
        big[i] = ',';
    big[n - 2] = ']';
    assert_int_equal(json_parse(big, n - 1, &doc, NULL, &e), ERR_LIMIT);
    assert_non_null(strstr(e.msg, "4194304 values"));
    free(big);
}

static void numbers_have_limits(void **state)
{
    char digits[80];

    (void)state;
    memset(digits, '1', sizeof(digits));
    digits[63] = '\0';
    takes(digits);
    memset(digits, '1', sizeof(digits));
    digits[64] = '\0';
    refuses(digits, ERR_LIMIT, "63 characters");
    refuses("1e309", ERR_LIMIT, "too large");
    refuses("[-1e400]", ERR_LIMIT, "too large");
}

/* cJSON compares each key with each before it; half a million would take a quarter of an hour. */
static void half_a_million_keys_are_no_trouble(void **state)
{
    struct cJSON *doc;
    struct err e = {0};
    struct buf b;

    (void)state;
    buf_init(&b, 64u << 20);
    buf_addc(&b, '{');
    for (int i = 0; i < 500000; i++)
        buf_addf(&b, "%s\"model.layers.%d.weight\":\"s\"", i ? "," : "", (int)(i * 7919L % 500000));
    size_t open = b.len;
    buf_addc(&b, '}');
    assert_int_equal(json_parse(b.data, b.len, &doc, NULL, &e), 0);
    assert_int_equal(json_count(doc), 500000);
    json_free(doc);
    b.len = open;
    buf_adds(&b, ",\"model.layers.77777.w\\u0065ight\":1}");
    assert_int_equal(json_parse(b.data, b.len, &doc, NULL, &e), ERR_FORMAT);
    assert_non_null(strstr(e.msg, "model.layers.77777.weight"));
    buf_release(&b);
}

static void reading_is_strict_about_kinds(void **state)
{
    struct cJSON *doc;
    struct err e = {0};
    const char *s = "old";
    bool t = true;
    double x = 5;
    uint64_t n = 5;

    (void)state;
    assert_int_equal(parse("{\"Key\":\"v\",\"key\":4.0,\"n\":null,\"t\":false,\"a\":[1,2],\"o\":{},"
                           "\"neg\":-1,\"half\":0.5,\"e\":1e3}",
                           &doc, &e),
                     0);
    assert_true(json_text(json_get(doc, "Key"), &s));
    assert_string_equal(s, "v");
    assert_true(json_u64(json_get(doc, "key"), &n) && n == 4);
    assert_true(json_u64(json_get(doc, "e"), &n) && n == 1000);
    assert_null(json_get(doc, "KEY"));
    assert_null(json_get(NULL, "x"));
    assert_null(json_get(json_get(doc, "a"), "x"));
    assert_int_equal(json_count(json_get(doc, "a")), 2);
    assert_int_equal(json_count(json_get(doc, "n")), 0);
    assert_null(json_first(json_get(doc, "o")));
    assert_null(json_first(NULL));
    assert_string_equal(json_key(json_next(json_first(doc))), "key");
    n = 5, s = "old";
    assert_false(json_u64(json_get(doc, "neg"), &n));
    assert_false(json_u64(json_get(doc, "half"), &n));
    assert_false(json_u64(json_get(doc, "Key"), &n));
    assert_false(json_u64(NULL, &n));
    assert_false(json_text(json_get(doc, "key"), &s));
    assert_false(json_real(json_get(doc, "t"), &x));
    assert_false(json_bool(json_get(doc, "n"), &t));
    assert_true(n == 5 && x == 5 && t && strcmp(s, "old") == 0);
    assert_true(json_bool(json_get(doc, "t"), &t) && !t);
    assert_true(json_real(json_get(doc, "half"), &x) && x == 0.5);
    assert_int_equal(json_kind(NULL), JSON_MISSING);
    assert_int_equal(json_kind(json_get(doc, "n")), JSON_NULL);
    assert_int_equal(json_kind(doc), JSON_OBJECT);
    assert_string_equal(json_kind_name(JSON_MISSING), "missing");
    json_free(doc);
}

/* 2^53 + 1 reads as 2^53, so neither may pass for an exact whole number. */
static void whole_numbers_end_below_2_53(void **state)
{
    struct cJSON *doc;
    struct err e = {0};
    uint64_t n = 0;

    (void)state;
    assert_int_equal(parse("[9007199254740991,9007199254740992,9007199254740993,1e16]", &doc, &e),
                     0);
    const struct cJSON *item = json_first(doc);
    assert_true(json_u64(item, &n) && n == 9007199254740991);
    for (item = json_next(item); item; item = json_next(item))
        assert_false(json_u64(item, &n));
    json_free(doc);
}

static void printing_is_exact_and_indented(void **state)
{
    static const char want[] = "{\n"
                               "  \"max\": 18446744073709551615,\n"
                               "  \"min\": -9223372036854775808,\n"
                               "  \"third\": 0.3333333333333333,\n"
                               "  \"tenth\": 0.1,\n"
                               "  \"big\": 1e+300,\n"
                               "  \"nan\": null,\n"
                               "  \"none\": null,\n"
                               "  \"yes\": true,\n"
                               "  \"list\": [\n"
                               "    1,\n"
                               "    {},\n"
                               "    []\n"
                               "  ],\n"
                               "  \"text\": \"a\\\"b\\\\c\\n\\u0001\xc3\xa9\xef\xbf\xbd\"\n"
                               "}\n";
    struct cJSON *doc = json_object(), *list;
    struct buf b;
    uint64_t n;

    (void)state;
    json_add_u64(doc, "max", UINT64_MAX);
    json_add_i64(doc, "min", INT64_MIN);
    json_add_real(doc, "third", 1.0 / 3);
    json_add_real(doc, "tenth", 0.1);
    json_add_real(doc, "big", 1e300);
    json_add_real(doc, "nan", (double)NAN);
    json_add_text(doc, "none", NULL);
    json_add_bool(doc, "yes", true);
    list = json_add_array(doc, "list");
    assert_true(json_u64(json_add_u64(list, NULL, 1), &n) && n == 1);
    json_add_object(list, NULL);
    json_add_array(list, NULL);
    json_add_text(doc, "text", "a\"b\\c\n\x01\xc3\xa9\xff");
    buf_init(&b, 10000);
    json_print(doc, false, &b);
    assert_string_equal(b.data, want);
    b.len = 0;
    json_print(list, true, &b);
    assert_string_equal(b.data, "[1,{},[]]\n");
    buf_release(&b);
    json_free(doc);
}

/* JSON on a terminal must not steer it: DEL, U+009B (CSI), U+202E and the like as \\u. */
static void what_a_terminal_would_obey_is_escaped(void **state)
{
    static const char text[] = "\x1b[31m\x7f\xc2\x9b"
                               "5m\xe2\x80\xae\xc3\xa9\xe2\x9c\x93";
    struct cJSON *doc = json_array(), *again;
    struct err e = {0};
    const char *back;
    struct buf b;

    (void)state;
    json_add_text(doc, NULL, text);
    buf_init(&b, 1000);
    json_print(doc, true, &b);
    assert_string_equal(b.data, "[\"\\u001b[31m\\u007f\\u009b5m\\u202e\xc3\xa9\xe2\x9c\x93\"]\n");
    assert_int_equal(json_parse(b.data, b.len, &again, NULL, &e), 0);
    assert_true(json_text(json_first(again), &back));
    assert_string_equal(back, text);
    buf_release(&b);
    json_free(doc);
    json_free(again);
}

static void what_is_printed_is_read_again(void **state)
{
    struct cJSON *doc = json_array(), *again;
    struct err e = {0};
    struct buf b, c;
    double x = 0;

    (void)state;
    srand(7);
    for (int i = 0; i < 2000; i++) {
        uint64_t bits = (uint64_t)rand() << 42 ^ (uint64_t)rand() << 21 ^ (uint64_t)rand();
        memcpy(&x, &bits, sizeof(x));
        json_add_real(doc, NULL, x);
    }
    struct cJSON *o = json_add_object(doc, NULL);
    json_add_text(o, "k\xff\x02\"", "v");
    buf_init(&b, 1 << 20);
    buf_init(&c, 1 << 20);
    json_print(doc, false, &b);
    assert_int_equal(json_parse(b.data, b.len, &again, NULL, &e), 0);
    const struct cJSON *p = json_first(doc), *q = json_first(again);
    for (; p; p = json_next(p), q = json_next(q)) {
        double y = 0;
        if (json_kind(p) != JSON_NUMBER)
            continue;
        assert_true(json_real(p, &x) && json_real(q, &y));
        assert_memory_equal(&x, &y, sizeof(x));
    }
    json_print(again, false, &c);
    assert_string_equal(b.data, c.data);
    json_free(doc);
    json_free(again);
    buf_release(&b);
    buf_release(&c);
}

static void deep_trees_of_ours_print_without_recursion(void **state)
{
    struct cJSON *doc = json_array(), *to = doc;
    struct buf b;

    (void)state;
    for (int i = 1; i < 900; i++)
        to = json_add_array(to, NULL);
    buf_init(&b, 10000);
    json_print(doc, true, &b);
    assert_int_equal(b.len, 2 * 900 + 1);
    buf_release(&b);
    json_free(doc);
}

/* Real files: each config.json of the corpus is read, and those of Nemotron with their Infinity. */
static void real_configs_are_read(void **state)
{
    const char *corpus = getenv("CORPUS") ? getenv("CORPUS") : "../shared/corpus";
    DIR *d = opendir(corpus);
    int read = 0, nemotron = 0;

    (void)state;
    if (!d) {
        puts("skip: no corpus of real files");
        skip();
    }
    for (struct dirent *entry; (entry = readdir(d));) {
        char path[FILE_PATH_BYTES];
        struct err e = {0};
        struct cJSON *doc;
        struct buf b;
        unsigned odd = 0;
        (void)snprintf(path, sizeof(path), "%s/%s/config.json", corpus, entry->d_name);
        if (access(path, R_OK) != 0)
            continue;
        buf_init(&b, JSON_DOCUMENT_BYTES_MAX);
        assert_int_equal(file_read(path, &b, &e), 0);
        if (json_parse(b.data, b.len, &doc, &odd, &e) != 0)
            fail_msg("%s: %s", path, e.msg);
        if (odd != 0) {
            assert_int_equal(odd, JSON_ODD_WORDS);
            assert_non_null(strstr(entry->d_name, "Nemotron"));
            nemotron++;
        }
        json_free(doc);
        buf_release(&b);
        read++;
    }
    closedir(d);
    assert_true(read > 0);
    printf("%d configs, %d with Infinity\n", read, nemotron);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_what_the_rfc_allows),
        cmocka_unit_test(refuses_what_the_rfc_forbids),
        cmocka_unit_test(refuses_nul_everywhere),
        cmocka_unit_test(refuses_a_key_twice_in_one_object),
        cmocka_unit_test(message_says_line_and_column),
        cmocka_unit_test(oddities_are_taken_and_told),
        cmocka_unit_test(words_close_to_oddities_are_refused),
        cmocka_unit_test(depth_has_a_limit),
        cmocka_unit_test(size_and_count_have_limits),
        cmocka_unit_test(numbers_have_limits),
        cmocka_unit_test(half_a_million_keys_are_no_trouble),
        cmocka_unit_test(reading_is_strict_about_kinds),
        cmocka_unit_test(whole_numbers_end_below_2_53),
        cmocka_unit_test(printing_is_exact_and_indented),
        cmocka_unit_test(what_a_terminal_would_obey_is_escaped),
        cmocka_unit_test(what_is_printed_is_read_again),
        cmocka_unit_test(deep_trees_of_ours_print_without_recursion),
        cmocka_unit_test(real_configs_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
