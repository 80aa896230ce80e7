#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "fixture_model.h"
#include "model/cost.h"
#include "model/family.h"
#include "model/operators.h"

/* Caches of released models. Each expectation is written as the published formula with the
 * published widths, not as what the program printed: keys and values of a token are
 * 2 x heads x width x 2 bytes, a latent with its rope slice (512 + 64) x 2, an index key 128 x 2;
 * a delta rule keeps value heads x key width x value width numbers and the last three inputs of its
 * convolution. Totals of parameters are the sums of released headers. */
struct released {
    const char *slug;
    uint64_t step_bytes;
    uint32_t step_tokens;
    uint64_t window_bytes, state_bytes;
    uint64_t fp8_step_bytes; /* 0: not compared */
    uint64_t params;         /* 0: not known; 1: not compared */
};

#define KV(heads, width) (2ull * (heads) * (width)*2)
#define DELTA(nk, nv, d, s) ((nv) * (d) * (d) * (s) + (2ull * (nk) * (d) + (nv) * (d)) * 3 * 2)
#define MAMBA(h, hd, g, ns, s) ((h) * (hd) * (ns) * (s) + ((h) * (hd) + 2ull * (g) * (ns)) * 3 * 2)

static const struct released released[] = {
    /* MLA, and with an index: 61 x 1,152; + 61 x 256; in FP8 656 and 132 */
    {"aic-deepseek-ai--DeepSeek-V3", 70272, 1, 0, 0, 61 * 656, 671026419200},
    {"aic-moonshotai--Kimi-K2-Thinking", 70272, 1, 0, 0, 61 * 656, 1026408232448},
    {"aic-deepseek-ai--DeepSeek-V3.2", 85888, 1, 0, 0, 48068,
     671026419200 + 61ull * (64 * 128 * 1536 + 128 * 7168 + 256 + 64 * 7168)},
    {"aic-nvidia--DeepSeek-V3.2-NVFP4", 85888, 1, 0, 0, 48068, 1},
    {"aic-zai-org--GLM-5", 78 * (1152 + 256), 1, 0, 0, 78 * (656 + 132), 1},
    /* 3 layers and every fourth behind pick for themselves: 21 of 78 */
    {"aic-zai-org--GLM-5.2", 78 * 1152 + 21 * 256, 1, 0, 0, 78 * 656 + 21 * 132, 0},
    /* compressed: 21 layers at 4 with an index, 20 at 128, a window of 128 on all 43 */
    {"aic-deepseek-ai--DeepSeek-V4-Flash", 21 * 32 * (1024 + 256) + 20 * 1024, 128, 43 * 128 * 1024,
     0, 21 * 32 * (584 + 132) + 20 * 584, 0},
    {"aic-RedHatAI--DeepSeek-V4-Flash-NVFP4-FP8", 21 * 32 * (1024 + 256) + 20 * 1024, 128,
     43 * 128 * 1024, 0, 21 * 32 * (584 + 132) + 20 * 584, 0},
    {"aic-deepseek-ai--DeepSeek-V4-Pro", 30 * 32 * (1024 + 256) + 31 * 1024, 128, 61 * 128 * 1024,
     0, 30 * 32 * (584 + 132) + 31 * 584, 0},
    /* delta rules: Kimi's in F32 always, Qwen's where mamba_ssm_dtype says so */
    {"aic-moonshotai--Kimi-K3", 27648, 1, 0, 449372160, 24 * 656, 2779484476000},
    {"made-Kimi-Linear-48B-A3B", 8064, 1, 0, 43417600, 7 * 656, 49122681728},
    {"aic-nvidia--Qwen3.5-397B-A17B-NVFP4", 15 * KV(2, 256), 1, 0, 45 * DELTA(16, 64, 128, 4),
     15 * KV(2, 256) / 2, 1},
    {"aic-Qwen--Qwen3.5-35B-A3B", 10 * KV(2, 256), 1, 0, 30 * DELTA(16, 32, 128, 4), 0, 1},
    {"aic-Qwen--Qwen3.5-27B", 16 * KV(4, 256), 1, 0, 48 * DELTA(16, 48, 128, 4), 0, 1},
    {"aic-Qwen--Qwen3-Next-80B-A3B-Thinking", 12 * KV(2, 256), 1, 0, 36 * DELTA(16, 32, 128, 2), 0,
     79674391296},
    {"aic-Qwen--Qwen3.8-2.4T-A95B", 23 * KV(4, 256), 1, 0, 69 * DELTA(16, 128, 128, 4), 0, 1},
    /* state spaces */
    {"aic-nvidia--NVIDIA-Nemotron-3-Super-120B-A12B-FP8", 8 * KV(2, 128), 1, 0,
     40 * MAMBA(128, 64, 8, 128, 4), 0, 1},
    {"aic-nvidia--NVIDIA-Nemotron-3-Ultra-550B-A55B-FP8", 12 * KV(2, 128), 1, 0,
     48 * MAMBA(256, 64, 8, 128, 4), 0, 1},
    {"aic-nvidia--NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", 6 * KV(2, 128), 1, 0,
     23 * MAMBA(64, 64, 8, 128, 4), 0, 31577937344 + 23 * 128},
    {"aic-nvidia--NVIDIA-Nemotron-3.5-Lightning-30B-A3B-NVFP4", 6 * KV(2, 128), 1, 0,
     23 * MAMBA(64, 64, 8, 128, 4), 0, 1},
    {"aic-nvidia--Nemotron-H-56B-Base-8K", 10 * KV(8, 128), 1, 0, 54 * MAMBA(256, 64, 8, 256, 2), 0,
     1},
    /* windows, sinks, chunks */
    {"aic-openai--gpt-oss-120b", 18 * KV(8, 64), 1, 18ull * 128 * KV(8, 64), 0, 18 * KV(8, 64) / 2,
     116829156672},
    {"lfs-medgemma-27b", 10 * KV(16, 128), 1, 52ull * 1024 * KV(16, 128), 0, 0, 1},
    {"aic-nvidia--Gemma-4-31B-IT-NVFP4", 10 * KV(4, 512), 1, 50ull * 1024 * KV(16, 256), 0, 0, 0},
    {"aic-google--gemma-4-26B-A4B", 5 * KV(2, 512), 1, 25ull * 1024 * KV(8, 256), 0, 0, 0},
    {"aic-meta-llama--Llama-4-Scout-17B-16E-Instruct", 12 * KV(8, 128), 1,
     36ull * 8192 * KV(8, 128), 0, 0, 107769861120},
    {"aic-meta-llama--Llama-4-Maverick-17B-128E-Instruct", 12 * KV(8, 128), 1,
     36ull * 8192 * KV(8, 128), 0, 0, 107769861120 + 292941987840},
    /* keys of 192, values of 128; 4 heads in 9 full layers, 8 in 39 windows */
    {"aic-XiaomiMiMo--MiMo-V2-Flash", 9 * 4 * (192 + 128) * 2, 1, 39ull * 128 * 8 * (192 + 128) * 2,
     0, 0, 0},
    {"aic-poolside--Laguna-S-2.1-FP8", 12 * KV(8, 128), 1, 36ull * 512 * KV(8, 128), 0, 0, 0},
    {"aic-stepfun-ai--Step-3.7-Flash", 12 * KV(8, 128), 1, 33ull * 512 * KV(8, 128), 0, 0, 0},
    {"tt-EXAONE-4.0-32B", 16 * KV(8, 128), 1, 48ull * 4096 * KV(8, 128), 0, 0, 32003216384},
    {"tt-Olmo-3.1-32B-Instruct", 16 * KV(8, 128), 1, 48ull * 4096 * KV(8, 128), 0, 0, 1},
    {"prymmal-phi3-slerp", 0, 1, 32ull * 2047 * KV(32, 96), 0, 0, 3821079552},
    /* MiniMax: plain since M2; M3 with an index of blocks on 57 layers */
    {"aic-MiniMaxAI--MiniMax-M2.7", 62 * KV(8, 128), 1, 0, 0, 0, 228689764864},
    {"aic-MiniMaxAI--MiniMax-M3", 122880 + 14592, 1, 0, 0, 0, 0},
    {"aic-nvidia--MiniMax-M3-NVFP4", 122880 + 14592, 1, 0, 0, 0, 0},
    /* blocks of a search: 49 of 80 layers have attention, each with 8 heads of keys */
    {"aic-nvidia--Llama-3_3-Nemotron-Super-49B-v1", 49 * KV(8, 128), 1, 0, 0, 0, 49867145216},
    /* text models of vision and audio models */
    {"aic-Qwen--Qwen3-VL-30B-A3B-Instruct", 48 * KV(4, 128), 1, 0, 0, 0, 30532122624},
    {"tt-Voxtral-Mini-3B-2507", 30 * KV(8, 128), 1, 0, 0, 0, 1},
    {"tt-LFM2.5-VL-1.6B", 6 * KV(8, 64), 1, 0, 10 * 2048 * 2 * 2, 0, 0},
    /* older classes with key names of their own */
    {"lfs-bloom-176b", 70 * KV(112, 128), 1, 0, 0, 0, 0},
    {"lfs-falcon-40b", 60 * KV(8, 64), 1, 0, 0, 0, 0},
    {"rtp-starcode", 42 * KV(1, 128), 1, 0, 0, 0, 0},
    {"lfs-oasst-pythia-rm", 24 * KV(16, 128), 1, 0, 0, 0, 0},
    {"servsim-old-opt-6.7b", 32 * KV(32, 128), 1, 0, 0, 0, 0},
    {"phi-2-mixformer", 32 * KV(32, 80), 1, 0, 0, 0, 0},
    {"lfs-qwen-72b", 80 * KV(64, 128), 1, 0, 0, 0, 0},
    {"lfs-zhuzhi-6b", 28 * KV(2, 128), 1, 0, 0, 0, 0},
    {"rtp-cohere", 40 * KV(64, 128), 1, 0, 0, 0, 34980831232},
    {"tt-phi-4", 40 * KV(10, 128), 1, 0, 0, 0, 14659507200},
    {"gemma-2b", 18 * KV(1, 256), 1, 0, 0, 0, 2506172416},
    /* 24 x (32 matrices of 64 x 64 in F32, and two inputs of 2048) */
    {"rwkv6-world", 0, 1, 0, 24 * (32 * 64 * 64 * 4 + 2 * 2048 * 2), 0, 0},
    /* own tokens grow; keys and values of 1500 positions of the encoder do not */
    {"lfs-phowhisper-tiny", 4 * KV(6, 64), 1, 0, 4ull * 1500 * KV(6, 64), 0, 0},
    {"gte-small-bert", 0, 1, 0, 0, 0, 0},
    /* heads that draft for another model */
    {"specforge-qwen3-8b-eagle3", KV(8, 128), 1, 0, 0, 0, 0},
    {"specforge-qwen3.5-35b-a3b-dflash", 8 * KV(4, 128), 1, 0, 0, 0, 0},
};

