#include "stress/kernel.h"
#include <string.h>

/* The costs are counted, not measured. Bytes: each array that a call must read or write, once a
 * pass over it; F32 except what is stored. Flops: see kernel.h. Small terms (one value a head) are
 * left out. D is a double of a dimension. */

static double D(uint64_t n)
{
    return (double)n;
}

static double seen(const struct kernel_shape *s)
{
    return D(s->window && s->window < s->tokens ? s->window : s->tokens);
}

/* The cache once, the query in, the result out. A logit is a dot product of key_dim, a scale, a
 * maximum, a difference, an exponential and a sum; its weight goes into value_dim sums. */
static struct kernel_cost attn_fused(const struct kernel_shape *s)
{
    double n = seen(s), keys = D(s->key_heads) * D(s->key_dim);
    double values = D(s->value_heads) * D(s->value_dim);

    return (struct kernel_cost){.bytes = n * (keys + values) * D(s->store_bytes) +
                                         4 * D(s->heads) * (D(s->key_dim) + D(s->value_dim)),
                                .flops = n * D(s->heads) *
                                         (2 * D(s->key_dim) + 2 * D(s->value_dim) + 5)};
}

/* The cache once; keys and values of every query head written and read; logits written, scaled
 * (read and written), softened (read for the maximum, read and written for the weights, read and
 * written for the division) and read: nine passes. */
static struct kernel_cost attn_composed_cost(const struct kernel_shape *s)
{
    struct kernel_cost c = attn_fused(s);

    c.bytes += 4 * seen(s) * D(s->heads) * (2 * (D(s->key_dim) + D(s->value_dim)) + 9);
    return c;
}

/* Absorbed: w_uk and w_uv once, the cache once. */
static struct kernel_cost mla_fused(const struct kernel_shape *s)
{
    double r = D(s->rank), row = r + D(s->rope_dim), h = D(s->heads);
    double n = D(s->tokens), weights = h * (D(s->nope_dim) + D(s->value_dim)) * r;

    return (struct kernel_cost){.bytes =
                                    (n * row + weights) * D(s->store_bytes) +
                                    4 * h * (D(s->nope_dim) + D(s->rope_dim) + D(s->value_dim)),
                                .flops = 2 * weights + n * h * (2 * row + 2 * r + 5)};
}

/* Three vectors of key_dim a head (q, k, z), v in and the result out. */
static double delta_vectors(const struct kernel_shape *s)
{
    return 4 * D(s->heads) * (3 * D(s->key_dim) + 2 * D(s->value_dim));
}

/* The state read once and written once. An element is decayed (1), goes into S^T k~ (2), takes the
 * outer product (2) and goes into S^T q~ (2). A channel: two norms of 3, a gate of 6. A value: the
 * difference and beta. */
static struct kernel_cost delta_fused(const struct kernel_shape *s)
{
    double state = D(s->heads) * D(s->key_dim) * D(s->value_dim);

    return (struct kernel_cost){.bytes = 2 * 4 * state + delta_vectors(s),
                                .flops = 7 * state +
                                         D(s->heads) * (12 * D(s->key_dim) + 2 * D(s->value_dim))};
}

/* The state: decay reads and writes, S^T k~ reads, the outer product reads and writes, S^T q~
 * reads: six passes. Vectors of key_dim, beyond those of the fused path: q~ is read once more for
 * its norm, written, scaled (2) and read (4 more), k~ read once more, written, read twice (4); the
 * gate four operations of which the first reads z: 7, and read (1). Of value_dim: S^T k~ written, v
 * minus it (2), times beta (2), read (1): 6. */
static struct kernel_cost delta_composed_cost(const struct kernel_shape *s)
{
    struct kernel_cost c = delta_fused(s);
    double h = D(s->heads), dk = D(s->key_dim), dv = D(s->value_dim);

    c.bytes = 6 * 4 * h * dk * dv + delta_vectors(s) + 4 * h * (17 * dk + 6 * dv);
    return c;
}

/* Sources once (the second look is into a near cache), the query and the norm, the result. An
 * element: its square (2), the norm's weight and the query (3), and p v (2). */
static struct kernel_cost residual_fused(const struct kernel_shape *s)
{
    double all = D(s->sources) * D(s->hidden);

    return (struct kernel_cost){.bytes = all * D(s->store_bytes) + 3 * 4 * D(s->hidden),
                                .flops = 7 * all + 4 * D(s->sources)};
}

/* Sources read as stored and written wide (1), read for the squares (1), scaled (2), times the
 * norm's weight (3, that is read for each), read for the logits (1) and for the sum (1): nine wide
 * passes. */
static struct kernel_cost residual_composed_cost(const struct kernel_shape *s)
{
    double all = D(s->sources) * D(s->hidden);

    return (struct kernel_cost){.bytes = all * (D(s->store_bytes) + 9 * 4) + 2 * 4 * D(s->hidden),
                                .flops = 8 * all + 4 * D(s->sources)};
}

