#include "stress/decode.h"
#include "core/clock.h"
#include "core/mem.h"
#include "stress/attn.h"
#include "stress/delta.h"
#include "stress/kernel.h"
#include "stress/mla.h"
#include "stress/seed.h"
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BF16_BYTES 2u
#define REGIONS_MAX 2

/* A stretch of the cache, in pages of its own, so that its growth can be seen from outside. */
struct region {
    uint64_t bytes;
    bool bf16; /* else F32 */
    void *at;
};

struct layer_cache {
    struct decode pub; /* first: a struct decode * is one of these */
    struct region regions[REGIONS_MAX];
    unsigned region_count;
    enum mixer_kind kind;
    struct attn_shape attn;
    struct attn_ops attn_ops;
    struct mla_shape mla;
    struct mla_ops mla_ops;
    struct delta_shape delta;
    struct delta_ops delta_ops;
    struct delta_in delta_in;
    float *q; /* queries and other inputs of one token */
    float *out;
    void *w_uk, *w_uv; /* MLA */
    void *scratch;
};

/* The sizes of a mixer at a context length: what decode_need tells and decode_open allocates. */
struct plan {
    struct decode_need need;
    struct region regions[REGIONS_MAX];
    unsigned region_count;
    uint64_t input_floats, out_floats, weight_bytes; /* weight_bytes: of w_uk and of w_uv each */
    uint64_t scratch_bytes;
    struct attn_shape attn;
    struct mla_shape mla;
    struct delta_shape delta;
};

static int no_shape(enum mixer_kind kind, struct err *e)
{
    return err_set(e, ERR_UNSUPPORTED,
                   "the shape of a %s mixer is not complete: a width or a head "
                   "count is 0",
                   model_mixer_name(kind));
}

/* a * b * c * d, or ERR_LIMIT. */
static int product(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t *ret, struct err *e)
{
    uint64_t p;

    if (__builtin_mul_overflow(a, b, &p) || __builtin_mul_overflow(p, c, &p) ||
        __builtin_mul_overflow(p, d, &p) || p > INT64_MAX / 4)
        return err_set(e, ERR_LIMIT, "a cache of %llu x %llu x %llu x %llu bytes cannot be counted",
                       (unsigned long long)a, (unsigned long long)b, (unsigned long long)c,
                       (unsigned long long)d);
    *ret = p;
    return 0;
}

static int plan_attn(const struct mixer *x, uint64_t tokens, struct plan *p, struct err *e)
{
    struct attn_shape *s = &p->attn;

    if (!x->heads || !x->key_heads || !x->value_heads || !x->key_dim || !x->value_dim)
        return no_shape(x->kind, e);
    /* An engine keeps the tokens of the window and no more. */
    *s = (struct attn_shape){.tokens = x->window && x->window < tokens ? x->window : tokens,
                             .heads = x->heads,
                             .key_heads = x->key_heads,
                             .value_heads = x->value_heads,
                             .key_dim = x->key_dim,
                             .value_dim = x->value_dim,
                             .window = x->window,
                             .scale = 1 / sqrt(x->key_dim),
                             .store = DTYPE_BF16};
    p->need.op = x->kind == MIXER_GQA ? "attention.gqa" : "attention.key_decoupled";
    p->region_count = 2;
    p->input_floats = (uint64_t)s->heads * s->key_dim;
    p->out_floats = (uint64_t)s->heads * s->value_dim;
    p->scratch_bytes = attn_scratch_bytes(s);
    int rc = product(s->tokens, s->key_heads, s->key_dim, BF16_BYTES, &p->regions[0].bytes, e);
    if (rc == 0)
        rc = product(s->tokens, s->value_heads, s->value_dim, BF16_BYTES, &p->regions[1].bytes, e);
    p->regions[0].bf16 = p->regions[1].bf16 = true;
    return rc;
}

