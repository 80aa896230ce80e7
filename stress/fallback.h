#ifndef STRESS_FALLBACK_H
#define STRESS_FALLBACK_H
#include "core/fact.h"
#include "core/log.h"
#include "model/model.h"

/* What is lost where an engine has no fused operator: the fused path against the composed one (the
 * sequence of small operations that such an engine runs, every result written and read again), on
 * this host's CPU, at the model's shapes. */

struct fallback_opts {
    uint64_t time_budget_ns;      /* for everything; 0: none */
    uint64_t memory_budget_bytes; /* for one operator's data */
    uint64_t seed;
    unsigned cpu;                    /* feature mask */
    const struct progress *progress; /* may be NULL */
};

/* Puts FALLBACK_TIME and FALLBACK_BYTES, scope = operator, for those of attention.kda,
 * residual.attnres_block and moe.latent that the model uses; the source says at which shape, and
 * where it had to be smaller than the model's. */
int fallback_run(const struct model *m, const struct fallback_opts *o, const struct fact_sink *sink,
                 struct err *e);

#endif
