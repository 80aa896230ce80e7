#ifndef STRESS_DEQUANT_RATE_H
#define STRESS_DEQUANT_RATE_H
#include "core/fact.h"
#include "core/log.h"
#include "model/quant.h"

/* How fast this host unpacks the formats that a model's tensors have, and what that adds to loading
 * them where a backend cannot compute in the format as it is stored. */

struct dequant_rate_opts {
    uint64_t time_budget_ns;      /* for everything; 0: none */
    uint64_t memory_budget_bytes; /* for the made-up matrices and the result; 0: no bound but the
                                     system's */
    uint64_t seed;
    unsigned cpu;                    /* feature mask */
    double read_bandwidth;           /* bytes/s of one thread in this run, for comparison; 0: not
                                        known */
    const struct progress *progress; /* may be NULL */
};

/* Puts, of each format of o:
 *   FORMAT_DEQUANT_RATE  scope the format: stored bytes, scales included, over the CPU time of one
 *                        thread that turns made-up matrices into F32, one after the other. Together
 *                        they are larger than twice the last cache where time and memory allow; the
 *                        source says what they were. The result goes to one buffer again and again,
 *                        so that writing it out to memory is not in the rate.
 * and of each class of modules that has tensors:
 *   FORMAT_DEQUANT_LOAD  scope the class: stored bytes of each of its formats over that rate, in
 * sum Both are absent where all numbers are stored plain, and unknown where no kernel reads a
 * format. */
int dequant_rate_run(const struct quant_observed *o, const struct dequant_rate_opts *opts,
                     const struct fact_sink *sink, struct err *e);

#endif
