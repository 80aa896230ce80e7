#ifndef STRESS_DELTA_H
#define STRESS_DELTA_H
#include "model/model.h"
#include "stress/act.h"
#include "stress/prim.h"
#include <stddef.h>
#include <stdint.h>

/* The gated delta rule with a decay per channel: attention.kda of the conformance SPEC (Kimi Delta
 * Attention). */
struct delta_shape {
    uint64_t heads, key_dim, value_dim;
    enum kda_gate gate;
    double lower_bound; /* of the bounded gate, < 0 */
    double l2_eps;      /* 1e-6 in released models */
};

/* One token's inputs: q, k [heads][key_dim] after convolution and SiLU and before the L2 norm,
 * v [heads][value_dim], z [heads][key_dim] the gate's input with dt_bias added, b [heads] before
 * the sigmoid, a_log [heads]. */
struct delta_in {
    const float *q, *k, *v, *z, *b, *a_log;
};

/* One token, per head, with beta = sigmoid(b), q~ = q/sqrt(sum q^2 + eps)*key_dim^-0.5, k~ likewise
 * without the last factor, and the log decay g = -exp(a_log)*softplus(z) or
 * lower_bound*sigmoid(exp(a_log)*z):
 *   S = Diag(exp g) S;   S = S + beta k~ (v - S^T k~)^T;   ret_out = S^T q~
 * state [heads][key_dim][value_dim] is updated in place, ret_out [heads][value_dim]. NaN in an
 * input gives NaN in what depends on it. scratch: 64-byte aligned, delta_scratch_bytes(s). */
typedef void delta_step_fn(const struct delta_shape *s, const struct delta_in *in, float *state,
                           float *ret_out, void *scratch);

struct delta_ops {
    delta_step_fn *step;
    const char *variant;
};
void delta_init(struct delta_ops *ops, unsigned cpu_mask);
size_t delta_scratch_bytes(const struct delta_shape *s); /* of delta_step_fn and delta_sequence */

/* The same step as an engine without the operator runs it: small operations one after the other,
 * each over whole arrays in memory. */
void delta_composed(const struct prim_ops *p, const struct delta_shape *s,
                    const struct delta_in *in, float *state, float *ret_out, void *scratch);
size_t delta_composed_scratch_bytes(const struct delta_shape *s);

/* tokens steps from the state given; inputs and ret_out have a leading [tokens], a_log has not. */
void delta_sequence(const struct delta_ops *ops, const struct delta_shape *s, uint64_t tokens,
                    const struct delta_in *in, float *state, float *ret_out, void *scratch);

/* The short causal convolution in front of q, k and v, and its SiLU, for one token: per channel
 * ret_y = silu(sum_i w[i] * x_(t-taps+1+i)). w [channels][taps], last tap is the new token; history
 * [channels][taps-1], oldest first, is shifted; taps from 1. ret_y may be x. */
void delta_conv(uint64_t channels, uint64_t taps, const float *w, float *history, const float *x,
                float *ret_y);

/* The variants, for delta_init: each puts itself over what is there. */
void delta_avx2(struct delta_ops *ops);
void delta_avx512(struct delta_ops *ops);

#endif
