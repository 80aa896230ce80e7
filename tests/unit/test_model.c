#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "fixture_model.h"
#include "model/cost.h"
#include "model/operators.h"
#include <dirent.h>

/* --- the tensors confirm */

static void a_checkpoint_that_fits_its_config_has_no_findings(void **state)
{
    struct fixture_tensors t;
    struct fixture_model f;
    struct cost_stored s;
    (void)state;
    fixture_tensors_start(&t);
    fixture_llama_outer(&t, "model.", "lm_head.weight");
    fixture_llama_layer(&t, "model.", 0, 32, 32, 160);
    fixture_llama_layer(&t, "model.", 1, 32, 32, 160);
    fixture_tensors_finish(&t);
    assert_int_equal(fixture_build(&f, &t.inv, "{" FIXTURE_LLAMA "}"), 0);
    if (f.findings.count)
        fail_msg("%s", f.findings.items[0].text);
    assert_int_equal(f.m.unexplained_count, 0);
    assert_int_equal(cost_stored_of(&f.m, &t.inv, &s, &f.e), 0);
    assert_int_equal(s.params, 99136);
    assert_int_equal(s.bytes, 2 * 99136);
    assert_int_equal(s.params_padding, 0);
    fixture_end(&f);
    fixture_tensors_end(&t);
}

static void the_prefix_is_read_from_the_tensors(void **state)
{
    struct fixture_tensors t;
    struct fixture_model f;
    (void)state;
    fixture_tensors_start(&t);
    fixture_llama_outer(&t, "vlm.language_model.model.", "vlm.language_model.lm_head.weight");
    fixture_llama_layer(&t, "vlm.language_model.model.", 0, 32, 32, 160);
    fixture_llama_layer(&t, "vlm.language_model.model.", 1, 32, 32, 160);
    FIXTURE_BF16(&t, FIXTURE_DIMS(7, 7), "vision_tower.patch.weight");
    fixture_tensors_finish(&t);
    assert_int_equal(fixture_build(&f, &t.inv, "{" FIXTURE_LLAMA "}"), 0);
    assert_string_equal(f.m.prefix, "vlm.language_model.model.");
    /* a llama has no tower; what stands beside its text model is told */
    assert_int_equal(f.findings.count, 1);
    assert_non_null(fixture_finding(&f, "tensor-unexpected", "vision_tower.patch"));
    fixture_end(&f);
    fixture_tensors_end(&t);
}

static void widths_follow_the_tensors_and_both_sides_are_told(void **state)
{
    struct fixture_tensors t;
    struct fixture_model f;
    struct cost c;
    (void)state;
    fixture_tensors_start(&t);
    fixture_llama_outer(&t, "model.", "lm_head.weight");
    fixture_llama_layer(&t, "model.", 0, 64, 64, 192);
    fixture_llama_layer(&t, "model.", 1, 64, 64, 192);
    fixture_tensors_finish(&t);
    assert_int_equal(fixture_build(&f, &t.inv, "{" FIXTURE_LLAMA "}"), 0);
    const struct finding *x = fixture_finding(&f, "config-tensor-differs", "key heads: 4 by the");
    assert_non_null(x);
    assert_non_null(strstr(x->text, "2 by the config"));
    assert_non_null(strstr(x->text, "layers 0, 1"));
    assert_int_equal(x->severity, FINDING_WARN);
    assert_non_null(fixture_finding(&f, "config-tensor-differs", "192 by the tensors, 160 by"));
    assert_int_equal(f.m.layers[1].mixer.key_heads, 4);
    assert_int_equal(f.m.layers[1].ffn.inner, 192);
    assert_int_equal(cost_of(&f.m, &c, &f.e), 0);
    assert_int_equal(c.params_total, 99136 + 2 * (2 * 32 * 64 + 3 * 32 * 64));
    cost_release(&c);
    fixture_end(&f);
    fixture_tensors_end(&t);
}

