#ifndef MODEL_BLOCKS_H
#define MODEL_BLOCKS_H
#include "core/err.h"
#include "model/config.h"

/* Layers that a search made different from each other: block_configs of Nemotron-NAS (an attention
 * and a feed-forward each) and of Nemotron Puzzle (a block each). Changes the layers of c->m, which
 * hold what the other keys say, where the family reads the key and it is there. Errors as
 * model_build's; what is not understood is unexplained. */
int blocks_build(struct config *c, struct err *e);

#endif
