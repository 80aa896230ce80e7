#ifndef DB_DB_H
#define DB_DB_H
#include "core/err.h"
#include "core/fact.h"
#include "core/verdict.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The store. Only this folder knows that it is SQLite. Every write happens in a transaction that
 * starts immediate; a process killed at any moment leaves a store that opens. Two processes may use
 * one store: a busy timeout of 10 s makes one wait for the other. */

struct db;

enum db_mode {
    DB_WRITE,  /* create or migrate if need be */
    DB_READ,   /* ERR_NOTFOUND if there is none; never written to, works on a read-only disk */
    DB_MEMORY  /* path is ignored; for runs that cannot be recorded */
};

/* $XDG_STATE_HOME/assay/assay.db, else $HOME/.local/state/assay/assay.db. ERR_NOTFOUND if neither
 * variable is set. */
int db_default_path(char *ret, size_t ret_bytes, struct err *e);

/* Opens a store, creating its folder and migrating its schema in DB_WRITE mode. ERR_DB, with the
 * path and what to do, if the file is no store of ours (application_id), is of a newer version, is
 * not writable, or is damaged. *ret is set on success only. Close takes NULL. */
int db_open(const char *path, enum db_mode mode, struct db **ret, struct err *e);
void db_close(struct db *db);

/* Groups many writes into one transaction; calls nest, the outermost commits. A rollback undoes all
 * since the outermost begin. */
int db_begin(struct db *db, struct err *e);
int db_commit(struct db *db, struct err *e);
void db_rollback(struct db *db);

/* --- snapshots ------------------------------------------------------------------------------ */

enum db_file_state { DB_FILE_OK, DB_FILE_MISSING, DB_FILE_UNREADABLE, DB_FILE_CHANGED, DB_FILE_POINTER };

struct db_file {
    const char *path;   /* relative to the subject */
    uint64_t size_bytes;
    const char *sha256; /* 64 hex digits, or NULL when it could not be computed */
    enum db_file_state state;
    const char *why;    /* of a state that is not ok; "" otherwise */
    bool weight;        /* a weight file; otherwise config, index */
};

const char *db_file_state_name(enum db_file_state s); /* "ok", "missing", "unreadable", ... */

/* The subject's id, made if it is new. name is what the user would type to find it again: the real
 * path of a folder. */
int db_subject_put(struct db *db, const char *name, const char *kind, int64_t *ret_subject,
                   struct err *e);

/* Records a snapshot with its files; the same digest of the same subject is the same snapshot and
 * is returned again, with its last-seen time renewed. digest is NULL if a file could not be read. */
int db_snapshot_put(struct db *db, int64_t subject, const char *digest,
                    const struct db_file *files, size_t file_count, int64_t *ret_snapshot,
                    struct err *e);

struct db_snapshot {
    int64_t id;
    char *subject, *digest;         /* digest NULL if incomplete */
    int64_t first_seen, last_seen;  /* seconds since 1970 */
    struct db_file *files;          /* sorted by path */
    size_t file_count;
    struct mem_arena arena;         /* owns all of the above */
};
void db_snapshot_release(struct db_snapshot *s);

/* ERR_NOTFOUND if there is none. By id; by subject, the latest; by the name of a baseline. */
int db_snapshot_get(struct db *db, int64_t id, struct db_snapshot *ret, struct err *e);
int db_snapshot_latest(struct db *db, const char *subject, struct db_snapshot *ret, struct err *e);
int db_snapshot_of_run(struct db *db, int64_t run, struct db_snapshot *ret, struct err *e);
int db_baseline_get(struct db *db, const char *name, struct db_snapshot *ret, struct err *e);
/* Names a snapshot; an existing name moves to it. *ret_moved (may be NULL) tells. */
int db_baseline_put(struct db *db, const char *name, int64_t snapshot, bool *ret_moved,
                    struct err *e);

/* --- runs ----------------------------------------------------------------------------------- */

/* policy is the policy's JSON as used. The run counts as unfinished until db_run_finish. */
int db_run_begin(struct db *db, int64_t subject, const char *policy_name, const char *policy,
                 int64_t *ret_run, struct err *e);
int db_run_snapshot(struct db *db, int64_t run, int64_t snapshot, struct err *e);
int db_run_finish(struct db *db, int64_t run, struct err *e);

/* A sink that writes facts, points and loads of a run. ctx is the caller's to keep while in use.
 * A fact of the same key and scope put twice in one run is ERR_DB: facts are written once. */
struct db_run_ctx {
    struct db *db;
    int64_t run;
};
struct fact_sink db_run_sink(struct db_run_ctx *ctx);

struct db_support {
    const char *backend, *kind, *entry, *hardware; /* kind: "format" or "operator" */
    const char *status, *condition, *source, *as_of;
};
int db_support_put(struct db *db, int64_t run, const struct db_support *s, struct err *e);

/* Replaces the verdicts of a run: verdicts can be dropped and derived again. The indices in
 * facts count the run's facts in the order they were put. */
int db_verdicts_put(struct db *db, int64_t run, const struct verdict *v, size_t count,
                    struct err *e);

/* The newest finished run of a subject (NULL: of any). ERR_NOTFOUND if there is none. */
int db_run_latest(struct db *db, const char *subject, int64_t *ret_run, struct err *e);

#endif
