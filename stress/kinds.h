#ifndef STRESS_KINDS_H
#define STRESS_KINDS_H
#include "core/err.h"
#include "model/model.h"
#include <stddef.h>
#include <stdint.h>

/* The layers of a model by the shape of their mixers. */

#define KINDS_MAX 16 /* mixers of different shape in one model */

struct kinds_group {
    struct mixer mixer;
    uint32_t layers;
    char scope[40]; /* "kda"; with a sliding window "gqa.window"; a second shape of it "gqa.2" */
};

struct kinds {
    struct kinds_group groups[KINDS_MAX];
    size_t count;
};

/* In the order of the cache at target_tokens, the smallest first: what small ones leave of the time
 * goes to those that grow. ERR_LIMIT past KINDS_MAX. */
int kinds_of(const struct model *m, uint64_t target_tokens, struct kinds *ret, struct err *e);

#endif
