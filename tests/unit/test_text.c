#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "core/text.c"

typedef int parse_fn(const char *s, uint64_t *ret, struct err *e);

static void accepts(parse_fn *parse, const char *s, uint64_t want)
{
    uint64_t n = 0;
    struct err e = {0};

    if (parse(s, &n, &e) != 0 || n != want)
        fail_msg("\"%s\" gave %llu: %s", s, (unsigned long long)n, e.msg);
}

static void rejects(parse_fn *parse, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t n = 77;
        struct err e = {0};
        if (parse(list[i], &n, &e) != ERR_USAGE)
            fail_msg("\"%s\" was taken for %llu", list[i], (unsigned long long)n);
        assert_int_equal(n, 77);
        if (!strstr(e.msg, list[i]))
            fail_msg("the message does not name \"%s\": %s", list[i], e.msg);
    }
}
#define REJECTS(parse, ...)                            \
    rejects(parse, (const char *const[]){__VA_ARGS__}, \
            sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void numbers_are_digits_only(void **state)
{
    (void)state;
    accepts(text_parse_u64, "0", 0);
    accepts(text_parse_u64, "007", 7);
    accepts(text_parse_u64, "18446744073709551615", UINT64_MAX);
    REJECTS(text_parse_u64, "", " 1", "1 ", "+1", "-1", "0x10", "1.0", "1e3", "1K",
            "18446744073709551616", "99999999999999999999", "\xd9\xa3");
}

static void bytes_know_both_kinds_of_unit(void **state)
{
    (void)state;
    accepts(text_parse_bytes, "0", 0);
    accepts(text_parse_bytes, "512", 512);
    accepts(text_parse_bytes, "512B", 512);
    accepts(text_parse_bytes, "4G", 4294967296);
    accepts(text_parse_bytes, "4GiB", 4294967296);
    accepts(text_parse_bytes, "4GB", 4000000000);
    accepts(text_parse_bytes, "1.5M", 1572864);
    accepts(text_parse_bytes, "1.50MB", 1500000);
    accepts(text_parse_bytes, "1.001kB", 1001);
    accepts(text_parse_bytes, "2T", 2199023255552);
    accepts(text_parse_bytes, "0.5TB", 500000000000);
    accepts(text_parse_bytes, "3.0", 3);
    accepts(text_parse_bytes, "3.0000000000000000000000000000", 3);
}

static void bytes_refuse_what_is_not_whole(void **state)
{
    (void)state;
    REJECTS(text_parse_bytes, "", "K", "-1K", "+1K", "1.5", "0.3K", "1.0001kB", "1 K", "1KK", "1k",
            "1g", "1Kb", "1.", ".5K", "1..5K", "1e3", "1.5.5M", "16777216T", "18446744073709551616",
            "0x1K", "1M ", "1.00000000000000000001T", "nan", "inf");
    accepts(text_parse_bytes, "16777215T", 18446742974197923840u);
    accepts(text_parse_bytes, "18446744073709551615", UINT64_MAX);
}

static void tokens_count_in_1024(void **state)
{
    (void)state;
    accepts(text_parse_tokens, "0", 0);
    accepts(text_parse_tokens, "5000", 5000);
    accepts(text_parse_tokens, "128K", 131072);
    accepts(text_parse_tokens, "1M", 1048576);
    accepts(text_parse_tokens, "1m", 1048576);
    accepts(text_parse_tokens, "0.5k", 512);
    REJECTS(text_parse_tokens, "", "K", "1G", "1KB", "-5", "1.3K", "17592186044416M", "1 M");
}

static void durations_need_a_unit(void **state)
{
    (void)state;
    accepts(text_parse_duration_ns, "0", 0);
    accepts(text_parse_duration_ns, "60s", 60000000000);
    accepts(text_parse_duration_ns, "1.5ms", 1500000);
    accepts(text_parse_duration_ns, "7ns", 7);
    accepts(text_parse_duration_ns, "0.001us", 1);
    accepts(text_parse_duration_ns, "2m", 120000000000);
    accepts(text_parse_duration_ns, "1h", 3600000000000);
    accepts(text_parse_duration_ns, "0s", 0);
    REJECTS(text_parse_duration_ns, "", "60", "1.5ns", "s", "-1s", "1 s", "1min", "1d", "5124096h",
            "1S");
}

/* The text comes from a command line: it may not play with the terminal that shows the error. */
static void message_shows_the_text_escaped(void **state)
{
    uint64_t n;
    struct err e = {0};

    (void)state;
    text_parse_u64("1\x1b[2J", &n, &e);
    assert_null(strchr(e.msg, '\x1b'));
    assert_non_null(strstr(e.msg, "1\\x1b[2J"));
}

static void counts_have_commas(void **state)
{
    char t[TEXT_NUMBER_BYTES];

    (void)state;
    assert_string_equal(text_count(0, t), "0");
    assert_string_equal(text_count(999, t), "999");
    assert_string_equal(text_count(1000, t), "1,000");
    assert_string_equal(text_count(1559965606912, t), "1,559,965,606,912");
    assert_string_equal(text_count(UINT64_MAX, t), "18,446,744,073,709,551,615");
}

static void bytes_have_three_digits(void **state)
{
    static const struct {
        uint64_t n;
        const char *text;
    } cases[] = {
        {0, "0 B"},
        {1, "1 B"},
        {512, "512 B"},
        {999, "999 B"},
        {1000, "1 kB"},
        {1005, "1 kB"},
        {1234, "1.23 kB"},
        {27648, "27.6 kB"},
        {999499, "999 kB"},
        {999500, "1 MB"},
        {999999, "1 MB"},
        {1559965606912, "1.56 TB"},
        {999499999, "999 MB"},
        {999500000, "1 GB"},
        {1000000000, "1 GB"},
        {UINT64_MAX, "18.4 EB"},
    };
    char t[TEXT_NUMBER_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(text_bytes(cases[i].n, t), cases[i].text);
}

static void tokens_print_as_they_are_read(void **state)
{
    static const uint64_t cases[] = {0,        1,          1000,      1023,    1024,
                                     1025,     5000,       131072,    1048576, 1049600,
                                     10485760, UINT64_MAX, 1ull << 63};
    char t[TEXT_NUMBER_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        accepts(text_parse_tokens, text_tokens(cases[i], t), cases[i]);
    assert_string_equal(text_tokens(131072, t), "128K");
    assert_string_equal(text_tokens(1048576, t), "1M");
    assert_string_equal(text_tokens(5000, t), "5000");
}

static void durations_take_the_unit_that_fits(void **state)
{
    static const struct {
        double ns;
        const char *text;
    } cases[] = {
        {0, "0 s"},
        {0.25, "0.25 ns"},
        {412, "412 ns"},
        {999.6, "1 us"},
        {1500, "1.5 us"},
        {1840000, "1.84 ms"},
        {2.5e9, "2.5 s"},
        {59.9e9, "59.9 s"},
        {60e9, "1 min"},
        {192e9, "3.2 min"},
        {3600e9, "1 h"},
        {27000e9, "7.5 h"},
        {(double)NAN, "unknown"},
    };
    char t[TEXT_NUMBER_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(text_duration(cases[i].ns, t), cases[i].text);
}

static void reals_keep_their_digits(void **state)
{
    static const struct {
        double x;
        int digits;
        const char *text;
    } cases[] = {
        {0, 3, "0"},
        {1.31, 4, "1.31"},
        {-1.314159, 3, "-1.31"},
        {27648, 9, "27648"},
        {27648, 3, "27600"},
        {9999999, 7, "9999999"},
        {9999999, 3, "10000000"},
        {1e7, 3, "1e+07"},
        {0.0001, 2, "0.0001"},
        {0.00009999, 2, "0.0001"},
        {0.00001234, 2, "1.2e-05"},
        {0.5, 17, "0.5"},
        {0.1, 17, "0.10000000000000001"},
        {2.5, 0, "2"}, /* one digit, half to even as printf rounds */
        {1e300, 2, "1e+300"},
        {5e-324, 3, "4.94e-324"},
        {(double)NAN, 3, "unknown"},
        {(double)INFINITY, 3, "infinite"},
        {-(double)INFINITY, 3, "-infinite"},
    };
    char t[TEXT_NUMBER_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(text_real(cases[i].x, cases[i].digits, t), cases[i].text);
}

/* RFC 3629: first and last of each length, and the forms it forbids. */
static void utf8_follows_rfc_3629(void **state)
{
    static const char *const good[] = {"",
                                       "a",
                                       "\x7f",
                                       "\xc2\x80",
                                       "\xdf\xbf",
                                       "\xe0\xa0\x80",
                                       "\xed\x9f\xbf",
                                       "\xee\x80\x80",
                                       "\xef\xbf\xbf",
                                       "\xf0\x90\x80\x80",
                                       "\xf4\x8f\xbf\xbf"};
    static const char *const bad[] = {"\x80",
                                      "\xbf",
                                      "\xc0\x80",
                                      "\xc1\xbf",
                                      "\xc2",
                                      "\xc2 ",
                                      "\xe0\x9f\xbf",
                                      "\xe0\xa0",
                                      "\xed\xa0\x80",
                                      "\xed\xbf\xbf",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xf8\x88\x80\x80\x80",
                                      "\xfe",
                                      "\xff",
                                      "\xe2\x82\xc2\x80",
                                      "ok\xf0\x9f\x98"};

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        assert_true(text_utf8_valid(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(text_utf8_valid(bad[i], strlen(bad[i])));
    assert_true(text_utf8_valid("a\0b", 3));
}

/* Every code point, encoded by hand here, comes back. */
static void utf8_next_reads_every_character(void **state)
{
    uint32_t got;

    (void)state;
    for (uint32_t c = 0; c <= 0x10ffff; c++) {
        unsigned char p[4];
        size_t n;
        if (c < 0x80) {
            p[0] = (unsigned char)c, n = 1;
        } else if (c < 0x800) {
            p[0] = (unsigned char)(0xc0 | c >> 6), n = 2;
        } else if (c < 0x10000) {
            p[0] = (unsigned char)(0xe0 | c >> 12), n = 3;
        } else {
            p[0] = (unsigned char)(0xf0 | c >> 18), n = 4;
        }
        for (size_t i = 1; i < n; i++)
            p[i] = (unsigned char)(0x80 | (c >> (6 * (n - 1 - i)) & 0x3f));
        bool surrogate = c >= 0xd800 && c <= 0xdfff;
        size_t len = text_utf8_next(p, n, &got);
        if (len != (surrogate ? 0 : n) || (!surrogate && got != c))
            fail_msg("U+%04X was read wrong", c);
    }
}

static void html_cannot_be_left(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 1000);
    text_escape_html(&b, "<a href=\"x\" b='y'>&amp;\n\t\x01\x7f\xc2\x85\xff\xe2\x9c\x93");
    assert_string_equal(b.data, "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;amp;\n\t"
                                "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xe2\x9c\x93");
    buf_release(&b);
}

static void plain_text_cannot_move_the_cursor(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 1000);
    text_escape_plain(&b,
                      "a\\b\x1b[31m\n\r\x7f\xc2\x9b\xe2\x80\xae\xd8\x9c\xe2\x81\xa6\xff\xc3\xa9");
    assert_string_equal(b.data, "a\\\\b\\x1b[31m\\x0a\\x0d\\x7f\\xc2\\x9b\\xe2\\x80\\xae\\xd8\\x9c"
                                "\\xe2\\x81\\xa6\\xff\xc3\xa9");
    buf_release(&b);
}

/* For a line whose names are escaped already: once more changes nothing. */
static void an_escaped_line_stays_as_it_is(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 100);
    text_escape_line(&b, "\\x1b a\\\\b\x1b\xff\xc3\xa9");
    assert_string_equal(b.data, "\\x1b a\\\\b\\x1b\\xff\xc3\xa9");
    buf_release(&b);
}

/* Whatever the room, the result is a prefix by whole pieces, ends in dots if cut, and fits. */
static void plain_text_is_cut_between_pieces(void **state)
{
    const char *s = "ab\x01"
                    "c\xe2\x9c\x93"
                    "d\xff"
                    "efgh";
    const char *whole = "ab\\x01c\xe2\x9c\x93"
                        "d\\xffefgh";
    static const size_t edges[] = {0, 1, 2, 6, 7, 10, 11, 15, 16, 17, 18, 19};
    char t[64];

    (void)state;
    assert_string_equal(text_plain(s, t, sizeof(t)), whole);
    assert_string_equal(text_plain(s, t, strlen(whole) + 1), whole);
    assert_string_equal(text_plain("x", t, 0), "");
    for (size_t room = 5; room <= strlen(whole); room++) {
        memset(t, '#', sizeof(t));
        text_plain(s, t, room);
        size_t n = strlen(t), edge = 0;
        assert_true(n < room);
        assert_string_equal(t + n - 3, "...");
        assert_memory_equal(t, whole, n - 3);
        for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
            edge |= edges[i] == n - 3;
        assert_true(edge);
        assert_int_equal(t[room], '#');
    }
}

static void hex_goes_both_ways(void **state)
{
    const uint8_t bytes[] = {0x00, 0x9f, 0xff, 0xa5};
    uint8_t back[4] = {1, 1, 1, 1};
    char t[9];

    (void)state;
    text_hex(bytes, 4, t);
    assert_string_equal(t, "009fffa5");
    assert_true(text_unhex(t, back, 4));
    assert_memory_equal(back, bytes, 4);
    memset(back, 1, 4);
    assert_false(text_unhex("009fffa", back, 4));
    assert_false(text_unhex("009fffa55", back, 4));
    assert_false(text_unhex("009FFFA5", back, 4));
    assert_false(text_unhex("009fffag", back, 4));
    assert_int_equal(back[0], 1);
    assert_true(text_unhex("", back, 0));
}

static void starts_and_ends(void **state)
{
    (void)state;
    assert_true(text_starts("model.layers", "model."));
    assert_false(text_starts("model", "model."));
    assert_true(text_starts("x", ""));
    assert_true(text_ends("a.safetensors", ".safetensors"));
    assert_false(text_ends("tensors", ".safetensors"));
    assert_true(text_ends("", ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_digits_only),
        cmocka_unit_test(bytes_know_both_kinds_of_unit),
        cmocka_unit_test(bytes_refuse_what_is_not_whole),
        cmocka_unit_test(tokens_count_in_1024),
        cmocka_unit_test(durations_need_a_unit),
        cmocka_unit_test(message_shows_the_text_escaped),
        cmocka_unit_test(counts_have_commas),
        cmocka_unit_test(bytes_have_three_digits),
        cmocka_unit_test(tokens_print_as_they_are_read),
        cmocka_unit_test(durations_take_the_unit_that_fits),
        cmocka_unit_test(reals_keep_their_digits),
        cmocka_unit_test(utf8_follows_rfc_3629),
        cmocka_unit_test(utf8_next_reads_every_character),
        cmocka_unit_test(html_cannot_be_left),
        cmocka_unit_test(plain_text_cannot_move_the_cursor),
        cmocka_unit_test(an_escaped_line_stays_as_it_is),
        cmocka_unit_test(plain_text_is_cut_between_pieces),
        cmocka_unit_test(hex_goes_both_ways),
        cmocka_unit_test(starts_and_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
