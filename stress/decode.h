#ifndef STRESS_DECODE_H
#define STRESS_DECODE_H
#include "core/err.h"
#include "model/model.h"
#include <stdint.h>

/* One layer's mixer with its cache as engines keep it (BF16; for KDA an F32 state and a BF16
 * convolution history), filled, and ready for the decode step of one sequence. */

/* What a layer needs at a context length. */
struct decode_need {
    const char *op;           /* "attention.mla" */
    uint64_t cache_bytes;     /* of the layout: what is allocated as cache, without page rounding */
    uint64_t other_bytes;     /* inputs, scratch, projections: memory beside the cache */
    double move_bytes, flops; /* of one step, fused: the kernel's cost function */
};

/* ERR_UNSUPPORTED if the mixer is of unknown kind or a dimension that it needs is 0; ERR_LIMIT if
 * the bytes leave 64 bits. tokens > 0. */
int decode_need(const struct mixer *x, uint64_t tokens, struct decode_need *ret, struct err *e);

struct decode {
    struct decode_need need;
    const char *variant;    /* of the kernel: "c", "avx2", "avx512" */
    int64_t resident_bytes; /* of the filled cache's pages, those that the kernel holds, in memory
                               or swapped out; -1: the system does not say */
    uint64_t page_error_bytes; /* what rounding to pages may add to resident_bytes */
    uint64_t fill_ns;          /* time that making and filling took */
};

/* Allocates and fills (seeded; magnitudes of 0.25 to 0.5, so that no softmax overflows). What
 * decode_need says, and ERR_LIMIT when the system has no memory. *ret is set on success only. */
int decode_open(const struct mixer *x, uint64_t tokens, uint64_t seed, unsigned cpu_mask,
                struct decode **ret, struct err *e);
void decode_close(struct decode *d);

/* One step, a meter_fn. For KDA: the state update, without the convolution in front of it. */
void decode_step(void *decode);

#endif