/* Head counts of keys and values that differ are what grouped queries cannot explain. */
static void decoupled_keys_are_read_from_tensors_alone(void **state)
{
    struct fixture_tensors t;
    struct fixture_model f;
    (void)state;
    fixture_tensors_start(&t);
    fixture_llama_outer(&t, "model.", "lm_head.weight");
    fixture_llama_layer(&t, "model.", 0, 32, 32, 160);
    fixture_llama_layer(&t, "model.", 1, 16, 64, 160);
    fixture_tensors_finish(&t);
    assert_int_equal(fixture_build(&f, &t.inv, "{" FIXTURE_LLAMA "}"), 0);
    assert_int_equal(f.m.layers[0].mixer.kind, MIXER_GQA);
    assert_int_equal(f.m.layers[1].mixer.kind, MIXER_KEY_DECOUPLED);
    assert_int_equal(f.m.layers[1].mixer.key_heads, 1);
    assert_int_equal(f.m.layers[1].mixer.value_heads, 4);
    assert_non_null(fixture_finding(&f, "config-tensor-differs",
                                    "key_decoupled by the tensors, gqa by the config in layer 1"));
    fixture_end(&f);
    fixture_tensors_end(&t);
}

static void what_is_missing_or_too_much_is_found(void **state)
{
    struct fixture_tensors t;
    struct fixture_model f;
    struct cost c;
    (void)state;
    fixture_tensors_start(&t);
    fixture_llama_outer(&t, "model.", NULL);
    fixture_llama_layer(&t, "model.", 0, 32, 32, 160);
    FIXTURE_F32(&t, FIXTURE_DIMS(4), "model.layers.0.self_attn.sinks");
    FIXTURE_F32(&t, FIXTURE_DIMS(8), "model.layers.0.self_attn.rotary_emb.inv_freq");
    fixture_llama_layer(&t, "model.", 2, 32, 32, 160);
    fixture_tensors_finish(&t);
    assert_int_equal(fixture_build(&f, &t.inv, "{" FIXTURE_LLAMA "}"), 0);
    assert_non_null(fixture_finding(&f, "tensor-missing",
                                    "self_attn.q_proj.weight is not in the "
                                    "tensors in layer 1"));
    assert_non_null(fixture_finding(&f, "layer-extra", "in layer 2"));
    assert_non_null(fixture_finding(&f, "config-tensor-differs", "lm_head.weight is not in the"));
    assert_true(f.m.tied_embeddings);
    /* something that the config does not tell: no cost */
    assert_non_null(fixture_finding(&f, "tensor-unexpected", "self_attn.sinks"));
    assert_true(fixture_unexplained(&f, "tensor self_attn.sinks"));
    assert_null(fixture_finding(&f, "tensor-unexpected", "inv_freq"));
    assert_int_equal(cost_of(&f.m, &c, &f.e), ERR_UNSUPPORTED);
    fixture_end(&f);
    fixture_tensors_end(&t);
}

static void shapes_that_no_width_explains_are_told(void **state)
{
    struct fixture_tensors t;
    struct fixture_model f;
    (void)state;
    fixture_tensors_start(&t);
    fixture_llama_outer(&t, "model.", "lm_head.weight");
    fixture_llama_layer(&t, "model.", 0, 33, 32, 160);
    fixture_llama_layer(&t, "model.", 1, 32, 32, 160);
    fixture_tensors_finish(&t);
    assert_int_equal(fixture_build(&f, &t.inv, "{" FIXTURE_LLAMA "}"), 0);
    assert_non_null(fixture_finding(&f, "config-tensor-differs",
                                    "self_attn.k_proj.weight is BF16 [33, 64] in the headers, the "
                                    "config gives [32, 64] in layer 0"));
    assert_true(fixture_unexplained(&f, "shape of self_attn.k_proj.weight"));
    fixture_end(&f);
    fixture_tensors_end(&t);
}

