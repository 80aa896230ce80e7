#include "core/text.h"
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

struct unit {
    const char *name; /* NULL ends the list */
    uint64_t factor;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* "12" or "1.5" at the start of s: its digits before and after the point, and what follows. A
 * fraction may have 19 digits, which 128 bits hold times any factor below. */
static bool split_number(const char *s, uint64_t *whole, uint64_t *part, uint64_t *scale,
                         const char **rest)
{
    *whole = *part = 0;
    *scale = 1;
    if (!is_digit(*s))
        return false;
    for (; is_digit(*s); s++) {
        if (__builtin_mul_overflow(*whole, 10u, whole) ||
            __builtin_add_overflow(*whole, (unsigned)(*s - '0'), whole))
            return false;
    }
    if (*s == '.') {
        if (!is_digit(*++s))
            return false;
        size_t digits = strspn(s, "0123456789");
        const char *end = s + digits;
        while (digits && s[digits - 1] == '0')
            digits--;
        if (digits > 19)
            return false;
        for (size_t i = 0; i < digits; i++) {
            *part = *part * 10 + (unsigned)(s[i] - '0');
            *scale *= 10;
        }
        s = end;
    }
    *rest = s;
    return true;
}

/* A number and one of the units, counted in the base unit; false if it is not one, not whole, or
 * over 2^64-1. */
static bool parse_units(const char *s, const struct unit *units, uint64_t *ret)
{
    uint64_t whole, part, scale;
    const char *rest;

    if (!split_number(s, &whole, &part, &scale, &rest))
        return false;
    for (const struct unit *u = units; u->name; u++) {
        if (strcmp(rest, u->name) != 0)
            continue;
        u128 fraction = (u128)part * u->factor;
        u128 sum = (u128)whole * u->factor + fraction / scale;
        if (fraction % scale != 0 || sum > UINT64_MAX)
            return false;
        *ret = (uint64_t)sum;
        return true;
    }
    return false;
}

static int refuse(const char *s, const char *what, struct err *e)
{
    char plain[128];

    return err_set(e, ERR_USAGE, "\"%s\" is not %s", text_plain(s, plain, sizeof(plain)), what);
}

int text_parse_u64(const char *s, uint64_t *ret, struct err *e)
{
    uint64_t n = 0;
    const char *p = s;

    for (; is_digit(*p); p++) {
        if (__builtin_mul_overflow(n, 10u, &n) ||
            __builtin_add_overflow(n, (unsigned)(*p - '0'), &n))
            return refuse(s, "a number below 2^64", e);
    }
    if (p == s || *p)
        return refuse(s, "a number: write decimal digits only", e);
    *ret = n;
    return 0;
}

int text_parse_bytes(const char *s, uint64_t *ret, struct err *e)
{
    static const struct unit units[] = {
        {"", 1},
        {"B", 1},
        {"K", 1ull << 10},
        {"KiB", 1ull << 10},
        {"M", 1ull << 20},
        {"MiB", 1ull << 20},
        {"G", 1ull << 30},
        {"GiB", 1ull << 30},
        {"T", 1ull << 40},
        {"TiB", 1ull << 40},
        {"kB", 1000ull},
        {"MB", 1000000ull},
        {"GB", 1000000000ull},
        {"TB", 1000000000000ull},
        {NULL, 0},
    };

    if (parse_units(s, units, ret))
        return 0;
    return refuse(s,
                  "a whole number of bytes below 2^64: write a number and K, M, G or T (times "
                  "1024), kB, MB, GB or TB (times 1000), or B",
                  e);
}

int text_parse_tokens(const char *s, uint64_t *ret, struct err *e)
{
    static const struct unit units[] = {
        {"", 1},           {"K", 1ull << 10}, {"k", 1ull << 10},
        {"M", 1ull << 20}, {"m", 1ull << 20}, {NULL, 0},
    };

    if (parse_units(s, units, ret))
        return 0;
    return refuse(s, "a whole number of tokens: write a number, K for 1024 or M for 1024 K", e);
}

int text_parse_duration_ns(const char *s, uint64_t *ret, struct err *e)
{
    static const struct unit units[] = {
        {"ns", 1},
        {"us", 1000ull},
        {"ms", 1000000ull},
        {"s", 1000000000ull},
        {"m", 60000000000ull},
        {"h", 3600000000000ull},
        {NULL, 0},
    };

    if (strcmp(s, "0") == 0) {
        *ret = 0;
        return 0;
    }
    if (parse_units(s, units, ret))
        return 0;
    return refuse(s,
                  "a duration in whole ns below 584 years: write a number and its unit ns, us, "
                  "ms, s, m or h, such as 60s",
                  e);
}

const char *text_count(uint64_t n, char ret[TEXT_NUMBER_BYTES])
{
    char digits[24];
    int len = snprintf(digits, sizeof(digits), "%" PRIu64, n);
    char *out = ret;

    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            *out++ = ',';
        *out++ = digits[i];
    }
    *out = '\0';
    return ret;
}

