#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "report/page.c"
#include "core/file.h"
#include "core/text.h"
#include "fixture_markup.h"
#include "fixture_view.h"
#include <openssl/evp.h>
#include <stdlib.h>

#define HOSTILE "\"'><script>alert(1)</script><img src=x onerror=y>&\x01\xe2\x80\xae\xff`z`"
#define PAGE_MAX (64u << 20)

static struct fixture f;
static struct buf b;

/* With PAGE_OUT=DIR in the environment each case leaves its page there, to be looked at. */
static void keep(const char *name)
{
    const char *dir = getenv("PAGE_OUT");
    char path[FILE_PATH_BYTES];
    struct err e = {0};

    if (!dir)
        return;
    assert_int_equal(file_join(dir, name, path, &e), 0);
    assert_int_equal(file_write(path, b.data, b.len, &e), 0);
}

static void write_page(const char *name)
{
    struct err e = {0};

    buf_init(&b, PAGE_MAX);
    page_write(&f.v, &b);
    keep(name);
    assert_int_equal(buf_check(&b, "page", &e), 0);
    assert_true(text_utf8_valid(b.data, b.len));
    assert_string_equal(markup_read(b.data).fault, "");
}

static bool has(const char *s)
{
    return strstr(b.data, s) != NULL;
}

static void done(void)
{
    buf_release(&b);
    fixture_end(&f);
}

static void test_full_page_has_every_section_and_status(void **state)
{
    static const char *const ids[] = {"unknown",     "model",        "formats",
                                      "operators",   "context",      "experts",
                                      "fingerprint", "distribution", "evidence"};
    const char *last;
    char id[40];

    (void)state;
    fixture_full(&f);
    write_page("full.html");
    last = b.data;
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        (void)snprintf(id, sizeof(id), "id=\"%s\"", ids[i]);
        const char *at = strstr(b.data, id);
        assert_non_null(at);
        assert_true(at > last); /* in this order */
        last = at;
    }
    assert_true(has("✓ Downloadable"));
    assert_true(has("✗ Not ready"));
    assert_true(has("! warning"));
    assert_true(has("3,456 B/token"));
    assert_true(has("3.412 ± 0.083×"));
    assert_true(has("40.3 MB <small>40,263,936 B</small>"));
    assert_true(has(f.v.digest));
    assert_true(has("Synthetic inputs, not traffic"));
    assert_true(has("were not collected by this run"));
    assert_true(has("Kimi Delta Attention"));
    done();
}

/* A rate and what it means for loading stand in item 1, beside the read bandwidth of the run. */
static void test_unpacking_stands_with_rate_and_cost(void **state)
{
    (void)state;
    fixture_full(&f);
    write_page("full.html");
    const char *start = strstr(b.data, "id=\"formats\""), *end = strstr(b.data, "id=\"operators\"");
    static const char *const wanted[] = {"<h3>Unpacking</h3>", "11.20 ± 0.14 GB/s",
                                         "0.00772 ± 0.00016 s", "3.900 ± 0.080 GB/s",
                                         "no kernel here unpacks the format exl3"};
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        const char *at = strstr(start, wanted[i]);
        if (!at || at > end)
            fail_msg("%s is not in item 1", wanted[i]);
    }
    done();
}

/* Every place that a link on the page points at is there, and no id comes twice. */
static void test_links_lead_somewhere(void **state)
{
    char id[80], again[82];

    (void)state;
    fixture_full(&f);
    write_page("full.html");
    for (const char *c = b.data; (c = strstr(c, "href=\"")); c++) {
        assert_true(c[6] == '#'); /* within the page only */
        (void)snprintf(id, sizeof(id), " id=\"%.*s\"", (int)strcspn(c + 7, "\""), c + 7);
        assert_non_null(strstr(b.data, id));
    }
    for (const char *c = b.data; (c = strstr(c, " id=\"")); c++) {
        (void)snprintf(again, sizeof(again), "%.*s\"", (int)(5 + strcspn(c + 5, "\"")), c);
        assert_null(strstr(c + 1, again));
    }
    done();
}

