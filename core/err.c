#include "core/err.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Ends a message that was cut with "...", not within a character. */
static void mark_cut(char *msg)
{
    size_t at = ERR_MSG_BYTES - 4;

    while (at && ((unsigned char)msg[at] & 0xc0) == 0x80)
        at--;
    memcpy(msg + at, "...", 4);
}

int err_set(struct err *e, enum err_code code, const char *fmt, ...)
{
    char msg[ERR_MSG_BYTES]; /* the arguments may point into e->msg */
    va_list ap;

    va_start(ap, fmt);
    int n = vsnprintf(msg, sizeof(msg), fmt, ap);
    va_end(ap);
    if (n >= (int)sizeof(msg))
        mark_cut(msg);
    memcpy(e->msg, msg, sizeof(msg));
    e->code = code;
    return code;
}

int err_wrap(struct err *e, const char *fmt, ...)
{
    char msg[ERR_MSG_BYTES];
    va_list ap;

    va_start(ap, fmt);
    int n = vsnprintf(msg, sizeof(msg), fmt, ap);
    va_end(ap);
    size_t used = n < 0 ? 0 : (size_t)n;
    if (used < sizeof(msg)) {
        n = snprintf(msg + used, sizeof(msg) - used, ": %s", e->msg);
        used += n < 0 ? 0 : (size_t)n;
    }
    if (used >= sizeof(msg))
        mark_cut(msg);
    memcpy(e->msg, msg, sizeof(msg));
    return e->code;
}
