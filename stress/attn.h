#ifndef STRESS_ATTN_H
#define STRESS_ATTN_H
#include "model/dtype.h"
#include "stress/prim.h"
#include <stddef.h>
#include <stdint.h>

/* Softmax attention: attention.gqa and attention.key_decoupled of the conformance SPEC. Keys and
 * values have head counts and widths of their own; grouped-query attention is the case with
 * key_heads == value_heads, multi-head attention the one with all three equal. Query head h reads
 * key head h*key_heads/heads and value head h*value_heads/heads, rounded down. */
struct attn_shape {
    uint64_t tokens; /* T: tokens in the cache, the new one included */
    uint64_t heads, key_heads, value_heads;
    uint64_t key_dim, value_dim;
    uint64_t window;  /* W: only the last W tokens are seen; 0: all */
    double scale;     /* of the logits, before the softmax */
    enum dtype store; /* of k and v: DTYPE_F32 or DTYPE_BF16 */
};

/* One new token, the last of the cache:
 *   q [heads][key_dim]   k [T][key_heads][key_dim]   v [T][value_heads][value_dim]
 *   sinks [heads], or NULL: one more logit a head, not scaled, which has no value
 *   ret_out [heads][value_dim] = softmax_t(scale * q.k_t) v_t
 * T = 0 gives zeros. NaN in an input gives NaN in the outputs that depend on it. scratch: 64-byte
 * aligned, attn_scratch_bytes(s). Does not allocate; threads need a scratch each. */
typedef void attn_decode_fn(const struct attn_shape *s, const float *q, const void *k,
                            const void *v, const float *sinks, float *ret_out, void *scratch);

struct attn_ops {
    attn_decode_fn *decode;
    const char *variant; /* "c" (the definition), "avx2", "avx512" */
};

/* The definition, then whatever of cpu_mask (CPU_* of core/cpu.h) is built over it. The caller
 * vouches that the CPU has what the mask says. */
void attn_init(struct attn_ops *ops, unsigned cpu_mask);

/* Enough for every variant, for attn_causal and for attn_key_decoupled. Here and in every other
 * *_bytes function: a multiple of 64, and SIZE_MAX if it does not fit, which mem_try refuses. */
size_t attn_scratch_bytes(const struct attn_shape *s);

/* The same as an engine without the operator runs it: keys and values widened and repeated for each
 * query head in memory, logits, softmax and sums as small operations. window and sinks as above. */
void attn_composed(const struct prim_ops *p, const struct attn_shape *s, const float *q,
                   const void *k, const void *v, const float *sinks, float *ret_out, void *scratch);
size_t attn_composed_scratch_bytes(const struct attn_shape *s);

/* The whole causal operator: q [T][heads][key_dim], ret_out [T][heads][value_dim]; row t is decode
 * over the first t+1 tokens. */
void attn_causal(const struct attn_ops *ops, const struct attn_shape *s, const float *q,
                 const void *k, const void *v, const float *sinks, float *ret_out, void *scratch);

/* attention.key_decoupled from the hidden state, all F32: x [T][d], wq [heads*key_dim][d],
 * wk [key_heads*key_dim][d], wv [value_heads*value_dim][d], wo [d][heads*value_dim], ret_y [T][d].
 * s->store is F32. `work` holds attn_project_bytes(s) bytes, 64-byte aligned. */
struct attn_weights {
    const float *wq, *wk, *wv, *wo;
};
size_t attn_project_bytes(const struct attn_shape *s);
void attn_key_decoupled(const struct attn_ops *ops, const struct attn_shape *s, uint64_t hidden,
                        const struct attn_weights *w, const float *x, float *ret_y, void *work,
                        void *scratch);

/* The variants, for attn_init: each puts itself over what is there. */
void attn_avx2(struct attn_ops *ops);
void attn_avx512(struct attn_ops *ops);

#endif
