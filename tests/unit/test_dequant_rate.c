#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "core/cpu.h"
#include "stress/dequant_rate.c"

static void add(struct quant_observed *o, enum quant_class c, const char *name, uint64_t bytes)
{
    struct quant_share *s = &o->classes[c].formats[o->classes[c].format_count++];

    snprintf(s->name, sizeof(s->name), "%s", name);
    s->tensors = 1;
    s->bytes = bytes;
    o->classes[c].tensors++;
    o->classes[c].bytes += bytes;
}

static void run(const struct quant_observed *o, const struct dequant_rate_opts *opts,
                struct fact_list *l)
{
    struct fact_sink sink;
    struct err e = {0};

    fact_list_init(l);
    sink = fact_list_sink(l);
    if (dequant_rate_run(o, opts, &sink, &e))
        fail_msg("%s", e.msg);
}

static struct dequant_rate_opts small(void)
{
    return (struct dequant_rate_opts){.time_budget_ns = 40000000,
                                      .memory_budget_bytes = 8u << 20,
                                      .seed = 1,
                                      .cpu = cpu_features()};
}

/* 17 bytes of one format and 20 of another: each over its own rate, in sum. */
static void a_class_takes_what_its_formats_take(void **state)
{
    struct quant_observed o = {0};
    struct dequant_rate_opts opts = small();
    struct fact_list l;

    (void)state;
    opts.read_bandwidth = 12.5e9;
    add(&o, QUANT_ROUTED_EXPERTS, "mxfp4-pack-quantized", 17000000);
    add(&o, QUANT_ROUTED_EXPERTS, "bf16", 4000);
    add(&o, QUANT_ROUTED_EXPERTS, "gguf-q8_0", 20000000);
    add(&o, QUANT_ATTENTION, "gguf-q8_0", 1000000);
    run(&o, &opts, &l);
    const struct fact *a = fact_list_find(&l, FACT_FORMAT_DEQUANT_RATE, "mxfp4-pack-quantized");
    const struct fact *b = fact_list_find(&l, FACT_FORMAT_DEQUANT_RATE, "gguf-q8_0");
    const struct fact *load = fact_list_find(&l, FACT_FORMAT_DEQUANT_LOAD, "routed_experts");
    const struct fact *other = fact_list_find(&l, FACT_FORMAT_DEQUANT_LOAD, "attention");
    assert_true(a && b && load && other);
    assert_true(a->state == FACT_KNOWN && a->x > 0 && a->error >= 0);
    assert_true(load->state == FACT_KNOWN && other->state == FACT_KNOWN);
    assert_true(fabs(load->x - (17e6 / a->x + 20e6 / b->x)) < 1e-9 * load->x);
    assert_true(fabs(other->x - 1e6 / b->x) < 1e-9 * other->x);
    assert_true(fabs(other->error / other->x - b->error / b->x) < 1e-9);
    assert_non_null(strstr(a->source, "dequant.ct_mxfp4"));
    assert_non_null(strstr(a->source, "12.5 GB/s"));
    assert_non_null(strstr(a->source, "one thread"));
    assert_non_null(strstr(load->source, "17 MB of mxfp4-pack-quantized"));
    assert_non_null(strstr(load->source, "20 MB of gguf-q8_0"));
    assert_non_null(strstr(load->source, "CPU"));
    assert_null(strstr(load->source, "bf16"));
    fact_list_release(&l);
}

static void plain_formats_have_neither_rate_nor_load(void **state)
{
    struct quant_observed o = {0};
    struct dequant_rate_opts opts = small();
    struct fact_list l;

    (void)state;
    add(&o, QUANT_ATTENTION, "bf16", 1000);
    add(&o, QUANT_NORMS, "f32", 1000);
    run(&o, &opts, &l);
    assert_int_equal(l.count, 4); /* nothing of classes without tensors */
    for (size_t i = 0; i < l.count; i++)
        assert_int_equal(l.items[i].state, FACT_ABSENT);
    assert_non_null(fact_list_find(&l, FACT_FORMAT_DEQUANT_RATE, "bf16"));
    assert_non_null(fact_list_find(&l, FACT_FORMAT_DEQUANT_LOAD, "norms"));
    fact_list_release(&l);
}

