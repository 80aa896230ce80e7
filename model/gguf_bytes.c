#include "model/gguf_bytes.h"
#include "core/text.h"
#include <inttypes.h>
#include <string.h>

int gguf_bytes_take(struct gguf_bytes *b, uint64_t n, const char *what, const unsigned char **ret,
                    struct err *e)
{
    if (n > b->file_bytes - b->at)
        return err_set(e, ERR_FORMAT,
                       "is short: %s takes %" PRIu64 " bytes from byte %" PRIu64
                       " on, the file has %" PRIu64,
                       what, n, b->at, b->file_bytes);
    if (n > b->window_bytes - b->at)
        return GGUF_BYTES_MORE;
    *ret = b->window + b->at;
    b->at += n;
    return 0;
}

int gguf_bytes_uint(struct gguf_bytes *b, unsigned bytes, const char *what, uint64_t *ret,
                    struct err *e)
{
    const unsigned char *p = NULL;
    uint64_t v = 0;
    int rc = gguf_bytes_take(b, bytes, what, &p, e);

    if (rc)
        return rc;
    for (unsigned i = 0; i < bytes; i++)
        v |= (uint64_t)p[i] << (8 * i);
    *ret = v;
    return 0;
}

int gguf_bytes_text(struct gguf_bytes *b, const char *what, uint64_t max, const unsigned char **ret,
                    uint64_t *ret_bytes, struct err *e)
{
    uint64_t n;
    int rc = gguf_bytes_uint(b, 8, what, &n, e);

    if (rc)
        return rc;
    if (n > max && n <= b->file_bytes - b->at)
        return err_set(e, ERR_LIMIT, "%s has %" PRIu64 " bytes, over the limit of %" PRIu64, what,
                       n, max);
    rc = gguf_bytes_take(b, n, what, ret, e);
    if (!rc)
        *ret_bytes = n;
    return rc;
}

char *gguf_bytes_keep(struct mem_arena *a, const unsigned char *text, uint64_t n)
{
    if (memchr(text, 0, (size_t)n) || !text_utf8_valid(text, (size_t)n))
        return NULL;
    return mem_arena_strndup(a, (const char *)text, (size_t)n);
}
