#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/cpu.h"
#include "stress/balance.h"
#include "stress/normal.h"

/* Loads of the example in the README of deepseek-ai/EPLB. */
static const uint64_t layer_a[12] = {90, 132, 40, 61, 104, 165, 39, 4, 73, 56, 183, 86};
static const uint64_t layer_b[12] = {20, 107, 104, 64, 19, 197, 187, 157, 172, 86, 16, 27};

static struct balance balance(const uint64_t *counts, uint32_t experts, uint32_t top_k)
{
    struct balance b;
    struct err e = {0};

    if (balance_of(counts, experts, top_k, &b, &e))
        fail_msg("%s", e.msg);
    return b;
}

static void assert_close(double got, double want, double within)
{
    if (!(fabs(got - want) <= within))
        fail_msg("%.10g is not %.10g", got, want);
}

/* MaxVio, CV, H/ln E, Gini: facts, coverage 5.1, to the four digits given there. */
static void published_loads_give_the_published_figures(void **state)
{
    struct balance a = balance(layer_a, 12, 1), b = balance(layer_b, 12, 1);

    (void)state;
    assert_close(a.max_vio, 1.1258, 5e-5);
    assert_close(a.cv, 0.5890, 5e-5);
    assert_close(a.entropy, 0.9242, 5e-5);
    assert_close(a.gini, 0.3297, 5e-5);
    assert_close(b.max_vio, 1.0450, 5e-5);
    assert_close(b.cv, 0.6843, 5e-5);
    assert_close(b.entropy, 0.8958, 5e-5);
    assert_close(b.gini, 0.3867, 5e-5);
    assert_int_equal(a.copies, 1033);
    assert_close(a.balancedness * a.max_mean, 1, 1e-12);
}

static void even_load_is_even(void **state)
{
    uint64_t counts[60];
    struct balance b;

    (void)state;
    for (int i = 0; i < 60; i++)
        counts[i] = 1000;
    b = balance(counts, 60, 4);
    assert_true(b.max_mean == 1 && b.cv == 0 && b.max_vio == 0 && b.unused == 0);
    assert_close(b.entropy, 1, 1e-12);
    assert_close(b.gini, 0, 1e-12);
    assert_false(b.too_few);
}

static void one_expert_takes_all(void **state)
{
    uint64_t counts[8] = {0, 0, 0, 8000};
    struct balance b = balance(counts, 8, 1);

    (void)state;
    assert_true(b.max_mean == 8 && b.unused == 7 && b.entropy == 0);
    assert_close(b.gini, 7.0 / 8, 1e-12);
    assert_close(b.cv, sqrt(7), 1e-12);
}

/* 60 experts of which four are never picked: normalised by 60, not by the largest id seen. */
static void entropy_is_normalised_by_the_models_experts(void **state)
{
    uint64_t counts[60] = {0};

    (void)state;
    for (int i = 0; i < 56; i++)
        counts[i] = 100;
    assert_close(balance(counts, 60, 4).entropy, log(56) / log(60), 1e-12);
}

/* Facts, coverage 5.1: E=256, k=8: 512 tokens give max/mean 1.82 from chance alone, 4096 give 1.26
 * and E=896, k=16: 1024 give 1.81, 8192 give 1.27. The floor may be over these by 0.05. */
static void floors_are_what_chance_gives(void **state)
{
    static const struct {
        uint32_t experts, k, tokens;
        double simulated;
    } cases[] = {
        {256, 8, 512, 1.82}, {256, 8, 4096, 1.26}, {896, 16, 1024, 1.81}, {896, 16, 8192, 1.27}};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        uint64_t counts[896];
        for (uint32_t j = 0; j < cases[i].experts; j++)
            counts[j] = 0;
        counts[0] = (uint64_t)cases[i].tokens * cases[i].k;
        struct balance b = balance(counts, cases[i].experts, cases[i].k);
        assert_close(b.max_mean_floor, cases[i].simulated, 0.05);
        assert_close(b.mean, (double)counts[0] / cases[i].experts, 1e-9);
        assert_close(b.cv_floor, sqrt((1 - (double)cases[i].k / cases[i].experts) / b.mean), 1e-12);
    }
}

