#include "stress/kbench_case.h"
#include "core/mem.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Memory for a case, remembered for its end; NULL, with *e set, once something was refused. */
static void *room(struct kbench_case_data *d, uint64_t count, size_t size, struct err *e)
{
    void *p;

    if (e->code != ERR_OK || mem_try(count, size, &p, e) != 0)
        return NULL;
    d->blocks[d->block_count++] = p;
    return p;
}

/* The next of a fixed sequence (Knuth's MMIX generator), between -1 and 1. */
static float next(struct kbench_case_data *d)
{
    d->seed = d->seed * 6364136223846793005u + 1442695040888963407u;
    return (float)((int64_t)d->seed >> 40) * 0x1p-23f;
}

static float *floats(struct kbench_case_data *d, uint64_t n, struct err *e)
{
    float *p = room(d, n, sizeof(float), e);

    for (uint64_t i = 0; p && i < n; i++)
        p[i] = next(d);
    return p;
}

static void *halves(struct kbench_case_data *d, uint64_t n, struct err *e)
{
    uint16_t *p = room(d, n, sizeof(uint16_t), e);
    uint32_t bits;

    for (uint64_t i = 0; p && i < n; i++) {
        float x = next(d);
        memcpy(&bits, &x, sizeof(bits));
        p[i] = (uint16_t)(bits >> 16);
    }
    return p;
}

static int open_attn(const struct kernel_shape *s, struct kbench_case_data *d, struct err *e)
{
    d->attn = (struct attn_shape){.tokens = s->tokens,
                                  .heads = s->heads,
                                  .key_heads = s->key_heads,
                                  .value_heads = s->value_heads,
                                  .key_dim = s->key_dim,
                                  .value_dim = s->value_dim,
                                  .scale = 1 / sqrt((double)s->key_dim),
                                  .store = DTYPE_BF16};
    d->x = floats(d, s->heads * s->key_dim, e);
    d->k = halves(d, s->tokens * s->key_heads * s->key_dim, e);
    d->v = halves(d, s->tokens * s->value_heads * s->value_dim, e);
    d->out = room(d, s->heads * s->value_dim, sizeof(float), e);
    d->scratch = room(d, attn_scratch_bytes(&d->attn), 1, e);
    d->composed_scratch = room(d, attn_composed_scratch_bytes(&d->attn), 1, e);
    return e->code;
}

static void init_attn(struct kbench_case_call *c, unsigned cpu_mask)
{
    attn_init(&c->attn, cpu_mask);
    c->variant = c->attn.variant;
}

static void fused_attn(void *ctx)
{
    struct kbench_case_call *c = ctx;
    struct kbench_case_data *d = c->data;

    c->attn.decode(&d->attn, d->x, d->k, d->v, NULL, d->out, d->scratch);
}

static void composed_attn(void *ctx)
{
    struct kbench_case_call *c = ctx;
    struct kbench_case_data *d = c->data;

    attn_composed(&c->prim, &d->attn, d->x, d->k, d->v, NULL, d->out, d->composed_scratch);
}

static int open_mla(const struct kernel_shape *s, struct kbench_case_data *d, struct err *e)
{
    d->mla = (struct mla_shape){.tokens = s->tokens,
                                .heads = s->heads,
                                .nope_dim = s->nope_dim,
                                .rope_dim = s->rope_dim,
                                .rank = s->rank,
                                .value_dim = s->value_dim,
                                .scale = 1 / sqrt((double)(s->nope_dim + s->rope_dim)),
                                .store = DTYPE_BF16};
    d->x = floats(d, s->heads * (s->nope_dim + s->rope_dim), e);
    d->k = halves(d, s->tokens * s->rank, e);
    d->v = halves(d, s->tokens * s->rope_dim, e);
    d->w_uk = halves(d, s->heads * s->nope_dim * s->rank, e);
    d->w_uv = halves(d, s->heads * s->value_dim * s->rank, e);
    d->out = room(d, s->heads * s->value_dim, sizeof(float), e);
    d->scratch = room(d, mla_scratch_bytes(&d->mla), 1, e);
    return e->code;
}

static void init_mla(struct kbench_case_call *c, unsigned cpu_mask)
{
    mla_init(&c->mla, cpu_mask);
    c->variant = c->mla.variant;
}

static void fused_mla(void *ctx)
{
    struct kbench_case_call *c = ctx;
    struct kbench_case_data *d = c->data;

    c->mla.decode(&d->mla, d->x, d->k, d->v, d->w_uk, d->w_uv, d->out, d->scratch);
}