/* x with that many significant digits, without trailing zeros; returns the length. */
static int plain_digits(double x, int digits, char ret[TEXT_NUMBER_BYTES])
{
    char rounded[TEXT_NUMBER_BYTES];

    (void)snprintf(rounded, sizeof(rounded), "%.*e", digits - 1, x);
    int exponent = atoi(strchr(rounded, 'e') + 1);
    if (exponent < -4 || fabs(x) >= 1e7)
        return snprintf(ret, TEXT_NUMBER_BYTES, "%.*g", digits, x);
    int decimals = digits - 1 - exponent;
    int n = snprintf(ret, TEXT_NUMBER_BYTES, "%.*f", decimals > 0 ? decimals : 0,
                     strtod(rounded, NULL));
    if (decimals > 0) {
        while (ret[n - 1] == '0')
            n--;
        if (ret[n - 1] == '.')
            n--;
        ret[n] = '\0';
    }
    return n;
}

const char *text_real(double x, int digits, char ret[TEXT_NUMBER_BYTES])
{
    if (digits < 1)
        digits = 1;
    if (digits > 17)
        digits = 17;
    if (isnan(x))
        (void)snprintf(ret, TEXT_NUMBER_BYTES, "unknown");
    else if (isinf(x))
        (void)snprintf(ret, TEXT_NUMBER_BYTES, x < 0 ? "-infinite" : "infinite");
    else if (x == 0)
        (void)snprintf(ret, TEXT_NUMBER_BYTES, "0");
    else
        (void)plain_digits(x, digits, ret);
    return ret;
}

/* x in the largest unit that leaves at least 1, with three digits. The next unit is taken where
 * rounding would print 1000 of this one. */
static const char *three_digits(double x, const struct unit *units, char ret[TEXT_NUMBER_BYTES])
{
    const struct unit *u = units;

    while (u[1].name && x / (double)u->factor >= (double)(u[1].factor / u->factor) * 0.9995)
        u++;
    int n = plain_digits(x / (double)u->factor, 3, ret);
    (void)snprintf(ret + n, TEXT_NUMBER_BYTES - (size_t)n, " %s", u->name);
    return ret;
}

const char *text_bytes(uint64_t bytes, char ret[TEXT_NUMBER_BYTES])
{
    static const struct unit units[] = {
        {"B", 1},
        {"kB", 1000ull},
        {"MB", 1000000ull},
        {"GB", 1000000000ull},
        {"TB", 1000000000000ull},
        {"PB", 1000000000000000ull},
        {"EB", 1000000000000000000ull},
        {NULL, 0},
    };

    if (bytes == 0)
        return memcpy(ret, "0 B", 4);
    return three_digits((double)bytes, units, ret);
}

const char *text_tokens(uint64_t tokens, char ret[TEXT_NUMBER_BYTES])
{
    uint64_t k = 1u << 10, m = 1u << 20;

    if (tokens && tokens % m == 0)
        (void)snprintf(ret, TEXT_NUMBER_BYTES, "%" PRIu64 "M", tokens / m);
    else if (tokens && tokens % k == 0)
        (void)snprintf(ret, TEXT_NUMBER_BYTES, "%" PRIu64 "K", tokens / k);
    else
        (void)snprintf(ret, TEXT_NUMBER_BYTES, "%" PRIu64, tokens);
    return ret;
}

const char *text_duration(double ns, char ret[TEXT_NUMBER_BYTES])
{
    static const struct unit units[] = {
        {"ns", 1},
        {"us", 1000ull},
        {"ms", 1000000ull},
        {"s", 1000000000ull},
        {"min", 60000000000ull},
        {"h", 3600000000000ull},
        {NULL, 0},
    };

    if (!isfinite(ns) || ns < 0)
        return text_real(ns, 3, ret);
    if (ns == 0)
        return memcpy(ret, "0 s", 4);
    return three_digits(ns, units, ret);
}

size_t text_utf8_next(const void *bytes, size_t n, uint32_t *ret)
{
    const unsigned char *p = bytes;
    size_t len;
    uint32_t c, least;

    if (n == 0)
        return 0;
    if (p[0] < 0x80) {
        *ret = p[0];
        return 1;
    }
    if (p[0] >= 0xc2 && p[0] <= 0xdf) {
        len = 2, c = p[0] & 0x1fu, least = 0x80;
    } else if ((p[0] & 0xf0) == 0xe0) {
        len = 3, c = p[0] & 0x0fu, least = 0x800;
    } else if (p[0] >= 0xf0 && p[0] <= 0xf4) {
        len = 4, c = p[0] & 0x07u, least = 0x10000;
    } else {
        return 0;
    }
    if (n < len)
        return 0;
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (p[i] & 0x3fu);
    }
    if (c < least || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 0;
    *ret = c;
    return len;
}

