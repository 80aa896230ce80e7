#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "fixture_model.h"
#include "model/cost.h"

/* Totals of the released files' headers (Llama, Qwen, Mixtral, DeepSeek V3 without its draft layer,
 * Kimi Linear, Kimi K3); Kimi K2's from its published layout by another program, since its files
 * count scales too. Byte figures: 2 bytes x (latent + rope) or keys and values, by hand. */
static const struct published {
    const char *slug;
    uint64_t params, active; /* active 0: not compared */
    uint64_t token_bytes, state_bytes;
} published[] = {
    {"aic-moonshotai--Kimi-K3", 2779484476000, 104189612640, 27648, 449372160},
    {"made-Kimi-Linear-48B-A3B", 49122681728, 0, 8064, 43417600},
    {"aic-deepseek-ai--DeepSeek-V3", 671026419200, 0, 70272, 0},
    {"aic-deepseek-ai--DeepSeek-R1", 671026419200, 0, 70272, 0},
    {"aic-moonshotai--Kimi-K2-Instruct", 1026408232448, 0, 70272, 0},
    {"aic-moonshotai--Kimi-K2.5", 1026408232448, 0, 70272, 0},
    {"aic-nvidia--Kimi-K2.6-NVFP4", 1026408232448, 0, 70272, 0},
    {"aic-meta-llama--Llama-3.3-70B-Instruct", 70553706496, 0, 327680, 0},
    {"aic-meta-llama--Meta-Llama-3.1-70B", 70553706496, 0, 327680, 0},
    {"servsim-meta-llama--Llama-3.1-8B", 8030261248, 0, 131072, 0},
    {"aic-meta-llama--Llama-2-7b-hf", 6738415616, 0, 524288, 0},
    {"aic-meta-llama--Llama-2-13b-hf", 13015864320, 0, 819200, 0},
    {"aic-Qwen--Qwen2.5-7B", 7615616512, 0, 57344, 0},
    {"aic-Qwen--Qwen2.5-1.5B", 1543714304, 1543714304, 28672, 0},
    {"aic-Qwen--Qwen2.5-72B", 72706203648, 0, 327680, 0},
    {"aic-Qwen--Qwen3-30B-A3B", 30532122624, 0, 98304, 0},
    {"aic-Qwen--Qwen3-235B-A22B-FP8", 235093634560, 0, 192512, 0},
    {"aic-nvidia--Qwen3-32B-NVFP4", 32762123264, 0, 262144, 0},
    {"servsim-mistralai--Mixtral-8x7B-v0.1", 46702792704, 0, 131072, 0},
    {"aic-mistralai--Mixtral-8x22B-v0.1", 140620634112, 0, 229376, 0},
    {"lfs-devstral-small-2507", 23572403200, 0, 163840, 0},
};

static void costs_reproduce_published_figures(void **state)
{
    size_t found = 0;
    (void)state;
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        const struct published *p = &published[i];
        struct fixture_model f;
        struct cost c;
        if (!fixture_real(&f, NULL, p->slug))
            continue;
        if (cost_of(&f.m, &c, &f.e))
            fail_msg("%s: %s", p->slug, f.e.msg);
        if (c.params_total != p->params || (p->active && c.params_active != p->active) ||
            c.cache_token_bytes != p->token_bytes || c.state_bytes != p->state_bytes)
            fail_msg("%s: %llu parameters, %llu active, %llu bytes a token, %llu constant", p->slug,
                     (unsigned long long)c.params_total, (unsigned long long)c.params_active,
                     (unsigned long long)c.cache_token_bytes, (unsigned long long)c.state_bytes);
        /* the same, taken the other way */
        assert_int_equal(cost_model_bytes(&f.m, 1000), 1000 * p->token_bytes + p->state_bytes);
        cost_release(&c);
        fixture_end(&f);
        found++;
    }
    if (!found)
        skip();
}

/* From the shapes of the headers: a KDA mixer of 443,740,416 stored values, of which 32 are padding
 * of A_log; a gated MLA mixer of 232,196,096; 896 experts of 33,030,144. */