static uint64_t next(uint64_t *s)
{
    uint64_t z = (*s += 0x9E3779B97F4A7C15ull);

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

/* Tokens that pick k different experts, all alike: the figures stay at their floors. */
static void uniform_routing_stays_within_the_floor(void **state)
{
    uint64_t counts[256] = {0}, seed = 7;
    uint32_t ids[256];
    struct balance b;

    (void)state;
    for (uint32_t i = 0; i < 256; i++)
        ids[i] = i;
    for (int t = 0; t < 4096; t++) {
        for (uint32_t j = 0; j < 8; j++) { /* the start of a shuffle */
            uint32_t other = j + (uint32_t)(next(&seed) % (256 - j));
            uint32_t id = ids[other];
            ids[other] = ids[j];
            ids[j] = id;
            counts[id]++;
        }
    }
    b = balance(counts, 256, 8);
    assert_true(b.max_mean <= b.max_mean_floor);
    assert_true(b.max_mean > b.max_mean_floor - 0.15);
    assert_close(b.cv, b.cv_floor, 0.15 * b.cv_floor);
}

static void few_tokens_refuse_a_verdict(void **state)
{
    uint64_t counts[4] = {49, 49, 49, 49};

    (void)state;
    assert_true(balance(counts, 4, 1).too_few);
    for (int i = 0; i < 4; i++)
        counts[i] = 50;
    assert_false(balance(counts, 4, 1).too_few);
}

/* Two layers, each with one rank doing three quarters of the work, the other way round. Their sum
 * is perfectly even, and a mean over layers says 1.0; each layer waits for its busy rank. */
static void mirrored_layers_do_not_cancel(void **state)
{
    static const uint64_t ranks[2][2] = {{300, 100}, {100, 300}};

    (void)state;
    assert_close(balance_slowdown(&ranks[0][0], 2, 2), 1.5, 1e-12);
    assert_close(balance(ranks[0], 2, 1).max_mean, 1.5, 1e-12);
    assert_close(balance(ranks[1], 2, 1).max_mean, 1.5, 1e-12);
    assert_true(isnan(balance_slowdown(&ranks[0][0], 0, 2)));
}

static void loads_that_cannot_be_judged_are_refused(void **state)
{
    uint64_t none[4] = {0}, huge[2] = {UINT64_MAX, 1};
    struct balance b;
    struct err e = {0};

    (void)state;
    assert_int_equal(balance_of(none, 4, 1, &b, &e), ERR_USAGE);
    assert_int_equal(balance_of(layer_a, 1, 1, &b, &e), ERR_USAGE);
    assert_int_equal(balance_of(layer_a, 12, 0, &b, &e), ERR_USAGE);
    assert_int_equal(balance_of(layer_a, 12, 13, &b, &e), ERR_USAGE);
    assert_int_equal(balance_of(huge, 2, 1, &b, &e), ERR_LIMIT);
}

/* --- the run over a checkpoint: one shard, written here, with routers of two layers. */

#define HIDDEN 48u
#define LATENT 20u
#define EXPERTS 16u
#define TOP_K 4u

struct checkpoint {
    char dir[64], file[96];
    char header[2048];
    unsigned char data[64 << 10];
    size_t header_bytes, data_bytes;
    struct inventory inv;
};

static float weight(uint64_t *s)
{
    return (float)((double)(next(s) >> 11) * 0x1p-53 - 0.5);
}

/* Adds a tensor of rows x cols (cols 0: a vector), BF16 or F32, and its entry in the header. */
static void add(struct checkpoint *c, const char *name, size_t rows, size_t cols, int bf16,
                const float *values)
{
    size_t n = rows * (cols ? cols : 1), wide = bf16 ? 2 : 4;
    char shape[40];

    snprintf(shape, sizeof(shape), cols ? "%zu,%zu" : "%zu", rows, cols);
    c->header_bytes +=
        (size_t)snprintf(c->header + c->header_bytes, sizeof(c->header) - c->header_bytes,
                         "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%zu,%zu]}",
                         c->data_bytes ? "," : "{", name, bf16 ? "BF16" : "F32", shape,
                         c->data_bytes, c->data_bytes + n * wide);
    assert_true(c->data_bytes + n * wide <= sizeof(c->data));
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], 4);
        bits = bf16 ? bits >> 16 : bits;
        memcpy(c->data + c->data_bytes + i * wide, &bits, wide); /* little-endian */
    }
    c->data_bytes += n * wide;
}

