#include "stress/dequant_rate.h"
#include "core/clock.h"
#include "core/cpu.h"
#include "core/mem.h"
#include "core/text.h"
#include "stress/dequant_shape.h"
#include "stress/dequant_synthetic.h"
#include "stress/meter.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIDE 4096u            /* rows and columns of a made-up matrix */
#define ROWS_MIN 64u          /* of one that time leaves little room for */
#define TILE_BYTES (1u << 20) /* of floats that are made at once: they stay in a near cache */
#define CACHES 2              /* stored bytes over the last cache */
#define SET_BYTES_DEFAULT                                                  \
    (1ull << 28) /* where the system does not say how large its caches are \
                  */
#define SET_MATRICES_MAX 4096u
/* Bytes a second at which a slow host makes up matrices and unpacks them, and the calls that a
 * measurement makes at the least: what a set is judged by before it is made. */
#define SLOW_FILL 5e8
#define SLOW_DECODE 2e8
#define CALLS_MIN (2 + METER_EPOCHS_LEAST)
#define PLAIN "stored plain: nothing to unpack"
#define FORMATS_MAX (QUANT_CLASSES * QUANT_FORMATS_MAX)

/* One format and what was found out about it. */
struct rate {
    const char *format;
    bool plain;
    double bytes_per_s, error; /* 0: not known, and why says it */
    char why[ERR_MSG_BYTES];
};

struct run {
    const struct dequant_rate_opts *o;
    const struct fact_sink *sink;
    struct rate rates[FORMATS_MAX];
    size_t count;
};

/* The matrices of one format, which are unpacked in turn. */
struct tour {
    struct dequant_synthetic *set;
    size_t count, at;
    struct dequant_ops ops;
    uint64_t tile_rows;
    float *out;
};

/* One matrix, tile by tile: what the meter calls. */
static void unpack_next(void *ctx)
{
    struct tour *t = ctx;
    const struct dequant_matrix *m = &t->set[t->at].m;

    for (uint64_t r = 0; r < m->rows; r += t->tile_rows) {
        uint64_t n = m->rows - r < t->tile_rows ? m->rows - r : t->tile_rows;
        t->ops.rows(m, r, n, t->out);
    }
    t->at = (t->at + 1) % t->count;
}

static struct rate *rate_of(struct run *r, const char *format)
{
    for (size_t i = 0; i < r->count; i++) {
        if (strcmp(r->rates[i].format, format) == 0)
            return &r->rates[i];
    }
    return NULL;
}

static void collect(struct run *r, const struct quant_observed *o)
{
    for (unsigned c = 0; c < QUANT_CLASSES; c++) {
        for (size_t i = 0; i < o->classes[c].format_count; i++) {
            const char *name = o->classes[c].formats[i].name;
            if (!rate_of(r, name))
                r->rates[r->count++] =
                    (struct rate){.format = name, .plain = dequant_shape_plain(name)};
        }
    }
}

/* Rows of a matrix, halved until memory holds one and the least number of calls is not too long. */
static uint64_t rows_that_fit(const struct dequant_matrix *m, uint64_t stored, uint64_t time_ns,
                              uint64_t memory_bytes)
{
    double bytes = (double)stored, seconds = 0.5e-9 * (double)time_ns;
    uint64_t rows = m->rows;

    for (; rows > ROWS_MIN; rows /= 2, bytes /= 2) {
        bool in_time = !time_ns || CALLS_MIN * bytes / SLOW_DECODE <= seconds;
        bool in_memory = !memory_bytes || bytes + TILE_BYTES <= (double)memory_bytes;
        if (in_time && in_memory)
            break;
    }
    return rows;
}