static void a_tied_head_that_is_stored_is_a_note(void **state)
{
    struct fixture_tensors t;
    struct fixture_model f;
    (void)state;
    fixture_tensors_start(&t);
    fixture_llama_outer(&t, "model.", "lm_head.weight");
    fixture_llama_layer(&t, "model.", 0, 32, 32, 160);
    fixture_tensors_finish(&t);
    assert_int_equal(
        fixture_build(&f, &t.inv,
                      "{\"model_type\":\"llama\",\"hidden_size\":64,\"intermediate_size\":160,"
                      "\"num_hidden_layers\":1,\"num_attention_heads\":4,"
                      "\"num_key_value_heads\":2,\"vocab_size\":100,\"hidden_act\":\"silu\","
                      "\"rms_norm_eps\":1e-05,\"tie_word_embeddings\":true}"),
        0);
    assert_int_equal(fixture_findings(&f, FINDING_WARN), 0);
    assert_non_null(fixture_finding(&f, "head-stored-twice", "lm_head.weight"));
    assert_true(f.m.tied_embeddings);
    fixture_end(&f);
    fixture_tensors_end(&t);
}

static void tensors_of_another_model_are_told_and_the_config_speaks(void **state)
{
    struct fixture_tensors t;
    struct fixture_model f;
    (void)state;
    fixture_tensors_start(&t);
    FIXTURE_F32(&t, FIXTURE_DIMS(4, 4), "encoder.weight");
    fixture_tensors_finish(&t);
    assert_int_equal(fixture_build(&f, &t.inv, "{" FIXTURE_LLAMA "}"), 0);
    assert_non_null(fixture_finding(&f, "config-tensor-differs", "is not in these files"));
    fixture_end(&f);
    fixture_tensors_end(&t);
}

/* --- Kimi's layers */

#define KIMI_LISTS(lists)                              \
    "{" FIXTURE_KIMI ",\"linear_attn_config\":{" lists \
    "\"num_heads\":2,\"head_dim\":8,\"short_conv_kernel_size\":4}}"
#define KIMI KIMI_LISTS("\"full_attn_layers\":[4],\"kda_layers\":[1,2,3],")

static void kda_layer(struct fixture_tensors *t, unsigned i, uint64_t a_log, bool fused)
{
    static const char letters[] = "qkv";
    char p[64];
    snprintf(p, sizeof p, "model.layers.%u.self_attn.", i);
    const char *g = fused ? "forget_gate." : "";
    for (int k = 0; k < 3; k++) {
        FIXTURE_BF16(t, FIXTURE_DIMS(16, 32), "%s%c_proj.weight", p, letters[k]);
        if (!fused)
            FIXTURE_F32(t, FIXTURE_DIMS(16, 1, 4), "%s%c_conv1d.weight", p, letters[k]);
    }
    if (fused)
        FIXTURE_F32(t, FIXTURE_DIMS(48, 1, 4), "%sconv1d.weight", p);
    FIXTURE_BF16(t, FIXTURE_DIMS(8, 32), "%s%sf_a_proj.weight", p, g);
    FIXTURE_BF16(t, FIXTURE_DIMS(16, 8), "%s%sf_b_proj.weight", p, g);
    FIXTURE_F32(t, FIXTURE_DIMS(a_log), "%s%sA_log", p, g);
    FIXTURE_F32(t, FIXTURE_DIMS(16), "%s%sdt_bias", p, g);
    FIXTURE_BF16(t, FIXTURE_DIMS(2, 32), "%sb_proj.weight", p);
    FIXTURE_BF16(t, FIXTURE_DIMS(8, 32), "%sg_a_proj.weight", p);
    FIXTURE_BF16(t, FIXTURE_DIMS(16, 8), "%sg_b_proj.weight", p);
    FIXTURE_F32(t, FIXTURE_DIMS(8), "%so_norm.weight", p);
    FIXTURE_BF16(t, FIXTURE_DIMS(32, 16), "%so_proj.weight", p);
}

static void mla_layer(struct fixture_tensors *t, unsigned i)
{
    char p[64];
    snprintf(p, sizeof p, "model.layers.%u.self_attn.", i);
    FIXTURE_BF16(t, FIXTURE_DIMS(24, 32), "%sq_proj.weight", p);
    FIXTURE_BF16(t, FIXTURE_DIMS(16, 32), "%skv_a_proj_with_mqa.weight", p);
    FIXTURE_BF16(t, FIXTURE_DIMS(12), "%skv_a_layernorm.weight", p);
    FIXTURE_BF16(t, FIXTURE_DIMS(32, 12), "%skv_b_proj.weight", p);
    FIXTURE_BF16(t, FIXTURE_DIMS(32, 16), "%so_proj.weight", p);
}

