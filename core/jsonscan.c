#include "core/jsonscan.h"
#include "core/json.h"
#include "core/text.h"
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum state {
    WANT_VALUE,
    WANT_VALUE_OR_END, /* after [ */
    WANT_KEY,
    WANT_KEY_OR_END, /* after { */
    AFTER_VALUE
};

struct scan {
    const char *text;
    size_t bytes, at;
    size_t values;
    size_t words; /* NaN, Infinity, -Infinity, which Python writes */
    bool take_words;
    size_t depth;
    char closing[JSON_DEPTH_MAX]; /* } or ] of each open container */
    enum state state;
    struct err *e;
};

/* An error at a place: line and column count from 1, the column in characters. */
__attribute__((format(printf, 4, 5))) static int fail(const struct scan *s, size_t at,
                                                      enum err_code code, const char *fmt, ...)
{
    char what[160];
    va_list ap;
    size_t line = 1, column = 1;

    for (size_t i = 0; i < at; i++) {
        if (s->text[i] == '\n') {
            line++;
            column = 1;
        } else if (((unsigned char)s->text[i] & 0xc0) != 0x80) {
            column++;
        }
    }
    va_start(ap, fmt);
    (void)vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    return err_set(s->e, code, "line %zu, column %zu: %s", line, column, what);
}

/* What stands at the current place is not what must stand there. */
static int unexpected(const struct scan *s, const char *wanted)
{
    char found[8] = "", shown[24];
    uint32_t c;

    if (s->at == s->bytes)
        return fail(s, s->at, ERR_FORMAT, "the text ends where %s must stand", wanted);
    size_t n = text_utf8_next(s->text + s->at, s->bytes - s->at, &c);
    memcpy(found, s->text + s->at, n ? n : 1);
    return fail(s, s->at, ERR_FORMAT, "'%s' stands where %s must stand",
                *found ? text_plain(found, shown, sizeof(shown)) : "\\x00", wanted);
}

