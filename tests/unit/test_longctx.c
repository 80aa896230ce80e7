#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "core/cpu.h"
#include "stress/longctx.h"

static const struct mixer kda = {.kind = MIXER_KDA,
                                 .heads = 4,
                                 .key_heads = 4,
                                 .value_heads = 4,
                                 .key_dim = 16,
                                 .value_dim = 16,
                                 .conv_kernel = 4,
                                 .gate = KDA_GATE_SOFTPLUS};
static const struct mixer mla = {.kind = MIXER_MLA,
                                 .heads = 2,
                                 .key_heads = 2,
                                 .value_heads = 2,
                                 .key_dim = 32,
                                 .value_dim = 16,
                                 .kv_rank = 32,
                                 .nope_dim = 16,
                                 .rope_dim = 16};
static const struct mixer gqa = {.kind = MIXER_GQA,
                                 .heads = 4,
                                 .key_heads = 2,
                                 .value_heads = 2,
                                 .key_dim = 16,
                                 .value_dim = 16};

/* One layer of each by hand:
 *   KDA  4*16*16 F32 + 3 taps * 4*(16+16+16) BF16 = 4,096 + 1,152 = 5,248, whatever the length
 *   MLA  (32 + 16) * 2 = 96 a token
 *   GQA  2 heads * (16 + 16) * 2 = 128 a token, up to the window */
#define KDA_BYTES 5248.0
#define MLA_BYTES 96.0
#define GQA_BYTES 128.0

static struct layer layers[48];

static struct model model_of(uint32_t count)
{
    return (struct model){.family = "test",
                          .architecture = "",
                          .prefix = "model.",
                          .hidden = 64,
                          .layer_count = count,
                          .heads = 4,
                          .layers = layers};
}

/* 3 KDA, 1 MLA, 1 windowed GQA: a hybrid of which one layer in five grows without end. */
static struct model hybrid(void)
{
    memset(layers, 0, sizeof(layers));
    layers[0].mixer = layers[1].mixer = layers[2].mixer = kda;
    layers[3].mixer = mla;
    layers[4].mixer = gqa;
    layers[4].mixer.window = 8192;
    return model_of(5);
}

static void run(const struct model *m, uint64_t target, uint64_t memory, uint64_t time,
                struct fact_list *l)
{
    const struct longctx_opts o = {.target_tokens = target,
                                   .memory_budget_bytes = memory,
                                   .time_budget_ns = time,
                                   .threads = 1,
                                   .seed = 1,
                                   .cpu = cpu_features()};
    struct fact_sink sink;
    struct err e = {0};

    fact_list_init(l);
    sink = fact_list_sink(l);
    if (longctx_run(m, &o, &sink, &e))
        fail_msg("%s", e.msg);
}

static const struct fact_point *point(const struct fact_list *l, const char *series,
                                      const char *scope, double x)
{
    for (size_t i = 0; i < l->point_count; i++) {
        const struct fact_point *p = &l->points[i];
        if (!strcmp(p->series, series) && !strcmp(p->scope, scope) && p->x == x)
            return p;
    }
    fail_msg("no point of %s for %s at %.0f", series, scope, x);
    return NULL;
}

static const struct fact *known(const struct fact_list *l, enum fact_key key, const char *scope)
{
    const struct fact *f = fact_list_find(l, key, scope);

    if (!f || f->state != FACT_KNOWN)
        fail_msg("%s of %s is not known%s%s", fact_name(key), scope, f ? ": " : "",
                 f && f->why ? f->why : "");
    return f;
}

static void prediction_counts_each_kind_by_its_own_rule(void **state)
{
    struct model m = hybrid();
    struct fact_list l;

    (void)state;
    run(&m, 32768, 32u << 20, 1, &l);
    for (double t = 4096; t <= 32768; t *= 2) {
        double window = fmin(t, 8192) * GQA_BYTES;
        assert_true(point(&l, "cache.predicted", "kda", t)->y == 3 * KDA_BYTES);
        assert_true(point(&l, "cache.predicted", "mla", t)->y == MLA_BYTES * t);
        assert_true(point(&l, "cache.predicted", "gqa.window", t)->y == window);
        assert_true(point(&l, "cache.predicted", "model", t)->y ==
                    3 * KDA_BYTES + MLA_BYTES * t + window);
    }
    fact_list_release(&l);
}