static void kimi_rest(struct fixture_tensors *t, unsigned i, unsigned experts)
{
    char p[64];
    snprintf(p, sizeof p, "model.layers.%u.", i);
    FIXTURE_BF16(t, FIXTURE_DIMS(32), "%sinput_layernorm.weight", p);
    FIXTURE_BF16(t, FIXTURE_DIMS(32), "%spost_attention_layernorm.weight", p);
    if (!i) {
        FIXTURE_BF16(t, FIXTURE_DIMS(48, 32), "%smlp.gate_proj.weight", p);
        FIXTURE_BF16(t, FIXTURE_DIMS(48, 32), "%smlp.up_proj.weight", p);
        FIXTURE_BF16(t, FIXTURE_DIMS(32, 48), "%smlp.down_proj.weight", p);
        return;
    }
    FIXTURE_BF16(t, FIXTURE_DIMS(experts, 32), "%sblock_sparse_moe.gate.weight", p);
    FIXTURE_F32(t, FIXTURE_DIMS(experts), "%sblock_sparse_moe.gate.e_score_correction_bias", p);
    for (unsigned k = 0; k < experts; k++) {
        FIXTURE_BF16(t, FIXTURE_DIMS(16, 32), "%sblock_sparse_moe.experts.%u.w1.weight", p, k);
        FIXTURE_BF16(t, FIXTURE_DIMS(32, 16), "%sblock_sparse_moe.experts.%u.w2.weight", p, k);
        FIXTURE_BF16(t, FIXTURE_DIMS(16, 32), "%sblock_sparse_moe.experts.%u.w3.weight", p, k);
    }
    FIXTURE_BF16(t, FIXTURE_DIMS(16, 32), "%sblock_sparse_moe.shared_experts.gate_proj.weight", p);
    FIXTURE_BF16(t, FIXTURE_DIMS(16, 32), "%sblock_sparse_moe.shared_experts.up_proj.weight", p);
    FIXTURE_BF16(t, FIXTURE_DIMS(32, 16), "%sblock_sparse_moe.shared_experts.down_proj.weight", p);
}

static void kimi_start(struct fixture_tensors *t)
{
    fixture_tensors_start(t);
    FIXTURE_BF16(t, FIXTURE_DIMS(64, 32), "model.embed_tokens.weight");
    FIXTURE_BF16(t, FIXTURE_DIMS(32), "model.norm.weight");
    FIXTURE_BF16(t, FIXTURE_DIMS(64, 32), "lm_head.weight");
}

static void kda_is_told_from_key_decoupled_by_its_tensors(void **state)
{
    struct fixture_model f;
    (void)state;
    for (int fused = 0; fused < 2; fused++) {
        struct fixture_tensors t;
        struct cost_stored s;
        struct cost c;
        kimi_start(&t);
        for (unsigned i = 0; i < 4; i++) {
            if (i < 3)
                kda_layer(&t, i, 2, fused);
            else
                mla_layer(&t, i);
            kimi_rest(&t, i, 4);
        }
        fixture_tensors_finish(&t);
        assert_int_equal(fixture_build(&f, &t.inv, KIMI), 0);
        if (f.findings.count != 1)
            fail_msg("%s", f.findings.items[f.findings.count > 1].text);
        const struct finding *x = fixture_finding(&f, "kda-is-delta-attention", "3 layers");
        assert_non_null(x);
        assert_int_equal(x->severity, FINDING_NOTE);
        assert_int_equal(cost_of(&f.m, &c, &f.e), 0);
        assert_int_equal(cost_stored_of(&f.m, &t.inv, &s, &f.e), 0);
        assert_int_equal(s.params, c.params_total);
        cost_release(&c);
        fixture_end(&f);
        fixture_tensors_end(&t);
    }
}

