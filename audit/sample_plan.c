#include "audit/sample_plan.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HIDDEN = 384,
    VOCAB = 2048,
    LAYERS = 9,
    HEADS = 4,
    HEAD_DIM = 128,
    QKV = HEADS * HEAD_DIM,
    Q_RANK = 192,
    KV_RANK = 512,
    ROPE = 64,
    NOPE = 128,
    CONV = 4,
    A_LOG = 8,
    DENSE = 1024,
    EXPERTS = 32,
    LATENT = 192,
    INNER = 128,
    SHARED = 256,
    GROUP = 32
};

struct maker {
    struct sample_plan *plan;
    char prefix[96];
};

static struct sample_plan_tensor *add(struct maker *m, const char *name, enum dtype dtype,
                                      uint64_t rows, uint64_t cols, float centre, float spread)
{
    struct sample_plan *p = m->plan;
    char full[192];
    int n = snprintf(full, sizeof(full), "%s%s", m->prefix, name);

    p->tensors = mem_grow(p->tensors, &p->cap, p->count + 1, sizeof(*p->tensors));
    struct sample_plan_tensor *t = &p->tensors[p->count++];
    *t = (struct sample_plan_tensor){.name = mem_arena_strndup(&p->arena, full, (size_t)n),
                                     .dtype = dtype,
                                     .dims = cols ? 2 : 1,
                                     .shape = {rows, cols},
                                     .elements = rows * (cols ? cols : 1),
                                     .centre = centre,
                                     .spread = spread};
    t->real = t->elements;
    p->total_bytes += t->elements * dtype_bits(dtype) / 8;
    return t;
}

/* A matrix whose outputs are about as large as its inputs. */
static void matrix(struct maker *m, const char *name, uint64_t rows, uint64_t cols)
{
    add(m, name, DTYPE_BF16, rows, cols, 0.0f, 1.0f / sqrtf((float)cols));
}

static void norm(struct maker *m, const char *name, enum dtype dtype, uint64_t width)
{
    add(m, name, dtype, width, 0, 1.0f, 0.05f);
}

static void kda(struct maker *m)
{
    char name[48];

    for (const char *p = "qkv"; *p; p++) {
        snprintf(name, sizeof(name), "self_attn.%c_proj.weight", *p);
        matrix(m, name, QKV, HIDDEN);
        snprintf(name, sizeof(name), "self_attn.%c_conv1d.weight", *p);
        struct sample_plan_tensor *t = add(m, name, DTYPE_F32, QKV, 1, 0.25f, 0.1f);
        t->dims = 3;
        t->shape[2] = CONV;
        t->elements = t->real = QKV * CONV;
        m->plan->total_bytes += QKV * (CONV - 1) * 4u;
    }
    matrix(m, "self_attn.f_a_proj.weight", HEAD_DIM, HIDDEN);
    matrix(m, "self_attn.f_b_proj.weight", QKV, HEAD_DIM);
    matrix(m, "self_attn.b_proj.weight", HEADS, HIDDEN);
    add(m, "self_attn.A_log", DTYPE_F32, A_LOG, 0, 0.0f, 0.3f)->real = HEADS;
    add(m, "self_attn.dt_bias", DTYPE_F32, QKV, 0, -3.0f, 1.0f);
    norm(m, "self_attn.o_norm.weight", DTYPE_F32, HEAD_DIM);
    matrix(m, "self_attn.g_proj.weight", QKV, HIDDEN);
    matrix(m, "self_attn.o_proj.weight", HIDDEN, QKV);
}

static void mla(struct maker *m)
{
    matrix(m, "self_attn.q_a_proj.weight", Q_RANK, HIDDEN);
    norm(m, "self_attn.q_a_layernorm.weight", DTYPE_BF16, Q_RANK);
    matrix(m, "self_attn.q_b_proj.weight", HEADS * (NOPE + ROPE), Q_RANK);
    matrix(m, "self_attn.kv_a_proj_with_mqa.weight", KV_RANK + ROPE, HIDDEN);
    norm(m, "self_attn.kv_a_layernorm.weight", DTYPE_BF16, KV_RANK);
    matrix(m, "self_attn.kv_b_proj.weight", HEADS * (NOPE + HEAD_DIM), KV_RANK);
    matrix(m, "self_attn.g_proj.weight", QKV, HIDDEN);
    matrix(m, "self_attn.o_proj.weight", HIDDEN, QKV);
}