/* A calculator once took all 48 layers for full attention where every fourth is: 4 times too much.
 */
static void every_fourth_layer_of_48_grows(void **state)
{
    struct fact_list l;

    (void)state;
    memset(layers, 0, sizeof(layers));
    for (int i = 0; i < 48; i++)
        layers[i].mixer = i % 4 == 3 ? gqa : kda;
    struct model m = model_of(48);
    run(&m, 8192, 32u << 20, 1, &l);
    double low = point(&l, "cache.predicted", "model", 4096)->y;
    double high = point(&l, "cache.predicted", "model", 8192)->y;
    assert_true(high - low == 12 * GQA_BYTES * 4096);
    assert_true(point(&l, "cache.predicted", "gqa", 8192)->y == 12 * GQA_BYTES * 8192);
    assert_true(point(&l, "cache.predicted", "kda", 8192)->y == 36 * KDA_BYTES);
    fact_list_release(&l);
}

static void measured_growth_is_found_for_each_kind(void **state)
{
    struct model m = hybrid();
    struct fact_list l;

    (void)state;
#if defined(__SANITIZE_THREAD__)
    print_message("skip: the thread sanitizer's shadow is resident memory too\n");
    skip();
#endif
    run(&m, 32768, 32u << 20, 0, &l);
    if (isnan(point(&l, "cache.measured", "mla", 4096)->y)) {
        fact_list_release(&l);
        print_message("skip: no /proc/self/pagemap here\n");
        skip();
    }
    assert_string_equal(known(&l, FACT_STRESS_GROWTH_EXPECTED, "kda")->text, "constant");
    assert_string_equal(known(&l, FACT_STRESS_GROWTH_EXPECTED, "mla")->text, "linear");
    assert_string_equal(known(&l, FACT_STRESS_GROWTH_EXPECTED, "gqa.window")->text, "plateau");
    assert_string_equal(known(&l, FACT_STRESS_GROWTH, "kda")->text, "constant");
    assert_string_equal(known(&l, FACT_STRESS_GROWTH, "mla")->text, "linear");
    assert_string_equal(known(&l, FACT_STRESS_GROWTH, "gqa.window")->text, "plateau");
    assert_true(fabs(known(&l, FACT_STRESS_CACHE_SLOPE, "mla")->x - MLA_BYTES) < 0.1 * MLA_BYTES);
    assert_true(known(&l, FACT_STRESS_CACHE_SLOPE_EXPECTED, "mla")->x == MLA_BYTES);
    assert_true(known(&l, FACT_STRESS_CACHE_CONSTANT_EXPECTED, "kda")->x == 3 * KDA_BYTES);
    assert_true(known(&l, FACT_STRESS_CACHE_CONSTANT_EXPECTED, "gqa.window")->x ==
                8192 * GQA_BYTES);
    for (int i = 0; i < 3; i++) {
        const char *scope = i == 0 ? "kda" : i == 1 ? "mla" : "gqa.window";
        assert_int_equal(known(&l, FACT_STRESS_REACHED, scope)->i, 32768);
        assert_int_equal(fact_list_find(&l, FACT_STRESS_LIMIT, scope)->state, FACT_ABSENT);
        assert_true(known(&l, FACT_STRESS_DECODE, scope)->x > 0);
        assert_true(known(&l, FACT_STRESS_DECODE_RATE, scope)->x > 0);
        assert_true(known(&l, FACT_STRESS_VARIANT, scope)->text[0] != '\0');
        assert_true(point(&l, "cache.layout", scope, 32768)->y ==
                    point(&l, "cache.predicted", scope, 32768)->y);
        assert_true(point(&l, "cache.measured", scope, 32768)->y_error > 0);
        assert_true(point(&l, "decode.measured", scope, 32768)->y > 0);
    }
    assert_true(known(&l, FACT_STRESS_BANDWIDTH, "")->x > 0);
    assert_int_equal(known(&l, FACT_STRESS_TARGET, "")->i, 32768);
    fact_list_release(&l);
}

