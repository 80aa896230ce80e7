#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "db/run.c"
#include "db/snapshot.h"

static struct db *db;
static int64_t subject, run;
static struct run_ctx ctx;
static struct fact_sink sink;

static int enter(void **state)
{
    struct err e = {0};

    (void)state;
    if (db_open(NULL, DB_MEMORY, &db, &e) ||
        snapshot_subject_put(db, "/models/m", "folder", &subject, &e) ||
        run_begin(db, subject, "default", "{\"a\":1}", &run, &e))
        return 1;
    ctx = (struct run_ctx){db, run};
    sink = run_sink(&ctx);
    return 0;
}

static int leave(void **state)
{
    (void)state;
    db_close(db);
    return 0;
}

static int64_t number(const char *text)
{
    int64_t n = -1;
    struct err e = {0};
    struct sql q = sql_open(db, text);

    if (sql_one(&q, &n, &e) != 0)
        fail_msg("%s: %s", text, e.msg);
    return n;
}

static void a_fact_put_twice_is_an_error(void **state)
{
    struct err e = {0};
    int64_t other;

    (void)state;
    assert_int_equal(fact_put_int(&sink, FACT_MODEL_LAYERS, "kda", 5, "config.json", &e), 0);
    assert_int_equal(fact_put_int(&sink, FACT_MODEL_LAYERS, "kda", 6, "config.json", &e), ERR_DB);
    assert_non_null(strstr(e.msg, "model.layers"));
    assert_non_null(strstr(e.msg, "written once"));
    assert_int_equal(fact_put_absent(&sink, FACT_MODEL_LAYERS, "kda", "config.json", &e), ERR_DB);
    /* another scope, key or run is another fact */
    assert_int_equal(fact_put_int(&sink, FACT_MODEL_LAYERS, "KDA", 6, "config.json", &e), 0);
    assert_int_equal(fact_put_int(&sink, FACT_MODEL_LAYERS, "", 6, "config.json", &e), 0);
    assert_int_equal(fact_put_int(&sink, FACT_MODEL_HIDDEN, "kda", 6, "config.json", &e), 0);
    assert_int_equal(run_begin(db, subject, "p", "{}", &other, &e), 0);
    ctx.run = other;
    assert_int_equal(fact_put_int(&sink, FACT_MODEL_LAYERS, "kda", 5, "config.json", &e), 0);
    assert_int_equal(number("SELECT whole FROM fact WHERE scope = 'kda' AND key = 'model.layers' "
                            "ORDER BY id LIMIT 1"),
                     5);
}

/* A refused fact does not undo those before it: an audit can note the error and go on. */
static void a_refused_fact_keeps_the_transaction(void **state)
{
    struct err e = {0};

    (void)state;
    assert_int_equal(db_begin(db, &e), 0);
    assert_int_equal(fact_put_int(&sink, FACT_MODEL_LAYERS, "", 5, "", &e), 0);
    assert_int_equal(fact_put_int(&sink, FACT_MODEL_LAYERS, "", 5, "", &e), ERR_DB);
    assert_int_equal(fact_put_int(&sink, FACT_MODEL_HIDDEN, "", 5, "", &e), 0);
    assert_int_equal(db_commit(db, &e), 0);
    assert_int_equal(number("SELECT count(*) FROM fact"), 2);
}

static void values_stand_in_the_column_of_their_type(void **state)
{
    struct err e = {0};

    (void)state;
    fact_put_int(&sink, FACT_MODEL_LAYERS, "", INT64_MIN, "s", &e);
    fact_put_real(&sink, FACT_FALLBACK_TIME, "", 0.1, 0.5, "s", &e);
    fact_put_text(&sink, FACT_MODEL_FAMILY, "", "it's; DROP TABLE fact", "s", &e);
    fact_put_unknown(&sink, FACT_MODEL_STATE, "", "no headers", &e);
    fact_put_absent(&sink, FACT_MODEL_EXPERTS, "", "config.json", &e);
    assert_int_equal(number("SELECT count(*) FROM fact WHERE key = 'model.layers' AND "
                            "whole = -9223372036854775808 AND real IS NULL AND text IS NULL"),
                     1);
    assert_int_equal(number("SELECT count(*) FROM fact WHERE real = 0.1 AND error = 0.5 AND "
                            "whole IS NULL AND text IS NULL"),
                     1);
    assert_int_equal(number("SELECT count(*) FROM fact WHERE text = 'it''s; DROP TABLE fact'"), 1);
    assert_int_equal(number("SELECT count(*) FROM fact WHERE state = 'unknown' AND whole IS NULL "
                            "AND real IS NULL AND text IS NULL AND why = 'no headers'"),
                     1);
    assert_int_equal(number("SELECT count(*) FROM fact WHERE state = 'absent' AND whole IS NULL "
                            "AND source = 'config.json'"),
                     1);
}

static void a_missing_point_is_null(void **state)
{
    struct fact_point p = {.series = "s",
                           .scope = "kda",
                           .x = 1024,
                           .y = (double)NAN,
                           .x_unit = "tokens",
                           .y_unit = "bytes",
                           .note = "no memory"};
    struct err e = {0};

    (void)state;
    assert_int_equal(sink.put_point(sink.ctx, &p, &e), 0);
    assert_int_equal(number("SELECT count(*) FROM point WHERE y IS NULL AND x = 1024.0 AND "
                            "note = 'no memory'"),
                     1);
    ctx.run = 999;
    assert_int_equal(sink.put_point(sink.ctx, &p, &e), ERR_DB);
}

