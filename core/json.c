#include "core/json.h"
#include "core/jsonscan.h"
#include "core/mem.h"
#include "core/text.h"
#include <assert.h>
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- keys that come twice ------------------------------------------------------------------------
 */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct keys {
    const char **names;
    size_t cap;
};

static int check_object(const cJSON *object, struct keys *k, struct err *e)
{
    size_t n = json_count(object), i = 0;
    char shown[160];

    k->names = mem_grow(k->names, &k->cap, n, sizeof(*k->names));
    for (const cJSON *c = object->child; c; c = c->next)
        k->names[i++] = c->string;
    qsort(k->names, n, sizeof(*k->names), by_name);
    for (i = 1; i < n; i++) {
        if (strcmp(k->names[i - 1], k->names[i]) == 0)
            return err_set(e, ERR_FORMAT, "the key \"%s\" stands twice in one object",
                           text_plain(k->names[i], shown, sizeof(shown)));
    }
    return 0;
}

/* Every object of the document, without recursion: the stack holds the way down. */
static int check_keys(const cJSON *doc, struct err *e)
{
    const cJSON *way[JSON_DEPTH_MAX + 1];
    struct keys k = {0};
    size_t depth = 0;
    int rc = 0;

    way[0] = doc;
    for (;;) {
        const cJSON *item = way[depth];
        if (cJSON_IsObject(item) && item->child && item->child->next)
            rc = check_object(item, &k, e);
        if (rc)
            break;
        if ((cJSON_IsObject(item) || cJSON_IsArray(item)) && item->child) {
            assert(depth < JSON_DEPTH_MAX);
            way[++depth] = item->child;
            continue;
        }
        while (depth > 0 && !way[depth]->next)
            depth--;
        if (depth == 0)
            break;
        way[depth] = way[depth]->next;
    }
    free(k.names);
    return rc;
}

/* A valid text with null for each word that is no JSON. Outside of strings, N and I start nothing
 * else, and a minus stands before nothing but digits and them. */
static void replace_words(const char *text, size_t bytes, struct buf *clean)
{
    bool in_string = false;

    for (size_t i = 0; i < bytes; i++) {
        char c = text[i];
        if (in_string && c == '\\')
            buf_addc(clean, text[i++]);
        else if (c == '"')
            in_string = !in_string;
        bool minus = c == '-' && i + 1 < bytes && text[i + 1] == 'I';
        if (!in_string && (c == 'N' || c == 'I' || minus)) {
            i += (c == 'N' ? sizeof("NaN") : minus ? sizeof("-Infinity") : sizeof("Infinity")) - 2;
            buf_adds(clean, "null");
        } else {
            buf_addc(clean, text[i]);
        }
    }
}

static cJSON *parse_checked(const char *text, size_t bytes, size_t words)
{
    struct buf clean;

    if (words == 0)
        return cJSON_ParseWithLength(text, bytes);
    buf_init(&clean, bytes + words); /* null is one longer than NaN, and that is the worst case */
    replace_words(text, bytes, &clean);
    assert(!clean.over);
    cJSON *doc = cJSON_ParseWithLength(clean.data, clean.len);
    buf_release(&clean);
    return doc;
}

int json_parse(const char *text, size_t bytes, struct cJSON **ret, unsigned *ret_odd, struct err *e)
{
    unsigned odd = bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? JSON_ODD_BOM : 0;
    size_t values = 0, words = 0;

    if (bytes > JSON_DOCUMENT_BYTES_MAX)
        return err_set(e, ERR_LIMIT, "the document has %zu bytes, over the limit of %u", bytes,
                       JSON_DOCUMENT_BYTES_MAX);
    if (odd && !ret_odd)
        return err_set(e, ERR_FORMAT, "line 1, column 1: a byte order mark is no JSON");
    if (odd) {
        text += 3;
        bytes -= 3;
    }
    int rc = jsonscan_check(text, bytes, ret_odd != NULL, &values, &words, e);
    if (rc)
        return rc;
    cJSON *doc = parse_checked(text, bytes, words);
    if (!doc)
        return err_set(e, ERR_LIMIT, "no memory for a document of %zu bytes and %zu values", bytes,
                       values);
    rc = check_keys(doc, e);
    if (rc) {
        cJSON_Delete(doc);
        return rc;
    }
    *ret = doc;
    if (ret_odd)
        *ret_odd = odd | (words ? JSON_ODD_WORDS : 0u);
    return 0;
}

