#ifndef MODEL_TENSOR_H
#define MODEL_TENSOR_H
#include "model/dtype.h"
#include <stddef.h>
#include <stdint.h>

#define TENSOR_DIMS_MAX 8 /* real tensors have at most 5 */

/* A tensor as a header describes it: never its data. */
struct tensor {
    const char *name;       /* any UTF-8 but NUL; owned by the inventory */
    const char *dtype_text; /* as the header spells it */
    enum dtype dtype;
    const char *format; /* of a GGUF type that comes in blocks: "gguf-q4_k", static, and dtype is
                           DTYPE_UNKNOWN; NULL for all others */
    uint8_t dims;
    uint64_t shape[TENSOR_DIMS_MAX];
    uint64_t offset; /* first byte in the shard's file */
    uint64_t bytes;  /* as stored */
    uint32_t shard;  /* index into the inventory's shards */
};

/* The product of the shape; 1 for a scalar. Whoever fills a tensor has checked that it fits. */
uint64_t tensor_elements(const struct tensor *t);

/* "[7168, 3584]" into ret, which it returns; cut with "..." if it does not fit. */
const char *tensor_shape_text(const struct tensor *t, char *ret, size_t ret_bytes);

#endif