static int open_delta(const struct kernel_shape *s, struct kbench_case_data *d, struct err *e)
{
    uint64_t keys = s->heads * s->key_dim, values = s->heads * s->value_dim;

    d->delta = (struct delta_shape){.heads = s->heads,
                                    .key_dim = s->key_dim,
                                    .value_dim = s->value_dim,
                                    .gate = KDA_GATE_BOUNDED,
                                    .lower_bound = -5,
                                    .l2_eps = 1e-6};
    d->delta_in = (struct delta_in){.q = floats(d, keys, e),
                                    .k = floats(d, keys, e),
                                    .v = floats(d, values, e),
                                    .z = floats(d, keys, e),
                                    .b = floats(d, s->heads, e),
                                    .a_log = floats(d, s->heads, e)};
    d->state = floats(d, keys * s->value_dim, e);
    d->out = room(d, values, sizeof(float), e);
    d->scratch = room(d, delta_scratch_bytes(&d->delta), 1, e);
    d->composed_scratch = room(d, delta_composed_scratch_bytes(&d->delta), 1, e);
    return e->code;
}

static void init_delta(struct kbench_case_call *c, unsigned cpu_mask)
{
    delta_init(&c->delta, cpu_mask);
    c->variant = c->delta.variant;
}

static void fused_delta(void *ctx)
{
    struct kbench_case_call *c = ctx;
    struct kbench_case_data *d = c->data;

    c->delta.step(&d->delta, &d->delta_in, d->state, d->out, d->scratch);
}

static void composed_delta(void *ctx)
{
    struct kbench_case_call *c = ctx;
    struct kbench_case_data *d = c->data;

    delta_composed(&c->prim, &d->delta, &d->delta_in, d->state, d->out, d->composed_scratch);
}

static int open_residual(const struct kernel_shape *s, struct kbench_case_data *d, struct err *e)
{
    d->residual = (struct residual_shape){
        .sources = s->sources, .hidden = s->hidden, .eps = 1e-5, .store = DTYPE_BF16};
    for (uint64_t n = 0; n < s->sources; n++)
        d->sources[n] = halves(d, s->hidden, e);
    d->w = floats(d, s->hidden, e);
    d->norm = floats(d, s->hidden, e);
    d->out = room(d, s->hidden, sizeof(float), e);
    d->scratch = room(d, residual_scratch_bytes(&d->residual), 1, e);
    d->composed_scratch = room(d, residual_composed_scratch_bytes(&d->residual), 1, e);
    return e->code;
}

static void init_residual(struct kbench_case_call *c, unsigned cpu_mask)
{
    residual_init(&c->residual, cpu_mask);
    c->variant = c->residual.variant;
}

static void fused_residual(void *ctx)
{
    struct kbench_case_call *c = ctx;
    struct kbench_case_data *d = c->data;

    c->residual.mix(&d->residual, d->sources, d->w, d->norm, d->out, NULL, d->scratch);
}

static void composed_residual(void *ctx)
{
    struct kbench_case_call *c = ctx;
    struct kbench_case_data *d = c->data;

    residual_composed(&c->prim, &d->residual, d->sources, d->w, d->norm, d->out, NULL,
                      d->composed_scratch);
}

/* As many experts are stored as a token picks; they take turns, so that a token reads as much as it
 * would, and mostly of different experts. */
static int open_moe(const struct kernel_shape *s, struct kbench_case_data *d, struct err *e)
{
    uint64_t one = s->latent * s->inner;
    struct moe_weights *w = &d->weights;

    d->moe = (struct moe_shape){.hidden = s->hidden,
                                .latent = s->latent,
                                .inner = s->inner,
                                .shared_inner = s->shared_inner,
                                .router = {.score = ROUTER_SIGMOID,
                                           .experts = (uint32_t)s->experts,
                                           .top_k = (uint32_t)s->top_k,
                                           .groups = 1,
                                           .top_groups = 1,
                                           .renormalize = true,
                                           .scaling = 1},
                                .act = ACT_SITU,
                                .situ_beta = 4,
                                .situ_linear_beta = 25,
                                .eps = 1e-5,
                                .store = DTYPE_BF16};
    const char *stored = halves(d, 3 * one * s->top_k, e);
    for (uint64_t i = 0; stored && i < 3 * s->experts; i++)
        d->experts[i % 3][i / 3] = stored + 2 * one * (i % 3 + 3 * (i / 3 % s->top_k));
    *w = (struct moe_weights){.router = halves(d, s->experts * s->hidden, e),
                              .bias = floats(d, s->experts, e),
                              .down = halves(d, s->latent * s->hidden, e),
                              .up = halves(d, s->latent * s->hidden, e),
                              .norm = floats(d, s->latent, e),
                              .w1 = d->experts[0],
                              .w3 = d->experts[1],
                              .w2 = d->experts[2],
                              .sw1 = halves(d, s->shared_inner * s->hidden, e),
                              .sw3 = halves(d, s->shared_inner * s->hidden, e),
                              .sw2 = halves(d, s->shared_inner * s->hidden, e)};
    d->x = floats(d, s->hidden, e);
    d->out = room(d, s->hidden, sizeof(float), e);
    d->idx = room(d, s->top_k, sizeof(uint32_t), e);
    d->scratch = room(d, moe_scratch_bytes(&d->moe), 1, e);
    d->composed_scratch = room(d, moe_composed_scratch_bytes(&d->moe), 1, e);
    return e->code;
}

