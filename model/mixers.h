#ifndef MODEL_MIXERS_H
#define MODEL_MIXERS_H
#include "core/err.h"
#include "model/layers.h"
#include "model/plan.h"

/* The mixer of every layer of c->m, whose heads, hidden and layer_count are set and whose layers
 * are allocated; slots say what sort each has. What cannot be told leaves MIXER_UNKNOWN and an
 * unexplained entry. Errors as model_build's. */
int mixers_build(struct config *c, const enum plan_slot *slots, struct layers_known *known,
                 struct err *e);

#endif
