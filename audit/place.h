#ifndef AUDIT_PLACE_H
#define AUDIT_PLACE_H
#include "audit/options.h"
#include "core/err.h"
#include "db/db.h"
#include "db/snapshot.h"
#include "fingerprint/manifest.h"
#include "probes/local.h"

/* Snapshots by the words a user has for them, and their way into the store and out of it. */

/* Opens the store that --db names, or the default one. */
int place_open_db(const struct options *o, enum db_mode mode, struct db **ret, struct err *e);

/* Hashes the files that make up a snapshot: all that local_open lists, weights, index and
 * configuration. */
int place_hash(const struct local *l, const struct options *o, struct manifest *ret, struct err *e);

/* The manifest that the store has of a snapshot. ERR_DB if a stored digest is no digest. */
int place_manifest(const struct snapshot *s, struct manifest *ret, struct err *e);

/* Records a hashed folder as a snapshot of its subject. */
int place_record(struct db *db, const struct local *l, const struct manifest *m,
                 int64_t *ret_snapshot, struct err *e);

/* What a user may compare: a folder that exists (hashed now), `baseline:NAME`, `snapshot:N`,
 * `run:N`, or a bare word that is the name of a baseline, else the number of a snapshot. */
struct place {
    char label[192]; /* "snapshot 3 of /models/k3, 2026-11-29T02:14:05Z": fit to print */
    struct manifest manifest;
};

/* *db is opened for reading when the word needs it and it is NULL. ERR_NOTFOUND, saying what was
 * looked for, if there is no such thing. Release with place_release. */
int place_resolve(const char *word, const struct options *o, struct db **db, struct place *ret,
                  struct err *e);
void place_release(struct place *p);

#endif
