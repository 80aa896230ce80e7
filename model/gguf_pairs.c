#include "model/gguf_pairs.h"
#include "core/text.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN_BYTES 200

const char *gguf_pairs_type_name(enum gguf_value t)
{
    static const char *const names[GGUF_VALUES] = {"u8",  "i8",  "u16",  "i16",  "u32",
                                                   "i32", "f32", "bool", "text", "array",
                                                   "u64", "i64", "f64"};

    return (unsigned)t < GGUF_VALUES ? names[t] : "?";
}

/* Bytes of a value of fixed size; 0 for texts and arrays. */
static unsigned width(enum gguf_value t)
{
    static const unsigned char widths[GGUF_VALUES] = {
        [GGUF_U8] = 1,  [GGUF_I8] = 1,  [GGUF_U16] = 2, [GGUF_I16] = 2,
        [GGUF_U32] = 4, [GGUF_I32] = 4, [GGUF_F32] = 4, [GGUF_BOOL] = 1,
        [GGUF_U64] = 8, [GGUF_I64] = 8, [GGUF_F64] = 8};

    return widths[t];
}

static int take_type(struct gguf_bytes *b, enum gguf_value *ret, struct err *e)
{
    uint64_t v;
    int rc = gguf_bytes_uint(b, 4, "the type of a value", &v, e);

    if (rc)
        return rc;
    if (v >= GGUF_VALUES)
        return err_set(e, ERR_FORMAT, "has a value of type %" PRIu64 ", the format has 0 to %d", v,
                       GGUF_VALUES - 1);
    *ret = (enum gguf_value)v;
    return 0;
}

static int check_bools(const unsigned char *b, uint64_t n, struct err *e)
{
    for (uint64_t i = 0; i < n; i++)
        if (b[i] > 1)
            return err_set(e, ERR_FORMAT, "has a truth value of %u, must be 0 or 1", b[i]);
    return 0;
}

struct level {
    enum gguf_value type;
    uint64_t left;
};

/* The type and the length in front of an array's elements, which must have room in the file. */
static int take_array_head(struct gguf_bytes *b, struct level *ret, struct err *e)
{
    struct level l;
    uint64_t bytes;
    int rc = take_type(b, &l.type, e);

    if (!rc)
        rc = gguf_bytes_uint(b, 8, "the length of an array", &l.left, e);
    if (rc)
        return rc;
    if (l.left > GGUF_ARRAY_ELEMENTS_MAX)
        return err_set(e, ERR_LIMIT, "has an array of %" PRIu64 " elements, over the limit of %d",
                       l.left, GGUF_ARRAY_ELEMENTS_MAX);
    bytes = l.left * (l.type == GGUF_TEXT ? 8 : l.type == GGUF_ARRAY ? 12 : width(l.type));
    if (bytes > b->file_bytes - b->at)
        return err_set(e, ERR_FORMAT,
                       "is short: an array of %" PRIu64 " elements takes at least %" PRIu64
                       " bytes from byte %" PRIu64 " on, the file has %" PRIu64,
                       l.left, bytes, b->at, b->file_bytes);
    *ret = l;
    return 0;
}

/* All elements of an array that holds no arrays. */
static int skip_elements(struct gguf_bytes *b, const struct level *l, struct err *e)
{
    const unsigned char *bytes;
    uint64_t n;
    int rc = 0;

    if (l->type == GGUF_TEXT) {
        for (uint64_t i = 0; i < l->left && !rc; i++)
            rc = gguf_bytes_text(b, "a text in an array", GGUF_TEXT_BYTES_MAX, &bytes, &n, e);
        return rc;
    }
    rc = gguf_bytes_take(b, l->left * width(l->type), "an array", &bytes, e);
    return rc || l->type != GGUF_BOOL ? rc : check_bools(bytes, l->left, e);
}

