#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "report/document.c"
#include "core/text.h"
#include "fixture_view.h"

static struct fixture f;
static struct cJSON *doc;

static void write_document(bool compact)
{
    struct buf b;
    struct err e = {0};

    buf_init(&b, 64u << 20);
    document_write(&f.v, compact, &b);
    assert_int_equal(buf_check(&b, "document", &e), 0);
    assert_true(text_utf8_valid(b.data, b.len));
    assert_int_equal(b.data[b.len - 1], '\n');
    if (json_parse(b.data, b.len, &doc, NULL, &e)) /* strict: a key twice is an error */
        fail_msg("%s", e.msg);
    buf_release(&b);
}

static const char *text_of(const struct cJSON *o, const char *key)
{
    const char *s = "(none)";

    (void)json_text(json_get(o, key), &s);
    return s;
}

static const struct cJSON *nth(const struct cJSON *a, size_t n)
{
    const struct cJSON *item = json_first(a);

    while (n--)
        item = json_next(item);
    return item;
}

static void test_document_holds_the_whole_view(void **state)
{
    const struct cJSON *item;
    uint64_t n = 0;
    double x = 0;

    (void)state;
    fixture_full(&f);
    write_document(false);
    assert_string_equal(text_of(doc, "format"), "assay-report");
    assert_string_equal(text_of(doc, "started"), "2026-11-29T02:14:05Z");
    assert_string_equal(text_of(json_get(doc, "subject"), "name"), "/models/Kimi-K3-sample");
    assert_int_equal(json_count(json_get(doc, "facts")), f.v.facts.count);
    assert_int_equal(json_count(json_get(doc, "points")), f.v.facts.point_count);
    assert_int_equal(json_count(json_get(doc, "verdicts")), f.v.verdict_count);
    assert_int_equal(json_count(json_get(doc, "supports")), 2);
    assert_int_equal(json_count(json_get(json_get(doc, "snapshot"), "files")), 12);
    item = json_get(json_get(doc, "items"), "operators");
    assert_string_equal(text_of(item, "status"), "fail");
    item = json_get(json_get(doc, "headlines"), "readiness");
    assert_string_equal(text_of(item, "title"), "Not ready");
    for (item = json_first(json_get(doc, "facts")); item; item = json_next(item))
        if (!strcmp(text_of(item, "key"), "fallback.time_ratio") &&
            !strcmp(text_of(item, "scope"), "attention.kda"))
            break;
    assert_true(json_real(json_get(item, "value"), &x) && x == 3.412);
    assert_true(json_real(json_get(item, "error"), &x) && x == 0.083);
    item = json_first(json_get(doc, "loads"));
    assert_int_equal(json_count(json_get(doc, "loads")), 8);
    assert_true(json_u64(json_get(item, "layer"), &n) && n == 1);
    assert_int_equal(json_count(json_get(item, "tokens")), 32);
    json_free(doc);
    fixture_end(&f);
}

static void test_unknown_and_missing_are_null_never_zero(void **state)
{
    const struct cJSON *facts, *points;

    (void)state;
    fixture_start(&f);
    put_unknown(&f, FACT_HOST_MEMORY, "", "no /proc");
    (void)fact_put_absent(&f.sink, FACT_MODEL_EXPERTS, "", "config.json", &f.e);
    put_point(&f, "cache.measured", "mla", 4096, NAN, 0, "bytes", "memory");
    write_document(true);
    facts = json_get(doc, "facts");
    assert_string_equal(text_of(nth(facts, 0), "state"), "unknown");
    assert_int_equal(json_kind(json_get(nth(facts, 0), "value")), JSON_NULL);
    assert_string_equal(text_of(nth(facts, 0), "why"), "no /proc");
    assert_string_equal(text_of(nth(facts, 1), "state"), "absent");
    assert_int_equal(json_kind(json_get(nth(facts, 1), "value")), JSON_NULL);
    points = json_get(doc, "points");
    assert_int_equal(json_kind(json_get(json_first(points), "y")), JSON_NULL);
    assert_int_equal(json_kind(json_get(json_get(doc, "items"), "formats")), JSON_NULL);
    assert_int_equal(json_kind(json_get(json_get(doc, "snapshot"), "digest")), JSON_NULL);
    assert_int_equal(json_kind(json_get(doc, "finished")), JSON_NULL);
    json_free(doc);
    fixture_end(&f);
}

static void test_hostile_text_stays_text(void **state)
{
    (void)state;
    fixture_start(&f);
    f.v.subject = "a\"b\\c\n\x01\xff\xe2\x80\xae";
    put_int(&f, FACT_MODEL_PARAMS_TOTAL, "\"}", INT64_MAX);
    write_document(false);
    assert_string_equal(text_of(json_get(doc, "subject"), "name"),
                        "a\"b\\c\n\x01\xef\xbf\xbd\xe2\x80\xae");
    json_free(doc);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_document_holds_the_whole_view),
        cmocka_unit_test(test_unknown_and_missing_are_null_never_zero),
        cmocka_unit_test(test_hostile_text_stays_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
