#include "stress/moe.h"
#include "stress/route.h"
#include "stress/scratch.h"
#include <math.h>
#include <string.h>

/* b tanh(x/b), in place */
static void cap(const struct prim_ops *p, uint64_t n, double b, float *x)
{
    p->scale(n, (float)(1 / b), x, x);
    p->tanh(n, x, x);
    p->scale(n, (float)b, x, x);
}

/* g [n] becomes act(g), or act(g) times what u [n] says; u may be NULL, t [n] is for between. */
static void activate(const struct prim_ops *p, const struct moe_shape *s, uint64_t n, float *g,
                     float *u, float *t)
{
    switch (s->act) {
    case ACT_SILU:
        p->sigmoid(n, g, t);
        p->mul(n, g, t, g);
        break;
    case ACT_SITU:
        p->sigmoid(n, g, t);
        cap(p, n, s->situ_beta, g);
        p->mul(n, g, t, g);
        if (u)
            cap(p, n, s->situ_linear_beta, u);
        break;
    case ACT_RELU2:
        p->relu(n, g, g);
        p->mul(n, g, g, g);
        break;
    case ACT_IDENTITY:
    case ACTS: break;
    }
    if (u)
        p->mul(n, g, u, g);
}

/* ret_y [width] = w2(act(w1 x) * (w3 x)); mid holds three arrays of inner elements. */
static void expert(const struct prim_ops *p, const struct moe_shape *s, uint64_t width,
                   uint64_t inner, const void *w1, const void *w3, const void *w2, const float *x,
                   float *mid, float *ret_y)
{
    float *g = mid, *u = w3 ? mid + inner : NULL;

    p->matvec(inner, width, s->store, w1, x, g);
    if (u)
        p->matvec(inner, width, s->store, w3, x, u);
    activate(p, s, inner, g, u, mid + 2 * inner);
    p->matvec(width, inner, s->store, w2, g, ret_y);
}

void moe_composed(const struct prim_ops *p, const struct moe_shape *s, const struct moe_weights *w,
                  const float *x, float *ret_y, uint32_t *ret_idx, void *scratch)
{
    uint64_t d = s->hidden, l = s->latent;
    uint64_t widest = s->inner > s->shared_inner ? s->inner : s->shared_inner;
    float *z = scratch_take(&scratch, l, sizeof(float));
    float *sum = scratch_take(&scratch, l, sizeof(float));
    float *one = scratch_take(&scratch, d > l ? d : l, sizeof(float));
    float *mid = scratch_take(&scratch, widest, 3 * sizeof(float));
    float *logits = scratch_take(&scratch, s->router.experts, sizeof(float));
    float *weight = scratch_take(&scratch, s->router.top_k, sizeof(float));

    p->matvec(l, d, s->store, w->down, x, z);
    p->matvec(s->router.experts, s->router.on_latent ? l : d, s->store, w->router,
              s->router.on_latent ? z : x, logits);
    route_token(&s->router, logits, w->bias, ret_idx, weight, scratch);
    memset(sum, 0, l * sizeof(float));
    for (uint32_t k = 0; k < s->router.top_k; k++) {
        uint32_t i = ret_idx[k];
        expert(p, s, l, s->inner, w->w1[i], w->w3 ? w->w3[i] : NULL, w->w2[i], z, mid, one);
        p->scale(l, weight[k], one, one);
        p->add(l, sum, one, sum);
    }
    if (w->norm) {
        double mean = (double)p->sum_squares(l, sum) / (double)l;
        p->scale(l, (float)(1 / sqrt(mean + s->eps)), sum, sum);
        p->mul(l, sum, w->norm, sum);
    }
    p->matvec(d, l, s->store, w->up, sum, ret_y);
    if (s->shared_inner) {
        expert(p, s, d, s->shared_inner, w->sw1, w->sw3, w->sw2, x, mid, one);
        p->add(d, ret_y, one, ret_y);
    }
}

size_t moe_composed_scratch_bytes(const struct moe_shape *s)
{
    uint64_t widest = s->inner > s->shared_inner ? s->inner : s->shared_inner;
    size_t total = route_scratch_bytes(&s->router);

    scratch_need(&total, s->latent, sizeof(float));
    scratch_need(&total, s->latent, sizeof(float));
    scratch_need(&total, s->hidden > s->latent ? s->hidden : s->latent, sizeof(float));
    scratch_need(&total, widest, 3 * sizeof(float));
    scratch_need(&total, s->router.experts, sizeof(float));
    scratch_need(&total, s->router.top_k, sizeof(float));
    return total;
}
