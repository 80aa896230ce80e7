#ifndef STRESS_PRIM_LANES_H
#define STRESS_PRIM_LANES_H
#include "stress/prim.h"
#include "stress/vec.h"
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* The body of prim_avx2 and prim_avx512. */

#define PRIM_LANES_INLINE static inline __attribute__((always_inline))

/* ret_y[i] = f(a[i]), or f(a[i], b[i]); f is inlined. */
PRIM_LANES_INLINE void prim_lanes_map(uint64_t n, const float *a, float *ret_y, vec (*f)(vec))
{
    uint64_t i = 0;

    for (; i + VEC_LANES <= n; i += VEC_LANES)
        vec_store(ret_y + i, f(vec_load(a + i)));
    if (i < n)
        vec_store_n(ret_y + i, n - i, f(vec_load_n(a + i, n - i)));
}

PRIM_LANES_INLINE void prim_lanes_zip(uint64_t n, const float *a, const float *b, float *ret_y,
                                      vec (*f)(vec, vec))
{
    uint64_t i = 0;

    for (; i + VEC_LANES <= n; i += VEC_LANES)
        vec_store(ret_y + i, f(vec_load(a + i), vec_load(b + i)));
    if (i < n)
        vec_store_n(ret_y + i, n - i, f(vec_load_n(a + i, n - i), vec_load_n(b + i, n - i)));
}

/* ret_y[i] = c * a[i], plus ret_y[i] if `more`. */
PRIM_LANES_INLINE void prim_lanes_axpy(uint64_t n, float c, const float *a, bool more, float *ret_y)
{
    vec x = vec_set(c);
    uint64_t i = 0;

    for (; i + VEC_LANES <= n; i += VEC_LANES) {
        vec y = x * vec_load(a + i);
        if (more)
            y = vec_fma(x, vec_load(a + i), vec_load(ret_y + i));
        vec_store(ret_y + i, y);
    }
    if (i < n) {
        vec y = x * vec_load_n(a + i, n - i);
        if (more)
            y = vec_fma(x, vec_load_n(a + i, n - i), vec_load_n(ret_y + i, n - i));
        vec_store_n(ret_y + i, n - i, y);
    }
}

static inline vec prim_lanes_product(vec a, vec b)
{
    return a * b;
}
static inline vec prim_lanes_plus(vec a, vec b)
{
    return a + b;
}
static inline vec prim_lanes_minus(vec a, vec b)
{
    return a - b;
}
static inline vec prim_lanes_positive(vec a)
{
    return vec_max(vec_set(0), a); /* the second, NaN, stays */
}

static void prim_lanes_mul(uint64_t n, const float *a, const float *b, float *ret_y)
{
    prim_lanes_zip(n, a, b, ret_y, prim_lanes_product);
}
static void prim_lanes_add(uint64_t n, const float *a, const float *b, float *ret_y)
{
    prim_lanes_zip(n, a, b, ret_y, prim_lanes_plus);
}
static void prim_lanes_sub(uint64_t n, const float *a, const float *b, float *ret_y)
{
    prim_lanes_zip(n, a, b, ret_y, prim_lanes_minus);
}
static void prim_lanes_scale(uint64_t n, float c, const float *a, float *ret_y)
{
    prim_lanes_axpy(n, c, a, false, ret_y);
}
static void prim_lanes_exp(uint64_t n, const float *a, float *ret_y)
{
    prim_lanes_map(n, a, ret_y, vec_exp);
}
static void prim_lanes_sigmoid(uint64_t n, const float *a, float *ret_y)
{
    prim_lanes_map(n, a, ret_y, vec_sigmoid);
}
static void prim_lanes_softplus(uint64_t n, const float *a, float *ret_y)
{
    prim_lanes_map(n, a, ret_y, vec_softplus);
}
static void prim_lanes_tanh(uint64_t n, const float *a, float *ret_y)
{
    prim_lanes_map(n, a, ret_y, vec_tanh);
}
static void prim_lanes_relu(uint64_t n, const float *a, float *ret_y)
{
    prim_lanes_map(n, a, ret_y, prim_lanes_positive);
}

static void prim_lanes_widen(uint64_t n, enum dtype store, const void *a, float *ret_y)
{
    uint64_t i = 0;

    for (; i + VEC_LANES <= n; i += VEC_LANES)
        vec_store(ret_y + i, vec_stored(store, a, i));
    if (i < n)
        vec_store_n(ret_y + i, n - i, vec_stored_n(store, a, i, n - i));
}

