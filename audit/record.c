#include "audit/record.h"
#include "audit/place.h"
#include "core/buf.h"
#include <string.h>

#define POLICY_TEXT_BYTES_MAX (8u << 20)

static void refuse(struct record *r, const struct err *e)
{
    memcpy(r->refusal, e->msg, sizeof(r->refusal));
    db_close(r->db);
    r->db = NULL;
}

static int begin(struct record *r, const struct local *l, const struct policy *p, struct err *e)
{
    int64_t subject;
    struct buf b;

    buf_init(&b, POLICY_TEXT_BYTES_MAX);
    policy_json(p, &b);
    int rc = buf_check(&b, "the policy", e);
    if (!rc)
        rc = snapshot_subject_put(r->db, l->real_path, l->kind, &subject, e);
    if (!rc)
        rc = run_begin(r->db, subject, p->name, b.data, &r->run, e);
    buf_release(&b);
    return rc;
}

void record_begin(struct record *r, const struct options *o, const struct local *l,
                  const struct policy *p)
{
    struct err e = {0};

    *r = (struct record){0};
    if (place_open_db(o, DB_WRITE, &r->db, &e) || begin(r, l, p, &e))
        refuse(r, &e);
}

static int put_new(struct record *r, const struct evidence *v, struct err *e)
{
    struct run_ctx ctx = {.db = r->db, .run = r->run};
    struct fact_sink sink = run_sink(&ctx);
    int rc = 0;

    for (size_t i = r->flushed; i < v->facts.count && !rc; i++)
        rc = sink.put(sink.ctx, &v->facts.items[i], e);
    for (size_t i = r->points; i < v->facts.point_count && !rc; i++)
        rc = sink.put_point(sink.ctx, &v->facts.points[i], e);
    for (size_t i = r->loads; i < v->facts.load_count && !rc; i++)
        rc = sink.put_load(sink.ctx, &v->facts.loads[i], e);
    for (size_t i = r->supports; i < v->support_count && !rc; i++)
        rc = run_support_put(r->db, r->run, &v->supports[i], e);
    return rc;
}

static int flush(struct record *r, const struct evidence *v, struct err *e)
{
    int rc = db_begin(r->db, e);

    if (rc)
        return rc;
    rc = put_new(r, v, e);
    if (rc) {
        db_rollback(r->db);
        return rc;
    }
    rc = db_commit(r->db, e);
    if (rc)
        return rc;
    r->flushed = v->facts.count;
    r->points = v->facts.point_count;
    r->loads = v->facts.load_count;
    r->supports = v->support_count;
    return 0;
}

void record_flush(struct record *r, const struct evidence *v)
{
    struct err e = {0};

    if (r->db && flush(r, v, &e))
        refuse(r, &e);
}

static int put_snapshot(struct record *r, const struct local *l, const struct manifest *m,
                        struct err *e)
{
    int64_t snapshot;
    int rc = place_record(r->db, l, m, &snapshot, e);

    return rc ? rc : run_set_snapshot(r->db, r->run, snapshot, e);
}

void record_snapshot(struct record *r, const struct local *l, const struct manifest *m)
{
    struct err e = {0};

    if (r->db && put_snapshot(r, l, m, &e))
        refuse(r, &e);
}

static int finish(struct record *r, const struct evidence *v, const struct verdict_set *verdicts,
                  struct view *ret, struct err *e)
{
    if (flush(r, v, e) || run_verdicts_put(r->db, r->run, verdicts->items, verdicts->count, e) ||
        run_finish(r->db, r->run, e))
        return e->code;
    return view_load(r->db, r->run, ret, e);
}

int record_finish(struct record *r, const struct evidence *v, const struct verdict_set *verdicts,
                  const struct local *l, const struct policy *p, const struct manifest *m,
                  struct view *ret, struct err *e)
{
    struct err refusal = {0};

    if (r->db) {
        if (!finish(r, v, verdicts, ret, &refusal))
            return 0;
        refuse(r, &refusal);
    }
    r->flushed = r->points = r->loads = r->supports = 0;
    if (db_open(NULL, DB_MEMORY, &r->db, e) || begin(r, l, p, e) || (m && put_snapshot(r, l, m, e)))
        return e->code;
    int rc = finish(r, v, verdicts, ret, e);
    if (!rc)
        ret->run = 0; /* the number in a store that ends with this process would find nothing */
    return rc;
}

void record_release(struct record *r)
{
    db_close(r->db);
    r->db = NULL;
}
