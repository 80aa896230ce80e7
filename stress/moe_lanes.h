#ifndef STRESS_MOE_LANES_H
#define STRESS_MOE_LANES_H
#include "stress/moe.h"
#include "stress/route.h"
#include "stress/scratch.h"

/* The body of the variants moe_avx2 and moe_avx512: gate and up in one pass, activation on the way,
 * the weighted sum as the last matrix is read; sums in F32. Its scratch is less than that of the
 * definition. */

#if defined(__AVX2__)
#include "stress/vec.h"
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* act(g), or act(g) times what u says if `gated`. */
static inline vec moe_lanes_act(const struct moe_shape *s, bool gated, vec g, vec u)
{
    vec b1 = vec_set((float)s->situ_beta), b2 = vec_set((float)s->situ_linear_beta);
    vec y = g;

    if (s->act == ACT_SILU)
        y = g * vec_sigmoid(g);
    if (s->act == ACT_SITU)
        y = b1 * vec_tanh(g / b1) * vec_sigmoid(g);
    if (s->act == ACT_RELU2) {
        y = vec_max(vec_set(0), g); /* NaN stays */
        y = y * y;
    }
    if (gated && s->act == ACT_SITU)
        y = y * b2 * vec_tanh(u / b2);
    else if (gated)
        y = y * u;
    return y;
}

static inline void moe_lanes_expert(const struct moe_shape *s, uint64_t width, uint64_t inner,
                                    const void *w1, const void *w3, const void *w2, float weight,
                                    const float *x, float *mid, float *y)
{
    float g[VEC_LANES] = {0}, u[VEC_LANES] = {0};

    for (uint64_t r = 0; r < inner; r += VEC_LANES) {
        uint64_t n = inner - r < VEC_LANES ? inner - r : VEC_LANES;
        for (uint64_t i = 0; i < n; i++) {
            g[i] = vec_dot(s->store, w1, (r + i) * width, x, width);
            if (w3)
                u[i] = vec_dot(s->store, w3, (r + i) * width, x, width);
        }
        vec_store_n(mid + r, n, moe_lanes_act(s, w3 != NULL, vec_load(g), vec_load(u)));
    }
    for (uint64_t r = 0; r < width; r++)
        y[r] += weight * vec_dot(s->store, w2, r * inner, mid, inner);
}

static void moe_lanes_token(const struct moe_shape *s, const struct moe_weights *w, const float *x,
                            float *ret_y, uint32_t *ret_idx, void *scratch)
{
    uint64_t d = s->hidden, l = s->latent;
    uint64_t widest = s->inner > s->shared_inner ? s->inner : s->shared_inner;
    float *z = scratch_take(&scratch, l, sizeof(float));
    float *sum = scratch_take(&scratch, l, sizeof(float));
    float *mid = scratch_take(&scratch, widest, sizeof(float));
    float *logits = scratch_take(&scratch, s->router.experts, sizeof(float));
    float *weight = scratch_take(&scratch, s->router.top_k, sizeof(float));
    uint64_t reads = s->router.on_latent ? l : d;

    for (uint64_t i = 0; i < l; i++)
        z[i] = vec_dot(s->store, w->down, i * d, x, d);
    for (uint64_t i = 0; i < s->router.experts; i++)
        logits[i] = vec_dot(s->store, w->router, i * reads, s->router.on_latent ? z : x, reads);
    route_token(&s->router, logits, w->bias, ret_idx, weight, scratch);
    memset(sum, 0, l * sizeof(float));
    for (uint32_t k = 0; k < s->router.top_k; k++) {
        uint32_t i = ret_idx[k];
        moe_lanes_expert(s, l, s->inner, w->w1[i], w->w3 ? w->w3[i] : NULL, w->w2[i], weight[k], z,
                         mid, sum);
    }
    if (w->norm) {
        double mean = (double)vec_dot(DTYPE_F32, sum, 0, sum, l) / (double)l;
        float factor = (float)(1 / sqrt(mean + s->eps));
        for (uint64_t i = 0; i < l; i++)
            sum[i] *= factor * w->norm[i];
    }
    for (uint64_t i = 0; i < d; i++)
        ret_y[i] = vec_dot(s->store, w->up, i * l, sum, l);
    if (s->shared_inner)
        moe_lanes_expert(s, d, s->shared_inner, w->sw1, w->sw3, w->sw2, 1, x, mid, ret_y);
}

#endif
#endif