static void test_unknowns_stand_with_reason_and_advice(void **state)
{
    (void)state;
    fixture_full(&f);
    write_page("full.html");
    const char *start = strstr(b.data, "id=\"unknown\""), *end = strstr(b.data, "id=\"model\"");
    static const char *const wanted[] = {"No recorded traffic was given.",
                                         "<code>assay balance FILE</code>",
                                         "<code>format.support</code> routed_experts|sglang|sm100",
                                         "operator_support.csv has no row"};
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        const char *at = strstr(start, wanted[i]);
        assert_non_null(at);
        assert_true(at < end);
    }
    done();
}

static void test_same_view_gives_same_bytes(void **state)
{
    struct buf again;

    (void)state;
    fixture_full(&f);
    write_page("full.html");
    buf_init(&again, PAGE_MAX);
    page_write(&f.v, &again);
    assert_int_equal(again.len, b.len);
    assert_memory_equal(again.data, b.data, b.len);
    buf_release(&again);
    done();
}

static void test_empty_view_is_unknown_everywhere(void **state)
{
    size_t unknowns = 0;

    (void)state;
    fixture_start(&f);
    f.v.subject = "";
    f.v.subject_kind = "";
    f.v.policy_name = "";
    write_page("empty.html");
    for (const char *c = b.data; (c = strstr(c, "? unknown")); c++)
        unknowns++;
    assert_true(unknowns >= 5 + 6); /* five items in the list, and each heading */
    assert_true(has("? Unknown"));
    assert_true(has("This run did not judge it"));
    assert_true(has("not finished"));
    assert_false(has("✓"));
    done();
}

/* Puts a hostile text wherever a producer could have one. */
static void fill_hostile(void)
{
    static const char *const scopes[] = {"",      HOSTILE, "a|" HOSTILE "|c",
                                         "worst", "mla",   HOSTILE "|b"};
    static const char *const series[] = {"cache.measured", "cache.predicted", "decode.measured",
                                         "decode.floor", HOSTILE};

    for (int k = 0; k < FACT_KEYS; k++)
        for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++) {
            struct fact one = {.key = (enum fact_key)k,
                               .scope = scopes[i],
                               .state = i == 5 ? FACT_UNKNOWN : FACT_KNOWN,
                               .i = INT64_MIN + 1,
                               .x = -1e300,
                               .error = 1e300,
                               .text = HOSTILE,
                               .source = HOSTILE,
                               .why = HOSTILE};
            assert_int_equal(f.sink.put(f.sink.ctx, &one, &f.e), 0);
        }
    for (size_t i = 0; i < 5; i++)
        for (size_t k = 0; k < 2; k++) {
            put_point(&f, series[i], k ? HOSTILE : "mla", 4096, 1e6, 1e9, HOSTILE, HOSTILE);
            put_point(&f, series[i], k ? HOSTILE : "mla", 1e300, NAN, 0, HOSTILE, HOSTILE);
            put_point(&f, series[i], k ? HOSTILE : "mla", NAN, -INFINITY, 0, HOSTILE, HOSTILE);
        }
    for (int i = 0; i < VERDICT_ITEMS; i++) {
        judge(&f, (enum verdict_item)i, "item", VERDICT_UNKNOWN, HOSTILE, HOSTILE, HOSTILE, 3);
        judge(&f, (enum verdict_item)i, HOSTILE, VERDICT_UNKNOWN, HOSTILE, HOSTILE, HOSTILE, 20);
    }
    static const size_t none[] = {SIZE_MAX}; /* an index that is none */
    f.verdicts[1].facts = none;
    f.verdicts[1].fact_count = 1;
}

