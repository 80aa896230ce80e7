#ifndef AUDIT_PRINTOUT_H
#define AUDIT_PRINTOUT_H
#include "core/fact.h"

struct cJSON;

/* {"facts": [...], "points": [...]} in the form of report/fact_json.h: the facts whose keys start
 * with one of the prefixes (NULL-terminated); loads are left out, points are there if there are
 * any. The caller owns it. */
struct cJSON *printout_json(const struct fact_list *l, const char *const *prefixes);

#endif