/* Matrices that are as large together as they should be, or as memory and time allow. */
static size_t matrices(uint64_t stored, uint64_t out_bytes, uint64_t time_ns, uint64_t memory_bytes)
{
    uint64_t cache = cpu_last_cache_bytes();
    uint64_t n = ((cache ? CACHES * cache : SET_BYTES_DEFAULT) + stored - 1) / stored;
    double in_time = 0.5e-9 * (double)time_ns * SLOW_FILL / (double)stored;
    uint64_t in_memory = memory_bytes > out_bytes ? (memory_bytes - out_bytes) / stored : 0;

    if (time_ns && in_time < (double)n)
        n = (uint64_t)in_time;
    if (memory_bytes && in_memory < n)
        n = in_memory;
    return n == 0 ? 1 : n > SET_MATRICES_MAX ? SET_MATRICES_MAX : (size_t)n;
}

static int tour_open(struct run *r, const struct dequant_matrix *shape, uint64_t time_ns,
                     struct tour *t, struct err *e)
{
    struct dequant_matrix m = *shape;
    struct dequant_bytes b;
    void *out;

    if (dequant_check(&m, &b, e))
        return e->code;
    m.rows = rows_that_fit(&m, b.weight + b.scale + b.zero, time_ns, r->o->memory_budget_bytes);
    if (m.block_rows > m.rows)
        m.block_rows = m.rows;
    if (dequant_check(&m, &b, e))
        return e->code;
    t->tile_rows = TILE_BYTES / sizeof(float) / m.cols / 8 * 8; /* whole tiles of gptq and awq */
    t->tile_rows = t->tile_rows < 8 ? 8 : t->tile_rows;
    int rc = mem_try(t->tile_rows * m.cols, sizeof(float), &out, e);
    if (rc)
        return rc;
    t->out = out;
    size_t n = matrices(b.weight + b.scale + b.zero, t->tile_rows * m.cols * sizeof(float), time_ns,
                        r->o->memory_budget_bytes);
    t->set = mem_alloc(n, sizeof(*t->set));
    for (; t->count < n && rc == 0; t->count += rc == 0)
        rc = dequant_synthetic_open(&m, r->o->seed + t->count, &t->set[t->count], e);
    return rc;
}

static void tour_close(struct tour *t)
{
    for (size_t i = 0; i < t->count; i++)
        dequant_synthetic_close(&t->set[i]);
    free(t->set);
    free(t->out);
}

static int put_rate(struct run *r, const struct rate *x, const struct tour *t,
                    const struct meter_result *m, struct err *e)
{
    const struct dequant_matrix *a = &t->set[0].m;
    uint64_t stored = t->count * t->set[0].stored_bytes;
    char source[480], roof[80] = "", small[100] = "", b[TEXT_NUMBER_BYTES], c[TEXT_NUMBER_BYTES];

    if (stored < CACHES * cpu_last_cache_bytes())
        snprintf(small, sizeof(small),
                 "; less than %d times the last cache (%s): the rate may be the cache's", CACHES,
                 text_bytes(cpu_last_cache_bytes(), b));
    if (r->o->read_bandwidth > 0)
        snprintf(roof, sizeof(roof), "; read bandwidth of the same run: %s/s",
                 text_bytes((uint64_t)r->o->read_bandwidth, b));
    snprintf(source, sizeof(source),
             "measured on this host's CPU: dequant.%s %s, one thread, %u epochs of CPU time, %s; "
             "%zu made-up matrices of %llu x %llu, %s stored%s; F32 result into one buffer of %s%s",
             dequant_name(a->kind), t->ops.variant, m->epochs, meter_state_name(m->state), t->count,
             (unsigned long long)a->rows, (unsigned long long)a->cols, text_bytes(stored, b), small,
             text_bytes(t->tile_rows * a->cols * sizeof(float), c), roof);
    return fact_put_real(r->sink, FACT_FORMAT_DEQUANT_RATE, x->format, x->bytes_per_s, x->error,
                         source, e);
}

