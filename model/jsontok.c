#include "model/jsontok.h"
#include "core/text.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE, FIRST_ITEM, FIRST_KEY, KEY, NEXT }; /* what may come next */

#define KEYS_MAX 8000000 /* of all objects that are open at once: 192 MB */

struct jsontok_key {
    const char *text;
    size_t len;
    uint64_t hash;
};

void jsontok_init(struct jsontok *t, const char *doc, size_t bytes, struct mem_arena *arena)
{
    *t =
        (struct jsontok){.doc = doc, .at = doc, .end = doc + bytes, .arena = arena, .state = VALUE};
}

void jsontok_release(struct jsontok *t)
{
    free(t->keys);
    t->keys = NULL;
    t->key_count = t->key_cap = 0;
}

/* The one place that makes an error of the text at `at`. */
static int refuse(const struct jsontok *t, const char *at, const char *why, struct err *e)
{
    size_t line = 1;

    for (const char *p = t->doc; p < at; p++)
        line += *p == '\n';
    return err_set(e, ERR_FORMAT, "%s at byte %zu (line %zu)", why, (size_t)(at - t->doc), line);
}

static void skip_space(struct jsontok *t)
{
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\n' || *t->at == '\t' || *t->at == '\r'))
        t->at++;
}

/* --- strings -------------------------------------------------------------------------------- */

