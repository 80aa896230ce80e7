#include "model/pointer.h"
#include "core/text.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The second is what the specification says old pointers have. */
static const char *const versions[] = {"version https://git-lfs.github.com/spec/v1",
                                       "version https://hawser.github.com/spec/v1"};

bool pointer_looks(const void *bytes, size_t n)
{
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
        size_t len = strlen(versions[i]) - 2; /* without "v1": a later version is a pointer too */
        if (n >= len && memcmp(bytes, versions[i], len) == 0)
            return true;
    }
    return false;
}

/* The next line, without its end, copied to line; false if there is none that ends in a newline. */
static bool next_line(const char **at, const char *end, char line[POINTER_BYTES_MAX])
{
    const char *newline = *at < end ? memchr(*at, '\n', (size_t)(end - *at)) : NULL;

    if (!newline)
        return false;
    size_t n = (size_t)(newline - *at);
    memcpy(line, *at, n);
    if (n > 0 && line[n - 1] == '\r')
        n--;
    line[n] = '\0';
    *at = newline + 1;
    return strlen(line) == n;
}

int pointer_parse(const char *text, size_t bytes, struct pointer *ret, struct err *e)
{
    const char *at = text, *end = text + bytes;
    char line[POINTER_BYTES_MAX];
    uint8_t digest[32];
    struct pointer p = {0};
    struct err number = {0};

    if (bytes >= POINTER_BYTES_MAX)
        return err_set(e, ERR_LIMIT, "a pointer has less than %d bytes, this file has %zu",
                       POINTER_BYTES_MAX, bytes);
    if (!next_line(&at, end, line) ||
        (strcmp(line, versions[0]) != 0 && strcmp(line, versions[1]) != 0))
        return err_set(e, ERR_FORMAT, "the pointer's first line is not a version that is known");
    bool more = next_line(&at, end, line);
    while (more && text_starts(line, "ext-"))
        more = next_line(&at, end, line);
    if (!more || !text_starts(line, "oid sha256:") || !text_unhex(line + 11, digest, 32))
        return err_set(e, ERR_FORMAT, "the pointer has no line \"oid sha256:\" with 64 hex digits");
    memcpy(p.sha256, line + 11, 65);
    if (!next_line(&at, end, line) || !text_starts(line, "size ") ||
        text_parse_u64(line + 5, &p.size_bytes, &number) != 0)
        return err_set(e, ERR_FORMAT, "the pointer has no line \"size\" with a number");
    if (at != end)
        return err_set(e, ERR_FORMAT, "the pointer goes on after its size");
    *ret = p;
    return 0;
}

const char *pointer_words(const char *text, size_t bytes, char *ret, size_t ret_bytes)
{
    struct pointer p;
    struct err e = {0};

    if (pointer_parse(text, bytes, &p, &e) == 0)
        snprintf(ret, ret_bytes,
                 "is a Git-LFS pointer: the content was not fetched; expected sha256 %s, size "
                 "%" PRIu64 "; run git lfs pull",
                 p.sha256, p.size_bytes);
    else
        snprintf(ret, ret_bytes,
                 "starts as a Git-LFS pointer and is a damaged one: %s; run git lfs pull", e.msg);
    return ret;
}
