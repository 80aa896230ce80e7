#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "fixture_model.h"
#include "model/cost.h"
#include "model/expect.h"
#include "model/quant.h"

/* Small models with the tensors that their released kin has: names and shapes by the published
 * layouts. Nothing may be left over or missing, and both ways of counting give one number. */

static void weight(struct fixture_tensors *t, uint64_t rows, uint64_t cols, const char *name)
{
    FIXTURE_BF16(t, FIXTURE_DIMS(rows, cols), "%s", name);
}

static void in_layer(struct fixture_tensors *t, const char *prefix, unsigned i, const char *name,
                     const uint64_t dims[4])
{
    FIXTURE_BF16(t, dims, "%slayers.%u.%s", prefix, i, name);
}

static void agree(struct fixture_model *f, struct fixture_tensors *t, const char *what)
{
    struct cost c;
    struct cost_stored s;
    for (size_t i = 0; i < f->findings.count; i++)
        if (f->findings.items[i].severity >= FINDING_WARN)
            fail_msg("%s: %s", what, f->findings.items[i].text);
    if (cost_of(&f->m, &c, &f->e) || cost_stored_of(&f->m, &t->inv, &s, &f->e))
        fail_msg("%s: %s", what, f->e.msg);
    if (!c.params_known || c.params_total != s.params - s.params_other - s.params_mtp)
        fail_msg("%s: %llu by the config, %llu stored: %s", what,
                 (unsigned long long)c.params_total, (unsigned long long)s.params, c.params_why);
    cost_release(&c);
}

static uint64_t total(struct fixture_model *f)
{
    struct cost c;
    assert_int_equal(cost_of(&f->m, &c, &f->e), 0);
    uint64_t n = c.params_total;
    cost_release(&c);
    return n;
}

/* --- Qwen's hybrids */

#define QWEN_KEYS                                                                             \
    "\"hidden_size\":64,\"intermediate_size\":96,\"vocab_size\":100,\"hidden_act\":\"silu\"," \
    "\"rms_norm_eps\":1e-06,\"num_hidden_layers\":2,\"num_attention_heads\":4,"               \
    "\"num_key_value_heads\":2,\"head_dim\":16,\"linear_num_key_heads\":2,"                   \
    "\"linear_num_value_heads\":4,\"linear_key_head_dim\":8,\"linear_value_head_dim\":16,"    \
    "\"linear_conv_kernel_dim\":4,\"dtype\":\"bfloat16\",\"full_attention_interval\":2,"      \
    "\"num_experts\":4,\"num_experts_per_tok\":2,\"moe_intermediate_size\":24,"               \
    "\"shared_expert_intermediate_size\":40,\"norm_topk_prob\":true"

static void gated_delta(struct fixture_tensors *t, const char *p, bool joint)
{
    if (joint) {
        in_layer(t, p, 0, "linear_attn.in_proj_qkvz.weight", FIXTURE_DIMS(16 + 16 + 64 + 64, 64));
        in_layer(t, p, 0, "linear_attn.in_proj_ba.weight", FIXTURE_DIMS(8, 64));
    } else {
        in_layer(t, p, 0, "linear_attn.in_proj_qkv.weight", FIXTURE_DIMS(16 + 16 + 64, 64));
        in_layer(t, p, 0, "linear_attn.in_proj_z.weight", FIXTURE_DIMS(64, 64));
        in_layer(t, p, 0, "linear_attn.in_proj_b.weight", FIXTURE_DIMS(4, 64));
        in_layer(t, p, 0, "linear_attn.in_proj_a.weight", FIXTURE_DIMS(4, 64));
    }
    in_layer(t, p, 0, "linear_attn.conv1d.weight", FIXTURE_DIMS(96, 1, 4));
    in_layer(t, p, 0, "linear_attn.A_log", FIXTURE_DIMS(4));
    in_layer(t, p, 0, "linear_attn.dt_bias", FIXTURE_DIMS(4));
    in_layer(t, p, 0, "linear_attn.norm.weight", FIXTURE_DIMS(16));
    in_layer(t, p, 0, "linear_attn.out_proj.weight", FIXTURE_DIMS(64, 64));
}

