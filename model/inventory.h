#ifndef MODEL_INVENTORY_H
#define MODEL_INVENTORY_H
#include "core/err.h"
#include "core/mem.h"
#include "model/finding.h"
#include "model/tensor.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The tensors of a checkpoint, over all its shards: headers only, never the data. */

#define INVENTORY_TENSORS_MAX 4000000 /* Kimi K3 has 497,052 */
#define INVENTORY_SHARDS_MAX 10000

struct inventory_shard {
    const char *path;     /* relative to the subject's folder, as the index names it */
    uint64_t file_bytes;  /* size of the file */
    uint64_t end_bytes;   /* what its header says the size must be */
    uint64_t data_offset; /* where tensor data starts; of safetensors 8 + header length */
    size_t tensors;
};

struct inventory {
    struct tensor *tensors; /* sorted by name (bytes) after inventory_finish */
    size_t count, cap;
    struct inventory_shard *shards;
    size_t shard_count, shard_cap;
    uint64_t stored_bytes; /* sum over tensors; after inventory_finish */
    bool complete; /* after finish: every shard that the index names was added, both sides agree */
    struct mem_arena arena;
};

/* Zero-initialised is empty. */
void inventory_release(struct inventory *inv);

/* Adds a shard from the bytes of its JSON header (header[0..header_bytes), without the leading
 * length). Checks all that a header can tell (facts: offsets against shape and dtype, coverage,
 * overlap, file size) by safetensors_parse. On failure the inventory is as before. */
int inventory_add_safetensors(struct inventory *inv, const char *path, uint64_t file_bytes,
                              const char *header, size_t header_bytes,
                              struct finding_list *findings, struct err *e);

struct safetensors; /* model/safetensors.h */

/* Adds a shard whose header was parsed, say in another thread, with copies of what it holds. The
 * file may have another size than its header says: what the header tells is worth having, and the
 * inventory is then never complete. ERR_LIMIT past the limits above, ERR_USAGE if path was added
 * before. */
int inventory_add_header(struct inventory *inv, const char *path, uint64_t file_bytes,
                         const struct safetensors *header, struct err *e);

/* The same of any container: shard->tensors of them, which are copied, as is the path. */
int inventory_add_tensors(struct inventory *inv, const struct inventory_shard *shard,
                          const struct tensor *tensors, struct err *e);

struct shard_index; /* model/index.h */

/* Sorts, and compares with the index (NULL: there is none) both ways. Each of these is a finding
 * with its names; many of one kind are counted and the first few named:
 * "tensor-twice" (fail: in two shards, and the copies differ or no index says which one counts),
 * "tensor-copies" (warn: in two shards, alike by their headers, the index chooses one),
 * "index-tensor-missing" (fail: named, and its shard has no such tensor), "tensor-other-shard"
 * (fail: in another shard than named), "shards-not-read" (fail: named and not added), and as
 * warnings "tensor-not-indexed", "shard-not-indexed", "index-total-size-differs". Of a tensor in
 * several shards one stays: where the index has it, otherwise in the shard that was added first.
 * ERR_LIMIT if the sizes together leave 64 bits. */
int inventory_finish(struct inventory *inv, const struct shard_index *index,
                     struct finding_list *findings, struct err *e);

/* The tensor of that name, or NULL. After inventory_finish. */
const struct tensor *inventory_find(const struct inventory *inv, const char *name);

#endif
