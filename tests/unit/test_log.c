#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include "core/log.c"

/* Whatever `speak` says on stderr, which is fd for the while. */
static int kept;

static void redirect(int fd)
{
    kept = dup(STDERR_FILENO);
    assert_true(kept >= 0 && dup2(fd, STDERR_FILENO) >= 0);
}

static void restore(void)
{
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    close(kept);
    log_progress_done();
    log_set_level(LOG_NORMAL);
}

static void heard(void (*speak)(void), char *ret, size_t ret_bytes)
{
    int pipes[2];

    assert_int_equal(pipe(pipes), 0);
    redirect(pipes[1]);
    speak();
    restore();
    close(pipes[1]);
    ssize_t n = read(pipes[0], ret, ret_bytes - 1);
    close(pipes[0]);
    ret[n > 0 ? n : 0] = '\0';
}

static void say_all(void)
{
    log_error("e%d", 1);
    log_warn("w%s", "x");
    log_detail("d");
}

static void say_all_quiet(void)
{
    log_set_level(LOG_QUIET);
    say_all();
}

static void say_all_verbose(void)
{
    log_set_level(LOG_VERBOSE);
    say_all();
}

static void levels_choose_what_is_said(void **s)
{
    char text[200];

    (void)s;
    heard(say_all, text, sizeof(text));
    assert_string_equal(text, "assay: e1\nassay: warning: wx\n");
    heard(say_all_quiet, text, sizeof(text));
    assert_string_equal(text, "assay: e1\nassay: warning: wx\n");
    heard(say_all_verbose, text, sizeof(text));
    assert_string_equal(text, "assay: e1\nassay: warning: wx\nassay: d\n");
}

static void say_what_a_terminal_would_obey(void)
{
    log_error("'%s' and %s", "\x1b[31m\n\xe2\x80\xae\xff", "\\x1b");
}

/* Words of the command line reach messages as they are; names from files are escaped before. */
static void messages_are_one_plain_line(void **s)
{
    char text[200];

    (void)s;
    heard(say_what_a_terminal_would_obey, text, sizeof(text));
    assert_string_equal(text, "assay: '\\x1b[31m\\x0a\\xe2\\x80\\xae\\xff' and \\x1b\n");
}

static void tick_and_speak(void)
{
    struct progress p = log_progress();

    p.tick(p.ctx, "hashing", 5, 10, "B");
    log_warn("between");
    log_progress_done();
}

static void no_progress_where_no_terminal_is(void **s)
{
    char text[200];

    (void)s;
    heard(tick_and_speak, text, sizeof(text));
    assert_string_equal(text, "assay: warning: between\n");
}

/* A terminal of our own: its two ends, or a skip. */
static int open_terminal(int *ret_user)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);

    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        return -1;
    *ret_user = open(ptsname(master), O_RDWR | O_NOCTTY);
    return *ret_user < 0 ? -1 : master;
}

/* What the terminal shows up to the end of a line: the kernel hands it over piece by piece. */
static void shown(int master, char *ret, size_t ret_bytes)
{
    struct pollfd p = {.fd = master, .events = POLLIN};
    size_t have = 0;

    ret[0] = '\0';
    while (!strchr(ret, '\n') && poll(&p, 1, 60000) == 1) {
        ssize_t n = read(master, ret + have, ret_bytes - 1 - have);
        if (n <= 0)
            break;
        have += (size_t)n;
        ret[have] = '\0';
    }
}

static void progress_shows_on_a_terminal_and_is_cleared(void **s)
{
    char text[4000];
    int user, master = open_terminal(&user);

    (void)s;
    if (master < 0) {
        puts("skip: no pseudo-terminals here");
        skip();
    }
    redirect(user);
    tick_and_speak();
    restore();
    shown(master, text, sizeof(text));
    assert_string_equal(text, "\rhashing 50% 5 B of 10 B\033[K\r\033[Kassay: warning: between\r\n");
    redirect(user);
    log_set_level(LOG_QUIET);
    tick_and_speak();
    restore();
    shown(master, text, sizeof(text));
    assert_string_equal(text, "assay: warning: between\r\n");
    close(user);
    close(master);
}

static void progress_is_drawn_ten_times_a_second_at_most(void **s)
{
    static char text[1 << 16];
    int user, master = open_terminal(&user);
    size_t lines = 0;

    (void)s;
    if (master < 0) {
        puts("skip: no pseudo-terminals here");
        skip();
    }
    redirect(user);
    struct progress p = log_progress();
    uint64_t before = clock_ns();
    for (uint64_t i = 0; i < 20000; i++)
        p.tick(p.ctx, "hashing", i, 0, "points");
    uint64_t spent = clock_ns() - before;
    log_warn("the end"); /* of the only line */
    restore();
    shown(master, text, sizeof(text));
    for (const char *at = text; (at = strstr(at, "hashing")) != NULL; at++)
        lines++;
    assert_true(lines >= 1 && lines <= 1 + spent / TICK_NS);
    close(user);
    close(master);
}

static void progress_line_has_rate_and_time_left(void **s)
{
    char line[160];

    (void)s;
    /* 4 GB of 10 in 4 s are 1 GB a second; 6 GB are left */
    progress_line("hashing", 4000000000, 10000000000, "B", 4000000000, 4000000000, line,
                  sizeof(line));
    assert_string_equal(line, "hashing 40% 4 GB of 10 GB, 1 GB/s, 6 s left");
    progress_line("measuring", 3, 12, "points", 3000000000, 3, line, sizeof(line));
    assert_string_equal(line, "measuring 25% 3 points of 12 points, 9 s left");
    progress_line("reading", 1234, 0, "B", 0, 0, line, sizeof(line));
    assert_string_equal(line, "reading 1.23 kB");
    progress_line("reading", 12, 10, "B", 5000000000, 12, line, sizeof(line));
    assert_non_null(strstr(line, "reading 120%"));
    assert_null(strstr(line, "left"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_choose_what_is_said),
        cmocka_unit_test(messages_are_one_plain_line),
        cmocka_unit_test(no_progress_where_no_terminal_is),
        cmocka_unit_test(progress_shows_on_a_terminal_and_is_cleared),
        cmocka_unit_test(progress_is_drawn_ten_times_a_second_at_most),
        cmocka_unit_test(progress_line_has_rate_and_time_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