/* The query projection has a second half, the gate. */
static void gated_attention(struct fixture_tensors *t, const char *p)
{
    in_layer(t, p, 1, "self_attn.q_proj.weight", FIXTURE_DIMS(128, 64));
    in_layer(t, p, 1, "self_attn.k_proj.weight", FIXTURE_DIMS(32, 64));
    in_layer(t, p, 1, "self_attn.v_proj.weight", FIXTURE_DIMS(32, 64));
    in_layer(t, p, 1, "self_attn.o_proj.weight", FIXTURE_DIMS(64, 64));
    in_layer(t, p, 1, "self_attn.q_norm.weight", FIXTURE_DIMS(16));
    in_layer(t, p, 1, "self_attn.k_norm.weight", FIXTURE_DIMS(16));
}

static void qwen_experts(struct fixture_tensors *t, const char *p, unsigned i, bool joint)
{
    char name[96];
    in_layer(t, p, i, "mlp.gate.weight", FIXTURE_DIMS(4, 64));
    in_layer(t, p, i, "mlp.shared_expert_gate.weight", FIXTURE_DIMS(1, 64));
    in_layer(t, p, i, "mlp.shared_expert.gate_proj.weight", FIXTURE_DIMS(40, 64));
    in_layer(t, p, i, "mlp.shared_expert.up_proj.weight", FIXTURE_DIMS(40, 64));
    in_layer(t, p, i, "mlp.shared_expert.down_proj.weight", FIXTURE_DIMS(64, 40));
    in_layer(t, p, i, "input_layernorm.weight", FIXTURE_DIMS(64));
    in_layer(t, p, i, "post_attention_layernorm.weight", FIXTURE_DIMS(64));
    if (joint) {
        in_layer(t, p, i, "mlp.experts.gate_up_proj", FIXTURE_DIMS(4, 48, 64));
        in_layer(t, p, i, "mlp.experts.down_proj", FIXTURE_DIMS(4, 64, 24));
    }
    for (unsigned k = 0; !joint && k < 4; k++) {
        snprintf(name, sizeof name, "mlp.experts.%u.gate_proj.weight", k);
        in_layer(t, p, i, name, FIXTURE_DIMS(24, 64));
        snprintf(name, sizeof name, "mlp.experts.%u.up_proj.weight", k);
        in_layer(t, p, i, name, FIXTURE_DIMS(24, 64));
        snprintf(name, sizeof name, "mlp.experts.%u.down_proj.weight", k);
        in_layer(t, p, i, name, FIXTURE_DIMS(64, 24));
    }
}

static void hybrids_of_qwen_have_their_tensors(void **state)
{
    (void)state;
    for (int newer = 0; newer < 2; newer++) {
        const char *p = newer ? "model.language_model." : "model.";
        struct fixture_tensors t;
        struct fixture_model f;
        fixture_tensors_start(&t);
        FIXTURE_BF16(&t, FIXTURE_DIMS(100, 64), "%sembed_tokens.weight", p);
        FIXTURE_BF16(&t, FIXTURE_DIMS(64), "%snorm.weight", p);
        weight(&t, 100, 64, "lm_head.weight");
        gated_delta(&t, p, !newer);
        gated_attention(&t, p);
        qwen_experts(&t, p, 0, newer);
        qwen_experts(&t, p, 1, newer);
        if (newer)
            weight(&t, 30, 20, "model.visual.blocks.0.attn.qkv.weight");
        weight(&t, 10, 7, "mtp.layers.0.mlp.gate.weight");
        weight(&t, 10, 3, "mtp.fc.weight");
        fixture_tensors_finish(&t);
        if (fixture_build(&f, &t.inv,
                          newer ? "{\"model_type\":\"qwen3_5_moe\",\"text_config\":{"
                                  "\"model_type\":\"qwen3_5_moe_text\"," QWEN_KEYS "}}"
                                : "{\"model_type\":\"qwen3_next\"," QWEN_KEYS "}"))
            fail_msg("%s", f.e.msg);
        agree(&f, &t, newer ? "newer" : "older");
        struct cost_stored s;
        assert_int_equal(cost_stored_of(&f.m, &t.inv, &s, &f.e), 0);
        assert_int_equal(s.params_other, newer ? 600 : 0);
        assert_int_equal(s.params_mtp, 100);
        assert_int_equal(s.params, s.params_other + s.params_mtp + total(&f));
        assert_int_equal(f.m.layers[1].mixer.key_dim, 16);
        fixture_end(&f);
        fixture_tensors_end(&t);
    }
}