static int plan_mla(const struct mixer *x, uint64_t tokens, struct plan *p, struct err *e)
{
    struct mla_shape *s = &p->mla;
    uint64_t wide = x->nope_dim > x->value_dim ? x->nope_dim : x->value_dim;

    if (!x->heads || !x->nope_dim || !x->kv_rank || !x->value_dim)
        return no_shape(x->kind, e);
    *s = (struct mla_shape){.tokens = tokens,
                            .heads = x->heads,
                            .nope_dim = x->nope_dim,
                            .rope_dim = x->rope_dim,
                            .rank = x->kv_rank,
                            .value_dim = x->value_dim,
                            .scale = 1 / sqrt((double)x->nope_dim + x->rope_dim),
                            .store = DTYPE_BF16};
    p->need.op = "attention.mla";
    p->region_count = x->rope_dim ? 2 : 1;
    p->input_floats = (uint64_t)x->heads * ((uint64_t)x->nope_dim + x->rope_dim);
    p->out_floats = (uint64_t)x->heads * x->value_dim;
    p->scratch_bytes = mla_scratch_bytes(s);
    int rc = product(tokens, x->kv_rank, BF16_BYTES, 1, &p->regions[0].bytes, e);
    if (rc == 0)
        rc = product(tokens, x->rope_dim, BF16_BYTES, 1, &p->regions[1].bytes, e);
    if (rc == 0)
        rc = product(x->heads, wide, x->kv_rank, BF16_BYTES, &p->weight_bytes, e);
    p->regions[0].bf16 = p->regions[1].bf16 = true;
    return rc;
}

static int plan_delta(const struct mixer *x, struct plan *p, struct err *e)
{
    struct delta_shape *s = &p->delta;
    uint64_t channels = (uint64_t)x->heads * (2ull * x->key_dim + x->value_dim);

    if (!x->heads || !x->key_dim || !x->value_dim)
        return no_shape(x->kind, e);
    *s = (struct delta_shape){.heads = x->heads,
                              .key_dim = x->key_dim,
                              .value_dim = x->value_dim,
                              .gate = x->gate,
                              .lower_bound = x->lower_bound,
                              .l2_eps = 1e-6};
    p->need.op = "attention.kda";
    p->region_count = x->conv_kernel > 1 ? 2 : 1;
    /* q, k, z; v; b, a_log */
    p->input_floats = (uint64_t)x->heads * (3ull * x->key_dim + x->value_dim + 2);
    p->out_floats = (uint64_t)x->heads * x->value_dim;
    p->scratch_bytes = delta_scratch_bytes(s);
    int rc = product(x->heads, x->key_dim, x->value_dim, sizeof(float), &p->regions[0].bytes, e);
    if (rc == 0 && p->region_count == 2)
        rc = product(channels, x->conv_kernel - 1, BF16_BYTES, 1, &p->regions[1].bytes, e);
    p->regions[1].bf16 = true;
    return rc;
}

static struct kernel_shape kernel_shape_of(const struct mixer *x, const struct plan *p)
{
    return (struct kernel_shape){.tokens = x->kind == MIXER_MLA   ? p->mla.tokens
                                           : x->kind == MIXER_KDA ? 1
                                                                  : p->attn.tokens,
                                 .heads = x->heads,
                                 .key_heads = x->key_heads,
                                 .value_heads = x->value_heads,
                                 .key_dim = x->key_dim,
                                 .value_dim = x->value_dim,
                                 .rank = x->kv_rank,
                                 .nope_dim = x->nope_dim,
                                 .rope_dim = x->rope_dim,
                                 .window = x->window,
                                 .store_bytes = x->kind == MIXER_KDA ? sizeof(float) : BF16_BYTES};
}

