#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "fingerprint/manifest.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/test_manifest.XXXXXX";

/* 255 bytes is the longest name that Linux file systems take. */
static char long_name[256];

static const char *const odd_names[] = {
    "model.safetensors", "Model.safetensors", "a:b:12:34",        "new\nline", "back\\slash",
    "caf\xc3\xa9",       "cafe\xcc\x81",      "with  two blanks", "-dash",     " lead",
    "quote'\"",          long_name,           "sub/deeper/x",     "\xff\xfe",  "$(id)",
};
#define ODD_NAMES (sizeof(odd_names) / sizeof(*odd_names))

static void put_text(const char *name, const char *text)
{
    char path[4096];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
}

static void put_odd_files(void)
{
    for (size_t i = 0; i < ODD_NAMES; i++) {
        char text[64];
        snprintf(text, sizeof(text), "content %zu", i * i);
        put_text(odd_names[i], text);
    }
}

static int empty_dir(void **state)
{
    char cmd[128], sub[64];

    (void)state;
    snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
    snprintf(sub, sizeof(sub), "%s/sub/deeper", dir);
    if (system(cmd) != 0 || mkdir(dir, 0700) != 0)
        return -1;
    snprintf(sub, sizeof(sub), "%s/sub", dir);
    if (mkdir(sub, 0700) != 0)
        return -1;
    snprintf(sub, sizeof(sub), "%s/sub/deeper", dir);
    return mkdir(sub, 0700);
}

static void hash(const char *const *names, size_t n, unsigned threads, struct manifest *ret)
{
    struct err e = {0};

    assert_int_equal(manifest_hash(dir, names, n, threads, NULL, ret, &e), 0);
}

/* The line that the header gives, word for word, run by bash. */
static void shell_digest(char ret[SHA256_TEXT_BYTES])
{
    char cmd[1024];

    snprintf(
        cmd, sizeof(cmd),
        "cd %s && bash -c 'find -L . -type f -printf '\"'\"'%%P\\0'\"'\"' | LC_ALL=C sort -z |\n"
        "while IFS= read -r -d \"\" f; do\n"
        "    printf \"%%s %%s %%s\\0\" \"$(sha256sum <\"$f\" | cut -c1-64)\" "
        "\"$(stat -Lc %%s -- \"$f\")\" \"$f\"\n"
        "done | sha256sum'",
        dir);
    FILE *f = popen(cmd, "r");
    assert_non_null(f);
    assert_int_equal(fread(ret, 1, SHA256_TEXT_BYTES - 1, f), SHA256_TEXT_BYTES - 1);
    ret[SHA256_TEXT_BYTES - 1] = 0;
    pclose(f);
}

static void odd_names_have_the_digest_that_the_shell_finds(void **state)
{
    char expected[SHA256_TEXT_BYTES], hex[SHA256_TEXT_BYTES];
    struct manifest m;

    (void)state;
    put_odd_files();
    hash(odd_names, ODD_NAMES, 3, &m);
    assert_true(m.complete);
    assert_int_equal(m.ok_count, ODD_NAMES);
    shell_digest(expected);
    assert_string_equal(sha256_text(m.digest, hex), expected);
    manifest_release(&m);
}

/* printf '<hex of "a"> 1 x\0<hex of "b"> 1 y\0' | sha256sum, by coreutils. */
static void two_small_files_have_the_digest_of_coreutils(void **state)
{
    static const char *const names[] = {"y", "x"};
    char hex[SHA256_TEXT_BYTES];
    struct manifest m;

    (void)state;
    put_text("x", "a");
    put_text("y", "b");
    hash(names, 2, 1, &m);
    assert_string_equal(sha256_text(m.items[0].sha256, hex),
                        "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb");
    assert_string_equal(sha256_text(m.digest, hex),
                        "95b1954040fe66d7ee3008b0c83a4f165ae44b8bd0115bfdc697611dae1b4ca1");
    manifest_release(&m);
}

