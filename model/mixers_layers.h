#ifndef MODEL_MIXERS_LAYERS_H
#define MODEL_MIXERS_LAYERS_H
#include "core/err.h"
#include "model/config.h"

/* What differs between layers of one kind: compression ratios, owners of index keys, layers with an
 * index of blocks, layers that read an earlier cache, query heads a layer. Changes the mixers of
 * c->m, all of which are set. Errors as model_build's; what is not understood is unexplained. */
int mixers_layers_apply(struct config *c, struct err *e);

#endif
