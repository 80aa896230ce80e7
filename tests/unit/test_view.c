#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include "core/clock.h"
#include "db/view.c"

static struct db *db;
static int64_t subject, run;

static int enter(void **state)
{
    struct err e = {0};

    (void)state;
    return db_open(NULL, DB_MEMORY, &db, &e) ||
           snapshot_subject_put(db, "/models/m", "folder", &subject, &e) ||
           run_begin(db, subject, "default", "{\"a\":1}", &run, &e);
}

static int leave(void **state)
{
    (void)state;
    db_close(db);
    return 0;
}

static void same_fact(const struct fact *a, const struct fact *b)
{
    assert_int_equal(a->key, b->key);
    assert_string_equal(a->scope, b->scope);
    assert_int_equal(a->state, b->state);
    assert_int_equal(a->i, b->i);
    assert_memory_equal(&a->x, &b->x, sizeof(a->x));
    assert_memory_equal(&a->error, &b->error, sizeof(a->error));
    assert_string_equal(a->text, b->text);
    assert_string_equal(a->source, b->source);
    assert_string_equal(a->why, b->why);
}

/* What is put into the store and into a list at once comes back equal from both. */
static void facts_come_back_as_they_were_put(void **state)
{
    static const double reals[] = {0.1, -1.5, 1e308, 5e-324, 3, (double)INFINITY};
    struct run_ctx ctx = {db, run};
    struct fact_list list;
    struct view v;
    struct err e = {0};
    char scope[20];

    (void)state;
    fact_list_init(&list);
    struct fact_sink sinks[] = {run_sink(&ctx), fact_list_sink(&list)};
    for (int s = 0; s < 2; s++) {
        fact_put_text(&sinks[s], FACT_MODEL_FAMILY, "", "kimi\n\xc3\xa9", "config.json", &e);
        fact_put_int(&sinks[s], FACT_MODEL_LAYERS, "kda", INT64_MAX, "config.json", &e);
        fact_put_int(&sinks[s], FACT_MODEL_LAYERS, "all", INT64_MIN, "config.json", &e);
        for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++) {
            (void)snprintf(scope, sizeof(scope), "%zu", i);
            fact_put_real(&sinks[s], FACT_FALLBACK_TIME, scope, reals[i], 0.25, "measured", &e);
        }
        fact_put_unknown(&sinks[s], FACT_MODEL_STATE, "", "no headers", &e);
        fact_put_absent(&sinks[s], FACT_MODEL_EXPERTS, "", "config.json", &e);
        fact_put_text(&sinks[s], FACT_MODEL_ARCHITECTURE, "", "", "config.json", &e);
    }
    assert_int_equal(view_load(db, run, &v, &e), 0);
    assert_int_equal(v.facts.count, list.count);
    assert_int_equal(list.count, 12);
    for (size_t i = 0; i < list.count; i++)
        same_fact(&v.facts.items[i], &list.items[i]);
    view_release(&v);
    fact_list_release(&list);
}

static void missing_points_come_back_as_nan(void **state)
{
    struct fact_point points[] = {
        {"cache.measured", "kda", 1024, 5.5, 0.25, "tokens", "bytes", ""},
        {"cache.measured", "kda", 2048, (double)NAN, 0, "tokens", "bytes", "no memory"},
        {"a", "", (double)NAN, -1, (double)NAN, "x", "", ""},
    };
    struct run_ctx ctx = {db, run};
    struct fact_sink sink = run_sink(&ctx);
    struct view v;
    struct err e = {0};

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(sink.put_point(sink.ctx, &points[i], &e), 0);
    assert_int_equal(view_load(db, run, &v, &e), 0);
    assert_int_equal(v.facts.point_count, 3);
    const struct fact_point *p = v.facts.points;
    assert_true(p[0].x == 1024 && p[0].y == 5.5 && p[0].y_error == 0.25);
    assert_string_equal(p[0].series, "cache.measured");
    assert_string_equal(p[0].scope, "kda");
    assert_string_equal(p[0].x_unit, "tokens");
    assert_string_equal(p[0].y_unit, "bytes");
    assert_true(p[1].x == 2048 && isnan(p[1].y) && p[1].y_error == 0);
    assert_string_equal(p[1].note, "no memory");
    assert_true(isnan(p[2].x) && p[2].y == -1 && isnan(p[2].y_error));
    view_release(&v);
}

