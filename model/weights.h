#ifndef MODEL_WEIGHTS_H
#define MODEL_WEIGHTS_H
#include "core/err.h"
#include "model/inventory.h"
#include <stddef.h>
#include <stdint.h>

/* Reads values of tensors. dir is the folder that the inventory's shard paths are relative to.
 * Files are opened for reading only. */

/* n bytes of the tensor's stored data, from its byte `first` on. ERR_USAGE if the tensor has not so
 * many; ERR_FORMAT if the file is not as long as when its header was read; otherwise what
 * file_open and file_read_at say. */
int weights_read_bytes(const char *dir, const struct inventory *inv, const struct tensor *t,
                       uint64_t first, size_t n, void *ret, struct err *e);

/* n elements from element `first` on, as floats: BF16, F16 and F32 exactly, F64 rounded.
 * ERR_UNSUPPORTED for other formats, otherwise as above. On failure ret's content is undefined. */
int weights_read_f32(const char *dir, const struct inventory *inv, const struct tensor *t,
                     uint64_t first, size_t n, float *ret, struct err *e);

#endif
