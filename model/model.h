#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H
#include "core/err.h"
#include "core/mem.h"
#include "model/finding.h"
#include "model/inventory.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a snapshot is: layers, each with a mixer, a residual kind, and a feed-forward kind. Built by
 * model_build from config.json and the tensor inventory; the tensors decide, the config explains.
 */

struct cJSON;
struct family; /* model/family.h */

#define MODEL_LAYERS_MAX 4096

enum mixer_kind {
    MIXER_UNKNOWN,
    MIXER_GQA,           /* softmax attention with kv_heads <= heads: MHA, GQA, MQA */
    MIXER_MLA,           /* multi-head latent attention */
    MIXER_KDA,           /* Kimi Delta Attention: gated delta rule, a decay per channel */
    MIXER_KEY_DECOUPLED, /* softmax attention whose keys and values have own head counts and widths
                          */
    MIXER_NONE,          /* the layer is a feed-forward only */
    MIXER_GATED_DELTA,   /* Gated DeltaNet: delta rule with one decay a value head */
    MIXER_LIGHTNING,     /* linear attention with a fixed decay a head */
    MIXER_MAMBA2,        /* state space: heads with a scalar decay, inputs shared in groups */
    MIXER_CONV,          /* a gated short convolution alone (LFM2) */
    MIXER_DSA,           /* MLA over the tokens that an index picks */
    MIXER_MSA,           /* GQA over the blocks that an index picks (MiniMax M3) */
    MIXER_QSA,           /* GQA over the tokens that a compressed index picks (Qwen) */
    MIXER_COMPRESSED,    /* DeepSeek V4: a window, and latents of several tokens each */
    MIXER_RWKV,          /* RWKV 5 and 6: a matrix a head, and the last token's inputs */
    MIXERS
};

/* What a layer of softmax attention keeps of the tokens it saw. */
enum mixer_store {
    MIXER_KEEPS,  /* their keys and values, or latents */
    MIXER_SHARES, /* nothing: it reads what an earlier layer keeps */
    MIXER_ENCODES /* nothing: an encoder sees all tokens at once */
};

enum kda_gate { KDA_GATE_SOFTPLUS, KDA_GATE_BOUNDED };

struct mixer {
    enum mixer_kind kind;
    uint32_t heads;     /* query heads */
    uint32_t key_heads; /* GQA: kv heads; KDA: heads; MLA: heads (after expansion) */
    uint32_t value_heads;
    uint32_t key_dim;   /* width of one key head; MLA: nope + rope */
    uint32_t value_dim; /* width of one value head */
    uint32_t window;    /* tokens of a sliding window, self included; 0 none */
    bool chunked;       /* the window does not slide: it starts anew every so many tokens */
    enum mixer_store store;
    uint32_t
        cross_tokens; /* positions of an encoder whose keys and values are kept beside; 0 none */
    bool sinks;       /* a learned logit a head in the softmax, without a value */
    bool output_gate; /* sigmoid gate before o_proj */
    bool qk_norm;     /* GQA: an RMSNorm of each query and key head */
    bool qkv_bias, o_bias; /* GQA: the projections have a bias */
    bool rope;             /* queries and keys, or the rope slice of them, are rotated */
    /* MLA */
    uint32_t kv_rank; /* width of the cached latent */
    uint32_t q_rank;  /* 0: queries are not compressed */
    uint32_t nope_dim, rope_dim;
    /* Recurrent kinds keep value_heads matrices of key_dim x value_dim. key_heads are the heads
     * that q and k have (Mamba2: the groups that B and C have, key_dim is its state size). */
    uint32_t state_element_bytes; /* of the matrices */
    uint32_t conv_kernel;         /* taps of the short convolutions; 0 none */
    /* An index that picks tokens: one key of index_dim for every index_pool tokens. */
    uint32_t index_heads, index_dim, index_top;
    uint32_t index_pool; /* 1: one a token */
    bool index_own;      /* false: the layer follows the picks of an earlier one, and keeps none */
    uint32_t ratio; /* MIXER_COMPRESSED: tokens in one latent; 0: the layer has its window only */
    /* KDA */
    enum kda_gate gate;
    double lower_bound;  /* of the bounded gate, < 0 */
    bool full_rank_gate; /* output gate is one matrix; otherwise a pair of rank key_dim */
};

enum residual_kind {
    RESIDUAL_ADD,
    RESIDUAL_ATTNRES,
    RESIDUAL_ATTNRES_BLOCK,
    RESIDUAL_HYPER /* hyper-connections: several streams, mixed at each sub-layer */
};

enum ffn_kind { FFN_UNKNOWN, FFN_NONE, FFN_DENSE, FFN_MOE, FFN_MOE_LATENT };
enum ffn_act {
    FFN_ACT_UNKNOWN,
    FFN_ACT_SILU,
    FFN_ACT_GELU, /* exact or by tanh */
    FFN_ACT_SITU,
    FFN_ACT_RELU2,
    FFN_ACT_RELU,
    FFN_ACT_SWIGLU_CLAMPED, /* SwiGLU of clamped inputs, plus one on the linear side (gpt-oss) */
    FFN_ACTS
};
enum router_score {
    ROUTER_UNKNOWN,
    ROUTER_SOFTMAX, /* softmax over all, then top-k */
    ROUTER_SIGMOID,
    ROUTER_SOFTMAX_AFTER_TOPK, /* top-k of logits, softmax over those */
    ROUTER_SQRTSOFTPLUS
};

