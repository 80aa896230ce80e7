#ifndef MODEL_GGUF_NAMES_H
#define MODEL_GGUF_NAMES_H
#include "model/quant.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Names of tensors in GGUF files ("blk.3.ffn_down_exps.weight"; llama.cpp llama-arch.cpp). */

struct gguf_names {
    const char *part; /* below the layer, or the whole name: "ffn_down_exps"; without what follows
                         the last dot */
    size_t part_bytes;
    const char *suffix; /* ".weight", ".bias", or "" */
    bool layered;
    uint32_t layer;
};

void gguf_names_split(const char *name, struct gguf_names *ret);

/* The class of module that a tensor belongs to, by its name alone. Vectors are norms wherever they
 * stand; what has no place in llama.cpp's scheme is QUANT_OTHER. */
enum quant_class gguf_names_class(const struct tensor *t);

#define GGUF_NAMES_BYTES 320

/* The name that the same tensor has in a checkpoint of transformers, whose layers start with
 * "model.layers.N.". experts: the folder of routed experts ("mlp", "block_sparse_moe"), short: they
 * are called w1, w3, w2. A stack of experts has "%u" in place of the expert's number, and
 * *ret_stack is true. False if the name has no place in such a checkpoint. */
bool gguf_names_translate(const char *name, const char *experts, bool short_names,
                          char ret[GGUF_NAMES_BYTES], bool *ret_stack);

#endif
