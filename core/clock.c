#include "core/clock.h"
#include <string.h>
#include <time.h>

uint64_t clock_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int64_t clock_unix(void)
{
    return (int64_t)time(NULL);
}

void clock_format(int64_t unix_seconds, char ret_text[CLOCK_TEXT_BYTES])
{
    time_t t = (time_t)unix_seconds;
    struct tm tm;

    if (!gmtime_r(&t, &tm) || tm.tm_year < -900 || tm.tm_year > 8099 ||
        !strftime(ret_text, CLOCK_TEXT_BYTES, "%Y-%m-%dT%H:%M:%SZ", &tm))
        memcpy(ret_text, "?", 2);
}
