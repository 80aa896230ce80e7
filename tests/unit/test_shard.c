#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "fingerprint/shard.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static char dir[] = "/tmp/test_shard.XXXXXX";

static const char *path_of(const char *name)
{
    static char path[512];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    return path;
}

static void put_bytes(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* n bytes that are not all alike. */
static void put_pattern(const char *path, size_t n)
{
    uint8_t *bytes = malloc(n + 1);

    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)(i * 2654435761u >> 13);
    put_bytes(path, bytes, n);
    free(bytes);
}

static void sha256sum(const char *path, char ret[SHA256_TEXT_BYTES])
{
    char cmd[600];

    snprintf(cmd, sizeof(cmd), "sha256sum <'%s'", path);
    FILE *f = popen(cmd, "r");
    assert_non_null(f);
    assert_int_equal(fread(ret, 1, SHA256_TEXT_BYTES - 1, f), SHA256_TEXT_BYTES - 1);
    ret[SHA256_TEXT_BYTES - 1] = 0;
    pclose(f);
}

static void assert_no_digest(const struct shard *s)
{
    static const uint8_t zero[SHA256_BYTES];

    assert_memory_equal(s->sha256, zero, SHA256_BYTES);
}

static void sizes_around_a_read_agree_with_sha256sum(void **state)
{
    static const size_t sizes[] = {1, 63, 64, 1023, MIB - 1, MIB, MIB + 1, 3 * MIB + 17};

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        const char *path = path_of("whole");
        char expected[SHA256_TEXT_BYTES], hex[SHA256_TEXT_BYTES];
        struct shard s;
        put_pattern(path, sizes[i]);
        sha256sum(path, expected);
        shard_hash(path, NULL, NULL, &s);
        assert_int_equal(s.state, SHARD_OK);
        assert_int_equal(s.size_bytes, sizes[i]);
        assert_string_equal(s.why, "");
        assert_string_equal(sha256_text(s.sha256, hex), expected);
        unlink(path);
    }
}

