#include "db/db.h"
#include "core/file.h"
#include "core/text.h"
#include "db/sql.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define APPLICATION_ID 1634951545 /* "asay"; db/schema.sql sets it */
#define BUSY_MS 10000

/* What leads from each version to the next. A migration sets user_version itself, and once released
 * is never changed. */
static const char schema_1[] = {
#include "db/schema.sql.inc"
    0};
static const char *const migrations[] = {schema_1};
#define VERSION_NOW ((int)(sizeof(migrations) / sizeof(migrations[0])))

int db_default_path(char *ret, size_t ret_bytes, struct err *e)
{
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    int n;

    if (state && state[0] == '/')
        n = snprintf(ret, ret_bytes, "%s/assay/assay.db", state);
    else if (home && *home)
        n = snprintf(ret, ret_bytes, "%s/.local/state/assay/assay.db", home);
    else
        return err_set(
            e, ERR_NOTFOUND,
            "there is no place for the store: set HOME or XDG_STATE_HOME, or name a file "
            "with --db");
    if (n < 0 || (size_t)n >= ret_bytes)
        return err_set(e, ERR_LIMIT, "the path of the store has over %zu bytes", ret_bytes - 1);
    return 0;
}

static int refuse(const char *path, const char *why, struct err *e)
{
    char shown[200];

    return err_set(e, ERR_DB, "the store %s %s", text_plain(path, shown, sizeof(shown)), why);
}

/* Facts, and what was measured with them, are written once. */
static int authorize(void *ctx, int action, const char *table, const char *column,
                     const char *schema, const char *trigger)
{
    static const char *const once[] = {"fact", "point", "load", "support", "file"};

    (void)ctx, (void)column, (void)schema, (void)trigger;
    if (action != SQLITE_UPDATE && action != SQLITE_DELETE)
        return SQLITE_OK;
    for (size_t i = 0; i < sizeof(once) / sizeof(once[0]); i++) {
        if (strcmp(table, once[i]) == 0)
            return SQLITE_DENY;
    }
    return SQLITE_OK;
}

static int read_int(struct db *db, const char *text, int64_t *ret, struct err *e)
{
    struct sql q = sql_open(db, text);

    return sql_one(&q, ret, e);
}

/* Whose file it is, and its version: 0 for a file that is still empty. Writes nothing. */
static int identify(struct db *db, int64_t *ret_version, struct err *e)
{
    int64_t id, version, objects;

    if (read_int(db, "PRAGMA application_id", &id, e) ||
        read_int(db, "PRAGMA user_version", &version, e) ||
        read_int(db, "SELECT count(*) FROM sqlite_schema", &objects, e))
        return e->code;
    bool empty = id == 0 && version == 0 && objects == 0;
    if (!empty && (id != APPLICATION_ID || version < 1))
        return refuse(db->path, "is a database of another program: name another file with --db", e);
    *ret_version = version;
    return 0;
}

/* Brings the store to version `count`, one migration after the other, all or none. */
static int migrate(struct db *db, const char *const *list, int count, struct err *e)
{
    int64_t version = 0;
    int rc = db_begin(db, e);

    if (rc)
        return rc;
    /* Asked again under the lock: another process may have been faster. */
    rc = identify(db, &version, e);
    while (!rc && version < count) {
        int64_t was = version;
        rc = sql_exec(db, list[version], e);
        if (!rc)
            rc = read_int(db, "PRAGMA user_version", &version, e);
        if (!rc && version != was + 1)
            rc = refuse(db->path, "did not take the version of its migration", e);
    }
    if (!rc)
        rc = db_commit(db, e);
    if (rc) {
        db_rollback(db);
        return err_wrap(e, "cannot bring the store to version %d", count);
    }
    return 0;
}

/* The same in one transaction: between two looks another process may have created the store, and
 * what was read before would not fit what is read after. A caller closes a store that failed. */
