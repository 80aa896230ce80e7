#ifndef REPORT_PIVOT_H
#define REPORT_PIVOT_H
#include "report/lookup.h"

/* Facts whose scope is "row|column" or "row|column|part of column", as a table's columns. */
struct pivot {
    char **columns; /* distinct, what stands behind the first "|"; in order of first appearance, and
                       those of one backend side by side */
    size_t count, cap;
};

void pivot_init(struct pivot *p, const struct lookup *l, enum fact_key key);
void pivot_release(struct pivot *p);

/* The fact in that cell, or NULL. */
const struct fact *pivot_get(const struct lookup *l, enum fact_key key, const char *row,
                             const char *column);

#endif
