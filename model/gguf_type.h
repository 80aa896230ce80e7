#ifndef MODEL_GGUF_TYPE_H
#define MODEL_GGUF_TYPE_H
#include "model/dtype.h"
#include <stdint.h>

/* The element types of GGUF files by their ids in ggml.h (enum ggml_type), with the sizes of their
 * blocks (ggml-common.h). A block is the smallest piece that can be stored: block_elements numbers
 * in block_bytes bytes, scales included. */
struct gguf_type {
    const char *name;   /* as ggml spells it in upper case: "Q4_K" */
    const char *format; /* as quant.h spells formats: "gguf-q4_k"; of plain types "bf16", "i8" */
    enum dtype dtype;   /* of plain types; DTYPE_UNKNOWN for those that come in blocks */
    uint32_t block_elements, block_bytes;
};

/* NULL for an id that is not known, or whose type was removed from ggml. */
const struct gguf_type *gguf_type_find(uint32_t id);

/* The name of a type that ggml once had and removed ("Q4_2"); otherwise NULL. */
const char *gguf_type_removed(uint32_t id);

/* The type whose format is spelled so ("gguf-q4_k"), or NULL. */
const struct gguf_type *gguf_type_named(const char *format);

/* Bits for a number, scales included: 4.5 for Q4_K. */
double gguf_type_bits(const struct gguf_type *t);

/* general.file_type (enum llama_ftype in llama.h): its name ("Q4_K_M") to *ret_name and the format
 * that most of the weights have ("gguf-q4_k") to *ret_format. Returns 0, or -1 for a number that is
 * not known: then nothing is set. */
int gguf_type_of_file(uint64_t file_type, const char **ret_name, const char **ret_format);

#endif