/* Bytes of the UTF-8 character at p, by RFC 3629's table; 0 if it is none. */
static size_t utf8_bytes(const unsigned char *p, const unsigned char *end)
{
    size_t n = p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;
    unsigned low = 0x80, high = 0xbf;

    if (n == 0 || (size_t)(end - p) < n)
        return 0;
    if (p[0] == 0xe0)
        low = 0xa0; /* overlong */
    else if (p[0] == 0xed)
        high = 0x9f; /* surrogates */
    else if (p[0] == 0xf0)
        low = 0x90; /* overlong */
    else if (p[0] == 0xf4)
        high = 0x8f; /* past U+10FFFF */
    if (p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

/* The four hex digits at p, or -1. */
static int hex4(const char *p, const char *end)
{
    int v = 0;

    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int d = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
        if (d < 0)
            return -1;
        v = v << 4 | d;
    }
    return v;
}

/* The code point of a \u escape whose digits are at *p, which it moves past them (and past the
 * second half of a surrogate pair). -1 and *ret_why if it is none. */
static long escape_point(const char **p, const char *end, const char **ret_why)
{
    int high = hex4(*p, end), low;

    *ret_why = "\\u without four hex digits";
    if (high < 0)
        return -1;
    *p += 4;
    *ret_why = "\\u0000 in a string";
    if (high == 0)
        return -1;
    if (high < 0xd800 || high > 0xdfff)
        return high;
    *ret_why = "a lone surrogate";
    if (high > 0xdbff || end - *p < 6 || (*p)[0] != '\\' || (*p)[1] != 'u')
        return -1;
    low = hex4(*p + 2, end);
    if (low < 0xdc00 || low > 0xdfff)
        return -1;
    *p += 6;
    return 0x10000 + ((long)(high - 0xd800) << 10) + (low - 0xdc00);
}

static char *put_utf8(char *out, long c)
{
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;

    *out++ = (char)(lead[more] | c >> 6 * more);
    while (more-- > 0)
        *out++ = (char)(0x80 | (c >> 6 * more & 0x3f));
    return out;
}

/* What an escape of one letter stands for, or 0. */
static char short_escape(char c)
{
    switch (c) {
    case '"': return '"';
    case '\\': return '\\';
    case '/': return '/';
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return 0;
    }
}

/* Checks the string whose first byte after the quote is at t->at, and moves past its end. */
static int scan_string(struct jsontok *t, bool *ret_escaped, struct err *e)
{
    const char *p = t->at, *why;

    *ret_escaped = false;
    for (;;) {
        while (p < t->end && (unsigned char)*p >= 0x20 && (unsigned char)*p < 0x80 && *p != '"' &&
               *p != '\\')
            p++;
        if (p == t->end)
            return refuse(t, t->at - 1, "a string without an end", e);
        if (*p == '"') {
            t->at = p + 1;
            return 0;
        }
        if (*p == '\\') {
            *ret_escaped = true;
            if (t->end - p < 2)
                return refuse(t, p, "a string without an end", e);
            const char *start = p;
            p += 2;
            if (start[1] == 'u') {
                if (escape_point(&p, t->end, &why) < 0)
                    return refuse(t, start, why, e);
            } else if (!short_escape(start[1])) {
                return refuse(t, start, "an unknown escape", e);
            }
            continue;
        }
        if ((unsigned char)*p < 0x20)
            return refuse(t, p, "a raw control character in a string", e);
        size_t n = utf8_bytes((const unsigned char *)p, (const unsigned char *)t->end);
        if (n == 0)
            return refuse(t, p, "a byte that is not UTF-8", e);
        p += n;
    }
}

static int read_string(struct jsontok *t, struct jsontok_token *ret, struct err *e)
{
    const char *start = ++t->at, *why;
    bool escaped;
    int rc = scan_string(t, &escaped, e);

    if (rc)
        return rc;
    const char *end = t->at - 1;
    ret->text = start;
    ret->len = (size_t)(end - start);
    if (!escaped)
        return 0;
    char *text = mem_arena_alloc(t->arena, ret->len); /* unescaping only makes it shorter */
    char *out = text;
    for (const char *p = start; p < end;) {
        if (*p != '\\') {
            *out++ = *p++;
        } else if (p[1] == 'u') {
            p += 2;
            out = put_utf8(out, escape_point(&p, end, &why));
        } else {
            *out++ = short_escape(p[1]);
            p += 2;
        }
    }
    ret->text = text;
    ret->len = (size_t)(out - text);
    return 0;
}

/* --- keys ----------------------------------------------------------------------------------- */

static uint64_t hash(const char *s, size_t n)
{
    uint64_t h = 0x9e3779b97f4a7c15u ^ n, w;

    for (; n >= 8; s += 8, n -= 8) {
        memcpy(&w, s, 8);
        h = (h ^ w) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    w = 0;
    memcpy(&w, s, n);
    h = (h ^ w) * 0xff51afd7ed558ccdu;
    return h ^ h >> 32;
}

/* An order in which equal keys are neighbours. Equal hashes fall back to the bytes, so keys that
 * were made to collide cost no more than time n log n. */
static int compare_keys(const void *pa, const void *pb)
{
    const struct jsontok_key *a = pa, *b = pb;

    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    if (a->len != b->len)
        return a->len < b->len ? -1 : 1;
    return memcmp(a->text, b->text, a->len);
}

static int push_key(struct jsontok *t, const struct jsontok_token *key, struct err *e)
{
    if (t->key_count == KEYS_MAX)
        return err_set(e, ERR_LIMIT, "more than %d keys in open objects", KEYS_MAX);
    t->keys = mem_grow(t->keys, &t->key_cap, t->key_count + 1, sizeof(*t->keys));
    t->keys[t->key_count++] = (struct jsontok_key){key->text, key->len, hash(key->text, key->len)};
    return 0;
}

/* Ends the object on top: no key may be there twice. */
static int pop_keys(struct jsontok *t, struct err *e)
{
    size_t start = t->level_keys[t->depth - 1], n = t->key_count - start;
    struct jsontok_key *k = t->keys ? t->keys + start : NULL;

    t->key_count = start;
    if (n < 2)
        return 0;
    qsort(k, n, sizeof(*k), compare_keys);
    for (size_t i = 1; i < n; i++)
        if (compare_keys(&k[i - 1], &k[i]) == 0) {
            struct jsontok_token twin = {.text = k[i].text, .len = k[i].len};
            char plain[JSONTOK_PLAIN_BYTES];
            return err_set(e, ERR_FORMAT, "\"%s\" stands twice in one object",
                           jsontok_plain(&twin, plain));
        }
    return 0;
}

/* --- values --------------------------------------------------------------------------------- */

static bool is_digit(const struct jsontok *t, const char *p)
{
    return p < t->end && *p >= '0' && *p <= '9';
}

static int read_number(struct jsontok *t, struct jsontok_token *ret, struct err *e)
{
    const char *p = t->at;
    bool whole = true, fits = true;
    uint64_t v = 0;

    if (*p == '-') {
        whole = false;
        p++;
    }
    if (!is_digit(t, p))
        return refuse(t, p, "a minus without a number", e);
    if (*p == '0' && is_digit(t, p + 1))
        return refuse(t, p, "a number with a leading zero", e);
    for (; is_digit(t, p); p++)
        if (__builtin_mul_overflow(v, (uint64_t)10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
            fits = false;
    if (p < t->end && *p == '.') {
        whole = false;
        if (!is_digit(t, ++p))
            return refuse(t, p, "a point without digits after it", e);
        while (is_digit(t, p))
            p++;
    }
    if (p < t->end && (*p == 'e' || *p == 'E')) {
        whole = false;
        p++;
        if (p < t->end && (*p == '+' || *p == '-'))
            p++;
        if (!is_digit(t, p))
            return refuse(t, p, "an exponent without digits", e);
        while (is_digit(t, p))
            p++;
    }
    ret->kind = whole && fits ? JSONTOK_UINT : JSONTOK_NUMBER;
    ret->u64 = ret->kind == JSONTOK_UINT ? v : 0;
    ret->text = t->at;
    ret->len = (size_t)(p - t->at);
    t->at = p;
    return 0;
}

static int read_word(struct jsontok *t, struct jsontok_token *ret, struct err *e)
{
    static const struct {
        const char *word;
        size_t len;
        enum jsontok_kind kind;
    } words[] = {{"true", 4, JSONTOK_TRUE}, {"false", 5, JSONTOK_FALSE}, {"null", 4, JSONTOK_NULL}};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if ((size_t)(t->end - t->at) >= words[i].len &&
            memcmp(t->at, words[i].word, words[i].len) == 0) {
            t->at += words[i].len;
            ret->kind = words[i].kind;
            return 0;
        }
    if (t->end - t->at >= 3 && memcmp(t->at, "\xef\xbb\xbf", 3) == 0)
        return refuse(t, t->at, "a byte order mark", e);
    if (*t->at == '\0')
        return refuse(t, t->at, "a NUL byte", e);
    return refuse(t, t->at, "not a JSON value", e);
}

static int open_level(struct jsontok *t, bool object, struct err *e)
{
    if (t->depth == JSONTOK_DEPTH_MAX)
        return err_set(e, ERR_LIMIT, "nested deeper than %d levels at byte %zu", JSONTOK_DEPTH_MAX,
                       (size_t)(t->at - t->doc));
    t->at++;
    t->level_keys[t->depth] = t->key_count;
    t->objects &= ~(UINT64_C(1) << t->depth);
    t->objects |= (uint64_t)object << t->depth;
    t->depth++;
    t->state = object ? FIRST_KEY : FIRST_ITEM;
    return 0;
}

static bool in_object(const struct jsontok *t)
{
    return t->depth > 0 && (t->objects >> (t->depth - 1) & 1);
}

static int close_level(struct jsontok *t, struct jsontok_token *ret, struct err *e)
{
    bool object = in_object(t);
    int rc = object ? pop_keys(t, e) : 0;

    if (rc)
        return rc;
    t->at++;
    t->depth--;
    t->state = NEXT;
    ret->kind = object ? JSONTOK_OBJECT_END : JSONTOK_ARRAY_END;
    return 0;
}

static int read_value(struct jsontok *t, struct jsontok_token *ret, struct err *e)
{
    char c = *t->at;

    t->state = NEXT;
    if (c == '{' || c == '[') {
        ret->kind = c == '{' ? JSONTOK_OBJECT : JSONTOK_ARRAY;
        return open_level(t, c == '{', e);
    }
    if (c == '"') {
        ret->kind = JSONTOK_TEXT;
        return read_string(t, ret, e);
    }
    if (c == '-' || is_digit(t, t->at))
        return read_number(t, ret, e);
    return read_word(t, ret, e);
}

static int read_key(struct jsontok *t, struct jsontok_token *ret, struct err *e)
{
    if (*t->at != '"')
        return refuse(t, t->at, "no key where one must be", e);
    ret->kind = JSONTOK_KEY;
    int rc = read_string(t, ret, e);
    if (!rc)
        rc = push_key(t, ret, e);
    if (rc)
        return rc;
    skip_space(t);
    if (t->at == t->end || *t->at != ':')
        return refuse(t, t->at, "no colon after a key", e);
    t->at++;
    t->state = VALUE;
    return 0;
}

int jsontok_next(struct jsontok *t, struct jsontok_token *ret, struct err *e)
{
    *ret = (struct jsontok_token){.kind = JSONTOK_END, .text = "", .len = 0};
    skip_space(t);
    if (t->state == NEXT && t->depth == 0)
        return t->at == t->end ? 0 : refuse(t, t->at, "more after the end of the document", e);
    if (t->at == t->end)
        return refuse(t, t->at, t->depth ? "the document ends in the middle" : "no document", e);
    char close = in_object(t) ? '}' : ']';
    if (t->state == NEXT) {
        if (*t->at == close)
            return close_level(t, ret, e);
        if (*t->at != ',')
            return refuse(t, t->at, "neither a comma nor an end after a value", e);
        t->at++;
        t->state = in_object(t) ? KEY : VALUE;
        skip_space(t);
        if (t->at == t->end)
            return refuse(t, t->at, "the document ends in the middle", e);
    } else if ((t->state == FIRST_KEY || t->state == FIRST_ITEM) && *t->at == close) {
        return close_level(t, ret, e);
    }
    if (t->state == FIRST_KEY || t->state == KEY)
        return read_key(t, ret, e);
    return read_value(t, ret, e);
}

int jsontok_skip(struct jsontok *t, const struct jsontok_token *first, struct err *e)
{
    struct jsontok_token token;
    unsigned outside = t->depth;

    if (first->kind != JSONTOK_OBJECT && first->kind != JSONTOK_ARRAY)
        return 0;
    do {
        int rc = jsontok_next(t, &token, e);
        if (rc)
            return rc;
    } while (t->depth >= outside);
    return 0;
}

bool jsontok_is(const struct jsontok_token *token, const char *s)
{
    return (token->kind == JSONTOK_KEY || token->kind == JSONTOK_TEXT) && token->len == strlen(s) &&
           memcmp(token->text, s, token->len) == 0;
}

const char *jsontok_plain(const struct jsontok_token *token, char ret[JSONTOK_PLAIN_BYTES])
{
    char copy[JSONTOK_PLAIN_BYTES + 1]; /* one more than fits, so that a cut is seen */
    size_t n = token->len < sizeof(copy) - 1 ? token->len : sizeof(copy) - 1;

    memcpy(copy, token->text, n);
    copy[n] = '\0';
    return text_plain(copy, ret, JSONTOK_PLAIN_BYTES);
}

const char *jsontok_name(const struct jsontok_token *token)
{
    switch (token->kind) {
    case JSONTOK_OBJECT: return "an object";
    case JSONTOK_ARRAY: return "an array";
    case JSONTOK_KEY: return "a key";
    case JSONTOK_TEXT: return "text";
    case JSONTOK_UINT: return "a whole number";
    case JSONTOK_TRUE:
    case JSONTOK_FALSE: return "true or false";
    case JSONTOK_NULL: return "null";
    case JSONTOK_NUMBER:
        if (token->text[0] == '-')
            return "a negative number";
        if (memchr(token->text, 'e', token->len) || memchr(token->text, 'E', token->len))
            return "a number with an exponent";
        return memchr(token->text, '.', token->len) ? "a number with a fraction"
                                                    : "a number over 64 bits";
    default: return "an end";
    }
}
