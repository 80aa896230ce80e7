#ifndef MODEL_FFNS_H
#define MODEL_FFNS_H
#include "core/err.h"
#include "model/config.h"
#include "model/plan.h"

/* The feed-forward of every layer of c->m, whose hidden and layer_count are set and whose layers
 * are allocated; slots say which of them have experts where the family's mixers and feed-forwards
 * are layers of their own. Errors as model_build's. */
int ffns_build(struct config *c, const enum plan_slot *slots, struct err *e);

#endif
