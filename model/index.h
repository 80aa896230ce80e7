#ifndef MODEL_INDEX_H
#define MODEL_INDEX_H
#include "core/err.h"
#include "core/mem.h"
#include "model/finding.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* model.safetensors.index.json: which shard holds which tensor. */

#define INDEX_BYTES_MAX (512u << 20) /* Kimi K3's has 60 MB */
#define INDEX_ENTRIES_MAX 4000000
#define INDEX_SHARD_NAME_BYTES_MAX 1024
#define INDEX_FILE "model.safetensors.index.json"

struct shard_index_entry {
    const char *name; /* of the tensor */
    uint32_t shard;   /* into shards */
};

struct shard_index {
    struct shard_index_entry *entries; /* sorted by name (bytes), each name once */
    size_t count;
    const char **shards; /* sorted, each once; paths relative to the index, checked to stay below
                            its folder */
    size_t shard_count;
    bool has_total_size;
    uint64_t total_size; /* metadata.total_size: bytes of all tensors, as the writer counted them */
    struct mem_arena arena;
};

/* Parses an index. ERR_FORMAT for bad JSON, a name twice, a missing weight_map or one of the wrong
 * kind, and for a shard whose name fails index_check_shard; ERR_LIMIT past the limits above.
 * Findings: "index-bom", "index-total-size" (there, but not a whole number), "index-empty". *ret is
 * set on success only; release with index_release. */
int index_parse(const char *text, size_t bytes, struct finding_list *findings,
                struct shard_index *ret, struct err *e);
void index_release(struct shard_index *x);

/* ERR_FORMAT if a shard's name is empty, absolute, has a "..", "." or empty part, a backslash, a
 * control character, or a scheme or drive ("http://", "C:"): it could leave the folder.
 * ERR_LIMIT if it is too long. */
int index_check_shard(const char *name, struct err *e);

/* The shard's number in x->shards, or -1. */
long index_find_shard(const struct shard_index *x, const char *path);

#endif