static int plan_of(const struct mixer *x, uint64_t tokens, struct plan *ret, struct err *e)
{
    struct plan p = {.region_count = 0};
    uint64_t other;
    int rc = 0;

    if (x->store == MIXER_SHARES)
        return err_set(e, ERR_UNSUPPORTED,
                       "the layer reads the cache of an earlier one, and has none to measure");
    if (x->store == MIXER_ENCODES)
        return err_set(e, ERR_UNSUPPORTED, "an encoder has no decode step");
    if (x->cross_tokens)
        return err_set(e, ERR_UNSUPPORTED, "there is no kernel yet for cross attention");
    switch (x->kind) {
    case MIXER_GQA:
    case MIXER_KEY_DECOUPLED: rc = plan_attn(x, tokens, &p, e); break;
    case MIXER_MLA: rc = plan_mla(x, tokens, &p, e); break;
    case MIXER_KDA: rc = plan_delta(x, &p, e); break;
    case MIXER_UNKNOWN:
        return err_set(e, ERR_UNSUPPORTED, "a mixer of unknown kind has no decode step");
    default:
        return err_set(e, ERR_UNSUPPORTED, "there is no kernel yet for a %s mixer",
                       model_mixer_name(x->kind));
    }
    if (rc)
        return rc;
    other = (p.input_floats + p.out_floats) * sizeof(float) + 2 * p.weight_bytes;
    if (__builtin_add_overflow(other, p.scratch_bytes, &other))
        return err_set(e, ERR_LIMIT, "the scratch memory of %s cannot be counted", p.need.op);
    p.need.other_bytes = other;
    for (unsigned i = 0; i < p.region_count; i++)
        p.need.cache_bytes += p.regions[i].bytes;
    const struct kernel *k = kernel_find(p.need.op);
    if (!k || !k->fused)
        return err_set(e, ERR_UNSUPPORTED, "%s has no implementation here", p.need.op);
    struct kernel_shape shape = kernel_shape_of(x, &p);
    struct kernel_cost cost = k->fused(&shape);
    p.need.move_bytes = cost.bytes;
    p.need.flops = cost.flops;
    *ret = p;
    return 0;
}

int decode_need(const struct mixer *x, uint64_t tokens, struct decode_need *ret, struct err *e)
{
    struct plan p;
    int rc = plan_of(x, tokens, &p, e);

    if (rc == 0)
        *ret = p.need;
    return rc;
}

/* Bytes of the pages from `at` on that the kernel holds, in memory or swapped out; -1 if it does
 * not say. It is asked about these pages alone: what the rest of the process gains or gives back in
 * the meantime is no cache. An entry of the page map has bit 63 for a page that is present, 62 for
 * one that is swapped out (Documentation/admin-guide/mm/pagemap.rst). */
static int64_t held_bytes(const void *at, uint64_t bytes)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)at / page;
    uint64_t count = bytes / page + (bytes % page != 0), held = 0, entries[512];
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return -1;
    for (uint64_t i = 0, n; i < count; i += n) {
        n = count - i < 512 ? count - i : 512;
        ssize_t got = pread(fd, entries, n * sizeof(*entries), (off_t)((first + i) * 8));
        if (got != (ssize_t)(n * sizeof(*entries))) {
            (void)close(fd);
            return -1;
        }
        for (uint64_t k = 0; k < n; k++)
            held += entries[k] >> 62 != 0;
    }
    (void)close(fd);
    return (int64_t)(held * page);
}

static int make_cache(struct layer_cache *d, uint64_t seed, struct err *e)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t start = clock_ns();
    int64_t resident = 0;

    for (unsigned i = 0; i < d->region_count; i++) {
        struct region *r = &d->regions[i];
        void *at = mmap(NULL, r->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED)
            return err_set(e, ERR_LIMIT, "no memory for %llu bytes of cache",
                           (unsigned long long)r->bytes);
        r->at = at;
        seed_fill(at, r->bytes, r->bf16, seed + i);
        d->pub.page_error_bytes += page;
        int64_t held = held_bytes(at, r->bytes);
        resident = held < 0 || resident < 0 ? -1 : resident + held;
    }
    d->pub.resident_bytes = resident;
    d->pub.fill_ns = clock_ns() - start;
    return 0;
}