/* --- Nemotron's layers of one thing each */

static void nemotron_tensors(struct fixture_tensors *t)
{
    static const char p[] = "backbone.";
    char name[96];
    fixture_tensors_start(t);
    weight(t, 100, 64, "backbone.embeddings.weight");
    FIXTURE_BF16(t, FIXTURE_DIMS(64), "backbone.norm_f.weight");
    weight(t, 100, 64, "lm_head.weight");
    for (unsigned i = 0; i < 4; i++)
        in_layer(t, p, i, "norm.weight", FIXTURE_DIMS(64));
    /* 4 heads of 16, 2 groups of state 8: inner 64, convolution 96 */
    in_layer(t, p, 0, "mixer.in_proj.weight", FIXTURE_DIMS(64 + 96 + 4, 64));
    in_layer(t, p, 0, "mixer.conv1d.weight", FIXTURE_DIMS(96, 1, 4));
    in_layer(t, p, 0, "mixer.conv1d.bias", FIXTURE_DIMS(96));
    in_layer(t, p, 0, "mixer.A_log", FIXTURE_DIMS(4));
    in_layer(t, p, 0, "mixer.D", FIXTURE_DIMS(4));
    in_layer(t, p, 0, "mixer.dt_bias", FIXTURE_DIMS(4));
    in_layer(t, p, 0, "mixer.norm.weight", FIXTURE_DIMS(64));
    in_layer(t, p, 0, "mixer.out_proj.weight", FIXTURE_DIMS(64, 64));
    in_layer(t, p, 1, "mixer.gate.weight", FIXTURE_DIMS(4, 64));
    in_layer(t, p, 1, "mixer.gate.e_score_correction_bias", FIXTURE_DIMS(4));
    in_layer(t, p, 1, "mixer.fc1_latent_proj.weight", FIXTURE_DIMS(32, 64));
    in_layer(t, p, 1, "mixer.fc2_latent_proj.weight", FIXTURE_DIMS(64, 32));
    in_layer(t, p, 1, "mixer.shared_experts.up_proj.weight", FIXTURE_DIMS(48, 64));
    in_layer(t, p, 1, "mixer.shared_experts.down_proj.weight", FIXTURE_DIMS(64, 48));
    for (unsigned k = 0; k < 4; k++) {
        snprintf(name, sizeof name, "mixer.experts.%u.up_proj.weight", k);
        in_layer(t, p, 1, name, FIXTURE_DIMS(24, 32));
        snprintf(name, sizeof name, "mixer.experts.%u.down_proj.weight", k);
        in_layer(t, p, 1, name, FIXTURE_DIMS(32, 24));
    }
    in_layer(t, p, 2, "mixer.q_proj.weight", FIXTURE_DIMS(64, 64));
    in_layer(t, p, 2, "mixer.k_proj.weight", FIXTURE_DIMS(16, 64));
    in_layer(t, p, 2, "mixer.v_proj.weight", FIXTURE_DIMS(16, 64));
    in_layer(t, p, 2, "mixer.o_proj.weight", FIXTURE_DIMS(64, 64));
    in_layer(t, p, 3, "mixer.up_proj.weight", FIXTURE_DIMS(80, 64));
    in_layer(t, p, 3, "mixer.down_proj.weight", FIXTURE_DIMS(64, 80));
    fixture_tensors_finish(t);
}