/* A score, a bias and a comparison an expert and pick; the weights of the picked ones. */
static struct kernel_cost route_fused(const struct kernel_shape *s)
{
    return (struct kernel_cost){.bytes = 4 * 2 * D(s->experts) + 8 * D(s->top_k),
                                .flops = D(s->experts) * (5 + D(s->top_k)) + 3 * D(s->top_k)};
}

/* Weights that one token reads: router, down, up, top_k experts, the shared one. */
static double moe_weights(const struct kernel_shape *s)
{
    double c = s->gated ? 3 : 2;

    return D(s->hidden) * (D(s->experts) + 2 * D(s->latent)) +
           c * D(s->top_k) * D(s->latent) * D(s->inner) + c * D(s->hidden) * D(s->shared_inner);
}

static struct kernel_cost moe_fused(const struct kernel_shape *s)
{
    return (struct kernel_cost){.bytes = moe_weights(s) * D(s->store_bytes) + 4 * 2 * D(s->hidden),
                                .flops = 2 * moe_weights(s) + route_fused(s).flops};
}

/* The same weights. Between them, per inner element: gate and up written (2), an activation of two
 * operations (4), the product (3), read (1), without the up projection 7; per latent element of an
 * expert: written, scaled (2) and added (3): 6. The router's logits written and read. */
static struct kernel_cost moe_composed_cost(const struct kernel_shape *s)
{
    struct kernel_cost c = moe_fused(s);
    double inner = D(s->top_k) * D(s->inner) + D(s->shared_inner);

    c.bytes += 4 * (inner * (s->gated ? 10 : 6) + 6 * D(s->top_k) * D(s->latent) +
                    2 * D(s->experts) + 4 * D(s->hidden));
    return c;
}

/* Everything stored once, a float out for each number, multiplied by its scale. */
static struct kernel_cost dequant_scaled(const struct kernel_shape *s)
{
    double n = D(s->rows) * D(s->cols);

    return (struct kernel_cost){.bytes = D(s->packed_bytes) + 4 * n, .flops = n};
}

/* The same with a zero point or a minimum between. */
static struct kernel_cost dequant_shifted(const struct kernel_shape *s)
{
    struct kernel_cost c = dequant_scaled(s);

    c.flops *= 2;
    return c;
}

#if defined(__x86_64__)
#define WITH_LANES "c avx2 avx512"
#define WITH_AVX2 "c avx2"
#else
#define WITH_LANES "c"
#define WITH_AVX2 "c"
#endif

/* A matrix a call. No variant may differ from the definition. */
#define DEQUANT(kind, words, which, cost)                                          \
    {                                                                              \
        .op = "dequant." kind, .summary = words, .variants = which, .fused = cost, \
        .cost_words = "the stored matrix once, 4 bytes out for each number"        \
    }

