#include "stress/route.h"
#include "stress/act.h"
#include "stress/scratch.h"
#include <math.h>
#include <stdbool.h>

int route_check(const struct router *r, struct err *e)
{
    if (r->score <= ROUTER_UNKNOWN || r->score > ROUTER_SQRTSOFTPLUS)
        return err_set(e, ERR_UNSUPPORTED, "the router's score function is unknown");
    if (r->experts == 0 || r->experts > ROUTE_EXPERTS_MAX)
        return err_set(e, ERR_UNSUPPORTED, "%u experts: 1 to %u can be routed", r->experts,
                       ROUTE_EXPERTS_MAX);
    if (r->top_k == 0 || r->top_k > r->experts)
        return err_set(e, ERR_UNSUPPORTED, "top_k %u of %u experts", r->top_k, r->experts);
    if (r->groups <= 1)
        return 0;
    if (r->experts % r->groups != 0 || r->experts / r->groups < 2)
        return err_set(e, ERR_UNSUPPORTED, "%u groups do not divide %u experts into twos or more",
                       r->groups, r->experts);
    if (r->top_groups == 0 || r->top_groups > r->groups ||
        (uint64_t)r->top_groups * (r->experts / r->groups) < r->top_k)
        return err_set(e, ERR_UNSUPPORTED, "top_groups %u of %u does not hold top_k %u experts",
                       r->top_groups, r->groups, r->top_k);
    return 0;
}

size_t route_scratch_bytes(const struct router *r)
{
    size_t total = 0;

    scratch_need(&total, r->experts, sizeof(double)); /* scores */
    scratch_need(&total, r->experts, sizeof(double)); /* biased */
    scratch_need(&total, r->groups, sizeof(double));
    scratch_need(&total, r->experts, sizeof(bool)); /* may not be picked, or was */
    scratch_need(&total, r->groups, sizeof(bool));
    return total;
}

/* Whether a ranks above b: NaN above every number, equals do not. */
static bool above(double a, double b)
{
    return isnan(a) ? !isnan(b) : a > b;
}

/* The best of n that is not taken, the lower index first; n if all are taken. */
static uint32_t best(uint32_t n, const double *score, const bool *taken)
{
    uint32_t at = n;

    for (uint32_t i = 0; i < n; i++) {
        if (!taken[i] && (at == n || above(score[i], score[at])))
            at = i;
    }
    return at;
}

static void score_all(const struct router *r, const float *logits, double *ret)
{
    double top = -INFINITY, sum = 0;

    for (uint32_t i = 0; i < r->experts; i++) {
        double x = (double)logits[i];
        if (r->score == ROUTER_SIGMOID)
            ret[i] = act_sigmoid(x);
        else if (r->score == ROUTER_SQRTSOFTPLUS)
            ret[i] = sqrt(act_softplus(x));
        else
            ret[i] = x;
        if (x > top)
            top = x;
    }
    if (r->score != ROUTER_SOFTMAX)
        return;
    for (uint32_t i = 0; i < r->experts; i++) {
        ret[i] = exp(ret[i] - top);
        sum += ret[i];
    }
    for (uint32_t i = 0; i < r->experts; i++)
        ret[i] /= sum;
}

/* Takes all experts out but those of the best groups; a group's score is the sum of its two largest
 * biased scores. */
static void limit_groups(const struct router *r, const double *biased, double *group, bool *taken,
                         bool *group_taken)
{
    uint32_t n = r->experts / r->groups;

    for (uint32_t g = 0; g < r->groups; g++) {
        uint32_t first = best(n, biased + g * n, taken + g * n);
        taken[g * n + first] = true;
        group[g] = biased[g * n + first] + biased[g * n + best(n, biased + g * n, taken + g * n)];
        group_taken[g] = false;
    }
    for (uint32_t i = 0; i < r->experts; i++)
        taken[i] = true;
    for (uint32_t k = 0; k < r->top_groups; k++) {
        uint32_t g = best(r->groups, group, group_taken);
        group_taken[g] = true;
        for (uint32_t i = 0; i < n; i++)
            taken[g * n + i] = false;
    }
}

/* The weights of the experts picked. */
static void weigh(const struct router *r, const double *score, const uint32_t *idx, float *ret_w)
{
    double top = -INFINITY, sum = 0;
    bool soft = r->score == ROUTER_SOFTMAX_AFTER_TOPK;

    for (uint32_t k = 0; k < r->top_k; k++) {
        if (score[idx[k]] > top)
            top = score[idx[k]];
    }
    for (uint32_t k = 0; k < r->top_k; k++)
        sum += soft ? exp(score[idx[k]] - top) : score[idx[k]];
    if (r->score == ROUTER_SIGMOID)
        sum += 1e-20;
    for (uint32_t k = 0; k < r->top_k; k++) {
        double w = soft ? exp(score[idx[k]] - top) / sum : score[idx[k]];
        if (r->renormalize && !soft) /* a softmax over the picked ones has the sum 1 already */
            w /= sum;
        ret_w[k] = (float)(w * r->scaling);
    }
}

void route_token(const struct router *r, const float *logits, const float *bias, uint32_t *ret_idx,
                 float *ret_w, void *scratch)
{
    double *score = scratch_take(&scratch, r->experts, sizeof(double));
    double *biased = scratch_take(&scratch, r->experts, sizeof(double));
    double *group = scratch_take(&scratch, r->groups, sizeof(double));
    bool *taken = scratch_take(&scratch, r->experts, sizeof(bool));
    bool *group_taken = scratch_take(&scratch, r->groups, sizeof(bool));

    score_all(r, logits, score);
    for (uint32_t i = 0; i < r->experts; i++) {
        biased[i] = bias ? score[i] + (double)bias[i] : score[i];
        taken[i] = false;
    }
    if (r->groups > 1)
        limit_groups(r, biased, group, taken, group_taken);
    for (uint32_t k = 0; k < r->top_k; k++) {
        ret_idx[k] = best(r->experts, biased, taken);
        taken[ret_idx[k]] = true;
    }
    weigh(r, score, ret_idx, ret_w);
}

void route_batch(const struct router *r, uint64_t tokens, const float *logits, const float *bias,
                 uint32_t *ret_idx, float *ret_w, uint64_t *counts, void *scratch)
{
    for (uint64_t t = 0; t < tokens; t++) {
        uint32_t *idx = ret_idx + t * r->top_k;
        route_token(r, logits + t * r->experts, bias, idx, ret_w + t * r->top_k, scratch);
        for (uint32_t k = 0; k < r->top_k; k++)
            counts[idx[k]]++;
    }
}