static void check_released(const struct released *r, struct fixture_model *f)
{
    struct cost c;
    if (cost_of(&f->m, &c, &f->e))
        fail_msg("%s: %s", r->slug, f->e.msg);
    if (c.cache_step_bytes != r->step_bytes || c.cache_step_tokens != r->step_tokens ||
        c.window_bytes != r->window_bytes || c.state_bytes != r->state_bytes)
        fail_msg("%s: %llu bytes each %u tokens, windows of %llu, %llu constant", r->slug,
                 (unsigned long long)c.cache_step_bytes, c.cache_step_tokens,
                 (unsigned long long)c.window_bytes, (unsigned long long)c.state_bytes);
    if (r->fp8_step_bytes && (!c.fp8_known || c.fp8_step_bytes != r->fp8_step_bytes))
        fail_msg("%s: %llu bytes in FP8", r->slug, (unsigned long long)c.fp8_step_bytes);
    if (r->params != 1 && (c.params_known != (r->params != 0) || c.params_total != r->params))
        fail_msg("%s: %llu parameters: %s", r->slug, (unsigned long long)c.params_total,
                 c.params_why);
    /* the same, layer by layer, past every window and after whole steps */
    uint64_t tokens = 1ull << 24;
    assert_int_equal(cost_model_bytes(&f->m, tokens),
                     tokens / r->step_tokens * r->step_bytes + r->window_bytes + r->state_bytes);
    cost_release(&c);
}