static void packed(struct maker *m, unsigned expert, const char *w, uint64_t rows, uint64_t cols)
{
    char name[80];

    snprintf(name, sizeof(name), "block_sparse_moe.experts.%u.%s.weight_packed", expert, w);
    add(m, name, DTYPE_U8, rows, cols / 2, 0.0f, 0.0f);
    snprintf(name, sizeof(name), "block_sparse_moe.experts.%u.%s.weight_scale", expert, w);
    /* exponents 119 to 121 of E8M0: 2^-8 to 2^-6 */
    add(m, name, DTYPE_U8, rows, cols / GROUP, 119.0f, 0.15f);
}

static void moe(struct maker *m)
{
    matrix(m, "block_sparse_moe.gate.weight", EXPERTS, HIDDEN);
    add(m, "block_sparse_moe.gate.e_score_correction_bias", DTYPE_F32, EXPERTS, 0, 0.0f, 0.01f);
    matrix(m, "block_sparse_moe.routed_expert_down_proj.weight", LATENT, HIDDEN);
    norm(m, "block_sparse_moe.routed_expert_norm.weight", DTYPE_BF16, LATENT);
    matrix(m, "block_sparse_moe.routed_expert_up_proj.weight", HIDDEN, LATENT);
    for (unsigned e = 0; e < EXPERTS; e++) {
        packed(m, e, "w1", INNER, LATENT);
        packed(m, e, "w2", LATENT, INNER);
        packed(m, e, "w3", INNER, LATENT);
    }
    matrix(m, "block_sparse_moe.shared_experts.gate_proj.weight", SHARED, HIDDEN);
    matrix(m, "block_sparse_moe.shared_experts.up_proj.weight", SHARED, HIDDEN);
    matrix(m, "block_sparse_moe.shared_experts.down_proj.weight", HIDDEN, SHARED);
}

static void residual(struct maker *m, const char *which)
{
    char name[64];

    snprintf(name, sizeof(name), "%s_res_norm.weight", which);
    norm(m, name, DTYPE_BF16, HIDDEN);
    snprintf(name, sizeof(name), "%s_res_proj.weight", which);
    add(m, name, DTYPE_BF16, 1, HIDDEN, 0.0f, 0.05f);
}

static void layer(struct maker *m, unsigned i)
{
    /* 1-based, the full attention layers are 4, 8 and 9: the last two are both MLA */
    if (i == 3 || i == 7 || i == 8)
        mla(m);
    else
        kda(m);
    if (i == 0) {
        matrix(m, "mlp.gate_proj.weight", DENSE, HIDDEN);
        matrix(m, "mlp.up_proj.weight", DENSE, HIDDEN);
        matrix(m, "mlp.down_proj.weight", HIDDEN, DENSE);
    } else {
        moe(m);
    }
    norm(m, "input_layernorm.weight", DTYPE_BF16, HIDDEN);
    norm(m, "post_attention_layernorm.weight", DTYPE_BF16, HIDDEN);
    residual(m, "self_attention");
    residual(m, "mlp");
}

static int by_shard_and_name(const void *a, const void *b)
{
    const struct sample_plan_tensor *x = a, *y = b;

    if (x->shard != y->shard)
        return x->shard < y->shard ? -1 : 1;
    return strcmp(x->name, y->name);
}

void sample_plan_make(struct sample_plan *p, unsigned shards)
{
    struct maker m = {.plan = p, .prefix = "language_model.model."};
    uint64_t sum = 0;

    add(&m, "embed_tokens.weight", DTYPE_BF16, VOCAB, HIDDEN, 0.0f, 0.02f);
    for (unsigned i = 0; i < LAYERS; i++) {
        snprintf(m.prefix, sizeof(m.prefix), "language_model.model.layers.%u.", i);
        layer(&m, i);
    }
    snprintf(m.prefix, sizeof(m.prefix), "language_model.model.");
    norm(&m, "norm.weight", DTYPE_BF16, HIDDEN);
    residual(&m, "output_attn");
    snprintf(m.prefix, sizeof(m.prefix), "language_model.");
    add(&m, "lm_head.weight", DTYPE_BF16, VOCAB, HIDDEN, 0.0f, 0.02f);
    for (size_t i = 0; i < p->count; i++) {
        struct sample_plan_tensor *t = &p->tensors[i];
        t->shard = (unsigned)(sum * shards / p->total_bytes);
        sum += t->elements * dtype_bits(t->dtype) / 8;
    }
    qsort(p->tensors, p->count, sizeof(*p->tensors), by_shard_and_name);
}

void sample_plan_release(struct sample_plan *p)
{
    mem_arena_release(&p->arena);
    free(p->tensors);
    *p = (struct sample_plan){0};
}
