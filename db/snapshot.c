#include "db/snapshot.h"
#include "core/clock.h"
#include "core/text.h"
#include "db/sql.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const char *const states[] = {
    [SNAPSHOT_FILE_OK] = "ok",
    [SNAPSHOT_FILE_MISSING] = "missing",
    [SNAPSHOT_FILE_UNREADABLE] = "unreadable",
    [SNAPSHOT_FILE_CHANGED] = "changed",
    [SNAPSHOT_FILE_POINTER] = "pointer",
};
#define STATES (sizeof(states) / sizeof(states[0]))

const char *snapshot_file_state_name(enum snapshot_file_state s)
{
    assert((unsigned)s < STATES);
    return states[s];
}

int snapshot_subject_put(struct db *db, const char *name, const char *kind, int64_t *ret_subject,
                         struct err *e)
{
    struct sql q = sql_open(db, "INSERT INTO subject (name, kind) VALUES (?, ?) "
                                "ON CONFLICT (name) DO UPDATE SET kind = excluded.kind "
                                "RETURNING id");

    sql_text(&q, 1, name);
    sql_text(&q, 2, kind);
    return sql_one(&q, ret_subject, e);
}

static int put_file(struct db *db, int64_t snapshot, const struct snapshot_file *f, struct err *e)
{
    char path[200];

    if (f->size_bytes > INT64_MAX)
        return err_set(e, ERR_LIMIT, "%s: a size of over 2^63 bytes",
                       text_plain(f->path, path, sizeof(path)));
    struct sql q =
        sql_open(db, "INSERT INTO file (snapshot, path, size, sha256, state, why, weight) "
                     "VALUES (?, ?, ?, ?, ?, ?, ?)");
    sql_int(&q, 1, snapshot);
    sql_text(&q, 2, f->path);
    sql_int(&q, 3, (int64_t)f->size_bytes);
    sql_text(&q, 4, f->sha256);
    sql_text(&q, 5, snapshot_file_state_name(f->state));
    sql_text(&q, 6, f->why ? f->why : "");
    sql_int(&q, 7, f->weight);
    int rc = sql_run(&q, e);
    return rc ? err_wrap(e, "file %s", text_plain(f->path, path, sizeof(path))) : 0;
}

/* The snapshot with that digest, or 0. */
static int find_digest(struct db *db, int64_t subject, const char *digest, int64_t *ret,
                       struct err *e)
{
    struct sql q =
        sql_open(db, "SELECT coalesce(max(id), 0) FROM snapshot WHERE subject = ? AND digest = ?");

    sql_int(&q, 1, subject);
    sql_text(&q, 2, digest);
    return sql_one(&q, ret, e);
}

/* A clock that was set back does not move the last sighting back. */
static int renew(struct db *db, int64_t id, struct err *e)
{
    struct sql q = sql_open(db, "UPDATE snapshot SET last_seen = max(last_seen, ?), "
                                "seen = (SELECT max(seen) + 1 FROM snapshot) WHERE id = ?");

    sql_int(&q, 1, clock_unix());
    sql_int(&q, 2, id);
    return sql_run(&q, e);
}

static int insert(struct db *db, int64_t subject, const char *digest,
                  const struct snapshot_file *files, size_t file_count, int64_t *ret_id,
                  struct err *e)
{
    struct sql q =
        sql_open(db, "INSERT INTO snapshot (subject, digest, first_seen, last_seen, seen) "
                     "VALUES (?1, ?2, ?3, ?3, "
                     "(SELECT coalesce(max(seen), 0) + 1 FROM snapshot)) RETURNING id");

    sql_int(&q, 1, subject);
    sql_text(&q, 2, digest);
    sql_int(&q, 3, clock_unix());
    int rc = sql_one(&q, ret_id, e);
    for (size_t i = 0; i < file_count && !rc; i++)
        rc = put_file(db, *ret_id, &files[i], e);
    return rc;
}

int snapshot_put(struct db *db, int64_t subject, const char *digest,
                 const struct snapshot_file *files, size_t file_count, int64_t *ret_snapshot,
                 struct err *e)
{
    int64_t id = 0;
    int rc = db_begin(db, e);

    if (rc)
        return rc;
    if (digest)
        rc = find_digest(db, subject, digest, &id, e);
    if (!rc)
        rc = id ? renew(db, id, e) : insert(db, subject, digest, files, file_count, &id, e);
    if (!rc)
        rc = db_commit(db, e);
    if (rc) {
        db_rollback(db);
        return rc;
    }
    *ret_snapshot = id;
    return 0;
}

int snapshot_files(struct db *db, int64_t snapshot, struct mem_arena *arena,
                   struct snapshot_file **ret_files, size_t *ret_count, struct err *e)
{
    struct snapshot_file *files = NULL;
    size_t count = 0, cap = 0;
    int rc;
    struct sql q = sql_open(db, "SELECT path, size, sha256, state, why, weight FROM file "
                                "WHERE snapshot = ? ORDER BY path");

