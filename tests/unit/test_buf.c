#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "core/buf.c"

static void grows_and_ends_in_nul(void **state)
{
    struct buf b;
    struct err e = {0};

    (void)state;
    buf_init(&b, 100000);
    assert_string_equal(b.data, "");
    for (int i = 0; i < 10000; i++) {
        buf_adds(&b, "ab");
        buf_addc(&b, 'c');
        assert_int_equal(b.data[b.len], 0);
    }
    assert_int_equal(b.len, 30000);
    assert_memory_equal(b.data + 29997, "abc", 4);
    assert_int_equal(buf_check(&b, "text", &e), 0);
    buf_release(&b);
    assert_null(b.data);
}

static void holds_nul_bytes(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 10);
    buf_add(&b, "a\0b", 3);
    buf_add(&b, NULL, 0);
    assert_int_equal(b.len, 3);
    assert_memory_equal(b.data, "a\0b", 4);
    buf_release(&b);
}

static void formats_long_text(void **state)
{
    static const size_t lens[] = {0, 254, 255, 256, 257, 5000};
    char big[5001];

    (void)state;
    memset(big, 'x', sizeof(big));
    for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
        struct buf b;
        buf_init(&b, 6000);
        buf_addf(&b, "%.*s|%d", (int)lens[i], big, 42);
        assert_int_equal(b.len, lens[i] + 3);
        assert_string_equal(b.data + lens[i], "|42");
        buf_release(&b);
    }
}

/* What fits is kept whole, what does not is dropped whole, and the buffer says so to the end. */
static void limit_is_an_error_and_never_a_cut(void **state)
{
    struct buf b;
    struct err e = {0};

    (void)state;
    buf_init(&b, 5);
    buf_adds(&b, "abc");
    buf_adds(&b, "de");
    assert_int_equal(buf_check(&b, "name", &e), 0);
    buf_addc(&b, 'f');
    assert_string_equal(b.data, "abcde");
    assert_int_equal(buf_check(&b, "name", &e), ERR_LIMIT);
    assert_string_equal(e.msg, "name is over the limit of 5 bytes");
    buf_adds(&b, "");
    assert_true(b.over);
    buf_release(&b);

    buf_init(&b, 5);
    buf_adds(&b, "abc");
    buf_adds(&b, "defg");
    buf_adds(&b, "h");
    assert_string_equal(b.data, "abc");
    assert_true(b.over);
    buf_release(&b);
}

static void huge_length_does_not_wrap(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 1000);
    buf_adds(&b, "abc");
    buf_add(&b, "x", SIZE_MAX - 1);
    assert_true(b.over);
    assert_string_equal(b.data, "abc");
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_and_ends_in_nul),
        cmocka_unit_test(holds_nul_bytes),
        cmocka_unit_test(formats_long_text),
        cmocka_unit_test(limit_is_an_error_and_never_a_cut),
        cmocka_unit_test(huge_length_does_not_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
