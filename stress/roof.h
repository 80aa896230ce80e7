#ifndef STRESS_ROOF_H
#define STRESS_ROOF_H
#include "core/err.h"
#include "stress/meter.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The read bandwidth of this host in this run: the roof over every kernel that streams a cache.
 * The work is a sum over 64-bit words, each read once; bytes are the bytes read. */

struct roof_opts {
    unsigned threads;             /* 0: one a processor */
    unsigned cpu;                 /* feature mask: which variant may be used */
    uint64_t memory_budget_bytes; /* 0: no bound but the system's */
    uint64_t time_budget_ns;      /* 0: about ten seconds; touching the memory included */
};

struct roof {
    double bytes_per_s;     /* median over epochs; one thread: of its CPU time */
    double bytes_per_s_mad; /* half width: the median's relative MAD times the rate */
    uint64_t working_set_bytes, last_cache_bytes; /* last cache 0: not known */
    bool small; /* the working set is under 4 times the last cache: the rate may be the
                   cache's, not the memory's */
    unsigned threads, epochs;
    const char *variant; /* "avx512", "avx2" or "c" */
    enum meter_state state;
};

#define ROOF_CACHES 4 /* working set over last cache (STREAM's rule) */

/* ERR_LIMIT if there is no memory for the smallest working set (16 MiB). */
int roof_measure(const struct roof_opts *o, struct roof *ret, struct err *e);

/* The sum of n words, n a multiple of 64, p aligned to 64. The variants all give the same. */
typedef uint64_t roof_fn(const uint64_t *p, size_t n);
roof_fn roof_sum_c, roof_sum_avx2, roof_sum_avx512;

#endif
