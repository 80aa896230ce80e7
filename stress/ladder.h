#ifndef STRESS_LADDER_H
#define STRESS_LADDER_H
#include "core/err.h"
#include "model/model.h"
#include "stress/counters.h"
#include "stress/meter.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Context lengths, one after the other, with what one layer's cache and decode step cost at each.
 * A rung that cannot be stood on keeps its place, with what it would need. */

#define LADDER_RUNGS_MAX 48
#define LADDER_NOTE_BYTES ERR_MSG_BYTES

struct ladder_rung {
    uint64_t tokens;
    bool reached;
    char note[LADDER_NOTE_BYTES]; /* why it was not reached; "" if it was */
    uint64_t layout_bytes;        /* of one layer; 0 if not known */
    int64_t resident_bytes;       /* of one layer; -1 if not known */
    uint64_t page_error_bytes;
    double move_bytes;        /* of one step */
    struct meter_result time; /* of one step, CPU time; if reached */
};

struct ladder {
    struct ladder_rung rungs[LADDER_RUNGS_MAX];
    size_t count;
    size_t longest;                  /* index of the last rung reached; count if none */
    const char *variant;             /* kernel variant; "" if no rung was reached */
    struct counters_values counters; /* of one step at the longest */
};

struct ladder_opts {
    const struct mixer *mixer;
    uint64_t target_tokens;
    uint64_t memory_budget_bytes;
    uint64_t deadline_ns; /* of clock_ns(); 0: none */
    uint64_t seed;
    unsigned cpu;            /* feature mask */
    void (*tick)(void *ctx); /* after each rung; may be NULL */
    void *tick_ctx;
};

/* The rungs: 4K, 8K, 16K ... below the target, and the target (halves of it where that makes fewer
 * than three, which a fit needs); for a sliding window also a quarter,
 * a half and the whole of it, so that its rise is seen before its plateau. Rising, without
 * repeats; returns how many. target_tokens from 1 to 2^32. */
size_t ladder_plan(const struct mixer *x, uint64_t target_tokens,
                   uint64_t ret_tokens[LADDER_RUNGS_MAX]);

/* Stands on every rung that fits the memory and the time. Each timing takes the share of the time
 * left that its bytes have of the bytes still to come. Writes c when a counter proves implausible.
 */
void ladder_climb(const struct ladder_opts *o, struct counters *c, struct ladder *ret);

#endif
