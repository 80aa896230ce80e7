#ifndef MODEL_GGUF_BYTES_H
#define MODEL_GGUF_BYTES_H
#include "core/err.h"
#include "core/mem.h"
#include <stdint.h>

/* Reads through the first bytes of a GGUF file, of which only a window is at hand. */

#define GGUF_BYTES_MORE 1 /* returned when what is asked for is behind the window, in the file */

struct gguf_bytes {
    const unsigned char *window;
    uint64_t at, window_bytes, file_bytes; /* at <= window_bytes <= file_bytes */
};

/* The next n bytes. GGUF_BYTES_MORE if they are behind the window; ERR_FORMAT if they are behind
 * the file: the message starts "is short" and says what was to be read. */
int gguf_bytes_take(struct gguf_bytes *b, uint64_t n, const char *what, const unsigned char **ret,
                    struct err *e);

/* The next 1, 2, 4 or 8 bytes as a number. */
int gguf_bytes_uint(struct gguf_bytes *b, unsigned bytes, const char *what, uint64_t *ret,
                    struct err *e);

/* A length and so many bytes. ERR_LIMIT if there are more than max, in the file. */
int gguf_bytes_text(struct gguf_bytes *b, const char *what, uint64_t max, const unsigned char **ret,
                    uint64_t *ret_bytes, struct err *e);

/* A copy of a text in the arena; NULL if it cannot be a C string: no UTF-8, or a NUL in it. */
char *gguf_bytes_keep(struct mem_arena *a, const unsigned char *text, uint64_t n);

#endif
