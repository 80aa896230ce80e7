#ifndef CORE_CLOCK_H
#define CORE_CLOCK_H
#include <stdint.h>

/* Nanoseconds of the monotonic clock: for durations, never for dates. */
uint64_t clock_ns(void);

/* Seconds since 1970, UTC: for dates, never for durations. */
int64_t clock_unix(void);

#define CLOCK_TEXT_BYTES 24

/* "2026-11-29T02:14:05Z" for seconds since 1970; "?" if the year has not four digits. */
void clock_format(int64_t unix_seconds, char ret_text[CLOCK_TEXT_BYTES]);

#endif
