#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "core/clock.h"
#include "db/db.c"
#include "db/run.h"
#include "db/snapshot.h"
#include "db/view.h"

/* Each case gets an empty folder and works in it. */
static char start[FILE_PATH_BYTES], folder[64];

static int enter(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/assay-test-XXXXXX");
    return !getcwd(start, sizeof(start)) || !mkdtemp(folder) || chmod(folder, 0777) != 0 ||
           chdir(folder) != 0;
}

static int leave(void **state)
{
    char command[200];

    (void)state;
    (void)snprintf(command, sizeof(command), "chmod -R u+rwx %s; rm -rf %s", folder, folder);
    return chdir(start) != 0 || system(command) != 0;
}

static struct db *opened(const char *path, enum db_mode mode)
{
    struct db *db = NULL;
    struct err e = {0};

    if (db_open(path, mode, &db, &e) != 0)
        fail_msg("%s: %s", path, e.msg);
    return db;
}

static void refused(const char *path, enum db_mode mode, enum err_code code, const char *words)
{
    struct db *db = (struct db *)&db;
    struct err e = {0};

    alarm(60);
    if (db_open(path, mode, &db, &e) != (int)code || !strstr(e.msg, words) || !strstr(e.msg, path))
        fail_msg("%s: code %d, message \"%s\"", path, e.code, e.msg);
    assert_ptr_equal(db, &db);
    alarm(0);
}

static int64_t number(struct db *db, const char *text)
{
    int64_t n = -1;
    struct err e = {0};

    if (read_int(db, text, &n, &e) != 0)
        fail_msg("%s: %s", text, e.msg);
    return n;
}

/* SQLite's own tool-free way: a plain handle of our own, without the store's code. */
static void raw(const char *path, const char *text)
{
    sqlite3 *h;
    char *why = NULL;

    assert_int_equal(sqlite3_open(path, &h), SQLITE_OK);
    if (sqlite3_exec(h, text, NULL, NULL, &why) != SQLITE_OK)
        fail_msg("%s: %s", text, why);
    sqlite3_close(h);
}

