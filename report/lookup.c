#include "report/lookup.h"
#include "core/mem.h"
#include <stdlib.h>
#include <string.h>

static int by_key_and_scope(const void *a, const void *b)
{
    const struct fact *p = *(const struct fact *const *)a, *q = *(const struct fact *const *)b;

    if (p->key != q->key)
        return p->key < q->key ? -1 : 1;
    int order = strcmp(p->scope, q->scope);
    if (order)
        return order;
    return p < q ? -1 : p > q; /* the view's order: both point into one array */
}

void lookup_init(struct lookup *l, const struct view *v)
{
    *l = (struct lookup){.v = v, .count = v->facts.count};
    l->sorted = mem_alloc(l->count ? l->count : 1, sizeof(struct fact *));
    for (size_t i = 0; i < l->count; i++)
        l->sorted[i] = &v->facts.items[i];
    qsort(l->sorted, l->count, sizeof(struct fact *), by_key_and_scope);
}

void lookup_release(struct lookup *l)
{
    free(l->sorted);
    *l = (struct lookup){0};
}

/* The place of the first fact that is not before key and scope. */
static size_t lower_bound(const struct lookup *l, enum fact_key key, const char *scope)
{
    size_t low = 0, high = l->count;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const struct fact *f = l->sorted[mid];
        if (f->key < key || (f->key == key && strcmp(f->scope, scope) < 0))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

const struct fact *lookup_get(const struct lookup *l, enum fact_key key, const char *scope)
{
    size_t at = lower_bound(l, key, scope ? scope : "");

    if (at == l->count || l->sorted[at]->key != key)
        return NULL;
    if (scope)
        return strcmp(l->sorted[at]->scope, scope) ? NULL : l->sorted[at];
    const struct fact *first = l->sorted[at];
    for (; at < l->count && l->sorted[at]->key == key; at++)
        if (l->sorted[at] < first)
            first = l->sorted[at];
    return first;
}

size_t lookup_key(const struct lookup *l, enum fact_key key, const struct fact *const **ret_first)
{
    size_t at = lower_bound(l, key, ""), n = 0;

    while (at + n < l->count && l->sorted[at + n]->key == key)
        n++;
    *ret_first = l->sorted + at;
    return n;
}

static int by_position(const void *a, const void *b)
{
    const struct fact *p = *(const struct fact *const *)a, *q = *(const struct fact *const *)b;

    return p < q ? -1 : p > q;
}

/* True if no other fact of the keys has f's scope and a place before f. */
static bool leads(const struct lookup *l, const struct fact *f, const enum fact_key *keys,
                  size_t key_count)
{
    for (size_t k = 0; k < key_count; k++) {
        const struct fact *other = lookup_get(l, keys[k], f->scope);
        if (other && other < f)
            return false;
    }
    return true;
}

size_t lookup_scopes(const struct lookup *l, const enum fact_key *keys, size_t key_count,
                     const char ***ret_scopes)
{
    const struct fact **found = NULL;
    size_t count = 0, cap = 0;

    for (size_t k = 0; k < key_count; k++)
        for (size_t i = lower_bound(l, keys[k], ""); i < l->count && l->sorted[i]->key == keys[k];
             i++)
            if (leads(l, l->sorted[i], keys, key_count)) {
                found = mem_grow(found, &cap, count + 1, sizeof(struct fact *));
                found[count++] = l->sorted[i];
            }
    if (count)
        qsort(found, count, sizeof(struct fact *), by_position);
    const char **scopes = mem_alloc(count ? count : 1, sizeof(char *));
    for (size_t i = 0; i < count; i++)
        scopes[i] = found[i]->scope;
    free(found);
    *ret_scopes = scopes;
    return count;
}

const char *lookup_part(const char *scope, unsigned index, char *ret, size_t ret_bytes)
{
    while (index--) {
        scope = strchr(scope, '|');
        if (!scope) {
            ret[0] = '\0';
            return ret;
        }
        scope++;
    }
    size_t n = strcspn(scope, "|");
    if (n >= ret_bytes)
        n = ret_bytes - 1;
    memcpy(ret, scope, n);
    ret[n] = '\0';
    return ret;
}