struct router {
    enum router_score score;
    uint32_t experts, top_k;
    uint32_t groups, top_groups; /* 1, 1: no grouping */
    bool renormalize;
    bool bias; /* a correction bias picks, and never weighs */
    double scaling;
    bool on_latent; /* routes on the latent instead of the hidden vector */
};

struct ffn {
    enum ffn_kind kind;
    enum ffn_act act;
    bool bias;       /* the dense matrices have a bias */
    bool gated;      /* three matrices (w1 gate, w3 up, w2 down), else two */
    uint32_t inner;  /* dense: inner width; MoE: inner width of one expert */
    uint32_t latent; /* width in which experts work; hidden width unless FFN_MOE_LATENT */
    bool latent_norm;
    uint32_t shared;       /* shared experts */
    uint32_t shared_inner; /* inner width of all shared experts together */
    bool shared_gate;      /* sigmoid gate on the shared expert (Qwen MoE) */
    double situ_beta, situ_linear_beta;
    struct router router;
};

struct layer {
    struct mixer mixer;
    enum residual_kind residual;
    struct ffn ffn;
};

struct model {
    const char *family;       /* "kimi_k3", "kimi_linear", "deepseek_v3", "llama" ...; never NULL */
    const char *architecture; /* first of config.architectures, or ""; of GGUF "llama (GGUF)" */
    const char *prefix; /* tensor name prefix of the text tower: "language_model.model." ... */
    const char *head;   /* name of the head's tensor; NULL: lm_head.weight beside the prefix */
    const struct family *traits; /* how the family spells and shapes things; static */
    bool wrapped;                /* the text model is part of a larger one: vision, audio */
    bool kda_fused;              /* KDA tensors have the newer layout: one conv1d, forget_gate.* */
    bool experts_fused; /* the experts of a layer stand in two tensors of three dimensions */
    uint32_t hidden, vocab, layer_count;
    uint32_t heads;
    bool tied_embeddings;
    double norm_eps;
    uint64_t max_positions; /* context the config claims; 0 if it does not say */
    uint32_t attnres_block; /* decoder layers in a block; 0: no attention residuals */
    uint32_t mtp_layers;    /* draft layers stored behind the decoder layers, not in layers */
    struct layer *layers;   /* [layer_count] */
    struct mem_arena arena;
    bool encoder;           /* every layer sees all tokens at once; nothing is cached */
    const char *state_rule; /* what decides the state's number format: "mamba_ssm_dtype float32";
                               NULL where no layer has a state */
    /* Keys that stand in the way of an exact answer, and of which answers (MODEL_HIDES_*). */
    const char **unexplained;
    uint8_t *hides; /* [unexplained_count] */
    size_t unexplained_count;
};

enum {
    MODEL_HIDES_CACHE = 1,     /* what a sequence keeps */
    MODEL_HIDES_PARAMS = 2,    /* how many parameters there are */
    MODEL_HIDES_OPERATORS = 4, /* which operators there are, and how they route or bend */
    MODEL_HIDES_BEYOND_CACHE = MODEL_HIDES_PARAMS | MODEL_HIDES_OPERATORS,
    MODEL_HIDES_ALL = 7
};

/* Builds the model. config is the parsed config.json (text_config is descended into). inv may be
 * NULL or empty (no headers at hand): then the config alone speaks. Contradictions become findings.
 * ERR_FORMAT if a needed key is missing or of the wrong kind (the key is named), ERR_LIMIT past a
 * limit, ERR_UNSUPPORTED if the config names no architecture we know: the message then names the
 * key and value. A config that is understood in part succeeds with `unexplained` filled. *ret is
 * set on success only; release with model_release. */
int model_build(const struct cJSON *config, const struct inventory *inv,
                struct finding_list *findings, struct model *ret, struct err *e);
void model_release(struct model *m);

/* The first unexplained entry that hides it, or NULL; *ret_more (may be NULL) how many more do. */
const char *model_hidden(const struct model *m, unsigned what, size_t *ret_more);

const char *model_mixer_name(enum mixer_kind k);       /* "kda", "mla", "gqa", "gated_delta" ... */
const char *model_residual_name(enum residual_kind k); /* "add", "attnres", "hyper" ... */
const char *model_ffn_name(enum ffn_kind k);           /* "dense", "moe", "moe.latent", "none" */
/* As tests/vectors/SPEC.md spells them: "situ", "sigmoid". */
const char *model_act_name(enum ffn_act a);
const char *model_score_name(enum router_score s);
/* Layers of that kind. */
uint32_t model_count(const struct model *m, enum mixer_kind k);
/* Streams that the residual before the head looks at: stored blocks plus the running sum;
 * 1 without attention residuals. */
uint32_t model_attnres_sources(const struct model *m);

#endif
