#ifndef STRESS_DELTA_LANES_H
#define STRESS_DELTA_LANES_H
#include "stress/delta.h"
#include "stress/scratch.h"

/* The body of the variants delta_avx2 and delta_avx512: each column block of a head's state is read
 * twice (the second time from a near cache) and written once, sums in F32. */

static inline size_t delta_lanes_scratch_bytes(const struct delta_shape *s)
{
    size_t total = 0;

    for (unsigned i = 0; i < 3; i++)
        scratch_need(&total, s->key_dim, sizeof(float));
    return total;
}

#if defined(__AVX2__)
#include "stress/vec.h"
#include <math.h>

/* ret [n] = c * x [n] / sqrt(sum x^2 + eps) */
static inline void delta_lanes_unit(uint64_t n, const float *x, double eps, double c, float *ret)
{
    float squares = vec_dot(DTYPE_F32, x, 0, x, n);
    float factor = (float)(c / sqrt((double)squares + eps));

    for (uint64_t i = 0; i < n; i++)
        ret[i] = x[i] * factor;
}

/* ret [n] = exp(g(z)), the decay of each key channel. */
static inline void delta_lanes_decay(const struct delta_shape *s, float rate, const float *z,
                                     float *ret)
{
    vec bound = vec_set((float)s->lower_bound), r = vec_set(rate);

    for (uint64_t i = 0; i < s->key_dim; i += VEC_LANES) {
        uint64_t n = s->key_dim - i < VEC_LANES ? s->key_dim - i : VEC_LANES;
        vec x = vec_load_n(z + i, n);
        vec g = s->gate == KDA_GATE_BOUNDED ? bound * vec_sigmoid(r * x)
                                            : vec_set(0) - r * vec_softplus(x);
        vec_store_n(ret + i, n, vec_exp(g));
    }
}

/* The state's columns [0, 4 vectors) of one head: rows are dv apart. */
static inline void delta_lanes_columns4(const struct delta_shape *s, const float *q, const float *k,
                                        const float *a, const float *v, vec beta, float *S,
                                        float *ret_out)
{
    uint64_t dv = s->value_dim;
    vec u0 = vec_set(0), u1 = u0, u2 = u0, u3 = u0, o0 = u0, o1 = u0, o2 = u0, o3 = u0;

    for (uint64_t i = 0; i < s->key_dim; i++) {
        const float *row = S + i * dv;
        vec x = vec_set(a[i] * k[i]);
        u0 = vec_fma(x, vec_load(row), u0);
        u1 = vec_fma(x, vec_load(row + VEC_LANES), u1);
        u2 = vec_fma(x, vec_load(row + 2 * VEC_LANES), u2);
        u3 = vec_fma(x, vec_load(row + 3 * VEC_LANES), u3);
    }
    u0 = beta * (vec_load(v) - u0);
    u1 = beta * (vec_load(v + VEC_LANES) - u1);
    u2 = beta * (vec_load(v + 2 * VEC_LANES) - u2);
    u3 = beta * (vec_load(v + 3 * VEC_LANES) - u3);
    for (uint64_t i = 0; i < s->key_dim; i++) {
        float *row = S + i * dv;
        vec ai = vec_set(a[i]), ki = vec_set(k[i]), qi = vec_set(q[i]);
        vec x = vec_fma(ki, u0, ai * vec_load(row));
        vec_store(row, x);
        o0 = vec_fma(qi, x, o0);
        x = vec_fma(ki, u1, ai * vec_load(row + VEC_LANES));
        vec_store(row + VEC_LANES, x);
        o1 = vec_fma(qi, x, o1);
        x = vec_fma(ki, u2, ai * vec_load(row + 2 * VEC_LANES));
        vec_store(row + 2 * VEC_LANES, x);
        o2 = vec_fma(qi, x, o2);
        x = vec_fma(ki, u3, ai * vec_load(row + 3 * VEC_LANES));
        vec_store(row + 3 * VEC_LANES, x);
        o3 = vec_fma(qi, x, o3);
    }
    vec_store(ret_out, o0);
    vec_store(ret_out + VEC_LANES, o1);
    vec_store(ret_out + 2 * VEC_LANES, o2);
    vec_store(ret_out + 3 * VEC_LANES, o3);
}

/* The same for n columns, up to one vector. */
static inline void delta_lanes_columns(const struct delta_shape *s, const float *q, const float *k,
                                       const float *a, const float *v, vec beta, uint64_t n,
                                       float *S, float *ret_out)
{
    uint64_t dv = s->value_dim;
    vec u = vec_set(0), o = u;

    for (uint64_t i = 0; i < s->key_dim; i++)
        u = vec_fma(vec_set(a[i] * k[i]), vec_load_n(S + i * dv, n), u);
    u = beta * (vec_load_n(v, n) - u);
    for (uint64_t i = 0; i < s->key_dim; i++) {
        vec x = vec_fma(vec_set(k[i]), u, vec_set(a[i]) * vec_load_n(S + i * dv, n));
        vec_store_n(S + i * dv, n, x);
        o = vec_fma(vec_set(q[i]), x, o);
    }
    vec_store_n(ret_out, n, o);
}

static void delta_lanes_step(const struct delta_shape *s, const struct delta_in *in, float *state,
                             float *ret_out, void *scratch)
{
    uint64_t dk = s->key_dim, dv = s->value_dim;
    float *q = scratch_take(&scratch, dk, sizeof(float));
    float *k = scratch_take(&scratch, dk, sizeof(float));
    float *a = scratch_take(&scratch, dk, sizeof(float));

    for (uint64_t h = 0; h < s->heads; h++) {
        const float *v = in->v + h * dv;
        float *S = state + h * dk * dv, *out = ret_out + h * dv;
        vec beta = vec_set((float)act_sigmoid((double)in->b[h]));
        uint64_t j = 0;

        delta_lanes_unit(dk, in->q + h * dk, s->l2_eps, 1 / sqrt((double)dk), q);
        delta_lanes_unit(dk, in->k + h * dk, s->l2_eps, 1, k);
        delta_lanes_decay(s, expf(in->a_log[h]), in->z + h * dk, a);
        for (; j + 4 * VEC_LANES <= dv; j += 4 * VEC_LANES)
            delta_lanes_columns4(s, q, k, a, v + j, beta, S + j, out + j);
        for (; j < dv; j += VEC_LANES)
            delta_lanes_columns(s, q, k, a, v + j, beta, dv - j < VEC_LANES ? dv - j : VEC_LANES,
                                S + j, out + j);
    }
}

#endif
#endif