static int identify_at_once(struct db *db, int64_t *ret_version, struct err *e)
{
    int rc = sql_exec(db, "BEGIN", e);

    if (!rc)
        rc = identify(db, ret_version, e);
    return rc ? rc : sql_exec(db, "COMMIT", e);
}

static int check_version(const struct db *db, int64_t version, struct err *e)
{
    char why[160];

    if (version > VERSION_NOW) {
        (void)snprintf(
            why, sizeof(why),
            "has version %lld, and this assay knows up to %d: use a newer assay, or name "
            "another file with --db",
            (long long)version, VERSION_NOW);
        return refuse(db->path, why, e);
    }
    if (db->read_only && version == 0)
        return err_set(e, ERR_NOTFOUND, "the store %s is empty", db->path);
    if (db->read_only && version < VERSION_NOW)
        return refuse(db->path, "is of an older version: run an audit once, which renews it", e);
    return 0;
}

/* Switching to WAL needs the file alone, and SQLite does not wait for that by itself. */
static int set_wal(struct db *db, struct err *e)
{
    for (int waited_ms = 0;; waited_ms += 20) {
        int code = sqlite3_exec(db->handle, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
        if (code == SQLITE_OK)
            return 0;
        if ((code & 0xff) != SQLITE_BUSY || waited_ms >= BUSY_MS)
            return sql_fail(db, code, e);
        usleep(20000);
    }
}

static int set_up(struct db *db, struct err *e)
{
    int64_t version;
    int rc;

    (void)sqlite3_extended_result_codes(db->handle, 1);
    (void)sqlite3_busy_timeout(db->handle, BUSY_MS);
    (void)sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    rc = identify_at_once(db, &version, e);
    if (!rc)
        rc = check_version(db, version, e);
    if (rc)
        return rc;
    if (!db->read_only) {
        rc = set_wal(db, e);
        if (!rc)
            rc = sql_exec(db, "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON", e);
        if (!rc && version < VERSION_NOW)
            rc = migrate(db, migrations, VERSION_NOW, e);
    }
    if (!rc)
        (void)sqlite3_set_authorizer(db->handle, authorize, NULL);
    return rc;
}

/* path as a URI that tells SQLite the file cannot change: how a store on a read-only disk is read.
 */
static char *immutable_uri(const char *path)
{
    struct buf b;

    buf_init(&b, 4 * FILE_PATH_BYTES);
    buf_adds(&b, path[0] == '/' ? "file://" : "file:./");
    for (const char *p = path; *p; p++) {
        if (strchr("?#%", *p))
            buf_addf(&b, "%%%02x", (unsigned)(unsigned char)*p);
        else
            buf_addc(&b, *p);
    }
    buf_adds(&b, "?immutable=1");
    return b.data;
}

/* True if changes wait beside the store that only a process that may write can take in. */
static bool has_waiting_changes(const char *path)
{
    char wal[FILE_PATH_BYTES + 8];
    struct stat st;

    (void)snprintf(wal, sizeof(wal), "%s-wal", path);
    return stat(wal, &st) == 0 && st.st_size > 0;
}

static int open_handle(struct db *db, const char *name, int flags, struct err *e)
{
    int code = sqlite3_open_v2(name, &db->handle, flags, NULL);

    return code ? sql_fail(db, code, e) : 0;
}

/* The file at db->path, whatever its name: "file:x" and ":memory:" mean other things to SQLite. */
static int open_file(struct db *db, int flags, struct err *e)
{
    char name[FILE_PATH_BYTES + 2];

    (void)snprintf(name, sizeof(name), "%s%s", db->path[0] == '/' ? "" : "./", db->path);
    return open_handle(db, name, flags, e);
}

static int open_read(struct db *db, struct err *e)
{
    struct err first = {0};
    int rc = open_file(db, SQLITE_OPEN_READONLY, &first);

    if (!rc)
        rc = set_up(db, &first);
    int code = db->handle ? sqlite3_errcode(db->handle) & 0xff : 0;
    /* A store in WAL mode needs a file beside it even to be read, unless it cannot change. */
    if (!rc)
        return 0;
    if (code != SQLITE_CANTOPEN && code != SQLITE_READONLY) {
        *e = first;
        return rc;
    }
    if (has_waiting_changes(db->path))
        return refuse(db->path,
                      "has changes in its -wal file that cannot be read where its folder "
                      "is read-only: copy both files, or open it where it can be written",
                      e);
    sql_disconnect(db);
    char *uri = immutable_uri(db->path);
    rc = open_handle(db, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, e);
    free(uri);
    return rc ? rc : set_up(db, e);
}

static int open_write(struct db *db, bool in_memory, struct err *e)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    int rc = in_memory ? open_handle(db, ":memory:", flags, e) : open_file(db, flags, e);

    if (rc)
        return rc;
    if (sqlite3_db_readonly(db->handle, "main") == 1)
        return refuse(db->path, "is not writable: make it so, or name another file with --db", e);
    return set_up(db, e);
}

