#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "report/html.c"
#include "fixture_markup.h"
#include <math.h>

static struct buf b;

static int start(void **state)
{
    (void)state;
    buf_init(&b, 1 << 20);
    return 0;
}

static int end(void **state)
{
    (void)state;
    buf_release(&b);
    return 0;
}

static void test_markup_in_text_is_escaped(void **state)
{
    (void)state;
    html_text(&b, "<script>alert(\"x\")</script> & 'y'");
    assert_string_equal(b.data, "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; "
                                "&#39;y&#39;");
}

static void test_hidden_characters_are_shown(void **state)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"a\xe2\x80\xae"
         "fdp.exe",
         "a[U+202E]fdp.exe"},                     /* right-to-left override */
        {"a\xe2\x81\xa6z", "a[U+2066]z"},         /* isolate */
        {"x\xe2\x80\x8by", "x[U+200B]y"},         /* zero width space */
        {"\xef\xbb\xbfq", "[U+FEFF]q"},           /* byte order mark */
        {"\xc2\xad", "[U+00AD]"},                 /* soft hyphen */
        {"t\xf3\xa0\x81\x81", "t[U+E0041]"},      /* tag letter */
        {"\xd8\xb9\xd8\xb1", "\xd8\xb9\xd8\xb1"}, /* Arabic letters stay */
        {"\xe2\x9c\x93", "\xe2\x9c\x93"},         /* so does a check mark */
        {"\x01\x7f", "\xef\xbf\xbd\xef\xbf\xbd"}, /* control characters */
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buf one;
        buf_init(&one, 1000);
        html_text(&one, cases[i].in);
        assert_string_equal(one.data, cases[i].out);
        buf_release(&one);
    }
}

static void test_broken_utf8_never_reaches_the_page(void **state)
{
    static const char *const cases[] = {"\xff",  "\xe2\x80",          "\xc0\x80", "\xed\xa0\x80",
                                        "\xf5z", "a\xe2\x80\xae\xe2", "\xf3\xa0"};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buf one;
        buf_init(&one, 1000);
        html_text(&one, cases[i]);
        assert_true(text_utf8_valid(one.data, one.len));
        buf_release(&one);
    }
}

static void test_null_writes_nothing(void **state)
{
    (void)state;
    html_text(&b, NULL);
    html_prose(&b, NULL);
    assert_int_equal(b.len, 0);
}

static void test_backticks_become_code_and_stay_escaped(void **state)
{
    (void)state;
    html_prose(&b, "run `assay <b>` now, or `not");
    assert_string_equal(b.data, "run <code>assay &lt;b&gt;</code> now, or `not");
}

static void test_coordinates_have_one_decimal_at_most(void **state)
{
    static const struct {
        double in;
        const char *out;
    } cases[] = {{0, "0"},       {1.25, "1.3"},  {-0.04, "0"}, {-0.06, "-0.1"}, {-3.5, "-3.5"},
                 {100.0, "100"}, {99.96, "100"}, {NAN, "0"},   {1e300, "0"},    {-INFINITY, "0"}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buf one;
        buf_init(&one, 100);
        html_coord(&one, cases[i].in);
        assert_string_equal(one.data, cases[i].out);
        buf_release(&one);
    }
}

static void test_bytes_have_the_exact_count_beside(void **state)
{
    (void)state;
    html_bytes(&b, 999);
    html_lit(&b, "|");
    html_bytes(&b, 1559965606912);
    assert_string_equal(b.data, "999 B|1.56 TB <small>1,559,965,606,912 B</small>");
}

static void test_dates_are_utc_and_a_bad_one_says_so(void **state)
{
    (void)state;
    html_date(&b, 1795918445); /* date -u -d @1795918445 */
    html_lit(&b, "|");
    html_date(&b, INT64_MAX);
    assert_string_equal(b.data, "2026-11-29 02:14 UTC|date unknown");
}

static void test_statuses_have_mark_and_word(void **state)
{
    (void)state;
    html_status(&b, VERDICT_PASS);
    assert_non_null(strstr(b.data, "✓ pass"));
    html_status(&b, VERDICT_UNKNOWN);
    assert_non_null(strstr(b.data, "? unknown"));
    assert_string_equal(markup_read(b.data).fault, "");
}

static void test_unknown_fact_says_why(void **state)
{
    struct fact f = {.key = FACT_HOST_MEMORY, .scope = "", .state = FACT_UNKNOWN, .why = "<gone>"};
    (void)state;
    html_fact(&b, &f);
    assert_non_null(strstr(b.data, "? unknown"));
    assert_non_null(strstr(b.data, "&lt;gone&gt;"));
}

static void test_absent_and_missing_facts_differ(void **state)
{
    struct fact f = {.key = FACT_HOST_MEMORY, .scope = "", .state = FACT_ABSENT};
    (void)state;
    html_fact(&b, &f);
    assert_string_equal(b.data, "none");
    html_fact(&b, NULL);
    assert_non_null(strstr(b.data, "not recorded"));
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, start, end)
    const struct CMUnitTest tests[] = {
        CASE(test_markup_in_text_is_escaped),
        CASE(test_hidden_characters_are_shown),
        CASE(test_broken_utf8_never_reaches_the_page),
        CASE(test_null_writes_nothing),
        CASE(test_backticks_become_code_and_stay_escaped),
        CASE(test_coordinates_have_one_decimal_at_most),
        CASE(test_bytes_have_the_exact_count_beside),
        CASE(test_dates_are_utc_and_a_bad_one_says_so),
        CASE(test_statuses_have_mark_and_word),
        CASE(test_unknown_fact_says_why),
        CASE(test_absent_and_missing_facts_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