static void init_moe(struct kbench_case_call *c, unsigned cpu_mask)
{
    moe_init(&c->moe, cpu_mask);
    c->variant = c->moe.variant;
}

static void fused_moe(void *ctx)
{
    struct kbench_case_call *c = ctx;
    struct kbench_case_data *d = c->data;

    c->moe.token(&d->moe, &d->weights, d->x, d->out, d->idx, d->scratch);
}

static void composed_moe(void *ctx)
{
    struct kbench_case_call *c = ctx;
    struct kbench_case_data *d = c->data;

    moe_composed(&c->prim, &d->moe, &d->weights, d->x, d->out, d->idx, d->composed_scratch);
}

/* One matrix; a call turns all of it into floats. */
static int open_dequant(const struct kernel_shape *s, struct kbench_case_data *d, struct err *e)
{
    static const struct dequant_matrix shapes[DEQUANT_KINDS] = {
        [DEQUANT_CT_PACK] = {.bits = 4, .group = 32, .scale_dtype = DTYPE_BF16},
        [DEQUANT_CT_INT8] = {.group = 4096, .scale_dtype = DTYPE_BF16},
        [DEQUANT_AWQ] = {.group = 128},
        [DEQUANT_GPTQ] = {.bits = 4, .group = 128, .zero_offset = 1},
        [DEQUANT_FP8_BLOCK] = {.group = 128, .block_rows = 128, .scale_dtype = DTYPE_F32},
        [DEQUANT_FP8_TENSOR] = {.group = 4096, .block_rows = 64, .scale_dtype = DTYPE_F32},
        [DEQUANT_FP8_CHANNEL] = {.group = 4096, .scale_dtype = DTYPE_F32},
        [DEQUANT_CT_MXFP4] = {.group = 32},
        [DEQUANT_GPTOSS_MXFP4] = {.group = 32},
        [DEQUANT_CT_NVFP4] = {.group = 16},
        [DEQUANT_MODELOPT_NVFP4] = {.group = 16},
    };
    enum dequant_kind kind = dequant_find(d->op + strlen("dequant."));
    struct dequant_matrix m = shapes[kind];

    m.kind = kind;
    m.rows = s->rows;
    m.cols = s->cols;
    m.block_rows = m.block_rows ? m.block_rows : 1;
    if (dequant_synthetic_open(&m, d->seed, &d->packed, e) == 0)
        d->out = room(d, s->rows * s->cols, sizeof(float), e);
    return e->code;
}

static void init_dequant(struct kbench_case_call *c, unsigned cpu_mask)
{
    dequant_init(&c->dequant, c->data->packed.m.kind, cpu_mask);
    c->variant = c->dequant.variant;
}

static void fused_dequant(void *ctx)
{
    struct kbench_case_call *c = ctx;
    const struct dequant_matrix *m = &c->data->packed.m;

    c->dequant.rows(m, 0, m->rows, c->data->out);
}

int kbench_case_open(const struct kbench_case *k, struct kbench_case_data *d, struct err *e)
{
    struct err first = {0}; /* room() looks whether something was refused before */

    *d = (struct kbench_case_data){.op = k->op, .seed = 1};
    if (k->open(&k->shape, d, &first) != 0) {
        *e = first;
        return err_wrap(e, "%s, %s", k->op, k->words);
    }
    return 0;
}

void kbench_case_close(struct kbench_case_data *d)
{
    for (unsigned i = 0; i < d->block_count; i++)
        free(d->blocks[i]);
    d->block_count = 0;
    dequant_synthetic_close(&d->packed);
}

/* Numbers that make 1 MiB of floats; bytes: what is stored of them. */
#define DEQUANT(kind, words, bytes)                                                              \
    {                                                                                            \
        "dequant." kind, "64 x 4096, " words, {.rows = 64, .cols = 4096, .packed_bytes = bytes}, \
            open_dequant, init_dequant, fused_dequant, NULL                                      \
    }