static void nemotron_has_its_tensors(void **state)
{
    struct fixture_tensors t;
    struct fixture_model f;
    (void)state;
    nemotron_tensors(&t);
    if (fixture_build(&f, &t.inv,
                      "{\"model_type\":\"nemotron_h\",\"hidden_size\":64,\"vocab_size\":100,"
                      "\"hybrid_override_pattern\":\"ME*-\",\"num_hidden_layers\":4,"
                      "\"num_attention_heads\":4,\"num_key_value_heads\":1,\"head_dim\":16,"
                      "\"mamba_num_heads\":4,\"mamba_head_dim\":16,\"ssm_state_size\":8,"
                      "\"n_groups\":2,\"conv_kernel\":4,\"use_conv_bias\":true,"
                      "\"mlp_hidden_act\":\"relu2\",\"layer_norm_epsilon\":1e-05,"
                      "\"intermediate_size\":80,\"n_routed_experts\":4,\"num_experts_per_tok\":2,"
                      "\"moe_intermediate_size\":24,\"moe_latent_size\":32,"
                      "\"moe_shared_expert_intermediate_size\":48,\"n_shared_experts\":1,"
                      "\"norm_topk_prob\":true,\"dtype\":\"bfloat16\"}"))
        fail_msg("%s", f.e.msg);
    agree(&f, &t, "nemotron_h");
    assert_int_equal(f.m.layers[1].ffn.kind, FFN_MOE_LATENT);
    assert_int_equal(f.m.layers[1].mixer.kind, MIXER_NONE);
    assert_int_equal(f.m.layers[2].ffn.kind, FFN_NONE);
    fixture_end(&f);
    fixture_tensors_end(&t);
}

/* --- gpt-oss: packed blocks, biases, sinks */

static void packed_experts_of_gpt_oss_are_counted_unpacked(void **state)
{
    struct fixture_tensors t;
    struct fixture_model f;
    static const char p[] = "model.";
    (void)state;
    fixture_tensors_start(&t);
    weight(&t, 100, 64, "model.embed_tokens.weight");
    FIXTURE_BF16(&t, FIXTURE_DIMS(64), "model.norm.weight");
    weight(&t, 100, 64, "lm_head.weight");
    for (unsigned i = 0; i < 2; i++) {
        in_layer(&t, p, i, "self_attn.q_proj.weight", FIXTURE_DIMS(64, 64));
        in_layer(&t, p, i, "self_attn.k_proj.weight", FIXTURE_DIMS(32, 64));
        in_layer(&t, p, i, "self_attn.v_proj.weight", FIXTURE_DIMS(32, 64));
        in_layer(&t, p, i, "self_attn.o_proj.weight", FIXTURE_DIMS(64, 64));
        in_layer(&t, p, i, "self_attn.q_proj.bias", FIXTURE_DIMS(64));
        in_layer(&t, p, i, "self_attn.k_proj.bias", FIXTURE_DIMS(32));
        in_layer(&t, p, i, "self_attn.v_proj.bias", FIXTURE_DIMS(32));
        in_layer(&t, p, i, "self_attn.o_proj.bias", FIXTURE_DIMS(64));
        in_layer(&t, p, i, "self_attn.sinks", FIXTURE_DIMS(4));
        in_layer(&t, p, i, "input_layernorm.weight", FIXTURE_DIMS(64));
        in_layer(&t, p, i, "post_attention_layernorm.weight", FIXTURE_DIMS(64));
        in_layer(&t, p, i, "mlp.router.weight", FIXTURE_DIMS(4, 64));
        in_layer(&t, p, i, "mlp.router.bias", FIXTURE_DIMS(4));
        in_layer(&t, p, i, "mlp.experts.gate_up_proj_bias", FIXTURE_DIMS(4, 192));
        in_layer(&t, p, i, "mlp.experts.down_proj_bias", FIXTURE_DIMS(4, 64));
        /* 32 values of 4 bits in 16 bytes, a scale for each 32 */
        fixture_tensor(&t, "U8", 8, FIXTURE_DIMS(4, 192, 2, 16),
                       "model.layers.%u.mlp.experts.gate_up_proj_blocks", i);
        fixture_tensor(&t, "U8", 8, FIXTURE_DIMS(4, 192, 2),
                       "model.layers.%u.mlp.experts.gate_up_proj_scales", i);
        fixture_tensor(&t, "U8", 8, FIXTURE_DIMS(4, 64, 3, 16),
                       "model.layers.%u.mlp.experts.down_proj_blocks", i);
        fixture_tensor(&t, "U8", 8, FIXTURE_DIMS(4, 64, 3),
                       "model.layers.%u.mlp.experts.down_proj_scales", i);
    }
    fixture_tensors_finish(&t);
    if (fixture_build(&f, &t.inv,
                      "{\"model_type\":\"gpt_oss\",\"hidden_size\":64,\"intermediate_size\":96,"
                      "\"vocab_size\":100,\"hidden_act\":\"silu\",\"rms_norm_eps\":1e-05,"
                      "\"num_hidden_layers\":2,\"num_attention_heads\":4,"
                      "\"num_key_value_heads\":2,\"head_dim\":16,\"num_local_experts\":4,"
                      "\"num_experts_per_tok\":2,\"sliding_window\":128,\"attention_bias\":true}"))
        fail_msg("%s", f.e.msg);
    agree(&f, &t, "gpt_oss");
    struct quant_observed o;
    assert_int_equal(quant_observed_of(&f.m, &t.inv, &o, &f.e), 0);
    char names[QUANT_NAMES_BYTES];
    assert_string_equal(quant_observed_names(&o, QUANT_ROUTED_EXPERTS, names), "mxfp4-blocks");
    fixture_end(&f);
    fixture_tensors_end(&t);
}