static void caches_of_released_models_follow_the_formulas(void **state)
{
    size_t found = 0;
    (void)state;
    for (size_t i = 0; i < sizeof released / sizeof *released; i++) {
        struct fixture_model f;
        if (!fixture_real(&f, NULL, released[i].slug))
            continue;
        check_released(&released[i], &f);
        fixture_end(&f);
        found++;
    }
    if (!found)
        skip();
}

/* --- models whose files are not at hand: their keys as published, in small type */

struct made {
    struct released want;
    const char *config;
};

#define COMMON \
    "\"vocab_size\":1000,\"hidden_act\":\"silu\",\"rms_norm_eps\":1e-06,\"dtype\":\"bfloat16\","
#define DSA_KEYS                                                                             \
    "\"kv_lora_rank\":512,\"q_lora_rank\":1536,\"index_n_heads\":32,\"index_head_dim\":128," \
    "\"index_topk\":2048,\"n_routed_experts\":288,\"n_shared_experts\":1,"                   \
    "\"num_experts_per_tok\":8,\"moe_intermediate_size\":2048,\"first_k_dense_replace\":3,"  \
    "\"n_group\":1,\"topk_group\":1,\"norm_topk_prob\":true,\"scoring_func\":\"sigmoid\","   \
    "\"intermediate_size\":12288,"

