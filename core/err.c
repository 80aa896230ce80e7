#include "core/err.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void mark_cut(char *msg)
{
    memcpy(msg + ERR_MSG_BYTES - 4, "...", 4);
}

int err_set(struct err *e, enum err_code code, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    int n = vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
    va_end(ap);
    if (n >= (int)sizeof(e->msg))
        mark_cut(e->msg);
    e->code = code;
    return code;
}

int err_wrap(struct err *e, const char *fmt, ...)
{
    char cause[ERR_MSG_BYTES];
    va_list ap;

    memcpy(cause, e->msg, sizeof(cause));
    va_start(ap, fmt);
    int n = vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
    va_end(ap);
    size_t used = n < 0 ? 0 : (size_t)n;
    if (used >= sizeof(e->msg)) {
        mark_cut(e->msg);
        return e->code;
    }
    n = snprintf(e->msg + used, sizeof(e->msg) - used, ": %s", cause);
    if (n >= (int)(sizeof(e->msg) - used))
        mark_cut(e->msg);
    return e->code;
}