/* Arrays may hold arrays: a stack of those that are open takes the place of recursion. */
static int skip_array(struct gguf_bytes *b, struct gguf_pair *pair, struct err *e)
{
    struct level open[GGUF_ARRAY_DEPTH_MAX];
    size_t depth = 1;
    int rc = take_array_head(b, &open[0], e);

    if (rc)
        return rc;
    pair->element = open[0].type;
    pair->count = open[0].left;
    while (depth > 0 && !rc) {
        struct level *l = &open[depth - 1];
        if (l->left == 0) {
            depth--;
        } else if (l->type != GGUF_ARRAY) {
            rc = skip_elements(b, l, e);
            l->left = 0;
        } else if (depth == GGUF_ARRAY_DEPTH_MAX) {
            return err_set(e, ERR_LIMIT, "has arrays within arrays, over the limit of %d deep",
                           GGUF_ARRAY_DEPTH_MAX);
        } else {
            l->left--;
            rc = take_array_head(b, &open[depth++], e);
        }
    }
    return rc;
}

static int take_number(struct gguf_bytes *b, struct gguf_pair *pair, struct err *e)
{
    unsigned bytes = width(pair->type);
    uint64_t v;
    int rc = gguf_bytes_uint(b, bytes, "a value", &v, e);

    if (rc)
        return rc;
    switch (pair->type) {
    case GGUF_I8: pair->i64 = (int8_t)v; break;
    case GGUF_I16: pair->i64 = (int16_t)v; break;
    case GGUF_I32: pair->i64 = (int32_t)v; break;
    case GGUF_I64: pair->i64 = (int64_t)v; break;
    case GGUF_F32: {
        uint32_t bits = (uint32_t)v;
        float f;
        memcpy(&f, &bits, sizeof(f));
        pair->real = (double)f;
        break;
    }
    case GGUF_F64: memcpy(&pair->real, &v, sizeof(v)); break;
    case GGUF_BOOL: {
        unsigned char truth = (unsigned char)v;
        rc = check_bools(&truth, 1, e);
        pair->u64 = v;
        break;
    }
    default: pair->u64 = v; break;
    }
    return rc;
}

static int take_value(struct gguf_bytes *b, struct gguf *g, struct gguf_pair *pair, struct err *e)
{
    const unsigned char *text;
    int rc = take_type(b, &pair->type, e);

    if (rc)
        return rc;
    if (pair->type == GGUF_ARRAY)
        return skip_array(b, pair, e);
    if (pair->type != GGUF_TEXT)
        return take_number(b, pair, e);
    rc = gguf_bytes_text(b, "a text", GGUF_TEXT_BYTES_MAX, &text, &pair->count, e);
    if (!rc && pair->count <= GGUF_TEXT_BYTES_KEPT)
        pair->text = gguf_bytes_keep(&g->arena, text, pair->count);
    return rc;
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(((const struct gguf_pair *)a)->key, ((const struct gguf_pair *)b)->key);
}

static int set_alignment(struct gguf *g, struct err *e)
{
    const struct gguf_pair *pair = gguf_pairs_find(g, "general.alignment");

    g->alignment = GGUF_ALIGNMENT_DEFAULT;
    if (!pair)
        return 0;
    if (pair->type != GGUF_U32)
        return err_set(e, ERR_FORMAT, "general.alignment is of type %s, must be u32",
                       gguf_pairs_type_name(pair->type));
    if (pair->u64 == 0 || (pair->u64 & (pair->u64 - 1)) != 0)
        return err_set(e, ERR_FORMAT, "general.alignment is %" PRIu64 ", must be a power of two",
                       pair->u64);
    if (pair->u64 > GGUF_ALIGNMENT_MAX)
        return err_set(e, ERR_LIMIT, "general.alignment is %" PRIu64 ", over the limit of %d",
                       pair->u64, GGUF_ALIGNMENT_MAX);
    g->alignment = pair->u64;
    return 0;
}

