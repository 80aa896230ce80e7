#ifndef AUDIT_SAMPLE_PLAN_H
#define AUDIT_SAMPLE_PLAN_H
#include "core/mem.h"
#include "model/dtype.h"
#include <stddef.h>
#include <stdint.h>

/* The tensors of the sample checkpoint: names, shapes, ranges of values, and shards. The numbers
 * are those of sample_config.json. */

#define SAMPLE_PLAN_SHARD_NAME "model-%05u-of-%05d.safetensors"

struct sample_plan_tensor {
    const char *name;
    enum dtype dtype; /* BF16, F32, or U8 */
    unsigned dims;
    uint64_t shape[3];
    uint64_t elements;
    uint64_t real;        /* the first so many elements have values, the rest is padding of zeros */
    float centre, spread; /* noise of that mean and deviation; U8: centre + spread * (0..15), or
                             any byte when spread is 0 */
    unsigned shard;
};

struct sample_plan {
    struct sample_plan_tensor
        *tensors; /* split in the order of the layers; by shard, then by name */
    size_t count, cap;
    uint64_t total_bytes; /* of all tensors */
    struct mem_arena arena;
};

/* Fills an empty plan, split into shards of about the same size. */
void sample_plan_make(struct sample_plan *p, unsigned shards);
void sample_plan_release(struct sample_plan *p);

#endif
