#ifndef DB_RUN_H
#define DB_RUN_H
#include "core/err.h"
#include "core/fact.h"
#include "core/verdict.h"
#include "db/db.h"
#include <stddef.h>
#include <stdint.h>

/* Runs, and what they found: facts, points, loads, support rows, verdicts. */

/* policy is the policy's JSON as used. The run counts as unfinished until run_finish. */
int run_begin(struct db *db, int64_t subject, const char *policy_name, const char *policy,
              int64_t *ret_run, struct err *e);
int run_set_snapshot(struct db *db, int64_t run, int64_t snapshot, struct err *e);
int run_finish(struct db *db, int64_t run, struct err *e);

/* A sink that writes facts, points and loads of a run. ctx is the caller's to keep while in use.
 * A fact of the same key and scope put twice in one run is ERR_DB: facts are written once. Each put
 * is a transaction of its own unless db_begin holds one open, which is much faster. */
struct run_ctx {
    struct db *db;
    int64_t run;
};
struct fact_sink run_sink(struct run_ctx *ctx);

/* A row of the support table that a verdict was read from. No pointer is NULL. */
struct run_support {
    const char *backend, *kind, *entry, *hardware; /* kind: "format" or "operator" */
    const char *status, *condition, *source, *as_of;
};
int run_support_put(struct db *db, int64_t run, const struct run_support *s, struct err *e);

/* Replaces the verdicts of a run: verdicts can be dropped and derived again. The indices in
 * facts count the run's facts in the order they were put. */
int run_verdicts_put(struct db *db, int64_t run, const struct verdict *v, size_t count,
                     struct err *e);

/* The newest finished run of a subject (NULL: of any). ERR_NOTFOUND if there is none. */
int run_latest(struct db *db, const char *subject, int64_t *ret_run, struct err *e);

#endif