static void loads_come_back_in_order(void **state)
{
    static const struct fact_load loads[] = {
        {2, 0, 5}, {1, 1, INT64_MAX}, {1, 0, 0}, {UINT32_MAX, UINT32_MAX, 1}};
    static const int order[] = {2, 1, 0, 3};
    struct run_ctx ctx = {db, run};
    struct fact_sink sink = run_sink(&ctx);
    struct view v;
    struct err e = {0};

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(sink.put_load(sink.ctx, &loads[i], &e), 0);
    assert_int_equal(view_load(db, run, &v, &e), 0);
    assert_int_equal(v.facts.load_count, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(v.facts.loads[i].layer, loads[order[i]].layer);
        assert_int_equal(v.facts.loads[i].expert, loads[order[i]].expert);
        assert_int_equal(v.facts.loads[i].tokens, loads[order[i]].tokens);
    }
    view_release(&v);
}

static void head_files_and_support_are_there(void **state)
{
    static const struct snapshot_file files[] = {
        {"b.safetensors", 5, NULL, SNAPSHOT_FILE_MISSING, "", true},
        {"a.json", 6, NULL, SNAPSHOT_FILE_OK, "", false}};
    struct run_support s[] = {
        {"vllm", "operator", "kda", "", "fused", "sm90", "fla.py:3", "0.26"},
        {"llama.cpp", "format", "mxfp4", "cpu", "convert", "", "ggml.c:9", "b1"}};
    struct err e = {0};
    struct view v;
    int64_t snapshot;

    (void)state;
    assert_int_equal(view_load(db, run, &v, &e), 0);
    assert_int_equal(v.run, run);
    assert_string_equal(v.subject, "/models/m");
    assert_string_equal(v.subject_kind, "folder");
    assert_string_equal(v.policy_name, "default");
    assert_string_equal(v.policy, "{\"a\":1}");
    assert_null(v.digest);
    assert_int_equal(v.finished, 0);
    assert_int_equal(v.snapshot_first_seen, 0);
    assert_true(v.started > 0 && v.started <= clock_unix());
    assert_int_equal(v.file_count + v.support_count + v.verdict_count + v.facts.count, 0);
    view_release(&v);

    assert_int_equal(snapshot_put(db, subject, "d1", files, 2, &snapshot, &e), 0);
    assert_int_equal(run_set_snapshot(db, run, snapshot, &e), 0);
    assert_int_equal(run_support_put(db, run, &s[0], &e), 0);
    assert_int_equal(run_support_put(db, run, &s[1], &e), 0);
    assert_int_equal(run_finish(db, run, &e), 0);
    assert_int_equal(view_load(db, run, &v, &e), 0);
    assert_string_equal(v.digest, "d1");
    assert_true(v.finished >= v.started && v.snapshot_first_seen > 0);
    assert_int_equal(v.file_count, 2);
    assert_string_equal(v.files[0].path, "a.json");
    assert_int_equal(v.files[1].state, SNAPSHOT_FILE_MISSING);
    assert_int_equal(v.support_count, 2);
    assert_string_equal(v.supports[0].backend, "vllm");
    assert_string_equal(v.supports[0].condition, "sm90");
    assert_string_equal(v.supports[1].kind, "format");
    assert_string_equal(v.supports[1].entry, "mxfp4");
    assert_string_equal(v.supports[1].hardware, "cpu");
    assert_string_equal(v.supports[1].status, "convert");
    assert_string_equal(v.supports[1].source, "ggml.c:9");
    assert_string_equal(v.supports[1].as_of, "b1");
    view_release(&v);
}