static void empty_file_is_ok_and_named(void **state)
{
    char hex[SHA256_TEXT_BYTES];
    struct shard s;

    (void)state;
    put_bytes(path_of("empty"), "", 0);
    shard_hash(path_of("empty"), NULL, NULL, &s);
    assert_int_equal(s.state, SHARD_OK);
    assert_string_equal(s.why, "file is empty");
    assert_string_equal(sha256_text(s.sha256, hex),
                        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

static void flipped_byte_with_old_times_is_seen(void **state)
{
    const char *path = path_of("flip");
    struct shard before, after;
    struct stat st;

    (void)state;
    put_pattern(path, 100000);
    shard_hash(path, NULL, NULL, &before);
    assert_int_equal(stat(path, &st), 0);
    int fd = open(path, O_RDWR);
    uint8_t byte;
    assert_int_equal(pread(fd, &byte, 1, 50000), 1);
    byte ^= 0x10;
    assert_int_equal(pwrite(fd, &byte, 1, 50000), 1);
    close(fd);
    const struct timespec times[2] = {st.st_atim, st.st_mtim};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    shard_hash(path, NULL, NULL, &after);
    assert_int_equal(before.state, SHARD_OK);
    assert_int_equal(after.state, SHARD_OK);
    assert_int_equal(after.size_bytes, before.size_bytes);
    assert_memory_not_equal(after.sha256, before.sha256, SHA256_BYTES);
}

enum meddling { GROW, SHRINK, REWRITE, TOUCH };

/* What a hook does to the file at its first call, as another process would. */
struct meddler {
    const char *path;
    enum meddling how;
    int calls;
    size_t bytes;
};

static void meddle(void *ctx, size_t bytes)
{
    struct meddler *m = ctx;
    struct stat st;

    m->bytes += bytes;
    if (m->calls++ > 0)
        return;
    /* a clock tick, so that the change has times of its own */
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    assert_int_equal(stat(m->path, &st), 0);
    const struct timespec times[2] = {st.st_atim, st.st_mtim};
    int fd = open(m->path, O_RDWR);
    assert_true(fd >= 0);
    if (m->how == GROW) {
        assert_int_equal(pwrite(fd, "x", 1, st.st_size), 1);
    } else if (m->how == SHRINK) {
        assert_int_equal(ftruncate(fd, 10), 0);
    } else if (m->how == REWRITE) {
        assert_int_equal(pwrite(fd, "x", 1, 5), 1);
        assert_int_equal(futimens(fd, times), 0);
    } else {
        assert_int_equal(pwrite(fd, "x", 1, 5), 1);
    }
    close(fd);
}

static void change_during_read_gives_no_digest(void **state)
{
    static const struct {
        enum meddling how;
        const char *word;
    } cases[] = {{GROW, "size"}, {SHRINK, "ended"}, {REWRITE, "ctime"}, {TOUCH, "mtime"}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char path[512];
        struct meddler m = {.path = path, .how = cases[i].how};
        struct shard s;
        snprintf(path, sizeof(path), "%s", path_of("moving"));
        put_pattern(path, 3 * MIB);
        shard_hash(path, meddle, &m, &s);
        assert_int_equal(s.state, SHARD_CHANGED);
        assert_non_null(strstr(s.why, "changed during read"));
        assert_non_null(strstr(s.why, cases[i].word));
        assert_no_digest(&s);
        unlink(path);
    }
}

/* A sparse file of 5 GiB is opened, and cut at the first read so that nobody hashes it all. */
static void sizes_over_4_gib_are_whole(void **state)
{
    char path[512];
    struct meddler m = {.path = path, .how = SHRINK};
    struct shard s;

    (void)state;
    snprintf(path, sizeof(path), "%s", path_of("sparse"));
    put_bytes(path, "", 0);
    if (truncate(path, (off_t)5 << 30) != 0) {
        puts("skip: this file system has no files of 5 GiB");
        skip();
    }
    shard_hash(path, meddle, &m, &s);
    assert_int_equal(s.state, SHARD_CHANGED);
    assert_true(s.size_bytes == (uint64_t)5368709120);
    assert_non_null(strstr(s.why, "5368709120"));
    unlink(path);
}

static void progress_counts_every_byte(void **state)
{
    const char *path = path_of("count");
    struct meddler m = {.path = path, .calls = 1};
    struct shard s;

    (void)state;
    put_pattern(path, 2 * MIB + 5);
    shard_hash(path, meddle, &m, &s);
    assert_int_equal(s.state, SHARD_OK);
    assert_int_equal(m.bytes, 2 * MIB + 5);
}

static void fifo_and_directory_are_not_read(void **state)
{
    struct shard s;

    (void)state;
    assert_int_equal(mkfifo(path_of("fifo"), 0600), 0);
    alarm(20); /* a hang is the failure this test is for */
    shard_hash(path_of("fifo"), NULL, NULL, &s);
    alarm(0);
    assert_int_equal(s.state, SHARD_IRREGULAR);
    assert_non_null(strstr(s.why, "FIFO"));
    assert_no_digest(&s);
    assert_int_equal(mkdir(path_of("x.safetensors"), 0700), 0);
    shard_hash(path_of("x.safetensors"), NULL, NULL, &s);
    assert_int_equal(s.state, SHARD_IRREGULAR);
    assert_non_null(strstr(s.why, "directory"));
    rmdir(path_of("x.safetensors"));
}

static void missing_and_dangling_are_missing(void **state)
{
    struct shard s;

    (void)state;
    shard_hash(path_of("nowhere"), NULL, NULL, &s);
    assert_int_equal(s.state, SHARD_MISSING);
    assert_true(s.why[0] != 0);
    assert_int_equal(symlink("nowhere", path_of("dangling")), 0);
    shard_hash(path_of("dangling"), NULL, NULL, &s);
    assert_int_equal(s.state, SHARD_MISSING);
    assert_non_null(strstr(s.why, "link"));
}

static void link_is_followed(void **state)
{
    struct shard a, b;

    (void)state;
    put_pattern(path_of("blob"), 5000);
    assert_int_equal(symlink("blob", path_of("linked")), 0);
    shard_hash(path_of("blob"), NULL, NULL, &a);
    shard_hash(path_of("linked"), NULL, NULL, &b);
    assert_int_equal(b.state, SHARD_OK);
    assert_memory_equal(a.sha256, b.sha256, SHA256_BYTES);
}

static void link_loop_ends(void **state)
{
    struct shard s;

    (void)state;
    assert_int_equal(symlink("loop", path_of("loop")), 0);
    shard_hash(path_of("loop"), NULL, NULL, &s);
    assert_int_not_equal(s.state, SHARD_OK);
    assert_true(s.why[0] != 0);
}

static void mode_000_is_unreadable(void **state)
{
    struct shard s;

    (void)state;
    if (geteuid() == 0) {
        puts("skip: root reads files of mode 000");
        skip();
    }
    put_pattern(path_of("locked"), 10);
    assert_int_equal(chmod(path_of("locked"), 0), 0);
    shard_hash(path_of("locked"), NULL, NULL, &s);
    assert_int_equal(s.state, SHARD_UNREADABLE);
    assert_non_null(strstr(s.why, "ermission"));
}

#define OID "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393"
#define V1 "version https://git-lfs.github.com/spec/v1\n"

static void lfs_pointer_is_told(void **state)
{
    static const struct {
        const char *text, *word;
    } cases[] = {
        {V1 "oid sha256:" OID "\nsize 12345\n", "sha256 " OID " of 12345 bytes"},
        {"version https://hawser.github.com/spec/v1\noid sha256:" OID "\nsize 7\n", "of 7 bytes"},
        {V1 "ext-0-foo sha256:" OID "\noid sha256:" OID "\nsize 99\n", "of 99 bytes"},
        {V1, "broken"},
        {V1 "oid sha256:abc\nsize 5\n", "broken"},
        {V1 "oid sha256:" OID "\nsize five\n", "broken"},
        {V1 "oid sha256:" OID "\nsize \n", "broken"},
        {V1 "size 5", "broken"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct shard s;
        put_bytes(path_of("pointer"), cases[i].text, strlen(cases[i].text));
        shard_hash(path_of("pointer"), NULL, NULL, &s);
        assert_int_equal(s.state, SHARD_POINTER);
        assert_non_null(strstr(s.why, "LFS pointer"));
        assert_non_null(strstr(s.why, cases[i].word));
        assert_int_equal(s.size_bytes, strlen(cases[i].text));
        assert_no_digest(&s);
    }
}

/* The specification says under 1,024 bytes: what is longer is content that looks like a pointer. */
static void long_or_other_text_is_content(void **state)
{
    char text[1024];
    struct shard s;

    (void)state;
    memset(text, 'x', sizeof(text));
    memcpy(text, V1, strlen(V1));
    put_bytes(path_of("long"), text, 1024);
    shard_hash(path_of("long"), NULL, NULL, &s);
    assert_int_equal(s.state, SHARD_OK);
    put_bytes(path_of("long"), text, 1023);
    shard_hash(path_of("long"), NULL, NULL, &s);
    assert_int_equal(s.state, SHARD_POINTER);
    put_bytes(path_of("long"), "version 2\n", 10);
    shard_hash(path_of("long"), NULL, NULL, &s);
    assert_int_equal(s.state, SHARD_OK);
}

static int make_dir(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    char cmd[128];

    (void)state;
    snprintf(cmd, sizeof(cmd), "chmod -R u+rwX %s; rm -rf %s", dir, dir);
    return system(cmd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_around_a_read_agree_with_sha256sum),
        cmocka_unit_test(empty_file_is_ok_and_named),
        cmocka_unit_test(flipped_byte_with_old_times_is_seen),
        cmocka_unit_test(change_during_read_gives_no_digest),
        cmocka_unit_test(sizes_over_4_gib_are_whole),
        cmocka_unit_test(progress_counts_every_byte),
        cmocka_unit_test(fifo_and_directory_are_not_read),
        cmocka_unit_test(missing_and_dangling_are_missing),
        cmocka_unit_test(link_is_followed),
        cmocka_unit_test(link_loop_ends),
        cmocka_unit_test(mode_000_is_unreadable),
        cmocka_unit_test(lfs_pointer_is_told),
        cmocka_unit_test(long_or_other_text_is_content),
    };

    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