/* --- an index that the config does not name */

static void an_index_in_the_tensors_alone_is_not_understood(void **state)
{
    struct fixture_tensors t;
    struct fixture_model f;
    struct cost c;
    (void)state;
    fixture_tensors_start(&t);
    fixture_llama_outer(&t, "model.", "lm_head.weight");
    fixture_llama_layer(&t, "model.", 0, 32, 32, 160);
    fixture_llama_layer(&t, "model.", 1, 32, 32, 160);
    in_layer(&t, "model.", 1, "self_attn.indexer.wk.weight", FIXTURE_DIMS(16, 64));
    fixture_tensors_finish(&t);
    assert_int_equal(fixture_build(&f, &t.inv, "{" FIXTURE_LLAMA "}"), 0);
    assert_int_equal(cost_of(&f.m, &c, &f.e), ERR_UNSUPPORTED);
    assert_non_null(strstr(f.e.msg, "self_attn.indexer.wk"));
    fixture_end(&f);
    fixture_tensors_end(&t);
}

/* A parameter of the feed-forward that is not understood changes no cache. */
static void an_extra_norm_leaves_the_cache_known(void **state)
{
    struct fixture_tensors t;
    struct fixture_model f;
    struct cost c;
    (void)state;
    fixture_tensors_start(&t);
    fixture_llama_outer(&t, "model.", "lm_head.weight");
    fixture_llama_layer(&t, "model.", 0, 32, 32, 160);
    fixture_llama_layer(&t, "model.", 1, 32, 32, 160);
    in_layer(&t, "model.", 0, "post_feedforward_layernorm.weight", FIXTURE_DIMS(64));
    fixture_tensors_finish(&t);
    assert_int_equal(fixture_build(&f, &t.inv, "{" FIXTURE_LLAMA "}"), 0);
    assert_int_equal(cost_of(&f.m, &c, &f.e), 0);
    assert_false(c.params_known);
    assert_non_null(strstr(c.params_why, "post_feedforward_layernorm"));
    assert_int_equal(c.cache_token_bytes, 256);
    cost_release(&c);
    fixture_end(&f);
    fixture_tensors_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hybrids_of_qwen_have_their_tensors),
        cmocka_unit_test(nemotron_has_its_tensors),
        cmocka_unit_test(packed_experts_of_gpt_oss_are_counted_unpacked),
        cmocka_unit_test(an_index_in_the_tensors_alone_is_not_understood),
        cmocka_unit_test(an_extra_norm_leaves_the_cache_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