    sql_int(&q, 1, snapshot);
    while ((rc = sql_row(&q, e)) == 1) {
        files = mem_grow(files, &cap, count + 1, sizeof(*files));
        struct snapshot_file *f = &files[count++];
        *f = (struct snapshot_file){
            .path = sql_get_text(&q, 0, arena),
            .size_bytes = (uint64_t)sql_get_int(&q, 1),
            .sha256 = sql_get_text(&q, 2, arena),
            .why = sql_get_text(&q, 4, arena),
            .weight = sql_get_int(&q, 5) != 0,
        };
        unsigned state = 0;
        while (state < STATES - 1 && strcmp(states[state], sql_peek_text(&q, 3)) != 0)
            state++;
        f->state = (enum snapshot_file_state)state;
    }
    if (!rc) {
        *ret_files = mem_arena_alloc(arena, count * sizeof(*files));
        *ret_count = count;
        if (count)
            memcpy(*ret_files, files, count * sizeof(*files));
    }
    free(files);
    return rc;
}

/* Fills ret from a statement that selects id, subject, digest and the two times. 1 if there was
 * none. */
static int load(struct sql *q, struct snapshot *ret, struct err *e)
{
    struct snapshot s = {0};
    int rc = sql_row(q, e);

    if (rc <= 0)
        return rc ? rc : 1;
    s.id = sql_get_int(q, 0);
    s.subject = sql_get_text(q, 1, &s.arena);
    s.digest = sql_get_text(q, 2, &s.arena);
    s.first_seen = sql_get_int(q, 3);
    s.last_seen = sql_get_int(q, 4);
    sql_close(q);
    rc = snapshot_files(q->db, s.id, &s.arena, &s.files, &s.file_count, e);
    if (rc) {
        snapshot_release(&s);
        return rc;
    }
    *ret = s;
    return 0;
}

void snapshot_release(struct snapshot *s)
{
    mem_arena_release(&s->arena);
    *s = (struct snapshot){0};
}

#define SELECT                                                                  \
    "SELECT s.id, u.name, s.digest, s.first_seen, s.last_seen FROM snapshot s " \
    "JOIN subject u ON u.id = s.subject "

int snapshot_get(struct db *db, int64_t id, struct snapshot *ret, struct err *e)
{
    struct sql q = sql_open(db, SELECT "WHERE s.id = ?");

    sql_int(&q, 1, id);
    int rc = load(&q, ret, e);
    return rc == 1 ? err_set(e, ERR_NOTFOUND, "there is no snapshot %lld", (long long)id) : rc;
}

int snapshot_latest(struct db *db, const char *subject, struct snapshot *ret, struct err *e)
{
    char shown[200];
    struct sql q = sql_open(db, SELECT "WHERE u.name = ? ORDER BY s.seen DESC LIMIT 1");

    sql_text(&q, 1, subject);
    int rc = load(&q, ret, e);
    if (rc == 1)
        return err_set(e, ERR_NOTFOUND, "there is no snapshot of %s: record one with `fingerprint`",
                       text_plain(subject, shown, sizeof(shown)));
    return rc;
}

int snapshot_of_run(struct db *db, int64_t run, struct snapshot *ret, struct err *e)
{
    struct sql q = sql_open(db, SELECT "JOIN run r ON r.snapshot = s.id WHERE r.id = ?");

    sql_int(&q, 1, run);
    int rc = load(&q, ret, e);
    if (rc == 1)
        return err_set(e, ERR_NOTFOUND, "run %lld has no snapshot", (long long)run);
    return rc;
}

int snapshot_baseline_get(struct db *db, const char *name, struct snapshot *ret, struct err *e)
{
    char shown[200];
    struct sql q = sql_open(db, SELECT "JOIN baseline b ON b.snapshot = s.id WHERE b.name = ?");

    sql_text(&q, 1, name);
    int rc = load(&q, ret, e);
    if (rc == 1)
        return err_set(e, ERR_NOTFOUND,
                       "there is no baseline %s: fingerprint a folder with --baseline to name it",
                       text_plain(name, shown, sizeof(shown)));
    return rc;
}

static int put_baseline(struct db *db, const char *name, int64_t snapshot, struct err *e)
{
    struct sql q = sql_open(db, "INSERT INTO baseline (name, snapshot, named) VALUES (?, ?, ?) "
                                "ON CONFLICT (name) DO UPDATE SET snapshot = excluded.snapshot, "
                                "named = excluded.named");

    sql_text(&q, 1, name);
    sql_int(&q, 2, snapshot);
    sql_int(&q, 3, clock_unix());
    return sql_run(&q, e);
}

int snapshot_baseline_put(struct db *db, const char *name, int64_t snapshot, bool *ret_moved,
                          struct err *e)
{
    int64_t others = 0;
    int rc = db_begin(db, e);

    if (rc)
        return rc;
    struct sql q = sql_open(db, "SELECT count(*) FROM baseline WHERE name = ? AND snapshot <> ?");
    sql_text(&q, 1, name);
    sql_int(&q, 2, snapshot);
    rc = sql_one(&q, &others, e);
    if (!rc)
        rc = put_baseline(db, name, snapshot, e);
    if (!rc)
        rc = db_commit(db, e);
    if (rc) {
        db_rollback(db);
        return rc;
    }
    if (ret_moved)
        *ret_moved = others > 0;
    return 0;
}
