#include "model/family.h"

#define EXPERTS_LONG .gate = "gate_proj", .up = "up_proj", .down = "down_proj"
#define EXPERTS_SHORT .gate = "w1", .up = "w3", .down = "w2"
#define LLAMA_LAYOUT .layout = FAMILY_LAYOUT_LLAMA, .prefix = "model."
#define CACHE_ONLY .layout = FAMILY_LAYOUT_UNKNOWN, .prefix = "model."
#define DEEPSEEK_EXPERTS .moe = FAMILY_DEEPSEEK, .moe_dir = "mlp", .shared_dir = "shared_experts"
#define QWEN_EXPERTS .moe = FAMILY_QWEN, .moe_dir = "mlp"
#define INDEX_KEYS                                                                       \
    " num_nextn_predict_layers index_n_heads index_head_dim index_topk index_topk_freq " \
    "index_topk_pattern index_skip_topk_offset indexer_types indexer_rope_interleave "   \
    "index_share_for_mtp_iteration rope_interleave moe_router_dtype "
#define NEXTN_KEYS " num_nextn_predict_layers rope_interleave "
#define GDN_KEYS                                                                   \
    " mtp_num_hidden_layers mtp_use_dedicated_embeddings full_attention_interval " \
    "output_gate_type "
#define MAMBA_KEYS                                                                             \
    " mamba_num_heads mamba_head_dim ssm_state_size n_groups conv_kernel mamba_state_dim "     \
    "mamba_num_groups mamba_ssm_cache_dtype mamba_ssm_dtype mamba_hidden_act mamba_proj_bias " \
    "use_bias use_conv_bias use_mamba_kernels "
#define V4_KEYS                                                                                   \
    " compress_ratios compress_rope_theta compress_rope_parameters sliding_window "               \
    "qk_rope_head_dim qk_nope_head_dim q_lora_rank o_lora_rank o_groups num_hash_layers hc_mult " \
    "hc_eps hc_sinkhorn_iters swiglu_limit expert_dtype attention_bias "

/* Windows of their own shape, latents, linear attention and state spaces. Sources: the model
 * classes of transformers 4.5x; the configuration and modelling files shipped with the checkpoints
 * for DeepSeek, Kimi, MiniMax and Nemotron; tensor headers of Kimi K3. */
