#include "model/family.h"
#include <string.h>

#define EXPERTS_LONG .gate = "gate_proj", .up = "up_proj", .down = "down_proj"
#define EXPERTS_SHORT .gate = "w1", .up = "w3", .down = "w2"

/* Sources: the model classes of transformers 4.5x for llama to qwen3_moe; the configuration and
 * modelling files shipped with the checkpoints for DeepSeek and Kimi; tensor headers of Kimi K3. */
static const struct family families[] = {
    {.name = "llama",
     .architectures = {"LlamaForCausalLM", "LLaMAForCausalLM"},
     .prefix = "model.",
     .attention_bias = true,
     .mlp_bias = true,
     .kv_heads_optional = true,
     .head_dim_optional = true},
    {.name = "mistral",
     .architectures = {"MistralForCausalLM"},
     .prefix = "model.",
     .window = FAMILY_WINDOW_ALL,
     .window_required = true,
     .head_dim_optional = true},
    {.name = "mixtral",
     .architectures = {"MixtralForCausalLM"},
     .prefix = "model.",
     .moe = FAMILY_MIXTRAL,
     .window = FAMILY_WINDOW_ALL,
     .head_dim_optional = true,
     .moe_dir = "block_sparse_moe",
     EXPERTS_SHORT},
    {.name = "qwen2",
     .architectures = {"Qwen2ForCausalLM"},
     .prefix = "model.",
     .window = FAMILY_WINDOW_QWEN,
     .qkv_bias = true,
     .head_dim_optional = true},
    {.name = "qwen2_moe",
     .architectures = {"Qwen2MoeForCausalLM"},
     .prefix = "model.",
     .moe = FAMILY_QWEN,
     .qkv_bias = true,
     .head_dim_optional = true,
     .moe_dir = "mlp",
     .shared_dir = "shared_expert",
     EXPERTS_LONG},
    {.name = "qwen3",
     .architectures = {"Qwen3ForCausalLM"},
     .prefix = "model.",
     .window = FAMILY_WINDOW_QWEN,
     .qk_norm = true,
     .attention_bias = true},
    {.name = "qwen3_moe",
     .architectures = {"Qwen3MoeForCausalLM"},
     .prefix = "model.",
     .moe = FAMILY_QWEN,
     .qk_norm = true,
     .attention_bias = true,
     .moe_dir = "mlp",
     EXPERTS_LONG},
    {.name = "deepseek_v3",
     .architectures = {"DeepseekV3ForCausalLM"},
     .prefix = "model.",
     .attention = FAMILY_MLA,
     .moe = FAMILY_DEEPSEEK,
     .moe_dir = "mlp",
     .shared_dir = "shared_experts",
     EXPERTS_LONG},
    {.name = "kimi_k2",
     .architectures = {"DeepseekV3ForCausalLM", "KimiK2ForCausalLM"},
     .prefix = "model.",
     .attention = FAMILY_MLA,
     .moe = FAMILY_DEEPSEEK,
     .moe_dir = "mlp",
     .shared_dir = "shared_experts",
     EXPERTS_LONG},
    {.name = "kimi_k25",
     .text_types = {"kimi_k2", "deepseek_v3"},
     .architectures = {"KimiK25ForConditionalGeneration"},
     .prefix = "language_model.model.",
     .attention = FAMILY_MLA,
     .moe = FAMILY_DEEPSEEK,
     .moe_dir = "mlp",
     .shared_dir = "shared_experts",
     EXPERTS_LONG},
    {.name = "kimi_linear",
     .architectures = {"KimiLinearForCausalLM"},
     .prefix = "model.",
     .attention = FAMILY_KDA_MLA,
     .moe = FAMILY_KIMI,
     .moe_dir = "block_sparse_moe",
     .shared_dir = "shared_experts",
     EXPERTS_SHORT},
    {.name = "kimi_k3",
     .text_types = {"kimi_linear"},
     .architectures = {"KimiK3ForConditionalGeneration"},
     .prefix = "language_model.model.",
     .attention = FAMILY_KDA_MLA,
     .moe = FAMILY_KIMI,
     .moe_dir = "block_sparse_moe",
     .shared_dir = "shared_experts",
     EXPERTS_SHORT},
};

const struct family *family_find(const char *model_type)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (!strcmp(families[i].name, model_type))
            return &families[i];
    return NULL;
}

static bool among(const char *const *names, const char *name)
{
    for (int i = 0; i < FAMILY_NAMES_MAX && names[i]; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

bool family_has_architecture(const struct family *f, const char *architecture)
{
    return among(f->architectures, architecture);
}

bool family_has_text_type(const struct family *f, const char *model_type)
{
    return among(f->text_types, model_type);
}
