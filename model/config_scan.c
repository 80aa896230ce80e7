#include "model/config.h"
#include "core/json.h"
#include "model/family.h"
#include <string.h>

/* Which keys of a config stand in the way of an exact answer. A config says what a model has by
 * naming it, so a key that names a mechanism and that nothing here reads is a mechanism we do not
 * know of; a key that names nothing of the kind (token ids, dropout, generation) is left alone. */

enum group {
    ANY = 1,
    MLA = 2,
    KDA = 4,
    GDN = 8,
    MOE = 16,  /* any family with experts */
    QWEN = 32, /* Qwen's experts */
    DEEP = 64, /* DeepSeek's and Kimi's experts */
    WINDOW = 128,
    BIAS = 256,
    SHARED_GATE = 512,
    DENSE_BIAS = 1024,
    STRIDE = 2048
};

/* Keys with a suspicious name that are read, by the families that read them, or that say nothing
 * about shapes (training losses, placement, generation). */
static const struct known {
    const char *key;
    unsigned groups;
} known[] = {
    {"num_attention_heads", ANY},
    {"num_key_value_heads", ANY},
    {"hidden_act", ANY},
    {"layer_types", ANY},
    {"attention_type", ANY},
    {"key_heads", ANY},
    {"value_heads", ANY},
    {"key_dim", ANY},
    {"value_dim", ANY},
    {"head_dim", ANY},
    {"rms_norm_eps", ANY},
    {"max_window_layers", ANY}, /* counts for nothing without use_sliding_window */
    {"use_sliding_window", WINDOW},
    {"sliding_window", WINDOW},
    {"attention_bias", BIAS},
    {"mlp_bias", DENSE_BIAS},
    {"kv_lora_rank", MLA},
    {"q_lora_rank", MLA},
    {"qk_nope_head_dim", MLA},
    {"qk_rope_head_dim", MLA},
    {"v_head_dim", MLA},
    {"qk_head_dim", MLA}, /* the sum of the two, as newer files repeat it */
    {"mla_use_nope", KDA},
    {"mla_use_output_gate", KDA},
    {"linear_attn_config", KDA},
    {"attn_res_block_size", KDA},
    {"activation_situ_linear_beta", KDA},
    {"routed_expert_hidden_size", KDA},
    {"latent_moe_use_norm", KDA},
    {"moe_router_activation_func", KDA},
    {"moe_renormalize", KDA},
    {"num_expert_group", KDA},
    {"use_grouped_topk", KDA},
    {"num_shared_experts", KDA},
    {"num_experts", QWEN | KDA},
    {"num_experts_per_tok", MOE},
    {"num_experts_per_token", KDA},
    {"num_local_experts", MOE},
    {"moe_intermediate_size", QWEN | DEEP},
    {"shared_expert_intermediate_size", SHARED_GATE},
    {"sliding_window_pattern", STRIDE},
    {"_sliding_window_pattern", STRIDE},
    {"decoder_sparse_step", QWEN},
    {"mlp_only_layers", QWEN},
    {"norm_topk_prob", QWEN | DEEP},
    {"n_routed_experts", DEEP},
    {"n_shared_experts", DEEP},
    {"n_group", DEEP},
    {"topk_group", DEEP},
    {"topk_method", DEEP},
    {"scoring_func", DEEP},
    {"routed_scaling_factor", DEEP},
    {"first_k_dense_replace", DEEP},
    {"moe_layer_freq", DEEP},
    {"num_nextn_predict_layers", DEEP},
    {"mlp_layer_types", MOE},
    {"linear_num_value_heads", GDN},
    {"linear_num_key_heads", GDN},
    {"linear_key_head_dim", GDN},
    {"linear_value_head_dim", GDN},
    {"linear_conv_kernel_dim", GDN},
    {"mamba_ssm_dtype", GDN},
    {"mamba_ssm_cache_dtype", GDN},
    {"full_attention_interval", GDN},
    {"attn_output_gate", GDN},
    {"output_router_logits", ANY},
    {"router_aux_loss_coef", ANY},
    {"router_jitter_noise", ANY},
    {"expert_parallel_size", ANY},
    {"top_k", ANY}, /* of text generation */
    {"renormalize_logits", ANY},
    {"cross_attention_hidden_size", 0},
    {"qkv_bias", SHARED_GATE},
};

#define ALL MODEL_HIDES_ALL
#define PARAMS MODEL_HIDES_PARAMS

/* Words that name a mechanism, and what one that nothing here reads stands in the way of: a
 * feed-forward, a bias or a norm never changes a cache. A key with several hides all that they do.
 */
