#ifndef STRESS_RESIDUAL_H
#define STRESS_RESIDUAL_H
#include "model/dtype.h"
#include "stress/prim.h"
#include <stddef.h>
#include <stdint.h>

/* Attention residuals: residual.attnres and residual.attnres_block of the conformance SPEC. */
struct residual_shape {
    uint64_t sources; /* N: streams looked at */
    uint64_t hidden;  /* d */
    double eps;       /* of the RMS norm */
    enum dtype store; /* of the sources: DTYPE_F32 or DTYPE_BF16 */
};

/* One token: v[i] points at source i, [d]; w [d] the learned query, norm [d] the norm's weight.
 *   p = softmax_i(w . (v_i / sqrt(mean v_i^2 + eps) * norm))    ret_h [d] = sum_i p_i v_i
 * ret_p [N] may be NULL. NaN in a source gives NaN. scratch: 64-byte aligned,
 * residual_scratch_bytes(s). Does not allocate. */
typedef void residual_mix_fn(const struct residual_shape *s, const void *const *v, const float *w,
                             const float *norm, float *ret_h, float *ret_p, void *scratch);

struct residual_ops {
    residual_mix_fn *mix;
    const char *variant;
};
void residual_init(struct residual_ops *ops, unsigned cpu_mask);
size_t residual_scratch_bytes(const struct residual_shape *s); /* of mix */

/* The same as an engine without the operator runs it: square, mean, scale, multiply, dot, softmax,
 * multiply, add, each over whole arrays in memory. */
void residual_composed(const struct prim_ops *p, const struct residual_shape *s,
                       const void *const *v, const float *w, const float *norm, float *ret_h,
                       float *ret_p, void *scratch);
size_t residual_composed_scratch_bytes(const struct residual_shape *s);

/* The whole block form, all F32: embed [T][d], f [L][T][d], w and norm [L+1][d], ret_h [L+1][T][d];
 * block counts sub-layers and is at least 1. Row l mixes embed, the sum of f over each block
 * finished before l, and the running sum of l's own block unless l is its first. */
struct residual_block {
    uint64_t layers, tokens, hidden, block;
    double eps;
};
void residual_block(const struct residual_ops *ops, const struct residual_block *b,
                    const float *embed, const float *f, const float *w, const float *norm,
                    float *ret_h, void *scratch);
size_t residual_block_scratch_bytes(const struct residual_block *b);

/* The variants, for residual_init: each puts itself over what is there. */
void residual_avx2(struct residual_ops *ops);
void residual_avx512(struct residual_ops *ops);

#endif
