#ifndef AUDIT_STAGE_H
#define AUDIT_STAGE_H
#include "audit/cmd.h"
#include "audit/evidence.h"

/* What the commands on one stage of an audit have in common: read the subject and the policy, run
 * the stage, print what it found. */

typedef int stage_fn(struct evidence *v, const struct subject *s, const struct options *o,
                     const struct policy *p, struct err *e);

/* Runs fn on the subject of the command line and prints the facts whose keys start with one of the
 * prefixes (NULL-terminated), as text or JSON. Exit status: CMD_YES if a fact of the first prefix
 * is known, else CMD_UNKNOWN. */
int stage_run(const struct options *o, stage_fn *fn, const char *const *prefixes);

/* The policy that --policy names, or the built-in one. */
int stage_policy(const struct options *o, struct policy *ret, struct err *e);

/* The shipped support tables, with the rows of --support before them. */
int stage_support(const struct options *o, struct support *ret, struct err *e);

#endif
