#include "report/pivot.h"
#include "core/buf.h"
#include <stdlib.h>
#include <string.h>

/* Where a column goes: behind the last of its backend, else at the end. SIZE_MAX if it is there. */
static size_t place_of(const struct pivot *p, const char *column)
{
    size_t n = strcspn(column, "|"), place = p->count;

    for (size_t i = 0; i < p->count; i++) {
        if (!strcmp(p->columns[i], column))
            return SIZE_MAX;
        if (!strncmp(p->columns[i], column, n) && strcspn(p->columns[i], "|") == n)
            place = i + 1;
    }
    return place;
}

void pivot_init(struct pivot *p, const struct lookup *l, enum fact_key key)
{
    const char **scopes;
    size_t count = lookup_scopes(l, &key, 1, &scopes);

    *p = (struct pivot){0};
    for (size_t i = 0; i < count; i++) {
        const char *bar = strchr(scopes[i], '|');
        size_t place = bar ? place_of(p, bar + 1) : SIZE_MAX;
        if (place == SIZE_MAX)
            continue;
        p->columns = mem_grow(p->columns, &p->cap, p->count + 1, sizeof(char *));
        memmove(p->columns + place + 1, p->columns + place, (p->count - place) * sizeof(char *));
        p->columns[place] = mem_strdup(bar + 1);
        p->count++;
    }
    free(scopes);
}

void pivot_release(struct pivot *p)
{
    for (size_t i = 0; i < p->count; i++)
        free(p->columns[i]);
    free(p->columns);
    *p = (struct pivot){0};
}

const struct fact *pivot_get(const struct lookup *l, enum fact_key key, const char *row,
                             const char *column)
{
    struct buf scope;

    buf_init(&scope, SIZE_MAX / 2);
    buf_adds(&scope, row);
    buf_addc(&scope, '|');
    buf_adds(&scope, column);
    const struct fact *f = lookup_get(l, key, scope.data);
    buf_release(&scope);
    return f;
}
