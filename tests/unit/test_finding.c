#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "model/finding.h"
#include <stdio.h>
#include <string.h>

static void text_is_formatted_and_kept(void **state)
{
    struct finding_list l = {0};
    char name[3000];

    (void)state;
    assert_int_equal(finding_worst(&l), FINDING_NOTE);
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    finding_add(&l, FINDING_WARN, "odd", "%d is odd", 7);
    finding_add(&l, FINDING_NOTE, "long", "%s", name);
    assert_int_equal(l.count, 2);
    assert_string_equal(l.items[0].text, "7 is odd");
    assert_string_equal(l.items[0].code, "odd");
    assert_string_equal(l.items[1].text, name);
    assert_int_equal(finding_worst(&l), FINDING_WARN);
    finding_list_release(&l);
    assert_int_equal(l.count, 0);
}

static void past_the_maximum_they_are_counted_and_the_gravest_kept(void **state)
{
    struct finding_list l = {0};

    (void)state;
    for (int i = 0; i < FINDING_MAX + 5; i++)
        finding_add(&l, FINDING_NOTE, "n", "%d", i);
    assert_int_equal(l.count, FINDING_MAX);
    assert_int_equal(l.dropped, 5);
    finding_add(&l, FINDING_FAIL, "f", "grave");
    finding_add(&l, FINDING_WARN, "w", "less");
    assert_int_equal(l.count, FINDING_MAX);
    assert_int_equal(l.dropped, 7);
    assert_int_equal(finding_worst(&l), FINDING_FAIL);
    finding_list_release(&l);
}

static void severities_have_names(void **state)
{
    (void)state;
    assert_string_equal(finding_severity_name(FINDING_NOTE), "note");
    assert_string_equal(finding_severity_name(FINDING_WARN), "warning");
    assert_string_equal(finding_severity_name(FINDING_FAIL), "failure");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_formatted_and_kept),
        cmocka_unit_test(past_the_maximum_they_are_counted_and_the_gravest_kept),
        cmocka_unit_test(severities_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
