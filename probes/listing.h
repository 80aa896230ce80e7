#ifndef PROBES_LISTING_H
#define PROBES_LISTING_H
#include "core/err.h"
#include "probes/local.h"

/* Which files a local subject has, and what each is to it: fills the files of a struct local. */

struct listing {
    struct local *l;
    size_t cap;
    size_t
        listed; /* files of the folder, sorted, come first; behind them those that are only named */
};

/* Lists the folder. Safetensors are LOCAL_SPARE until listing_choose tells which make up the
 * checkpoint. */
int listing_read(struct listing *b, struct err *e);

/* In place of listing_read and listing_choose, of a subject that is one file of that container: the
 * file, and of a part of a GGUF set the other parts, there or not. */
int listing_read_file(struct listing *b, const char *name, enum container container, struct err *e);

/* The file of the folder with that name, or NULL. */
struct local_file *listing_find(const struct listing *b, const char *path);

/* Once the index is read and the containers of other files are known: decides which safetensors (in
 * a folder without any, which GGUF files) are shards, adds those that the index or the
 * numbers in the names ("-00003-of-00096") promise and the folder lacks, and sorts all by path.
 * Findings: "index-missing", "file-spare", "gguf-several" (models of their own: none is taken),
 * "gguf-spare" (beside what is read: a note).
 * ERR_LIMIT for too many files. */
int listing_choose(struct listing *b, struct err *e);

/* By path, for qsort and bsearch over struct local_file. */
int listing_compare(const void *a, const void *b);

#endif
