#ifndef CORE_LOG_H
#define CORE_LOG_H
#include <stdint.h>

/* Words for people, on stderr. Only audit/ calls these; the other folders return errors and tick a
 * struct progress that audit/ hands them. */

enum log_level { LOG_QUIET = -1, LOG_NORMAL = 0, LOG_VERBOSE = 1 };

void log_set_level(enum log_level level);

/* "assay: ..." lines. Errors and warnings are printed at every level, detail only when verbose.
 * Each clears a progress line that is showing. */
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_detail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* How far a long job is. Producers call tick (when it is not NULL), from any thread, as often as
 * they like. what is a short word such as "hashing"; total 0 is "not known". unit is "B" for bytes
 * or a word such as "points". */
struct progress {
    void (*tick)(void *ctx, const char *what, uint64_t done, uint64_t total, const char *unit);
    void *ctx;
};

/* The progress line of the terminal: at most ten times a second, with rate and time left, only if
 * stderr is a terminal and the level is not quiet. Thread-safe. */
struct progress log_progress(void);

/* Removes the progress line if one is showing. */
void log_progress_done(void);

#endif
