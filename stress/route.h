#ifndef STRESS_ROUTE_H
#define STRESS_ROUTE_H
#include "core/err.h"
#include "model/model.h"
#include <stddef.h>
#include <stdint.h>

/* The router's choice: moe.route of the conformance SPEC, described by the model's struct router.
 */

#define ROUTE_EXPERTS_MAX 65536u /* the largest released model has under 1,000 */

/* 0, or ERR_UNSUPPORTED saying what is wrong: an unknown score, no expert, top_k over experts,
 * groups that do not divide the experts, leave one expert a group, or keep fewer than top_k. */
int route_check(const struct router *r, struct err *e);

size_t route_scratch_bytes(const struct router *r);

/* One token: logits [experts]; bias [experts] or NULL, which picks and never weighs.
 * ret_idx [top_k] by falling biased score, the lower index first on ties; ret_w [top_k] in the same
 * order. A NaN score is above every number, so that it shows in the weights. r passed route_check;
 * scratch is 64-byte aligned. */
void route_token(const struct router *r, const float *logits, const float *bias, uint32_t *ret_idx,
                 float *ret_w, void *scratch);

/* tokens of them, arrays with a leading [tokens]; counts [experts] is added to: how many tokens
 * picked that expert. */
void route_batch(const struct router *r, uint64_t tokens, const float *logits, const float *bias,
                 uint32_t *ret_idx, float *ret_w, uint64_t *counts, void *scratch);

#endif
