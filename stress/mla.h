#ifndef STRESS_MLA_H
#define STRESS_MLA_H
#include "model/dtype.h"
#include <stddef.h>
#include <stdint.h>

/* Multi-head latent attention: attention.mla of the conformance SPEC. The cache holds a latent
 * c [T][rank] shared by all heads and a key part k_rope [T][rope_dim] that is already rotated. */
struct mla_shape {
    uint64_t tokens; /* T: tokens in the cache, the new one included */
    uint64_t heads;
    uint64_t nope_dim, rope_dim; /* rope_dim may be 0; then k_rope is not read */
    uint64_t rank, value_dim;
    double scale;
    enum dtype store; /* of c, k_rope, w_uk and w_uv: DTYPE_F32 or DTYPE_BF16 */
};

/* One new token, absorbed: q_nope goes through w_uk once, so that only the cache is read by token.
 *   q [heads][nope_dim + rope_dim]   c [T][rank]   k_rope [T][rope_dim]
 *   w_uk [heads][nope_dim][rank]     w_uv [heads][value_dim][rank]
 *   logits_t = scale * ((w_uk^T q_nope) . c_t + q_rope . k_rope_t)
 *   ret_out [heads][value_dim] = w_uv (softmax(logits) c)
 * T = 0 gives zeros. NaN in an input gives NaN in the outputs that depend on it. scratch: 64-byte
 * aligned, mla_scratch_bytes(s). Does not allocate. */
typedef void mla_decode_fn(const struct mla_shape *s, const float *q, const void *c,
                           const void *k_rope, const void *w_uk, const void *w_uv, float *ret_out,
                           void *scratch);

struct mla_ops {
    mla_decode_fn *decode;
    const char *variant;
};
void mla_init(struct mla_ops *ops, unsigned cpu_mask);
size_t mla_scratch_bytes(const struct mla_shape *s); /* of decode */

/* The expanded form, as tests/vectors/SPEC.md writes it, over all tokens: keys w_uk c and values
 * w_uv c are formed for each token and head. All F32; q_nope [T][heads][nope_dim], q_rope
 * [T][heads][rope_dim] (NULL if rope_dim is 0), ret_out [T][heads][value_dim]. */
void mla_expanded(const struct mla_shape *s, const float *q_nope, const float *q_rope,
                  const float *c, const float *k_rope, const float *w_uk, const float *w_uv,
                  float *ret_out, void *scratch);
size_t mla_expanded_scratch_bytes(const struct mla_shape *s);

/* The variants, for mla_init: each puts itself over what is there. */
void mla_avx2(struct mla_ops *ops);
void mla_avx512(struct mla_ops *ops);

#endif
