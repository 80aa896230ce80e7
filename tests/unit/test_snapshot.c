#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "db/run.h"
#include "db/snapshot.c"

static struct db *db;
static int64_t subject;
static const char digest_a[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
static const char digest_b[] = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

static const struct snapshot_file files[] = {
    {"z/model-00002.safetensors", INT64_MAX, digest_b, SNAPSHOT_FILE_OK, "", true},
    {"config.json", 0, NULL, SNAPSHOT_FILE_UNREADABLE, "cannot read: Permission denied", false},
    {"Model.safetensors", 7, NULL, SNAPSHOT_FILE_MISSING, "", true},
    {"model.safetensors", 8, NULL, SNAPSHOT_FILE_POINTER, "pointer", true},
    {"\xc3\xa9\n.bin", 9, NULL, SNAPSHOT_FILE_CHANGED, "", true},
};
#define FILES (sizeof(files) / sizeof(files[0]))

static int enter(void **state)
{
    struct err e = {0};

    (void)state;
    return db_open(NULL, DB_MEMORY, &db, &e) ||
           snapshot_subject_put(db, "/models/m", "folder", &subject, &e);
}

static int leave(void **state)
{
    (void)state;
    db_close(db);
    return 0;
}

static int64_t put(const char *digest)
{
    int64_t id = 0;
    struct err e = {0};

    if (snapshot_put(db, subject, digest, files, FILES, &id, &e) != 0)
        fail_msg("%s", e.msg);
    return id;
}

static int64_t number(const char *text)
{
    int64_t n = -1;
    struct err e = {0};
    struct sql q = sql_open(db, text);

    if (sql_one(&q, &n, &e) != 0)
        fail_msg("%s", e.msg);
    return n;
}

static void same_name_is_the_same_subject(void **state)
{
    struct err e = {0};
    int64_t again = 0, other = 0;

    (void)state;
    assert_int_equal(snapshot_subject_put(db, "/models/m", "hub cache", &again, &e), 0);
    assert_int_equal(again, subject);
    assert_int_equal(snapshot_subject_put(db, "/models/M", "folder", &other, &e), 0);
    assert_int_not_equal(other, subject);
    assert_int_equal(number("SELECT count(*) FROM subject WHERE kind = 'hub cache'"), 1);
}

static void files_come_back_sorted_and_whole(void **state)
{
    static const int order[] = {2, 1, 3, 0, 4}; /* by bytes */
    struct snapshot s;
    struct err e = {0};
    int64_t id = put(digest_a);

    (void)state;
    assert_int_equal(snapshot_get(db, id, &s, &e), 0);
    assert_string_equal(s.subject, "/models/m");
    assert_string_equal(s.digest, digest_a);
    assert_true(s.first_seen > 0 && s.first_seen == s.last_seen);
    assert_int_equal(s.file_count, FILES);
    for (size_t i = 0; i < FILES; i++) {
        const struct snapshot_file *want = &files[order[i]], *got = &s.files[i];
        assert_string_equal(got->path, want->path);
        assert_int_equal(got->size_bytes, want->size_bytes);
        assert_int_equal(got->state, want->state);
        assert_string_equal(got->why, want->why);
        assert_int_equal(got->weight, want->weight);
        assert_int_equal(got->sha256 == NULL, want->sha256 == NULL);
        if (want->sha256)
            assert_string_equal(got->sha256, want->sha256);
    }
    snapshot_release(&s);
    assert_null(s.files);
}

static void same_digest_is_the_same_snapshot_seen_again(void **state)
{
    struct snapshot s;
    struct err e = {0};
    int64_t a = put(digest_a), b = put(digest_b);

    (void)state;
    assert_int_not_equal(a, b);
    assert_int_equal(snapshot_latest(db, "/models/m", &s, &e), 0);
    assert_int_equal(s.id, b);
    snapshot_release(&s);
    /* within the same second, or with a clock set back: the order of sightings decides */
    assert_int_equal(sql_exec(db, "UPDATE snapshot SET last_seen = last_seen + 1000", &e), 0);
    int64_t before = number("SELECT max(last_seen) FROM snapshot");
    assert_int_equal(put(digest_a), a);
    assert_int_equal(number("SELECT max(last_seen) FROM snapshot"), before);
    assert_int_equal(number("SELECT count(*) FROM file"), 2 * FILES);
    assert_int_equal(snapshot_latest(db, "/models/m", &s, &e), 0);
    assert_int_equal(s.id, a);
    snapshot_release(&s);
    /* the same digest of another subject is another snapshot */
    assert_int_equal(snapshot_subject_put(db, "/copy", "folder", &subject, &e), 0);
    assert_int_not_equal(put(digest_a), a);
}

static void incomplete_snapshots_equal_no_other(void **state)
{
    struct snapshot s;
    struct err e = {0};
    int64_t a = put(NULL), b = put(NULL);

    (void)state;
    assert_int_not_equal(a, b);
    assert_int_equal(snapshot_get(db, a, &s, &e), 0);
    assert_null(s.digest);
    snapshot_release(&s);
}

static void a_refused_file_leaves_no_snapshot(void **state)
{
    struct snapshot_file bad[] = {files[0], files[0]};
    struct err e = {0};
    int64_t id = 77;

    (void)state;
    assert_int_equal(snapshot_put(db, subject, digest_a, bad, 2, &id, &e), ERR_DB);
    assert_non_null(strstr(e.msg, "z/model-00002"));
    bad[1].path = "big";
    bad[1].size_bytes = (uint64_t)INT64_MAX + 1;
    assert_int_equal(snapshot_put(db, subject, digest_a, bad, 2, &id, &e), ERR_LIMIT);
    assert_int_equal(snapshot_put(db, subject + 1, digest_a, files, FILES, &id, &e), ERR_DB);
    assert_int_equal(id, 77);
    assert_int_equal(number("SELECT count(*) FROM snapshot"), 0);
    assert_int_equal(number("SELECT count(*) FROM file"), 0);
}

static void what_is_not_there_is_not_found(void **state)
{
    struct snapshot s = {.id = 5};
    struct err e = {0};
    int64_t run;

    (void)state;
    assert_int_equal(snapshot_get(db, 1, &s, &e), ERR_NOTFOUND);
    assert_int_equal(snapshot_latest(db, "/models/m", &s, &e), ERR_NOTFOUND);
    assert_non_null(strstr(e.msg, "/models/m"));
    assert_int_equal(snapshot_baseline_get(db, "v1", &s, &e), ERR_NOTFOUND);
    assert_int_equal(run_begin(db, subject, "p", "{}", &run, &e), 0);
    assert_int_equal(snapshot_of_run(db, run, &s, &e), ERR_NOTFOUND);
    assert_int_equal(s.id, 5);
}

static void a_run_leads_to_its_snapshot(void **state)
{
    struct snapshot s;
    struct err e = {0};
    int64_t run, a = put(digest_a);

    (void)state;
    (void)put(digest_b);
    assert_int_equal(run_begin(db, subject, "p", "{}", &run, &e), 0);
    assert_int_equal(run_set_snapshot(db, run, a, &e), 0);
    assert_int_equal(snapshot_of_run(db, run, &s, &e), 0);
    assert_int_equal(s.id, a);
    snapshot_release(&s);
}

static void a_baseline_moves_and_says_so(void **state)
{
    struct snapshot s;
    struct err e = {0};
    int64_t a = put(digest_a), b = put(digest_b);
    bool moved = true;

    (void)state;
    assert_int_equal(snapshot_baseline_put(db, "v1", a, &moved, &e), 0);
    assert_false(moved);
    assert_int_equal(snapshot_baseline_put(db, "v1", a, &moved, &e), 0);
    assert_false(moved);
    assert_int_equal(snapshot_baseline_put(db, "v1", b, &moved, &e), 0);
    assert_true(moved);
    assert_int_equal(snapshot_baseline_put(db, "v0", a, NULL, &e), 0);
    assert_int_equal(snapshot_baseline_get(db, "v1", &s, &e), 0);
    assert_int_equal(s.id, b);
    assert_int_equal(s.file_count, FILES);
    snapshot_release(&s);
    moved = false;
    assert_int_equal(snapshot_baseline_put(db, "v1", 999, &moved, &e), ERR_DB);
    assert_false(moved);
    assert_int_equal(snapshot_baseline_get(db, "v1", &s, &e), 0);
    assert_int_equal(s.id, b);
    snapshot_release(&s);
}

static void state_names_are_those_of_the_schema(void **state)
{
    (void)state;
    assert_string_equal(snapshot_file_state_name(SNAPSHOT_FILE_OK), "ok");
    assert_string_equal(snapshot_file_state_name(SNAPSHOT_FILE_MISSING), "missing");
    assert_string_equal(snapshot_file_state_name(SNAPSHOT_FILE_UNREADABLE), "unreadable");
    assert_string_equal(snapshot_file_state_name(SNAPSHOT_FILE_CHANGED), "changed");
    assert_string_equal(snapshot_file_state_name(SNAPSHOT_FILE_POINTER), "pointer");
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(same_name_is_the_same_subject),
        CASE(files_come_back_sorted_and_whole),
        CASE(same_digest_is_the_same_snapshot_seen_again),
        CASE(incomplete_snapshots_equal_no_other),
        CASE(a_refused_file_leaves_no_snapshot),
        CASE(what_is_not_there_is_not_found),
        CASE(a_run_leads_to_its_snapshot),
        CASE(a_baseline_moves_and_says_so),
        CASE(state_names_are_those_of_the_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