int gguf_pairs_read(struct gguf_bytes *b, uint64_t count, struct gguf *g, struct err *e)
{
    char plain[PLAIN_BYTES];
    size_t cap = 0;

    for (uint64_t i = 0; i < count; i++) {
        struct gguf_pair pair = {0};
        const unsigned char *key;
        uint64_t n;
        int rc = gguf_bytes_text(b, "a key", GGUF_KEY_BYTES_MAX, &key, &n, e);
        if (rc)
            return rc;
        pair.key = gguf_bytes_keep(&g->arena, key, n);
        if (!pair.key)
            return err_set(e, ERR_FORMAT, "key %" PRIu64 " is no UTF-8 text without a NUL", i);
        rc = take_value(b, g, &pair, e);
        if (rc < 0 && !text_starts(e->msg, "is short"))
            err_wrap(e, "key \"%s\"", text_plain(pair.key, plain, sizeof(plain)));
        if (rc)
            return rc;
        g->pairs = mem_grow(g->pairs, &cap, g->pair_count + 1, sizeof(*g->pairs));
        g->pairs[g->pair_count++] = pair;
    }
    if (g->pair_count)
        qsort(g->pairs, g->pair_count, sizeof(*g->pairs), compare_keys);
    for (size_t i = 1; i < g->pair_count; i++)
        if (strcmp(g->pairs[i - 1].key, g->pairs[i].key) == 0)
            return err_set(e, ERR_FORMAT, "the key \"%s\" is there twice",
                           text_plain(g->pairs[i].key, plain, sizeof(plain)));
    return set_alignment(g, e);
}

/* --- looking up ------------------------------------------------------------------------------- */

const struct gguf_pair *gguf_pairs_find(const struct gguf *g, const char *key)
{
    char name[PLAIN_BYTES];
    struct gguf_pair wanted = {.key = key};

    if (g->pair_count == 0)
        return NULL;
    if (text_starts(key, "*.")) {
        const char *arch = gguf_pairs_architecture(g);
        int n = snprintf(name, sizeof(name), "%s%s", arch ? arch : "", key + 1);
        if (!arch || n < 0 || (size_t)n >= sizeof(name))
            return NULL;
        wanted.key = name;
    }
    return bsearch(&wanted, g->pairs, g->pair_count, sizeof(*g->pairs), compare_keys);
}

bool gguf_pairs_u64(const struct gguf *g, const char *key, uint64_t *ret)
{
    const struct gguf_pair *pair = gguf_pairs_find(g, key);

    if (!pair)
        return false;
    switch (pair->type) {
    case GGUF_U8:
    case GGUF_U16:
    case GGUF_U32:
    case GGUF_U64: *ret = pair->u64; return true;
    case GGUF_I8:
    case GGUF_I16:
    case GGUF_I32:
    case GGUF_I64:
        if (pair->i64 < 0)
            return false;
        *ret = (uint64_t)pair->i64;
        return true;
    default: return false;
    }
}

bool gguf_pairs_real(const struct gguf *g, const char *key, double *ret)
{
    const struct gguf_pair *pair = gguf_pairs_find(g, key);

    if (!pair || (pair->type != GGUF_F32 && pair->type != GGUF_F64))
        return false;
    *ret = pair->real;
    return true;
}

bool gguf_pairs_bool(const struct gguf *g, const char *key, bool *ret)
{
    const struct gguf_pair *pair = gguf_pairs_find(g, key);

    if (!pair || pair->type != GGUF_BOOL)
        return false;
    *ret = pair->u64 != 0;
    return true;
}

bool gguf_pairs_text(const struct gguf *g, const char *key, const char **ret)
{
    const struct gguf_pair *pair = gguf_pairs_find(g, key);

    if (!pair || pair->type != GGUF_TEXT || !pair->text)
        return false;
    *ret = pair->text;
    return true;
}

const char *gguf_pairs_architecture(const struct gguf *g)
{
    const char *text = NULL;

    return gguf_pairs_text(g, "general.architecture", &text) ? text : NULL;
}
