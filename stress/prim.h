#ifndef STRESS_PRIM_H
#define STRESS_PRIM_H
#include "model/dtype.h"
#include <stdint.h>

/* The small operations that every engine has, each one pass over its arrays. The composed paths
 * are sequences of these: what runs where a fused operator is missing. All F32 in memory, except
 * that a matrix, or a `src`, may be stored in BF16 (store: DTYPE_F32 or DTYPE_BF16). Outputs may
 * be the same array as an input, and must not overlap otherwise. */
struct prim_ops {
    const char *variant; /* "c", "avx2", "avx512" */
    /* y[i] = a[i] * b[i]; a[i] + b[i]; a[i] - b[i] */
    void (*mul)(uint64_t n, const float *a, const float *b, float *ret_y);
    void (*add)(uint64_t n, const float *a, const float *b, float *ret_y);
    void (*sub)(uint64_t n, const float *a, const float *b, float *ret_y);
    /* y[i] = c * a[i] */
    void (*scale)(uint64_t n, float c, const float *a, float *ret_y);
    /* y[i] = a stored value as F32 */
    void (*widen)(uint64_t n, enum dtype store, const void *a, float *ret_y);
    /* y[i] = exp(a[i]), 1/(1+exp(-a[i])), log(1+exp(a[i])), tanh(a[i]) */
    void (*exp)(uint64_t n, const float *a, float *ret_y);
    void (*sigmoid)(uint64_t n, const float *a, float *ret_y);
    void (*softplus)(uint64_t n, const float *a, float *ret_y);
    void (*tanh)(uint64_t n, const float *a, float *ret_y);
    /* y[i] = max(a[i], 0), NaN stays */
    void (*relu)(uint64_t n, const float *a, float *ret_y);
    /* y[i] = exp(a[i]) / sum_j exp(a[j]) */
    void (*softmax)(uint64_t n, const float *a, float *ret_y);
    /* sum of a[i]^2; sum of a[i]*b[i] */
    float (*sum_squares)(uint64_t n, const float *a);
    float (*dot)(uint64_t n, const float *a, const float *b);
    /* rows x cols, row-major. y[r] = m[r] . x;  y[c] = sum_r m[r][c] x[r];
     * m[r][c] *= x[r];  m[r][c] += a[r] * b[c] */
    void (*matvec)(uint64_t rows, uint64_t cols, enum dtype store, const void *m, const float *x,
                   float *ret_y);
    void (*matvec_t)(uint64_t rows, uint64_t cols, const float *m, const float *x, float *ret_y);
    void (*scale_rows)(uint64_t rows, uint64_t cols, const float *x, float *m);
    void (*add_outer)(uint64_t rows, uint64_t cols, const float *a, const float *b, float *m);
};

/* The plain ones, then whatever of cpu_mask (CPU_*) is built over them. */
void prim_init(struct prim_ops *ops, unsigned cpu_mask);

/* The variants, for prim_init. */
void prim_avx2(struct prim_ops *ops);
void prim_avx512(struct prim_ops *ops);

#endif
