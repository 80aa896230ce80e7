#ifndef MODEL_SAFETENSORS_H
#define MODEL_SAFETENSORS_H
#include "core/err.h"
#include "core/mem.h"
#include "model/finding.h"
#include "model/tensor.h"
#include <stddef.h>
#include <stdint.h>

/* The safetensors format: 8 bytes of header length N (little-endian), N bytes of JSON, the data.
 * The rules are those of the reference reader (huggingface/safetensors, tensor.rs), made stricter
 * where readers are known to disagree: a name twice is refused. */

#define SAFETENSORS_HEADER_BYTES_MAX 100000000 /* the reference's own limit */
#define SAFETENSORS_PREFIX_BYTES 8
#define SAFETENSORS_TENSORS_MAX 4000000 /* a file; the largest model known has 497,052 in all */

/* N, from the first bytes of a file (first_bytes: 8, or all of a shorter file) and its size.
 * ERR_FORMAT if the file is too small, N reaches past its end, or it is another kind of file, which
 * is then named (safetensors_sniff); ERR_LIMIT if N is over SAFETENSORS_HEADER_BYTES_MAX. */
int safetensors_header_bytes(const void *first, size_t first_bytes, uint64_t file_bytes,
                             uint64_t *ret, struct err *e);

/* What a file that starts with these bytes (512 are plenty) is, if that is known and is not
 * safetensors: "a Git-LFS pointer", "a ZIP archive (PyTorch's .bin files are)", "an empty file";
 * otherwise NULL. Ask only when the header makes no sense: a valid length may look like a magic
 * number. */
const char *safetensors_sniff(const void *first, size_t n);

struct safetensors_pair {
    const char *key, *value;
};

/* A header's content. */
struct safetensors {
    struct tensor *tensors; /* sorted by place in the file; offset counts from the file's start,
                               shard is 0 */
    size_t count;
    struct safetensors_pair *metadata; /* __metadata__, in the header's order */
    size_t metadata_count;
    uint64_t data_offset;   /* 8 + N */
    uint64_t end_bytes;     /* what the size of the file must be */
    struct mem_arena arena; /* names and texts */
};

/* Parses header[0..header_bytes), the N bytes of JSON. JSON white space around it is fine; a byte
 * order mark or NUL padding is not. Every tensor must have a dtype, a shape and data_offsets, where
 * begin <= end, and end - begin is the product of the shape times the dtype's bits, in whole bytes;
 * together they must cover the data from 0 without gap or overlap (a tensor of no bytes may stand
 * at any seam). ERR_FORMAT, naming the tensor, for a violation; ERR_LIMIT for more than
 * TENSOR_DIMS_MAX dimensions or SAFETENSORS_TENSORS_MAX tensors. A dtype that we do not know is the
 * finding "dtype-unknown": its size is then believed. Members that the format does not have are
 * the finding "header-member-unknown". Both say path, as given. *ret is set on success only;
 * release with safetensors_release. */
int safetensors_parse(const char *path, const char *header, size_t header_bytes,
                      struct finding_list *findings, struct safetensors *ret, struct err *e);
void safetensors_release(struct safetensors *s);

/* ERR_FORMAT if the file has not the size that its header asks for; the message has both sizes and
 * the difference, and names the first tensor that a short file cuts. */
int safetensors_check_size(const struct safetensors *s, uint64_t file_bytes, struct err *e);

#endif
