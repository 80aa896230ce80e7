#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "fixture_model.h"

#define LINEAR(lists)                                                                             \
    "\"linear_attn_config\":{" lists "\"num_heads\":2,\"head_dim\":8,\"short_conv_kernel_size\":" \
    "4}"

/* Kinds of the four layers as letters: k delta rule, m latent, g grouped, d decoupled, ? unknown.
 */
static void kinds(const struct model *m, char ret[16])
{
    static const char letters[] = "?gmkdnDlMcsbqCr";
    for (uint32_t i = 0; i < m->layer_count && i < 15; i++)
        ret[i] = letters[m->layers[i].mixer.kind];
    ret[m->layer_count] = '\0';
}

static void lists_count_from_one_or_from_zero(void **state)
{
    static const struct {
        const char *lists, *kinds;
        bool explained;
    } cases[] = {
        /* from 1, as Kimi's; the last two layers may both be latent */
        {LINEAR("\"full_attn_layers\":[4],\"kda_layers\":[1,2,3],"), "kkkm", true},
        {LINEAR("\"full_attn_layers\":[3,4],\"kda_layers\":[1,2],"), "kkmm", true},
        {LINEAR("\"full_attn_layers\":[],\"kda_layers\":[4,3,2,1],"), "kkkk", true},
        /* from 0, as GLM's */
        {LINEAR("\"full_attn_layers\":[3],\"kda_layers\":[0,1,2],"), "kkkm", true},
        {LINEAR("\"full_attn_layers\":[0],\"kda_layers\":[1,2,3],"), "mkkk", true},
        /* neither, both, a hole, a double, beyond the layers, no numbers, no list */
        {LINEAR("\"full_attn_layers\":[3],\"kda_layers\":[1,2],"), "????", false},
        {LINEAR("\"full_attn_layers\":[4],\"kda_layers\":[0,1,2,3],"), "????", false},
        {LINEAR("\"full_attn_layers\":[4],\"kda_layers\":[1,3],"), "????", false},
        {LINEAR("\"full_attn_layers\":[4],\"kda_layers\":[1,2,3,3],"), "????", false},
        {LINEAR("\"full_attn_layers\":[3,4],\"kda_layers\":[1,2,3],"), "????", false},
        {LINEAR("\"full_attn_layers\":[5],\"kda_layers\":[1,2,3,4],"), "????", false},
        {LINEAR("\"full_attn_layers\":[\"4\"],\"kda_layers\":[1,2,3],"), "????", false},
        {LINEAR("\"full_attn_layers\":[4],"), "????", false},
        {LINEAR(""), "????", false},
        {"\"linear_attn_config\":null", "????", false},
        /* the newer files name kinds instead; two accounts must agree */
        {LINEAR("") ",\"layer_types\":[\"linear_attention\",\"full_attention\","
                    "\"linear_attention\",\"full_attention\"]",
         "kmkm", true},
        {LINEAR(
             "\"full_attn_layers\":[4],\"kda_layers\":[1,2,3],") ",\"layer_types\":["
                                                                 "\"full_attention\",\"linear_"
                                                                 "attention\",\"linear_attention\","
                                                                 "\"full_attention\"]",
         "mkkm", false},
        {LINEAR("") ",\"layer_types\":[\"linear_attention\",\"sliding_attention\","
                    "\"linear_attention\",\"full_attention\"]",
         "k?km", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture_model f;
        char have[16];
        if (fixture_build(&f, NULL, "{" FIXTURE_KIMI ",%s}", cases[i].lists))
            fail_msg("%s: %s", cases[i].lists, f.e.msg);
        kinds(&f.m, have);
        if (strcmp(have, cases[i].kinds) || (f.m.unexplained_count == 0) != cases[i].explained)
            fail_msg("%s gave %s, %s", cases[i].lists, have,
                     f.m.unexplained_count ? f.m.unexplained[0] : "explained");
        fixture_end(&f);
    }
}

/* head_dim 72 of the outer config is meaningless; so are the key and value head counts there. */
static void widths_of_the_delta_rule_come_from_its_own_keys(void **state)
{
    struct fixture_model f;
    (void)state;
    assert_int_equal(
        fixture_build(&f, NULL, "{" FIXTURE_KIMI ",%s}",
                      LINEAR("\"full_attn_layers\":[4],\"kda_layers\":[1,2,3],"
                             "\"gate_lower_bound\":-5.0,\"use_full_rank_gate\":true,")),
        0);
    const struct mixer *k = &f.m.layers[0].mixer, *m = &f.m.layers[3].mixer;
    assert_int_equal(k->heads, 2);
    assert_int_equal(k->key_dim, 8);
    assert_int_equal(k->value_dim, 8);
    assert_int_equal(k->conv_kernel, 4);
    assert_int_equal(k->gate, KDA_GATE_BOUNDED);
    assert_float_equal(k->lower_bound, -5, 0);
    assert_true(k->full_rank_gate && k->output_gate && !k->rope);
    assert_int_equal(m->key_dim, 12);
    assert_int_equal(m->value_dim, 8);
    assert_int_equal(m->kv_rank, 12);
    assert_int_equal(m->q_rank, 0);
    assert_false(m->rope || m->output_gate);
    fixture_end(&f);

    assert_int_equal(fixture_build(&f, NULL, "{" FIXTURE_KIMI ",%s}",
                                   LINEAR("\"full_attn_layers\":[4],\"kda_layers\":[1,2,3],")),
                     0);
    assert_int_equal(f.m.layers[0].mixer.gate, KDA_GATE_SOFTPLUS);
    assert_false(f.m.layers[0].mixer.full_rank_gate);
    fixture_end(&f);

    assert_int_equal(fixture_build(&f, NULL, "{" FIXTURE_KIMI ",%s}",
                                   LINEAR("\"full_attn_layers\":[4],\"kda_layers\":[1,2,3],"
                                          "\"gate_lower_bound\":0.5,")),
                     ERR_FORMAT);
    assert_non_null(strstr(f.e.msg, "gate_lower_bound is 0.5"));
    fixture_end(&f);

    assert_int_equal(fixture_build(&f, NULL, "{" FIXTURE_KIMI ",%s}",
                                   LINEAR("\"full_attn_layers\":[4],\"kda_layers\":[1,2,3],"
                                          "\"num_v_heads\":4,")),
                     0);
    assert_true(fixture_unexplained(&f, "linear_attn_config.num_v_heads"));
    fixture_end(&f);
}

#define QWEN(type, keys)                                                           \
    "{\"model_type\":\"" type "\",\"hidden_size\":64,\"intermediate_size\":160,"   \
    "\"num_hidden_layers\":4,\"num_attention_heads\":4,\"num_key_value_heads\":2," \
    "\"head_dim\":16,\"vocab_size\":100,\"hidden_act\":\"silu\",\"rms_norm_eps\":1e-06" keys "}"
#define QWEN_MOE ",\"num_experts\":4,\"num_experts_per_tok\":2,\"moe_intermediate_size\":8"

/* The windows of the four layers, in tokens. */
static void windows_are_those_that_the_families_code_has(void **state)
{
    static const struct {
        const char *json;
        unsigned windows[4];
        bool explained;
    } cases[] = {
        {QWEN("qwen2", ",\"sliding_window\":131072,\"use_sliding_window\":false,"
                       "\"max_window_layers\":28"),
         {0, 0, 0, 0},
         true},
        {QWEN("qwen2", ",\"sliding_window\":131072"), {0, 0, 0, 0}, true},
        {QWEN("qwen2", ",\"sliding_window\":99,\"use_sliding_window\":true,"
                       "\"max_window_layers\":2"),
         {0, 0, 99, 99},
         true},
        {QWEN("qwen3", ",\"sliding_window\":99,\"use_sliding_window\":true,"
                       "\"max_window_layers\":4"),
         {0, 0, 0, 0},
         true},
        {QWEN("qwen2", ",\"sliding_window\":99,\"use_sliding_window\":true"),
         {99, 99, 99, 99},
         false},
        {QWEN("qwen3_moe", QWEN_MOE ",\"sliding_window\":99,\"use_sliding_window\":true"),
         {0, 0, 0, 0},
         false},
        {QWEN("qwen3", ",\"sliding_window\":99,\"use_sliding_window\":true,\"layer_types\":["
                       "\"sliding_attention\",\"full_attention\",\"full_attention\","
                       "\"sliding_attention\"]"),
         {99, 0, 0, 99},
         true},
        {QWEN("mistral", ",\"sliding_window\":null"), {0, 0, 0, 0}, true},
        {QWEN("mistral", ",\"sliding_window\":4096"), {4096, 4096, 4096, 4096}, true},
        {QWEN("mistral", ""), {0, 0, 0, 0}, false},
        {QWEN("llama", ",\"sliding_window\":4096"), {0, 0, 0, 0}, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture_model f;
        if (fixture_build(&f, NULL, "%s", cases[i].json))
            fail_msg("%s: %s", cases[i].json, f.e.msg);
        if ((f.m.unexplained_count == 0) != cases[i].explained)
            fail_msg("%s: %s", cases[i].json,
                     f.m.unexplained_count ? f.m.unexplained[0] : "explained");
        for (unsigned k = 0; k < 4; k++)
            if (f.m.layers[k].mixer.window != cases[i].windows[k])
                fail_msg("%s: layer %u has window %u", cases[i].json, k,
                         f.m.layers[k].mixer.window);
        fixture_end(&f);
    }
}

static void layers_with_experts_are_the_families_own_choice(void **state)
{
    static const struct {
        const char *json, *kinds;
    } cases[] = {
        {QWEN("qwen3_moe", QWEN_MOE), "eeee"},
        {QWEN("qwen3_moe", QWEN_MOE ",\"decoder_sparse_step\":2"), "dede"},
        {QWEN("qwen3_moe", QWEN_MOE ",\"mlp_only_layers\":[0,3]"), "deed"},
        {QWEN("mixtral", ",\"num_local_experts\":4,\"num_experts_per_tok\":2"), "eeee"},
        {"{" FIXTURE_KIMI "}", "deee"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture_model f;
        if (fixture_build(&f, NULL, "%s", cases[i].json))
            fail_msg("%s: %s", cases[i].json, f.e.msg);
        for (unsigned k = 0; k < 4; k++)
            if ((f.m.layers[k].ffn.kind == FFN_MOE) != (cases[i].kinds[k] == 'e'))
                fail_msg("%s: layer %u", cases[i].json, k);
        fixture_end(&f);
    }
}

#define DEEPSEEK(keys)                                                                          \
    "{\"model_type\":\"deepseek_v3\",\"hidden_size\":64,\"intermediate_size\":160,"             \
    "\"num_hidden_layers\":4,\"num_attention_heads\":4,\"vocab_size\":100,\"hidden_act\":"      \
    "\"silu\","                                                                                 \
    "\"rms_norm_eps\":1e-06,\"kv_lora_rank\":12,\"q_lora_rank\":20,\"qk_nope_head_dim\":8,"     \
    "\"qk_rope_head_dim\":4,\"v_head_dim\":8,\"n_routed_experts\":8,\"num_experts_per_tok\":2," \
    "\"moe_intermediate_size\":16,\"norm_topk_prob\":true,\"routed_scaling_factor\":2.5" keys "}"

static void deepseek_routers_take_groups_and_a_list_of_layers(void **state)
{
    struct fixture_model f;
    (void)state;
    assert_int_equal(fixture_build(&f, NULL, "%s",
                                   DEEPSEEK(",\"n_group\":4,\"topk_group\":2,"
                                            "\"scoring_func\":\"sigmoid\",\"topk_method\":"
                                            "\"noaux_tc\",\"n_shared_experts\":3,"
                                            "\"first_k_dense_replace\":0,"
                                            "\"moe_layer_freq\":[0,1,0,1],"
                                            "\"num_nextn_predict_layers\":1")),
                     0);
    assert_int_equal(f.m.unexplained_count, 0);
    assert_int_equal(f.m.mtp_layers, 1);
    const struct ffn *x = &f.m.layers[1].ffn;
    assert_int_equal(f.m.layers[0].ffn.kind, FFN_DENSE);
    assert_int_equal(f.m.layers[2].ffn.kind, FFN_DENSE);
    assert_int_equal(f.m.layers[3].ffn.kind, FFN_MOE);
    assert_int_equal(x->router.score, ROUTER_SIGMOID);
    assert_int_equal(x->router.groups, 4);
    assert_int_equal(x->router.top_groups, 2);
    assert_true(x->router.bias && x->router.renormalize);
    assert_float_equal(x->router.scaling, 2.5, 0);
    assert_int_equal(x->shared, 3);
    assert_int_equal(x->shared_inner, 48);
    assert_true(f.m.layers[0].mixer.rope);
    fixture_end(&f);
    /* null is a word: no groups */
    assert_int_equal(
        fixture_build(&f, NULL, "%s", DEEPSEEK(",\"n_group\":null,\"topk_group\":null")), 0);
    assert_false(fixture_unexplained(&f, "n_group"));
    assert_int_equal(f.m.layers[3].ffn.router.groups, 1);
    fixture_end(&f);
    /* the class's default of 8 groups is wrong for Kimi K2, so a silent file tells nothing */
    assert_int_equal(fixture_build(&f, NULL, "%s", DEEPSEEK("")), 0);
    assert_true(fixture_unexplained(&f, "n_group is missing"));
    assert_true(fixture_unexplained(&f, "n_shared_experts is missing"));
    assert_true(fixture_unexplained(&f, "first_k_dense_replace is missing"));
    fixture_end(&f);
    assert_int_equal(fixture_build(&f, NULL, "%s",
                                   DEEPSEEK(",\"n_group\":1,\"topk_group\":1,"
                                            "\"scoring_func\":\"sqrtsoftplus\"")),
                     0);
    assert_true(fixture_unexplained(&f, "scoring_func=sqrtsoftplus"));
    fixture_end(&f);
}

/* The class puts 1536 where the key is missing; null is none. The cache is the same in both. */
static void queries_without_a_rank_are_not_counted(void **state)
{
    static const char *const ranks[] = {"", "\"q_lora_rank\":null,"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct fixture_model f;
        assert_int_equal(fixture_build(&f, NULL,
                                       "{\"model_type\":\"deepseek_v3\",%s\"hidden_size\":64,"
                                       "\"intermediate_size\":160,\"num_hidden_layers\":4,"
                                       "\"num_attention_heads\":4,\"vocab_size\":100,"
                                       "\"hidden_act\":\"silu\",\"rms_norm_eps\":1e-06,"
                                       "\"kv_lora_rank\":12,\"qk_nope_head_dim\":8,"
                                       "\"qk_rope_head_dim\":4,\"v_head_dim\":8,"
                                       "\"n_routed_experts\":null,\"n_shared_experts\":null,"
                                       "\"first_k_dense_replace\":0}",
                                       ranks[i]),
                         0);
        assert_null(model_hidden(&f.m, MODEL_HIDES_CACHE, NULL));
        assert_int_equal(model_hidden(&f.m, MODEL_HIDES_PARAMS, NULL) != NULL, i == 0);
        fixture_end(&f);
    }
}

static void routers_that_cannot_run_are_refused(void **state)
{
    static const char *const bad[] = {
        DEEPSEEK(",\"n_group\":3,\"topk_group\":1"), /* 8 experts in 3 groups */
        DEEPSEEK(",\"n_group\":2,\"topk_group\":3"), /* 3 of 2 groups */
        DEEPSEEK(",\"n_group\":8,\"topk_group\":1"), /* 2 experts from one group of 1 */
        DEEPSEEK(",\"moe_layer_freq\":[1,1]"),       /* for 4 layers */
        QWEN("qwen3_moe", ",\"num_experts\":4,\"num_experts_per_tok\":5,"
                          "\"moe_intermediate_size\":8"),
        QWEN("qwen3_moe", QWEN_MOE ",\"mlp_only_layers\":[4]"),
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct fixture_model f;
        if (fixture_build(&f, NULL, "%s", bad[i]) != ERR_FORMAT)
            fail_msg("%s was taken", bad[i]);
        fixture_end(&f);
    }
}

static void key_decoupled_attention_is_read_from_its_own_keys(void **state)
{
    struct fixture_model f;
    (void)state;
    assert_int_equal(fixture_build(&f, NULL,
                                   "{" FIXTURE_LLAMA ",\"attention_type\":\"key_decoupled\","
                                   "\"key_heads\":1,\"value_heads\":4,\"key_dim\":16,"
                                   "\"value_dim\":32}"),
                     0);
    assert_int_equal(f.m.unexplained_count, 0);
    assert_int_equal(f.m.layers[1].mixer.kind, MIXER_KEY_DECOUPLED);
    assert_int_equal(f.m.layers[1].mixer.key_heads, 1);
    assert_int_equal(f.m.layers[1].mixer.value_dim, 32);
    fixture_end(&f);
    assert_int_equal(fixture_build(&f, NULL,
                                   "{" FIXTURE_LLAMA ",\"attention_type\":\"key_decoupled\","
                                   "\"key_heads\":3,\"value_heads\":4,\"key_dim\":16,"
                                   "\"value_dim\":32}"),
                     ERR_FORMAT);
    fixture_end(&f);
}

static void situ_needs_its_betas(void **state)
{
    struct fixture_model f;
    (void)state;
    assert_int_equal(fixture_build(&f, NULL, "%s", QWEN("qwen3", "")), 0);
    assert_int_equal(f.m.layers[0].ffn.act, FFN_ACT_SILU);
    fixture_end(&f);
    static const char json[] =
        "{\"model_type\":\"llama\",\"hidden_size\":64,\"intermediate_size\":160,"
        "\"num_hidden_layers\":1,\"num_attention_heads\":4,\"vocab_size\":100,"
        "\"rms_norm_eps\":1e-05,\"hidden_act\":\"situ\",\"activation_situ_beta\":4.0}";
    assert_int_equal(fixture_build(&f, NULL, "%s", json), 0);
    assert_true(fixture_unexplained(&f, "situ"));
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_count_from_one_or_from_zero),
        cmocka_unit_test(widths_of_the_delta_rule_come_from_its_own_keys),
        cmocka_unit_test(windows_are_those_that_the_families_code_has),
        cmocka_unit_test(layers_with_experts_are_the_families_own_choice),
        cmocka_unit_test(deepseek_routers_take_groups_and_a_list_of_layers),
        cmocka_unit_test(queries_without_a_rank_are_not_counted),
        cmocka_unit_test(routers_that_cannot_run_are_refused),
        cmocka_unit_test(key_decoupled_attention_is_read_from_its_own_keys),
        cmocka_unit_test(situ_needs_its_betas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