void json_free(struct cJSON *doc)
{
    cJSON_Delete(doc);
}

/* --- reading -------------------------------------------------------------------------------------
 */

const struct cJSON *json_get(const struct cJSON *obj, const char *key)
{
    return cJSON_IsObject(obj) ? cJSON_GetObjectItemCaseSensitive(obj, key) : NULL;
}

const struct cJSON *json_first(const struct cJSON *container)
{
    return cJSON_IsObject(container) || cJSON_IsArray(container) ? container->child : NULL;
}

const struct cJSON *json_next(const struct cJSON *item)
{
    return item->next;
}

const char *json_key(const struct cJSON *item)
{
    return item->string ? item->string : "";
}

size_t json_count(const struct cJSON *container)
{
    size_t n = 0;

    for (const cJSON *c = json_first(container); c; c = c->next)
        n++;
    return n;
}

enum json_kind json_kind(const struct cJSON *item)
{
    if (!item)
        return JSON_MISSING;
    if (cJSON_IsBool(item))
        return JSON_BOOL;
    if (cJSON_IsNumber(item) || cJSON_IsRaw(item)) /* raw: an exact integer of ours */
        return JSON_NUMBER;
    if (cJSON_IsString(item))
        return JSON_TEXT;
    if (cJSON_IsArray(item))
        return JSON_ARRAY;
    return cJSON_IsObject(item) ? JSON_OBJECT : JSON_NULL;
}

const char *json_kind_name(enum json_kind kind)
{
    static const char *const names[] = {
        [JSON_NULL] = "null",       [JSON_BOOL] = "true or false", [JSON_NUMBER] = "a number",
        [JSON_TEXT] = "a string",   [JSON_ARRAY] = "an array",     [JSON_OBJECT] = "an object",
        [JSON_MISSING] = "missing",
    };

    assert((unsigned)kind < sizeof(names) / sizeof(names[0]));
    return names[kind];
}

bool json_text(const struct cJSON *item, const char **ret)
{
    if (json_kind(item) != JSON_TEXT)
        return false;
    *ret = item->valuestring;
    return true;
}

bool json_bool(const struct cJSON *item, bool *ret)
{
    if (json_kind(item) != JSON_BOOL)
        return false;
    *ret = cJSON_IsTrue(item);
    return true;
}

bool json_real(const struct cJSON *item, double *ret)
{
    if (json_kind(item) != JSON_NUMBER)
        return false;
    *ret = cJSON_IsRaw(item) ? strtod(item->valuestring, NULL) : item->valuedouble;
    return true;
}

bool json_u64(const struct cJSON *item, uint64_t *ret)
{
    double x;

    if (!json_real(item, &x) || !(x >= 0 && x < 0x1p53) || floor(x) != x)
        return false;
    *ret = (uint64_t)x;
    return true;
}

/* --- writing -------------------------------------------------------------------------------------
 */

static cJSON *made(cJSON *item)
{
    if (!item)
        mem_exhausted(sizeof(cJSON));
    return item;
}

/* s with U+FFFD for each byte that is not UTF-8. */
static void mend(struct buf *b, const char *s)
{
    size_t n = strlen(s);
    uint32_t c;

    buf_init(b, SIZE_MAX / 2);
    for (size_t i = 0; i < n;) {
        size_t len = text_utf8_next(s + i, n - i, &c);
        if (len)
            buf_add(b, s + i, len);
        else
            buf_adds(b, "\xef\xbf\xbd");
        i += len ? len : 1;
    }
}

static cJSON *append(cJSON *to, const char *key, cJSON *item)
{
    struct buf name;
    cJSON_bool done;

    assert(key ? cJSON_IsObject(to) : cJSON_IsArray(to));
    if (key) {
        mend(&name, key);
        done = cJSON_AddItemToObject(to, name.data, made(item));
        buf_release(&name);
    } else {
        done = cJSON_AddItemToArray(to, made(item));
    }
    return made(done ? item : NULL);
}

struct cJSON *json_object(void)
{
    return made(cJSON_CreateObject());
}

struct cJSON *json_array(void)
{
    return made(cJSON_CreateArray());
}

struct cJSON *json_add_object(struct cJSON *to, const char *key)
{
    return append(to, key, cJSON_CreateObject());
}

struct cJSON *json_add_array(struct cJSON *to, const char *key)
{
    return append(to, key, cJSON_CreateArray());
}

struct cJSON *json_add_text(struct cJSON *to, const char *key, const char *value)
{
    struct buf b;