#define ATTN open_attn, init_attn, fused_attn, composed_attn

const struct kbench_case kbench_case_table[] = {
    {"attention.gqa",
     "64 query and 8 key heads of 128, BF16 cache, 4K tokens",
     {.tokens = 4096,
      .heads = 64,
      .key_heads = 8,
      .value_heads = 8,
      .key_dim = 128,
      .value_dim = 128,
      .store_bytes = 2},
     ATTN},
    {"attention.gqa",
     "64 query and 8 key heads of 128, BF16 cache, 32K tokens",
     {.tokens = 32768,
      .heads = 64,
      .key_heads = 8,
      .value_heads = 8,
      .key_dim = 128,
      .value_dim = 128,
      .store_bytes = 2},
     open_attn,
     init_attn,
     fused_attn,
     NULL}, /* the composed path would hold 2 GiB of repeated keys and values */
    {"attention.key_decoupled",
     "64 query, 4 key and 16 value heads of 128, BF16 cache, 4K tokens",
     {.tokens = 4096,
      .heads = 64,
      .key_heads = 4,
      .value_heads = 16,
      .key_dim = 128,
      .value_dim = 128,
      .store_bytes = 2},
     ATTN},
    {"attention.mla",
     "96 heads of 128 + 64, rank 512, BF16 cache, 1K tokens (Kimi K3)",
     {.tokens = 1024,
      .heads = 96,
      .nope_dim = 128,
      .rope_dim = 64,
      .rank = 512,
      .value_dim = 128,
      .store_bytes = 2},
     open_mla,
     init_mla,
     fused_mla,
     NULL},
    {"attention.kda",
     "96 heads of 128 x 128, F32 state (Kimi K3)",
     {.heads = 96, .key_dim = 128, .value_dim = 128, .store_bytes = 4},
     open_delta,
     init_delta,
     fused_delta,
     composed_delta},
    {"residual.attnres_block",
     "9 sources of 7168, BF16 (Kimi K3)",
     {.sources = 9, .hidden = 7168, .store_bytes = 2},
     open_residual,
     init_residual,
     fused_residual,
     composed_residual},
    {"moe.latent",
     "16 of 896 experts, 1792 to 896, inner 768, BF16 (Kimi K3, widths by 4)",
     {.hidden = 1792,
      .latent = 896,
      .inner = 768,
      .shared_inner = 1536,
      .experts = 896,
      .top_k = 16,
      .store_bytes = 2,
      .gated = true},
     open_moe,
     init_moe,
     fused_moe,
     composed_moe},
    DEQUANT("ct_pack", "4 bits, BF16 scale per 32 (Kimi K2)", 147456),
    DEQUANT("ct_int8", "BF16 scale a row", 262272),
    DEQUANT("awq", "scale per 128", 136192),
    DEQUANT("gptq", "4 bits, scale per 128", 136192),
    DEQUANT("fp8_block", "F32 scale per 128 x 128 (DeepSeek V3)", 262272),
    DEQUANT("fp8_tensor", "one F32 scale", 262148),
    DEQUANT("fp8_channel", "F32 scale a row", 262400),
    DEQUANT("ct_mxfp4", "scale per 32 (Kimi K3)", 139264),
    DEQUANT("gptoss_mxfp4", "scale per 32", 139264),
    DEQUANT("ct_nvfp4", "scale per 16", 147456),
    DEQUANT("modelopt_nvfp4", "scale per 16", 147456),
    DEQUANT("gguf_q4_0", "blocks of 32", 147456),
    DEQUANT("gguf_q4_1", "blocks of 32", 163840),
    DEQUANT("gguf_q5_0", "blocks of 32", 180224),
    DEQUANT("gguf_q5_1", "blocks of 32", 196608),
    DEQUANT("gguf_q8_0", "blocks of 32", 278528),
    DEQUANT("gguf_iq4_nl", "blocks of 32", 147456),
    DEQUANT("gguf_mxfp4", "blocks of 32", 139264),
    DEQUANT("gguf_q2_K", "blocks of 256", 86016),
    DEQUANT("gguf_q3_K", "blocks of 256", 112640),
    DEQUANT("gguf_q4_K", "blocks of 256", 147456),
    DEQUANT("gguf_q5_K", "blocks of 256", 180224),
    DEQUANT("gguf_q6_K", "blocks of 256", 215040),
};
const size_t kbench_case_count = sizeof(kbench_case_table) / sizeof(kbench_case_table[0]);