static void layers_of_kimi_k3_have_the_sums_of_its_headers(void **state)
{
    struct fixture_model f;
    struct cost c;
    const uint64_t d = 7168;
    const uint64_t around = 2 * d + 4 * d; /* norms, attention residuals */
    const uint64_t moe = 29595009024 + 189927808;
    (void)state;
    if (!fixture_real(&f, NULL, "aic-moonshotai--Kimi-K3"))
        skip();
    assert_int_equal(cost_of(&f.m, &c, &f.e), 0);
    assert_int_equal(c.layers[0].params, 443740416 - 32 + 3 * 33792 * d + around);
    assert_int_equal(c.layers[1].params, 443740416 - 32 + moe + around);
    assert_int_equal(c.layers[3].params, 232196096 + moe + around);
    assert_int_equal(c.layers[92].params, c.layers[3].params);
    assert_int_equal(c.layers[3].params_active, 232196096 + 528482304 + 189927808 + around);
    assert_int_equal(c.layers[3].cache_token_bytes, 1152);
    assert_int_equal(c.layers[3].state_bytes, 0);
    assert_int_equal(c.layers[0].state_bytes, 6291456 + 221184);
    assert_int_equal(c.layers[0].cache_token_bytes, 0);
    assert_int_equal(c.params_embedding, 163840 * d);
    assert_int_equal(c.attnres_in_flight_bytes, 114688);
    assert_int_equal(c.window_bytes, 0);
    /* 27.0 GiB at 1,048,576 tokens, and the state */
    assert_int_equal(cost_model_bytes(&f.m, 1048576), 27648ull * 1048576 + 449372160);
    cost_release(&c);
    fixture_end(&f);
}

/* Qwen1.5-MoE-A2.7B: 14,315,784,192 parameters in its released headers. */
static void a_gate_on_the_shared_expert_is_counted(void **state)
{
    struct fixture_model f;
    struct cost c;
    (void)state;
    assert_int_equal(
        fixture_build(&f, NULL,
                      "{\"model_type\":\"qwen2_moe\",\"hidden_size\":2048,"
                      "\"intermediate_size\":5632,\"num_hidden_layers\":24,"
                      "\"num_attention_heads\":16,\"num_key_value_heads\":16,"
                      "\"vocab_size\":151936,\"hidden_act\":\"silu\",\"rms_norm_eps\":1e-06,"
                      "\"num_experts\":60,\"num_experts_per_tok\":4,"
                      "\"moe_intermediate_size\":1408,\"norm_topk_prob\":false,"
                      "\"shared_expert_intermediate_size\":5632,\"decoder_sparse_step\":1,"
                      "\"use_sliding_window\":false,\"sliding_window\":32768}"),
        0);
    assert_int_equal(cost_of(&f.m, &c, &f.e), 0);
    assert_int_equal(c.params_total, 14315784192);
    cost_release(&c);
    fixture_end(&f);
}

