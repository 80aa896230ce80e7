#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include "core/cpu.h"
#include "stress/decode.c"

/* Mixers of Kimi K3 (facts: architectures 1.3, 1.6). */
static const struct mixer k3_mla = {.kind = MIXER_MLA,
                                    .heads = 96,
                                    .key_heads = 96,
                                    .value_heads = 96,
                                    .key_dim = 192,
                                    .value_dim = 128,
                                    .kv_rank = 512,
                                    .nope_dim = 128,
                                    .rope_dim = 64};
static const struct mixer k3_kda = {.kind = MIXER_KDA,
                                    .heads = 96,
                                    .key_heads = 96,
                                    .value_heads = 96,
                                    .key_dim = 128,
                                    .value_dim = 128,
                                    .conv_kernel = 4,
                                    .gate = KDA_GATE_BOUNDED,
                                    .lower_bound = -5};
static const struct mixer small_mla = {
    .kind = MIXER_MLA, .heads = 2, .value_dim = 16, .kv_rank = 32, .nope_dim = 16, .rope_dim = 8};
static const struct mixer small_gqa = {.kind = MIXER_GQA,
                                       .heads = 4,
                                       .key_heads = 2,
                                       .value_heads = 2,
                                       .key_dim = 16,
                                       .value_dim = 16,
                                       .window = 64};
static const struct mixer small_kda = {.kind = MIXER_KDA,
                                       .heads = 2,
                                       .key_dim = 16,
                                       .value_dim = 16,
                                       .conv_kernel = 4,
                                       .gate = KDA_GATE_SOFTPLUS};

static struct decode_need need(const struct mixer *x, uint64_t tokens)
{
    struct decode_need n;
    struct err e = {0};

    if (decode_need(x, tokens, &n, &e))
        fail_msg("%s", e.msg);
    return n;
}

static void layout_of_kimi_k3_is_that_of_the_engines(void **state)
{
    (void)state;
    assert_int_equal(need(&k3_mla, 1).cache_bytes, 1152);
    assert_int_equal(need(&k3_mla, 1048576).cache_bytes, 1207959552);
    assert_int_equal(need(&k3_kda, 1).cache_bytes, 6512640);
    assert_int_equal(need(&k3_kda, 1048576).cache_bytes, 6512640);
    assert_string_equal(need(&k3_kda, 1).op, "attention.kda");
    assert_true(need(&k3_mla, 1048576).move_bytes >= 1207959552.0);
}

/* gpt-oss: 8 heads of 64, keys and values, BF16; half of the layers see 128 tokens. */
static void window_stops_the_layout_at_its_width(void **state)
{
    struct mixer x = {.kind = MIXER_GQA,
                      .heads = 64,
                      .key_heads = 8,
                      .value_heads = 8,
                      .key_dim = 64,
                      .value_dim = 64};

    (void)state;
    assert_int_equal(need(&x, 131072).cache_bytes, 2048ull * 131072);
    x.window = 128;
    assert_int_equal(need(&x, 64).cache_bytes, 2048 * 64);
    assert_int_equal(need(&x, 131072).cache_bytes, 2048 * 128);
    /* What is moved stops too: the kernel must not be charged for tokens that it does not see. */
    assert_true(need(&x, 131072).move_bytes == need(&x, 128).move_bytes);
}

static void shapes_that_are_not_whole_are_refused(void **state)
{
    struct mixer x = k3_mla;
    struct decode_need n;
    struct err e = {0};

    (void)state;
    x.kv_rank = 0;
    assert_int_equal(decode_need(&x, 4096, &n, &e), ERR_UNSUPPORTED);
    assert_non_null(strstr(e.msg, "mla"));
    x.kind = MIXER_UNKNOWN;
    assert_int_equal(decode_need(&x, 4096, &n, &e), ERR_UNSUPPORTED);
    x = k3_mla;
    x.kv_rank = UINT32_MAX;
    assert_int_equal(decode_need(&x, UINT64_MAX / 4, &n, &e), ERR_LIMIT);
}

