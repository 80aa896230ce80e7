#ifndef STRESS_LONGCTX_H
#define STRESS_LONGCTX_H
#include "core/fact.h"
#include "core/log.h"
#include "model/model.h"

/* The ladder of context lengths: one layer of each mixer kind, at its real head shapes and batch 1,
 * its cache allocated as engines keep it and filled, its decode step timed. */

#define LONGCTX_TARGET_MAX (1ull << 32) /* tokens */

struct longctx_opts {
    uint64_t target_tokens;       /* last rung; 1 to LONGCTX_TARGET_MAX */
    uint64_t memory_budget_bytes; /* for the cache of one layer and its scratch */
    uint64_t time_budget_ns;      /* for everything; 0: none */
    unsigned threads;             /* of the whole-host bandwidth; kernels run on one. 0: all */
    uint64_t seed;
    unsigned cpu;                    /* feature mask */
    const struct progress *progress; /* may be NULL */
};

/* Puts the STRESS_* facts and the points of these series, scope = mixer kind (a sliding window has
 * ".window" behind the kind; a second shape of one kind ".2"):
 *   cache.predicted  bytes, all layers of the kind, exact; every rung up to the target, and scope
 *                    "model" for the whole
 *   cache.layout     bytes that were allocated for one layer, times the layers
 *   cache.measured   growth of this process's resident memory for one layer, times the layers; the
 *                    error is a page for each buffer of a layer
 *   decode.measured  ns of CPU time a token in one layer, with the MAD
 *   decode.floor     ns: bytes that the kernel must move over the read bandwidth of this run, where
 *                    they do not fit the last cache
 * A rung that was not reached (memory, time) has y NaN and a note. */
int longctx_run(const struct model *m, const struct longctx_opts *o, const struct fact_sink *sink,
                struct err *e);

#endif