const struct family family_mixed[] = {
    /* --- windows, sinks and chunks */
    {.types = {"gpt_oss"},
     .architectures = {"GptOssForCausalLM"},
     LLAMA_LAYOUT,
     .moe = FAMILY_GPT_OSS,
     .window = FAMILY_WINDOW_STRIDE,
     .window_stride = 2,
     .attention_bias = true,
     .sinks = true,
     .act = "swigluoai",
     .moe_dir = "mlp",
     .router = "router",
     .experts_fused = true,
     .experts_bias = true,
     .keys = " swiglu_limit experts_per_token "},
    {.types = {"llama4_text"},
     .architectures = {"Llama4ForCausalLM"},
     LLAMA_LAYOUT,
     .moe = FAMILY_LLAMA4,
     .window = FAMILY_WINDOW_CHUNK,
     .window_stride = 4,
     .attention_bias = true,
     .mlp_dir = "feed_forward",
     .moe_dir = "feed_forward",
     .shared_dir = "shared_expert",
     .router = "router",
     .experts_fused = true,
     .keys = " attention_chunk_size interleave_moe_layer_step moe_layers use_qk_norm "
             "no_rope_layers no_rope_layer_interval "},
    {.types = {"mimo_v2_flash"},
     .architectures = {"MiMoV2FlashForCausalLM"},
     CACHE_ONLY,
     DEEPSEEK_EXPERTS,
     .window = FAMILY_WINDOW_LISTED,
     .keys = " v_head_dim swa_num_attention_heads swa_num_key_value_heads swa_head_dim "
             "swa_v_head_dim hybrid_layer_pattern sliding_window_size attention_chunk_size "
             "attention_bias add_swa_attention_sink_bias add_full_attention_sink_bias "},
    {.types = {"step3p7"},
     .architectures = {"Step3p7FlashForCausalLM"},
     CACHE_ONLY,
     .moe = FAMILY_MOE_OTHER,
     .window = FAMILY_WINDOW_LISTED,
     .act = "silu",
     .keys = " num_nextn_predict_layers first_k_dense_replace moe_intermediate_size num_experts "
             "n_shared_experts share_expert_dim use_moe_router_bias moe_router_scaling_factor "},
    {.types = {"laguna"},
     .architectures = {"LagunaForCausalLM"},
     CACHE_ONLY,
     .moe = FAMILY_MOE_OTHER,
     .window = FAMILY_WINDOW_LISTED,
     .act = "silu",
     .beyond = "gates of each head",
     .keys = " num_attention_heads_per_layer num_experts mlp_only_layers decoder_sparse_step "
             "moe_intermediate_size gating_types gating shared_expert_intermediate_size "},

    /* --- latents */
    {.types = {"deepseek_v3"},
     .architectures = {"DeepseekV3ForCausalLM"},
     LLAMA_LAYOUT,
     .attention = FAMILY_MLA,
     DEEPSEEK_EXPERTS,
     EXPERTS_LONG,
     .keys = NEXTN_KEYS},
    {.types = {"kimi_k2"},
     .architectures = {"DeepseekV3ForCausalLM", "KimiK2ForCausalLM"},
     LLAMA_LAYOUT,
     .attention = FAMILY_MLA,
     DEEPSEEK_EXPERTS,
     EXPERTS_LONG,
     .keys = NEXTN_KEYS},
    {.types = {"deepseek_v32"},
     .architectures = {"DeepseekV32ForCausalLM"},
     LLAMA_LAYOUT,
     .attention = FAMILY_MLA,
     DEEPSEEK_EXPERTS,
     EXPERTS_LONG,
     .keys = INDEX_KEYS},
    {.types = {"glm_moe_dsa"},
     .architectures = {"GlmMoeDsaForCausalLM"},
     LLAMA_LAYOUT,
     .attention = FAMILY_MLA,
     DEEPSEEK_EXPERTS,
     EXPERTS_LONG,
     .keys = INDEX_KEYS},
    {.types = {"glm5_next_text"},
     .architectures = {"Glm5NextForCausalLM"},
     CACHE_ONLY,
     .attention = FAMILY_MLA,
     .linear = FAMILY_LINEAR_KDA,
     DEEPSEEK_EXPERTS,
     .nope = true,
     .keys = INDEX_KEYS " index_kpool index_kpool_compress index_kpool_always_select_tail mhc "
                        "hc_mult hc_eps hc_sinkhorn_iters "},
    {.types = {"minicpm3"},
     .architectures = {"MiniCPM3ForCausalLM"},
     LLAMA_LAYOUT,
     .attention = FAMILY_MLA,
     .tied = true,
     .keys = " v_head_dim "},
    {.types = {"kimi_linear"},
     .architectures = {"KimiLinearForCausalLM"},
     LLAMA_LAYOUT,
     .attention = FAMILY_MLA,
     .linear = FAMILY_LINEAR_KDA,
     .moe = FAMILY_KIMI,
     .moe_dir = "block_sparse_moe",
     .shared_dir = "shared_experts",
     EXPERTS_SHORT,
     .latent_down = "routed_expert_down_proj",
     .latent_up = "routed_expert_up_proj",
     .keys = NEXTN_KEYS},
    {.types = {"deepseek_v4", "deepseek_ref"},
     .architectures = {"DeepseekV4ForCausalLM"},
     CACHE_ONLY,
     .attention = FAMILY_COMPRESSED,
     DEEPSEEK_EXPERTS,
     .act = "silu",
     .beyond = "hyper-connections, hash routing and grouped output projections",
     .keys = INDEX_KEYS V4_KEYS},

    {.types = {"deepseek_v41_text"},
     .architectures = {"DeepseekV41ForCausalLM"},
     CACHE_ONLY,
     .attention = FAMILY_COMPRESSED,
     DEEPSEEK_EXPERTS,
     .act = "silu",
     .beyond = "hyper-connections, n-gram memory and reuse of selections",
     .keys = INDEX_KEYS V4_KEYS
     " kv_source_layer_ids index_source_layer_ids candidate_source_layer_id "
     "candidate_topk_blocks candidate_block_size engram_layer_ids engram_num_embeddings "
     "engram_vocab_size engram_max_ngram_size engram_n_heads engram_head_dim "
     "engram_compressed_vocab_size gate_temp dspark_block_size dspark_noise_token_id "},

    /* --- linear attention and state spaces */
    {.types = {"qwen3_next"},
     .architectures = {"Qwen3NextForCausalLM"},
     LLAMA_LAYOUT,
     .linear = FAMILY_LINEAR_GDN,
     QWEN_EXPERTS,
     .qk_norm = FAMILY_QK_NORM_HEAD,
     .q_gate = true,
     .attention_bias = true,
     .shared_dir = "shared_expert",
     EXPERTS_LONG,
     .delta_joint = true,
     .keys = GDN_KEYS},
    {.types = {"qwen3_5_text"},
     .architectures = {"Qwen3_5ForCausalLM"},
     LLAMA_LAYOUT,
     .linear = FAMILY_LINEAR_GDN,
     .qk_norm = FAMILY_QK_NORM_HEAD,
     .q_gate = true,
     .attention_bias = true,
     .keys = GDN_KEYS},
    {.types = {"qwen3_5_moe_text"},
     .architectures = {"Qwen3_5MoeForCausalLM"},
     LLAMA_LAYOUT,
     .linear = FAMILY_LINEAR_GDN,
     QWEN_EXPERTS,
     .qk_norm = FAMILY_QK_NORM_HEAD,
     .q_gate = true,
     .attention_bias = true,
     .shared_dir = "shared_expert",
     EXPERTS_LONG,
     .keys = GDN_KEYS},
    {.types = {"qwen4_exp_text", "qwen4_exp"},
     .architectures = {"Qwen4ExpForCausalLM"},
     CACHE_ONLY,
     .attention = FAMILY_QSA,
     .linear = FAMILY_LINEAR_GDN,
     QWEN_EXPERTS,
     .qk_norm = FAMILY_QK_NORM_HEAD,
     .q_gate = true,
     .shared_dir = "shared_expert",
     .beyond = "gated residuals",
     .keys = GDN_KEYS
     " indexer_n_heads indexer_head_dim indexer_kv_heads indexer_compress_ratio indexer_budget "
     "hc_count hc_lowrank "},
    {.types = {"minimax_m1", "minimax_text_01", "minimax"},
     .architectures = {"MiniMaxM1ForCausalLM", "MiniMaxText01ForCausalLM", "MiniMaxForCausalLM"},
     CACHE_ONLY,
     .linear = FAMILY_LINEAR_LIGHTNING,
     .moe = FAMILY_MIXTRAL,
     .keys = " attn_type_list postnorm shared_intermediate_size shared_moe_mode "
             "layernorm_full_attention_alpha layernorm_full_attention_beta "
             "layernorm_linear_attention_alpha layernorm_linear_attention_beta "},
    {.types = {"minimax_m2"},
     .architectures = {"MiniMaxM2ForCausalLM"},
     LLAMA_LAYOUT,
     .moe = FAMILY_MINIMAX,
     .qk_norm = FAMILY_QK_NORM_ALL,
     .moe_dir = "block_sparse_moe",
     EXPERTS_SHORT,
     .correction = "e_score_correction_bias",
     .keys = " attn_type_list use_qk_norm qk_norm_type scoring_func use_routing_bias use_mtp "
             "num_mtp_modules mtp_transformer_layers shared_intermediate_size "},
    {.types = {"minimax_m3"},
     .architectures = {"MiniMaxM3ForCausalLM"},
     CACHE_ONLY,
     .attention = FAMILY_MSA,
     .moe = FAMILY_MINIMAX,
     .qk_norm = FAMILY_QK_NORM_HEAD,
     .keys = " sparse_attention_config attention_output_gate dense_intermediate_size "
             "first_k_dense_replace moe_intermediate_size moe_layer_freq n_shared_experts "
             "num_mtp_modules num_nextn_predict_layers qk_norm_type use_qk_norm "
             "routed_scaling_factor scoring_func shared_intermediate_size swiglu_alpha "
             "swiglu_limit use_routing_bias "},
    {.types = {"nemotron_h", "nemotron_h_puzzle"},
     .architectures = {"NemotronHForCausalLM", "NemotronHPuzzleForCausalLM"},
     .prefix = "backbone.",
     .layout = FAMILY_LAYOUT_NEMOTRON,
     .moe = FAMILY_NEMOTRON,
     .nope = true,
     .ungated = true,
     .moe_dir = "mixer",
     .shared_dir = "shared_experts",
     .up = "up_proj",
     .down = "down_proj",
     .latent_down = "fc1_latent_proj",
     .latent_up = "fc2_latent_proj",
     .keys =
         MAMBA_KEYS " block_configs hybrid_override_pattern layers_block_type attention_head_dim "
                    "mtp_hybrid_override_pattern mtp_layers_block_type "
                    "num_nextn_predict_layers moe_latent_size moe_intermediate_size "
                    "moe_shared_expert_intermediate_size moe_shared_expert_overlap n_group "
                    "n_routed_experts n_shared_experts norm_topk_prob num_query_groups "
                    "routed_scaling_factor topk_group attention_bias mlp_bias "
                    "residual_in_fp32 rescale_prenorm_residual "},
    {.types = {"nemotron-nas"},
     .architectures = {"DeciLMForCausalLM"},
     LLAMA_LAYOUT,
     .kv = FAMILY_KV_OPTIONAL,
     .attention_bias = true,
     .mlp_bias = true,
     .head_dim_optional = true,
     .keys = " block_configs "},
    {.types = {"lfm2"},
     .architectures = {"Lfm2ForCausalLM"},
     CACHE_ONLY,
     .qk_norm = FAMILY_QK_NORM_HEAD,
     .act = "silu",
     .head_dim_optional = true,
     .keys = " conv_L_cache conv_bias conv_dim conv_dim_out conv_use_xavier_init num_heads "},
    {.types = {"rwkv5", "rwkv6"},
     .architectures = {"Rwkv5ForCausalLM", "Rwkv6ForCausalLM"},
     CACHE_ONLY,
     .linear = FAMILY_LINEAR_RWKV,
     .layer_norm = true,
     .act = "relu2",
     .beyond = "channel mixing of RWKV"},
};
const size_t family_mixed_count = sizeof family_mixed / sizeof *family_mixed;