static const struct made made[] = {
    {{"GLM-5.3-Flash", 11 * (512 * 2) * 4 + 11 * 256, 4, 0,
      34ull * (64 * 128 * 128 * 4 + 3 * 64 * 128 * 3 * 2), 0, 0},
     "{\"model_type\":\"glm5_next\",\"architectures\":[\"Glm5NextForConditionalGeneration\"],"
     "\"text_config\":{\"model_type\":\"glm5_next_text\"," COMMON DSA_KEYS
     "\"hidden_size\":4096,\"num_hidden_layers\":45,\"num_attention_heads\":64,"
     "\"qk_nope_head_dim\":256,\"qk_rope_head_dim\":0,\"v_head_dim\":256,\"mla_use_nope\":true,"
     "\"hc_mult\":4,\"index_kpool\":4,\"index_kpool_compress\":true,"
     "\"linear_attn_config\":{\"num_heads\":64,\"head_dim\":128,\"short_conv_kernel_size\":4,"
     "\"gate_lower_bound\":-5.0,\"full_attn_layers\":[3,7,11,15,19,23,27,31,35,39,43],"
     "\"kda_layers\":[0,1,2,4,5,6,8,9,10,12,13,14,16,17,18,20,21,22,24,25,26,28,29,30,32,33,34,36,"
     "37,38,40,41,42,44]}}}"},
    /* 80 layers, every eighth softmax; BF16 where no other format is declared */
    {{"MiniMax-M1", 10 * KV(8, 128), 1, 0, 70ull * 64 * 128 * 128 * 2, 0, 0},
     "{\"model_type\":\"minimax_m1\"," COMMON "\"hidden_size\":6144,\"intermediate_size\":9216,"
     "\"num_hidden_layers\":80,\"num_attention_heads\":64,\"num_key_value_heads\":8,"
     "\"head_dim\":128,\"num_local_experts\":32,\"num_experts_per_tok\":2,\"attn_type_list\":["
     "0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,1,"
     "0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,1]}"},
    {{"gpt-oss-20b", 12 * KV(8, 64), 1, 12ull * 128 * KV(8, 64), 0, 0, 20914757184},
     "{\"model_type\":\"gpt_oss\",\"architectures\":[\"GptOssForCausalLM\"],"
     "\"vocab_size\":201088,\"hidden_act\":\"silu\",\"rms_norm_eps\":1e-05,\"hidden_size\":2880,"
     "\"intermediate_size\":2880,\"num_hidden_layers\":24,\"num_attention_heads\":64,"
     "\"num_key_value_heads\":8,\"head_dim\":64,\"num_local_experts\":32,"
     "\"num_experts_per_tok\":4,\"sliding_window\":128,\"attention_bias\":true,"
     "\"tie_word_embeddings\":false,\"swiglu_limit\":7.0}"},
    /* (i + 1) mod 6 == 0 is global, said by the key or by the class */
    {{"Gemma 3 4B", 5 * KV(4, 256), 1, 29ull * 1024 * KV(4, 256), 0, 0, 1},
     "{\"model_type\":\"gemma3\",\"text_config\":{\"model_type\":\"gemma3_text\"," COMMON
     "\"hidden_size\":2560,\"intermediate_size\":10240,\"num_hidden_layers\":34,"
     "\"num_attention_heads\":8,\"num_key_value_heads\":4,\"head_dim\":256,"
     "\"sliding_window\":1024}}"},
    {{"Gemma 3 4B, with the stride", 5 * KV(4, 256), 1, 29ull * 1024 * KV(4, 256), 0, 0, 1},
     "{\"model_type\":\"gemma3\",\"text_config\":{\"model_type\":\"gemma3_text\"," COMMON
     "\"hidden_size\":2560,\"intermediate_size\":10240,\"num_hidden_layers\":34,"
     "\"num_attention_heads\":8,\"num_key_value_heads\":4,\"head_dim\":256,"
     "\"sliding_window\":1024,\"sliding_window_pattern\":6}}"},
    {{"Gemma 2 2B", 13 * KV(4, 256), 1, 13ull * 4096 * KV(4, 256), 0, 0, 2614341888},
     "{\"model_type\":\"gemma2\",\"vocab_size\":256000,\"hidden_activation\":"
     "\"gelu_pytorch_tanh\",\"rms_norm_eps\":1e-06,\"hidden_size\":2304,"
     "\"intermediate_size\":9216,\"num_hidden_layers\":26,\"num_attention_heads\":8,"
     "\"num_key_value_heads\":4,\"head_dim\":256,\"sliding_window\":4096,"
     "\"attn_logit_softcapping\":50.0,\"final_logit_softcapping\":30.0}"},
    /* the last 10 of 30 layers read what layers 18 and 19 keep: 4 full and 16 windows are left */
    {{"Gemma 3n E2B", 4 * KV(2, 256), 1, 16ull * 512 * KV(2, 256), 0, 0, 0},
     "{\"model_type\":\"gemma3n\",\"text_config\":{\"model_type\":\"gemma3n_text\"," COMMON
     "\"hidden_size\":2048,\"intermediate_size\":8192,\"num_hidden_layers\":30,"
     "\"num_attention_heads\":8,\"num_key_value_heads\":2,\"head_dim\":256,"
     "\"sliding_window\":512,\"num_kv_shared_layers\":10}}"},
    /* 48 layers, every fourth with an index key for 4 tokens */
    {{"Qwen with a pooled index", 12 * KV(2, 256) * 4 + 12 * 128 * 2, 4, 0,
      36 * DELTA(16, 48, 128, 2), 0, 0},
     "{\"model_type\":\"qwen4_exp_text\"," COMMON
     "\"hidden_size\":2560,\"num_hidden_layers\":48,\"num_attention_heads\":24,"
     "\"num_key_value_heads\":2,\"head_dim\":256,\"full_attention_interval\":4,"
     "\"linear_num_key_heads\":16,\"linear_num_value_heads\":48,\"linear_key_head_dim\":128,"
     "\"linear_value_head_dim\":128,\"linear_conv_kernel_dim\":4,\"num_experts\":512,"
     "\"num_experts_per_tok\":10,\"moe_intermediate_size\":640,"
     "\"shared_expert_intermediate_size\":640,\"indexer_head_dim\":128,\"indexer_kv_heads\":1,"
     "\"indexer_compress_ratio\":4,\"indexer_budget\":2048,\"hc_count\":4,\"hc_lowrank\":320}"},
    /* of 40 layers 2, 8 and 14 keep a latent for 2 tokens, and 20 one for each: 1,790 in FP8 */
    {{"DeepSeek V4.1 Flash", 2 * 5 * (1024 + 256) / 2, 2, 40ull * 128 * 1024, 0, 2 * 1790, 0},
     "{\"model_type\":\"deepseek_v41\",\"text_config\":{\"model_type\":\"deepseek_v41_"
     "text\"," COMMON "\"hidden_size\":5120,\"num_hidden_layers\":40,\"num_attention_heads\":64,"
     "\"num_key_value_heads\":1,\"head_dim\":512,\"qk_rope_head_dim\":64,\"q_lora_rank\":1280,"
     "\"sliding_window\":128,\"index_n_heads\":64,\"index_head_dim\":128,\"index_topk\":512,"
     "\"n_routed_experts\":384,\"num_experts_per_tok\":6,\"moe_intermediate_size\":2304,"
     "\"norm_topk_prob\":true,\"scoring_func\":\"sqrtsoftplus\",\"kv_source_layer_ids\":[2,8,14,20]"
     ","
     "\"index_source_layer_ids\":[2,8,14,20,24,28,32,36],\"compress_ratios\":[0,0,2,2,2,2,2,2,2,2,"
     "2,"
     "2,2,2,2,2,2,2,2,2,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}}"},
};

