#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "fixture_model.h"
#include "model/config.h"

static void expect_error(enum err_code code, const char *words, const char *json)
{
    struct fixture_model f;
    int rc = fixture_build(&f, NULL, "%s", json);
    if (rc != (int)code || !strstr(f.e.msg, words))
        fail_msg("%s\ngave %d \"%s\", not %d \"%s\"", json, rc, f.e.msg, code, words);
    fixture_end(&f);
}

static void unknown_architecture_is_named_and_never_guessed(void **state)
{
    (void)state;
    expect_error(ERR_UNSUPPORTED, "model_type \"mamba\", architectures \"MambaForCausalLM\"",
                 "{\"model_type\":\"mamba\",\"architectures\":[\"MambaForCausalLM\"]}");
    expect_error(ERR_UNSUPPORTED, "model_type \"\"", "{}");
    expect_error(ERR_UNSUPPORTED, "text_config.model_type \"gemma3_text\"",
                 "{\"model_type\":\"kimi_k25\",\"text_config\":{\"model_type\":\"gemma3_text\"}}");
    /* a llama inside another model's shell is not a llama of this layout */
    expect_error(ERR_UNSUPPORTED, "model_type \"llama\"",
                 "{\"model_type\":\"llama\",\"text_config\":{\"model_type\":\"llama\"}}");
    expect_error(ERR_UNSUPPORTED, "model_type \"kimi_k3\"", "{\"model_type\":\"kimi_k3\"}");
    /* names from outside are printed safely */
    expect_error(ERR_UNSUPPORTED, "a\\x1bb", "{\"model_type\":\"a\\u001bb\"}");
}

/* Serving shims and draft heads call themselves llama: the class that runs is what counts. */
static void model_type_of_another_class_is_refused(void **state)
{
    static const char *const classes[] = {"DeepseekV41ForCausalLM", "Qwen3ForCausalLM",
                                          "LlamaForSequenceClassification"};
    (void)state;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        struct fixture_model f;
        assert_int_equal(fixture_build(&f, NULL,
                                       "{\"model_type\":\"llama\",\"architectures\":[\"%s\"]}",
                                       classes[i]),
                         ERR_UNSUPPORTED);
        assert_non_null(strstr(f.e.msg, classes[i]));
        fixture_end(&f);
    }
}

static void needed_keys_are_named_when_missing_or_wrong(void **state)
{
    (void)state;
    expect_error(ERR_FORMAT, "config.json: hidden_size is missing", "{\"model_type\":\"llama\"}");
    expect_error(ERR_FORMAT, "hidden_size is a string, not a number",
                 "{\"model_type\":\"llama\",\"hidden_size\":\"64\"}");
    expect_error(ERR_FORMAT, "hidden_size is -64",
                 "{\"model_type\":\"llama\",\"hidden_size\":-64}");
    expect_error(ERR_FORMAT, "hidden_size is 64.5",
                 "{\"model_type\":\"llama\",\"hidden_size\":64.5}");
    expect_error(ERR_FORMAT, "hidden_size is 0, less than 1",
                 "{\"model_type\":\"llama\",\"hidden_size\":0}");
    expect_error(ERR_FORMAT, "model_type is a number", "{\"model_type\":1}");
    expect_error(ERR_FORMAT, "architectures[0] is", "{\"architectures\":[1]}");
    expect_error(ERR_FORMAT, "the config is an array", "[]");
    expect_error(ERR_FORMAT, "tie_word_embeddings is",
                 "{" FIXTURE_KIMI ",\"tie_word_embeddings\":1}");
}

static void limits_are_errors_that_name_them(void **state)
{
    (void)state;
    expect_error(ERR_LIMIT, "hidden_size is 1048577, over the limit of 1048576",
                 "{\"model_type\":\"llama\",\"hidden_size\":1048577}");
    expect_error(ERR_LIMIT, "num_hidden_layers is 4097, over the limit of 4096",
                 "{\"model_type\":\"llama\",\"hidden_size\":8,\"vocab_size\":8,"
                 "\"num_hidden_layers\":4097}");
    expect_error(ERR_LIMIT, "hidden_size is 1e+300, over the limit",
                 "{\"model_type\":\"llama\",\"hidden_size\":1e300}");
}

