#include "db/run.h"
#include "core/clock.h"
#include "core/mem.h"
#include "core/text.h"
#include "db/sql.h"
#include <stdlib.h>

int run_begin(struct db *db, int64_t subject, const char *policy_name, const char *policy,
              int64_t *ret_run, struct err *e)
{
    struct sql q = sql_open(db, "INSERT INTO run (subject, policy_name, policy, started) "
                                "VALUES (?, ?, ?, ?) RETURNING id");

    sql_int(&q, 1, subject);
    sql_text(&q, 2, policy_name);
    sql_text(&q, 3, policy);
    sql_int(&q, 4, clock_unix());
    return sql_one(&q, ret_run, e);
}

/* An UPDATE of a run that returns its id; a run that is not there is a mistake of the caller's. */
static int change(struct sql *q, int64_t run, struct err *e)
{
    int rc = sql_row(q, e);

    if (rc == 0)
        return err_set(e, ERR_DB, "there is no run %lld in the store", (long long)run);
    return rc < 0 ? rc : sql_run(q, e);
}

int run_set_snapshot(struct db *db, int64_t run, int64_t snapshot, struct err *e)
{
    struct sql q = sql_open(db, "UPDATE run SET snapshot = ? WHERE id = ? RETURNING id");

    sql_int(&q, 1, snapshot);
    sql_int(&q, 2, run);
    return change(&q, run, e);
}

int run_finish(struct db *db, int64_t run, struct err *e)
{
    struct sql q =
        sql_open(db, "UPDATE run SET finished = max(started, ?) WHERE id = ? RETURNING id");

    sql_int(&q, 1, clock_unix());
    sql_int(&q, 2, run);
    return change(&q, run, e);
}

/* The columns of a value; those of other types stay NULL. */
static void bind_value(struct sql *q, const struct fact *f)
{
    if (f->state != FACT_KNOWN)
        return;
    switch (fact_type(f->key)) {
    case FACT_INT: sql_int(q, 5, f->i); break;
    case FACT_REAL:
        sql_real(q, 6, f->x);
        sql_real(q, 7, f->error);
        break;
    case FACT_TEXT: sql_text(q, 8, f->text); break;
    }
}

static int put(void *ctx, const struct fact *f, struct err *e)
{
    const struct run_ctx *c = ctx;
    char scope[120];
    struct sql q =
        sql_open(c->db, "INSERT INTO fact (run, key, scope, state, whole, real, error, text, "
                        "source, why) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");

    sql_int(&q, 1, c->run);
    sql_text(&q, 2, fact_name(f->key));
    sql_text(&q, 3, f->scope);
    sql_text(&q, 4, fact_state_name(f->state));
    bind_value(&q, f);
    sql_text(&q, 9, f->source ? f->source : "");
    sql_text(&q, 10, f->why ? f->why : "");
    int rc = sql_run(&q, e);
    if (!rc)
        return 0;
    text_plain(f->scope, scope, sizeof(scope));
    if (sql_twice(c->db))
        return err_set(e, ERR_DB,
                       "fact %s of \"%s\" stands already in run %lld: facts are written once",
                       fact_name(f->key), scope, (long long)c->run);
    return err_wrap(e, "fact %s of \"%s\"", fact_name(f->key), scope);
}

static int put_point(void *ctx, const struct fact_point *p, struct err *e)
{
    const struct run_ctx *c = ctx;
    struct sql q = sql_open(
        c->db, "INSERT INTO point (run, series, scope, x, y, y_error, x_unit, y_unit, note) "
               "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");

    sql_int(&q, 1, c->run);
    sql_text(&q, 2, p->series);
    sql_text(&q, 3, p->scope ? p->scope : "");
    sql_real(&q, 4, p->x);
    sql_real(&q, 5, p->y);
    sql_real(&q, 6, p->y_error);
    sql_text(&q, 7, p->x_unit ? p->x_unit : "");
    sql_text(&q, 8, p->y_unit ? p->y_unit : "");
    sql_text(&q, 9, p->note ? p->note : "");
    int rc = sql_run(&q, e);
    return rc ? err_wrap(e, "a point of %s", p->series) : 0;
}

static int put_load(void *ctx, const struct fact_load *l, struct err *e)
{
    const struct run_ctx *c = ctx;

    if (l->tokens > INT64_MAX)
        return err_set(e, ERR_LIMIT, "layer %u, expert %u: over 2^63 tokens", l->layer, l->expert);
    struct sql q =
        sql_open(c->db, "INSERT INTO load (run, layer, expert, tokens) VALUES (?, ?, ?, ?)");
    sql_int(&q, 1, c->run);
    sql_int(&q, 2, l->layer);
    sql_int(&q, 3, l->expert);
    sql_int(&q, 4, (int64_t)l->tokens);
    int rc = sql_run(&q, e);
    return rc ? err_wrap(e, "load of layer %u, expert %u", l->layer, l->expert) : 0;
}