/* Runs work(path) in a process that is not root, in this folder; its exit status. */
static int as_nobody(int (*work)(void))
{
    int status;

    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(77);
        _exit(work());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void new_store_has_identity_and_rules(void **state)
{
    struct db *db = opened("a/b/new.db", DB_WRITE);

    (void)state;
    assert_int_equal(number(db, "PRAGMA application_id"), 0x61736179); /* "asay" */
    assert_int_equal(number(db, "PRAGMA user_version"), 1);
    assert_int_equal(number(db, "PRAGMA foreign_keys"), 1);
    assert_int_equal(number(db, "PRAGMA busy_timeout"), 10000);
    assert_int_equal(number(db, "SELECT count(*) FROM pragma_journal_mode WHERE "
                                "journal_mode = 'wal'"),
                     1);
    assert_int_equal(number(db, "SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND "
                                "name NOT LIKE 'sqlite%' AND NOT strict"),
                     0);
    assert_int_equal(number(db, "SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND "
                                "name NOT LIKE 'sqlite%'"),
                     11);
    db_close(db);
    db_close(opened("a/b/new.db", DB_WRITE));
    db_close(opened("a/b/new.db", DB_READ));
    db_close(NULL);
}

static void default_path_follows_xdg(void **state)
{
    char path[200], small[10];
    struct err e = {0};

    (void)state;
    char *state_home = getenv("XDG_STATE_HOME") ? strdup(getenv("XDG_STATE_HOME")) : NULL;
    char *home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
    setenv("XDG_STATE_HOME", "/s", 1);
    setenv("HOME", "/h", 1);
    assert_int_equal(db_default_path(path, sizeof(path), &e), 0);
    assert_string_equal(path, "/s/assay/assay.db");
    assert_int_equal(db_default_path(small, sizeof(small), &e), ERR_LIMIT);
    setenv("XDG_STATE_HOME", "relative", 1);
    assert_int_equal(db_default_path(path, sizeof(path), &e), 0);
    assert_string_equal(path, "/h/.local/state/assay/assay.db");
    unsetenv("XDG_STATE_HOME");
    assert_int_equal(db_default_path(path, sizeof(path), &e), 0);
    assert_string_equal(path, "/h/.local/state/assay/assay.db");
    unsetenv("HOME");
    assert_int_equal(db_default_path(path, sizeof(path), &e), ERR_NOTFOUND);
    if (home)
        setenv("HOME", home, 1);
    if (state_home)
        setenv("XDG_STATE_HOME", state_home, 1);
    free(home);
    free(state_home);
}

static void foreign_files_are_refused_and_untouched(void **state)
{
    static char words[5000];
    struct buf before, after;
    struct err e = {0};

    (void)state;
    memset(words, 'x', sizeof(words));
    assert_int_equal(file_write("text", words, sizeof(words), &e), 0);
    refused("text", DB_WRITE, ERR_DB, "--db");
    refused("text", DB_READ, ERR_DB, "--db");
    raw("other.db", "CREATE TABLE t (x); INSERT INTO t VALUES (1)");
    buf_init(&before, 1 << 20);
    buf_init(&after, 1 << 20);
    assert_int_equal(file_read("other.db", &before, &e), 0);
    refused("other.db", DB_WRITE, ERR_DB, "another program");
    refused("other.db", DB_READ, ERR_DB, "another program");
    assert_int_equal(file_read("other.db", &after, &e), 0);
    assert_int_equal(before.len, after.len);
    assert_memory_equal(before.data, after.data, after.len);
    buf_release(&before);
    buf_release(&after);
    raw("id.db", "PRAGMA application_id = 252006673"); /* Fossil's */
    refused("id.db", DB_WRITE, ERR_DB, "another program");
    assert_int_equal(mkdir("dir", 0700), 0);
    refused("dir", DB_WRITE, ERR_DB, "is no file");
    refused("dir", DB_READ, ERR_DB, "is no file");
    assert_int_equal(mkfifo("fifo", 0600), 0);
    refused("fifo", DB_WRITE, ERR_DB, "is no file");
    refused("text/x.db", DB_WRITE, ERR_DB, "cannot create the folder");
    refused("", DB_WRITE, ERR_DB, "");
}

static void missing_store_is_not_found_by_readers(void **state)
{
    struct err e = {0};

    (void)state;
    refused("none.db", DB_READ, ERR_NOTFOUND, "does not exist");
    assert_int_not_equal(access("none.db", F_OK), 0);
    assert_int_equal(file_write("empty.db", "", 0, &e), 0);
    refused("empty.db", DB_READ, ERR_NOTFOUND, "empty");
    db_close(opened("empty.db", DB_WRITE));
    db_close(opened("empty.db", DB_READ));
}

static void damaged_store_is_refused(void **state)
{
    struct err e = {0};
    struct buf b;

    (void)state;
    db_close(opened("x.db", DB_WRITE));
    buf_init(&b, 1 << 20);
    assert_int_equal(file_read("x.db", &b, &e), 0);
    assert_true(b.len > 8192);
    memset(b.data + 100, 0xff, 3900); /* the first page holds the schema */
    assert_int_equal(file_write("x.db", b.data, b.len, &e), 0);
    refused("x.db", DB_WRITE, ERR_DB, "damaged");
    refused("x.db", DB_READ, ERR_DB, "damaged");
    buf_release(&b);
}

static void newer_and_older_versions_are_told_apart(void **state)
{
    (void)state;
    db_close(opened("x.db", DB_WRITE));
    raw("x.db", "PRAGMA user_version = 2");
    refused("x.db", DB_WRITE, ERR_DB, "version 2, and this assay knows up to 1");
    refused("x.db", DB_READ, ERR_DB, "newer assay");
    raw("x.db", "PRAGMA user_version = 0");
    refused("x.db", DB_WRITE, ERR_DB, "another program");
}

static const char second[] = "ALTER TABLE subject ADD COLUMN note TEXT NOT NULL DEFAULT 'n';"
                             "PRAGMA user_version = 2";
static const char broken[] = "ALTER TABLE subject ADD COLUMN more TEXT; DROP TABLE gone;"
                             "PRAGMA user_version = 3";
static const char forgetful[] = "ALTER TABLE subject ADD COLUMN more TEXT;";

/* Version 1 stands for the older store, an invented version 2 for the newer assay. */
static void migrations_keep_rows_and_are_whole(void **state)
{
    const char *const list[] = {schema_1, second, broken};
    const char *const bad[] = {schema_1, second, forgetful};
    struct db *db = opened("x.db", DB_WRITE);
    struct err e = {0};
    int64_t id;

    (void)state;
    assert_int_equal(snapshot_subject_put(db, "/m", "folder", &id, &e), 0);
    db_close(db);
    db = opened("x.db", DB_WRITE);
    sqlite3_set_authorizer(db->handle, NULL, NULL);
    assert_int_equal(migrate(db, list, 2, &e), 0);
    assert_int_equal(number(db, "PRAGMA user_version"), 2);
    assert_int_equal(number(db, "SELECT count(*) FROM subject WHERE name = '/m' AND note = 'n'"),
                     1);
    /* a second time is nothing */
    assert_int_equal(migrate(db, list, 2, &e), 0);
    /* one that breaks half way leaves version 2 */
    assert_int_equal(migrate(db, list, 3, &e), ERR_DB);
    if (!strstr(e.msg, "no such table: gone"))
        fail_msg("%s", e.msg);
    assert_int_equal(migrate(db, bad, 3, &e), ERR_DB);
    assert_non_null(strstr(e.msg, "version of its migration"));
    assert_int_equal(number(db, "PRAGMA user_version"), 2);
    assert_int_equal(number(db, "SELECT count(*) FROM pragma_table_info('subject') WHERE "
                                "name = 'more'"),
                     0);
    db_close(db);
    refused("x.db", DB_WRITE, ERR_DB, "version 2");
}

static void transactions_nest_and_undo_to_the_outermost(void **state)
{
    struct db *db = opened("x.db", DB_WRITE);
    struct err e = {0};
    int64_t id;

    (void)state;
    assert_int_equal(db_begin(db, &e), 0);
    assert_int_equal(snapshot_subject_put(db, "a", "folder", &id, &e), 0);
    assert_int_equal(db_begin(db, &e), 0);
    assert_int_equal(snapshot_subject_put(db, "b", "folder", &id, &e), 0);
    assert_int_equal(db_commit(db, &e), 0);
    struct db *other = opened("x.db", DB_READ);
    assert_int_equal(number(other, "SELECT count(*) FROM subject"), 0);
    assert_int_equal(db_commit(db, &e), 0);
    assert_int_equal(number(other, "SELECT count(*) FROM subject"), 2);

    assert_int_equal(db_begin(db, &e), 0);
    assert_int_equal(snapshot_subject_put(db, "c", "folder", &id, &e), 0);
    assert_int_equal(db_begin(db, &e), 0);
    db_rollback(db);
    db_rollback(db);
    assert_int_equal(db_commit(db, &e), ERR_DB);
    assert_int_equal(number(other, "SELECT count(*) FROM subject"), 2);
    /* closing undoes what was not committed */
    assert_int_equal(db_begin(db, &e), 0);
    assert_int_equal(snapshot_subject_put(db, "d", "folder", &id, &e), 0);
    db_close(db);
    assert_int_equal(number(other, "SELECT count(*) FROM subject"), 2);
    db_close(other);
}

/* A reader's transaction sees one state while a writer goes on. */
static void readers_do_not_wait_for_writers(void **state)
{
    struct db *db = opened("x.db", DB_WRITE), *other = opened("x.db", DB_READ);
    struct err e = {0};
    int64_t id;

    (void)state;
    assert_int_equal(db_begin(other, &e), 0);
    assert_int_equal(number(other, "SELECT count(*) FROM subject"), 0);
    assert_int_equal(snapshot_subject_put(db, "a", "folder", &id, &e), 0);
    assert_int_equal(number(other, "SELECT count(*) FROM subject"), 0);
    assert_int_equal(db_commit(other, &e), 0);
    assert_int_equal(number(other, "SELECT count(*) FROM subject"), 1);
    assert_int_equal(snapshot_subject_put(other, "b", "folder", &id, &e), ERR_DB);
    db_close(other);
    db_close(db);
}

static void what_is_written_once_cannot_be_changed(void **state)
{
    static const char *const tries[] = {"UPDATE fact SET whole = 1",
                                        "DELETE FROM fact",
                                        "UPDATE point SET y = 1",
                                        "DELETE FROM load",
                                        "UPDATE support SET status = 'x'",
                                        "UPDATE file SET sha256 = 'x'",
                                        "DELETE FROM file",
                                        "UPDATE fact SET text = 'x' WHERE 0"};
    struct db *db = opened("x.db", DB_WRITE);
    struct err e = {0};
    int64_t subject, run;

    (void)state;
    assert_int_equal(snapshot_subject_put(db, "/m", "folder", &subject, &e), 0);
    assert_int_equal(run_begin(db, subject, "p", "{}", &run, &e), 0);
    struct run_ctx ctx = {db, run};
    struct fact_sink sink = run_sink(&ctx);
    assert_int_equal(fact_put_int(&sink, FACT_MODEL_LAYERS, "", 61, "config.json", &e), 0);
    for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
        struct err why = {0};
        if (sql_exec(db, tries[i], &why) != ERR_DB || !strstr(why.msg, "not authorized"))
            fail_msg("%s: \"%s\"", tries[i], why.msg);
    }
    assert_int_equal(number(db, "SELECT whole FROM fact"), 61);
    db_close(db);
}

