#ifndef AUDIT_RECORD_H
#define AUDIT_RECORD_H
#include "audit/evidence.h"
#include "audit/options.h"
#include "audit/policy.h"
#include "audit/rules.h"
#include "db/db.h"
#include "db/view.h"
#include "fingerprint/manifest.h"

/* The way of a run into the store, stage by stage, so that a run that is killed leaves the stages
 * it finished. When the store refuses (read-only, full disk), the run goes on without it: the
 * reason is kept, everything is put into a store in memory at the end, and the report is written
 * from there. Nothing is lost but the record. */
struct record {
    struct db *db; /* NULL after a refusal */
    int64_t run;
    size_t flushed, points, loads, supports; /* what of the evidence is in db */
    char refusal[ERR_MSG_BYTES];             /* why the run is not recorded; "" while it is */
};

/* Opens the store and begins a run of the subject. Never fails: a refusal is kept. */
void record_begin(struct record *r, const struct options *o, const struct local *l,
                  const struct policy *p);

/* Writes what the evidence has gained since the last call, in one transaction. */
void record_flush(struct record *r, const struct evidence *v);

/* Records the hashed folder as the run's snapshot. */
void record_snapshot(struct record *r, const struct local *l, const struct manifest *m);

/* Writes the verdicts, closes the run, and loads its view: from the store, or from one in memory
 * that is filled now. m may be NULL. The view is released with view_release. */
int record_finish(struct record *r, const struct evidence *v, const struct verdict_set *verdicts,
                  const struct local *l, const struct policy *p, const struct manifest *m,
                  struct view *ret, struct err *e);

/* Closes the store. */
void record_release(struct record *r);

#endif