static void test_hostile_names_cannot_become_markup(void **state)
{
    (void)state;
    fixture_start(&f);
    f.v.subject = f.v.subject_kind = f.v.digest = f.v.policy_name = HOSTILE;
    f.v.policy = "{\"target\": {\"<script>k\": [\"<script>v\", {\"<b>\": \"<script>o\"}, 7], "
                 "\"n\": 5}}";
    fill_hostile();
    for (size_t i = 0; i < 3; i++)
        f.files[i] = (struct snapshot_file){.path = HOSTILE,
                                            .size_bytes = UINT64_MAX,
                                            .sha256 = i ? HOSTILE : NULL,
                                            .state = i ? SNAPSHOT_FILE_OK : SNAPSHOT_FILE_CHANGED,
                                            .why = HOSTILE};
    f.v.file_count = 3;
    f.supports[0] = (struct run_support){HOSTILE, "format", HOSTILE, HOSTILE,
                                         HOSTILE, HOSTILE,  HOSTILE, HOSTILE};
    f.supports[1] = f.supports[0];
    f.supports[1].kind = "operator";
    f.v.support_count = 2;
    write_page("hostile.html"); /* the reader of markup refuses whatever is not the report's own */
    assert_false(has("<script"));
    assert_false(has("<img"));
    assert_false(has("\xe2\x80\xae")); /* no direction override stands */
    assert_true(has("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert_true(has("[U+202E]"));
    done();
}

static void test_thousand_files_and_896_experts_stay_under_three_megabytes(void **state)
{
    (void)state;
    fixture_full(&f);
    f.v.verdict_count = 0;
    fact_list_release(&f.v.facts);
    fact_list_init(&f.v.facts);
    f.sink = fact_list_sink(&f.v.facts);
    fixture_model(&f);
    fixture_experts(&f, 92, 896);
    fixture_files(&f, 1000);
    for (size_t i = 0; i < 500; i++)
        f.files[i].state = SNAPSHOT_FILE_MISSING;
    write_page("huge.html");
    assert_true(b.len < 3000000);
    assert_true(has("holds 4 neighbouring experts"));
    done();
}

static void test_a_full_buffer_is_an_error_not_half_a_page(void **state)
{
    struct err e = {0};

    (void)state;
    fixture_full(&f);
    buf_init(&b, 20000);
    page_write(&f.v, &b);
    assert_int_equal(buf_check(&b, "the report", &e), ERR_LIMIT);
    done();
}

/* The page allows one style: the one it holds. */
static void test_style_digest_is_the_styles(void **state)
{
    unsigned char digest[32];
    unsigned char text[48];
    char allowed[80];
    const char *start, *end;

    (void)state;
    fixture_start(&f);
    write_page("empty.html");
    start = strstr(b.data, "<style>");
    end = strstr(b.data, "</style>");
    assert_non_null(start);
    start += 7;
    assert_int_equal(EVP_Digest(start, (size_t)(end - start), digest, NULL, EVP_sha256(), NULL), 1);
    assert_int_equal(EVP_EncodeBlock(text, digest, 32), 44);
    (void)snprintf(allowed, sizeof(allowed), "style-src 'sha256-%s'", (const char *)text);
    if (!has(allowed))
        fail_msg("style.css has changed: STYLE_SHA256 in report/page.c has to be \"%s\"",
                 (const char *)text);
    done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_page_has_every_section_and_status),
        cmocka_unit_test(test_unpacking_stands_with_rate_and_cost),
        cmocka_unit_test(test_links_lead_somewhere),
        cmocka_unit_test(test_unknowns_stand_with_reason_and_advice),
        cmocka_unit_test(test_same_view_gives_same_bytes),
        cmocka_unit_test(test_empty_view_is_unknown_everywhere),
        cmocka_unit_test(test_hostile_names_cannot_become_markup),
        cmocka_unit_test(test_thousand_files_and_896_experts_stay_under_three_megabytes),
        cmocka_unit_test(test_a_full_buffer_is_an_error_not_half_a_page),
        cmocka_unit_test(test_style_digest_is_the_styles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
