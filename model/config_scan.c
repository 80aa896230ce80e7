#include "model/config.h"
#include "core/json.h"
#include "model/family.h"
#include <string.h>

/* Which keys of a config stand in the way of an exact answer. A config says what a model has by
 * naming it, so a key that names a mechanism and that nothing here reads is a mechanism we do not
 * know of; a key that names nothing of the kind (token ids, dropout, generation) is left alone. */

enum group {
    ANY = 1,
    GQA = 2,
    MLA = 4,
    KDA = 8,
    MOE = 16,  /* any family with experts */
    QWEN = 32, /* Qwen's experts */
    DEEP = 64, /* DeepSeek's and Kimi's experts */
    WINDOW = 128,
    BIAS = 256,
    SHARED_GATE = 512,
    MTP = 1024,
    LATENT = 2048
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
    {"mlp_bias", BIAS},
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
    {"output_router_logits", ANY},
    {"router_aux_loss_coef", ANY},
    {"router_jitter_noise", ANY},
    {"expert_parallel_size", ANY},
    {"top_k", ANY}, /* of text generation */
    {"renormalize_logits", ANY},
    {"cross_attention_hidden_size", 0},
    {"qkv_bias", SHARED_GATE},
};

/* Words that name a mechanism which changes layers, caches or shapes. */
static const char *const words[] = {
    "linear",
    "mamba",
    "ssm",
    "kda",
    "hybrid",
    "compress",
    "index_",
    "indexer",
    "sliding",
    "window",
    "lightning",
    "attn_res",
    "attnres",
    "hc_",
    "delta",
    "conv",
    "recurr",
    "retention",
    "latent",
    "sparse",
    "engram",
    "layer_types",
    "layers_block",
    "attn_type",
    "attention_type",
    "attention_method",
    "linear_method",
    "lora",
    "expert",
    "moe",
    "router",
    "topk",
    "n_group",
    "sink",
    "mtp",
    "nextn",
    "draft",
    "eagle",
    "qk_",
    "v_head",
    "kv_",
    "k_eq_v",
    "block_config",
    "block_size",
    "per_layer",
    "interleave",
    "cross_att",
    "dual_chunk",
    "altup",
    "laurel",
    "bias",
    "parallel_att",
    "qk_norm",
    "use_qk",
    "gate",
    "head_dim",
    "state_size",
    "key_heads",
    "value_heads",
    "num_heads",
    "shared",
    "chunk_att",
    "local_att",
    "global_att",
    "hash_layers",
    "swiglu_limit",
    "lowrank",
    "low_rank",
    "residual_",
    "hyper",
    "memory_layers",
    "ngram_emb",
    "kpool",
};

static unsigned groups_of(const struct family *f)
{
    unsigned g = ANY;
    g |= f->attention == FAMILY_GQA ? GQA : MLA;
    g |= f->attention == FAMILY_KDA_MLA ? KDA : 0;
    g |= f->moe != FAMILY_DENSE ? MOE : 0;
    g |= f->moe == FAMILY_QWEN ? QWEN : 0;
    g |= f->moe == FAMILY_DEEPSEEK || f->moe == FAMILY_KIMI ? DEEP : 0;
    g |= f->window != FAMILY_WINDOW_NONE ? WINDOW : 0;
    g |= f->attention_bias ? BIAS : 0;
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

static bool suspicious(const char *key, unsigned groups)
{
    if (generation(key))
        return false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].key, key))
            return !(known[i].groups & groups);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(key, words[i]))
            return true;
    return false;
}

void config_scan(struct config *c)
{
    unsigned groups = groups_of(c->m->traits);
    bool windows = true;
    /* use_sliding_window: false switches sliding_window off, in families without windows too. */
    if (json_bool(json_get(c->text, "use_sliding_window"), &windows) && !windows)
        groups |= WINDOW;
    for (const struct cJSON *v = json_first(c->text); v; v = json_next(v))
        if (!says_none(v) && suspicious(json_key(v), groups))
            config_unexplained(c, "%s", json_key(v));
}
