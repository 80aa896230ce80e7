#ifndef MODEL_OPERATORS_H
#define MODEL_OPERATORS_H
#include "core/err.h"
#include "core/fact.h"
#include "model/model.h"
#include <stddef.h>
#include <stdint.h>

/* The operators that a model needs: X(enumerator, name, what it is). The names key the coverage
 * tables; where tests/vectors/SPEC.md defines an operator, the name is the one it has there. */
#define OPERATORS_TABLE(X)                                                                         \
    X(GQA, "attention.gqa", "softmax attention, grouped key and value heads")                      \
    X(WINDOW, "attention.window", "softmax attention within a sliding window")                     \
    X(MLA, "attention.mla", "multi-head latent attention")                                         \
    X(KDA, "attention.kda", "Kimi Delta Attention, gated delta rule with a decay per channel")     \
    X(GATED_DELTA, "attention.gated_delta", "Gated DeltaNet, delta rule with a decay per head")    \
    X(LIGHTNING, "attention.lightning", "linear attention with a fixed decay per head")            \
    X(MAMBA2, "attention.mamba2", "Mamba2, state space with a scalar decay per head")              \
    X(RWKV, "attention.rwkv", "RWKV time mixing, versions 5 and 6")                                \
    X(DSA, "attention.dsa", "latent attention over the tokens that an index picks")                \
    X(MSA, "attention.msa", "softmax attention over the blocks that an index picks")               \
    X(QSA, "attention.qsa", "softmax attention over the tokens that a pooled index picks")         \
    X(COMPRESSED, "attention.compressed", "attention over latents of several tokens and a window") \
    X(CHUNK, "attention.chunk", "softmax attention within chunks of the sequence")                 \
    X(ENCODER, "attention.encoder", "softmax attention in both directions")                        \
    X(SINKS, "attention.sinks", "learned logits in the softmax, without values")                   \
    X(INDEXER, "attention.indexer", "scores of an index over earlier tokens, and their top-k")     \
    X(KEY_DECOUPLED, "attention.key_decoupled", "softmax attention with decoupled keys")           \
    X(OUTPUT_GATE, "attention.output_gate", "sigmoid gate before the output projection")           \
    X(CONV_SHORT, "conv.short", "causal depthwise convolution over the last few tokens")           \
    X(ROPE, "rope", "rotary position embedding")                                                   \
    X(NORM_RMS, "norm.rms", "root mean square norm")                                               \
    X(NORM_LAYER, "norm.layer", "norm that subtracts the mean")                                    \
    X(NORM_QK, "norm.qk", "norm of each query and key head")                                       \
    X(ATTNRES, "residual.attnres", "attention residuals over every sub-layer")                     \
    X(ATTNRES_BLOCK, "residual.attnres_block", "attention residuals over blocks of layers")        \
    X(HYPER, "residual.hyper", "hyper-connections: several mixed residual streams")                \
    X(SILU, "activation.silu", "SiLU, gated (SwiGLU) where the feed-forward is")                   \
    X(GELU, "activation.gelu", "GELU")                                                             \
    X(SITU, "activation.situ", "bounded gated activation SiTU-GLU")                                \
    X(RELU2, "activation.relu2", "squared ReLU")                                                   \
    X(RELU, "activation.relu", "ReLU")                                                             \
    X(SWIGLU_CLAMPED, "activation.swiglu_clamped", "SwiGLU of clamped inputs, one added")          \
    X(ROUTE, "moe.route", "top-k routing")                                                         \
    X(ROUTE_GROUPED, "moe.route_grouped", "top-k routing limited to the best groups of experts")   \
    X(GROUPED_GEMM, "moe.grouped_gemm", "matrix product by expert")                                \
    X(LATENT, "moe.latent", "experts in a projected, narrower space")                              \
    X(SHARED, "moe.shared", "shared experts beside the routed ones")                               \
    X(MTP, "draft.mtp", "multi-token prediction layers; layers counts those")

enum operators_kind {
#define X(enumerator, name, meaning) OPERATORS_##enumerator,
    OPERATORS_TABLE(X)
#undef X
        OPERATORS_KINDS
};

#define OPERATORS_EVIDENCE_BYTES 160

struct operators {
    struct {
        uint32_t layers; /* layers that use it; 0: the model does not need it */
        char evidence[OPERATORS_EVIDENCE_BYTES]; /* config keys and values that say so; "" */
    } items[OPERATORS_KINDS];
};

const char *operators_name(enum operators_kind k);    /* "attention.kda" */
const char *operators_meaning(enum operators_kind k); /* one line */

/* The operators of every layer. ERR_UNSUPPORTED, naming the keys, if something hides operators: a
 * list with holes would read as complete. */
int operators_of(const struct model *m, struct operators *ret, struct err *e);

/* Puts OPERATOR_LAYERS for each operator that is needed (scope: its name); one unknown fact with
 * scope "" and the reason if o is NULL. */
int operators_facts(const struct operators *o, const char *why, const struct fact_sink *sink,
                    struct err *e);

#endif