static void padding_of_a_log_is_counted_and_noted(void **state)
{
    struct fixture_tensors t;
    struct fixture_model f;
    struct cost_stored s;
    struct cost c;
    (void)state;
    kimi_start(&t);
    for (unsigned i = 0; i < 4; i++) {
        if (i < 3)
            kda_layer(&t, i, 7, false);
        else
            mla_layer(&t, i);
        kimi_rest(&t, i, 4);
    }
    fixture_tensors_finish(&t);
    assert_int_equal(fixture_build(&f, &t.inv, KIMI), 0);
    assert_int_equal(fixture_findings(&f, FINDING_WARN), 0);
    assert_non_null(fixture_finding(&f, "padding", "self_attn.A_log has 7 values for 2 heads, 5 "));
    assert_int_equal(cost_of(&f.m, &c, &f.e), 0);
    assert_int_equal(cost_stored_of(&f.m, &t.inv, &s, &f.e), 0);
    assert_int_equal(s.params_padding, 15);
    assert_string_equal(s.padding_name, "self_attn.A_log");
    assert_int_equal(s.params - s.params_padding, c.params_total);
    cost_release(&c);
    fixture_end(&f);
    fixture_tensors_end(&t);
}

/* A stride rule would make layer 3 latent; the tensors say layer 2 is, and 3 experts are there. */
static void kinds_and_expert_counts_follow_the_tensors(void **state)
{
    struct fixture_tensors t;
    struct fixture_model f;
    (void)state;
    kimi_start(&t);
    for (unsigned i = 0; i < 4; i++) {
        if (i == 2)
            mla_layer(&t, i);
        else
            kda_layer(&t, i, 2, false);
        kimi_rest(&t, i, 3);
    }
    fixture_tensors_finish(&t);
    assert_int_equal(fixture_build(&f, &t.inv, KIMI), 0);
    assert_int_equal(f.m.layers[2].mixer.kind, MIXER_MLA);
    assert_int_equal(f.m.layers[3].mixer.kind, MIXER_KDA);
    assert_non_null(fixture_finding(&f, "config-tensor-differs",
                                    "mla by the tensors, kda by the config in layer 2"));
    assert_non_null(fixture_finding(&f, "config-tensor-differs",
                                    "kda by the tensors, mla by the config in layer 3"));
    assert_int_equal(f.m.layers[1].ffn.router.experts, 3);
    assert_non_null(fixture_finding(&f, "config-tensor-differs",
                                    "routed experts: 3 by the tensors, 4 by the config"));
    fixture_end(&f);
    fixture_tensors_end(&t);
}

static void an_expert_that_is_missing_is_found(void **state)
{
    struct fixture_tensors t;
    struct fixture_model f;
    (void)state;
    kimi_start(&t);
    for (unsigned i = 0; i < 4; i++) {
        if (i == 3)
            mla_layer(&t, i);
        else
            kda_layer(&t, i, 2, false);
        kimi_rest(&t, i, 4);
    }
    fixture_tensors_finish(&t);
    /* takes the tensor out of the sorted list */
    const struct tensor *x =
        inventory_find(&t.inv, "model.layers.2.block_sparse_moe.experts.1.w3.weight");
    assert_non_null(x);
    size_t at = (size_t)(x - t.inv.tensors);
    memmove(&t.inv.tensors[at], &t.inv.tensors[at + 1],
            (t.inv.count - at - 1) * sizeof *t.inv.tensors);
    t.inv.count--;
    assert_int_equal(fixture_build(&f, &t.inv, KIMI), 0);
    assert_non_null(fixture_finding(&f, "tensor-missing",
                                    "block_sparse_moe.experts.*.w3.weight is there for 3 of 4 in "
                                    "layer 2"));
    fixture_end(&f);
    /* without the whole set of headers nothing is known to be missing */
    t.inv.complete = false;
    assert_int_equal(fixture_build(&f, &t.inv, KIMI), 0);
    assert_int_equal(fixture_findings(&f, FINDING_WARN), 0);
    fixture_end(&f);
    fixture_tensors_end(&t);
}

