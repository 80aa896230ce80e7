#include "core/log.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/mem.h"
#include "core/text.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TICK_NS 100000000u    /* ten progress lines a second */
#define SETTLE_NS 2000000000u /* no time left is guessed before */
#define LINE_BYTES_MAX 4096   /* of a message; the end of a longer one is shown as "..." */

/* All of it under the lock: lines of two threads do not mix. */
static struct {
    pthread_mutex_t lock;
    enum log_level level;
    bool showing;               /* a progress line stands on the terminal */
    char what[64];              /* of the job that ticks now */
    uint64_t started, shown_at; /* of that job, ns */
    uint64_t started_done;      /* what it had done at its first tick */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

void log_set_level(enum log_level level)
{
    pthread_mutex_lock(&state.lock);
    state.level = level;
    pthread_mutex_unlock(&state.lock);
}

static void clear_line(void)
{
    if (state.showing)
        fputs("\r\033[K", stderr);
    state.showing = false;
}

/* The message as one line that a terminal may see, whatever words of the command line are in it.
 * Names from files are escaped before; here nothing is escaped twice. */
__attribute__((format(printf, 2, 0))) static void add_line(struct buf *b, const char *fmt,
                                                           va_list ap)
{
    va_list again;

    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (n < 0)
        return;
    char *raw = mem_alloc((size_t)n + 1, 1);
    (void)vsnprintf(raw, (size_t)n + 1, fmt, ap);
    text_escape_line(b, raw);
    free(raw);
}

__attribute__((format(printf, 3, 0))) static void say(enum log_level level, const char *kind,
                                                      const char *fmt, va_list ap)
{
    pthread_mutex_lock(&state.lock);
    if (state.level >= level) {
        struct buf b;
        buf_init(&b, LINE_BYTES_MAX);
        add_line(&b, fmt, ap);
        clear_line();
        fprintf(stderr, "assay: %s%s%s\n", kind, b.data, b.over ? "..." : "");
        buf_release(&b);
    }
    pthread_mutex_unlock(&state.lock);
}

void log_error(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    say(LOG_QUIET, "", fmt, ap);
    va_end(ap);
}

void log_warn(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    say(LOG_QUIET, "warning: ", fmt, ap);
    va_end(ap);
}

void log_detail(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    say(LOG_VERBOSE, "", fmt, ap);
    va_end(ap);
}

static const char *amount(uint64_t n, const char *unit, char ret[2 * TEXT_NUMBER_BYTES])
{
    char number[TEXT_NUMBER_BYTES];

    if (strcmp(unit, "B") == 0)
        return text_bytes(n, ret);
    (void)snprintf(ret, 2 * TEXT_NUMBER_BYTES, "%s %.32s", text_count(n, number), unit);
    return ret;
}

/* "hashing 12% 1.5 GB of 12.4 GB, 1.6 GB/s, 6.8 s left" */
static void progress_line(const char *what, uint64_t done, uint64_t total, const char *unit,
                          uint64_t spent_ns, uint64_t done_since, char *ret, size_t ret_bytes)
{
    char a[2 * TEXT_NUMBER_BYTES], b[2 * TEXT_NUMBER_BYTES], left[TEXT_NUMBER_BYTES];
    double rate = spent_ns ? (double)done_since / (double)spent_ns * 1e9 : 0;
    int n;

    amount(done, unit, a);
    if (total)
        n = snprintf(ret, ret_bytes, "%s %d%% %s of %s", what,
                     (int)(100.0 * (double)done / (double)total), a, amount(total, unit, b));
    else
        n = snprintf(ret, ret_bytes, "%s %s", what, a);
    if (spent_ns < SETTLE_NS || rate <= 0 || n < 0 || (size_t)n >= ret_bytes)
        return;
    if (strcmp(unit, "B") == 0)
        n += snprintf(ret + n, ret_bytes - (size_t)n, ", %s/s", amount((uint64_t)rate, unit, a));
    if (total > done && (size_t)n < ret_bytes)
        (void)snprintf(ret + n, ret_bytes - (size_t)n, ", %s left",
                       text_duration((double)(total - done) / rate * 1e9, left));
}

static void tick(void *ctx, const char *what, uint64_t done, uint64_t total, const char *unit)
{
    uint64_t now = clock_ns();
    char line[160];

    (void)ctx;
    pthread_mutex_lock(&state.lock);
    if (strcmp(what, state.what) != 0) {
        (void)snprintf(state.what, sizeof(state.what), "%s", what);
        state.started = now;
        state.started_done = done;
    }
    if (state.level >= LOG_NORMAL && now - state.shown_at >= TICK_NS && isatty(STDERR_FILENO)) {
        uint64_t since = done > state.started_done ? done - state.started_done : 0;
        progress_line(what, done, total, unit, now - state.started, since, line, sizeof(line));
        fprintf(stderr, "\r%.79s\033[K", line);
        state.showing = true;
        state.shown_at = now;
    }
    pthread_mutex_unlock(&state.lock);
}

struct progress log_progress(void)
{
    return (struct progress){.tick = tick};
}

void log_progress_done(void)
{
    pthread_mutex_lock(&state.lock);
    clear_line();
    state.what[0] = '\0';
    state.shown_at = 0;
    pthread_mutex_unlock(&state.lock);
}
