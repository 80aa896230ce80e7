#include "fingerprint/diff.h"
#include "core/mem.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

static bool there(const struct manifest_entry *x)
{
    return x && x->state != SHARD_MISSING;
}

static int by_content(const struct manifest_entry *x, const struct manifest_entry *y)
{
    int order = memcmp(x->sha256, y->sha256, SHA256_BYTES);

    return order != 0 ? order : (x->size_bytes > y->size_bytes) - (x->size_bytes < y->size_bytes);
}

/* The class of a path, with sides that may be NULL, before renames are looked for. */
static enum diff_class class_of(const struct manifest_entry *a, const struct manifest_entry *b)
{
    bool in_a = there(a), in_b = there(b);

    if ((in_a && a->state != SHARD_OK) || (in_b && b->state != SHARD_OK) || (!in_a && !in_b))
        return DIFF_UNVERIFIABLE;
    if (!in_b)
        return DIFF_REMOVED;
    if (!in_a)
        return DIFF_ADDED;
    return by_content(a, b) == 0 ? DIFF_IDENTICAL : DIFF_CHANGED;
}

static void put(struct diff *d, enum diff_class class, const struct manifest_entry *a,
                const struct manifest_entry *b)
{
    d->items[d->count++] = (struct diff_entry){.class = class, .a = a, .b = b};
}

/* Both lists are sorted by path: one walk puts every path of either side. */
static void merge(const struct manifest *a, const struct manifest *b, struct diff *d)
{
    for (size_t i = 0, j = 0; i < a->count || j < b->count;) {
        const struct manifest_entry *x = i < a->count ? &a->items[i] : NULL;
        const struct manifest_entry *y = j < b->count ? &b->items[j] : NULL;
        int order = !x ? 1 : !y ? -1 : strcmp(x->path, y->path);
        x = order <= 0 ? x : NULL;
        y = order >= 0 ? y : NULL;
        i += x != NULL;
        j += y != NULL;
        put(d, class_of(x, y), x, y);
    }
}

/* The side of a removed or added entry that is there. */
static const struct manifest_entry *side(const struct diff_entry *x)
{
    return x->class == DIFF_REMOVED ? x->a : x->b;
}

static int by_content_and_path(const void *x, const void *y)
{
    const struct manifest_entry *a = side(*(struct diff_entry *const *)x);
    const struct manifest_entry *b = side(*(struct diff_entry *const *)y);
    int order = by_content(a, b);

    return order != 0 ? order : strcmp(a->path, b->path);
}

/* The entries of one class, sorted by content and path. */
static struct diff_entry **pick(const struct diff *d, enum diff_class class, size_t *ret_count)
{
    struct diff_entry **list = mem_alloc(d->count + 1, sizeof(struct diff_entry *));
    size_t n = 0;

    for (size_t i = 0; i < d->count; i++)
        if (d->items[i].class == class)
            list[n++] = &d->items[i];
    qsort(list, n, sizeof(struct diff_entry *), by_content_and_path);
    *ret_count = n;
    return list;
}

/* Joins a removed and an added file of one content: the k-th of the one with the k-th of the other
 * in order of path. The added entry goes; the removed one tells both. */
static void pair_renames(struct diff *d)
{
    size_t n_gone, n_new;
    struct diff_entry **gone = pick(d, DIFF_REMOVED, &n_gone);
    struct diff_entry **new = pick(d, DIFF_ADDED, &n_new);

    for (size_t i = 0, j = 0; i < n_gone && j < n_new;) {
        int order = by_content(gone[i]->a, new[j]->b);
        if (order == 0) {
            gone[i]->b = new[j]->b;
            gone[i]->class = DIFF_RENAMED;
            new[j]->class = DIFF_CLASSES;
        }
        i += order <= 0;
        j += order >= 0;
    }
    free(gone);
    free(new);
    size_t kept = 0;
    for (size_t i = 0; i < d->count; i++)
        if (d->items[i].class != DIFF_CLASSES)
            d->items[kept++] = d->items[i];
    d->count = kept;
}

void diff_compare(const struct manifest *a, const struct manifest *b, struct diff *ret)
{
    struct diff d = {0};

    d.items = mem_alloc(a->count + b->count + 1, sizeof(*d.items));
    merge(a, b, &d);
    pair_renames(&d);
    for (size_t i = 0; i < d.count; i++)
        d.counts[d.items[i].class]++;
    *ret = d;
}

void diff_release(struct diff *d)
{
    free(d->items);
    *d = (struct diff){0};
}

bool diff_equal(const struct diff *d)
{
    return d->count > 0 && d->counts[DIFF_IDENTICAL] == d->count;
}

bool diff_differs(const struct diff *d)
{
    return d->counts[DIFF_CHANGED] + d->counts[DIFF_ADDED] + d->counts[DIFF_REMOVED] +
               d->counts[DIFF_RENAMED] >
           0;
}

const char *diff_class_name(enum diff_class c)
{
    static const char *const names[DIFF_CLASSES] = {
        [DIFF_IDENTICAL] = "identical", [DIFF_CHANGED] = "changed",
        [DIFF_ADDED] = "added",         [DIFF_REMOVED] = "removed",
        [DIFF_RENAMED] = "renamed",     [DIFF_UNVERIFIABLE] = "unverifiable"};

    assert((unsigned)c < DIFF_CLASSES);
    return names[c];
}