static void residual_queries_without_a_block_size_are_unexplained(void **state)
{
    struct fixture_tensors t;
    struct fixture_model f;
    (void)state;
    kimi_start(&t);
    for (unsigned i = 0; i < 4; i++) {
        kda_layer(&t, i, 2, false);
        kimi_rest(&t, i, 4);
        FIXTURE_BF16(&t, FIXTURE_DIMS(1, 32), "model.layers.%u.self_attention_res_proj.weight", i);
    }
    fixture_tensors_finish(&t);
    assert_int_equal(fixture_build(&f, &t.inv, "%s",
                                   KIMI_LISTS("\"full_attn_layers\":[],\"kda_layers\":"
                                              "[1,2,3,4],")),
                     0);
    assert_true(fixture_unexplained(&f, "attn_res_block_size is missing"));
    fixture_end(&f);
    fixture_tensors_end(&t);
}

/* --- Kimi K3 at full scale, by the names and shapes of its released headers */

static void k3_experts(struct fixture_tensors *t, const char *p)
{
    static const struct {
        const char *name;
        uint64_t rows, cols;
    } w[] = {{"w1", 3072, 3584}, {"w2", 3584, 3072}, {"w3", 3072, 3584}};
    for (unsigned k = 0; k < 896; k++)
        for (unsigned i = 0; i < 3; i++) {
            fixture_tensor(t, "U8", 8, FIXTURE_DIMS(w[i].rows, w[i].cols / 2),
                           "%sexperts.%u.%s.weight_packed", p, k, w[i].name);
            fixture_tensor(t, "U8", 8, FIXTURE_DIMS(w[i].rows, w[i].cols / 32),
                           "%sexperts.%u.%s.weight_scale", p, k, w[i].name);
        }
}

struct row {
    const char *name;
    uint64_t dims[4];
    bool f32;
};

static const struct row k3_kda[] = {
    {"self_attn.q_proj.weight", {12288, 7168}, false},
    {"self_attn.k_proj.weight", {12288, 7168}, false},
    {"self_attn.v_proj.weight", {12288, 7168}, false},
    {"self_attn.q_conv1d.weight", {12288, 1, 4}, true},
    {"self_attn.k_conv1d.weight", {12288, 1, 4}, true},
    {"self_attn.v_conv1d.weight", {12288, 1, 4}, true},
    {"self_attn.f_a_proj.weight", {128, 7168}, false},
    {"self_attn.f_b_proj.weight", {12288, 128}, false},
    {"self_attn.b_proj.weight", {96, 7168}, false},
    {"self_attn.A_log", {128}, true},
    {"self_attn.dt_bias", {12288}, true},
    {"self_attn.o_norm.weight", {128}, true},
    {NULL, {0}, false},
};
static const struct row k3_mla[] = {
    {"self_attn.q_a_proj.weight", {1536, 7168}, false},
    {"self_attn.q_a_layernorm.weight", {1536}, false},
    {"self_attn.q_b_proj.weight", {18432, 1536}, false},
    {"self_attn.kv_a_proj_with_mqa.weight", {576, 7168}, false},
    {"self_attn.kv_a_layernorm.weight", {512}, false},
    {"self_attn.kv_b_proj.weight", {24576, 512}, false},
    {NULL, {0}, false},
};
static const struct row k3_both[] = {
    {"self_attn.g_proj.weight", {12288, 7168}, false},
    {"self_attn.o_proj.weight", {7168, 12288}, false},
    {"input_layernorm.weight", {7168}, false},
    {"post_attention_layernorm.weight", {7168}, false},
    {"self_attention_res_norm.weight", {7168}, false},
    {"mlp_res_norm.weight", {7168}, false},
    {"self_attention_res_proj.weight", {1, 7168}, false},
    {"mlp_res_proj.weight", {1, 7168}, false},
    {NULL, {0}, false},
};
static const struct row k3_dense[] = {
    {"mlp.gate_proj.weight", {33792, 7168}, false},
    {"mlp.up_proj.weight", {33792, 7168}, false},
    {"mlp.down_proj.weight", {7168, 33792}, false},
    {NULL, {0}, false},
};
static const struct row k3_moe[] = {
    {"block_sparse_moe.gate.weight", {896, 7168}, false},
    {"block_sparse_moe.gate.e_score_correction_bias", {896}, true},
    {"block_sparse_moe.routed_expert_down_proj.weight", {3584, 7168}, false},
    {"block_sparse_moe.routed_expert_norm.weight", {3584}, false},
    {"block_sparse_moe.routed_expert_up_proj.weight", {7168, 3584}, false},
    {"block_sparse_moe.shared_experts.gate_proj.weight", {6144, 7168}, false},
    {"block_sparse_moe.shared_experts.up_proj.weight", {6144, 7168}, false},
    {"block_sparse_moe.shared_experts.down_proj.weight", {7168, 6144}, false},
    {NULL, {0}, false},
};
static const struct row k3_outer[] = {
    {"model.embed_tokens.weight", {163840, 7168}, false},
    {"model.norm.weight", {7168}, false},
    {"model.output_attn_res_norm.weight", {7168}, false},
    {"model.output_attn_res_proj.weight", {1, 7168}, false},
    {"lm_head.weight", {163840, 7168}, false},
    {NULL, {0}, false},
};

