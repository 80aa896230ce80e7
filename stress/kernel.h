#ifndef STRESS_KERNEL_H
#define STRESS_KERNEL_H
#include "core/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The table of operators. A kernel is a line: name, definition, variants, cost, tolerance.
 * Coverage, bench, the stress drivers, conformance and `kernels list` all read this table; an
 * operator that is not implemented has an entry with a reason, not a hole. */

/* Dimensions of a call; an operator reads those that its SPEC entry names, others are 0. */
struct kernel_shape {
    uint64_t tokens; /* T: context length, or tokens of the batch */
    uint64_t heads, key_heads, value_heads;
    uint64_t key_dim, value_dim;
    uint64_t rank, nope_dim, rope_dim;            /* MLA */
    uint64_t hidden, latent, inner, shared_inner; /* MoE */
    uint64_t experts, top_k;
    uint64_t sources;      /* AttnRes: streams looked at */
    uint64_t window;       /* 0: none */
    uint64_t store_bytes;  /* of one stored element: cache, weights or sources; 2 BF16, 4 F32 */
    bool gated;            /* MoE: three matrices an expert, else two; shared experts alike */
    uint64_t rows, cols;   /* dequantization: numbers of the matrix ... */
    uint64_t packed_bytes; /* ... and all that is stored of it, scales too */
};

/* What one call of one new token costs, fused (nothing materialised that need not be) or composed
 * (the sequence of small operations of an engine without the operator, each result written and read
 * again). */
struct kernel_cost {
    double bytes; /* read + written, compulsory traffic of the algorithm */
    double flops; /* one for each add, multiply, divide, root, exponential and maximum */
};
typedef struct kernel_cost kernel_cost_fn(const struct kernel_shape *s);

struct kernel {
    const char *op;           /* "attention.kda" */
    const char *summary;      /* one line, with the formula's source */
    const char *variants;     /* "c avx2 avx512": what is built, weakest first; "" if missing */
    kernel_cost_fn *fused;    /* of one token; NULL if missing */
    kernel_cost_fn *composed; /* NULL if there is no composed path */
    const char *cost_words;   /* the fused formula in words, for `kernels list` */
    double tolerance;         /* normalised error allowed to variants against the definition, for
                                 inputs of magnitude one; see conformance.h for the norm */
    const char *missing;      /* NULL, or why there is no implementation */
};

extern const struct kernel kernel_table[];
extern const size_t kernel_count;

/* The entry, or NULL. */
const struct kernel *kernel_find(const char *op);

#endif
