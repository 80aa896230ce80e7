#ifndef MODEL_EXPECT_MIXERS_H
#define MODEL_EXPECT_MIXERS_H
#include "model/expect.h"

/* Appends the parameters of a mixer as its family names and shapes them. Nothing for kinds whose
 * layout is not known; the model then hides its parameters. */
void expect_mixers_add(const struct model *m, const struct mixer *x, struct expect_list *ret);

#endif
