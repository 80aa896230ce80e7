#ifndef STRESS_RESIDUAL_LANES_H
#define STRESS_RESIDUAL_LANES_H
#include "stress/residual.h"
#include "stress/scratch.h"

/* The body of the variants residual_avx2 and residual_avx512: each source is read for its logit
 * and, from a near cache, for the sum; sums in F32. Scratch: a double a source, as the definition.
 */

#if defined(__AVX2__)
#include "stress/vec.h"
#include <math.h>

static inline double residual_lanes_logit(const struct residual_shape *s, const void *v,
                                          const float *w, const float *norm)
{
    vec squares = vec_set(0), sum = squares, squares2 = squares, sum2 = squares;
    uint64_t i = 0, d = s->hidden;

    for (; i + 2 * VEC_LANES <= d; i += 2 * VEC_LANES) {
        vec x = vec_stored(s->store, v, i), y = vec_stored(s->store, v, i + VEC_LANES);
        squares = vec_fma(x, x, squares);
        squares2 = vec_fma(y, y, squares2);
        sum = vec_fma(x * vec_load(norm + i), vec_load(w + i), sum);
        sum2 = vec_fma(y * vec_load(norm + i + VEC_LANES), vec_load(w + i + VEC_LANES), sum2);
    }
    for (; i < d; i += VEC_LANES) {
        uint64_t n = d - i < VEC_LANES ? d - i : VEC_LANES;
        vec x = vec_stored_n(s->store, v, i, n);
        squares = vec_fma(x, x, squares);
        sum = vec_fma(x * vec_load_n(norm + i, n), vec_load_n(w + i, n), sum);
    }
    double mean = (double)vec_sum(squares + squares2) / (double)d;
    return (double)vec_sum(sum + sum2) / sqrt(mean + s->eps);
}

static void residual_lanes_mix(const struct residual_shape *s, const void *const *v, const float *w,
                               const float *norm, float *ret_h, float *ret_p, void *scratch)
{
    double *p = scratch_take(&scratch, s->sources, sizeof(double));
    double top = -INFINITY, weight = 0;

    for (uint64_t n = 0; n < s->sources; n++) {
        p[n] = residual_lanes_logit(s, v[n], w, norm);
        if (p[n] > top)
            top = p[n];
    }
    for (uint64_t n = 0; n < s->sources; n++) {
        p[n] = exp(p[n] - top);
        weight += p[n];
    }
    for (uint64_t n = 0; n < s->sources; n++) {
        p[n] /= weight;
        if (ret_p)
            ret_p[n] = (float)p[n];
    }
    uint64_t i = 0;
    for (; i + 2 * VEC_LANES <= s->hidden; i += 2 * VEC_LANES) {
        vec a = vec_set(0), b = a;
        for (uint64_t n = 0; n < s->sources; n++) {
            a = vec_fma(vec_set((float)p[n]), vec_stored(s->store, v[n], i), a);
            b = vec_fma(vec_set((float)p[n]), vec_stored(s->store, v[n], i + VEC_LANES), b);
        }
        vec_store(ret_h + i, a);
        vec_store(ret_h + i + VEC_LANES, b);
    }
    for (; i < s->hidden; i += VEC_LANES) {
        uint64_t some = s->hidden - i < VEC_LANES ? s->hidden - i : VEC_LANES;
        vec a = vec_set(0);
        for (uint64_t n = 0; n < s->sources; n++)
            a = vec_fma(vec_set((float)p[n]), vec_stored_n(s->store, v[n], i, some), a);
        vec_store_n(ret_h + i, some, a);
    }
}

#endif
#endif
