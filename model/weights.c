#include "model/weights.h"
#include "core/file.h"
#include "core/text.h"
#include <assert.h>
#include <inttypes.h>
#include <unistd.h>

#define CHUNK_BYTES (64u << 10)

/* Opens the tensor's shard, which must be as long as it was. */
static int open_shard(const char *dir, const struct inventory *inv, const struct tensor *t,
                      int *ret_fd, struct err *e)
{
    char path[FILE_PATH_BYTES];
    struct file_stat st;
    int fd, rc;

    assert(t->shard < inv->shard_count);
    rc = file_join(dir, inv->shards[t->shard].path, path, e);
    if (!rc)
        rc = file_open(path, &fd, &st, e);
    if (rc)
        return rc;
    if (st.size_bytes != inv->shards[t->shard].file_bytes) {
        close(fd);
        return err_set(e, ERR_FORMAT,
                       "changed since its header was read: %" PRIu64 " bytes then, %" PRIu64 " now",
                       inv->shards[t->shard].file_bytes, st.size_bytes);
    }
    *ret_fd = fd;
    return 0;
}

/* Names shard and tensor in front of the message. */
static int wrap(const struct inventory *inv, const struct tensor *t, struct err *e)
{
    char shard[120], name[160];

    return err_wrap(e, "%s: tensor \"%s\"",
                    text_plain(inv->shards[t->shard].path, shard, sizeof(shard)),
                    text_plain(t->name, name, sizeof(name)));
}

int weights_read_bytes(const char *dir, const struct inventory *inv, const struct tensor *t,
                       uint64_t first, size_t n, void *ret, struct err *e)
{
    int fd, rc;

    if (first > t->bytes || n > t->bytes - first) {
        (void)err_set(e, ERR_USAGE,
                      "bytes %" PRIu64 " to %" PRIu64 " + %zu were asked for, it has %" PRIu64,
                      first, first, n, t->bytes);
        return wrap(inv, t, e);
    }
    rc = open_shard(dir, inv, t, &fd, e);
    if (!rc) {
        rc = file_read_at(fd, ret, n, t->offset + first, e);
        close(fd);
    }
    return rc ? wrap(inv, t, e) : 0;
}

int weights_read_f32(const char *dir, const struct inventory *inv, const struct tensor *t,
                     uint64_t first, size_t n, float *ret, struct err *e)
{
    unsigned width = dtype_bits(t->dtype) / 8;
    unsigned char chunk[CHUNK_BYTES];
    uint64_t at = t->offset;
    int fd, rc;

    if (dtype_to_f32(t->dtype, chunk, 0, ret) != 0) {
        (void)err_set(e, ERR_UNSUPPORTED, "is stored as %s, which is not read as floats",
                      t->dtype_text);
        return wrap(inv, t, e);
    }
    if (first > t->bytes / width || n > t->bytes / width - first) {
        (void)err_set(e, ERR_USAGE,
                      "elements %" PRIu64 " to %" PRIu64 " + %zu were asked for, it has %" PRIu64,
                      first, first, n, t->bytes / width);
        return wrap(inv, t, e);
    }
    at += first * width;
    rc = open_shard(dir, inv, t, &fd, e);
    if (rc)
        return wrap(inv, t, e);
    while (n > 0 && !rc) {
        size_t some = n < CHUNK_BYTES / width ? n : CHUNK_BYTES / width;
        rc = file_read_at(fd, chunk, some * width, at, e);
        if (!rc)
            (void)dtype_to_f32(t->dtype, chunk, some, ret);
        at += some * width;
        ret += some;
        n -= some;
    }
    close(fd);
    return rc ? wrap(inv, t, e) : 0;
}
