#ifndef MODEL_LAYERS_H
#define MODEL_LAYERS_H
#include "core/err.h"
#include "model/config.h"
#include "model/model.h"

/* The mixers that the config describes, whether or not a layer has them: what a layer becomes when
 * its tensors say another kind than the config does. kind is MIXER_UNKNOWN where there is none. */
struct layers_known {
    struct mixer full, window, linear, mamba, conv;
};

/* Fills widths and layers of c->m from the config alone. Errors as model_build's. */
int layers_build(struct config *c, struct layers_known *ret, struct err *e);

#endif