static void order_and_threads_change_nothing(void **state)
{
    const char *backwards[ODD_NAMES];
    struct manifest a, b;

    (void)state;
    put_odd_files();
    for (size_t i = 0; i < ODD_NAMES; i++)
        backwards[i] = odd_names[ODD_NAMES - 1 - i];
    hash(odd_names, ODD_NAMES, 1, &a);
    hash(backwards, ODD_NAMES, 8, &b);
    assert_int_equal(a.count, b.count);
    for (size_t i = 0; i < a.count; i++) {
        assert_string_equal(a.items[i].path, b.items[i].path);
        assert_memory_equal(a.items[i].sha256, b.items[i].sha256, SHA256_BYTES);
        if (i > 0)
            assert_true(strcmp(a.items[i - 1].path, a.items[i].path) < 0);
    }
    assert_memory_equal(a.digest, b.digest, SHA256_BYTES);
    manifest_release(&a);
    manifest_release(&b);
}

static void name_size_and_content_are_all_covered(void **state)
{
    struct manifest_entry x = {.path = "a", .size_bytes = 5, .sha256 = {1}}, y = x;
    struct manifest m, changed;
    struct err e = {0};

    (void)state;
    assert_int_equal(manifest_of(&x, 1, &m, &e), 0);
    for (int what = 0; what < 3; what++) {
        y = x;
        if (what == 0)
            y.path = "b";
        else if (what == 1)
            y.size_bytes = 6;
        else
            y.sha256[31] = 1;
        assert_int_equal(manifest_of(&y, 1, &changed, &e), 0);
        assert_memory_not_equal(m.digest, changed.digest, SHA256_BYTES);
        manifest_release(&changed);
    }
    manifest_release(&m);
}

/* One file whose name looks like the text of two must not pass for the two. */
static void names_cannot_forge_lines(void **state)
{
    const struct manifest_entry two[] = {{.path = "a", .size_bytes = 1},
                                         {.path = "b", .size_bytes = 2}};
    char forged[256];
    struct manifest m, f;
    struct err e = {0};

    (void)state;
    memset(forged, 0, sizeof(forged));
    snprintf(forged, sizeof(forged), "a\n%064d 2 b", 0);
    const struct manifest_entry one = {.path = forged, .size_bytes = 1};
    assert_int_equal(manifest_of(two, 2, &m, &e), 0);
    assert_int_equal(manifest_of(&one, 1, &f, &e), 0);
    assert_memory_not_equal(m.digest, f.digest, SHA256_BYTES);
    manifest_release(&m);
    manifest_release(&f);
}

static void one_missing_file_leaves_no_snapshot_digest(void **state)
{
    static const char *const names[] = {"x", "gone"};
    static const uint8_t zero[SHA256_BYTES];
    struct manifest m;

    (void)state;
    put_text("x", "abc");
    hash(names, 2, 0, &m);
    assert_false(m.complete);
    assert_memory_equal(m.digest, zero, SHA256_BYTES);
    assert_int_equal(m.ok_count, 1);
    assert_int_equal(m.ok_bytes, 3);
    assert_int_equal(manifest_find(&m, "gone")->state, SHARD_MISSING);
    assert_int_equal(manifest_find(&m, "x")->state, SHARD_OK);
    assert_null(manifest_find(&m, "y"));
    manifest_release(&m);
}

static void the_empty_set_has_no_digest(void **state)
{
    struct manifest m;

    (void)state;
    hash(NULL, 0, 0, &m);
    assert_false(m.complete);
    assert_int_equal(m.count, 0);
    assert_null(manifest_find(&m, "x"));
    manifest_release(&m);
}

static void names_that_leave_the_folder_are_not_opened(void **state)
{
    static const char *const names[] = {"../outside", "sub/../../outside", "/etc/passwd", "", "..",
                                        "sub/.."};
    struct manifest m;

    (void)state;
    hash(names, 6, 2, &m);
    for (size_t i = 0; i < m.count; i++) {
        assert_int_equal(m.items[i].state, SHARD_UNREADABLE);
        assert_non_null(strstr(m.items[i].why, "not opened"));
        assert_int_equal(m.items[i].size_bytes, 0);
    }
    manifest_release(&m);
}