static void finish(struct checkpoint *c)
{
    struct finding_list findings = {0};
    struct err e = {0};
    uint64_t length;

    c->header[c->header_bytes++] = '}';
    while (c->header_bytes % 8)
        c->header[c->header_bytes++] = ' ';
    snprintf(c->dir, sizeof(c->dir), "/tmp/balance-XXXXXX");
    assert_non_null(mkdtemp(c->dir));
    snprintf(c->file, sizeof(c->file), "%s/a.safetensors", c->dir);
    FILE *f = fopen(c->file, "wb");
    assert_non_null(f);
    length = c->header_bytes;
    assert_int_equal(fwrite(&length, 8, 1, f), 1);
    assert_int_equal(fwrite(c->header, c->header_bytes, 1, f), 1);
    assert_int_equal(fwrite(c->data, c->data_bytes, 1, f), 1);
    assert_int_equal(fclose(f), 0);
    if (inventory_add_safetensors(&c->inv, "a.safetensors", 8 + length + c->data_bytes, c->header,
                                  c->header_bytes, &findings, &e) ||
        inventory_finish(&c->inv, NULL, &findings, &e))
        fail_msg("%s", e.msg);
    finding_list_release(&findings);
}

static void destroy(struct checkpoint *c)
{
    (void)unlink(c->file);
    (void)rmdir(c->dir);
    inventory_release(&c->inv);
}

static struct layer model_layers[3];

/* A dense layer, and two with experts. */
static struct model expert_model(void)
{
    memset(model_layers, 0, sizeof(model_layers));
    model_layers[0].ffn.kind = FFN_DENSE;
    for (int i = 1; i < 3; i++)
        model_layers[i].ffn = (struct ffn){.kind = FFN_MOE,
                                           .latent = HIDDEN,
                                           .router = {.score = ROUTER_SIGMOID,
                                                      .experts = EXPERTS,
                                                      .top_k = TOP_K,
                                                      .groups = 1,
                                                      .top_groups = 1,
                                                      .renormalize = true,
                                                      .scaling = 1,
                                                      .bias = true}};
    return (struct model){.family = "test",
                          .architecture = "",
                          .prefix = "model.",
                          .hidden = HIDDEN,
                          .layer_count = 3,
                          .layers = model_layers};
}

/* Layer 1 by the names of Kimi, in BF16, with a bias of nothing; layer 2 by those of DeepSeek, in
 * F32, with a bias that always picks expert 3. */
static void write_routers(struct checkpoint *c, float w[2][EXPERTS * HIDDEN])
{
    float bias[2][EXPERTS] = {{0}};
    uint64_t seed = 99;

    memset(c, 0, sizeof(*c));
    for (int l = 0; l < 2; l++) {
        for (size_t i = 0; i < EXPERTS * HIDDEN; i++) {
            uint32_t bits;
            w[l][i] = weight(&seed);
            memcpy(&bits, &w[l][i], 4);
            bits &= 0xFFFF0000u; /* exact in BF16, so that both formats hold the same */
            memcpy(&w[l][i], &bits, 4);
        }
    }
    bias[1][3] = 10;
    add(c, "model.layers.1.block_sparse_moe.gate.weight", EXPERTS, HIDDEN, 1, w[0]);
    add(c, "model.layers.1.block_sparse_moe.gate.e_score_correction_bias", EXPERTS, 0, 0, bias[0]);
    add(c, "model.layers.2.mlp.gate.weight", EXPERTS, HIDDEN, 0, w[1]);
    add(c, "model.layers.2.mlp.gate.e_score_correction_bias", EXPERTS, 0, 0, bias[1]);
    finish(c);
}

