#include "core/buf.h"
#include "core/mem.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_init(struct buf *b, size_t max_bytes)
{
    *b = (struct buf){.max = max_bytes};
    b->data = mem_grow(NULL, &b->cap, 64, 1);
    b->data[0] = '\0';
}

void buf_release(struct buf *b)
{
    free(b->data);
    *b = (struct buf){0};
}

void buf_add(struct buf *b, const void *bytes, size_t n)
{
    if (b->over || n > b->max - b->len) {
        b->over = true;
        return;
    }
    b->data = mem_grow(b->data, &b->cap, b->len + n + 1, 1);
    if (n)
        memcpy(b->data + b->len, bytes, n);
    b->len += n;
    b->data[b->len] = '\0';
}

void buf_adds(struct buf *b, const char *s)
{
    buf_add(b, s, strlen(s));
}

void buf_addc(struct buf *b, char c)
{
    buf_add(b, &c, 1);
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
    char small[256];
    va_list ap;

    va_start(ap, fmt);
    int n = vsnprintf(small, sizeof(small), fmt, ap);
    va_end(ap);
    if (n < 0) {
        b->over = true;
        return;
    }
    if ((size_t)n < sizeof(small)) {
        buf_add(b, small, (size_t)n);
        return;
    }
    char *big = mem_alloc((size_t)n + 1, 1);
    va_start(ap, fmt);
    (void)vsnprintf(big, (size_t)n + 1, fmt, ap);
    va_end(ap);
    buf_add(b, big, (size_t)n);
    free(big);
}

int buf_check(const struct buf *b, const char *what, struct err *e)
{
    if (!b->over)
        return 0;
    return err_set(e, ERR_LIMIT, "%s is over the limit of %zu bytes", what, b->max);
}
