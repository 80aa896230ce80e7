#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "core/err.c"

static void set_keeps_code_and_words(void **state)
{
    struct err e = {0};

    (void)state;
    assert_int_equal(err_set(&e, ERR_FORMAT, "byte %d of %s", 7, "x"), ERR_FORMAT);
    assert_int_equal(e.code, ERR_FORMAT);
    assert_string_equal(e.msg, "byte 7 of x");
}

static void wrap_says_which_one_before_what(void **state)
{
    struct err e = {0};

    (void)state;
    err_set(&e, ERR_IO, "no such file");
    assert_int_equal(err_wrap(&e, "shard %d", 7), ERR_IO);
    assert_string_equal(e.msg, "shard 7: no such file");
    assert_int_equal(e.code, ERR_IO);
}

static void cut_message_ends_in_dots(void **state)
{
    struct err e = {0};
    char big[2 * ERR_MSG_BYTES];

    (void)state;
    memset(big, 'a', sizeof(big));
    big[sizeof(big) - 1] = '\0';
    err_set(&e, ERR_IO, "%s", big);
    assert_int_equal(strlen(e.msg), ERR_MSG_BYTES - 1);
    assert_string_equal(e.msg + ERR_MSG_BYTES - 4, "...");
    err_wrap(&e, "%s", "context");
    assert_memory_equal(e.msg, "context: aaa", 12);
    assert_string_equal(e.msg + ERR_MSG_BYTES - 4, "...");
    err_wrap(&e, "%s", big);
    assert_int_equal(strlen(e.msg), ERR_MSG_BYTES - 1);
    assert_string_equal(e.msg + ERR_MSG_BYTES - 4, "...");
}

static void message_that_just_fits_is_not_cut(void **state)
{
    struct err e = {0};
    char fits[ERR_MSG_BYTES];

    (void)state;
    memset(fits, 'b', sizeof(fits));
    fits[sizeof(fits) - 1] = '\0';
    err_set(&e, ERR_IO, "%s", fits);
    assert_string_equal(e.msg, fits);
}

/* The cut may not leave half of a character: a terminal would show rubbish. */
static void cut_is_not_within_a_character(void **state)
{
    (void)state;
    for (size_t lead = 0; lead < 4; lead++) {
        struct err e = {0};
        char big[2 * ERR_MSG_BYTES] = "xxx";
        for (size_t i = lead; i + 4 < sizeof(big); i += 4)
            memcpy(big + i, "\xf0\x9f\x98\x80", 5);
        err_set(&e, ERR_IO, "%s", big);
        size_t end = strlen(e.msg) - 3;
        assert_string_equal(e.msg + end, "...");
        assert_int_equal((end - lead) % 4, 0);
    }
}

static void arguments_may_be_the_old_message(void **state)
{
    struct err e = {0};

    (void)state;
    err_set(&e, ERR_IO, "disk");
    err_set(&e, ERR_DB, "the store: %s", e.msg);
    assert_string_equal(e.msg, "the store: disk");
    err_wrap(&e, "again %s", e.msg);
    assert_string_equal(e.msg, "again the store: disk: the store: disk");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_keeps_code_and_words),
        cmocka_unit_test(wrap_says_which_one_before_what),
        cmocka_unit_test(cut_message_ends_in_dots),
        cmocka_unit_test(message_that_just_fits_is_not_cut),
        cmocka_unit_test(cut_is_not_within_a_character),
        cmocka_unit_test(arguments_may_be_the_old_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