static void k3_rows(struct fixture_tensors *t, const char *prefix, const struct row *r)
{
    for (; r->name; r++)
        fixture_tensor(t, r->f32 ? "F32" : "BF16", r->f32 ? 32 : 16, r->dims, "%s%s", prefix,
                       r->name);
}

static void kimi_k3_headers_give_its_published_sums(void **state)
{
    struct fixture_tensors t;
    struct fixture_model f;
    struct cost_stored s;
    struct cost c;
    char p[96];
    (void)state;
    fixture_tensors_start(&t);
    k3_rows(&t, "language_model.", k3_outer);
    for (unsigned i = 0; i < 93; i++) {
        snprintf(p, sizeof p, "language_model.model.layers.%u.", i);
        k3_rows(&t, p, (i + 1) % 4 == 0 || i == 92 ? k3_mla : k3_kda);
        k3_rows(&t, p, k3_both);
        k3_rows(&t, p, i ? k3_moe : k3_dense);
        snprintf(p, sizeof p, "language_model.model.layers.%u.block_sparse_moe.", i);
        if (i)
            k3_experts(&t, p);
    }
    fixture_tensors_finish(&t);
    assert_int_equal(t.inv.count, 497052);
    if (!fixture_real(&f, &t.inv, "aic-moonshotai--Kimi-K3")) {
        fixture_tensors_end(&t);
        skip();
    }
    assert_int_equal(fixture_findings(&f, FINDING_WARN), 0);
    assert_non_null(fixture_finding(&f, "padding", "128 values for 96 heads, 32 are padding"));
    assert_non_null(fixture_finding(&f, "kda-is-delta-attention", "69 layers"));
    assert_int_equal(f.m.unexplained_count, 0);
    assert_int_equal(cost_of(&f.m, &c, &f.e), 0);
    assert_int_equal(c.params_total, 2779484476000);
    assert_int_equal(cost_stored_of(&f.m, &t.inv, &s, &f.e), 0);
    assert_int_equal(s.params, 2779484478208);
    assert_int_equal(s.params_padding, 2208);
    assert_int_equal(s.bytes, 1559965606912);
    cost_release(&c);
    fixture_end(&f);
    fixture_tensors_end(&t);
}

/* --- everything of other people's */

/* What is explained has a cost, what hides the cache has none, and neither is silent. */
static void check_folder(const char *slug, const char *text, size_t n, unsigned counts[3])
{
    struct err e = {0};
    struct cJSON *doc;
    struct model m;
    struct cost c;
    struct operators o;
    struct finding_list findings = {0};
    unsigned odd;
    if (json_parse(text, n, &doc, &odd, &e))
        fail_msg("%s: %s", slug, e.msg);
    if (model_build(doc, NULL, &findings, &m, &e)) {
        if (!e.msg[0] || e.code != ERR_UNSUPPORTED)
            fail_msg("%s: %d %s", slug, e.code, e.msg);
        counts[0]++;
    } else {
        bool cache = !model_hidden(&m, MODEL_HIDES_CACHE, NULL);
        bool params = cache && !model_hidden(&m, MODEL_HIDES_PARAMS, NULL);
        bool operators = !model_hidden(&m, MODEL_HIDES_OPERATORS, NULL);
        if ((cost_of(&m, &c, &e) == 0) != cache || (operators_of(&m, &o, &e) == 0) != operators)
            fail_msg("%s: a cost without an explanation, or the reverse: %s", slug, e.msg);
        if (cache && (c.params_known != params || c.params_known == !!c.params_why[0] ||
                      (c.params_total > 0) != params))
            fail_msg("%s: parameters without an explanation, or the reverse", slug);
        if (cache)
            cost_release(&c);
        counts[cache ? 2 : 1]++;
        model_release(&m);
    }
    finding_list_release(&findings);
    json_free(doc);
}

