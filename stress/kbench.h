#ifndef STRESS_KBENCH_H
#define STRESS_KBENCH_H
#include "core/err.h"
#include <stddef.h>
#include <stdint.h>

/* Times each kernel's variants and composed path against the definition at shapes of real models,
 * one thread, interleaved: definition, variant, definition, variant ... so that both see the same
 * weather. Inside the clock: the call alone; caches are as the call before left them. */

struct kbench_row {
    const char *op;      /* "attention.kda" */
    const char *shape;   /* "96 heads, 128 x 128, F32 state" */
    const char *path;    /* "fused" or "composed" */
    const char *variant; /* "c", "avx2", "avx512" */
    double median_ns;    /* of one call */
    double ratio;        /* median over rounds of definition time / this time; 1 for "c" fused */
    double bytes, flops; /* declared cost of one call; bytes / median_ns is GB/s */
    unsigned rounds;
};

/* Rows for every kernel, shape, path and variant that cpu_mask allows. budget_ns is about how long
 * all of it may take; each row has at least 3 rounds. *ret_rows is freed with free(). ERR_LIMIT if
 * memory for a shape is refused. */
int kbench_run(unsigned cpu_mask, uint64_t budget_ns, struct kbench_row **ret_rows,
               size_t *ret_count, struct err *e);

#endif
