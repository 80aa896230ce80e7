#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
/* A signal that comes in the middle of a file being written. */
static int signal_at_fsync;
static int fsync_with_signal(int fd);
#define fsync fsync_with_signal
#include "core/file.c"
#undef fsync

static int fsync_with_signal(int fd)
{
    if (signal_at_fsync)
        raise(signal_at_fsync);
    return fsync(fd);
}

/* Each case gets an empty folder and works in it. */
static char start[FILE_PATH_BYTES], folder[64];

static int enter(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/assay-test-XXXXXX");
    return !getcwd(start, sizeof(start)) || !mkdtemp(folder) || chdir(folder) != 0;
}

static int leave(void **state)
{
    char command[200];

    (void)state;
    (void)snprintf(command, sizeof(command), "chmod -R u+rwx %s; rm -rf %s", folder, folder);
    return chdir(start) != 0 || system(command) != 0;
}

static void make(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    fclose(f);
}

static void holds(const char *path, const char *text)
{
    struct buf b;
    struct err e = {0};

    buf_init(&b, 1 << 20);
    assert_int_equal(file_read(path, &b, &e), 0);
    assert_string_equal(b.data, text);
    buf_release(&b);
}

static int entries(const char *path)
{
    int n = -2; /* . and .. */
    DIR *d = opendir(path);

    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static void open_tells_size_and_identity(void **state)
{
    struct file_stat a, b;
    struct err e = {0};
    struct stat st;
    int fd;

    (void)state;
    make("x", "hello");
    assert_int_equal(symlink("x", "link"), 0);
    assert_int_equal(file_open("link", &fd, &a, &e), 0);
    assert_int_equal(file_fstat(fd, &b, &e), 0);
    assert_int_equal(stat("x", &st), 0);
    assert_int_equal(a.size_bytes, 5);
    assert_int_equal(a.inode, st.st_ino);
    assert_int_equal(a.mtime_ns, (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec);
    assert_memory_equal(&a, &b, sizeof(a));
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close(fd);
    assert_int_equal(file_fstat(-1, &b, &e), ERR_IO);
}

static void refused(const char *path, enum err_code code, const char *words)
{
    struct err e = {0};
    int fd = 99;

    alarm(10); /* a FIFO would block for ever */
    if (file_open(path, &fd, NULL, &e) != (int)code || !strstr(e.msg, words))
        fail_msg("%s: code %d, message \"%s\"", path, e.code, e.msg);
    assert_int_equal(fd, 99);
    alarm(0);
}

static void open_refuses_what_is_no_file(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};

    (void)state;
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(mkdir("dir", 0700), 0);
    assert_int_equal(symlink("nowhere", "dangling"), 0);
    assert_int_equal(symlink("loop", "loop"), 0);
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(s, (struct sockaddr *)&address, sizeof(address)), 0);
    make("plain", "");
    refused("fifo", ERR_UNSUPPORTED, "a FIFO");
    refused("dir", ERR_UNSUPPORTED, "a directory");
    refused("/dev/null", ERR_UNSUPPORTED, "a device");
    refused("socket", ERR_UNSUPPORTED, "a socket");
    refused("dangling", ERR_NOTFOUND, "a symbolic link to nothing");
    refused("missing", ERR_NOTFOUND, "No such file");
    refused("plain/x", ERR_NOTFOUND, "Not a directory");
    refused("loop", ERR_IO, "symbolic links");
    refused("", ERR_NOTFOUND, "No such file");
    close(s);
}

