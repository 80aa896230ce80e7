#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "probes/csv.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef char field_text[CSV_FIELD_BYTES_MAX + 1];

/* An exact allocation, so that a read past the end is seen. */
static int read_all(const char *text, size_t bytes, int n, field_text *fields, size_t *ret_lines,
                    struct err *e)
{
    char *copy = malloc(bytes + (bytes == 0));
    struct csv c;
    int rc = 0;

    memcpy(copy, text, bytes);
    csv_init(&c, copy, bytes, "t.csv");
    for (*ret_lines = 0; !rc && !csv_ended(&c); *ret_lines += !rc)
        rc = csv_read(&c, fields, n, e);
    free(copy);
    return rc;
}

static void fields_are_read_as_rfc_4180_has_them(void **state)
{
    static const struct {
        const char *text, *one, *two;
        size_t lines;
    } cases[] = {
        {"a,b\n", "a", "b", 1},
        {"a,b", "a", "b", 1},
        {"a,b\r\n", "a", "b", 1},
        {"x,y\r\na,b\r\n", "a", "b", 2},
        {",\n", "", "", 1},
        {"a,\n", "a", "", 1},
        {"\"a\",\"b\"\n", "a", "b", 1},
        {"\"a,b\",\"c\"\"d\"\n", "a,b", "c\"d", 1},
        {"\"\",\"\"\"\"\n", "", "\"", 1},
        {"\"a\",b", "a", "b", 1},
        {"a,\"b\"", "a", "b", 1},
        {" a , b \n", " a ", " b ", 1},
        {"\xe2\x80\x93,b\n", "\xe2\x80\x93", "b", 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        field_text fields[2];
        size_t lines;
        struct err e = {0};
        assert_int_equal(read_all(cases[i].text, strlen(cases[i].text), 2, fields, &lines, &e), 0);
        assert_string_equal(fields[0], cases[i].one);
        assert_string_equal(fields[1], cases[i].two);
        assert_int_equal(lines, cases[i].lines);
    }
}

#define TEXT(s) s, sizeof(s) - 1

static void broken_lines_are_refused_where_they_break(void **state)
{
    static const struct {
        const char *text;
        size_t bytes;
        const char *where, *what;
    } cases[] = {
        {TEXT("a\n"), "t.csv, line 1", "fewer than the 2"},
        {TEXT("a,b,c\n"), "t.csv, line 1", "more than the 2"},
        {TEXT("a,b\n\nc,d\n"), "t.csv, line 2", "fewer"},
        {TEXT("a,b\n,"), NULL, NULL},
        {TEXT("a,\"b\n"), "line 1, column 5", "line break"},
        {TEXT("a,\"b"), "line 1, column 5", "not closed"},
        {TEXT("a,\""), "line 1, column 4", "not closed"},
        {TEXT("a,\"b\"c\n"), "line 1, column 6", "after a closing quote"},
        {TEXT("a,b\"c\n"), "line 1, column 4", "does not begin with one"},
        {TEXT("a,b\tc\n"), "line 1, column 4", "control character"},
        {TEXT("a,b\0c\n"), "line 1, column 4", "control character"},
        {TEXT("a,b\x7f\n"), "line 1, column 4", "control character"},
        {TEXT("a,b\rc\n"), "line 1, column 4", "control character"},
        {TEXT("a,b\r"), "line 1, column 4", "control character"},
        {TEXT("x,y\na,\xff\n"), "line 2", "UTF-8"},
        {TEXT("x,y\na,\xc0\x80\n"), "line 2", "UTF-8"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        field_text fields[2];
        size_t lines;
        struct err e = {0};
        int rc = read_all(cases[i].text, cases[i].bytes, 2, fields, &lines, &e);
        assert_int_equal(rc, cases[i].where ? ERR_FORMAT : 0);
        if (!cases[i].where)
            continue;
        assert_non_null(strstr(e.msg, cases[i].where));
        assert_non_null(strstr(e.msg, cases[i].what));
    }
}

static void a_field_has_a_limit_that_is_named(void **state)
{
    char text[CSV_FIELD_BYTES_MAX + 8];
    field_text fields[2];
    size_t lines;
    struct err e = {0};

    (void)state;
    memset(text, 'x', sizeof(text));
    memcpy(text + CSV_FIELD_BYTES_MAX, ",b\n", 3);
    assert_int_equal(read_all(text, CSV_FIELD_BYTES_MAX + 3, 2, fields, &lines, &e), 0);
    assert_int_equal(strlen(fields[0]), CSV_FIELD_BYTES_MAX);
    memset(text, 'x', sizeof(text));
    memcpy(text + CSV_FIELD_BYTES_MAX + 1, ",b\n", 3);
    assert_int_equal(read_all(text, CSV_FIELD_BYTES_MAX + 4, 2, fields, &lines, &e), ERR_LIMIT);
    assert_non_null(strstr(e.msg, "limit of 1000 bytes"));
}

static void a_header_is_taken_whole_or_not(void **state)
{
    struct csv c;

    (void)state;
    csv_init(&c, TEXT("a,b\r\nc,d\n"), "t");
    assert_false(csv_take_line(&c, "a,c"));
    assert_false(csv_take_line(&c, "a"));
    assert_false(csv_take_line(&c, "a,b\r\nc,d\n and more than there is"));
    assert_int_equal(c.line, 1);
    assert_true(csv_take_line(&c, "a,b"));
    assert_int_equal(c.line, 2);
    assert_true(csv_take_line(&c, "c,d"));
    assert_true(csv_ended(&c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_read_as_rfc_4180_has_them),
        cmocka_unit_test(broken_lines_are_refused_where_they_break),
        cmocka_unit_test(a_field_has_a_limit_that_is_named),
        cmocka_unit_test(a_header_is_taken_whole_or_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
