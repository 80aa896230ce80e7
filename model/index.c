#include "model/index.h"
#include "core/text.h"
#include "model/inventory.h"
#include "model/jsontok.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct parse {
    struct jsontok tok;
    struct shard_index *out;
    struct finding_list *findings;
    size_t entry_cap, shard_cap, order_cap;
    uint32_t *order; /* the shards' numbers, sorted by name */
    uint32_t last;   /* the shard of the last entry: neighbours mostly share it */
    bool has_map;
};

int index_check_shard(const char *name, struct err *e)
{
    char plain[200];
    const char *why = NULL;
    size_t n = strlen(name);

    if (n > INDEX_SHARD_NAME_BYTES_MAX)
        return err_set(e, ERR_LIMIT, "a shard's name has %zu bytes, over %d", n,
                       INDEX_SHARD_NAME_BYTES_MAX);
    if (n == 0)
        why = "is empty";
    else if (name[0] == '/')
        why = "is absolute";
    else if (strchr(name, '\\'))
        why = "has a backslash";
    else if (strstr(name, "://") || (n >= 2 && name[1] == ':'))
        why = "has a scheme or drive";
    for (const char *p = name; *p && !why; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            why = "has a control character";
    for (const char *part = name; part && !why;) {
        const char *slash = strchr(part, '/');
        size_t len = slash ? (size_t)(slash - part) : strlen(part);
        if (len == 0)
            why = "has an empty part";
        else if (part[0] == '.' && (len == 1 || (len == 2 && part[1] == '.')))
            why = len == 1 ? "has a \".\" part" : "has a \"..\" part";
        part = slash ? slash + 1 : NULL;
    }
    if (!why)
        return 0;
    return err_set(e, ERR_FORMAT,
                   "the shard name \"%s\" %s: it must be a path below the index's folder",
                   text_plain(name, plain, sizeof(plain)), why);
}

/* The number of the shard of that name, made if it is new. */
static int intern_shard(struct parse *p, const struct jsontok_token *name, uint32_t *ret,
                        struct err *e)
{
    struct shard_index *x = p->out;
    size_t low = 0, high = x->shard_count;

    if (x->shard_count && strlen(x->shards[p->last]) == name->len &&
        memcmp(x->shards[p->last], name->text, name->len) == 0) {
        *ret = p->last;
        return 0;
    }
    while (low < high) {
        size_t middle = (low + high) / 2;
        const char *other = x->shards[p->order[middle]];
        int c = strncmp(other, name->text, name->len);
        if (c == 0 && other[name->len] == '\0') {
            *ret = p->last = p->order[middle];
            return 0;
        }
        if (c < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (x->shard_count == INVENTORY_SHARDS_MAX)
        return err_set(e, ERR_LIMIT, "more than %d shards", INVENTORY_SHARDS_MAX);
    char *copy = mem_arena_strndup(&x->arena, name->text, name->len);
    int rc = index_check_shard(copy, e);
    if (rc)
        return rc;
    x->shards = mem_grow(x->shards, &p->shard_cap, x->shard_count + 1, sizeof(*x->shards));
    p->order = mem_grow(p->order, &p->order_cap, x->shard_count + 1, sizeof(*p->order));
    memmove(p->order + low + 1, p->order + low, (x->shard_count - low) * sizeof(*p->order));
    *ret = p->last = p->order[low] = (uint32_t)x->shard_count;
    x->shards[x->shard_count++] = copy;
    return 0;
}

static int parse_map(struct parse *p, struct err *e)
{
    struct shard_index *x = p->out;
    struct jsontok_token key, v;
    char plain[JSONTOK_PLAIN_BYTES];
    uint32_t shard = 0;
    int rc = jsontok_next(&p->tok, &v, e);

    if (!rc && v.kind != JSONTOK_OBJECT)
        rc = err_set(e, ERR_FORMAT, "weight_map is %s, must be an object", jsontok_name(&v));
    p->has_map = true;
    while (!rc) {
        rc = jsontok_next(&p->tok, &key, e);
        if (rc || key.kind == JSONTOK_OBJECT_END)
            return rc;
        rc = jsontok_next(&p->tok, &v, e);
        if (!rc && v.kind != JSONTOK_TEXT)
            rc = err_set(e, ERR_FORMAT, "is %s, must be a shard's name", jsontok_name(&v));
        if (!rc)
            rc = intern_shard(p, &v, &shard, e);
        if (rc)
            return err_wrap(e, "tensor \"%s\"", jsontok_plain(&key, plain));
        if (x->count == INDEX_ENTRIES_MAX)
            return err_set(e, ERR_LIMIT, "more than %d tensors", INDEX_ENTRIES_MAX);
        x->entries = mem_grow(x->entries, &p->entry_cap, x->count + 1, sizeof(*x->entries));
        x->entries[x->count++] =
            (struct shard_index_entry){mem_arena_strndup(&x->arena, key.text, key.len), shard};
    }
    return rc;
}

/* total_size is a whole number; some writers print it as 1234.0. */
static void take_total(struct parse *p, const struct jsontok_token *v)
{
    char text[64], plain[JSONTOK_PLAIN_BYTES];
    double d = -1;

    p->out->has_total_size = true;
    p->out->total_size = v->u64;
    if (v->kind == JSONTOK_UINT)
        return;
    if (v->kind == JSONTOK_NUMBER && v->len < sizeof(text)) {
        memcpy(text, v->text, v->len);
        text[v->len] = '\0';
        d = strtod(text, NULL);
    }
    if (d >= 0 && d <= 9007199254740992.0 && d == floor(d)) {
        p->out->total_size = (uint64_t)d;
        return;
    }
    p->out->has_total_size = false;
    finding_add(p->findings, FINDING_WARN, "index-total-size",
                INDEX_FILE ": metadata.total_size is %s, not a whole number of bytes: %s",
                jsontok_name(v), jsontok_plain(v, plain));
}

static int parse_metadata(struct parse *p, struct err *e)
{
    struct jsontok_token key, v;
    int rc = jsontok_next(&p->tok, &v, e);

    if (!rc && v.kind == JSONTOK_NULL)
        return 0;
    if (!rc && v.kind != JSONTOK_OBJECT)
        rc = err_set(e, ERR_FORMAT, "metadata is %s, must be an object", jsontok_name(&v));
    while (!rc) {
        rc = jsontok_next(&p->tok, &key, e);
        if (rc || key.kind == JSONTOK_OBJECT_END)
            return rc;
        rc = jsontok_next(&p->tok, &v, e);
        if (!rc && jsontok_is(&key, "total_size"))
            take_total(p, &v);
        if (!rc)
            rc = jsontok_skip(&p->tok, &v, e);
    }
    return rc;
}

static int parse_document(struct parse *p, struct err *e)
{
    struct jsontok_token key, v;
    int rc = jsontok_next(&p->tok, &v, e);

    if (!rc && v.kind != JSONTOK_OBJECT)
        rc = err_set(e, ERR_FORMAT, "the index is %s, must be an object", jsontok_name(&v));
    while (!rc) {
        rc = jsontok_next(&p->tok, &key, e);
        if (rc || key.kind == JSONTOK_OBJECT_END)
            break;
        if (jsontok_is(&key, "weight_map")) {
            rc = parse_map(p, e);
        } else if (jsontok_is(&key, "metadata")) {
            rc = parse_metadata(p, e);
        } else {
            rc = jsontok_next(&p->tok, &v, e);
            if (!rc)
                rc = jsontok_skip(&p->tok, &v, e);
        }
    }
    if (!rc)
        rc = jsontok_next(&p->tok, &v, e); /* the end, or an error */
    if (!rc && !p->has_map)
        rc = err_set(e, ERR_FORMAT, "has no weight_map");
    return rc;
}

static int compare_entries(const void *a, const void *b)
{
    return strcmp(((const struct shard_index_entry *)a)->name,
                  ((const struct shard_index_entry *)b)->name);
}

/* Sorts shards and entries; the entries' numbers follow. */
static void sort_all(struct parse *p)
{
    struct shard_index *x = p->out;
    size_t n = x->shard_count;
    const char **names = mem_alloc(n, sizeof(*names));
    uint32_t *place = mem_alloc(n, sizeof(*place));

    for (size_t i = 0; i < n; i++) {
        names[i] = x->shards[p->order[i]];
        place[p->order[i]] = (uint32_t)i;
    }
    for (size_t i = 0; i < x->count; i++)
        x->entries[i].shard = place[x->entries[i].shard];
    free(place);
    free(x->shards);
    x->shards = names;
    if (x->count)
        qsort(x->entries, x->count, sizeof(*x->entries), compare_entries);
}

int index_parse(const char *text, size_t bytes, struct finding_list *findings,
                struct shard_index *ret, struct err *e)
{
    struct shard_index x = {0};
    struct parse p = {.out = &x, .findings = findings};
    struct mem_arena scratch = {0}; /* unescaped texts; the index keeps copies */
    bool bom = bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;

    if (bytes > INDEX_BYTES_MAX)
        return err_set(e, ERR_LIMIT, "%zu bytes, over the limit of %u for an index", bytes,
                       INDEX_BYTES_MAX);
    if (bom)
        finding_add(findings, FINDING_WARN, "index-bom",
                    INDEX_FILE " starts with a byte order mark, which JSON does not allow");
    jsontok_init(&p.tok, text + (bom ? 3 : 0), bytes - (bom ? 3 : 0), &scratch);
    int rc = parse_document(&p, e);
    jsontok_release(&p.tok);
    mem_arena_release(&scratch);
    if (rc) {
        index_release(&x);
    } else {
        sort_all(&p);
        if (x.count == 0)
            finding_add(findings, FINDING_WARN, "index-empty", INDEX_FILE " names no tensor");
        *ret = x;
    }
    free(p.order);
    return rc;
}

void index_release(struct shard_index *x)
{
    free(x->entries);
    free(x->shards);
    mem_arena_release(&x->arena);
    *x = (struct shard_index){0};
}

static int compare_name(const void *key, const void *item)
{
    return strcmp(key, *(const char *const *)item);
}

long index_find_shard(const struct shard_index *x, const char *path)
{
    const char **found =
        x->shard_count ? bsearch(path, x->shards, x->shard_count, sizeof(*x->shards), compare_name)
                       : NULL;

    return found ? found - x->shards : -1;
}
