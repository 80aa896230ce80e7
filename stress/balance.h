#ifndef STRESS_BALANCE_H
#define STRESS_BALANCE_H
#include "core/fact.h"
#include "core/log.h"
#include "model/inventory.h"
#include "model/model.h"
#include <stdbool.h>
#include <stdint.h>

/* How evenly tokens spread over the experts of a layer. */

#define BALANCE_TOKENS_PER_EXPERT_MIN 50.0 /* mean load under which chance drowns the figures */

/* counts c_i of E experts, mu = mean, n = tokens, k = top-k (facts: coverage 5.1). */
struct balance {
    uint32_t experts, unused;
    uint64_t copies;       /* sum of the counts: tokens * top_k */
    double mean;           /* mu */
    double max_mean;       /* max / mu */
    double balancedness;   /* mu / max */
    double max_vio;        /* max / mu - 1 (arXiv 2408.15664) */
    double cv;             /* population sigma / mu */
    double entropy;        /* H / ln E */
    double gini;           /* sum (2i - E - 1) x_(i) / (E sum x), i from 1, ascending */
    double max_mean_floor; /* 1 + sqrt(2 ln E (1 - k/E) / mu): even routing by chance */
    double cv_floor;       /* sqrt((1 - k/E) / mu) */
    bool too_few;          /* mu < BALANCE_TOKENS_PER_EXPERT_MIN: no verdict */
};

/* ERR_USAGE if experts < 2, top_k is 0 or over experts, or no token was counted. experts is the
 * model's, not the largest id seen. Counts of ranks are judged the same way (top_k 1). */
int balance_of(const uint64_t *counts, uint32_t experts, uint32_t top_k, struct balance *ret,
               struct err *e);

/* The time that layers, each waiting for its busiest expert (or rank), take over what they would
 * take evenly loaded: sum of max over sum of mean, counts [layers][experts]. Never from sums over
 * layers: two layers with mirrored loads are as slow as each. */
double balance_slowdown(const uint64_t *counts, uint32_t layers, uint32_t experts);

struct balance_opts {
    uint64_t tokens;              /* routed in each layer, whatever the time; 0: see the next */
    double tokens_per_expert;     /* wanted mean load; 0: 64. Without `tokens` only */
    uint64_t time_budget_ns;      /* 0: none */
    uint64_t memory_budget_bytes; /* 0: 4 GiB */
    unsigned threads;             /* 0: all */
    uint64_t seed;
    unsigned cpu;                    /* feature mask */
    const struct progress *progress; /* may be NULL */
};

/* Runs the model's own routers on synthetic hidden vectors: standard normal, scaled to a mean
 * square of one, the same vectors for each layer. That shows what the weights prefer where the
 * inputs prefer nothing; it is no traffic, and every source says "synthetic". dir is the folder of
 * the inventory's shards.
 *
 * Puts the BALANCE_* facts, scope "layer 12" and "worst" (of each figure, the worst layer, which
 * the source names), and the loads. A dense model: BALANCE_SOURCE absent. No router tensors, or
 * ones that cannot be read: unknown with the reason. Mean load under BALANCE_TOKENS_PER_EXPERT_MIN:
 * the figures are unknown. Where time does not allow all layers, evenly spaced ones are taken and
 * BALANCE_LEFT_OUT names the others. BALANCE_TOKENS and BALANCE_TOKENS_PER_EXPERT are those of the
 * layer that got fewest. */
int balance_run(const struct model *m, const struct inventory *inv, const char *dir,
                const struct balance_opts *o, const struct fact_sink *sink, struct err *e);

#endif
