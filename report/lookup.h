#ifndef REPORT_LOOKUP_H
#define REPORT_LOOKUP_H
#include "db/view.h"

/* The facts of a view by key and scope. A view may hold many thousands; the sections ask for one
 * cell at a time. */
struct lookup {
    const struct view *v;
    const struct fact **sorted; /* by key, scope, position in the view */
    size_t count;
};

/* The view must outlive the lookup. */
void lookup_init(struct lookup *l, const struct view *v);
void lookup_release(struct lookup *l);

/* The first fact of that key and scope, or NULL. Scope NULL: the first of that key. */
const struct fact *lookup_get(const struct lookup *l, enum fact_key key, const char *scope);

/* The facts of that key, sorted by scope: *ret_first points at the first of the returned count. */
size_t lookup_key(const struct lookup *l, enum fact_key key, const struct fact *const **ret_first);

/* The distinct scopes among the facts of those keys, in order of first appearance. Free with
 * free(); *ret_scopes is never NULL. */
size_t lookup_scopes(const struct lookup *l, const enum fact_key *keys, size_t key_count,
                     const char ***ret_scopes);

/* Part `index` of a scope such as "class|backend|hardware" into ret, cut to the array; "" if there
 * is no such part. Returns ret. */
const char *lookup_part(const char *scope, unsigned index, char *ret, size_t ret_bytes);

#endif