static const char *const mechanisms[] = {
    "\"sliding_window\":4096",
    "\"linear_num_key_heads\":16",
    "\"ssm_state_size\":128",
    "\"mamba_num_heads\":8",
    "\"hybrid_override_pattern\":\"M*E\"",
    "\"compress_ratios\":[4,128]",
    "\"index_topk\":2048",
    "\"indexer_head_dim\":128",
    "\"linear_attn_config\":{\"kda_layers\":[1]}",
    "\"kda_layers\":[1,2]",
    "\"attn_res_block_size\":12",
    "\"attnres_block_size\":6",
    "\"hc_mult\":4",
    "\"full_attention_interval\":4,\"linear_conv_kernel_dim\":4",
    "\"layer_types\":[\"full_attention\",\"linear_attention\"]",
    "\"layer_types\":[\"full_attention\"]",
    "\"attn_type_list\":[0,1]",
    "\"attention_type\":\"lightning\"",
    "\"kv_lora_rank\":512",
    "\"num_experts\":8",
    "\"num_local_experts\":8",
    "\"moe_latent_size\":1024",
    "\"num_kv_shared_layers\":2",
    "\"attention_k_eq_v\":true",
    "\"num_nextn_predict_layers\":1",
    "\"qkv_bias\":true",
    "\"use_qk_norm\":true",
    "\"attention_sink_suppression\":true",
    "\"draft_vocab_size\":32000",
    "\"residual_multiplier\":0.22",
    "\"swiglu_limit\":7.0",
    "\"hidden_act\":\"xielu\"",
};

static void keys_of_unknown_mechanisms_are_unexplained(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mechanisms / sizeof *mechanisms; i++) {
        struct fixture_model f;
        /* hidden_act stands twice else */
        bool act = strstr(mechanisms[i], "hidden_act") != NULL;
        const char *base = "\"model_type\":\"llama\",\"hidden_size\":64,\"intermediate_size\":160,"
                           "\"num_hidden_layers\":2,\"num_attention_heads\":4,\"vocab_size\":100,"
                           "\"rms_norm_eps\":1e-05";
        if (fixture_build(&f, NULL, "{%s,%s%s}", base, mechanisms[i],
                          act ? "" : ",\"hidden_act\":\"silu\""))
            fail_msg("%s: %s", mechanisms[i], f.e.msg);
        if (f.m.unexplained_count == 0)
            fail_msg("%s was passed over", mechanisms[i]);
        fixture_end(&f);
    }
}

static void keys_that_say_none_or_nothing_of_shapes_are_fine(void **state)
{
    struct fixture_model f;
    (void)state;
    assert_int_equal(
        fixture_build(&f, NULL,
                      "{" FIXTURE_LLAMA ",\"sliding_window\":131072,\"use_sliding_window\":false,"
                      "\"max_window_layers\":28,\"index_topk\":null,\"num_experts\":0,"
                      "\"hybrid_override_pattern\":\"\",\"mlp_only_layers\":[],\"qkv_bias\":false,"
                      "\"layer_types\":[\"full_attention\",\"full_attention\"],\"top_k\":50,"
                      "\"rope_theta\":1e6,\"rope_scaling\":{\"rope_type\":\"yarn\"},"
                      "\"router_aux_loss_coef\":0.001,\"num_beam_groups\":1,"
                      "\"no_repeat_ngram_size\":3,\"initializer_range\":0.02,\"use_cache\":true}"),
        0);
    if (f.m.unexplained_count)
        fail_msg("%s", f.m.unexplained[0]);
    fixture_end(&f);
}

static void defaults_that_files_contradict_are_not_taken(void **state)
{
    struct fixture_model f;
    (void)state;
    assert_int_equal(fixture_build(&f, NULL,
                                   "{\"model_type\":\"llama\",\"hidden_size\":64,"
                                   "\"intermediate_size\":160,\"num_hidden_layers\":2,"
                                   "\"num_attention_heads\":4,\"vocab_size\":100}"),
                     0);
    assert_true(fixture_unexplained(&f, "rms_norm_eps is missing"));
    assert_true(fixture_unexplained(&f, "hidden_act is missing"));
    fixture_end(&f);
}

static void a_flood_of_unexplained_keys_is_counted(void **state)
{
    struct fixture_model f;
    char keys[8192];
    size_t n = 0;
    (void)state;
    for (int i = 0; i < 100; i++)
        n += (size_t)snprintf(keys + n, sizeof keys - n, ",\"mamba_%03d\":1", i);
    assert_int_equal(fixture_build(&f, NULL, "{" FIXTURE_LLAMA "%s}", keys), 0);
    assert_int_equal(f.m.unexplained_count, CONFIG_UNEXPLAINED_MAX + 1);
    assert_string_equal(f.m.unexplained[0], "mamba_000");
    assert_string_equal(f.m.unexplained[CONFIG_UNEXPLAINED_MAX], "36 more");
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_architecture_is_named_and_never_guessed),
        cmocka_unit_test(model_type_of_another_class_is_refused),
        cmocka_unit_test(needed_keys_are_named_when_missing_or_wrong),
        cmocka_unit_test(limits_are_errors_that_name_them),
        cmocka_unit_test(keys_of_unknown_mechanisms_are_unexplained),
        cmocka_unit_test(keys_that_say_none_or_nothing_of_shapes_are_fine),
        cmocka_unit_test(defaults_that_files_contradict_are_not_taken),
        cmocka_unit_test(a_flood_of_unexplained_keys_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