static void caches_of_published_keys_follow_the_formulas(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        struct fixture_model f;
        if (fixture_build(&f, NULL, "%s", made[i].config))
            fail_msg("%s: %s", made[i].want.slug, f.e.msg);
        check_released(&made[i].want, &f);
        fixture_end(&f);
    }
}

/* --- the state's number format is declared, or it is the model's */

static void states_have_the_format_that_is_declared(void **state)
{
    static const struct {
        const char *keys, *rule;
        uint64_t bytes; /* of a number; 0: the cache is not known */
    } cases[] = {
        {"\"dtype\":\"bfloat16\"", "dtype bfloat16, no mamba_ssm_dtype is declared", 2},
        {"\"torch_dtype\":\"float32\"", "torch_dtype float32, no", 4},
        {"\"dtype\":\"bfloat16\",\"mamba_ssm_dtype\":\"float32\"", "mamba_ssm_dtype float32", 4},
        {"\"dtype\":\"float32\",\"mamba_ssm_cache_dtype\":\"bfloat16\"",
         "mamba_ssm_cache_dtype bfloat16", 2},
        {"\"dtype\":\"torch.float16\"", "dtype float16", 2},
        {"\"use_cache\":true", "no number format is declared", 2},
        {"\"mamba_ssm_dtype\":\"int7\"", "mamba_ssm_dtype int7", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture_model f;
        struct cost c;
        if (fixture_build(&f, NULL,
                          "{\"model_type\":\"qwen3_5_text\",\"hidden_size\":64,"
                          "\"intermediate_size\":128,\"vocab_size\":100,\"hidden_act\":\"silu\","
                          "\"rms_norm_eps\":1e-06,\"num_hidden_layers\":4,"
                          "\"num_attention_heads\":4,\"num_key_value_heads\":2,\"head_dim\":16,"
                          "\"full_attention_interval\":4,\"linear_num_key_heads\":2,"
                          "\"linear_num_value_heads\":4,\"linear_key_head_dim\":8,"
                          "\"linear_value_head_dim\":16,\"linear_conv_kernel_dim\":4,%s}",
                          cases[i].keys))
            fail_msg("%s: %s", cases[i].keys, f.e.msg);
        if ((cost_of(&f.m, &c, &f.e) == 0) != (cases[i].bytes != 0))
            fail_msg("%s: %s", cases[i].keys, f.e.msg);
        if (!strstr(f.m.state_rule, cases[i].rule))
            fail_msg("%s: %s", cases[i].keys, f.m.state_rule);
        if (cases[i].bytes) {
            /* 4 heads of 8 x 16; q and k of 2 x 8, v of 4 x 16 */
            assert_int_equal(c.state_bytes, 3 * (4 * 8 * 16 * cases[i].bytes + 96 * 3 * 2));
            cost_release(&c);
        }
        fixture_end(&f);
    }
}

/* --- what hides what */

#define LLAMA "{" FIXTURE_LLAMA ",%s}"

static void a_key_hides_only_what_it_can_change(void **state)
{
    static const struct {
        const char *key;
        bool cache, params, operators;
    } cases[] = {
        {"\"num_local_experts\":4", true, false, false},
        {"\"swiglu_limit\":7.0", true, true, false},
        {"\"lm_head_bias\":true", true, false, true},
        {"\"num_nextn_predict_layers\":1", true, false, true},
        {"\"index_topk\":2048", false, false, false},
        {"\"sliding_window_pattern\":6", false, false, false},
        {"\"mamba_num_heads\":4", false, false, false},
        {"\"kv_lora_rank\":512", false, false, false},
        {"\"multi_query\":true", false, false, false},
        /* two words: a bias, and what a bias stands on */
        {"\"lightning_gate_bias\":true", false, false, false},
        {"\"num_hash_layers\":3", true, false, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture_model f;
        struct cost c = {0};
        struct operators o;
        assert_int_equal(fixture_build(&f, NULL, LLAMA, cases[i].key), 0);
        bool cache = cost_of(&f.m, &c, &f.e) == 0;
        bool operators = operators_of(&f.m, &o, &f.e) == 0;
        if (cache != cases[i].cache || operators != cases[i].operators ||
            (cache && c.params_known != cases[i].params))
            fail_msg("%s: cache %d, parameters %d, operators %d", cases[i].key, cache,
                     c.params_known, operators);
        if (cache && !c.params_known)
            assert_non_null(strstr(c.params_why, f.m.unexplained[0]));
        if (cache)
            cost_release(&c);
        fixture_end(&f);
    }
}

/* A fact of the cache stays known when the parameters are not, and the other way round is said. */
static void facts_tell_the_cache_without_the_parameters(void **state)
{
    struct fixture_model f;
    struct cost c;
    struct fact_list l;
    (void)state;
    assert_int_equal(fixture_build(&f, NULL, LLAMA, "\"lm_head_bias\":true"), 0);
    assert_int_equal(cost_of(&f.m, &c, &f.e), 0);
    fact_list_init(&l);
    struct fact_sink sink = fact_list_sink(&l);
    assert_int_equal(cost_facts(&f.m, &c, NULL, NULL, &sink, &f.e), 0);
    const struct fact *p = fact_list_find(&l, FACT_MODEL_PARAMS_TOTAL, "");
    const struct fact *t = fact_list_find(&l, FACT_MODEL_CACHE_PER_TOKEN, "");
    assert_int_equal(p->state, FACT_UNKNOWN);
    assert_non_null(strstr(p->why, "lm_head_bias"));
    assert_int_equal(t->state, FACT_KNOWN);
    assert_int_equal(t->i, 2 * 2 * 2 * 16 * 2);
    /* it says nothing about operators, so it is no gap in their list */
    assert_null(fact_list_find(&l, FACT_MODEL_UNEXPLAINED, NULL));
    fact_list_release(&l);
    cost_release(&c);
    fixture_end(&f);
}

/* --- the tables themselves */

static void check_family(const struct family *f)
{
    const char *name = f->types[0];
    if (!name || !f->architectures[0] || !f->prefix)
        fail_msg("%s has no type, architecture or prefix", name ? name : "?");
    if (f->keys && (f->keys[0] != ' ' || f->keys[strlen(f->keys) - 1] != ' '))
        fail_msg("keys of %s are not between spaces", name);
    if (f->layout != FAMILY_LAYOUT_UNKNOWN && f->moe != FAMILY_DENSE && !f->moe_dir)
        fail_msg("%s has experts without a folder", name);
    /* the row is found by what it says of itself */
    if (family_find(name, f->architectures[0]) != f)
        fail_msg("%s, %s finds another row", name, f->architectures[0]);
}

static void rows_of_the_tables_are_whole_and_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < family_llama_count; i++)
        check_family(&family_llama[i]);
    for (size_t i = 0; i < family_mixed_count; i++)
        check_family(&family_mixed[i]);
    for (size_t i = 0; i < family_wrappers_count; i++) {
        const struct family_wrapper *w = &family_wrappers[i];
        assert_ptr_equal(family_find_wrapper(w->type, w->architectures[0]), w);
        for (int k = 0; k < FAMILY_NAMES_MAX && w->texts[k]; k++)
            if (!family_find(w->texts[k], ""))
                fail_msg("%s holds %s, which is no family", w->type, w->texts[k]);
    }
}