struct fact_sink run_sink(struct run_ctx *ctx)
{
    return (struct fact_sink){.put = put, .put_point = put_point, .put_load = put_load, .ctx = ctx};
}

int run_support_put(struct db *db, int64_t run, const struct run_support *s, struct err *e)
{
    struct sql q = sql_open(db, "INSERT INTO support (run, backend, kind, entry, hardware, status, "
                                "condition, source, as_of) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");

    sql_int(&q, 1, run);
    sql_text(&q, 2, s->backend);
    sql_text(&q, 3, s->kind);
    sql_text(&q, 4, s->entry);
    sql_text(&q, 5, s->hardware);
    sql_text(&q, 6, s->status);
    sql_text(&q, 7, s->condition);
    sql_text(&q, 8, s->source);
    sql_text(&q, 9, s->as_of);
    int rc = sql_run(&q, e);
    return rc ? err_wrap(e, "support of %s by %s", s->entry, s->backend) : 0;
}

/* The ids of a run's facts in the order they were put. */
static int fact_ids(struct db *db, int64_t run, int64_t **ret, size_t *ret_count, struct err *e)
{
    int64_t *ids = NULL;
    size_t count = 0, cap = 0;
    int rc;
    struct sql q = sql_open(db, "SELECT id FROM fact WHERE run = ? ORDER BY id");

    sql_int(&q, 1, run);
    while ((rc = sql_row(&q, e)) == 1) {
        ids = mem_grow(ids, &cap, count + 1, sizeof(*ids));
        ids[count++] = sql_get_int(&q, 0);
    }
    if (rc) {
        free(ids);
        return rc;
    }
    *ret = ids;
    *ret_count = count;
    return 0;
}

static int put_verdict(struct db *db, int64_t run, const struct verdict *v, const int64_t *ids,
                       size_t id_count, struct err *e)
{
    int64_t verdict = 0;
    struct sql q =
        sql_open(db, "INSERT INTO verdict (run, item, rule, sum, required, status, title, "
                     "text, advice) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id");

    sql_int(&q, 1, run);
    sql_text(&q, 2, verdict_item_name(v->item));
    sql_text(&q, 3, v->rule);
    sql_int(&q, 4, v->sum);
    sql_int(&q, 5, v->required);
    sql_text(&q, 6, verdict_status_name(v->status));
    sql_text(&q, 7, v->title ? v->title : "");
    sql_text(&q, 8, v->text ? v->text : "");
    sql_text(&q, 9, v->advice ? v->advice : "");
    int rc = sql_one(&q, &verdict, e);
    for (size_t i = 0; i < v->fact_count && !rc; i++) {
        if (v->facts[i] >= id_count)
            return err_set(e, ERR_DB, "verdict %s names fact %zu of %zu", v->rule, v->facts[i],
                           id_count);
        q = sql_open(db, "INSERT INTO verdict_fact (verdict, rank, fact) VALUES (?, ?, ?)");
        sql_int(&q, 1, verdict);
        sql_int(&q, 2, (int64_t)i);
        sql_int(&q, 3, ids[v->facts[i]]);
        rc = sql_run(&q, e);
    }
    return rc ? err_wrap(e, "verdict %s", v->rule) : 0;
}

int run_verdicts_put(struct db *db, int64_t run, const struct verdict *v, size_t count,
                     struct err *e)
{
    int64_t *ids = NULL;
    size_t id_count = 0;
    int rc = db_begin(db, e);

    if (rc)
        return rc;
    rc = fact_ids(db, run, &ids, &id_count, e);
    if (!rc) {
        struct sql q = sql_open(db, "DELETE FROM verdict WHERE run = ?");
        sql_int(&q, 1, run);
        rc = sql_run(&q, e);
    }
    for (size_t i = 0; i < count && !rc; i++)
        rc = put_verdict(db, run, &v[i], ids, id_count, e);
    free(ids);
    if (!rc)
        rc = db_commit(db, e);
    if (rc)
        db_rollback(db);
    return rc;
}

int run_latest(struct db *db, const char *subject, int64_t *ret_run, struct err *e)
{
    char shown[200];
    int64_t run = 0;
    struct sql q = sql_open(db, "SELECT coalesce(max(r.id), 0) FROM run r "
                                "JOIN subject u ON u.id = r.subject "
                                "WHERE r.finished IS NOT NULL AND u.name = coalesce(?, u.name)");

    sql_text(&q, 1, subject);
    int rc = sql_one(&q, &run, e);
    if (rc)
        return rc;
    if (run == 0 && subject)
        return err_set(e, ERR_NOTFOUND, "there is no finished run of %s: audit it first",
                       text_plain(subject, shown, sizeof(shown)));
    if (run == 0)
        return err_set(e, ERR_NOTFOUND, "there is no finished run in the store: audit first");
    *ret_run = run;
    return 0;
}