static void a_format_without_a_kernel_is_unknown_with_its_class(void **state)
{
    struct quant_observed o = {0};
    struct dequant_rate_opts opts = small();
    struct fact_list l;

    (void)state;
    add(&o, QUANT_ROUTED_EXPERTS, "mxfp4-pack-quantized", 1000);
    add(&o, QUANT_ROUTED_EXPERTS, "exl3", 1000);
    run(&o, &opts, &l);
    const struct fact *f = fact_list_find(&l, FACT_FORMAT_DEQUANT_RATE, "exl3");
    assert_true(f && f->state == FACT_UNKNOWN && strstr(f->why, "exl3"));
    f = fact_list_find(&l, FACT_FORMAT_DEQUANT_LOAD, "routed_experts");
    assert_true(f && f->state == FACT_UNKNOWN && strstr(f->why, "exl3"));
    f = fact_list_find(&l, FACT_FORMAT_DEQUANT_RATE, "mxfp4-pack-quantized");
    assert_true(f && f->state == FACT_KNOWN);
    fact_list_release(&l);
}

/* The set is as large as twice the last cache, or what the budgets hold, and never empty. */
static void the_set_fits_memory_and_time(void **state)
{
    uint64_t cache = cpu_last_cache_bytes(), want = cache ? CACHES * cache : SET_BYTES_DEFAULT;
    uint64_t all = (want + 999999) / 1000000;

    (void)state;
    assert_int_equal(matrices(1000000, 0, 0, 0), all > SET_MATRICES_MAX ? SET_MATRICES_MAX : all);
    assert_int_equal(matrices(1000, 1000, 0, 5000), 4);
    assert_int_equal(matrices(1000, 9000, 0, 5000), 1);
    assert_int_equal(matrices(1000, 0, 100000, 0), 25); /* half of 100 us at 500 MB/s */
    assert_int_equal(matrices(1000, 0, 1, 0), 1);
}

static void a_short_time_or_memory_makes_the_matrices_smaller(void **state)
{
    struct dequant_matrix m = {.rows = 4096};

    (void)state;
    assert_int_equal(rows_that_fit(&m, 8 << 20, 0, 0), 4096);
    assert_int_equal(rows_that_fit(&m, 8 << 20, 1, 0), ROWS_MIN);
    /* five calls of 8 MiB at 200 MB/s are 210 ms: half of a second holds them, of 0.2 s not */
    assert_int_equal(rows_that_fit(&m, 8 << 20, 1000000000, 0), 4096);
    assert_int_equal(rows_that_fit(&m, 8 << 20, 200000000, 0), 1024);
    assert_int_equal(rows_that_fit(&m, 8 << 20, 0, 6 << 20), 2048); /* beside the result's 1 MiB */
}

/* A call is one whole matrix, in tiles of which the last may be short; then comes the next one. */
static uint64_t rows_seen, calls_seen;
static const void *weight_seen;
static void count_rows(const struct dequant_matrix *m, uint64_t row, uint64_t count, float *ret_w)
{
    assert_int_equal(row, rows_seen % m->rows);
    ret_w[0] = 0;
    rows_seen += count;
    calls_seen++;
    weight_seen = m->weight;
}

static void a_call_unpacks_one_matrix_and_moves_on(void **state)
{
    struct dequant_synthetic set[2] = {{.m = {.rows = 20, .weight = &set[0]}},
                                       {.m = {.rows = 20, .weight = &set[1]}}};
    float out;
    struct tour t = {.set = set, .count = 2, .ops.rows = count_rows, .tile_rows = 8, .out = &out};

    (void)state;
    rows_seen = calls_seen = 0;
    for (unsigned i = 0; i < 3; i++) {
        unpack_next(&t);
        assert_int_equal(rows_seen, 20 * (i + 1));
        assert_int_equal(calls_seen, 3 * (i + 1));
        assert_ptr_equal(weight_seen, &set[i % 2]);
    }
}

static int refuse_fact(void *ctx, const struct fact *f, struct err *e)
{
    (void)ctx;
    (void)f;
    return err_set(e, ERR_DB, "the disk is full");
}

static void a_sink_that_refuses_ends_the_run(void **state)
{
    static const char *const formats[] = {"bf16", "exl3", "int8-channel"};
    struct fact_sink sink = {.put = refuse_fact};
    struct dequant_rate_opts opts = small();

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct quant_observed o = {0};
        struct err e = {0};
        add(&o, QUANT_ATTENTION, formats[i], 1000);
        assert_int_equal(dequant_rate_run(&o, &opts, &sink, &e), ERR_DB);
        assert_string_equal(e.msg, "the disk is full");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_class_takes_what_its_formats_take),
        cmocka_unit_test(plain_formats_have_neither_rate_nor_load),
        cmocka_unit_test(a_format_without_a_kernel_is_unknown_with_its_class),
        cmocka_unit_test(the_set_fits_memory_and_time),
        cmocka_unit_test(a_short_time_or_memory_makes_the_matrices_smaller),
        cmocka_unit_test(a_call_unpacks_one_matrix_and_moves_on),
        cmocka_unit_test(a_sink_that_refuses_ends_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