const struct kernel kernel_table[] = {
    {.op = "attention.gqa",
     .summary = "causal softmax attention, grouped keys and values, window, sinks",
     .variants = WITH_LANES,
     .fused = attn_fused,
     .composed = attn_composed_cost,
     .cost_words = "tokens seen x (key heads x key dim + value heads x value dim) stored elements",
     .tolerance = 2e-5},
    {.op = "attention.mla",
     .summary = "multi-head latent attention, decoded absorbed over the cached latent",
     .variants = WITH_LANES,
     .fused = mla_fused,
     .cost_words = "tokens x (rank + rope dim) + heads x (nope dim + value dim) x rank elements",
     .tolerance = 2e-5},
    {.op = "attention.kda",
     .summary = "Kimi Delta Attention: gated delta rule with a decay per channel",
     .variants = WITH_LANES,
     .fused = delta_fused,
     .composed = delta_composed_cost,
     .cost_words = "2 x heads x key dim x value dim x 4 bytes of state, read and written",
     .tolerance = 2e-5},
    {.op = "attention.key_decoupled",
     .summary = "softmax attention whose keys and values have head counts of their own",
     .variants = WITH_LANES,
     .fused = attn_fused,
     .composed = attn_composed_cost,
     .cost_words = "tokens seen x (key heads x key dim + value heads x value dim) stored elements",
     .tolerance = 2e-5},
    {.op = "attention.gated_delta",
     .summary = "gated delta rule with one decay a head (Gated DeltaNet)",
     .variants = "",
     .missing = "no definition yet"},
    {.op = "attention.lightning",
     .summary = "linear attention with a fixed decay a head",
     .variants = "",
     .missing = "no definition yet"},
    {.op = "attention.mamba2",
     .summary = "state space model with a scalar decay a head (Mamba-2)",
     .variants = "",
     .missing = "no definition yet"},
    {.op = "residual.attnres",
     .summary = "attention over the outputs of all earlier sub-layers",
     .variants = WITH_LANES,
     .fused = residual_fused,
     .composed = residual_composed_cost,
     .cost_words = "sources x hidden stored elements + 3 x hidden x 4 bytes",
     .tolerance = 2e-5},
    {.op = "residual.attnres_block",
     .summary = "attention over the sums of earlier blocks and the running sum",
     .variants = WITH_LANES,
     .fused = residual_fused,
     .composed = residual_composed_cost,
     .cost_words = "sources x hidden stored elements + 3 x hidden x 4 bytes",
     .tolerance = 2e-5},
    {.op = "moe.route",
     .summary = "a router's choice of experts and their weights",
     .variants = "c",
     .fused = route_fused,
     .cost_words = "2 x experts x 4 + top k x 8 bytes",
     .tolerance = 1e-6},
    {.op = "moe.latent",
     .summary = "experts in a latent space between a down and an up projection",
     .variants = WITH_LANES,
     .fused = moe_fused,
     .composed = moe_composed_cost,
     .cost_words = "router, down, up, top k experts and shared expert, each weight once",
     .tolerance = 2e-5},
    DEQUANT("ct_pack", "compressed-tensors pack-quantized: integers of 4 or 8 bits in words",
            WITH_LANES, dequant_shifted),
    DEQUANT("ct_int8", "compressed-tensors int-quantized: I8 with scales", WITH_LANES,
            dequant_shifted),
    DEQUANT("awq", "AWQ of the GEMM layout: 4 bits, interleaved along the outputs", WITH_AVX2,
            dequant_shifted),
    DEQUANT("gptq", "GPTQ of 2, 4 or 8 bits, packed along the inputs, v1 and v2 zero points",
            WITH_AVX2, dequant_shifted),
    DEQUANT("fp8_block", "F8_E4M3 with a scale a block (DeepSeek V3)", WITH_LANES, dequant_scaled),
    DEQUANT("fp8_tensor", "F8_E4M3 with one scale", WITH_LANES, dequant_scaled),
    DEQUANT("fp8_channel", "F8_E4M3 with a scale a row", WITH_LANES, dequant_scaled),
    DEQUANT("ct_mxfp4", "compressed-tensors MXFP4: E2M1 with an E8M0 scale per 32", WITH_LANES,
            dequant_scaled),
    DEQUANT("gptoss_mxfp4", "the same in the blocks and scales of gpt-oss", WITH_LANES,
            dequant_scaled),
    DEQUANT("ct_nvfp4",
            "compressed-tensors NVFP4: E2M1 with an E4M3 scale per 16 over a global one",
            WITH_LANES, dequant_scaled),
    DEQUANT("modelopt_nvfp4", "ModelOpt NVFP4: the same, times the global scale", WITH_LANES,
            dequant_scaled),
    DEQUANT("gguf_q4_0", "GGUF Q4_0: 4 bits, a half per 32", WITH_LANES, dequant_scaled),
    DEQUANT("gguf_q4_1", "GGUF Q4_1: 4 bits, scale and minimum per 32", WITH_LANES,
            dequant_shifted),
    DEQUANT("gguf_q5_0", "GGUF Q5_0: 5 bits, a half per 32", WITH_LANES, dequant_scaled),
    DEQUANT("gguf_q5_1", "GGUF Q5_1: 5 bits, scale and minimum per 32", WITH_LANES,
            dequant_shifted),
    DEQUANT("gguf_q8_0", "GGUF Q8_0: 8 bits, a half per 32", WITH_LANES, dequant_scaled),
    DEQUANT("gguf_iq4_nl", "GGUF IQ4_NL: 4 bits through a table, a half per 32", WITH_LANES,
            dequant_scaled),
    DEQUANT("gguf_mxfp4", "GGUF MXFP4: E2M1, an E8M0 scale per 32", WITH_LANES, dequant_scaled),
    DEQUANT("gguf_q2_K", "GGUF Q2_K: 2 bits, 4-bit scales and minima per 16 of 256", WITH_LANES,
            dequant_shifted),
    DEQUANT("gguf_q3_K", "GGUF Q3_K: 3 bits, 6-bit scales per 16 of 256", WITH_LANES,
            dequant_scaled),
    DEQUANT("gguf_q4_K", "GGUF Q4_K: 4 bits, 6-bit scales and minima per 32 of 256", WITH_LANES,
            dequant_shifted),
    DEQUANT("gguf_q5_K", "GGUF Q5_K: 5 bits, 6-bit scales and minima per 32 of 256", WITH_LANES,
            dequant_shifted),
    DEQUANT("gguf_q6_K", "GGUF Q6_K: 6 bits, 8-bit scales per 16 of 256", WITH_LANES,
            dequant_scaled),
};
const size_t kernel_count = sizeof(kernel_table) / sizeof(kernel_table[0]);

const struct kernel *kernel_find(const char *op)
{
    for (size_t i = 0; i < kernel_count; i++) {
        if (strcmp(kernel_table[i].op, op) == 0)
            return &kernel_table[i];
    }
    return NULL;
}