static int write_as_nobody(void)
{
    struct db *db;
    struct err e = {0};

    int rc = db_open("x.db", DB_WRITE, &db, &e);
    if (rc == ERR_DB && strstr(e.msg, "x.db") && strstr(e.msg, "--db"))
        return 0;
    fprintf(stderr, "%d %s\n", rc, e.msg);
    return 1;
}

static int read_as_nobody(void)
{
    struct db *db;
    struct err e = {0};
    int64_t n = 0, id;

    if (db_open("x.db", DB_READ, &db, &e) != 0 ||
        read_int(db, "SELECT count(*) FROM subject", &n, &e) != 0 || n != 1) {
        fprintf(stderr, "%lld %s\n", (long long)n, e.msg);
        return 1;
    }
    if (e.code) { /* of the first of two ways to open it */
        fprintf(stderr, "an error beside success: %s\n", e.msg);
        return 3;
    }
    bool refused_write = snapshot_subject_put(db, "n", "folder", &id, &e) == ERR_DB;
    db_close(db);
    return refused_write ? 0 : 2;
}

static int wait_as_nobody(void)
{
    struct db *db;
    struct err e = {0};

    int rc = db_open("x.db", DB_READ, &db, &e);
    if (rc == ERR_DB && strstr(e.msg, "-wal"))
        return 0;
    fprintf(stderr, "%d %s\n", rc, e.msg);
    return 1;
}