static void points_without_room_stay_with_what_they_need(void **state)
{
    struct model m = hybrid();
    struct fact_list l;

    (void)state;
    run(&m, 32768, 2200000, 0, &l); /* MLA at 32K needs 3,145,728 */
    const struct fact_point *p = point(&l, "cache.measured", "mla", 32768);
    assert_true(isnan(p->y));
    assert_non_null(strstr(p->note, "3,145,728"));
    assert_true(isnan(point(&l, "decode.measured", "mla", 32768)->y));
    assert_true(point(&l, "cache.predicted", "mla", 32768)->y == 3145728);
    assert_int_equal(known(&l, FACT_STRESS_REACHED, "mla")->i, 16384);
    assert_non_null(strstr(known(&l, FACT_STRESS_LIMIT, "mla")->text, "32K"));
    fact_list_release(&l);
}

static void no_time_at_all_is_unknown_with_the_reason(void **state)
{
    struct model m = hybrid();
    struct fact_list l;
    const struct fact *f;

    (void)state;
    run(&m, 8192, 32u << 20, 1, &l);
    f = fact_list_find(&l, FACT_STRESS_GROWTH, "mla");
    assert_true(f && f->state == FACT_UNKNOWN && strstr(f->why, "time"));
    f = fact_list_find(&l, FACT_STRESS_REACHED, "mla");
    assert_true(f && f->state == FACT_UNKNOWN);
    assert_non_null(strstr(known(&l, FACT_STRESS_LIMIT, "mla")->text, "2K"));
    fact_list_release(&l);
}

static void too_few_lengths_decide_no_growth(void **state)
{
    struct model m = hybrid();
    struct fact_list l;
    const struct fact *f;

    (void)state;
    run(&m, 2, 32u << 20, 0, &l); /* MLA: 1 and 2 tokens */
    f = fact_list_find(&l, FACT_STRESS_GROWTH, "mla");
    assert_true(f && f->state == FACT_UNKNOWN && strstr(f->why, "three"));
    assert_int_equal(known(&l, FACT_STRESS_REACHED, "mla")->i, 2);
    fact_list_release(&l);
}

static void mixer_of_unknown_kind_is_unknown(void **state)
{
    struct model m = hybrid();
    struct fact_list l;
    const struct fact *f;

    (void)state;
    layers[4].mixer = (struct mixer){.kind = MIXER_UNKNOWN};
    run(&m, 4096, 32u << 20, 1, &l);
    f = fact_list_find(&l, FACT_STRESS_REACHED, model_mixer_name(MIXER_UNKNOWN));
    assert_true(f && f->state == FACT_UNKNOWN && f->why[0]);
    assert_true(isnan(point(&l, "cache.predicted", "model", 4096)->y));
    fact_list_release(&l);
}

static void second_shape_of_a_kind_has_a_scope_of_its_own(void **state)
{
    struct model m = hybrid();
    struct fact_list l;

    (void)state;
    layers[2].mixer = gqa;
    layers[3].mixer = gqa;
    layers[3].mixer.key_dim = layers[3].mixer.value_dim = 32;
    run(&m, 4096, 32u << 20, 1, &l);
    assert_true(point(&l, "cache.predicted", "gqa", 4096)->y == GQA_BYTES * 4096);
    assert_true(point(&l, "cache.predicted", "gqa.2", 4096)->y == 2 * GQA_BYTES * 4096);
    assert_true(point(&l, "cache.predicted", "gqa.window", 4096)->y == GQA_BYTES * 4096);
    fact_list_release(&l);
}

static void target_out_of_range_is_refused(void **state)
{
    struct model m = hybrid();
    struct longctx_opts o = {.target_tokens = 0};
    struct fact_sink sink = {0};
    struct err e = {0};

    (void)state;
    assert_int_equal(longctx_run(&m, &o, &sink, &e), ERR_USAGE);
    o.target_tokens = LONGCTX_TARGET_MAX + 1;
    assert_int_equal(longctx_run(&m, &o, &sink, &e), ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prediction_counts_each_kind_by_its_own_rule),
        cmocka_unit_test(every_fourth_layer_of_48_grows),
        cmocka_unit_test(measured_growth_is_found_for_each_kind),
        cmocka_unit_test(points_without_room_stay_with_what_they_need),
        cmocka_unit_test(no_time_at_all_is_unknown_with_the_reason),
        cmocka_unit_test(too_few_lengths_decide_no_growth),
        cmocka_unit_test(mixer_of_unknown_kind_is_unknown),
        cmocka_unit_test(second_shape_of_a_kind_has_a_scope_of_its_own),
        cmocka_unit_test(target_out_of_range_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