static const struct {
    const char *word;
    unsigned hides;
} words[] = {
    {"expert", MODEL_HIDES_BEYOND_CACHE},
    {"moe", MODEL_HIDES_BEYOND_CACHE},
    {"router", MODEL_HIDES_BEYOND_CACHE},
    {"n_group", MODEL_HIDES_BEYOND_CACHE},
    {"sparse_step", MODEL_HIDES_BEYOND_CACHE},
    {"mtp", PARAMS},
    {"nextn", PARAMS},
    {"bias", PARAMS},
    {"qk_norm", MODEL_HIDES_BEYOND_CACHE},
    {"use_qk", MODEL_HIDES_BEYOND_CACHE},
    {"swiglu_limit", MODEL_HIDES_OPERATORS},
    {"softcap", MODEL_HIDES_OPERATORS},
    {"hash_layers", MODEL_HIDES_BEYOND_CACHE},
    {"altup", MODEL_HIDES_BEYOND_CACHE},
    {"laurel", MODEL_HIDES_BEYOND_CACHE},
    {"per_layer_input", MODEL_HIDES_BEYOND_CACHE},
    {"ngram_emb", MODEL_HIDES_BEYOND_CACHE},
    {"parallel_att", MODEL_HIDES_BEYOND_CACHE},
    {"hc_", MODEL_HIDES_BEYOND_CACHE},
    {"hyper", MODEL_HIDES_BEYOND_CACHE},
    {"residual_", MODEL_HIDES_BEYOND_CACHE},
    {"attn_res", MODEL_HIDES_BEYOND_CACHE},
    {"attnres", MODEL_HIDES_BEYOND_CACHE},
    {"multi_query", ALL},
    {"linear", ALL},
    {"mamba", ALL},
    {"ssm", ALL},
    {"kda", ALL},
    {"hybrid", ALL},
    {"compress", ALL},
    {"index_", ALL},
    {"indexer", ALL},
    {"sliding", ALL},
    {"window", ALL},
    {"lightning", ALL},
    {"delta", ALL},
    {"conv", ALL},
    {"recurr", ALL},
    {"retention", ALL},
    {"latent", ALL},
    {"sparse", ALL},
    {"engram", ALL},
    {"layer_types", ALL},
    {"layers_block", ALL},
    {"attn_type", ALL},
    {"attention_type", ALL},
    {"attention_method", ALL},
    {"linear_method", ALL},
    {"lora", ALL},
    {"topk", MODEL_HIDES_BEYOND_CACHE},
    {"sink", ALL},
    {"draft", ALL},
    {"eagle", ALL},
    {"qk_", ALL},
    {"v_head", ALL},
    {"kv_", ALL},
    {"k_eq_v", ALL},
    {"block_config", ALL},
    {"block_size", ALL},
    {"per_layer", ALL},
    {"interleave", MODEL_HIDES_BEYOND_CACHE},
    {"cross_att", ALL},
    {"dual_chunk", ALL},
    {"gate", MODEL_HIDES_BEYOND_CACHE},
    {"head_dim", ALL},
    {"state_size", ALL},
    {"key_heads", ALL},
    {"value_heads", ALL},
    {"num_heads", ALL},
    {"shared", MODEL_HIDES_BEYOND_CACHE},
    {"chunk_att", ALL},
    {"local_att", ALL},
    {"global_att", ALL},
    {"lowrank", ALL},
    {"low_rank", ALL},
    {"memory_layers", ALL},
    {"kpool", ALL},
};

static unsigned groups_of(const struct family *f)
{
    unsigned g = ANY;
    g |= f->attention == FAMILY_MLA ? MLA : 0;
    g |= f->linear == FAMILY_LINEAR_KDA ? KDA : 0;
    g |= f->linear == FAMILY_LINEAR_GDN ? GDN : 0;
    g |= f->moe != FAMILY_DENSE ? MOE : 0;
    g |= f->moe == FAMILY_QWEN ? QWEN : 0;
    g |= f->moe == FAMILY_DEEPSEEK || f->moe == FAMILY_KIMI ? DEEP : 0;
    g |= f->window != FAMILY_WINDOW_NONE ? WINDOW : 0;
    g |= f->window == FAMILY_WINDOW_STRIDE ? STRIDE : 0;
    g |= f->attention_bias ? BIAS : 0;
    g |= f->mlp_bias ? DENSE_BIAS : 0;
    g |= f->shared_dir && !strcmp(f->shared_dir, "shared_expert") ? SHARED_GATE : 0;
    return g;
}

/* null, false, 0, "", [] and {} say that there is none of it. */
static bool says_none(const struct cJSON *v)
{
    uint64_t n;
    bool b;
    const char *s;
    switch (json_kind(v)) {
    case JSON_NULL:
    case JSON_MISSING: return true;
    case JSON_BOOL: return json_bool(v, &b) && !b;
    case JSON_NUMBER: return json_u64(v, &n) && n == 0;
    case JSON_TEXT: return json_text(v, &s) && !*s;
    case JSON_ARRAY:
    case JSON_OBJECT: return json_count(v) == 0;
    }
    return false;
}

/* no_repeat_ngram_size and its like belong to text generation, not to the model. */
static bool generation(const char *key)
{
    static const char *const keys[] = {"no_repeat_ngram_size", "encoder_no_repeat_ngram_size",
                                       "num_beam_groups", "chunk_size_feed_forward"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!strcmp(keys[i], key))
            return true;
    return false;
}

/* What the key stands in the way of; 0 nothing. */
static unsigned hides(const char *key, unsigned groups)
{
    if (generation(key))
        return 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].key, key) && known[i].groups & groups)
            return 0;
    unsigned what = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(key, words[i].word))
            what |= words[i].hides;
    return what;
}

void config_scan(struct config *c)
{
    const struct family *f = c->m->traits;
    unsigned groups = groups_of(f);
    bool windows = true;
    /* use_sliding_window: false switches sliding_window off, in families without windows too. */
    if (json_bool(json_get(c->text, "use_sliding_window"), &windows) && !windows)
        groups |= WINDOW;
    for (const struct cJSON *v = json_first(c->text); v; v = json_next(v)) {
        if (says_none(v) || family_has_key(f->keys, json_key(v)))
            continue;
        unsigned what = hides(json_key(v), groups);
        if (what)
            config_hides(c, what, "%s", json_key(v));
    }
}
