#ifndef STRESS_LOGITS_H
#define STRESS_LOGITS_H
#include <stddef.h>

/* Many tokens against one matrix: ret [tokens][rows] = x [tokens][width] . w [rows][width]^T, all
 * F32 and row-major. The definition adds in double and rounds once; the variants add in F32, in 16
 * or 8 sums a row, and differ from it as F32 sums do. NaN gives NaN. Arrays do not overlap. */
typedef void logits_fn(size_t tokens, size_t rows, size_t width, const float *x, const float *w,
                       float *ret);

struct logits_ops {
    logits_fn *multiply;
    const char *variant; /* "c", "avx2", "avx512" */
};
void logits_init(struct logits_ops *ops, unsigned cpu_mask);

logits_fn logits_avx2, logits_avx512;

#endif
