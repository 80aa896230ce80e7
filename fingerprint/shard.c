#include "fingerprint/shard.h"
#include "core/file.h"
#include "core/mem.h"
#include "core/text.h"
#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Larger reads were not faster: SHA-256 is bound by the CPU near 1.6 GB/s. */
#define READ_BYTES ((size_t)1 << 20)

/* The git-lfs specification: a pointer is under 1,024 bytes, and its first line is the version. */
#define POINTER_BYTES 1024

static void __attribute__((format(printf, 3, 4)))
say(struct shard *s, enum shard_state state, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(s->why, sizeof(s->why), fmt, ap);
    va_end(ap);
    s->state = state;
}

/* The rest of the line at s if the line begins with key, else NULL. */
static const char *line_value(const char *s, const char *key)
{
    return text_starts(s, key) ? s + strlen(key) : NULL;
}

/* The pointer's promise, for the message: lines "oid sha256:<64 hex>" and "size <n>". */
static void pointer_promise(const char *text, char *ret, size_t ret_bytes)
{
    char oid[SHA256_TEXT_BYTES] = "", size[24] = "";
    uint8_t digest[SHA256_BYTES];

    for (const char *p = text; p && *p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL) {
        const char *v = line_value(p, "oid sha256:");
        if (v && strcspn(v, "\r\n") == SHA256_TEXT_BYTES - 1) {
            memcpy(oid, v, SHA256_TEXT_BYTES - 1);
            if (!text_unhex(oid, digest, SHA256_BYTES))
                oid[0] = 0;
        }
        v = line_value(p, "size ");
        if (v && strspn(v, "0123456789") == strcspn(v, "\r\n") &&
            strcspn(v, "\r\n") < sizeof(size)) {
            memcpy(size, v, strcspn(v, "\r\n"));
            size[strcspn(v, "\r\n")] = 0;
        }
    }
    if (oid[0] && size[0])
        snprintf(ret, ret_bytes, "it stands for sha256 %s of %s bytes", oid, size);
    else
        snprintf(ret, ret_bytes, "and a broken one, without a valid oid and size");
}

/* True, with the shard's state set, if the whole file of n bytes is an LFS pointer. */
static bool is_pointer(const char *bytes, size_t n, struct shard *s)
{
    static const char *const versions[] = {"version https://git-lfs.github.com/spec/v1",
                                           "version https://hawser.github.com/spec/v1"};
    char text[POINTER_BYTES], promise[160];

    if (n >= POINTER_BYTES)
        return false;
    memcpy(text, bytes, n);
    text[n] = 0;
    if (!text_starts(text, versions[0]) && !text_starts(text, versions[1]))
        return false;
    pointer_promise(text, promise, sizeof(promise));
    say(s, SHARD_POINTER, "a Git LFS pointer, the content was not fetched (run git lfs pull); %s",
        promise);
    return true;
}

/* Digests the bytes of fd up to the size that it had. False, with the state set, if they could not
 * all be read or are a pointer. */
static bool digest_all(int fd, shard_read_fn *on_read, void *ctx, struct sha256 *sum,
                       struct shard *s)
{
    char *bytes = mem_alloc(READ_BYTES, 1);
    uint64_t done = 0, size = s->size_bytes;
    struct err e = {0};
    bool ok = true;

    while (ok && done < size) {
        size_t n = size - done < READ_BYTES ? (size_t)(size - done) : READ_BYTES;
        int rc = file_read_at(fd, bytes, n, done, &e);
        if (rc == ERR_FORMAT)
            say(s, SHARD_CHANGED,
                "changed during read: had %" PRIu64 " bytes and ended before; hash it again when "
                "nothing writes to it",
                size);
        else if (rc)
            say(s, SHARD_UNREADABLE, "%s", e.msg);
        ok = !rc && (n < size || !is_pointer(bytes, n, s));
        if (ok) {
            sha256_update(sum, bytes, n);
            done += n;
        }
        if (!rc && on_read)
            on_read(ctx, n);
    }
    free(bytes);
    return ok;
}

/* The digest is worth something only if nothing moved since the file was opened. */
static bool stood_still(int fd, const struct file_stat *before, struct shard *s)
{
    struct file_stat after;
    struct err e = {0};

    if (file_fstat(fd, &after, &e)) {
        say(s, SHARD_UNREADABLE, "%s", e.msg);
        return false;
    }
    if (after.size_bytes != before->size_bytes) {
        say(s, SHARD_CHANGED,
            "changed during read: its size went from %" PRIu64 " to %" PRIu64
            " bytes; hash it again when nothing writes to it",
            before->size_bytes, after.size_bytes);
        return false;
    }
    if (after.mtime_ns != before->mtime_ns || after.ctime_ns != before->ctime_ns) {
        say(s, SHARD_CHANGED,
            "changed during read: its %s moved; hash it again when nothing writes to it",
            after.mtime_ns != before->mtime_ns ? "mtime" : "ctime");
        return false;
    }
    return true;
}

static enum shard_state state_of_error(int rc)
{
    switch (rc) {
    case ERR_NOTFOUND: return SHARD_MISSING;
    case ERR_UNSUPPORTED: return SHARD_IRREGULAR;
    default: return SHARD_UNREADABLE;
    }
}

void shard_hash(const char *path, shard_read_fn *on_read, void *ctx, struct shard *ret)
{
    struct file_stat before;
    struct sha256 sum;
    struct err e = {0};
    int fd;

    *ret = (struct shard){.state = SHARD_OK};
    int rc = file_open(path, &fd, &before, &e);
    if (rc) {
        say(ret, state_of_error(rc), "%s", e.msg);
        return;
    }
    ret->size_bytes = before.size_bytes;
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL); /* advice: it may be refused */
    sha256_init(&sum);
    if (digest_all(fd, on_read, ctx, &sum, ret) && stood_still(fd, &before, ret)) {
        if (sha256_final(&sum, ret->sha256, &e))
            say(ret, SHARD_UNREADABLE, "%s", e.msg);
        else if (ret->size_bytes == 0)
            say(ret, SHARD_OK, "file is empty");
    }
    sha256_release(&sum);
    close(fd);
}

const char *shard_state_name(enum shard_state s)
{
    static const char *const names[SHARD_STATES] = {[SHARD_OK] = "ok",
                                                    [SHARD_MISSING] = "missing",
                                                    [SHARD_UNREADABLE] = "unreadable",
                                                    [SHARD_CHANGED] = "changed",
                                                    [SHARD_IRREGULAR] = "irregular",
                                                    [SHARD_POINTER] = "pointer"};

    assert((unsigned)s < SHARD_STATES);
    return names[s];
}
