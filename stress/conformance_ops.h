#ifndef STRESS_CONFORMANCE_OPS_H
#define STRESS_CONFORMANCE_OPS_H
#include "stress/conformance_case.h"

#define CONFORMANCE_OPS_TOKENS_MAX 16384u

/* The operators of conformance files: each takes its inputs and wanted outputs from the case, runs
 * the definition and every variant that cpu_mask allows, and compares. */
typedef void conformance_ops_fn(struct conformance_case *c, unsigned cpu_mask);

/* NULL for an operator without one. */
conformance_ops_fn *conformance_ops_find(const char *op);

#endif
