#ifndef DB_SNAPSHOT_H
#define DB_SNAPSHOT_H
#include "core/err.h"
#include "core/mem.h"
#include "db/db.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Subjects, their snapshots, and the snapshots that have a name: baselines. */

enum snapshot_file_state {
    SNAPSHOT_FILE_OK,
    SNAPSHOT_FILE_MISSING,
    SNAPSHOT_FILE_UNREADABLE,
    SNAPSHOT_FILE_CHANGED, /* while it was read */
    SNAPSHOT_FILE_POINTER  /* a Git-LFS pointer stands in its place */
};

struct snapshot_file {
    const char *path;    /* relative to the subject */
    uint64_t size_bytes; /* at most INT64_MAX */
    const char *sha256;  /* 64 hex digits, or NULL when it could not be computed */
    enum snapshot_file_state state;
    const char *why; /* of a state that is not ok; "" otherwise */
    bool weight;     /* a weight file; otherwise config, index */
};

const char *snapshot_file_state_name(enum snapshot_file_state s); /* "ok", "missing", ... */

/* The subject's id, made if it is new; the kind of the latest call is kept. name is what the user
 * would type to find it again: the real path of a folder. */
int snapshot_subject_put(struct db *db, const char *name, const char *kind, int64_t *ret_subject,
                         struct err *e);

/* Records a snapshot with its files; the same digest of the same subject is the same snapshot and
 * is returned again, with its last-seen time renewed. digest is NULL if a file could not be read:
 * such a snapshot equals no other. ERR_DB if the subject is not there or a path comes twice. */
int snapshot_put(struct db *db, int64_t subject, const char *digest,
                 const struct snapshot_file *files, size_t file_count, int64_t *ret_snapshot,
                 struct err *e);

/* The files of a snapshot, sorted by path, in the arena. */
int snapshot_files(struct db *db, int64_t snapshot, struct mem_arena *arena,
                   struct snapshot_file **ret_files, size_t *ret_count, struct err *e);

struct snapshot {
    int64_t id;
    const char *subject, *digest;  /* digest NULL if incomplete */
    int64_t first_seen, last_seen; /* seconds since 1970 */
    struct snapshot_file *files;   /* sorted by path */
    size_t file_count;
    struct mem_arena arena; /* owns all of the above */
};
void snapshot_release(struct snapshot *s);

/* ERR_NOTFOUND if there is none. By id; by subject's name, the one seen last; of a run; by the name
 * of a baseline. *ret is set on success only; release with snapshot_release. */
int snapshot_get(struct db *db, int64_t id, struct snapshot *ret, struct err *e);
int snapshot_latest(struct db *db, const char *subject, struct snapshot *ret, struct err *e);
int snapshot_of_run(struct db *db, int64_t run, struct snapshot *ret, struct err *e);
int snapshot_baseline_get(struct db *db, const char *name, struct snapshot *ret, struct err *e);

/* Names a snapshot; an existing name moves to it. *ret_moved (may be NULL) tells. */
int snapshot_baseline_put(struct db *db, const char *name, int64_t snapshot, bool *ret_moved,
                          struct err *e);

#endif
