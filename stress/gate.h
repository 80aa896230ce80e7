#ifndef STRESS_GATE_H
#define STRESS_GATE_H
#include "core/err.h"
#include "model/inventory.h"
#include "model/model.h"
#include <stdint.h>

/* The router of one layer with its real weights, as floats. */
struct gate {
    struct router router;
    uint32_t hidden; /* width of what comes in */
    uint32_t width;  /* width of what the router reads: the latent's with on_latent */
    float *weight;   /* [experts][width] */
    float *down;     /* [width][hidden] with on_latent, else NULL */
    float *bias;     /* [experts], picks and never weighs; or NULL */
    float *offset;   /* [experts], added to the logits; or NULL */
};

/* Reads the router of layer `layer` by the tensor names of the families (facts: coverage 5.6):
 * block_sparse_moe.gate, mlp.gate, mlp.router; their bias; and with on_latent the projection into
 * the latent. ERR_NOTFOUND, with the names that were looked for, if one that the model needs is not
 * there; ERR_FORMAT if a shape is not the model's or a value is not finite; ERR_UNSUPPORTED for
 * a format that is not BF16, F16, F32 or F64, or a router that route_check refuses; otherwise what
 * weights_read_f32 says. */
int gate_init(const struct model *m, uint32_t layer, const struct inventory *inv, const char *dir,
              struct gate *ret, struct err *e);
void gate_release(struct gate *g);

#define GATE_BLOCK 128 /* tokens that a thread takes at once */

/* Routes x [tokens][hidden]; counts [experts] is added to: how many tokens picked that expert.
 * threads 0: one a processor. ERR_LIMIT if there is no memory for the threads' work. */
int gate_route(const struct gate *g, const float *x, uint64_t tokens, unsigned threads,
               unsigned cpu_mask, uint64_t *counts, struct err *e);

#endif
