#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "report/summary.c"
#include "fixture_view.h"

static struct fixture f;
static struct buf b;

static void write_summary(void)
{
    buf_init(&b, 1 << 20);
    summary_write(&f.v, "/tmp/report.html", &b);
    assert_true(text_utf8_valid(b.data, b.len));
}

static void done(void)
{
    buf_release(&b);
    fixture_end(&f);
}

static void test_summary_has_headlines_items_unknowns_and_place(void **state)
{
    static const char *const wanted[] = {"Distribution   ✓ Downloadable. 12 of 12",
                                         "Readiness      ✗ Not ready. One required",
                                         "  1 Formats        ? unknown Routed",
                                         "  2 Operators      ✗ fail    sglang",
                                         "  3 Long context   ! warn    Cache",
                                         "  4 Expert balance ? unknown Synthetic",
                                         "  5 Fingerprint    ✓ pass    All 12",
                                         "\nNot known\n  ? Formats: The support table",
                                         "report: /tmp/report.html\n"};

    (void)state;
    fixture_full(&f);
    write_summary();
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        if (!strstr(b.data, wanted[i]))
            fail_msg("missing: %s\nin:\n%s", wanted[i], b.data);
    done();
}

static void test_lines_keep_to_the_width(void **state)
{
    (void)state;
    fixture_full(&f);
    write_summary();
    for (const char *line = b.data; *line; line += strcspn(line, "\n") + 1)
        assert_true(columns(line, strcspn(line, "\n")) <= SUMMARY_WIDTH);
    done();
}

static void test_empty_view_is_unknown(void **state)
{
    (void)state;
    fixture_start(&f);
    write_summary();
    assert_non_null(strstr(b.data, "Readiness      ? Unknown."));
    assert_non_null(strstr(b.data, "  5 Fingerprint    ? unknown This run did not judge it."));
    assert_null(strstr(b.data, "✓"));
    done();
}

static void test_terminal_controls_are_escaped(void **state)
{
    (void)state;
    fixture_start(&f);
    f.v.subject = "a\x1b[31m\xe2\x80\xae";
    judge(&f, VERDICT_FORMATS, "item", VERDICT_UNKNOWN, "\x1b]0;t\x07", "x\x1b[2J\ny", "\x9b", 0);
    write_summary();
    for (const char *c = b.data; *c; c++)
        assert_true((unsigned char)*c >= ' ' || *c == '\n');
    assert_null(strstr(b.data, "\xe2\x80\xae"));
    done();
}

static void test_long_word_stays_whole(void **state)
{
    static char path[300];

    (void)state;
    memset(path, 'p', sizeof(path) - 1);
    fixture_start(&f);
    judge(&f, VERDICT_FORMATS, "item", VERDICT_PASS, "", path, "", 0);
    write_summary();
    assert_non_null(strstr(b.data, path));
    done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_summary_has_headlines_items_unknowns_and_place),
        cmocka_unit_test(test_lines_keep_to_the_width),
        cmocka_unit_test(test_empty_view_is_unknown),
        cmocka_unit_test(test_terminal_controls_are_escaped),
        cmocka_unit_test(test_long_word_stays_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
