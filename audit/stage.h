#ifndef AUDIT_STAGE_H
#define AUDIT_STAGE_H
#include "audit/cmd.h"
#include "audit/evidence.h"

/* What the commands on one stage of an audit have in common: read the subject and the policy, run
 * the stage, print what it found. */

typedef int stage_fn(struct evidence *v, const struct subject *s, const struct options *o,
                     const struct policy *p, struct err *e);

/* What a command shows: the keys of its facts start with one of prefixes (NULL-terminated); it did
 * its work if a fact of `done` is known. */
struct stage {
    stage_fn *run;
    const char *const *prefixes;
    enum fact_key done;
    void (*print)(const struct fact_list *l); /* as text */
};

/* Runs a stage on the subject of the command line and prints its facts, as text or JSON. Exit
 * status: CMD_YES if the work was done or the question does not arise (`done` is absent), else
 * CMD_UNKNOWN with the reason on stderr. */
int stage_run(const struct options *o, const struct stage *s);

/* The policy that --policy names, or the built-in one, with the context lengths of --context.
 * ERR_USAGE for a file that is not there or is no policy, ERR_IO for one that cannot be read. */
int stage_policy(const struct options *o, struct policy *ret, struct err *e);

/* The shipped support tables, with the rows of --support before them. Errors as above. */
int stage_support(const struct options *o, struct support *ret, struct err *e);

#endif
