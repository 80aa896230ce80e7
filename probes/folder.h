#ifndef PROBES_FOLDER_H
#define PROBES_FOLDER_H
#include "core/err.h"
#include "core/file.h"
#include "core/mem.h"
#include <stdbool.h>
#include <stddef.h>

/* Where a local subject is, what kind of place that is, and the names in it. */

struct folder {
    char real_path[FILE_PATH_BYTES];
    char file[FILE_PATH_BYTES];  /* the file's name in it, if the subject is a file; otherwise "" */
    const char *kind;            /* "folder", "git clone", "hub cache snapshot" */
    char revision[41];           /* of a hub cache snapshot: its commit; otherwise "" */
    char repo[256];              /* of a hub cache snapshot: "org/name"; otherwise "" */
    char blobs[FILE_PATH_BYTES]; /* of a hub cache snapshot: where its links may lead, otherwise ""
                                  */
};

/* Resolves path. A file stands for itself: real_path is then its folder, as the path names it, and
 * links at the file itself are not followed. A hub cache entry ("models--org--name") stands for the snapshot that its refs/main
 * names. ERR_NOTFOUND if there is nothing, or a cache entry without that snapshot; ERR_UNSUPPORTED
 * if it is a device or a FIFO; ERR_IO if it may not be read. */
int folder_resolve(const char *path, struct folder *ret, struct err *e);

/* The names in the folder that end in one of the suffixes ({...NULL}) and do not start with a dot,
 * sorted by bytes, in the arena; *ret_names is to be freed. ERR_LIMIT over max names; ERR_IO if the
 * folder cannot be read. */
int folder_list(const char *dir, const char *const *suffixes, size_t max, struct mem_arena *arena,
                const char ***ret_names, size_t *ret_count, struct err *e);

/* True if name in the folder leads outside it by a symbolic link (and, in a hub cache, outside its
 * blobs too); ret_target is where to. */
bool folder_leaves(const struct folder *f, const char *name, char ret_target[FILE_PATH_BYTES]);

#endif
