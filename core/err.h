#ifndef CORE_ERR_H
#define CORE_ERR_H

/* Why a call failed. The caller owns it, starts it as {0}, and may reuse it; callees write it on
 * failure only. The message is a whole sentence fragment fit to print as it is: what failed, on
 * which input, what to do. There is no heap in it, so running out of memory can be reported. */
enum err_code {
    ERR_OK = 0,
    ERR_USAGE = -1,       /* the caller's words are wrong */
    ERR_IO = -2,          /* the system refused to read or write */
    ERR_NET = -3,         /* a server did not answer as agreed */
    ERR_FORMAT = -4,      /* the input is not what it claims to be */
    ERR_LIMIT = -5,       /* a named limit was reached */
    ERR_NOTFOUND = -6,    /* the thing asked for does not exist */
    ERR_UNSUPPORTED = -7, /* understood, and not something we can do */
    ERR_DB = -8           /* the store refused */
};

#define ERR_MSG_BYTES 496

struct err {
    enum err_code code;
    char msg[ERR_MSG_BYTES];
};

/* Sets code and message, and returns the code. A message that does not fit ends in "...". */
int err_set(struct err *e, enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "context: " in front of the message that is there, and returns the code that is there.
 * The lowest function says what happened, each caller adds which one. */
int err_wrap(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