static void loads_are_once_and_within_range(void **state)
{
    struct fact_load l = {UINT32_MAX, UINT32_MAX, INT64_MAX};
    struct err e = {0};

    (void)state;
    assert_int_equal(sink.put_load(sink.ctx, &l, &e), 0);
    assert_int_equal(sink.put_load(sink.ctx, &l, &e), ERR_DB);
    l.expert = 0, l.tokens = (uint64_t)INT64_MAX + 1;
    assert_int_equal(sink.put_load(sink.ctx, &l, &e), ERR_LIMIT);
    assert_int_equal(number("SELECT layer FROM load"), UINT32_MAX);
}

static void a_run_needs_its_subject_and_snapshot(void **state)
{
    struct err e = {0};
    int64_t id = 7;

    (void)state;
    assert_int_equal(run_begin(db, 999, "p", "{}", &id, &e), ERR_DB);
    assert_int_equal(id, 7);
    assert_int_equal(run_set_snapshot(db, run, 999, &e), ERR_DB);
    assert_int_equal(run_set_snapshot(db, 999, 1, &e), ERR_DB);
    assert_non_null(strstr(e.msg, "no run 999"));
    assert_int_equal(run_finish(db, 999, &e), ERR_DB);
    ctx.run = 999;
    assert_int_equal(fact_put_int(&sink, FACT_MODEL_LAYERS, "", 5, "", &e), ERR_DB);
}

static void only_finished_runs_are_latest(void **state)
{
    struct err e = {0};
    int64_t second, other, third, got = 7;

    (void)state;
    assert_int_equal(run_latest(db, NULL, &got, &e), ERR_NOTFOUND);
    assert_int_equal(run_latest(db, "/models/m", &got, &e), ERR_NOTFOUND);
    assert_int_equal(got, 7);
    assert_int_equal(run_finish(db, run, &e), 0);
    assert_int_equal(run_begin(db, subject, "p", "{}", &second, &e), 0);
    assert_int_equal(run_latest(db, "/models/m", &got, &e), 0);
    assert_int_equal(got, run);
    assert_int_equal(snapshot_subject_put(db, "/other", "folder", &other, &e), 0);
    assert_int_equal(run_begin(db, other, "p", "{}", &third, &e), 0);
    assert_int_equal(run_finish(db, second, &e), 0);
    assert_int_equal(run_finish(db, third, &e), 0);
    assert_int_equal(run_latest(db, "/models/m", &got, &e), 0);
    assert_int_equal(got, second);
    assert_int_equal(run_latest(db, NULL, &got, &e), 0);
    assert_int_equal(got, third);
    assert_int_equal(run_latest(db, "/nowhere", &got, &e), ERR_NOTFOUND);
}

static void verdicts_are_replaced_whole_or_not_at_all(void **state)
{
    static const size_t first[] = {1, 0}, wrong[] = {2};
    struct verdict v[] = {
        {VERDICT_FORMATS, "formats.native", false, true, VERDICT_PASS, "", "x", "", first, 2},
        {VERDICT_FORMATS, "item", true, true, VERDICT_WARN, "", "y", "", NULL, 0},
    };
    struct err e = {0};

    (void)state;
    fact_put_int(&sink, FACT_MODEL_LAYERS, "", 5, "", &e);
    fact_put_int(&sink, FACT_MODEL_HIDDEN, "", 5, "", &e);
    assert_int_equal(run_verdicts_put(db, run, v, 2, &e), 0);
    assert_int_equal(run_verdicts_put(db, run, v, 1, &e), 0);
    assert_int_equal(number("SELECT count(*) FROM verdict"), 1);
    assert_int_equal(number("SELECT count(*) FROM verdict_fact"), 2);
    assert_int_equal(number("SELECT count(*) FROM verdict_fact v JOIN fact f ON f.id = v.fact "
                            "WHERE rank = 0 AND key = 'model.hidden'"),
                     1);
    v[1].facts = wrong, v[1].fact_count = 1;
    assert_int_equal(run_verdicts_put(db, run, v, 2, &e), ERR_DB);
    assert_non_null(strstr(e.msg, "verdict item names fact 2 of 2"));
    assert_int_equal(number("SELECT count(*) FROM verdict"), 1);
    assert_int_equal(run_verdicts_put(db, 999, v, 1, &e), ERR_DB);
    assert_int_equal(run_verdicts_put(db, run, NULL, 0, &e), 0);
    assert_int_equal(number("SELECT count(*) FROM verdict"), 0);
    assert_int_equal(number("SELECT count(*) FROM verdict_fact"), 0);
    assert_int_equal(number("SELECT count(*) FROM fact"), 2);
}

static void support_rows_belong_to_a_run(void **state)
{
    struct run_support s = {"vllm", "operator", "kda", "", "fused", "", "fla.py:3", "0.26"};
    struct err e = {0};

    (void)state;
    assert_int_equal(run_support_put(db, run, &s, &e), 0);
    assert_int_equal(run_support_put(db, 999, &s, &e), ERR_DB);
    assert_int_equal(number("SELECT count(*) FROM support WHERE backend = 'vllm'"), 1);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_fact_put_twice_is_an_error),
        CASE(a_refused_fact_keeps_the_transaction),
        CASE(values_stand_in_the_column_of_their_type),
        CASE(a_missing_point_is_null),
        CASE(loads_are_once_and_within_range),
        CASE(a_run_needs_its_subject_and_snapshot),
        CASE(only_finished_runs_are_latest),
        CASE(verdicts_are_replaced_whole_or_not_at_all),
        CASE(support_rows_belong_to_a_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