static void no_real_config_is_guessed_at(void **state)
{
    const char *corpus = getenv("CORPUS");
    unsigned counts[3] = {0}; /* refused, unexplained, built */
    struct dirent *d;
    DIR *dir = opendir(corpus ? corpus : "../shared/corpus");
    (void)state;
    if (!dir) {
        printf("skip: there is no corpus\n");
        skip();
    }
    while ((d = readdir(dir))) {
        size_t n = 0;
        char path[1024];
        if (d->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s/config.json", corpus ? corpus : "../shared/corpus",
                 d->d_name);
        FILE *f = fopen(path, "rb");
        if (!f)
            continue;
        fclose(f);
        char *text = fixture_corpus(d->d_name, "config.json", &n);
        assert_non_null(text);
        check_folder(d->d_name, text, n, counts);
        free(text);
    }
    closedir(dir);
    printf("%u refused, %u not fully explained, %u built\n", counts[0], counts[1], counts[2]);
    assert_true(counts[2] > 0 && counts[0] > 0);
}

/* --- names and counts */

static void sources_of_the_last_residual_are_blocks_and_a_sum(void **state)
{
    static const uint32_t cases[][3] = {
        {93, 12, 9}, {12, 12, 2}, {13, 12, 3}, {24, 12, 3}, {1, 12, 2}, {9, 3, 4}, {5, 0, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct model m = {.layer_count = cases[i][0], .attnres_block = cases[i][1]};
        assert_int_equal(model_attnres_sources(&m), cases[i][2]);
    }
}

static void names_are_those_of_the_conformance_files(void **state)
{
    (void)state;
    assert_string_equal(model_mixer_name(MIXER_KEY_DECOUPLED), "key_decoupled");
    assert_string_equal(model_mixer_name(MIXER_UNKNOWN), "unknown");
    assert_string_equal(model_residual_name(RESIDUAL_ATTNRES_BLOCK), "attnres_block");
    assert_string_equal(model_ffn_name(FFN_MOE_LATENT), "moe.latent");
    assert_string_equal(model_act_name(FFN_ACT_SITU), "situ");
    assert_string_equal(model_score_name(ROUTER_SOFTMAX_AFTER_TOPK), "softmax_after_topk");
    assert_string_equal(model_score_name(ROUTER_SQRTSOFTPLUS), "sqrtsoftplus");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_checkpoint_that_fits_its_config_has_no_findings),
        cmocka_unit_test(the_prefix_is_read_from_the_tensors),
        cmocka_unit_test(widths_follow_the_tensors_and_both_sides_are_told),
        cmocka_unit_test(decoupled_keys_are_read_from_tensors_alone),
        cmocka_unit_test(what_is_missing_or_too_much_is_found),
        cmocka_unit_test(shapes_that_no_width_explains_are_told),
        cmocka_unit_test(a_tied_head_that_is_stored_is_a_note),
        cmocka_unit_test(tensors_of_another_model_are_told_and_the_config_speaks),
        cmocka_unit_test(kda_is_told_from_key_decoupled_by_its_tensors),
        cmocka_unit_test(padding_of_a_log_is_counted_and_noted),
        cmocka_unit_test(kinds_and_expert_counts_follow_the_tensors),
        cmocka_unit_test(an_expert_that_is_missing_is_found),
        cmocka_unit_test(residual_queries_without_a_block_size_are_unexplained),
        cmocka_unit_test(kimi_k3_headers_give_its_published_sums),
        cmocka_unit_test(no_real_config_is_guessed_at),
        cmocka_unit_test(sources_of_the_last_residual_are_blocks_and_a_sum),
        cmocka_unit_test(names_are_those_of_the_conformance_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
