#ifndef PROBES_HOST_H
#define PROBES_HOST_H
#include "core/err.h"
#include "core/fact.h"
#include <stdint.h>

/* The machine that a run happens on. */
struct host {
    char cpu[160];    /* "AMD EPYC 7B13; AVX2, FMA, F16C": model and the extensions that kernels
                         may use; "unknown" for a model that /proc/cpuinfo does not give */
    unsigned threads; /* processors this process may run on */
    uint64_t memory_bytes;     /* of the host, or of the control group where that allows less; 0 if
                                  neither can be told */
    const char *memory_source; /* "/proc/meminfo" or "cgroup limit" */
    char system[160];          /* "Linux 6.1.0 x86_64" */
};

/* Never fails: what cannot be told is said to be unknown. */
void host_read(struct host *ret);

/* Puts the HOST_* facts. */
int host_facts(const struct host *h, const struct fact_sink *sink, struct err *e);

#endif
