#ifndef AUDIT_PRINTOUT_H
#define AUDIT_PRINTOUT_H
#include "core/fact.h"

struct cJSON;

/* Facts and curves as the commands print them. */

/* One line a fact: key, scope, value with unit and error, source. Keys that start with prefix
 * ("stress." ; "" for all). */
void printout_print_facts(const struct fact_list *l, const char *prefix);

/* One table a series and scope: x, y, error, note. */
void printout_print_points(const struct fact_list *l);

/* {"facts": [...], "points": [...]} with the keys that the README documents: the facts whose keys
 * start with one of the prefixes (NULL-terminated); loads are left out, points are there if there
 * are any. The caller owns it. */
struct cJSON *printout_json(const struct fact_list *l, const char *const *prefixes);

#endif