/* As a user without rights, since root may read everything. */
static void mode_000_is_an_io_error(void **state)
{
    int status;

    (void)state;
    make("secret", "x");
    assert_int_equal(chmod("secret", 0), 0);
    assert_int_equal(chmod(folder, 0755), 0);
    pid_t child = fork();
    if (child == 0) {
        struct err e = {0};
        int fd;
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(77);
        _exit(file_open("secret", &fd, NULL, &e) == ERR_IO &&
                      strcmp(e.msg, "cannot read secret: Permission denied") == 0
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) {
        puts("skip: cannot become a user without rights");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void read_at_gives_exactly_the_range(void **state)
{
    struct err e = {0};
    char got[8] = "zzzzzzz";
    int fd;

    (void)state;
    make("x", "0123456789");
    assert_int_equal(file_open("x", &fd, NULL, &e), 0);
    assert_int_equal(file_read_at(fd, got, 4, 3, &e), 0);
    assert_memory_equal(got, "3456zzz", 7);
    assert_int_equal(file_read_at(fd, got, 0, 10, &e), 0);
    assert_int_equal(file_read_at(fd, got, 1, 10, &e), ERR_FORMAT);
    assert_int_equal(file_read_at(fd, got, 5, 6, &e), ERR_FORMAT);
    assert_string_equal(e.msg, "the file ends at byte 10, 1 bytes early");
    assert_int_equal(file_read_at(fd, got, 1, UINT64_MAX, &e), ERR_FORMAT);
    assert_int_equal(file_read_at(fd, got, SIZE_MAX, 1, &e), ERR_FORMAT);
    close(fd);
    assert_int_equal(file_read_at(fd, got, 1, 0, &e), ERR_IO);
}

static void read_appends_within_the_limit(void **state)
{
    struct err e = {0};
    struct buf b;

    (void)state;
    make("x", "hello");
    buf_init(&b, 12);
    assert_int_equal(file_read("x", &b, &e), 0);
    assert_int_equal(file_read("x", &b, &e), 0);
    assert_string_equal(b.data, "hellohello");
    assert_int_equal(file_read("x", &b, &e), ERR_LIMIT);
    assert_string_equal(b.data, "hellohello");
    assert_false(b.over);
    assert_non_null(strstr(e.msg, "x has 5 bytes"));
    assert_int_equal(file_read("none", &b, &e), ERR_NOTFOUND);
    assert_int_equal(b.len, 10);
    buf_release(&b);
}

/* Files of /proc say size 0 and have content; a limit holds for them too. */
static void read_does_not_trust_the_size(void **state)
{
    struct err e = {0};
    struct buf b;

    (void)state;
    if (access("/proc/self/status", R_OK) != 0) {
        puts("skip: no /proc");
        skip();
    }
    buf_init(&b, 1 << 20);
    assert_int_equal(file_read("/proc/self/status", &b, &e), 0);
    assert_true(b.len > 100);
    buf_release(&b);
    buf_init(&b, 10);
    buf_adds(&b, "ab");
    assert_int_equal(file_read("/proc/self/status", &b, &e), ERR_LIMIT);
    assert_string_equal(b.data, "ab");
    buf_release(&b);
}

static void write_replaces_whole_files(void **state)
{
    struct err e = {0};
    struct stat st;

    (void)state;
    mode_t old = umask(027);
    assert_int_equal(file_write("x", "first", 5, &e), 0);
    umask(old);
    assert_int_equal(stat("x", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    holds("x", "first");
    assert_int_equal(file_write("x", "2", 1, &e), 0);
    holds("x", "2");
    assert_int_equal(file_write("x", "", 0, &e), 0);
    holds("x", "");
    char path[FILE_PATH_BYTES];
    (void)snprintf(path, sizeof(path), "%s/absolute", folder);
    assert_int_equal(file_write(path, "a", 1, &e), 0);
    holds("absolute", "a");
    assert_int_equal(entries("."), 2);
}

static void write_follows_a_link_and_keeps_it(void **state)
{
    struct err e = {0};

    (void)state;
    assert_int_equal(mkdir("d", 0700), 0);
    make("d/real", "old");
    assert_int_equal(symlink("d/real", "link"), 0);
    assert_int_equal(file_write("link", "new", 3, &e), 0);
    assert_true(is_link("link"));
    holds("d/real", "new");
    assert_int_equal(entries("d"), 1);
}

static void not_written(const char *path, enum err_code code, const char *words)
{
    struct err e = {0};

    alarm(10);
    if (file_write(path, "x", 1, &e) != (int)code || !strstr(e.msg, words))
        fail_msg("%s: code %d, message \"%s\"", path, e.code, e.msg);
    alarm(0);
}

/* A rename would replace a device or a FIFO by a plain file, /dev/null for one. */
static void write_replaces_nothing_but_files(void **state)
{
    char big[2 * FILE_PATH_BYTES];
    struct stat st;

    (void)state;
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(mkdir("dir", 0700), 0);
    assert_int_equal(symlink("nowhere", "dangling"), 0);
    not_written("fifo", ERR_UNSUPPORTED, "a FIFO");
    not_written("dir", ERR_UNSUPPORTED, "a directory");
    not_written("/dev/null", ERR_UNSUPPORTED, "a device");
    not_written("dangling", ERR_UNSUPPORTED, "link to nothing");
    not_written("none/x", ERR_NOTFOUND, "No such file");
    not_written("", ERR_NOTFOUND, "");
    memset(big, 'a', sizeof(big));
    big[sizeof(big) - 1] = '\0';
    not_written(big, ERR_LIMIT, "4095 bytes");
    big[300] = '\0';
    not_written(big, ERR_IO, "File name too long");
    assert_int_equal(lstat("fifo", &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
    assert_int_equal(entries("."), 3);
}

/* A limit on the size of files stands in for a full disk: write fails half way in the same place.
 */
static void full_disk_leaves_the_old_file(void **state)
{
    int status;

    (void)state;
    make("x", "old");
    pid_t child = fork();
    if (child == 0) {
        static char big[100000];
        struct rlimit limit = {10000, 10000};
        struct err e = {0};
        signal(SIGXFSZ, SIG_IGN);
        if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
            _exit(2);
        int rc = file_write("x", big, sizeof(big), &e);
        _exit(rc == ERR_IO && strstr(e.msg, "cannot write x: File too large") ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    holds("x", "old");
    assert_int_equal(entries("."), 1);
}

static void leftover_temporaries_are_no_obstacle(void **state)
{
    struct err e = {0};
    char name[64];

    (void)state;
    for (int i = 0; i < 3; i++) {
        (void)snprintf(name, sizeof(name), ".assay-%ld-%d.tmp", (long)getpid(), i);
        make(name, "left by a killed process");
    }
    assert_int_equal(file_write("x", "new", 3, &e), 0);
    holds("x", "new");
    for (int i = 3; i < TEMPORARY_TRIES; i++) {
        (void)snprintf(name, sizeof(name), ".assay-%ld-%d.tmp", (long)getpid(), i);
        make(name, "");
    }
    assert_int_equal(file_write("x", "newer", 5, &e), ERR_IO);
    holds("x", "new");
}

/* A rename from another folder fails where that one cannot be written or is on another disk. */
static void temporaries_stand_in_the_folder_of_the_file(void **state)
{
    static const char *const paths[][2] = {
        {"d/x", "d/.assay-"}, {"dd/x", "dd/.assay-"}, {"./x", "./.assay-"}, {"x", ".assay-"}};
    char name[FILE_PATH_BYTES];
    struct err e = {0};
    int fd;

    (void)state;
    assert_int_equal(mkdir("d", 0777) | mkdir("dd", 0777), 0);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        assert_int_equal(open_temporary(paths[i][0], name, &fd, &e), 0);
        assert_memory_equal(name, paths[i][1], strlen(paths[i][1]));
        close(fd);
        unlink(name);
    }
}

static void a_signal_leaves_the_whole_file_and_nothing_else(void **state)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct rlimit none = {0, 0};
    struct err e = {0};
    int status;

    (void)state;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        make("x", "old");
        pid_t child = fork();
        if (child == 0) {
            (void)setrlimit(RLIMIT_CORE, &none);
            (void)signal(ends[i], SIG_DFL);
            signal_at_fsync = ends[i];
            (void)file_write("x", "new", 3, &e);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == ends[i]);
        holds("x", "new");
        assert_int_equal(entries("."), 1);
    }
}

static void join_puts_one_slash_between(void **state)
{
    char path[FILE_PATH_BYTES] = "unchanged", big[FILE_PATH_BYTES];
    struct err e = {0};

    (void)state;
    memset(big, 'a', sizeof(big));
    big[sizeof(big) - 1] = '\0';
    assert_int_equal(file_join("a", big, path, &e), ERR_LIMIT);
    assert_string_equal(path, "unchanged");
    assert_int_equal(file_join("", big, path, &e), 0);
    assert_string_equal(path, big);
    assert_int_equal(file_join("a", "b", path, &e), 0);
    assert_string_equal(path, "a/b");
    assert_int_equal(file_join(path, "c", path, &e), 0);
    assert_string_equal(path, "a/b/c");
    assert_int_equal(file_join("/", "b", path, &e), 0);
    assert_string_equal(path, "/b");
    assert_int_equal(file_join("", "b", path, &e), 0);
    assert_string_equal(path, "b");
}

static void make_dirs_makes_all_parents(void **state)
{
    struct err e = {0};
    char path[FILE_PATH_BYTES];
    struct stat st;

    (void)state;
    assert_int_equal(file_make_dirs("a/b//c/", &e), 0);
    assert_int_equal(stat("a/b/c", &st), 0);
    assert_true(S_ISDIR(st.st_mode));
    assert_int_equal(file_make_dirs("a/b/c", &e), 0);
    (void)snprintf(path, sizeof(path), "%s/x/y", folder);
    assert_int_equal(file_make_dirs(path, &e), 0);
    assert_int_equal(stat("x/y", &st), 0);
    make("file", "");
    assert_int_equal(file_make_dirs("file", &e), ERR_IO);
    assert_int_equal(file_make_dirs("file/x", &e), ERR_IO);
    assert_int_equal(file_make_dirs("", &e), ERR_USAGE);
    assert_int_equal(file_make_dirs("/proc/assay/x", &e), ERR_IO);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(open_tells_size_and_identity),
        CASE(open_refuses_what_is_no_file),
        CASE(mode_000_is_an_io_error),
        CASE(read_at_gives_exactly_the_range),
        CASE(read_appends_within_the_limit),
        CASE(read_does_not_trust_the_size),
        CASE(write_replaces_whole_files),
        CASE(write_follows_a_link_and_keeps_it),
        CASE(write_replaces_nothing_but_files),
        CASE(full_disk_leaves_the_old_file),
        CASE(leftover_temporaries_are_no_obstacle),
        CASE(temporaries_stand_in_the_folder_of_the_file),
        CASE(a_signal_leaves_the_whole_file_and_nothing_else),
        CASE(join_puts_one_slash_between),
        CASE(make_dirs_makes_all_parents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
