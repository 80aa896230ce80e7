#ifndef MODEL_ROUTERS_H
#define MODEL_ROUTERS_H
#include "core/err.h"
#include "model/config.h"
#include "model/model.h"

/* The router of the family's experts, as the config describes it. What it does not tell is
 * unexplained; errors as model_build's. */
int routers_build(struct config *c, struct router *ret, struct err *e);

#endif