/* The facts of two runs lie mixed in the table; indices count those of the run. */
static void verdicts_point_at_the_facts_of_their_run(void **state)
{
    static const size_t reasons[] = {2, 0};
    struct verdict in[] = {
        {VERDICT_CONTEXT, "context.growth", false, true, VERDICT_FAIL, "", "two", "run it", reasons,
         2},
        {VERDICT_CONTEXT, "item", true, false, VERDICT_NOT_APPLICABLE, "T", "x", "", NULL, 0},
        {VERDICT_READINESS, "headline", true, true, VERDICT_UNKNOWN, "Not proven", "y", "z", NULL,
         0},
    };
    static const enum fact_key keys[] = {FACT_MODEL_LAYERS, FACT_MODEL_HIDDEN, FACT_MODEL_TENSORS};
    struct run_ctx ctx[2] = {{db, run}, {db, 0}};
    struct err e = {0};
    struct view v;

    (void)state;
    assert_int_equal(run_begin(db, subject, "p", "{}", &ctx[1].run, &e), 0);
    for (int i = 0; i < 3; i++) {
        for (int r = 1; r >= 0; r--) {
            struct fact_sink sink = run_sink(&ctx[r]);
            assert_int_equal(fact_put_int(&sink, keys[i], "", 10 * r + i, "", &e), 0);
        }
    }
    assert_int_equal(run_verdicts_put(db, run, in, 3, &e), 0);
    assert_int_equal(run_verdicts_put(db, ctx[1].run, in, 3, &e), 0);
    for (int r = 0; r < 2; r++) {
        assert_int_equal(view_load(db, ctx[r].run, &v, &e), 0);
        assert_int_equal(v.verdict_count, 3);
        const struct verdict *got = &v.verdicts[0];
        assert_int_equal(got->item, VERDICT_CONTEXT);
        assert_string_equal(got->rule, "context.growth");
        assert_false(got->sum);
        assert_true(got->required);
        assert_int_equal(got->status, VERDICT_FAIL);
        assert_string_equal(got->text, "two");
        assert_string_equal(got->advice, "run it");
        assert_int_equal(got->fact_count, 2);
        assert_int_equal(got->facts[0], 2);
        assert_int_equal(got->facts[1], 0);
        assert_int_equal(v.facts.items[got->facts[0]].i, 10 * r + 2);
        assert_ptr_equal(view_sum(&v, VERDICT_CONTEXT), &v.verdicts[1]);
        assert_string_equal(view_sum(&v, VERDICT_CONTEXT)->title, "T");
        assert_int_equal(view_sum(&v, VERDICT_READINESS)->status, VERDICT_UNKNOWN);
        assert_null(view_sum(&v, VERDICT_FORMATS));
        view_release(&v);
    }
}

static void what_this_version_does_not_know_is_an_error(void **state)
{
    static const char *const rows[] = {
        "INSERT INTO fact (run, key, scope, state, source, why) "
        "VALUES (1, 'model.gone', '', 'known', '', '')",
        "INSERT INTO verdict (run, item, rule, sum, required, status, title, text, advice) "
        "VALUES (1, 'formats', 'r', 0, 0, 'splendid', '', '', '')",
        "INSERT INTO verdict (run, item, rule, sum, required, status, title, text, advice) "
        "VALUES (1, 'beauty', 'r', 0, 0, 'pass', '', '', '')",
    };
    static const char *const words[] = {"fact \"model.gone\"", "status \"splendid\"",
                                        "item \"beauty\""};
    struct view v = {.run = 5};

    (void)state;
    assert_int_equal(run, 1);
    for (int i = 0; i < 3; i++) {
        struct err e = {0};
        assert_int_equal(db_begin(db, &e), 0);
        assert_int_equal(sql_exec(db, rows[i], &e), 0);
        assert_int_equal(view_load(db, run, &v, &e), ERR_DB);
        if (!strstr(e.msg, words[i]))
            fail_msg("%s", e.msg);
        db_rollback(db);
    }
    assert_int_equal(v.run, 5);
}

/* A failed look inside the caller's transaction leaves that transaction as it is. */
static void no_such_run_is_not_found(void **state)
{
    struct view v = {.run = 5};
    struct err e = {0};
    int64_t id;

    (void)state;
    assert_int_equal(db_begin(db, &e), 0);
    assert_int_equal(snapshot_subject_put(db, "/new", "folder", &id, &e), 0);
    assert_int_equal(view_load(db, 999, &v, &e), ERR_NOTFOUND);
    assert_int_equal(v.run, 5);
    assert_int_equal(db_commit(db, &e), 0);
    assert_int_equal(run_begin(db, id, "p", "{}", &run, &e), 0);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(facts_come_back_as_they_were_put),
        CASE(missing_points_come_back_as_nan),
        CASE(loads_come_back_in_order),
        CASE(head_files_and_support_are_there),
        CASE(verdicts_point_at_the_facts_of_their_run),
        CASE(what_this_version_does_not_know_is_an_error),
        CASE(no_such_run_is_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
