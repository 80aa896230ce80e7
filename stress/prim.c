#include "stress/prim.h"
#include "core/cpu.h"
#include "stress/act.h"
#include "stress/stored.h"
#include <math.h>
#include <string.h>

static void mul(uint64_t n, const float *a, const float *b, float *ret_y)
{
    for (uint64_t i = 0; i < n; i++)
        ret_y[i] = a[i] * b[i];
}

static void add(uint64_t n, const float *a, const float *b, float *ret_y)
{
    for (uint64_t i = 0; i < n; i++)
        ret_y[i] = a[i] + b[i];
}

static void sub(uint64_t n, const float *a, const float *b, float *ret_y)
{
    for (uint64_t i = 0; i < n; i++)
        ret_y[i] = a[i] - b[i];
}

static void scale(uint64_t n, float c, const float *a, float *ret_y)
{
    for (uint64_t i = 0; i < n; i++)
        ret_y[i] = c * a[i];
}

static void widen(uint64_t n, enum dtype store, const void *a, float *ret_y)
{
    for (uint64_t i = 0; i < n; i++)
        ret_y[i] = (float)stored_at(store, a, i);
}

static void exponential(uint64_t n, const float *a, float *ret_y)
{
    for (uint64_t i = 0; i < n; i++)
        ret_y[i] = expf(a[i]);
}

static void sigmoid(uint64_t n, const float *a, float *ret_y)
{
    for (uint64_t i = 0; i < n; i++)
        ret_y[i] = (float)act_sigmoid((double)a[i]);
}

static void softplus(uint64_t n, const float *a, float *ret_y)
{
    for (uint64_t i = 0; i < n; i++)
        ret_y[i] = (float)act_softplus((double)a[i]);
}

static void hyperbolic(uint64_t n, const float *a, float *ret_y)
{
    for (uint64_t i = 0; i < n; i++)
        ret_y[i] = tanhf(a[i]);
}

static void relu(uint64_t n, const float *a, float *ret_y)
{
    for (uint64_t i = 0; i < n; i++)
        ret_y[i] = a[i] < 0 ? 0 : a[i];
}

static void softmax(uint64_t n, const float *a, float *ret_y)
{
    float top = -INFINITY;
    double sum = 0;

    for (uint64_t i = 0; i < n; i++) {
        if (a[i] > top)
            top = a[i];
    }
    for (uint64_t i = 0; i < n; i++) {
        ret_y[i] = expf(a[i] - top);
        sum += (double)ret_y[i];
    }
    for (uint64_t i = 0; i < n; i++)
        ret_y[i] = (float)((double)ret_y[i] / sum);
}

static float dot(uint64_t n, const float *a, const float *b)
{
    double sum = 0;

    for (uint64_t i = 0; i < n; i++)
        sum += (double)a[i] * (double)b[i];
    return (float)sum;
}

static float sum_squares(uint64_t n, const float *a)
{
    return dot(n, a, a);
}

static void matvec(uint64_t rows, uint64_t cols, enum dtype store, const void *m, const float *x,
                   float *ret_y)
{
    for (uint64_t r = 0; r < rows; r++) {
        double sum = 0;
        for (uint64_t c = 0; c < cols; c++)
            sum += stored_at(store, m, r * cols + c) * (double)x[c];
        ret_y[r] = (float)sum;
    }
}

static void matvec_t(uint64_t rows, uint64_t cols, const float *m, const float *x, float *ret_y)
{
    memset(ret_y, 0, cols * sizeof(float));
    for (uint64_t r = 0; r < rows; r++)
        for (uint64_t c = 0; c < cols; c++)
            ret_y[c] += x[r] * m[r * cols + c];
}

static void scale_rows(uint64_t rows, uint64_t cols, const float *x, float *m)
{
    for (uint64_t r = 0; r < rows; r++)
        for (uint64_t c = 0; c < cols; c++)
            m[r * cols + c] *= x[r];
}

static void add_outer(uint64_t rows, uint64_t cols, const float *a, const float *b, float *m)
{
    for (uint64_t r = 0; r < rows; r++)
        for (uint64_t c = 0; c < cols; c++)
            m[r * cols + c] += a[r] * b[c];
}

void prim_init(struct prim_ops *ops, unsigned cpu_mask)
{
    *ops = (struct prim_ops){.variant = "c",
                             .mul = mul,
                             .add = add,
                             .sub = sub,
                             .scale = scale,
                             .widen = widen,
                             .exp = exponential,
                             .sigmoid = sigmoid,
                             .softplus = softplus,
                             .tanh = hyperbolic,
                             .relu = relu,
                             .softmax = softmax,
                             .sum_squares = sum_squares,
                             .dot = dot,
                             .matvec = matvec,
                             .matvec_t = matvec_t,
                             .scale_rows = scale_rows,
                             .add_outer = add_outer};
#if defined(__x86_64__)
    if (cpu_mask & CPU_AVX2)
        prim_avx2(ops);
    if (cpu_mask & CPU_AVX512)
        prim_avx512(ops);
#else
    (void)cpu_mask;
#endif
}
