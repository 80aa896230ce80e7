#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "core/clock.c"

/* Expected dates are those of GNU date -u -d @N. */
static void format_is_the_utc_date(void **state)
{
    static const struct {
        int64_t seconds;
        const char *text;
    } cases[] = {
        {0, "1970-01-01T00:00:00Z"},
        {-1, "1969-12-31T23:59:59Z"},
        {951782400, "2000-02-29T00:00:00Z"},
        {1795961645, "2026-11-29T14:14:05Z"},
        {4107542400, "2100-03-01T00:00:00Z"},
        {253402300799, "9999-12-31T23:59:59Z"},
        {-30610224000, "1000-01-01T00:00:00Z"},
    };
    char text[CLOCK_TEXT_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        clock_format(cases[i].seconds, text);
        assert_string_equal(text, cases[i].text);
    }
}

static void years_without_four_digits_are_a_question_mark(void **state)
{
    static const int64_t cases[] = {253402300800, -30610224001, INT64_MAX, INT64_MIN};
    char text[CLOCK_TEXT_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        clock_format(cases[i], text);
        assert_string_equal(text, "?");
    }
}

static void monotonic_never_runs_back(void **state)
{
    uint64_t last = clock_ns();

    (void)state;
    for (int i = 0; i < 10000; i++) {
        uint64_t now = clock_ns();
        assert_true(now >= last);
        last = now;
    }
}

static void unix_time_is_the_systems(void **state)
{
    (void)state;
    int64_t before = (int64_t)time(NULL), now = clock_unix(), after = (int64_t)time(NULL);
    assert_true(before <= now && now <= after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(format_is_the_utc_date),
        cmocka_unit_test(years_without_four_digits_are_a_question_mark),
        cmocka_unit_test(monotonic_never_runs_back),
        cmocka_unit_test(unix_time_is_the_systems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
