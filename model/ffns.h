#ifndef MODEL_FFNS_H
#define MODEL_FFNS_H
#include "core/err.h"
#include "model/config.h"

/* The feed-forward of every layer of c->m, whose hidden and layer_count are set and whose layers
 * are allocated. */
int ffns_build(struct config *c, struct err *e);

#endif
