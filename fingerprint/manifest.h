#ifndef FINGERPRINT_MANIFEST_H
#define FINGERPRINT_MANIFEST_H
#include "core/err.h"
#include "core/fact.h"
#include "core/log.h"
#include "core/mem.h"
#include "fingerprint/sha256.h"
#include "fingerprint/shard.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The files of a snapshot with their digests, and one digest over all of them.
 *
 * The snapshot's digest is the SHA-256 of this text: for each file, in the order of the bytes of
 * its path,
 *     <sha256, 64 lowercase hex digits> <size, decimal> <path>NUL
 * with one space between, and a NUL byte (which no path can hold) behind the path. Names, sizes and
 * contents are all covered, and two different sets never have the same text. A set in which any
 * file has no digest has no snapshot digest either, nor has the empty set.
 *
 * bash and coreutils find the same digest, here for everything under DIR:
 *     cd DIR && find -L . -type f -printf '%P\0' | LC_ALL=C sort -z |
 *     while IFS= read -r -d '' f; do
 *         printf '%s %s %s\0' "$(sha256sum <"$f" | cut -c1-64)" "$(stat -Lc %s -- "$f")" "$f"
 *     done | sha256sum
 * and for chosen files with `printf '%s\0' FILE...` in place of find. */

#define MANIFEST_FILES_MAX 1000000 /* the largest hub repositories hold some 100,000 files */

struct manifest_entry {
    const char *path; /* relative to the subject's folder; any bytes but NUL */
    uint64_t size_bytes;
    enum shard_state state;
    uint8_t sha256[SHA256_BYTES]; /* zero unless state is SHARD_OK */
    const char *why;              /* as in struct shard; never NULL */
};

struct manifest {
    struct manifest_entry *items; /* sorted by path (bytes), no path twice */
    size_t count;
    uint64_t ok_bytes;            /* sizes of the files that have a digest, summed */
    size_t ok_count;              /* files that have a digest */
    bool complete;                /* there is a file, and every file has a digest */
    uint8_t digest[SHA256_BYTES]; /* zero unless complete */
    struct mem_arena arena;       /* owns items and their strings */
};

/* Hashes folder/paths[i] for n paths (any order), one file a thread, the largest first, on up to
 * `threads` threads (0: one a processor). The result does not depend on threads. A path that is
 * absolute, empty, or has a ".." segment is not opened: its state is SHARD_UNREADABLE and why says
 * so. progress may be NULL; it is ticked from several threads with what "hashing" and unit "B".
 * ERR_USAGE if a path stands twice, ERR_LIMIT over MANIFEST_FILES_MAX, and what pool_run and
 * sha256_final say. A file that cannot be read is an entry, not an error. *ret is set on success
 * only; release with manifest_release. */
int manifest_hash(const char *folder, const char *const *paths, size_t n, unsigned threads,
                  const struct progress *progress, struct manifest *ret, struct err *e);

/* The same from entries that are known already: a baseline from the store. The entries are copied;
 * why may be NULL for "". Errors as above. */
int manifest_of(const struct manifest_entry *entries, size_t n, struct manifest *ret,
                struct err *e);

void manifest_release(struct manifest *m);

/* The entry of that path, or NULL. */
const struct manifest_entry *manifest_find(const struct manifest *m, const char *path);

/* Puts FINGERPRINT_DIGEST (unknown, naming the files in the way, where there is none),
 * FINGERPRINT_FILES and FINGERPRINT_BYTES (what was hashed), and a FINGERPRINT_PROBLEM for each
 * file that is not ok or is empty. The scope of a problem is the path through
 * text_escape_plain. */
int manifest_facts(const struct manifest *m, const struct fact_sink *sink, struct err *e);

#endif
