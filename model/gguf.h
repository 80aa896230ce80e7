#ifndef MODEL_GGUF_H
#define MODEL_GGUF_H
#include "core/err.h"
#include "core/mem.h"
#include "model/finding.h"
#include "model/tensor.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The GGUF format, versions 2 and 3, little-endian: "GGUF", version u32, tensors u64, pairs u64;
 * the pairs (key, type, value; model/gguf_pairs.h); for each tensor its name, dimensions, type and
 * place; padding; the data. The rules are those of the specification (ggml docs/gguf.md) and of its
 * reader (ggml gguf.cpp); where the reader is stricter than the text, what it would refuse is a
 * finding. */

#define GGUF_WINDOW_BYTES 1048576        /* what to read first: most headers fit */
#define GGUF_HEADER_BYTES_MAX 134217728  /* vocabularies of 256K tokens take about 20 MB */
#define GGUF_PAIRS_MAX 65536             /* real files have up to 100 */
#define GGUF_KEY_BYTES_MAX 65535         /* the specification's own limit */
#define GGUF_TEXT_BYTES_MAX 16777216     /* of one text; chat templates have up to 50 KB */
#define GGUF_TEXT_BYTES_KEPT 4096        /* a longer value keeps its length only */
#define GGUF_ARRAY_ELEMENTS_MAX 16777216 /* the largest vocabulary has a million merges */
#define GGUF_ARRAY_DEPTH_MAX 4           /* arrays within arrays; no file known has any */
#define GGUF_TENSORS_MAX 1000000         /* Kimi K2 as GGUF has 1,096 */
#define GGUF_NAME_BYTES_MAX 255          /* of a tensor */
#define GGUF_NAME_BYTES_USUAL 63         /* what llama.cpp takes */
#define GGUF_DIMS_MAX 4                  /* GGML_MAX_DIMS */
#define GGUF_ALIGNMENT_DEFAULT 32        /* without general.alignment */
#define GGUF_ALIGNMENT_MAX 1073741824

/* Types of values, with the format's own numbers. */
enum gguf_value {
    GGUF_U8,
    GGUF_I8,
    GGUF_U16,
    GGUF_I16,
    GGUF_U32,
    GGUF_I32,
    GGUF_F32,
    GGUF_BOOL,
    GGUF_TEXT,
    GGUF_ARRAY,
    GGUF_U64,
    GGUF_I64,
    GGUF_F64,
    GGUF_VALUES
};

/* One pair of the metadata. Of an array only type and length are kept. */
struct gguf_pair {
    const char *key;
    enum gguf_value type;
    enum gguf_value element; /* GGUF_ARRAY: type of its elements */
    uint64_t count;          /* GGUF_ARRAY: elements; GGUF_TEXT: bytes */
    uint64_t u64;            /* unsigned integers; GGUF_BOOL: 0 or 1 */
    int64_t i64;             /* signed integers */
    double real;             /* GGUF_F32, GGUF_F64 */
    const char *text;        /* GGUF_TEXT; NULL if it is no UTF-8, holds a NUL or is longer than
                                GGUF_TEXT_BYTES_KEPT */
};

/* What a header says. */
struct gguf {
    uint32_t version;
    uint64_t alignment;
    struct gguf_pair *pairs; /* sorted by key */
    size_t pair_count;
    struct tensor *tensors; /* sorted by place; offset counts from the file's start; shape as rows
                               and columns, the reverse of the file's order */
    size_t count;
    uint64_t header_bytes; /* up to the end of the last tensor's description */
    uint64_t data_offset;  /* the same, padded to the alignment */
    uint64_t end_bytes;    /* least size of the file: the end of the last tensor */
    uint64_t padded_bytes; /* the same with the padding that writers put behind it; UINT64_MAX if
                              the size of the last tensor is not known */
    size_t unknown_types;  /* tensors whose size is not known: bytes is then the room up to the
                              next tensor, or to the end of the file */
    struct mem_arena arena;
};

/* True if the bytes start with the magic. */
bool gguf_looks(const void *first, size_t n);

/* Parses a header from the first window_bytes of a file of file_bytes. The length of a header is
 * not known before it is read: if it goes on behind the window, that is success with *ret_more
 * true and nothing in *ret; call again with twice the window (all of a shorter file). Otherwise
 * *ret_more is false and *ret is to be released with gguf_release.
 *
 * ERR_FORMAT for a header that breaks the format (a key or a tensor's name twice, a tensor out of
 * alignment, overlapping another, a row that is no whole number of blocks, sizes that 64 bits do
 * not count) or ends with the file: the message then starts "is short". ERR_LIMIT past one of the
 * limits above, with its number. ERR_UNSUPPORTED for a big-endian file and for versions other than
 * 2 and 3. Findings, which say path: "gguf-type-unknown", "gguf-layout" (tensors not in the order
 * and the places that llama.cpp demands), "gguf-name-long", "gguf-trailing" (bytes behind the
 * data's padding). */
int gguf_parse(const char *path, const void *window, size_t window_bytes, uint64_t file_bytes,
               struct finding_list *findings, bool *ret_more, struct gguf *ret, struct err *e);
void gguf_release(struct gguf *g);

/* ERR_FORMAT if the file ends before its last tensor does: the message starts "is short" and names
 * the first tensor that is cut. */
int gguf_check_size(const struct gguf *g, uint64_t file_bytes, struct err *e);

#endif