static void run(const struct model *m, const struct checkpoint *c, double per_expert, uint64_t time,
                struct fact_list *l)
{
    const struct balance_opts o = {.tokens_per_expert = per_expert,
                                   .time_budget_ns = time,
                                   .threads = 2,
                                   .seed = 5,
                                   .cpu = cpu_features()};
    struct fact_sink sink;
    struct err e = {0};

    fact_list_init(l);
    sink = fact_list_sink(l);
    if (balance_run(m, &c->inv, c->dir, &o, &sink, &e))
        fail_msg("%s", e.msg);
}

/* The same routing once more, plainly: the top_k largest of sigmoid(x . w) + bias, by sorting. */
static void route_plainly(const float *w, float bias3, uint64_t tokens, uint64_t *counts)
{
    float *x = mem_alloc(tokens * HIDDEN, sizeof(*x));
    struct err e = {0};

    assert_int_equal(normal_draw(x, tokens, HIDDEN, 5, 1, &e), 0);
    for (uint64_t t = 0; t < tokens; t++) {
        double score[EXPERTS];
        for (size_t i = 0; i < EXPERTS; i++) {
            double z = 0;
            for (size_t j = 0; j < HIDDEN; j++)
                z += (double)x[t * HIDDEN + j] * (double)w[i * HIDDEN + j];
            score[i] = 1 / (1 + exp(-z)) + (i == 3 ? (double)bias3 : 0);
        }
        for (unsigned k = 0; k < TOP_K; k++) {
            size_t best = 0;
            for (size_t i = 1; i < EXPERTS; i++)
                best = score[i] > score[best] ? i : best;
            counts[best]++;
            score[best] = -1;
        }
    }
    free(x);
}

static void synthetic_load_is_that_of_the_models_router(void **state)
{
    static float w[2][EXPERTS * HIDDEN];
    struct model m = expert_model();
    struct checkpoint c;
    struct fact_list l;
    uint64_t want[2][EXPERTS] = {{0}};

    (void)state;
    write_routers(&c, w);
    run(&m, &c, 64, 0, &l);
    route_plainly(w[0], 0, 256, want[0]); /* 64 * 16 / 4 tokens: two blocks */
    route_plainly(w[1], 10, 256, want[1]);
    assert_int_equal(l.load_count, 2 * EXPERTS);
    for (size_t i = 0; i < l.load_count; i++) {
        assert_int_equal(l.loads[i].layer, 1 + i / EXPERTS);
        assert_int_equal(l.loads[i].expert, i % EXPERTS);
        if (l.loads[i].tokens != want[i / EXPERTS][i % EXPERTS])
            fail_msg("layer %u expert %u has %llu tokens, not %llu", l.loads[i].layer,
                     l.loads[i].expert, (unsigned long long)l.loads[i].tokens,
                     (unsigned long long)want[i / EXPERTS][i % EXPERTS]);
    }
    const struct fact *source = fact_list_find(&l, FACT_BALANCE_SOURCE, "");
    assert_true(source && source->state == FACT_KNOWN);
    assert_memory_equal(source->text, "synthetic", 9);
    /* Expert 3 of layer 2 gets every token: E/k times the mean. The worst layer is named. */
    const struct fact *worst = fact_list_find(&l, FACT_BALANCE_MAX_MEAN, "worst");
    assert_true(worst->x == (double)EXPERTS / TOP_K);
    assert_memory_equal(worst->source, "layer 2", 7);
    assert_non_null(strstr(worst->source, "synthetic"));
    assert_true(fact_list_find(&l, FACT_BALANCE_MAX_MEAN, "layer 1")->x < 2);
    assert_true(fact_list_find(&l, FACT_BALANCE_MAX_MEAN, "layer 2")->x == 4);
    assert_int_equal(fact_list_find(&l, FACT_BALANCE_TOKENS, "")->i, 256);
    assert_true(fact_list_find(&l, FACT_BALANCE_TOKENS_PER_EXPERT, "")->x == 64);
    assert_int_equal(fact_list_find(&l, FACT_BALANCE_LAYERS, "")->i, 2);
    assert_int_equal(fact_list_find(&l, FACT_BALANCE_LEFT_OUT, "")->state, FACT_ABSENT);
    fact_list_release(&l);
    destroy(&c);
}

