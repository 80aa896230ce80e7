#ifndef MODEL_FOLLOW_H
#define MODEL_FOLLOW_H
#include "model/census.h"
#include "model/layers.h"
#include "model/tally.h"

/* Lets the tensors decide: each layer's mixer kind and widths, its feed-forward kind and widths,
 * and the residual kind become what the census found, where it found enough to tell. Every change
 * is noted. A kind that the config gives no account of makes the model unexplained. */
void follow_census(struct config *c, const struct census *cs, const struct layers_known *known,
                   struct tally *t);

#endif