/* What stands at path, before SQLite touches it. */
static int look(const char *path, enum db_mode mode, struct err *e)
{
    char folder[FILE_PATH_BYTES];
    struct stat st;
    struct err why = {0};
    size_t n = strlen(path);

    if (n == 0 || n > FILE_PATH_BYTES - 8)
        return err_set(e, ERR_DB, "the path of the store is empty or has over %d bytes",
                       FILE_PATH_BYTES - 8);
    if (stat(path, &st) == 0)
        return S_ISREG(st.st_mode)
                   ? 0
                   : refuse(path, "is no file: name a file with --db, or move it away", e);
    if (mode == DB_READ && (errno == ENOENT || errno == ENOTDIR)) {
        refuse(path, "does not exist: run an audit first, or name another with --db", e);
        return err_set(e, ERR_NOTFOUND, "%s", e->msg);
    }
    if (mode == DB_READ)
        return refuse(path, strerror(errno), e);
    memcpy(folder, path, n + 1);
    char *slash = strrchr(folder, '/');
    if (!slash || slash == folder)
        return 0;
    *slash = '\0';
    return file_make_dirs(folder, &why) ? refuse(path, why.msg, e) : 0;
}

int db_open(const char *path, enum db_mode mode, struct db **ret, struct err *e)
{
    int rc = mode == DB_MEMORY ? 0 : look(path, mode, e);

    if (rc)
        return rc;
    struct db *db = mem_alloc(1, sizeof(*db));
    db->path = mem_strdup(mode == DB_MEMORY ? "in memory" : path);
    db->read_only = mode == DB_READ;
    rc = db->read_only ? open_read(db, e) : open_write(db, mode == DB_MEMORY, e);
    if (rc) {
        db_close(db);
        return rc;
    }
    *ret = db;
    return 0;
}

void db_close(struct db *db)
{
    if (!db)
        return;
    db_rollback(db);
    sql_disconnect(db);
    free(db->path);
    free(db);
}

int db_begin(struct db *db, struct err *e)
{
    if (db->depth == 0) {
        int rc = sql_exec(db, db->read_only ? "BEGIN" : "BEGIN IMMEDIATE", e);
        if (rc)
            return rc;
    }
    db->depth++;
    return 0;
}

int db_commit(struct db *db, struct err *e)
{
    if (db->depth == 0)
        return refuse(db->path, "was asked to commit changes that were undone before", e);
    if (db->depth > 1) {
        db->depth--;
        return 0;
    }
    int rc = sql_exec(db, "COMMIT", e);
    if (rc)
        db_rollback(db);
    else
        db->depth = 0;
    return rc;
}

void db_rollback(struct db *db)
{
    /* SQLite may have rolled back by itself, on a full disk for one. */
    if (db->depth && db->handle && !sqlite3_get_autocommit(db->handle))
        (void)sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
    db->depth = 0;
}
