#ifndef MODEL_FAMILY_H
#define MODEL_FAMILY_H
#include <stdbool.h>

/* The architecture families that are understood, each with what its code does that its config does
 * not say: names of modules, biases, defaults. Everything else comes from the config. */

enum family_attention {
    FAMILY_GQA,
    FAMILY_MLA,
    FAMILY_KDA_MLA /* a list in the config gives each layer one of the two */
};

enum family_moe { FAMILY_DENSE, FAMILY_MIXTRAL, FAMILY_QWEN, FAMILY_DEEPSEEK, FAMILY_KIMI };

/* How a sliding window is declared. */
enum family_window {
    FAMILY_WINDOW_NONE, /* the family's code has none: a key that asks for one is unexplained */
    FAMILY_WINDOW_ALL,  /* sliding_window, when not null, holds on every layer */
    FAMILY_WINDOW_QWEN  /* use_sliding_window, then layers from max_window_layers on */
};

#define FAMILY_NAMES_MAX 3

struct family {
    const char *name; /* model_type, of the outer config where there is a text_config */
    const char *text_types[FAMILY_NAMES_MAX]; /* model_type of text_config; none: no text_config */
    const char *architectures[FAMILY_NAMES_MAX];
    const char *prefix; /* of the text tower's tensors as published; the tensors decide */
    enum family_attention attention;
    enum family_moe moe;
    enum family_window window;
    bool window_required;   /* a missing sliding_window means the class's own default, not none */
    bool qk_norm, qkv_bias; /* always there, whatever the config says */
    bool attention_bias;    /* the key attention_bias puts a bias on q, k, v and o */
    bool mlp_bias;          /* the key mlp_bias puts one on gate, up and down */
    bool kv_heads_optional; /* num_key_value_heads may be missing: as many as query heads */
    bool head_dim_optional; /* head_dim may be missing: hidden_size / num_attention_heads */
    const char *moe_dir;    /* "mlp", "block_sparse_moe" */
    const char *shared_dir; /* "shared_experts", "shared_expert" */
    const char *gate, *up, *down; /* matrices of one routed expert */
};

/* The family whose outer model_type is that, or NULL. */
const struct family *family_find(const char *model_type);
/* True if the name is among the family's architectures, or text types. */
bool family_has_architecture(const struct family *f, const char *architecture);
bool family_has_text_type(const struct family *f, const char *model_type);

#endif
