#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "core/cpu.h"
#include "stress/fallback.c"

static struct layer layers[4];

/* Four layers that use all three operators. */
static struct model latent_model(void)
{
    memset(layers, 0, sizeof(layers));
    for (int i = 0; i < 4; i++) {
        layers[i].mixer = (struct mixer){.kind = MIXER_KDA,
                                         .heads = 2,
                                         .key_heads = 2,
                                         .value_heads = 2,
                                         .key_dim = 16,
                                         .value_dim = 16,
                                         .conv_kernel = 4,
                                         .gate = KDA_GATE_BOUNDED,
                                         .lower_bound = -5};
        layers[i].residual = RESIDUAL_ATTNRES_BLOCK;
        layers[i].ffn = (struct ffn){.kind = FFN_MOE_LATENT,
                                     .act = FFN_ACT_SITU,
                                     .gated = true,
                                     .inner = 64,
                                     .latent = 32,
                                     .latent_norm = true,
                                     .shared = 1,
                                     .shared_inner = 64,
                                     .situ_beta = 4,
                                     .situ_linear_beta = 25,
                                     .router = {.score = ROUTER_SIGMOID,
                                                .experts = 16,
                                                .top_k = 4,
                                                .groups = 1,
                                                .top_groups = 1,
                                                .renormalize = true,
                                                .scaling = 1}};
    }
    return (struct model){.family = "test",
                          .architecture = "",
                          .prefix = "",
                          .hidden = 64,
                          .layer_count = 4,
                          .heads = 2,
                          .norm_eps = 1e-5,
                          .attnres_block = 1,
                          .layers = layers};
}

static void run(const struct model *m, uint64_t memory, uint64_t time, struct fact_list *l)
{
    const struct fallback_opts o = {
        .time_budget_ns = time, .memory_budget_bytes = memory, .seed = 1, .cpu = cpu_features()};
    struct fact_sink sink;
    struct err e = {0};

    fact_list_init(l);
    sink = fact_list_sink(l);
    if (fallback_run(m, &o, &sink, &e))
        fail_msg("%s", e.msg);
}

static void each_operator_of_the_model_is_compared(void **state)
{
    static const char *const ops[] = {"attention.kda", "residual.attnres_block", "moe.latent"};
    struct model m = latent_model();
    struct fact_list l;

    (void)state;
    run(&m, 0, 0, &l);
    assert_int_equal(l.count, 6);
    for (size_t i = 0; i < 3; i++) {
        const struct fact *t = fact_list_find(&l, FACT_FALLBACK_TIME, ops[i]);
        const struct fact *b = fact_list_find(&l, FACT_FALLBACK_BYTES, ops[i]);
        assert_true(t && t->state == FACT_KNOWN && t->x > 0 && t->error >= 0);
        assert_non_null(strstr(t->source, "pairs"));
        assert_null(strstr(t->source, "smaller"));
        assert_true(b && b->state == FACT_KNOWN && b->x > 1);
    }
    /* By hand: the state of 2 x 16 x 16 floats moves twice fused and six times composed; see the
     * counts in kernel.c. */
    assert_true(fabs(fact_list_find(&l, FACT_FALLBACK_BYTES, "attention.kda")->x - 15872.0 / 4736) <
                1e-9);
    fact_list_release(&l);
}

static void operators_that_the_model_has_not_stay_out(void **state)
{
    struct model m = latent_model();
    struct fact_list l;

    (void)state;
    for (int i = 0; i < 4; i++) {
        layers[i].mixer.kind = MIXER_MLA;
        layers[i].residual = RESIDUAL_ADD;
        layers[i].ffn.kind = FFN_DENSE;
    }
    m.attnres_block = 0;
    run(&m, 0, 0, &l);
    assert_int_equal(l.count, 0);
    fact_list_release(&l);
}

static void operator_that_cannot_run_is_unknown_with_the_reason(void **state)
{
    struct model m = latent_model();
    struct fact_list l;
    const struct fact *f;

    (void)state;
    for (int i = 0; i < 4; i++)
        layers[i].ffn.act = FFN_ACT_GELU;
    layers[0].mixer.key_dim = 0;
    run(&m, 0, 0, &l);
    f = fact_list_find(&l, FACT_FALLBACK_TIME, "moe.latent");
    assert_true(f && f->state == FACT_UNKNOWN && strstr(f->why, "gelu"));
    f = fact_list_find(&l, FACT_FALLBACK_TIME, "attention.kda");
    assert_true(f && f->state == FACT_UNKNOWN && strstr(f->why, "complete"));
    fact_list_release(&l);
}

static void shape_that_had_to_shrink_says_so(void **state)
{
    struct model m = latent_model();
    struct fact_list l;
    const struct fact *f;

    (void)state;
    /* Shared: 2*64*(16 + 64 + 3*64) = 34,816 bytes; four experts of 12,288 make 83,968. */
    run(&m, 60000, 0, &l);
    f = fact_list_find(&l, FACT_FALLBACK_TIME, "moe.latent");
    assert_true(f && f->state == FACT_KNOWN);
    assert_non_null(strstr(f->source, "inner width 32, not 64"));
    fact_list_release(&l);
    run(&m, 84000, 0, &l);
    f = fact_list_find(&l, FACT_FALLBACK_TIME, "moe.latent");
    assert_non_null(strstr(f->source, "(4 of them stored)"));
    assert_null(strstr(f->source, "smaller"));
    fact_list_release(&l);
}

/* Both paths must be the same operator on the same data, or their ratio means nothing. */
static void both_paths_give_the_same_numbers(void **state)
{
    static prepare_fn *const prepare[] = {prepare_delta, prepare_residual, prepare_moe};
    const struct fallback_opts o = {.seed = 7, .cpu = cpu_features()};
    struct model m = latent_model();
    const struct plan p = {.model = &m, .o = &o, .memory_bytes = 1u << 30};
    const size_t outputs[] = {32, 64, 64};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct trial *t = mem_alloc(1, sizeof(*t));
        struct err e = {0};
        float first[64], largest = 0;
        prim_init(&t->prim, o.cpu);
        if (prepare[i](&p, t, &e))
            fail_msg("%s", e.msg);
        t->fused(t);
        memcpy(first, t->out, outputs[i] * sizeof(float));
        memset(t->out, 0, outputs[i] * sizeof(float));
        t->composed(t);
        for (size_t j = 0; j < outputs[i]; j++)
            largest = fmaxf(largest, fabsf(first[j]));
        assert_true(largest > 0 && isfinite(largest));
        for (size_t j = 0; j < outputs[i]; j++) {
            if (!(fabsf(t->out[j] - first[j]) <= 1e-4f * largest))
                fail_msg("%s: %g is not %g", t->op, (double)t->out[j], (double)first[j]);
        }
        discard(t);
        free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_operator_of_the_model_is_compared),
        cmocka_unit_test(operators_that_the_model_has_not_stay_out),
        cmocka_unit_test(operator_that_cannot_run_is_unknown_with_the_reason),
        cmocka_unit_test(shape_that_had_to_shrink_says_so),
        cmocka_unit_test(both_paths_give_the_same_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
