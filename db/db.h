#ifndef DB_DB_H
#define DB_DB_H
#include "core/err.h"
#include <stddef.h>

/* The store: opening, closing, transactions. What is kept in it stands in db/snapshot.h (subjects,
 * snapshots, baselines), db/run.h (runs, facts, verdicts) and db/view.h (a whole run, for reports).
 *
 * Only this folder knows that it is SQLite. Every write happens in a transaction that starts
 * immediate; a process killed at any moment leaves a store that opens. Two processes may use one
 * store: a busy timeout of 10 s makes one wait for the other. One handle serves one thread. */

struct db;

enum db_mode {
    DB_WRITE, /* create or migrate if need be */
    DB_READ,  /* ERR_NOTFOUND if there is none; never written to, works on a read-only disk */
    DB_MEMORY /* path is ignored; for runs that cannot be recorded */
};

/* $XDG_STATE_HOME/assay/assay.db, else $HOME/.local/state/assay/assay.db. ERR_NOTFOUND if neither
 * variable is set. A relative XDG_STATE_HOME is ignored, as its specification asks. ERR_LIMIT if it
 * does not fit. */
int db_default_path(char *ret, size_t ret_bytes, struct err *e);

/* Opens a store, creating its folder and migrating its schema in DB_WRITE mode. ERR_DB, with the
 * path and what to do, if the file is no store of ours (application_id), is of a newer version (or
 * an older one in DB_READ mode), is not writable, or is damaged. *ret is set on success only. Close
 * takes NULL. */
int db_open(const char *path, enum db_mode mode, struct db **ret, struct err *e);
void db_close(struct db *db);

/* Groups many writes into one transaction; calls nest, the outermost commits. A rollback undoes all
 * since the outermost begin and ends it; it does nothing where none is open, so it may stand on the
 * path of every failure. */
int db_begin(struct db *db, struct err *e);
int db_commit(struct db *db, struct err *e);
void db_rollback(struct db *db);

#endif