static float prim_lanes_dot(uint64_t n, const float *a, const float *b)
{
    return vec_dot(DTYPE_F32, a, 0, b, n);
}
static float prim_lanes_squares(uint64_t n, const float *a)
{
    return vec_dot(DTYPE_F32, a, 0, a, n);
}

static void prim_lanes_softmax(uint64_t n, const float *a, float *ret_y)
{
    vec high = vec_set(-INFINITY), total = vec_set(0);
    uint64_t i = 0;

    for (; i + VEC_LANES <= n; i += VEC_LANES)
        high = vec_max(vec_load(a + i), high);
    float top = vec_top(high);
    for (; i < n; i++)
        top = a[i] > top ? a[i] : top;
    for (i = 0; i + VEC_LANES <= n; i += VEC_LANES) {
        vec x = vec_exp(vec_load(a + i) - vec_set(top));
        vec_store(ret_y + i, x);
        total = total + x;
    }
    float sum = vec_sum(total);
    for (; i < n; i++) {
        ret_y[i] = expf(a[i] - top);
        sum += ret_y[i];
    }
    prim_lanes_axpy(n, 1 / sum, ret_y, false, ret_y);
}

static void prim_lanes_matvec(uint64_t rows, uint64_t cols, enum dtype store, const void *m,
                              const float *x, float *ret_y)
{
    for (uint64_t r = 0; r < rows; r++)
        ret_y[r] = vec_dot(store, m, r * cols, x, cols);
}
static void prim_lanes_matvec_t(uint64_t rows, uint64_t cols, const float *m, const float *x,
                                float *ret_y)
{
    uint64_t c = 0;

    for (; c + 4 * VEC_LANES <= cols; c += 4 * VEC_LANES) {
        vec y0 = vec_set(0), y1 = y0, y2 = y0, y3 = y0;
        for (uint64_t r = 0; r < rows; r++) {
            const float *at = m + r * cols + c;
            vec a = vec_set(x[r]);
            y0 = vec_fma(a, vec_load(at), y0);
            y1 = vec_fma(a, vec_load(at + VEC_LANES), y1);
            y2 = vec_fma(a, vec_load(at + 2 * VEC_LANES), y2);
            y3 = vec_fma(a, vec_load(at + 3 * VEC_LANES), y3);
        }
        vec_store(ret_y + c, y0);
        vec_store(ret_y + c + VEC_LANES, y1);
        vec_store(ret_y + c + 2 * VEC_LANES, y2);
        vec_store(ret_y + c + 3 * VEC_LANES, y3);
    }
    for (; c < cols; c += VEC_LANES) {
        uint64_t n = cols - c < VEC_LANES ? cols - c : VEC_LANES;
        vec y = vec_set(0);
        for (uint64_t r = 0; r < rows; r++)
            y = vec_fma(vec_set(x[r]), vec_load_n(m + r * cols + c, n), y);
        vec_store_n(ret_y + c, n, y);
    }
}
static void prim_lanes_scale_rows(uint64_t rows, uint64_t cols, const float *x, float *m)
{
    for (uint64_t r = 0; r < rows; r++)
        prim_lanes_axpy(cols, x[r], m + r * cols, false, m + r * cols);
}
static void prim_lanes_add_outer(uint64_t rows, uint64_t cols, const float *a, const float *b,
                                 float *m)
{
    for (uint64_t r = 0; r < rows; r++)
        prim_lanes_axpy(cols, a[r], b, true, m + r * cols);
}

static const struct prim_ops prim_lanes = {.mul = prim_lanes_mul,
                                           .add = prim_lanes_add,
                                           .sub = prim_lanes_sub,
                                           .scale = prim_lanes_scale,
                                           .widen = prim_lanes_widen,
                                           .exp = prim_lanes_exp,
                                           .sigmoid = prim_lanes_sigmoid,
                                           .softplus = prim_lanes_softplus,
                                           .tanh = prim_lanes_tanh,
                                           .relu = prim_lanes_relu,
                                           .softmax = prim_lanes_softmax,
                                           .sum_squares = prim_lanes_squares,
                                           .dot = prim_lanes_dot,
                                           .matvec = prim_lanes_matvec,
                                           .matvec_t = prim_lanes_matvec_t,
                                           .scale_rows = prim_lanes_scale_rows,
                                           .add_outer = prim_lanes_add_outer};

#endif
