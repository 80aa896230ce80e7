#include "stress/roof.h"
#include "core/clock.h"
#include "core/cpu.h"
#include "core/mem.h"
#include "core/pool.h"
#include <stdlib.h>

#define SET_BYTES_MIN (16ull << 20)
#define SET_BYTES_DEFAULT                                                        \
    (1ull << 30)       /* where the system does not say how large its caches are \
                        */
#define CHUNK_WORDS 64 /* words that one step of a sum takes */

/* Bytes a second at which a slow host touches fresh memory and reads it: what the working set is
 * cut by when time is short. The passes are the warm-up, the probe and the epochs. */
#define SLOW_TOUCH 1e9
#define SLOW_READ 4e9
#define PASSES (2 + METER_EPOCHS_MIN)
#define DEFAULT_BUDGET_NS 10000000000ull

/* The definition. Eight sums that do not wait for one another: the loads are the limit. */
uint64_t roof_sum_c(const uint64_t *p, size_t n)
{
    uint64_t s[8] = {0};

    for (size_t i = 0; i < n; i += 8) {
        for (size_t j = 0; j < 8; j++)
            s[j] += p[i + j];
    }
    return s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7];
}

struct reading {
    roof_fn *sum;
    const uint64_t *words;
    size_t count;   /* words of the whole set */
    unsigned parts; /* one a thread */
    size_t part_words;
    volatile uint64_t *sums; /* [parts]: a result that is used cannot be optimised away */
};

static void read_part(void *ctx, size_t part, unsigned worker)
{
    const struct reading *r = ctx;
    size_t from = part * r->part_words;
    size_t n = from + r->part_words < r->count ? r->part_words : r->count - from;

    (void)worker;
    r->sums[part] = r->sum(r->words + from, n);
}

static void read_all(void *ctx)
{
    struct reading *r = ctx;
    struct err e = {0};

    /* A thread that cannot start leaves its part to the others; the rate is then what it is. */
    if (r->parts == 1)
        read_part(r, 0, 0);
    else
        (void)pool_run(r->parts, r->parts, read_part, r, &e);
}

static roof_fn *choose(unsigned cpu, const char **ret_name)
{
#if defined(__x86_64__)
    if (cpu & CPU_AVX512) {
        *ret_name = "avx512";
        return roof_sum_avx512;
    }
    if (cpu & CPU_AVX2) {
        *ret_name = "avx2";
        return roof_sum_avx2;
    }
#else
    (void)cpu;
#endif
    *ret_name = "c";
    return roof_sum_c;
}

static uint64_t choose_set(const struct roof_opts *o, uint64_t last_cache)
{
    double budget_s = 1e-9 * (double)(o->time_budget_ns ? o->time_budget_ns : DEFAULT_BUDGET_NS);
    uint64_t by_time = (uint64_t)(budget_s / (1 / SLOW_TOUCH + PASSES / SLOW_READ));
    uint64_t set = last_cache ? ROOF_CACHES * last_cache : SET_BYTES_DEFAULT;

    if (o->memory_budget_bytes && set > o->memory_budget_bytes)
        set = o->memory_budget_bytes;
    if (set > by_time)
        set = by_time;
    if (set < SET_BYTES_MIN)
        set = SET_BYTES_MIN;
    return set / (CHUNK_WORDS * sizeof(uint64_t)) * (CHUNK_WORDS * sizeof(uint64_t));
}

int roof_measure(const struct roof_opts *o, struct roof *ret, struct err *e)
{
    struct roof r = {.last_cache_bytes = cpu_last_cache_bytes()};
    struct meter_opts mo = {.budget_ns = o->time_budget_ns};
    struct meter_result m;
    uint64_t start = clock_ns();
    void *memory, *sums;

    r.threads = o->threads ? o->threads : cpu_count();
    if (r.threads > POOL_THREADS_MAX)
        return err_set(e, ERR_LIMIT, "%u threads are over the limit of %u", r.threads,
                       POOL_THREADS_MAX);
    r.working_set_bytes = choose_set(o, r.last_cache_bytes);
    r.small = !r.last_cache_bytes || r.working_set_bytes < ROOF_CACHES * r.last_cache_bytes;
    int rc = mem_try(r.working_set_bytes, 1, &memory, e);
    if (rc)
        return err_wrap(e, "working set of the read bandwidth");
    sums = mem_alloc(r.threads, sizeof(uint64_t));
    struct reading work = {.words = memory,
                           .count = r.working_set_bytes / sizeof(uint64_t),
                           .parts = r.threads,
                           .sums = sums};
    size_t chunks = work.count / CHUNK_WORDS;
    work.part_words = (chunks + r.threads - 1) / r.threads * CHUNK_WORDS;
    work.parts = (unsigned)((work.count + work.part_words - 1) / work.part_words);
    work.sum = choose(o->cpu, &r.variant);
    if (r.threads == 1) { /* in CPU time, as what will be held against it */
        mo.clock = &meter_thread;
        mo.wall = &meter_wall;
    }
    uint64_t touched = clock_ns() - start;
    if (mo.budget_ns)
        mo.budget_ns = mo.budget_ns > touched ? mo.budget_ns - touched : 1;
    meter_measure(read_all, &work, &mo, &m);
    r.bytes_per_s = 1e9 * (double)r.working_set_bytes / m.median_ns;
    r.bytes_per_s_mad = r.bytes_per_s * m.mad_ns / m.median_ns;
    r.epochs = m.epochs;
    r.state = m.state;
    free(sums);
    free(memory);
    *ret = r;
    return 0;
}