static void check_as_nobody(int (*work)(void))
{
    int status = as_nobody(work);

    if (status == 77) {
        puts("skip: cannot become a user without rights");
        skip();
    }
    assert_int_equal(status, 0);
}

static void read_only_file_and_folder(void **state)
{
    struct db *db = opened("x.db", DB_WRITE);
    struct err e = {0};
    int64_t id;

    (void)state;
    assert_int_equal(snapshot_subject_put(db, "/m", "folder", &id, &e), 0);
    db_close(db);
    /* a file that is read-only, in a folder that is not */
    assert_int_equal(chmod("x.db", 0444), 0);
    check_as_nobody(write_as_nobody);
    check_as_nobody(read_as_nobody);
    assert_int_equal(unlink("x.db-wal") == 0 || errno == ENOENT, 1);
    assert_int_equal(unlink("x.db-shm") == 0 || errno == ENOENT, 1);
    /* a folder that is read-only, as on a read-only disk */
    assert_int_equal(chmod("x.db", 0666), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    check_as_nobody(write_as_nobody);
    check_as_nobody(read_as_nobody);
    assert_int_equal(chmod(folder, 0777), 0);
}

/* A writer that was killed left its last changes beside the file; without them a reader would show
 * an old state as the present one. */
static void changes_that_cannot_be_read_are_told(void **state)
{
    struct err e = {0};
    int status;

    (void)state;
    pid_t child = fork();
    if (child == 0) {
        struct db *db = opened("x.db", DB_WRITE);
        int64_t id;
        if (snapshot_subject_put(db, "/m", "folder", &id, &e) != 0)
            _exit(1);
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_true(has_waiting_changes("x.db"));
    assert_int_equal(unlink("x.db-shm"), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    check_as_nobody(wait_as_nobody);
    assert_int_equal(chmod(folder, 0777), 0);
    struct db *db = opened("x.db", DB_WRITE);
    assert_int_equal(number(db, "SELECT count(*) FROM subject"), 1);
    db_close(db);
}

static void odd_names_of_files_work(void **state)
{
    static const char *const names[] = {"a?b#c%41.db", "file:x.db", "-x.db",
                                        ":memory:",    "\xff.db",   "a b.db"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        db_close(opened(names[i], DB_WRITE));
        assert_int_equal(access(names[i], F_OK), 0);
        db_close(opened(names[i], DB_READ));
        struct db db = {.path = (char *)(uintptr_t)names[i], .read_only = true};
        struct err e = {0};
        char *uri = immutable_uri(names[i]);
        assert_int_equal(open_handle(&db, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, &e), 0);
        assert_int_equal(number(&db, "PRAGMA application_id"), APPLICATION_ID);
        sql_disconnect(&db);
        free(uri);
    }
}

static void memory_store_leaves_nothing(void **state)
{
    struct db *db = opened(NULL, DB_MEMORY);
    struct err e = {0};
    int64_t id;

    (void)state;
    assert_int_equal(snapshot_subject_put(db, "/m", "folder", &id, &e), 0);
    db_close(db);
    assert_int_not_equal(access(":memory:", F_OK), 0);
    assert_int_not_equal(access("in memory", F_OK), 0);
}

/* --- many processes ------------------------------------------------------------------------------
 */

/* One transaction as an audit makes them: a run with facts, whole or not at all. */
static int one_run(struct db *db, int64_t subject, int64_t mark, struct err *e)
{
    int64_t run;
    int rc = db_begin(db, e);

    if (!rc)
        rc = run_begin(db, subject, "p", "{}", &run, e);
    for (int i = 0; i < 5 && !rc; i++) {
        char scope[40];
        struct run_ctx ctx = {db, run};
        struct fact_sink sink = run_sink(&ctx);
        (void)snprintf(scope, sizeof(scope), "%lld.%d", (long long)mark, i);
        rc = fact_put_int(&sink, FACT_MODEL_LAYERS, scope, mark, "test", e);
    }
    if (!rc)
        rc = run_finish(db, run, e);
    if (!rc)
        rc = db_commit(db, e);
    if (rc)
        db_rollback(db);
    return rc;
}

#define TRANSACTIONS 200

static void two_writers_lose_nothing(void **state)
{
    pid_t children[2];
    int status;

    (void)state;
    for (int c = 0; c < 2; c++) {
        children[c] = fork();
        if (children[c] != 0)
            continue;
        struct db *db;
        struct err e = {0};
        int64_t subject;
        /* the first to come creates the store, the other waits */
        int rc = db_open("x.db", DB_WRITE, &db, &e);
        if (!rc)
            rc = snapshot_subject_put(db, "/m", "folder", &subject, &e);
        for (int i = 0; i < TRANSACTIONS && !rc; i++)
            rc = one_run(db, subject, c * 1000 + i, &e);
        if (rc)
            fprintf(stderr, "writer %d: %s\n", c, e.msg);
        else
            db_close(db);
        _exit(rc != 0);
    }
    for (int c = 0; c < 2; c++) {
        assert_int_equal(waitpid(children[c], &status, 0), children[c]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    struct db *db = opened("x.db", DB_READ);
    assert_int_equal(number(db, "SELECT count(*) FROM subject"), 1);
    assert_int_equal(number(db, "SELECT count(*) FROM run"), 2 * TRANSACTIONS);
    assert_int_equal(number(db, "SELECT count(*) FROM fact"), 2 * TRANSACTIONS * 5);
    assert_int_equal(number(db, "SELECT count(DISTINCT whole) FROM fact"), 2 * TRANSACTIONS);
    db_close(db);
}

/* Twenty times a writer is killed at some moment. Afterwards the store opens, is sound, and has
 * only whole runs, none fewer than the writer said it had committed. */
static void killed_writers_leave_a_sound_store(void **state)
{
    int64_t committed = 0;

    (void)state;
    srand((unsigned)clock_ns());
    db_close(opened("x.db", DB_WRITE));
    for (int round = 0; round < 20; round++) {
        int pipes[2], status;
        unsigned char done;
        assert_int_equal(pipe(pipes), 0);
        pid_t child = fork();
        if (child == 0) {
            struct err e = {0};
            struct db *db;
            int64_t subject;
            if (db_open("x.db", DB_WRITE, &db, &e) != 0 ||
                snapshot_subject_put(db, "/m", "folder", &subject, &e) != 0)
                _exit(1);
            for (int64_t i = 0;; i++) {
                if (one_run(db, subject, round * 1000000 + i, &e) != 0 ||
                    write(pipes[1], "x", 1) != 1)
                    _exit(1);
            }
        }
        close(pipes[1]);
        assert_int_equal(read(pipes[0], &done, 1), 1); /* at work */
        committed++;
        usleep((useconds_t)(rand() % 20000));
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        while (read(pipes[0], &done, 1) == 1)
            committed++;
        close(pipes[0]);
        struct db *db = opened("x.db", round % 2 ? DB_WRITE : DB_READ);
        assert_int_equal(number(db, "SELECT count(*) FROM pragma_integrity_check WHERE "
                                    "integrity_check = 'ok'"),
                         1);
        assert_int_equal(number(db, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
        int64_t runs = number(db, "SELECT count(*) FROM run");
        assert_true(runs >= committed);
        assert_int_equal(number(db, "SELECT count(*) FROM run WHERE finished IS NULL"), 0);
        assert_int_equal(number(db, "SELECT count(*) FROM fact"), runs * 5);
        committed = runs; /* a commit may have come after the last word of its writer */
        db_close(db);
    }
}

/* A limit on the size of files stands in for a full disk. The run that did not fit is undone whole,
 * those before it stay. */
static void full_disk_undoes_one_run(void **state)
{
    int pipes[2], status;
    int64_t committed = 0;

    (void)state;
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {300000, 300000};
        struct err e = {0};
        struct db *db;
        int64_t subject;
        int rc;
        signal(SIGXFSZ, SIG_IGN);
        if (db_open("x.db", DB_WRITE, &db, &e) != 0 ||
            snapshot_subject_put(db, "/m", "folder", &subject, &e) != 0 ||
            setrlimit(RLIMIT_FSIZE, &limit) != 0)
            _exit(2);
        for (int64_t i = 0; (rc = one_run(db, subject, i, &e)) == 0 && i < 100000; i++)
            committed++;
        if (write(pipes[1], &committed, sizeof(committed)) != sizeof(committed))
            _exit(3);
        if (rc != ERR_DB || !strstr(e.msg, "x.db"))
            fprintf(stderr, "%d %s\n", rc, e.msg);
        _exit(rc == ERR_DB && strstr(e.msg, "x.db") ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(read(pipes[0], &committed, sizeof(committed)), sizeof(committed));
    close(pipes[0]);
    close(pipes[1]);
    assert_true(committed > 0);
    struct db *db = opened("x.db", DB_WRITE);
    assert_int_equal(number(db, "SELECT count(*) FROM pragma_integrity_check WHERE "
                                "integrity_check = 'ok'"),
                     1);
    assert_int_equal(number(db, "SELECT count(*) FROM run"), committed);
    assert_int_equal(number(db, "SELECT count(*) FROM fact"), committed * 5);
    db_close(db);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(new_store_has_identity_and_rules),
        CASE(default_path_follows_xdg),
        CASE(foreign_files_are_refused_and_untouched),
        CASE(missing_store_is_not_found_by_readers),
        CASE(damaged_store_is_refused),
        CASE(newer_and_older_versions_are_told_apart),
        CASE(migrations_keep_rows_and_are_whole),
        CASE(transactions_nest_and_undo_to_the_outermost),
        CASE(readers_do_not_wait_for_writers),
        CASE(what_is_written_once_cannot_be_changed),
        CASE(read_only_file_and_folder),
        CASE(changes_that_cannot_be_read_are_told),
        CASE(odd_names_of_files_work),
        CASE(memory_store_leaves_nothing),
        CASE(two_writers_lose_nothing),
        CASE(killed_writers_leave_a_sound_store),
        CASE(full_disk_undoes_one_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
