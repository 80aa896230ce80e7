#ifndef FINGERPRINT_SHARD_H
#define FINGERPRINT_SHARD_H
#include "core/err.h"
#include "fingerprint/sha256.h"
#include <stddef.h>
#include <stdint.h>

/* One file of a subject, and its digest. What can go wrong with a file is a finding, not an error:
 * shard_hash always answers. */

enum shard_state {
    SHARD_OK,         /* sha256 is the digest of the whole file */
    SHARD_MISSING,    /* there is no such file, or it is a link to none */
    SHARD_UNREADABLE, /* it is there, and the system refused to let us read it to the end */
    SHARD_CHANGED,    /* size, mtime or ctime moved while it was read, or it ended too early */
    SHARD_IRREGULAR,  /* a directory, FIFO, socket or device: never opened for reading */
    SHARD_POINTER,    /* a Git LFS pointer stands in its place: the content was not fetched */
    SHARD_STATES
};

struct shard {
    enum shard_state state;
    uint64_t size_bytes;          /* when it was opened; 0 if it could not be opened */
    uint8_t sha256[SHA256_BYTES]; /* zero unless state is SHARD_OK */
    char why[ERR_MSG_BYTES];      /* why the state is not ok and what to do; "" when it is ok, but
                                     for an empty file: "file is empty" */
};

/* Told after each read how many bytes came. May be NULL. */
typedef void shard_read_fn(void *ctx, size_t bytes);

/* Reads the regular file at path from start to end and digests it: 1 MiB a read, by read and not by
 * mmap (a file that shrinks under a mapping ends the process). Links are followed. Size, mtime and
 * ctime are compared before and after, so a digest belongs to bytes that stood still. A file under
 * 1,024 bytes that begins with the LFS pointer's version line gets SHARD_POINTER, and why carries
 * the oid and size that the pointer promises, where it is well-formed. */
void shard_hash(const char *path, shard_read_fn *on_read, void *ctx, struct shard *ret);

/* "ok", "missing", "unreadable", "changed", "irregular", "pointer". */
const char *shard_state_name(enum shard_state s);

#endif
