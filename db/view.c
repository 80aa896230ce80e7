#include "db/view.h"
#include "core/text.h"
#include "db/sql.h"
#include <stdlib.h>
#include <string.h>

static int load_run(struct db *db, struct view *v, int64_t *ret_snapshot, struct err *e)
{
    struct sql q = sql_open(
        db, "SELECT u.name, u.kind, s.digest, coalesce(s.first_seen, 0), r.started, "
            "coalesce(r.finished, 0), r.policy_name, r.policy, coalesce(s.id, 0) FROM run r "
            "JOIN subject u ON u.id = r.subject LEFT JOIN snapshot s ON s.id = r.snapshot "
            "WHERE r.id = ?");

    sql_int(&q, 1, v->run);
    int rc = sql_row(&q, e);
    if (rc == 0)
        return err_set(e, ERR_NOTFOUND, "there is no run %lld in the store", (long long)v->run);
    if (rc < 0)
        return rc;
    v->subject = sql_get_text(&q, 0, &v->arena);
    v->subject_kind = sql_get_text(&q, 1, &v->arena);
    v->digest = sql_get_text(&q, 2, &v->arena);
    v->snapshot_first_seen = sql_get_int(&q, 3);
    v->started = sql_get_int(&q, 4);
    v->finished = sql_get_int(&q, 5);
    v->policy_name = sql_get_text(&q, 6, &v->arena);
    v->policy = sql_get_text(&q, 7, &v->arena);
    *ret_snapshot = sql_get_int(&q, 8);
    sql_close(&q);
    return 0;
}

/* A word in the store that this version has no meaning for: the store outlived a rename. */
static int strange(const struct sql *q, int column, const char *what, struct err *e)
{
    char shown[120];

    return err_set(e, ERR_DB,
                   "the run holds the %s \"%s\", which this assay does not know: audit "
                   "again",
                   what, text_plain(sql_peek_text(q, column), shown, sizeof(shown)));
}

static bool find_state(const char *name, enum fact_state *ret)
{
    for (int s = FACT_KNOWN; s <= FACT_UNKNOWN; s++) {
        if (strcmp(fact_state_name((enum fact_state)s), name) == 0) {
            *ret = (enum fact_state)s;
            return true;
        }
    }
    return false;
}

/* The row of a fact, as it was put. Texts live until the next row. */
static int read_fact(const struct sql *q, struct fact *ret, struct err *e)
{
    struct fact f = {.scope = sql_peek_text(q, 2),
                     .text = sql_peek_text(q, 7),
                     .source = sql_peek_text(q, 8),
                     .why = sql_peek_text(q, 9)};

    if (!fact_find(sql_peek_text(q, 1), &f.key))
        return strange(q, 1, "fact", e);
    if (!find_state(sql_peek_text(q, 3), &f.state))
        return strange(q, 3, "state", e);
    f.i = sql_get_int(q, 4);
    if (f.state == FACT_KNOWN && fact_type(f.key) == FACT_REAL) {
        f.x = sql_get_real(q, 5);
        f.error = sql_get_real(q, 6);
    }
    *ret = f;
    return 0;
}

/* Ids of facts in ascending order, which is the order of the view's facts. */
struct ids {
    int64_t *items;
    size_t count, cap;
};

static int load_facts(struct db *db, struct view *v, struct ids *ids, struct err *e)
{
    struct fact_sink sink = fact_list_sink(&v->facts);
    struct fact f;
    int rc;
    struct sql q =
        sql_open(db, "SELECT id, key, scope, state, whole, real, error, text, source, why "
                     "FROM fact WHERE run = ? ORDER BY id");

    sql_int(&q, 1, v->run);
    while ((rc = sql_row(&q, e)) == 1) {
        rc = read_fact(&q, &f, e);
        if (!rc)
            rc = sink.put(sink.ctx, &f, e);
        if (rc)
            break;
        ids->items = mem_grow(ids->items, &ids->cap, ids->count + 1, sizeof(*ids->items));
        ids->items[ids->count++] = sql_get_int(&q, 0);
    }
    sql_close(&q);
    return rc;
}