static void few_synthetic_tokens_leave_the_figures_unknown(void **state)
{
    static float w[2][EXPERTS * HIDDEN];
    struct model m = expert_model();
    struct checkpoint c;
    struct fact_list l;
    const struct fact *f;

    (void)state;
    write_routers(&c, w);
    run(&m, &c, 10, 0, &l);
    f = fact_list_find(&l, FACT_BALANCE_MAX_MEAN, "worst");
    assert_true(f && f->state == FACT_UNKNOWN && strstr(f->why, "too few"));
    f = fact_list_find(&l, FACT_BALANCE_CV, "layer 1");
    assert_true(f && f->state == FACT_UNKNOWN);
    assert_true(fact_list_find(&l, FACT_BALANCE_TOKENS_PER_EXPERT, "")->x == 10);
    assert_int_equal(l.load_count, 2 * EXPERTS); /* what was seen is kept */
    fact_list_release(&l);
    destroy(&c);
}

static void layers_without_time_are_named(void **state)
{
    static float w[2][EXPERTS * HIDDEN];
    struct model m = expert_model();
    struct checkpoint c;
    struct fact_list l;
    const struct fact *f;

    (void)state;
    write_routers(&c, w);
    run(&m, &c, 64, 1, &l);
    f = fact_list_find(&l, FACT_BALANCE_LEFT_OUT, "");
    assert_true(f && f->state == FACT_KNOWN);
    assert_non_null(strstr(f->text, "layers 1 to 2"));
    assert_non_null(strstr(f->text, "time budget"));
    f = fact_list_find(&l, FACT_BALANCE_MAX_MEAN, "worst");
    assert_true(f && f->state == FACT_UNKNOWN);
    assert_int_equal(l.load_count, 0);
    fact_list_release(&l);
    destroy(&c);
}

static void dense_model_has_no_experts_to_balance(void **state)
{
    struct model m = expert_model();
    struct checkpoint c = {.dir = "/nowhere"};
    struct fact_list l;

    (void)state;
    model_layers[1].ffn.kind = model_layers[2].ffn.kind = FFN_DENSE;
    run(&m, &c, 64, 0, &l);
    assert_int_equal(l.count, 1);
    assert_int_equal(l.items[0].key, FACT_BALANCE_SOURCE);
    assert_int_equal(l.items[0].state, FACT_ABSENT);
    fact_list_release(&l);
}

static void router_that_is_not_there_is_unknown(void **state)
{
    static float w[2][EXPERTS * HIDDEN];
    struct model m = expert_model();
    struct checkpoint c, none = {.dir = "/nowhere"};
    struct fact_list l;
    const struct fact *f;

    (void)state;
    run(&m, &none, 64, 0, &l);
    f = fact_list_find(&l, FACT_BALANCE_SOURCE, "");
    assert_true(f && f->state == FACT_UNKNOWN);
    assert_non_null(strstr(f->why, "block_sparse_moe.gate.weight"));
    assert_non_null(strstr(f->why, "model.layers.1"));
    fact_list_release(&l);
    /* One layer of two: the other's figures stay, and this one's are unknown. */
    write_routers(&c, w);
    m.layer_count = 3;
    m.prefix = "model.";
    model_layers[1].ffn.router.experts = EXPERTS / 2; /* not the shape that is stored */
    run(&m, &c, 64, 0, &l);
    f = fact_list_find(&l, FACT_BALANCE_MAX_MEAN, "layer 1");
    assert_true(f && f->state == FACT_UNKNOWN && strstr(f->why, "[16, 48]"));
    assert_int_equal(fact_list_find(&l, FACT_BALANCE_MAX_MEAN, "layer 2")->state, FACT_KNOWN);
    fact_list_release(&l);
    destroy(&c);
}