static int allocate(const struct plan *p, struct layer_cache *d, uint64_t seed, struct err *e)
{
    void *q, *out, *scratch;
    int rc = mem_try(p->input_floats, sizeof(float), &q, e);

    if (rc)
        return rc;
    d->q = q;
    seed_fill(d->q, p->input_floats * sizeof(float), false, seed + 10);
    rc = mem_try(p->out_floats, sizeof(float), &out, e);
    if (rc)
        return rc;
    d->out = out;
    rc = mem_try(p->scratch_bytes, 1, &scratch, e);
    if (rc)
        return rc;
    d->scratch = scratch;
    if (!p->weight_bytes)
        return 0;
    rc = mem_try(p->weight_bytes, 1, &d->w_uk, e);
    if (rc == 0)
        rc = mem_try(p->weight_bytes, 1, &d->w_uv, e);
    if (rc)
        return rc;
    seed_fill(d->w_uk, p->weight_bytes, true, seed + 11);
    seed_fill(d->w_uv, p->weight_bytes, true, seed + 12);
    return 0;
}

static void bind(const struct mixer *x, const struct plan *p, unsigned cpu_mask,
                 struct layer_cache *d)
{
    d->kind = x->kind;
    d->attn = p->attn;
    d->mla = p->mla;
    d->delta = p->delta;
    if (x->kind == MIXER_MLA) {
        mla_init(&d->mla_ops, cpu_mask);
        d->pub.variant = d->mla_ops.variant;
    } else if (x->kind == MIXER_KDA) {
        uint64_t keys = (uint64_t)x->heads * x->key_dim, values = (uint64_t)x->heads * x->value_dim;
        float *in = d->q;
        d->delta_in = (struct delta_in){.q = in,
                                        .k = in + keys,
                                        .z = in + 2 * keys,
                                        .v = in + 3 * keys,
                                        .b = in + 3 * keys + values,
                                        .a_log = in + 3 * keys + values + x->heads};
        delta_init(&d->delta_ops, cpu_mask);
        d->pub.variant = d->delta_ops.variant;
    } else {
        attn_init(&d->attn_ops, cpu_mask);
        d->pub.variant = d->attn_ops.variant;
    }
}

int decode_open(const struct mixer *x, uint64_t tokens, uint64_t seed, unsigned cpu_mask,
                struct decode **ret, struct err *e)
{
    struct plan p;
    int rc = plan_of(x, tokens, &p, e);

    if (rc)
        return rc;
    struct layer_cache *d = mem_alloc(1, sizeof(*d));
    d->pub.need = p.need;
    memcpy(d->regions, p.regions, sizeof(d->regions));
    d->region_count = p.region_count;
    rc = allocate(&p, d, seed, e);
    if (rc == 0) {
        bind(x, &p, cpu_mask, d);
        rc = make_cache(d, seed, e);
    }
    if (rc) {
        decode_close(&d->pub);
        return rc;
    }
    *ret = &d->pub;
    return 0;
}

void decode_close(struct decode *decode)
{
    struct layer_cache *d = (struct layer_cache *)decode;

    if (!d)
        return;
    for (unsigned i = 0; i < d->region_count; i++) {
        if (d->regions[i].at)
            (void)munmap(d->regions[i].at, d->regions[i].bytes);
    }
    free(d->q);
    free(d->out);
    free(d->scratch);
    free(d->w_uk);
    free(d->w_uv);
    free(d);
}

void decode_step(void *decode)
{
    struct layer_cache *d = decode;

    if (d->kind == MIXER_MLA)
        d->mla_ops.decode(&d->mla, d->q, d->regions[0].at, d->regions[1].at, d->w_uk, d->w_uv,
                          d->out, d->scratch);
    else if (d->kind == MIXER_KDA)
        d->delta_ops.step(&d->delta, &d->delta_in, d->regions[0].at, d->out, d->scratch);
    else
        d->attn_ops.decode(&d->attn, d->q, d->regions[0].at, d->regions[1].at, NULL, d->out,
                           d->scratch);
}
