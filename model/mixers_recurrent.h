#ifndef MODEL_MIXERS_RECURRENT_H
#define MODEL_MIXERS_RECURRENT_H
#include "core/err.h"
#include "model/config.h"
#include "model/model.h"

/* The mixers that keep a state of constant size, as the config describes them. ret->kind stays
 * MIXER_UNKNOWN, with an unexplained entry, where it does not. Errors as model_build's. */

/* Of the family's linear attention. */
int mixers_recurrent_linear(struct config *c, struct mixer *ret, struct err *e);
int mixers_recurrent_mamba(struct config *c, struct mixer *ret, struct err *e);
int mixers_recurrent_conv(struct config *c, struct mixer *ret, struct err *e);

#endif
