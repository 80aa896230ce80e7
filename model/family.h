#ifndef MODEL_FAMILY_H
#define MODEL_FAMILY_H
#include "model/model.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The architecture families that are understood, each with what its code does that its config does
 * not say: names of modules, biases, defaults. Everything else comes from the config. */

/* What a layer of full attention is. */
enum family_attention {
    FAMILY_GQA,
    FAMILY_MLA, /* with an index where the config has index_topk: DSA */
    FAMILY_MSA, /* GQA, and on the layers of sparse_attention_config an index of blocks */
    FAMILY_QSA, /* GQA with a compressed index of tokens */
    FAMILY_COMPRESSED
};

/* What a layer of linear attention is, in the families that have some. */
enum family_linear {
    FAMILY_LINEAR_NONE,
    FAMILY_LINEAR_KDA,
    FAMILY_LINEAR_GDN,
    FAMILY_LINEAR_LIGHTNING,
    FAMILY_LINEAR_RWKV
};

/* How layers are named in the config beside layer_types, and what holds without a word. */
enum family_window {
    FAMILY_WINDOW_NONE,   /* the family's code has none: a key that asks for one is unexplained */
    FAMILY_WINDOW_ALL,    /* sliding_window, when not null, holds on every layer */
    FAMILY_WINDOW_QWEN,   /* use_sliding_window, then layers from max_window_layers on */
    FAMILY_WINDOW_STRIDE, /* every layer but each window_stride-th (sliding_window_pattern) */
    FAMILY_WINDOW_LISTED, /* only where a list says so */
    FAMILY_WINDOW_CHUNK   /* attention_chunk_size on every layer with rotation (Llama 4) */
};

/* How the number of key and value heads is declared. */
enum family_kv {
    FAMILY_KV_NAMED,    /* num_key_value_heads */
    FAMILY_KV_OPTIONAL, /* the same, or as many as query heads */
    FAMILY_KV_ALL,      /* as many as query heads, always */
    FAMILY_KV_FALCON,   /* n_head_kv, num_kv_heads, or one with multi_query */
    FAMILY_KV_BIGCODE,  /* one with multi_query, which is the default */
    FAMILY_KV_CHATGLM   /* multi_query_group_num with multi_query_attention */
};

enum family_moe {
    FAMILY_DENSE,
    FAMILY_MIXTRAL,
    FAMILY_QWEN,
    FAMILY_DEEPSEEK,
    FAMILY_KIMI,
    FAMILY_GPT_OSS,
    FAMILY_LLAMA4,
    FAMILY_NEMOTRON,
    FAMILY_MINIMAX,
    FAMILY_MOE_OTHER /* there are experts; how they route is not known here */
};

/* Which names and shapes the parameters have. */
enum family_layout {
    FAMILY_LAYOUT_UNKNOWN, /* the parameters are not counted, tensors are not compared */
    FAMILY_LAYOUT_LLAMA,   /* self_attn.*, mlp.* and the family's own folders for experts */
    FAMILY_LAYOUT_NEMOTRON /* norm, mixer.* */
};

enum family_qk_norm { FAMILY_QK_NORM_NONE, FAMILY_QK_NORM_HEAD, FAMILY_QK_NORM_ALL };

#define FAMILY_NAMES_MAX 5

struct family {
    const char *name;                    /* NULL: the first type */
    const char *types[FAMILY_NAMES_MAX]; /* model_type */
    const char *architectures[FAMILY_NAMES_MAX];
    const char *prefix; /* of the tensors as published; the tensors decide */
    enum family_attention attention;
    enum family_linear linear;
    enum family_moe moe;
    enum family_window window;
    enum family_kv kv;
    enum family_layout layout;
    enum family_qk_norm qk_norm;
    uint32_t window_stride; /* what the class has where sliding_window_pattern is missing; 0: a must
                             */
    bool window_required;   /* a missing sliding_window means the class's own default, not none */
    bool qkv_bias;          /* always there, whatever the config says */
    bool attention_bias;    /* the key attention_bias puts a bias on q, k, v and o */
    bool mlp_bias;          /* the key mlp_bias puts one on gate, up and down */
    bool head_dim_optional; /* head_dim may be missing: hidden_size / num_attention_heads */
    bool tied;              /* the embedding is the head unless tie_word_embeddings is false */
    bool q_gate;            /* q_proj has a second half that gates the output */
    bool sinks;
    bool nope;          /* nothing is rotated, whatever rope keys are there */
    bool fused;         /* qkv_proj and gate_up_proj instead of five matrices */
    bool encoder;       /* bidirectional: caches nothing */
    bool draft;         /* a draft head for another model */
    bool ungated;       /* feed-forwards are two matrices */
    bool layer_norm;    /* norms subtract the mean and have a bias, where the layout does not say */
    const char *beyond; /* mechanisms that the list of operators has no name for; NULL: none */
    const char *act;    /* activation where the config names none */
    const char *norms;  /* vectors of hidden width in a layer, by spaces; NULL: the usual two */
    const char *keys;   /* further keys that are read, or that change nothing that is computed
                           here, by spaces and within spaces */
    /* Names below a layer. */
    const char *mlp_dir;          /* of a dense feed-forward; NULL: "mlp" */
    const char *moe_dir;          /* "mlp", "block_sparse_moe" */
    const char *shared_dir;       /* "shared_experts", "shared_expert" */
    const char *gate, *up, *down; /* matrices of one routed expert; gate NULL: there are two */
    const char *router;           /* NULL: "gate" */
    const char *correction;       /* of the correction bias; NULL: "gate.e_score_correction_bias" */
    const char *latent_down, *latent_up; /* into the experts' narrower space, and out of it */
    bool experts_fused; /* always two tensors for all experts, gate_up_proj and down_proj */
    bool experts_bias;  /* they and the router have biases */
    bool delta_joint;   /* Gated DeltaNet: in_proj_qkvz and in_proj_ba instead of four matrices */
};

/* A model around a text model that its text_config describes. */
struct family_wrapper {
    const char *type; /* model_type of the outer config */
    const char *architectures[FAMILY_NAMES_MAX];
    const char *texts[FAMILY_NAMES_MAX]; /* families of the text model that it is known to hold;
                                            the first where text_config has no model_type */
    const char *prefix;                  /* of the text model's tensors as published */
    const char *head; /* name of the head, or NULL: beside the prefix's "model." */
};

extern const struct family family_llama[], family_mixed[];
extern const size_t family_llama_count, family_mixed_count;
extern const struct family_wrapper family_wrappers[];
extern const size_t family_wrappers_count;

/* The family whose types have model_type and whose architectures have the architecture; either may
 * be "": then the other one has to name the family. NULL if there is none. */
const struct family *family_find(const char *model_type, const char *architecture);
const struct family_wrapper *family_find_wrapper(const char *model_type, const char *architecture);
/* True if the text family is among those that the wrapper holds. */
bool family_holds(const struct family_wrapper *w, const struct family *f);
/* True if the space-separated words have the key. */
bool family_has_key(const char *words, const char *key);

#endif
