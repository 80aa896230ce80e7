#include "model/gguf_names.h"
#include "core/text.h"
#include <stdio.h>
#include <string.h>

void gguf_names_split(const char *name, struct gguf_names *ret)
{
    struct gguf_names n = {.part = name, .suffix = ""};
    const char *dot = strrchr(name, '.');

    if (dot && (strcmp(dot, ".weight") == 0 || strcmp(dot, ".bias") == 0))
        n.suffix = dot;
    if (text_starts(name, "blk.")) {
        const char *digits = name + 4;
        size_t d = strspn(digits, "0123456789");
        if (d > 0 && d <= 9 && digits[d] == '.') {
            n.layered = true;
            for (size_t i = 0; i < d; i++)
                n.layer = n.layer * 10 + (uint32_t)(digits[i] - '0');
            n.part = digits + d + 1;
        }
    }
    n.part_bytes = n.suffix[0] && n.suffix >= n.part ? (size_t)(n.suffix - n.part) : strlen(n.part);
    *ret = n;
}

static bool is(const struct gguf_names *n, const char *part)
{
    return n->part_bytes == strlen(part) && memcmp(n->part, part, n->part_bytes) == 0;
}

static bool starts(const struct gguf_names *n, const char *start)
{
    return n->part_bytes >= strlen(start) && memcmp(n->part, start, strlen(start)) == 0;
}

static bool has(const struct gguf_names *n, const char *word)
{
    return memmem(n->part, n->part_bytes, word, strlen(word)) != NULL;
}

enum quant_class gguf_names_class(const struct tensor *t)
{
    struct gguf_names n;

    gguf_names_split(t->name, &n);
    if (text_starts(t->name, "v.") || text_starts(t->name, "mm.") || text_starts(t->name, "a."))
        return QUANT_OTHER; /* projectors of images and sounds */
    if (n.layered && has(&n, "nextn"))
        return QUANT_MTP;
    if (t->dims < 2 || has(&n, "norm") || has(&n, "conv1d") || starts(&n, "rope_"))
        return n.layered || has(&n, "norm") || starts(&n, "rope_") ? QUANT_NORMS : QUANT_OTHER;
    if (!n.layered)
        return is(&n, "token_embd") ? QUANT_EMBEDDING : is(&n, "output") ? QUANT_HEAD : QUANT_OTHER;
    if (has(&n, "shexp"))
        return QUANT_SHARED_EXPERTS;
    if (has(&n, "_exps") || has(&n, "_chexps"))
        return QUANT_ROUTED_EXPERTS;
    if (starts(&n, "ffn_gate_inp"))
        return QUANT_ROUTER;
    if (starts(&n, "ffn_latent"))
        return QUANT_LATENT;
    if (starts(&n, "ffn_"))
        return QUANT_DENSE_FFN;
    if (starts(&n, "attn_") || starts(&n, "ssm_") || starts(&n, "time_mix") ||
        starts(&n, "indexer"))
        return QUANT_ATTENTION;
    return QUANT_OTHER;
}

static const struct {
    const char *gguf, *name;
} outer[] = {
    {"token_embd", "model.embed_tokens"}, {"output_norm", "model.norm"}, {"output", "lm_head"}};

static const struct {
    const char *gguf, *name;
} layers[] = {{"attn_norm", "input_layernorm"},
              {"ffn_norm", "post_attention_layernorm"},
              {"attn_q", "self_attn.q_proj"},
              {"attn_k", "self_attn.k_proj"},
              {"attn_v", "self_attn.v_proj"},
              {"attn_output", "self_attn.o_proj"},
              {"attn_q_norm", "self_attn.q_norm"},
              {"attn_k_norm", "self_attn.k_norm"},
              {"ffn_gate", "mlp.gate_proj"},
              {"ffn_up", "mlp.up_proj"},
              {"ffn_down", "mlp.down_proj"},
              {"ffn_gate_shexp", "mlp.shared_expert.gate_proj"},
              {"ffn_up_shexp", "mlp.shared_expert.up_proj"},
              {"ffn_down_shexp", "mlp.shared_expert.down_proj"},
              {"ffn_gate_inp_shexp", "mlp.shared_expert_gate"}};

/* Routed experts are stacked in one tensor, gate, up and down. */
static const struct {
    const char *gguf, *name, *short_name;
} stacks[] = {{"ffn_gate_exps", "gate_proj", "w1"},
              {"ffn_up_exps", "up_proj", "w3"},
              {"ffn_down_exps", "down_proj", "w2"}};

bool gguf_names_translate(const char *name, const char *experts, bool short_names,
                          char ret[GGUF_NAMES_BYTES], bool *ret_stack)
{
    struct gguf_names n;
    const char *part = NULL;
    bool stack = false;

    gguf_names_split(name, &n);
    if (strcmp(name, "rope_freqs.weight") == 0) {
        /* what transformers computes from rope_scaling; old checkpoints carry such a table */
        snprintf(ret, GGUF_NAMES_BYTES, "model.layers.0.self_attn.rotary_emb.inv_freq");
        *ret_stack = false;
        return true;
    }
    if (!n.suffix[0])
        return false;
    if (!n.layered) {
        for (size_t i = 0; i < sizeof(outer) / sizeof(outer[0]) && !part; i++)
            if (is(&n, outer[i].gguf))
                part = outer[i].name;
        if (part)
            snprintf(ret, GGUF_NAMES_BYTES, "%s%s", part, n.suffix);
        *ret_stack = false;
        return part != NULL;
    }
    for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]) && !part; i++)
        if (is(&n, layers[i].gguf))
            part = layers[i].name;
    if (part) {
        snprintf(ret, GGUF_NAMES_BYTES, "model.layers.%u.%s%s", n.layer, part, n.suffix);
        *ret_stack = false;
        return true;
    }
    for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]) && !part; i++)
        if (is(&n, stacks[i].gguf)) {
            part = short_names ? stacks[i].short_name : stacks[i].name;
            stack = true;
        }
    if (part && experts)
        snprintf(ret, GGUF_NAMES_BYTES, "model.layers.%u.%s.experts.%%u.%s%s", n.layer, experts,
                 part, n.suffix);
    else if (is(&n, "ffn_gate_inp") && experts)
        snprintf(ret, GGUF_NAMES_BYTES, "model.layers.%u.%s.gate%s", n.layer, experts, n.suffix);
    else
        return false;
    *ret_stack = stack;
    return true;
}
