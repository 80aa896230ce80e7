#ifndef MODEL_SAFETENSORS_WRITE_H
#define MODEL_SAFETENSORS_WRITE_H
#include "core/buf.h"
#include "core/err.h"
#include "model/safetensors.h"

/* Makes safetensors headers; the caller streams the data behind them. */

struct safetensors_write_tensor {
    const char *name;
    enum dtype dtype;
    uint8_t dims;
    uint64_t shape[TENSOR_DIMS_MAX];
    uint64_t begin, bytes; /* written by safetensors_write_header: where its data goes, counted from
                              the end of the header, and how much it is */
};

/* Sorts the tensors by name (the order in which their data must follow, back to back from begin 0),
 * and appends the 8 bytes of length and the header, padded with spaces to a multiple of 8, to b.
 * The buffer's own maximum applies: check it with buf_check. ERR_FORMAT for a name twice, an empty
 * name, one that is not UTF-8 or is "__metadata__"; ERR_LIMIT for sizes past 64 bits or too many
 * dimensions; ERR_UNSUPPORTED for DTYPE_UNKNOWN or a size that is no whole number of bytes. */
int safetensors_write_header(struct safetensors_write_tensor *tensors, size_t count,
                             const struct safetensors_pair *metadata, size_t metadata_count,
                             struct buf *b, struct err *e);

#endif
