#include "stress/moe.h"
#include "core/cpu.h"
#include "stress/route.h"
#include "stress/scratch.h"
#include "stress/stored.h"
#include <math.h>
#include <string.h>

static double dot(enum dtype t, const void *m, uint64_t row, uint64_t cols, const double *x)
{
    double sum = 0;

    for (uint64_t i = 0; i < cols; i++)
        sum += stored_at(t, m, row * cols + i) * x[i];
    return sum;
}

/* One feed-forward network: y += weight * w2(act(w1 x) * (w3 x)); w3 may be NULL. */
static void expert(const struct moe_shape *s, uint64_t width, uint64_t inner, const void *w1,
                   const void *w3, const void *w2, double weight, const double *x, double *mid,
                   double *y)
{
    for (uint64_t r = 0; r < inner; r++) {
        double g = dot(s->store, w1, r, width, x);
        mid[r] = w3 ? act_gated(s->act, s->situ_beta, s->situ_linear_beta, g,
                                dot(s->store, w3, r, width, x))
                    : act_plain(s->act, s->situ_beta, g);
    }
    for (uint64_t r = 0; r < width; r++)
        y[r] += weight * dot(s->store, w2, r, inner, mid);
}

static void normalise(uint64_t n, const float *norm, double eps, double *y)
{
    double squares = 0;

    for (uint64_t i = 0; i < n; i++)
        squares += y[i] * y[i];
    for (uint64_t i = 0; i < n; i++)
        y[i] *= (double)norm[i] / sqrt(squares / (double)n + eps);
}

/* The definition. */
static void token(const struct moe_shape *s, const struct moe_weights *w, const float *x,
                  float *ret_y, uint32_t *ret_idx, void *scratch)
{
    uint64_t d = s->hidden, l = s->latent;
    uint64_t widest = s->inner > s->shared_inner ? s->inner : s->shared_inner;
    double *wide = scratch_take(&scratch, d, sizeof(double)); /* x in double */
    double *z = scratch_take(&scratch, l, sizeof(double));
    double *sum = scratch_take(&scratch, l, sizeof(double));
    double *y = scratch_take(&scratch, d, sizeof(double));
    double *mid = scratch_take(&scratch, widest, sizeof(double));
    float *logits = scratch_take(&scratch, s->router.experts, sizeof(float));
    float *weight = scratch_take(&scratch, s->router.top_k, sizeof(float));

    for (uint64_t i = 0; i < d; i++)
        wide[i] = (double)x[i];
    for (uint64_t i = 0; i < l; i++)
        z[i] = dot(s->store, w->down, i, d, wide);
    for (uint32_t i = 0; i < s->router.experts; i++)
        logits[i] = (float)(s->router.on_latent ? dot(s->store, w->router, i, l, z)
                                                : dot(s->store, w->router, i, d, wide));
    route_token(&s->router, logits, w->bias, ret_idx, weight, scratch);
    memset(sum, 0, l * sizeof(double));
    for (uint32_t k = 0; k < s->router.top_k; k++) {
        uint32_t i = ret_idx[k];
        expert(s, l, s->inner, w->w1[i], w->w3 ? w->w3[i] : NULL, w->w2[i], (double)weight[k], z,
               mid, sum);
    }
    if (w->norm)
        normalise(l, w->norm, s->eps, sum);
    for (uint64_t i = 0; i < d; i++)
        y[i] = dot(s->store, w->up, i, l, sum);
    if (s->shared_inner)
        expert(s, d, s->shared_inner, w->sw1, w->sw3, w->sw2, 1, wide, mid, y);
    for (uint64_t i = 0; i < d; i++)
        ret_y[i] = (float)y[i];
}

void moe_init(struct moe_ops *ops, unsigned cpu_mask)
{
    ops->token = token;
    ops->variant = "c";
#if defined(__x86_64__)
    if (cpu_mask & CPU_AVX2)
        moe_avx2(ops);
    if (cpu_mask & CPU_AVX512)
        moe_avx512(ops);
#else
    (void)cpu_mask;
#endif
}

size_t moe_scratch_bytes(const struct moe_shape *s)
{
    uint64_t widest = s->inner > s->shared_inner ? s->inner : s->shared_inner;
    size_t total = route_scratch_bytes(&s->router);

    /* of the definition; the variants keep fewer arrays, and those in F32 */
    scratch_need(&total, s->hidden, sizeof(double));
    scratch_need(&total, s->latent, sizeof(double));
    scratch_need(&total, s->latent, sizeof(double));
    scratch_need(&total, s->hidden, sizeof(double));
    scratch_need(&total, widest, sizeof(double));
    scratch_need(&total, s->router.experts, sizeof(float));
    scratch_need(&total, s->router.top_k, sizeof(float));
    return total;
}
