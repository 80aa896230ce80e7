#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "core/verdict.c"

static void names_are_found_again(void **state)
{
    enum verdict_status s;
    enum verdict_item item;

    (void)state;
    for (int i = VERDICT_PASS; i <= VERDICT_NOT_APPLICABLE; i++) {
        assert_true(verdict_status_find(verdict_status_name((enum verdict_status)i), &s));
        assert_int_equal(s, i);
        assert_true(verdict_status_mark((enum verdict_status)i)[0] != '\0');
    }
    for (int i = 0; i < VERDICT_ITEMS; i++) {
        assert_true(verdict_item_find(verdict_item_name((enum verdict_item)i), &item));
        assert_int_equal(item, i);
        assert_true(verdict_item_title((enum verdict_item)i)[0] != '\0');
    }
    s = VERDICT_FAIL;
    assert_false(verdict_status_find("Pass", &s));
    assert_int_equal(s, VERDICT_FAIL);
    item = VERDICT_CONTEXT;
    assert_false(verdict_item_find("", &item));
    assert_int_equal(item, VERDICT_CONTEXT);
    assert_string_equal(verdict_status_name(VERDICT_NOT_APPLICABLE), "not applicable");
    assert_string_equal(verdict_item_title(VERDICT_CONTEXT), "Long context");
}

/* fail, then unknown, then warn, then pass, then not applicable: the order in the header. */
static void the_gravest_wins_from_both_sides(void **state)
{
    static const enum verdict_status order[] = {VERDICT_FAIL, VERDICT_UNKNOWN, VERDICT_WARN,
                                                VERDICT_PASS, VERDICT_NOT_APPLICABLE};

    (void)state;
    for (int a = 0; a < 5; a++) {
        for (int b = 0; b < 5; b++)
            assert_int_equal(verdict_worse(order[a], order[b]), order[a < b ? a : b]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_found_again),
        cmocka_unit_test(the_gravest_wins_from_both_sides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
