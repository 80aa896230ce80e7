#ifndef CORE_BUF_H
#define CORE_BUF_H
#include "core/err.h"
#include <stdbool.h>
#include <stddef.h>

/* Bytes that grow up to a stated maximum. The buffer remembers that the maximum was reached, drops
 * what came after, and buf_check makes an error of it: writers need no check at each call, and
 * nothing is cut in silence. data always ends in a NUL that len does not count. */
struct buf {
    char *data;
    size_t len, cap;
    size_t max; /* most bytes it may hold */
    bool over;  /* something did not fit */
};

void buf_init(struct buf *b, size_t max_bytes);
void buf_release(struct buf *b);

/* Appends n bytes, a string, one character, or formatted text. */
void buf_add(struct buf *b, const void *bytes, size_t n);
void buf_adds(struct buf *b, const char *s);
void buf_addc(struct buf *b, char c);
void buf_addf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* 0, or ERR_LIMIT if the maximum was reached; `what` names the content in the message. */
int buf_check(const struct buf *b, const char *what, struct err *e);

#endif
