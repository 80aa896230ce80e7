#include "db/sql.h"
#include "core/text.h"
#include <assert.h>
#include <math.h>
#include <string.h>

struct sql sql_open(struct db *db, const char *text)
{
    struct sql q = {.db = db, .text = text};

    if (db->kept && db->kept_text == text) {
        q.stmt = db->kept;
        db->kept = NULL;
    } else {
        q.failed = sqlite3_prepare_v2(db->handle, text, -1, &q.stmt, NULL);
    }
    return q;
}

void sql_close(struct sql *q)
{
    struct db *db = q->db;

    /* One that failed is not kept: finalizing it leaves its code for sql_twice to see. */
    if (q->stmt && !q->failed && sqlite3_reset(q->stmt) == SQLITE_OK) {
        (void)sqlite3_clear_bindings(q->stmt);
        sqlite3_finalize(db->kept);
        db->kept = q->stmt;
        db->kept_text = q->text;
    } else {
        sqlite3_finalize(q->stmt);
    }
    q->stmt = NULL;
}

void sql_disconnect(struct db *db)
{
    sqlite3_finalize(db->kept);
    sqlite3_close(db->handle);
    db->kept = NULL;
    db->handle = NULL;
}

void sql_int(struct sql *q, int at, int64_t value)
{
    if (!q->failed)
        q->failed = sqlite3_bind_int64(q->stmt, at, value);
}

void sql_real(struct sql *q, int at, double value)
{
    if (!q->failed)
        q->failed =
            isnan(value) ? sqlite3_bind_null(q->stmt, at) : sqlite3_bind_double(q->stmt, at, value);
}

void sql_text(struct sql *q, int at, const char *value)
{
    if (!q->failed)
        q->failed = sqlite3_bind_text(q->stmt, at, value, -1, SQLITE_STATIC);
}

int sql_row(struct sql *q, struct err *e)
{
    int code = q->failed ? q->failed : sqlite3_step(q->stmt);

    if (code == SQLITE_ROW)
        return 1;
    if (code != SQLITE_DONE)
        q->failed = code;
    int rc = q->failed ? sql_fail(q->db, code, e) : 0;
    sql_close(q);
    return rc;
}

int sql_run(struct sql *q, struct err *e)
{
    int rc = sql_row(q, e);

    assert(rc <= 0);
    return rc;
}

int sql_one(struct sql *q, int64_t *ret, struct err *e)
{
    int rc = sql_row(q, e);

    if (rc == 0)
        return sql_fail(q->db, SQLITE_CORRUPT, e);
    if (rc < 0)
        return rc;
    int64_t value = sql_get_int(q, 0);
    /* On to the end: a write with a result is committed there. */
    rc = sql_row(q, e);
    assert(rc <= 0);
    if (!rc)
        *ret = value;
    return rc;
}

int64_t sql_get_int(const struct sql *q, int column)
{
    return sqlite3_column_int64(q->stmt, column);
}

double sql_get_real(const struct sql *q, int column)
{
    return sqlite3_column_type(q->stmt, column) == SQLITE_NULL
               ? (double)NAN
               : sqlite3_column_double(q->stmt, column);
}

const char *sql_get_text(const struct sql *q, int column, struct mem_arena *a)
{
    const unsigned char *text = sqlite3_column_text(q->stmt, column);

    if (!text)
        return NULL;
    return mem_arena_strndup(a, (const char *)text, strlen((const char *)text));
}

const char *sql_peek_text(const struct sql *q, int column)
{
    const unsigned char *text = sqlite3_column_text(q->stmt, column);

    return text ? (const char *)text : "";
}

bool sql_twice(const struct db *db)
{
    int code = sqlite3_extended_errcode(db->handle);

    return code == SQLITE_CONSTRAINT_UNIQUE || code == SQLITE_CONSTRAINT_PRIMARYKEY;
}

int sql_exec(struct db *db, const char *text, struct err *e)
{
    int code = sqlite3_exec(db->handle, text, NULL, NULL, NULL);

    return code ? sql_fail(db, code, e) : 0;
}

static const char *advice(int code)
{
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return "; another process has used it for 10 s: wait for it to end";
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM: return "; make the file and its folder writable, or name another with --db";
    case SQLITE_NOTADB: return "; it is no store of assay: name another with --db";
    case SQLITE_CORRUPT: return "; it is damaged: move it away, and a new one is made";
    case SQLITE_FULL: return "; make room on the disk and run again";
    default: return "";
    }
}

int sql_fail(const struct db *db, int code, struct err *e)
{
    char path[200];
    const char *why = sqlite3_errstr(code);

    /* The handle's own words say more, where they speak of this failure. */
    if (db->handle && (sqlite3_errcode(db->handle) & 0xff) == (code & 0xff))
        why = sqlite3_errmsg(db->handle);
    return err_set(e, ERR_DB, "the store %s: %s%s", text_plain(db->path, path, sizeof(path)), why,
                   advice(code));
}

int sql_begin_read(struct db *db, struct err *e)
{
    if (db->depth == 0) {
        int rc = sql_exec(db, "BEGIN", e);
        if (rc)
            return rc;
    }
    db->depth++;
    return 0;
}
