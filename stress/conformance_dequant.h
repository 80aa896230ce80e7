#ifndef STRESS_CONFORMANCE_DEQUANT_H
#define STRESS_CONFORMANCE_DEQUANT_H
#include "stress/conformance_case.h"

/* Runs dequant.KIND, which the case's op names, as conformance_ops_fn says. */
void conformance_dequant(struct conformance_case *c, unsigned cpu_mask);

#endif
