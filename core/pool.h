#ifndef CORE_POOL_H
#define CORE_POOL_H
#include "core/err.h"
#include <stddef.h>

/* One job: index counts from 0 to jobs-1, worker from 0 to threads-1. */
typedef void pool_fn(void *ctx, size_t index, unsigned worker);

#define POOL_THREADS_MAX 1024u

/* Runs fn for every index, each once, on up to `threads` threads (0 is one a processor; no more
 * than there are jobs), and returns when all are done. Indices are handed out in order. The results
 * are fn's business: it writes to a place that its index owns. ERR_LIMIT over POOL_THREADS_MAX;
 * ERR_IO if not one thread could be started (fewer than asked is not an error). */
int pool_run(unsigned threads, size_t jobs, pool_fn *fn, void *ctx, struct err *e);

#endif
