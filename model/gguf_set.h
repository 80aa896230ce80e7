#ifndef MODEL_GGUF_SET_H
#define MODEL_GGUF_SET_H
#include "model/finding.h"
#include "model/gguf.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A model that is cut into several GGUF files: each says in split.no and split.count which part it
 * is, and in split.tensors.count how many tensors all parts have together. The first part has the
 * metadata, the others little more than those three. */

struct gguf_part {
    const char *path;
    struct gguf gguf;
};

struct gguf_set {
    uint64_t count; /* parts that there must be: split.count, 1 where no part has it */
    size_t first;   /* the part that has the metadata: split.no 0, else the first with an
                       architecture, else 0 */
    bool whole;     /* every part is there once, and they agree */
};

/* Compares the n parts (at least one) whose headers could be read. Findings, all failures but the
 * last three: "split-part-missing", "split-part-twice", "split-count-differs",
 * "split-architecture-differs", "split-tensors-differ" (their sum, where no part is missing);
 * "split-name-differs" (the number in a name is not split.no + 1), "gguf-file-type-differs" (no
 * tensor has the format that general.file_type names), "gguf-architecture-missing". */
void gguf_set_check(const struct gguf_part *parts, size_t n, struct finding_list *findings,
                    struct gguf_set *ret);

#endif
