#ifndef MODEL_GGUF_MODEL_H
#define MODEL_GGUF_MODEL_H
#include "core/err.h"
#include "model/finding.h"
#include "model/gguf.h"
#include "model/inventory.h"
#include "model/model.h"

/* The model that a GGUF file holds, from its metadata and its tensors alone. The metadata is put
 * into the words of a config.json and the tensors get the names that they have in a checkpoint of
 * transformers, so that everything that is known of such a checkpoint is checked here too. */

/* Architectures: llama (with experts: mixtral), qwen2, qwen2moe, qwen3, qwen3moe. inv is finished
 * and has the tensors as the files name them. *ret_inv has them renamed, with a stack of experts
 * cut into its experts; places and sizes stay. ERR_UNSUPPORTED, with what stands in the way, for
 * another architecture, a set that is not complete, a key below the architecture's name or a tensor
 * that is not understood; ERR_FORMAT for a needed key that is missing or of another kind; otherwise
 * as model_build. Release *ret with model_release and *ret_inv with inventory_release. */
int gguf_model_build(const struct gguf *g, const struct inventory *inv,
                     struct finding_list *findings, struct model *ret, struct inventory *ret_inv,
                     struct err *e);

#endif
