#ifndef STRESS_MOE_H
#define STRESS_MOE_H
#include "model/dtype.h"
#include "model/model.h"
#include "stress/act.h"
#include "stress/prim.h"
#include <stddef.h>
#include <stdint.h>

/* Mixture of experts in a latent space: moe.latent of the conformance SPEC. */
struct moe_shape {
    uint64_t hidden;       /* d */
    uint64_t latent;       /* l */
    uint64_t inner;        /* m: of one expert */
    uint64_t shared_inner; /* ms: of all shared experts together; 0: none */
    struct router router;  /* on_latent says what the router reads */
    enum act_kind act;
    double situ_beta, situ_linear_beta;
    double eps;       /* of the latent norm */
    enum dtype store; /* of all matrices: DTYPE_F32 or DTYPE_BF16 */
};

/* Matrices are row-major [outputs][inputs]. Experts are found through pointers, as a checkpoint
 * holds them; several may share one storage, where a model is larger than memory. */
struct moe_weights {
    const void *router;    /* [experts][hidden], or [experts][latent] with on_latent */
    const float *bias;     /* [experts] or NULL */
    const void *down;      /* [latent][hidden] */
    const void *up;        /* [hidden][latent] */
    const float *norm;     /* [latent] or NULL */
    const void *const *w1; /* w1[e] [inner][latent] */
    const void *const *w3; /* w3[e] [inner][latent], or w3 NULL: ungated experts */
    const void *const *w2; /* w2[e] [latent][inner] */
    const void *sw1;       /* [shared_inner][hidden], or NULL with shared_inner 0 */
    const void *sw3;       /* [shared_inner][hidden], or NULL: the shared expert is ungated */
    const void *sw2;       /* [hidden][shared_inner] */
};

/* One token: z = down x; top_k experts by router; per expert w2(act(w1 z) * (w3 z));
 *   ret_y [d] = up norm(sum_i w_i E_i(z)) + shared(x)
 * ret_idx [top_k] are the experts picked. x [d] and ret_y must not overlap. The router passed
 * route_check. scratch: 64-byte aligned, moe_scratch_bytes(s). Does not allocate. */
typedef void moe_token_fn(const struct moe_shape *s, const struct moe_weights *w, const float *x,
                          float *ret_y, uint32_t *ret_idx, void *scratch);

struct moe_ops {
    moe_token_fn *token;
    const char *variant;
};
void moe_init(struct moe_ops *ops, unsigned cpu_mask);
size_t moe_scratch_bytes(const struct moe_shape *s); /* of token */

/* The same as an engine without the operator runs it: small operations one after the other over
 * whole arrays in memory. Routing stays one operation: every engine with experts has it. */
void moe_composed(const struct prim_ops *p, const struct moe_shape *s, const struct moe_weights *w,
                  const float *x, float *ret_y, uint32_t *ret_idx, void *scratch);
size_t moe_composed_scratch_bytes(const struct moe_shape *s);

/* The variants, for moe_init: each puts itself over what is there. */
void moe_avx2(struct moe_ops *ops);
void moe_avx512(struct moe_ops *ops);

#endif
