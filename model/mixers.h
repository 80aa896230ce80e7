#ifndef MODEL_MIXERS_H
#define MODEL_MIXERS_H
#include "core/err.h"
#include "model/layers.h"

/* The mixer of every layer of c->m, whose heads, hidden and layer_count are set and whose layers
 * are allocated. What cannot be told leaves MIXER_UNKNOWN and an unexplained entry. */
int mixers_build(struct config *c, struct layers_known *known, struct err *e);

#endif
