#ifndef STRESS_KBENCH_H
#define STRESS_KBENCH_H
#include "core/err.h"
#include "stress/meter.h"
#include <stddef.h>
#include <stdint.h>

/* Times each kernel's variants and its composed path against the definition at shapes of real
 * models: one token, one thread, side by side (meter_compare). Inside the clock: the calls alone;
 * data that fits a cache is measured out of that cache. */

struct kbench_row {
    const char *op;         /* "attention.kda" */
    const char *shape;      /* "96 heads of 128 x 128, F32 state" */
    const char *path;       /* "fused" or "composed" */
    const char *variant;    /* "c", "avx2", "avx512" */
    double median_ns;       /* of one call */
    double ratio;           /* time of the definition over this time; 1 for the definition itself */
    double bytes, flops;    /* declared cost of one call; bytes / median_ns is GB/s */
    unsigned rounds;        /* epochs behind the median */
    enum meter_state state; /* METER_OK, or why the figures are to be doubted */
};

/* Rows for every kernel with a shape here, each path and variant that cpu_mask (CPU_*) allows.
 * budget_ns is about how long all of it may take; a row has at least METER_EPOCHS_LEAST epochs,
 * so that it takes longer where the budget is too small for that. *ret_rows is freed with free().
 * ERR_LIMIT if memory for a shape is refused: at most KBENCH_BYTES_MAX is asked for. */
#define KBENCH_BYTES_MAX (512ul << 20)
int kbench_run(unsigned cpu_mask, uint64_t budget_ns, struct kbench_row **ret_rows,
               size_t *ret_count, struct err *e);

#endif