static int load_points(struct db *db, struct view *v, struct err *e)
{
    struct fact_sink sink = fact_list_sink(&v->facts);
    int rc;
    struct sql q = sql_open(db, "SELECT series, scope, x, y, y_error, x_unit, y_unit, note "
                                "FROM point WHERE run = ? ORDER BY id");

    sql_int(&q, 1, v->run);
    while ((rc = sql_row(&q, e)) == 1) {
        struct fact_point p = {
            .series = sql_peek_text(&q, 0),
            .scope = sql_peek_text(&q, 1),
            .x = sql_get_real(&q, 2),
            .y = sql_get_real(&q, 3),
            .y_error = sql_get_real(&q, 4),
            .x_unit = sql_peek_text(&q, 5),
            .y_unit = sql_peek_text(&q, 6),
            .note = sql_peek_text(&q, 7),
        };
        (void)sink.put_point(sink.ctx, &p, e); /* a list takes everything */
    }
    return rc;
}

static int load_loads(struct db *db, struct view *v, struct err *e)
{
    struct fact_sink sink = fact_list_sink(&v->facts);
    int rc;
    struct sql q =
        sql_open(db, "SELECT layer, expert, tokens FROM load WHERE run = ? ORDER BY layer, expert");

    sql_int(&q, 1, v->run);
    while ((rc = sql_row(&q, e)) == 1) {
        struct fact_load l = {(uint32_t)sql_get_int(&q, 0), (uint32_t)sql_get_int(&q, 1),
                              (uint64_t)sql_get_int(&q, 2)};
        (void)sink.put_load(sink.ctx, &l, e);
    }
    return rc;
}

static int load_supports(struct db *db, struct view *v, struct err *e)
{
    struct run_support *rows = NULL;
    size_t cap = 0;
    int rc;
    struct sql q = sql_open(db, "SELECT backend, kind, entry, hardware, status, condition, source, "
                                "as_of FROM support WHERE run = ? ORDER BY id");

    sql_int(&q, 1, v->run);
    while ((rc = sql_row(&q, e)) == 1) {
        rows = mem_grow(rows, &cap, v->support_count + 1, sizeof(*rows));
        rows[v->support_count++] = (struct run_support){
            .backend = sql_get_text(&q, 0, &v->arena),
            .kind = sql_get_text(&q, 1, &v->arena),
            .entry = sql_get_text(&q, 2, &v->arena),
            .hardware = sql_get_text(&q, 3, &v->arena),
            .status = sql_get_text(&q, 4, &v->arena),
            .condition = sql_get_text(&q, 5, &v->arena),
            .source = sql_get_text(&q, 6, &v->arena),
            .as_of = sql_get_text(&q, 7, &v->arena),
        };
    }
    v->supports = mem_arena_alloc(&v->arena, v->support_count * sizeof(*rows));
    if (v->support_count)
        memcpy(v->supports, rows, v->support_count * sizeof(*rows));
    free(rows);
    return rc;
}