static void dots_inside_a_name_are_harmless(void **state)
{
    static const char *const names[] = {"..a", "b..", "..."};
    struct manifest m;

    (void)state;
    for (size_t i = 0; i < 3; i++)
        put_text(names[i], "x");
    hash(names, 3, 2, &m);
    assert_true(m.complete);
    manifest_release(&m);
}

static void a_path_named_twice_is_an_error(void **state)
{
    static const char *const names[] = {"x", "y", "x"};
    struct manifest m = {.count = 77};
    struct err e = {0};

    (void)state;
    put_text("x", "1");
    put_text("y", "1");
    assert_int_equal(manifest_hash(dir, names, 3, 2, NULL, &m, &e), ERR_USAGE);
    assert_non_null(strstr(e.msg, "x: named twice"));
    assert_int_equal(m.count, 77);
}

static void a_path_too_long_is_a_finding(void **state)
{
    static char name[5000];
    const char *names[] = {name};
    struct manifest m;

    (void)state;
    memset(name, 'n', sizeof(name) - 1);
    hash(names, 1, 1, &m);
    assert_int_equal(m.items[0].state, SHARD_UNREADABLE);
    assert_true(m.items[0].why[0] != 0);
    manifest_release(&m);
}

struct watch {
    _Atomic uint64_t most, total;
    _Atomic int calls;
};

static void on_tick(void *ctx, const char *what, uint64_t done, uint64_t total, const char *unit)
{
    struct watch *w = ctx;
    uint64_t most = w->most;

    if (strcmp(what, "hashing") != 0 || strcmp(unit, "B") != 0)
        abort();
    while (done > most && !atomic_compare_exchange_weak(&w->most, &most, done))
        ;
    w->total = total;
    w->calls++;
}

static void progress_reaches_its_total(void **state)
{
    static const char *const names[] = {"x", "y", "missing"};
    struct watch w = {0};
    const struct progress p = {.tick = on_tick, .ctx = &w};
    struct manifest m;
    struct err e = {0};

    (void)state;
    put_text("x", "12345");
    put_text("y", "123");
    assert_int_equal(manifest_hash(dir, names, 3, 2, &p, &m, &e), 0);
    assert_int_equal(w.total, 8);
    assert_int_equal(w.most, 8);
    assert_int_equal(w.calls, 2);
    manifest_release(&m);
}

static void entries_from_a_store_are_copied_and_sorted(void **state)
{
    char path[] = "b";
    struct manifest_entry x[] = {{.path = path, .size_bytes = 1, .sha256 = {9}},
                                 {.path = "a", .state = SHARD_POINTER, .why = "w", .sha256 = {7}}};
    struct manifest m;
    struct err e = {0};

    (void)state;
    assert_int_equal(manifest_of(x, 2, &m, &e), 0);
    path[0] = 'z';
    assert_string_equal(m.items[0].path, "a");
    assert_string_equal(m.items[0].why, "w");
    assert_int_equal(m.items[0].sha256[0], 0);
    assert_string_equal(m.items[1].path, "b");
    assert_string_equal(m.items[1].why, "");
    assert_false(m.complete);
    manifest_release(&m);
}

static void sizes_that_overflow_are_an_error(void **state)
{
    const struct manifest_entry x[] = {{.path = "a", .size_bytes = UINT64_MAX},
                                       {.path = "b", .size_bytes = 1}};
    struct manifest m;
    struct err e = {0};

    (void)state;
    assert_int_equal(manifest_of(x, 2, &m, &e), ERR_LIMIT);
    assert_non_null(strstr(e.msg, "64 bits"));
}