/* What no kernel measures is refused with the kind's name, never measured as something else. */
static void kinds_without_a_kernel_are_refused_by_name(void **state)
{
    static const enum mixer_kind kinds[] = {
        MIXER_NONE, MIXER_GATED_DELTA, MIXER_LIGHTNING, MIXER_MAMBA2,     MIXER_CONV,
        MIXER_DSA,  MIXER_MSA,         MIXER_QSA,       MIXER_COMPRESSED, MIXER_RWKV};
    struct mixer x = {.heads = 2, .key_heads = 2, .value_heads = 2, .key_dim = 8, .value_dim = 8};
    struct decode_need n;
    struct err e = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        x.kind = kinds[i];
        assert_int_equal(decode_need(&x, 4096, &n, &e), ERR_UNSUPPORTED);
        if (!strstr(e.msg, "no kernel yet") || !strstr(e.msg, model_mixer_name(kinds[i])))
            fail_msg("%s: %s", model_mixer_name(kinds[i]), e.msg);
    }
    x.kind = MIXER_GQA;
    assert_int_equal(decode_need(&x, 4096, &n, &e), 0);
    x.store = MIXER_SHARES;
    assert_int_equal(decode_need(&x, 4096, &n, &e), ERR_UNSUPPORTED);
    assert_non_null(strstr(e.msg, "cache of an earlier one"));
    x.store = MIXER_ENCODES;
    assert_int_equal(decode_need(&x, 4096, &n, &e), ERR_UNSUPPORTED);
    assert_non_null(strstr(e.msg, "encoder"));
    x.store = MIXER_KEEPS;
    x.cross_tokens = 100;
    assert_int_equal(decode_need(&x, 4096, &n, &e), ERR_UNSUPPORTED);
    assert_non_null(strstr(e.msg, "cross attention"));
}

/* A NaN anywhere in the cache shows in the output: the step reads the cache that was filled, from
 * its first byte to its last. */
static void poison(const struct mixer *x, unsigned mask, unsigned region, bool last)
{
    struct decode *d;
    struct err e = {0};

    if (decode_open(x, 100, 3, mask, &d, &e))
        fail_msg("%s", e.msg);
    struct layer_cache *c = (struct layer_cache *)d;
    struct region *r = &c->regions[region];
    unsigned wide = r->bf16 ? 2 : 4;
    float *out = c->out;
    decode_step(d);
    for (unsigned i = 0; i < x->value_dim; i++)
        assert_true(isfinite(out[i]));
    memset((char *)r->at + (last ? r->bytes - wide : 0), 0xFF, wide); /* a NaN in either format */
    decode_step(d);
    bool seen = false;
    for (uint64_t i = 0; i < (uint64_t)x->heads * x->value_dim; i++)
        seen = seen || isnan(out[i]);
    if (!seen)
        fail_msg("%s (%s): region %u, %s value is not read", d->need.op, d->variant, region,
                 last ? "last" : "first");
    decode_close(d);
}

static void step_reads_the_whole_cache(void **state)
{
    static const unsigned masks[] = {0, CPU_AVX2, CPU_AVX2 | CPU_AVX512};

    (void)state;
    for (size_t m = 0; m < 3; m++) {
        if ((cpu_features() & masks[m]) != masks[m])
            continue;
        for (unsigned region = 0; region < 2; region++) {
            for (int last = 0; last < 2; last++) {
                poison(&small_mla, masks[m], region, last);
                poison(&small_gqa, masks[m], region, last);
            }
        }
        poison(&small_kda, masks[m], 0, false);
        poison(&small_kda, masks[m], 0, true);
    }
}

/* Takes memory and gives it back, as the rest of a process does, until told to stop. */
static atomic_bool stop;

static void *restless(void *unused)
{
    size_t bytes = (size_t)4 << 20;

    while (!atomic_load(&stop)) {
        char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
            break;
        memset(p, 1, bytes);
        (void)munmap(p, bytes);
    }
    return unused;
}

/* Exactly the pages of the cache, whatever else the process does with its memory meanwhile. */
static void resident_memory_is_the_layout_in_whole_pages(void **state)
{
    int64_t page = sysconf(_SC_PAGESIZE);
    struct decode *d;
    struct err e = {0};
    pthread_t other;

    (void)state;
    atomic_store(&stop, false);
    assert_int_equal(pthread_create(&other, NULL, restless, NULL), 0);
    for (unsigned i = 0; i < 20; i++) {
        uint64_t tokens = 16384 + 1000 * i;
        assert_int_equal(decode_open(&small_mla, tokens, 1, 0, &d, &e), 0);
        assert_int_equal(d->need.cache_bytes, tokens * 80);
        assert_int_equal(d->page_error_bytes, 2 * page);
        int64_t off = d->resident_bytes - (int64_t)d->need.cache_bytes;
        bool known = d->resident_bytes >= 0;
        decode_close(d);
        if (known && off >= 0 && off < 2 * page)
            continue;
        atomic_store(&stop, true);
        (void)pthread_join(other, NULL);
        if (known)
            fail_msg("%lld bytes over a cache of %llu tokens", (long long)off,
                     (unsigned long long)tokens);
        print_message("skip: no /proc/self/pagemap here\n");
        skip();
    }
    atomic_store(&stop, true);
    (void)pthread_join(other, NULL);
    decode_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layout_of_kimi_k3_is_that_of_the_engines),
        cmocka_unit_test(window_stops_the_layout_at_its_width),
        cmocka_unit_test(shapes_that_are_not_whole_are_refused),
        cmocka_unit_test(kinds_without_a_kernel_are_refused_by_name),
        cmocka_unit_test(step_reads_the_whole_cache),
        cmocka_unit_test(resident_memory_is_the_layout_in_whole_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
