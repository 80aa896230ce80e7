#ifndef FINGERPRINT_DIFF_H
#define FINGERPRINT_DIFF_H
#include "fingerprint/manifest.h"
#include <stdbool.h>
#include <stddef.h>

/* What became of the files of snapshot A in snapshot B. */

enum diff_class {
    DIFF_IDENTICAL,    /* same path, same digest and size */
    DIFF_CHANGED,      /* same path, other digest */
    DIFF_ADDED,        /* in B only */
    DIFF_REMOVED,      /* in A only */
    DIFF_RENAMED,      /* same digest and size under another path */
    DIFF_UNVERIFIABLE, /* a side names the file and has no digest of it */
    DIFF_CLASSES
};

/* A file that is named and known to be missing counts as not there: A ok and B missing is removed.
 * Neither side there is unverifiable. */
struct diff_entry {
    enum diff_class class;
    const struct manifest_entry *a, *b; /* as the manifests have them; NULL where one has none */
};

struct diff {
    struct diff_entry *items; /* sorted by path: that of a, or of b where a is NULL */
    size_t count;
    size_t counts[DIFF_CLASSES];
};

/* Compares. Each file stands in exactly one entry. Where several removed and added files share one
 * digest, they are paired as renamed in order of path, each at most once; what is left over stays
 * removed or added. The entries point into the manifests, which must outlive ret. Swapping A and B
 * swaps added and removed and the sides; only the order of renamed entries may move. */
void diff_compare(const struct manifest *a, const struct manifest *b, struct diff *ret);
void diff_release(struct diff *d);

/* True if there is something, and all of it is identical: nothing changed, came, went, moved, or
 * could not be verified. */
bool diff_equal(const struct diff *d);

/* True if a difference was seen: changed, added, removed or renamed. Where this and diff_equal are
 * both false, the answer is not known. */
bool diff_differs(const struct diff *d);

const char *diff_class_name(enum diff_class c); /* "identical", "changed", ... "unverifiable" */

#endif