static void a_draft_head_is_one_only_by_its_architecture(void **state)
{
    (void)state;
    assert_false(family_find("llama", "")->draft);
    assert_true(family_find("llama", "LlamaForCausalLMEagle3")->draft);
    assert_true(family_find("qwen3", "DFlashDraftModel")->draft);
    assert_null(family_find("qwen3", "LlamaForCausalLMEagle3"));
    assert_null(family_find("", ""));
    assert_string_equal(family_find("", "Phi3ForCausalLM")->types[0], "phi3");
}

static void keys_are_whole_words(void **state)
{
    (void)state;
    assert_true(family_has_key(" a_b c ", "c"));
    assert_true(family_has_key(" a_b c ", "a_b"));
    assert_false(family_has_key(" a_b c ", "b"));
    assert_false(family_has_key(" a_b c ", "a"));
    assert_false(family_has_key(NULL, "a"));
    /* a config may have such keys */
    assert_false(family_has_key(" a_b  c ", ""));
    assert_false(family_has_key(" a_b c ", "a_b c"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(caches_of_released_models_follow_the_formulas),
        cmocka_unit_test(caches_of_published_keys_follow_the_formulas),
        cmocka_unit_test(states_have_the_format_that_is_declared),
        cmocka_unit_test(a_key_hides_only_what_it_can_change),
        cmocka_unit_test(facts_tell_the_cache_without_the_parameters),
        cmocka_unit_test(rows_of_the_tables_are_whole_and_found),
        cmocka_unit_test(a_draft_head_is_one_only_by_its_architecture),
        cmocka_unit_test(keys_are_whole_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