static int by_id(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* The facts that decided a verdict, as indices into the view's facts. */
static int load_reasons(struct db *db, int64_t id, const struct ids *ids, struct view *v,
                        struct verdict *to, struct err *e)
{
    size_t *facts = NULL, cap = 0;
    int rc;
    struct sql q = sql_open(db, "SELECT fact FROM verdict_fact WHERE verdict = ? ORDER BY rank");

    sql_int(&q, 1, id);
    while ((rc = sql_row(&q, e)) == 1) {
        int64_t fact = sql_get_int(&q, 0);
        const int64_t *at =
            ids->count ? bsearch(&fact, ids->items, ids->count, sizeof(fact), by_id) : NULL;
        if (!at) {
            rc = err_set(e, ERR_DB, "verdict %s names a fact of another run", to->rule);
            break;
        }
        facts = mem_grow(facts, &cap, to->fact_count + 1, sizeof(*facts));
        facts[to->fact_count++] = (size_t)(at - ids->items);
    }
    sql_close(&q);
    size_t *kept = mem_arena_alloc(&v->arena, to->fact_count * sizeof(*facts));
    if (to->fact_count)
        memcpy(kept, facts, to->fact_count * sizeof(*facts));
    to->facts = kept;
    free(facts);
    return rc;
}

static int read_verdict(const struct sql *q, struct mem_arena *a, struct verdict *ret,
                        struct err *e)
{
    struct verdict v = {
        .rule = sql_get_text(q, 2, a),
        .sum = sql_get_int(q, 3) != 0,
        .required = sql_get_int(q, 4) != 0,
        .title = sql_get_text(q, 6, a),
        .text = sql_get_text(q, 7, a),
        .advice = sql_get_text(q, 8, a),
    };

    if (!verdict_item_find(sql_peek_text(q, 1), &v.item))
        return strange(q, 1, "item", e);
    if (!verdict_status_find(sql_peek_text(q, 5), &v.status))
        return strange(q, 5, "status", e);
    *ret = v;
    return 0;
}

static int load_verdicts(struct db *db, struct view *v, const struct ids *ids, struct err *e)
{
    struct verdict *rows = NULL;
    size_t count = 0, cap = 0;
    int rc;
    struct sql q = sql_open(db, "SELECT id, item, rule, sum, required, status, title, text, advice "
                                "FROM verdict WHERE run = ? ORDER BY id");

    sql_int(&q, 1, v->run);
    while ((rc = sql_row(&q, e)) == 1) {
        rows = mem_grow(rows, &cap, count + 1, sizeof(*rows));
        rc = read_verdict(&q, &v->arena, &rows[count], e);
        if (!rc)
            rc = load_reasons(db, sql_get_int(&q, 0), ids, v, &rows[count], e);
        if (rc)
            break;
        count++;
    }
    sql_close(&q);
    v->verdicts = mem_arena_alloc(&v->arena, count * sizeof(*rows));
    v->verdict_count = count;
    if (count)
        memcpy(v->verdicts, rows, count * sizeof(*rows));
    free(rows);
    return rc;
}

int view_load(struct db *db, int64_t run, struct view *ret, struct err *e)
{
    struct view v = {.run = run};
    struct ids ids = {0};
    struct err late = {0};
    int64_t snapshot = 0;
    int rc = sql_begin_read(db, e);

    if (rc)
        return rc;
    fact_list_init(&v.facts);
    rc = load_run(db, &v, &snapshot, e);
    if (!rc && snapshot)
        rc = snapshot_files(db, snapshot, &v.arena, &v.files, &v.file_count, e);
    if (!rc)
        rc = load_facts(db, &v, &ids, e);
    if (!rc)
        rc = load_points(db, &v, e);
    if (!rc)
        rc = load_loads(db, &v, e);
    if (!rc)
        rc = load_supports(db, &v, e);
    if (!rc)
        rc = load_verdicts(db, &v, &ids, e);
    free(ids.items);
    /* Nothing was written: the end of a transaction that only read cannot lose anything. */
    (void)db_commit(db, &late);
    if (rc) {
        view_release(&v);
        return rc;
    }
    *ret = v;
    return 0;
}

void view_release(struct view *v)
{
    fact_list_release(&v->facts);
    mem_arena_release(&v->arena);
    *v = (struct view){0};
}

const struct verdict *view_sum(const struct view *v, enum verdict_item item)
{
    for (size_t i = 0; i < v->verdict_count; i++) {
        if (v->verdicts[i].item == item && v->verdicts[i].sum)
            return &v->verdicts[i];
    }
    return NULL;
}