static void biases_and_ties_change_the_sum(void **state)
{
    static const struct {
        const char *keys;
        uint64_t total, active;
    } cases[] = {
        {",\"tie_word_embeddings\":false", 99136, 99136 - 6400},
        {",\"tie_word_embeddings\":true", 92736, 92736},
        {",\"attention_bias\":true", 99136 + 2 * (128 + 64), 0},
        {",\"mlp_bias\":true", 99136 + 2 * (160 + 160 + 64), 0},
        {",\"head_dim\":32", 99136 + 2 * 12288, 0},
        /* q 4 x 16, k 1 x 16, v 4 x 32, o from 4 x 32 */
        {",\"attention_type\":\"key_decoupled\",\"key_heads\":1,\"value_heads\":4,\"key_dim\":16,"
         "\"value_dim\":32",
         99136 - 2 * 12288 + 2 * (4096 + 1024 + 8192 + 8192), 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture_model f;
        struct cost c;
        assert_int_equal(
            fixture_build(&f, NULL,
                          "{\"model_type\":\"llama\",\"hidden_size\":64,"
                          "\"intermediate_size\":160,\"num_hidden_layers\":2,"
                          "\"num_attention_heads\":4,\"num_key_value_heads\":2,"
                          "\"vocab_size\":100,\"hidden_act\":\"silu\",\"rms_norm_eps\":1e-05%s}",
                          cases[i].keys),
            0);
        assert_int_equal(cost_of(&f.m, &c, &f.e), 0);
        if (c.params_total != cases[i].total ||
            (cases[i].active && c.params_active != cases[i].active))
            fail_msg("%s: %llu, %llu active", cases[i].keys, (unsigned long long)c.params_total,
                     (unsigned long long)c.params_active);
        cost_release(&c);
        fixture_end(&f);
    }
}

static void caches_follow_each_kind_of_mixer(void **state)
{
    const struct mixer gqa = {.kind = MIXER_GQA,
                              .heads = 8,
                              .key_heads = 2,
                              .value_heads = 2,
                              .key_dim = 128,
                              .value_dim = 128};
    struct mixer window = gqa;
    const struct mixer decoupled = {.kind = MIXER_KEY_DECOUPLED,
                                    .heads = 8,
                                    .key_heads = 1,
                                    .value_heads = 8,
                                    .key_dim = 32,
                                    .value_dim = 256};
    const struct mixer kda = {.kind = MIXER_KDA,
                              .heads = 32,
                              .key_heads = 32,
                              .value_heads = 32,
                              .key_dim = 128,
                              .value_dim = 128,
                              .conv_kernel = 4};
    struct mixer huge = {.kind = MIXER_GQA,
                         .heads = 1 << 14,
                         .key_heads = 1 << 14,
                         .value_heads = 1 << 14,
                         .key_dim = 1 << 16,
                         .value_dim = 1 << 16};
    (void)state;
    window.window = 4096;
    assert_int_equal(cost_mixer_bytes(&gqa, 10000), 10000 * 1024);
    assert_int_equal(cost_mixer_bytes(&window, 100), 100 * 1024);
    assert_int_equal(cost_mixer_bytes(&window, 4096), 4096 * 1024);
    assert_int_equal(cost_mixer_bytes(&window, 1 << 20), 4096 * 1024);
    assert_int_equal(cost_mixer_bytes(&decoupled, 10), 10 * (32 + 8 * 256) * 2);
    assert_int_equal(cost_mixer_bytes(&kda, 0), 2097152 + 73728);
    assert_int_equal(cost_mixer_bytes(&kda, 1 << 20), 2097152 + 73728);
    assert_true(cost_mixer_bytes(&huge, 1ull << 40) == UINT64_MAX);
}

static void windows_are_constant_and_not_growing(void **state)
{
    struct fixture_model f;
    struct cost c;
    (void)state;
    assert_int_equal(
        fixture_build(&f, NULL,
                      "{\"model_type\":\"mistral\",\"hidden_size\":4096,"
                      "\"intermediate_size\":14336,\"num_hidden_layers\":32,"
                      "\"num_attention_heads\":32,\"num_key_value_heads\":8,\"vocab_size\":32000,"
                      "\"hidden_act\":\"silu\",\"rms_norm_eps\":1e-05,\"sliding_window\":4096}"),
        0);
    assert_int_equal(cost_of(&f.m, &c, &f.e), 0);
    assert_int_equal(c.params_total, 7241732096); /* Mistral-7B-v0.1 */
    assert_int_equal(c.cache_token_bytes, 0);
    assert_int_equal(c.window_bytes, 32ull * 4096 * 4096);
    assert_int_equal(cost_model_bytes(&f.m, 1 << 20), 32ull * 4096 * 4096);
    cost_release(&c);
    fixture_end(&f);
}

static void what_is_not_explained_has_no_cost(void **state)
{
    struct fixture_model f;
    struct cost c;
    (void)state;
    assert_int_equal(fixture_build(&f, NULL, "{" FIXTURE_LLAMA ",\"index_topk\":2048}"), 0);
    assert_int_equal(cost_of(&f.m, &c, &f.e), ERR_UNSUPPORTED);
    assert_non_null(strstr(f.e.msg, "index_topk"));

    struct fact_list l;
    fact_list_init(&l);
    struct fact_sink sink = fact_list_sink(&l);
    assert_int_equal(cost_facts(&f.m, NULL, NULL, NULL, &sink, &f.e), 0);
    static const enum fact_key keys[] = {FACT_MODEL_PARAMS_TOTAL,    FACT_MODEL_PARAMS_ACTIVE,
                                         FACT_MODEL_CACHE_PER_TOKEN, FACT_MODEL_STATE,
                                         FACT_MODEL_EXPERTS,         FACT_MODEL_ATTNRES_SOURCES,
                                         FACT_MODEL_TENSORS,         FACT_MODEL_PARAMS_STORED};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct fact *x = fact_list_find(&l, keys[i], "");
        assert_non_null(x);
        assert_int_equal(x->state, FACT_UNKNOWN);
        assert_true(x->why && *x->why);
    }
    assert_string_equal(fact_list_find(&l, FACT_MODEL_UNEXPLAINED, NULL)->text, "index_topk");
    fact_list_release(&l);
    fixture_end(&f);
}