static void facts_of_a_whole_set(void **state)
{
    static const char *const names[] = {"x", "y"};
    char hex[SHA256_TEXT_BYTES];
    struct fact_list l;
    struct manifest m;
    struct err e = {0};

    (void)state;
    put_text("x", "12345");
    put_text("y", "123");
    hash(names, 2, 2, &m);
    fact_list_init(&l);
    struct fact_sink sink = fact_list_sink(&l);
    assert_int_equal(manifest_facts(&m, &sink, &e), 0);
    const struct fact *digest = fact_list_find(&l, FACT_FINGERPRINT_DIGEST, "");
    assert_int_equal(digest->state, FACT_KNOWN);
    assert_string_equal(digest->text, sha256_text(m.digest, hex));
    assert_int_equal(fact_list_find(&l, FACT_FINGERPRINT_FILES, "")->i, 2);
    assert_int_equal(fact_list_find(&l, FACT_FINGERPRINT_BYTES, "")->i, 8);
    assert_null(fact_list_find(&l, FACT_FINGERPRINT_PROBLEM, NULL));
    fact_list_release(&l);
    manifest_release(&m);
}

static void facts_name_what_stands_in_the_way(void **state)
{
    static const char *const names[] = {"x", "g1", "g\n2", "g3", "g4", "nil"};
    struct fact_list l;
    struct manifest m;
    struct err e = {0};

    (void)state;
    put_text("x", "12345");
    put_text("nil", "");
    hash(names, 6, 2, &m);
    fact_list_init(&l);
    struct fact_sink sink = fact_list_sink(&l);
    assert_int_equal(manifest_facts(&m, &sink, &e), 0);
    const struct fact *digest = fact_list_find(&l, FACT_FINGERPRINT_DIGEST, "");
    assert_int_equal(digest->state, FACT_UNKNOWN);
    assert_string_equal(digest->why,
                        "4 of 6 files have no digest: g\\x0a2 (missing), g1 (missing), "
                        "g3 (missing) and 1 more");
    assert_int_equal(fact_list_find(&l, FACT_FINGERPRINT_FILES, "")->i, 2);
    assert_int_equal(fact_list_find(&l, FACT_FINGERPRINT_BYTES, "")->i, 5);
    const struct fact *problem = fact_list_find(&l, FACT_FINGERPRINT_PROBLEM, "g\\x0a2");
    assert_non_null(problem);
    assert_int_equal(strncmp(problem->text, "missing: ", 9), 0);
    problem = fact_list_find(&l, FACT_FINGERPRINT_PROBLEM, "nil");
    assert_string_equal(problem->text, "empty: file is empty");
    assert_null(fact_list_find(&l, FACT_FINGERPRINT_PROBLEM, "x"));
    fact_list_release(&l);
    manifest_release(&m);
}

static int refuse(void *ctx, const struct fact *f, struct err *e)
{
    (void)ctx;
    (void)f;
    return err_set(e, ERR_DB, "the store refused");
}

static void a_refusing_sink_ends_it(void **state)
{
    const struct fact_sink sink = {.put = refuse};
    struct manifest m;
    struct err e = {0};

    (void)state;
    hash(NULL, 0, 0, &m);
    assert_int_equal(manifest_facts(&m, &sink, &e), ERR_DB);
    assert_string_equal(e.msg, "the store refused");
    manifest_release(&m);
}

static int make_dir(void **state)
{
    (void)state;
    memset(long_name, 'l', 255);
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    char cmd[128];

    (void)state;
    snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
    return system(cmd);
}

#define CASE(name) cmocka_unit_test_setup(name, empty_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(odd_names_have_the_digest_that_the_shell_finds),
        CASE(two_small_files_have_the_digest_of_coreutils),
        CASE(order_and_threads_change_nothing),
        CASE(name_size_and_content_are_all_covered),
        CASE(names_cannot_forge_lines),
        CASE(one_missing_file_leaves_no_snapshot_digest),
        CASE(the_empty_set_has_no_digest),
        CASE(names_that_leave_the_folder_are_not_opened),
        CASE(dots_inside_a_name_are_harmless),
        CASE(a_path_named_twice_is_an_error),
        CASE(a_path_too_long_is_a_finding),
        CASE(progress_reaches_its_total),
        CASE(entries_from_a_store_are_copied_and_sorted),
        CASE(sizes_that_overflow_are_an_error),
        CASE(facts_of_a_whole_set),
        CASE(facts_name_what_stands_in_the_way),
        CASE(a_refusing_sink_ends_it),
    };

    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