/* One format. What stands in its way is kept as the reason; an error is the sink's. */
static int measure(struct run *r, struct rate *x, uint64_t time_ns, struct err *e)
{
    struct dequant_matrix shape;
    struct tour t = {0};
    struct err why = {0};
    struct meter_result m;
    uint64_t start = clock_ns();
    int rc;

    if (dequant_shape_of(x->format, SIDE, SIDE, &shape, &why) ||
        tour_open(r, &shape, time_ns, &t, &why)) {
        memcpy(x->why, why.msg, sizeof(x->why));
        rc = fact_put_unknown(r->sink, FACT_FORMAT_DEQUANT_RATE, x->format, x->why, e);
    } else {
        uint64_t spent = clock_ns() - start;
        struct meter_opts mo = {.budget_ns = time_ns == 0      ? 0
                                             : time_ns > spent ? time_ns - spent
                                                               : 1,
                                .clock = &meter_thread,
                                .wall = &meter_wall};
        dequant_init(&t.ops, shape.kind, r->o->cpu);
        meter_measure(unpack_next, &t, &mo, &m);
        x->bytes_per_s = 1e9 * (double)t.set[0].stored_bytes / m.median_ns;
        x->error = x->bytes_per_s * m.mad_ns / m.median_ns;
        rc = put_rate(r, x, &t, &m, e);
    }
    tour_close(&t);
    return rc;
}

/* Bytes over rate, format by format. The longest source, of QUANT_FORMATS_MAX, fits. */
static int put_load(struct run *r, const struct quant_observed *o, enum quant_class c,
                    struct err *e)
{
    char source[1024], bytes[TEXT_NUMBER_BYTES], rate[TEXT_NUMBER_BYTES];
    const char *scope = quant_class_name(c);
    double seconds = 0, error = 0;
    size_t n = 0;

    for (size_t i = 0; i < o->classes[c].format_count; i++) {
        const struct quant_share *s = &o->classes[c].formats[i];
        const struct rate *x = rate_of(r, s->name);
        if (x->plain)
            continue;
        if (x->bytes_per_s <= 0)
            return fact_put_unknown(r->sink, FACT_FORMAT_DEQUANT_LOAD, scope, x->why, e);
        n += (size_t)snprintf(source + n, sizeof(source) - n, "%s%s of %s over %s/s", n ? ", " : "",
                              text_bytes(s->bytes, bytes), s->name,
                              text_bytes((uint64_t)x->bytes_per_s, rate));
        seconds += (double)s->bytes / x->bytes_per_s;
        error += (double)s->bytes / x->bytes_per_s * x->error / x->bytes_per_s;
    }
    if (!n)
        return fact_put_absent(r->sink, FACT_FORMAT_DEQUANT_LOAD, scope, PLAIN, e);
    snprintf(source + n, sizeof(source) - n,
             ": stored bytes over the rate measured on this host's CPU, one thread; reading the "
             "file and writing the result to memory are not in it");
    return fact_put_real(r->sink, FACT_FORMAT_DEQUANT_LOAD, scope, seconds, error, source, e);
}

int dequant_rate_run(const struct quant_observed *o, const struct dequant_rate_opts *opts,
                     const struct fact_sink *sink, struct err *e)
{
    struct run *r = mem_alloc(1, sizeof(*r));
    uint64_t deadline = clock_ns() + opts->time_budget_ns;
    size_t left = 0, done = 0;
    int rc = 0;

    r->o = opts;
    r->sink = sink;
    collect(r, o);
    for (size_t i = 0; i < r->count; i++)
        left += !r->rates[i].plain;
    for (size_t i = 0; i < r->count && rc == 0; i++) {
        uint64_t now = clock_ns(), time_ns = 0;
        if (r->rates[i].plain) {
            rc = fact_put_absent(sink, FACT_FORMAT_DEQUANT_RATE, r->rates[i].format, PLAIN, e);
            continue;
        }
        if (opts->time_budget_ns)
            time_ns = 1 + (deadline > now ? deadline - now : 0) / (left - done);
        rc = measure(r, &r->rates[i], time_ns, e);
        done++;
        if (opts->progress && opts->progress->tick)
            opts->progress->tick(opts->progress->ctx, "unpacking", done, left, "formats");
    }
    for (unsigned c = 0; c < QUANT_CLASSES && rc == 0; c++) {
        if (o->classes[c].tensors)
            rc = put_load(r, o, (enum quant_class)c, e);
    }
    free(r);
    return rc;
}