    if (!value)
        return json_add_null(to, key);
    mend(&b, value);
    cJSON *item = cJSON_CreateString(b.data);
    buf_release(&b);
    return append(to, key, item);
}

struct cJSON *json_add_u64(struct cJSON *to, const char *key, uint64_t value)
{
    char digits[24];

    (void)snprintf(digits, sizeof(digits), "%" PRIu64, value);
    return append(to, key, cJSON_CreateRaw(digits));
}

struct cJSON *json_add_i64(struct cJSON *to, const char *key, int64_t value)
{
    char digits[24];

    (void)snprintf(digits, sizeof(digits), "%" PRId64, value);
    return append(to, key, cJSON_CreateRaw(digits));
}

struct cJSON *json_add_real(struct cJSON *to, const char *key, double value)
{
    if (!isfinite(value))
        return json_add_null(to, key);
    return append(to, key, cJSON_CreateNumber(value));
}

struct cJSON *json_add_bool(struct cJSON *to, const char *key, bool value)
{
    return append(to, key, cJSON_CreateBool(value));
}

struct cJSON *json_add_null(struct cJSON *to, const char *key)
{
    return append(to, key, cJSON_CreateNull());
}

/* What a terminal would obey or reorder is written as \\u too: it reads back as the same text. */
static void print_text(struct buf *b, const char *s)
{
    static const char names[] = "\bb\tt\nn\ff\rr\"\"\\\\";
    size_t n = strlen(s);
    uint32_t c = 0;

    buf_addc(b, '"');
    for (size_t i = 0, len; i < n; i += len) {
        const char *name = names;
        while (*name && *name != s[i])
            name += 2;
        len = text_utf8_next(s + i, n - i, &c);
        if (*name)
            buf_addf(b, "\\%c", name[1]);
        else if (len && !text_is_plain(c))
            buf_addf(b, "\\u%04x", (unsigned)c);
        else
            buf_add(b, s + i, len ? len : 1);
        len = len ? len : 1;
    }
    buf_addc(b, '"');
}

/* The shortest of 15, 16 or 17 digits that reads back as the same double. */
static void print_real(struct buf *b, double x)
{
    char digits[32];

    if (!isfinite(x)) {
        buf_adds(b, "null");
        return;
    }
    for (int n = 15; n <= 17; n++) {
        (void)snprintf(digits, sizeof(digits), "%.*g", n, x);
        if (strtod(digits, NULL) == x)
            break;
    }
    buf_adds(b, digits);
}

/* A value that holds no other value. */
static void print_leaf(struct buf *b, const cJSON *item)
{
    switch (json_kind(item)) {
    case JSON_BOOL: buf_adds(b, cJSON_IsTrue(item) ? "true" : "false"); break;
    case JSON_TEXT: print_text(b, item->valuestring); break;
    case JSON_ARRAY: buf_adds(b, "[]"); break;
    case JSON_OBJECT: buf_adds(b, "{}"); break;
    case JSON_NUMBER:
        if (cJSON_IsRaw(item))
            buf_adds(b, item->valuestring);
        else
            print_real(b, item->valuedouble);
        break;
    default: buf_adds(b, "null");
    }
}

static void print_line(struct buf *b, bool compact, size_t depth)
{
    if (compact)
        return;
    buf_addc(b, '\n');
    for (size_t i = 0; i < depth; i++)
        buf_adds(b, "  ");
}

void json_print(const struct cJSON *doc, bool compact, struct buf *b)
{
    const cJSON **way = NULL; /* the containers that are open */
    const cJSON *item = doc;
    size_t depth = 0, cap = 0;

    for (;;) {
        if (depth && cJSON_IsObject(way[depth - 1])) {
            print_text(b, json_key(item));
            buf_adds(b, compact ? ":" : ": ");
        }
        if (json_first(item)) {
            way = mem_grow(way, &cap, depth + 1, sizeof(*way));
            way[depth++] = item;
            buf_addc(b, cJSON_IsObject(item) ? '{' : '[');
            print_line(b, compact, depth);
            item = item->child;
            continue;
        }
        print_leaf(b, item);
        while (depth && !item->next) {
            item = way[--depth];
            print_line(b, compact, depth);
            buf_addc(b, cJSON_IsObject(item) ? '}' : ']');
        }
        if (depth == 0)
            break;
        buf_addc(b, ',');
        print_line(b, compact, depth);
        item = item->next;
    }
    free(way);
    buf_addc(b, '\n');
}