static int peek(const struct scan *s)
{
    return s->at < s->bytes ? (unsigned char)s->text[s->at] : -1;
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static void skip_white(struct scan *s)
{
    int c = peek(s);

    while (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        s->at++;
        c = peek(s);
    }
}

/* Four hex digits at `at`; false if they are not there. */
static bool hex4(const struct scan *s, size_t at, unsigned *ret)
{
    *ret = 0;
    if (s->bytes - at < 4)
        return false;
    for (size_t i = at; i < at + 4; i++) {
        int c = s->text[i];
        if (is_digit(c))
            *ret = *ret * 16 + (unsigned)(c - '0');
        else if (c >= 'a' && c <= 'f')
            *ret = *ret * 16 + (unsigned)(c - 'a' + 10);
        else if (c >= 'A' && c <= 'F')
            *ret = *ret * 16 + (unsigned)(c - 'A' + 10);
        else
            return false;
    }
    return true;
}

/* The escape whose backslash stands at the current place. */
static int scan_escape(struct scan *s)
{
    size_t start = s->at++;
    unsigned unit, low;
    int c = peek(s);

    if (c != 'u') {
        if (c == -1 || !strchr("\"\\/bfnrt", c))
            return fail(s, start, ERR_FORMAT, "a backslash starts no escape that JSON has");
        s->at++;
        return 0;
    }
    if (!hex4(s, s->at + 1, &unit))
        return fail(s, start, ERR_FORMAT, "\\u must be followed by four hex digits");
    if (unit == 0)
        return fail(s, start, ERR_FORMAT, "\\u0000 would end the text where it is read");
    s->at += 5;
    if (unit < 0xd800 || unit > 0xdfff)
        return 0;
    if (unit >= 0xdc00 || s->bytes - s->at < 6 || memcmp(s->text + s->at, "\\u", 2) != 0 ||
        !hex4(s, s->at + 2, &low) || low < 0xdc00 || low > 0xdfff)
        return fail(s, start, ERR_FORMAT, "half a surrogate pair is no character");
    s->at += 6;
    return 0;
}

/* The string whose opening quote stands at the current place. */
static int scan_string(struct scan *s)
{
    size_t start = s->at++;
    uint32_t c;
    int rc;

    for (;;) {
        if (s->at == s->bytes)
            return fail(s, start, ERR_FORMAT, "the string that starts here has no end");
        if (s->text[s->at] == '\\') {
            rc = scan_escape(s);
            if (rc)
                return rc;
            continue;
        }
        size_t n = text_utf8_next(s->text + s->at, s->bytes - s->at, &c);
        if (n == 0)
            return fail(s, s->at, ERR_FORMAT, "a byte is not UTF-8");
        if (c < 0x20)
            return fail(s, s->at, ERR_FORMAT, "a control character in a string is not escaped");
        s->at += n;
        if (c == '"')
            return 0;
    }
}

static int scan_digits(struct scan *s)
{
    if (!is_digit(peek(s)))
        return unexpected(s, "a digit");
    while (is_digit(peek(s)))
        s->at++;
    return 0;
}

static int scan_number(struct scan *s)
{
    char digits[JSON_NUMBER_BYTES_MAX + 1];
    size_t start = s->at;
    int rc = 0;

    if (peek(s) == '-')
        s->at++;
    if (peek(s) == '0') {
        s->at++;
        if (is_digit(peek(s)))
            return fail(s, start, ERR_FORMAT, "a number starts with a needless 0");
    } else {
        rc = scan_digits(s);
    }
    if (!rc && peek(s) == '.') {
        s->at++;
        rc = scan_digits(s);
    }
    if (!rc && (peek(s) == 'e' || peek(s) == 'E')) {
        s->at++;
        if (peek(s) == '+' || peek(s) == '-')
            s->at++;
        rc = scan_digits(s);
    }
    if (rc)
        return rc;
    size_t n = s->at - start;
    if (n > JSON_NUMBER_BYTES_MAX)
        return fail(s, start, ERR_LIMIT, "a number is over the limit of %d characters",
                    JSON_NUMBER_BYTES_MAX);
    memcpy(digits, s->text + start, n);
    digits[n] = '\0';
    if (!isfinite(strtod(digits, NULL)))
        return fail(s, start, ERR_LIMIT, "a number is too large for a double");
    return 0;
}

static int scan_word(struct scan *s, const char *word)
{
    size_t n = strlen(word);

    if (s->bytes - s->at < n || memcmp(s->text + s->at, word, n) != 0)
        return unexpected(s, "a value");
    s->at += n;
    return 0;
}

static int scan_python(struct scan *s, const char *word)
{
    if (!s->take_words)
        return unexpected(s, "a value");
    s->words++;
    return scan_word(s, word);
}

static int open_container(struct scan *s, char closing, enum state next)
{
    if (s->depth == JSON_DEPTH_MAX)
        return fail(s, s->at, ERR_LIMIT, "the nesting is over the limit of %d levels",
                    JSON_DEPTH_MAX);
    s->closing[s->depth++] = closing;
    s->at++;
    s->state = next;
    return 0;
}

static int scan_value(struct scan *s)
{
    int c = peek(s);

    if (s->values++ == JSON_VALUES_MAX)
        return fail(s, s->at, ERR_LIMIT, "the document is over the limit of %u values",
                    JSON_VALUES_MAX);
    s->state = AFTER_VALUE;
    switch (c) {
    case '{': return open_container(s, '}', WANT_KEY_OR_END);
    case '[': return open_container(s, ']', WANT_VALUE_OR_END);
    case '"': return scan_string(s);
    case 't': return scan_word(s, "true");
    case 'f': return scan_word(s, "false");
    case 'n': return scan_word(s, "null");
    case 'N': return scan_python(s, "NaN");
    case 'I': return scan_python(s, "Infinity");
    case '-':
        if (s->bytes - s->at > 1 && s->text[s->at + 1] == 'I')
            return scan_python(s, "-Infinity");
        return scan_number(s);
    default: return is_digit(c) ? scan_number(s) : unexpected(s, "a value");
    }
}

static int scan_key(struct scan *s)
{
    if (peek(s) != '"')
        return unexpected(s, "a key in double quotes");
    int rc = scan_string(s);
    if (rc)
        return rc;
    skip_white(s);
    if (peek(s) != ':')
        return unexpected(s, "a colon");
    s->at++;
    s->state = WANT_VALUE;
    return 0;
}

/* What may follow a value inside a container: a comma or the container's end. */
static int scan_after(struct scan *s)
{
    char closing = s->closing[s->depth - 1];
    int c = peek(s);

    if (c == ',') {
        s->at++;
        s->state = closing == '}' ? WANT_KEY : WANT_VALUE;
    } else if (c == closing) {
        s->at++;
        s->depth--;
    } else {
        return unexpected(s, closing == '}' ? "a comma or }" : "a comma or ]");
    }
    return 0;
}

static int scan_document(struct scan *s)
{
    int rc = 0;

    while (!rc) {
        skip_white(s);
        if (s->state == AFTER_VALUE && s->depth == 0)
            return s->at == s->bytes ? 0 : unexpected(s, "the end of the text");
        if ((s->state == WANT_KEY_OR_END || s->state == WANT_VALUE_OR_END) &&
            peek(s) == s->closing[s->depth - 1])
            s->state = AFTER_VALUE;
        if (s->state == AFTER_VALUE)
            rc = scan_after(s);
        else if (s->state == WANT_KEY || s->state == WANT_KEY_OR_END)
            rc = scan_key(s);
        else
            rc = scan_value(s);
    }
    return rc;
}

int jsonscan_check(const char *text, size_t bytes, bool take_words, size_t *ret_values,
                   size_t *ret_words, struct err *e)
{
    struct scan s = {.text = text, .bytes = bytes, .take_words = take_words, .e = e};
    int rc = scan_document(&s);

    if (rc)
        return rc;
    *ret_values = s.values;
    *ret_words = s.words;
    return 0;
}
