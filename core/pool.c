#include "core/pool.h"
#include "core/cpu.h"
#include "core/mem.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct work {
    pool_fn *fn;
    void *ctx;
    size_t jobs;
    atomic_size_t next;
};

struct worker {
    struct work *work;
    unsigned number;
    pthread_t thread;
};

static void *run(void *arg)
{
    struct worker *w = arg;

    for (;;) {
        size_t i = atomic_fetch_add(&w->work->next, 1);
        if (i >= w->work->jobs)
            return NULL;
        w->work->fn(w->work->ctx, i, w->number);
    }
}

int pool_run(unsigned threads, size_t jobs, pool_fn *fn, void *ctx, struct err *e)
{
    struct work work = {.fn = fn, .ctx = ctx, .jobs = jobs};
    unsigned want = threads ? threads : cpu_count();
    unsigned started = 0;
    int rc = 0;

    if (threads > POOL_THREADS_MAX)
        return err_set(e, ERR_LIMIT, "%u threads are over the limit of %u", want, POOL_THREADS_MAX);
    if (want > POOL_THREADS_MAX)
        want = POOL_THREADS_MAX;
    if (want > jobs)
        want = (unsigned)jobs;
    if (want == 0)
        return 0;
    atomic_init(&work.next, 0);
    struct worker *workers = mem_alloc(want, sizeof(*workers));
    for (; started < want; started++) {
        workers[started].work = &work;
        workers[started].number = started;
        rc = pthread_create(&workers[started].thread, NULL, run, &workers[started]);
        if (rc)
            break;
    }
    for (unsigned i = 0; i < started; i++)
        (void)pthread_join(workers[i].thread, NULL);
    free(workers);
    if (started == 0)
        return err_set(e, ERR_IO, "cannot start a thread: %s", strerror(rc));
    return 0;
}