bool text_utf8_valid(const void *bytes, size_t n)
{
    const char *p = bytes;
    uint32_t c;

    for (size_t i = 0; i < n;) {
        size_t len = text_utf8_next(p + i, n - i, &c);
        if (len == 0)
            return false;
        i += len;
    }
    return true;
}

void text_escape_html(struct buf *b, const char *s)
{
    size_t n = strlen(s);

    for (size_t i = 0; i < n;) {
        uint32_t c;
        size_t len = text_utf8_next(s + i, n - i, &c);
        if (len == 0 || (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0))
            buf_adds(b, "\xef\xbf\xbd");
        else if (c == '&')
            buf_adds(b, "&amp;");
        else if (c == '<')
            buf_adds(b, "&lt;");
        else if (c == '>')
            buf_adds(b, "&gt;");
        else if (c == '"')
            buf_adds(b, "&quot;");
        else if (c == '\'')
            buf_adds(b, "&#39;");
        else
            buf_add(b, s + i, len);
        i += len ? len : 1;
    }
}

bool text_is_plain(uint32_t c)
{
    bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
    bool bidi = c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
                (c >= 0x2066 && c <= 0x2069);

    return !control && !bidi;
}

#define PIECE_BYTES 17 /* four bytes as \xNN, and the NUL */

/* The first character of s[0..n) as a terminal may see it, into ret; the bytes it took. */
static size_t plain_piece(const char *s, size_t n, char ret[PIECE_BYTES])
{
    uint32_t c;
    size_t len = text_utf8_next(s, n, &c);
    size_t take = len ? len : 1;

    if (len && c == '\\') {
        memcpy(ret, "\\\\", 3);
        return take;
    }
    if (len && text_is_plain(c)) {
        memcpy(ret, s, len);
        ret[len] = '\0';
        return take;
    }
    for (size_t i = 0; i < take; i++)
        (void)snprintf(ret + 4 * i, 5, "\\x%02x", (unsigned)(unsigned char)s[i]);
    return take;
}

void text_escape_plain(struct buf *b, const char *s)
{
    size_t n = strlen(s);
    char piece[PIECE_BYTES];

    for (size_t i = 0; i < n;) {
        i += plain_piece(s + i, n - i, piece);
        buf_adds(b, piece);
    }
}

void text_escape_line(struct buf *b, const char *s)
{
    size_t n = strlen(s);
    char piece[PIECE_BYTES];

    for (size_t i = 0; i < n;) {
        size_t took = plain_piece(s + i, n - i, piece);
        buf_adds(b, s[i] == '\\' ? "\\" : piece);
        i += took;
    }
}

const char *text_plain(const char *s, char *ret, size_t ret_bytes)
{
    size_t n = strlen(s), used = 0, room_for_dots = 0;
    char piece[PIECE_BYTES];

    if (ret_bytes == 0)
        return "";
    for (size_t i = 0; i < n;) {
        i += plain_piece(s + i, n - i, piece);
        size_t len = strlen(piece);
        if (used + len >= ret_bytes) {
            used = room_for_dots;
            for (int dot = 0; dot < 3 && used + 1 < ret_bytes; dot++)
                ret[used++] = '.';
            break;
        }
        memcpy(ret + used, piece, len);
        used += len;
        if (used + 4 <= ret_bytes)
            room_for_dots = used;
    }
    ret[used] = '\0';
    return ret;
}

void text_hex(const uint8_t *bytes, size_t n, char *ret)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < n; i++) {
        ret[2 * i] = digits[bytes[i] >> 4];
        ret[2 * i + 1] = digits[bytes[i] & 15];
    }
    ret[2 * n] = '\0';
}

static int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool text_unhex(const char *s, uint8_t *ret, size_t n)
{
    if (strnlen(s, 2 * n + 1) != 2 * n)
        return false;
    for (size_t i = 0; i < 2 * n; i++) {
        if (hex_value(s[i]) < 0)
            return false;
    }
    for (size_t i = 0; i < n; i++)
        ret[i] = (uint8_t)(hex_value(s[2 * i]) << 4 | hex_value(s[2 * i + 1]));
    return true;
}

bool text_starts(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool text_ends(const char *s, const char *suffix)
{
    size_t n = strlen(s), m = strlen(suffix);

    return n >= m && memcmp(s + n - m, suffix, m) == 0;
}