static void correction_bias_that_is_missing_is_not_left_out(void **state)
{
    static float w[EXPERTS * HIDDEN];
    struct model m = expert_model();
    struct checkpoint c = {.header_bytes = 0};
    struct fact_list l;
    const struct fact *f;

    (void)state;
    for (size_t i = 0; i < EXPERTS * HIDDEN; i++)
        w[i] = (float)(i % 7);
    add(&c, "model.layers.1.mlp.gate.weight", EXPERTS, HIDDEN, 0, w);
    w[5] = NAN;
    add(&c, "model.layers.2.mlp.gate.weight", EXPERTS, HIDDEN, 0, w);
    finish(&c);
    run(&m, &c, 64, 0, &l);
    f = fact_list_find(&l, FACT_BALANCE_SOURCE, "");
    assert_true(f && f->state == FACT_UNKNOWN && strstr(f->why, "correction bias"));
    fact_list_release(&l);
    /* Without a bias in the model, the NaN in layer 2 is what stands in the way there. */
    model_layers[1].ffn.router.bias = model_layers[2].ffn.router.bias = false;
    run(&m, &c, 64, 0, &l);
    f = fact_list_find(&l, FACT_BALANCE_MAX_MEAN, "layer 2");
    assert_true(f && f->state == FACT_UNKNOWN && strstr(f->why, "not finite"));
    fact_list_release(&l);
    destroy(&c);
}

/* Routing on the latent: x goes through the projection first. The projection keeps the first
 * channels as they are, so the plain router over those must agree. */
static void router_on_the_latent_reads_the_projection(void **state)
{
    static float down[LATENT * HIDDEN], w[EXPERTS * LATENT], wide[EXPERTS * HIDDEN];
    struct model m = expert_model();
    struct checkpoint c = {.header_bytes = 0};
    uint64_t want[EXPERTS] = {0}, seed = 3;
    struct fact_list l;

    (void)state;
    m.layer_count = 2;
    model_layers[1].ffn.kind = FFN_MOE_LATENT;
    model_layers[1].ffn.latent = LATENT;
    model_layers[1].ffn.router.on_latent = true;
    model_layers[1].ffn.router.bias = false;
    for (size_t i = 0; i < LATENT; i++)
        down[i * HIDDEN + i] = 1;
    for (size_t i = 0; i < EXPERTS; i++) {
        for (size_t j = 0; j < LATENT; j++)
            w[i * LATENT + j] = wide[i * HIDDEN + j] = weight(&seed);
    }
    add(&c, "model.layers.1.block_sparse_moe.gate.weight", EXPERTS, LATENT, 0, w);
    add(&c, "model.layers.1.block_sparse_moe.routed_expert_down_proj.weight", LATENT, HIDDEN, 1,
        down);
    finish(&c);
    run(&m, &c, 64, 0, &l);
    route_plainly(wide, 0, 256, want);
    assert_int_equal(l.load_count, EXPERTS);
    for (size_t i = 0; i < EXPERTS; i++)
        assert_int_equal(l.loads[i].tokens, want[i]);
    fact_list_release(&l);
    destroy(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_loads_give_the_published_figures),
        cmocka_unit_test(even_load_is_even),
        cmocka_unit_test(one_expert_takes_all),
        cmocka_unit_test(entropy_is_normalised_by_the_models_experts),
        cmocka_unit_test(floors_are_what_chance_gives),
        cmocka_unit_test(uniform_routing_stays_within_the_floor),
        cmocka_unit_test(few_tokens_refuse_a_verdict),
        cmocka_unit_test(mirrored_layers_do_not_cancel),
        cmocka_unit_test(loads_that_cannot_be_judged_are_refused),
        cmocka_unit_test(synthetic_load_is_that_of_the_models_router),
        cmocka_unit_test(few_synthetic_tokens_leave_the_figures_unknown),
        cmocka_unit_test(layers_without_time_are_named),
        cmocka_unit_test(dense_model_has_no_experts_to_balance),
        cmocka_unit_test(router_that_is_not_there_is_unknown),
        cmocka_unit_test(correction_bias_that_is_missing_is_not_left_out),
        cmocka_unit_test(router_on_the_latent_reads_the_projection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
