#include "stress/residual.h"
#include "stress/scratch.h"
#include <math.h>
#include <string.h>

void residual_composed(const struct prim_ops *p, const struct residual_shape *s,
                       const void *const *v, const float *w, const float *norm, float *ret_h,
                       float *ret_p, void *scratch)
{
    uint64_t d = s->hidden, n = s->sources;
    float *wide = scratch_take(&scratch, n * d, sizeof(float));   /* the sources side by side */
    float *normed = scratch_take(&scratch, n * d, sizeof(float)); /* their keys */
    float *logits = scratch_take(&scratch, n, sizeof(float));

    for (uint64_t i = 0; i < n; i++)
        p->widen(d, s->store, v[i], wide + i * d);
    for (uint64_t i = 0; i < n; i++)
        logits[i] = p->sum_squares(d, wide + i * d);
    for (uint64_t i = 0; i < n; i++) {
        double mean = (double)logits[i] / (double)d;
        p->scale(d, (float)(1 / sqrt(mean + s->eps)), wide + i * d, normed + i * d);
    }
    for (uint64_t i = 0; i < n; i++)
        p->mul(d, normed + i * d, norm, normed + i * d);
    p->matvec(n, d, DTYPE_F32, normed, w, logits);
    p->softmax(n, logits, logits);
    p->matvec_t(n, d, wide, logits, ret_h);
    if (ret_p)
        memcpy(ret_p, logits, n * sizeof(float));
}

size_t residual_composed_scratch_bytes(const struct residual_shape *s)
{
    uint64_t all;
    size_t total = 0;

    if (__builtin_mul_overflow(s->sources, s->hidden, &all))
        return SIZE_MAX;
    scratch_need(&total, all, sizeof(float));
    scratch_need(&total, all, sizeof(float));
    scratch_need(&total, s->sources, sizeof(float));
    return total;
}