static void sums_that_leave_64_bits_are_a_limit(void **state)
{
    struct fixture_model f;
    struct cost c;
    (void)state;
    assert_int_equal(
        fixture_build(&f, NULL,
                      "{\"model_type\":\"qwen3_moe\",\"hidden_size\":1048576,"
                      "\"num_hidden_layers\":4096,\"num_attention_heads\":16384,"
                      "\"num_key_value_heads\":16384,\"head_dim\":65536,\"vocab_size\":67108864,"
                      "\"hidden_act\":\"silu\",\"rms_norm_eps\":1e-06,\"num_experts\":65536,"
                      "\"num_experts_per_tok\":65536,\"moe_intermediate_size\":16777216}"),
        0);
    assert_int_equal(cost_of(&f.m, &c, &f.e), ERR_LIMIT);
    fixture_end(&f);
}

static void facts_tell_every_figure(void **state)
{
    static const struct {
        enum fact_key key;
        const char *scope;
        int64_t value;
    } want[] = {
        {FACT_MODEL_LAYERS, "", 93},
        {FACT_MODEL_LAYERS, "kda", 69},
        {FACT_MODEL_LAYERS, "mla", 24},
        {FACT_MODEL_HIDDEN, "", 7168},
        {FACT_MODEL_PARAMS_TOTAL, "", 2779484476000},
        {FACT_MODEL_CACHE_PER_TOKEN, "", 27648},
        {FACT_MODEL_CACHE_PER_TOKEN, "mla", 27648},
        {FACT_MODEL_CACHE_PER_TOKEN, "kda", 0},
        {FACT_MODEL_STATE, "kda", 449372160},
        {FACT_MODEL_ATTNRES_SOURCES, "", 9},
        {FACT_MODEL_ATTNRES_BLOCK, "", 12},
        {FACT_MODEL_ATTNRES_IN_FLIGHT, "", 114688},
        {FACT_MODEL_EXPERTS, "", 896},
        {FACT_MODEL_TOP_K, "", 16},
        {FACT_MODEL_LATENT_WIDTH, "", 3584},
    };
    struct fixture_model f;
    struct fact_list l;
    struct cost c;
    (void)state;
    if (!fixture_real(&f, NULL, "aic-moonshotai--Kimi-K3"))
        skip();
    fact_list_init(&l);
    struct fact_sink sink = fact_list_sink(&l);
    assert_int_equal(cost_of(&f.m, &c, &f.e), 0);
    assert_int_equal(cost_facts(&f.m, &c, NULL, NULL, &sink, &f.e), 0);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const struct fact *x = fact_list_find(&l, want[i].key, want[i].scope);
        if (!x || x->state != FACT_KNOWN || x->i != want[i].value)
            fail_msg("%s <%s>", fact_name(want[i].key), want[i].scope);
    }
    fact_list_release(&l);
    cost_release(&c);
    fixture_end(&f);
}

static void a_dense_model_surely_has_no_experts(void **state)
{
    struct fixture_model f;
    struct fact_list l;
    struct cost c;
    (void)state;
    assert_int_equal(fixture_build(&f, NULL, "{" FIXTURE_LLAMA "}"), 0);
    fact_list_init(&l);
    struct fact_sink sink = fact_list_sink(&l);
    assert_int_equal(cost_of(&f.m, &c, &f.e), 0);
    assert_int_equal(cost_facts(&f.m, &c, NULL, NULL, &sink, &f.e), 0);
    assert_int_equal(fact_list_find(&l, FACT_MODEL_EXPERTS, "")->state, FACT_ABSENT);
    assert_int_equal(fact_list_find(&l, FACT_MODEL_ATTNRES_BLOCK, "")->state, FACT_ABSENT);
    fact_list_release(&l);
    cost_release(&c);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_reproduce_published_figures),
        cmocka_unit_test(layers_of_kimi_k3_have_the_sums_of_its_headers),
        cmocka_unit_test(a_gate_on_the_shared_expert_is_counted),
        cmocka_unit_test(biases_and_ties_change_the_sum),
        cmocka_unit_test(caches_follow_each_kind_of_mixer),
        cmocka_unit_test(windows_are_constant_and_not_growing),
        cmocka_unit_test(what_is_not_explained_has_no_cost),
        cmocka_unit_test(sums_that_leave_64_bits_are_a_limit),
        cmocka_unit_test(facts_tell_every_figure),
        cmocka_unit_test(a_dense_model_surely_has_no_experts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
