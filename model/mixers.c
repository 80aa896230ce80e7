#include "model/mixers.h"
#include "core/json.h"
#include "model/family.h"
#include "model/mixers_layers.h"
#include "model/mixers_recurrent.h"
#include <stdlib.h>
#include <string.h>

/* --- softmax attention over keys and values */

static int head_dim_of(struct config *c, uint32_t *ret, struct err *e)
{
    static const char *const keys[] = {"head_dim", "attention_head_dim", "kv_channels", NULL};
    struct model *m = c->m;
    bool any = false;
    for (size_t i = 0; keys[i]; i++)
        any |= config_has(c, keys[i]);
    if (any || !m->traits->head_dim_optional)
        return config_u32_of(c, keys, 1, CONFIG_HEAD_DIM_MAX, ret, e);
    if (m->hidden % m->heads)
        return err_set(e, ERR_FORMAT,
                       "head_dim is missing, and hidden_size %u is no multiple of "
                       "num_attention_heads %u",
                       m->hidden, m->heads);
    *ret = m->hidden / m->heads;
    return 0;
}

static int kv_heads_of(struct config *c, uint32_t *ret, struct err *e)
{
    static const char *const falcon[] = {"n_head_kv", "num_kv_heads", NULL};
    const uint32_t all = c->m->heads, max = CONFIG_HEADS_MAX;
    enum family_kv how = c->m->traits->kv;
    bool one = how == FAMILY_KV_BIGCODE;
    *ret = all;
    switch (how) {
    case FAMILY_KV_NAMED: return config_u32(c, NULL, "num_key_value_heads", 1, max, ret, e);
    case FAMILY_KV_OPTIONAL:
        return config_u32_or(c, NULL, "num_key_value_heads", 1, max, all, ret, e);
    case FAMILY_KV_ALL: return 0;
    case FAMILY_KV_FALCON:
        if (config_has(c, falcon[0]) || config_has(c, falcon[1]))
            return config_u32_of(c, falcon, 1, max, ret, e);
        break;
    case FAMILY_KV_BIGCODE: break;
    case FAMILY_KV_CHATGLM:
        if (config_bool_or(c, NULL, "multi_query_attention", false, &one, e))
            return e->code;
        return one ? config_u32(c, NULL, "multi_query_group_num", 1, max, ret, e) : 0;
    }
    if (config_bool_or(c, NULL, "multi_query", one, &one, e))
        return e->code;
    *ret = one ? 1 : all;
    return 0;
}

static int multiple(const struct mixer *x, struct err *e)
{
    if (x->heads % x->key_heads || x->heads % x->value_heads)
        return err_set(e, ERR_FORMAT,
                       "%u heads of queries are no multiple of %u heads of keys and %u of values",
                       x->heads, x->key_heads, x->value_heads);
    return 0;
}

static int decoupled(struct config *c, struct mixer *x, struct err *e)
{
    if (config_u32(c, NULL, "key_heads", 1, CONFIG_HEADS_MAX, &x->key_heads, e) ||
        config_u32(c, NULL, "value_heads", 1, CONFIG_HEADS_MAX, &x->value_heads, e) ||
        config_u32(c, NULL, "key_dim", 1, CONFIG_HEAD_DIM_MAX, &x->key_dim, e) ||
        config_u32(c, NULL, "value_dim", 1, CONFIG_HEAD_DIM_MAX, &x->value_dim, e))
        return e->code;
    x->kind = MIXER_KEY_DECOUPLED;
    return multiple(x, e);
}

static int gqa(struct config *c, struct mixer *ret, struct err *e)
{
    struct model *m = c->m;
    const struct family *f = m->traits;
    struct mixer x = {.kind = MIXER_GQA,
                      .heads = m->heads,
                      .qk_norm = f->qk_norm != FAMILY_QK_NORM_NONE,
                      .output_gate = f->q_gate,
                      .sinks = f->sinks,
                      .store = f->encoder ? MIXER_ENCODES : MIXER_KEEPS,
                      .rope = !f->nope};
    const char *type;
    bool bias = false, qkv = f->qkv_bias;
    if (f->attention_bias && config_bool_or(c, NULL, "attention_bias", false, &bias, e))
        return e->code;
    if (f->moe == FAMILY_QWEN && f->qkv_bias && config_bool_or(c, NULL, "qkv_bias", true, &qkv, e))
        return e->code;
    x.qkv_bias = qkv || bias;
    x.o_bias = bias;
    if (config_text(c, "attention_type", &type, e))
        return e->code;
    if (type && !strcmp(type, "key_decoupled")) {
        if (decoupled(c, &x, e))
            return e->code;
        *ret = x;
        return 0;
    }
    if (type)
        config_unexplained(c, "attention_type=%s", type);
    if (head_dim_of(c, &x.key_dim, e) || kv_heads_of(c, &x.key_heads, e))
        return e->code;
    x.value_heads = x.key_heads;
    x.value_dim = x.key_dim;
    if (family_has_key(f->keys, "v_head_dim") &&
        config_u32_or(c, NULL, "v_head_dim", 1, CONFIG_HEAD_DIM_MAX, x.key_dim, &x.value_dim, e))
        return e->code;
    if (family_has_key(f->keys, "max_source_positions") &&
        config_u32(c, NULL, "max_source_positions", 1, UINT32_MAX, &x.cross_tokens, e))
        return e->code;
    if (multiple(&x, e))
        return e->code;
    *ret = x;
    return 0;
}

/* --- shapes of their own for full layers, and for windows */

/* Gemma 4: wider heads, and fewer of them where keys and values are one projection. Both are kept
 * even so: only keys are rotated. */
static int global_shape(struct config *c, struct mixer *x, struct err *e)
{
    bool same = false;
    uint32_t heads = x->key_heads;
    if (config_u32_or(c, NULL, "global_head_dim", 1, CONFIG_HEAD_DIM_MAX, x->key_dim, &x->key_dim,
                      e) ||
        config_bool_or(c, NULL, "attention_k_eq_v", false, &same, e) ||
        config_u32_or(c, NULL, "num_global_key_value_heads", 1, CONFIG_HEADS_MAX, heads, &heads, e))
        return e->code;
    if (!same && heads != x->key_heads)
        config_unexplained(c, "num_global_key_value_heads=%u without attention_k_eq_v", heads);
    x->value_dim = x->key_dim;
    x->key_heads = x->value_heads = heads;
    return multiple(x, e);
}

/* MiMo V2: the same keys with swa_ in front. */
static int window_shape(struct config *c, struct mixer *x, struct err *e)
{
    if (config_u32(c, NULL, "swa_num_attention_heads", 1, CONFIG_HEADS_MAX, &x->heads, e) ||
        config_u32(c, NULL, "swa_num_key_value_heads", 1, CONFIG_HEADS_MAX, &x->key_heads, e) ||
        config_u32(c, NULL, "swa_head_dim", 1, CONFIG_HEAD_DIM_MAX, &x->key_dim, e) ||
        config_u32(c, NULL, "swa_v_head_dim", 1, CONFIG_HEAD_DIM_MAX, &x->value_dim, e))
        return e->code;
    x->value_heads = x->key_heads;
    return multiple(x, e);
}

/* --- latents, and what an index picks of them */

/* Which layers keep index keys of their own is for index_owners to say. */
static int index_of(struct config *c, struct mixer *x, struct err *e)
{
    bool pools = false;
    x->index_own = true;
    if (config_u32(c, NULL, "index_n_heads", 1, CONFIG_HEADS_MAX, &x->index_heads, e) ||
        config_u32(c, NULL, "index_head_dim", 1, CONFIG_HEAD_DIM_MAX, &x->index_dim, e) ||
        config_u32(c, NULL, "index_topk", 1, UINT32_MAX, &x->index_top, e) ||
        config_u32_or(c, NULL, "index_kpool", 1, CONFIG_POOL_MAX, 1, &x->index_pool, e) ||
        config_bool_or(c, NULL, "index_kpool_compress", x->index_pool > 1, &pools, e))
        return e->code;
    if (!pools && x->index_pool > 1)
        config_hides(c, MODEL_HIDES_CACHE, "index_kpool=%u without index_kpool_compress",
                     x->index_pool);
    return 0;
}

static int mla(struct config *c, struct mixer *ret, struct err *e)
{
    struct model *m = c->m;
    struct mixer x = {
        .kind = MIXER_MLA, .heads = m->heads, .key_heads = m->heads, .value_heads = m->heads};
    bool nope = m->traits->nope;
    if (config_u32(c, NULL, "kv_lora_rank", 1, CONFIG_HIDDEN_MAX, &x.kv_rank, e) ||
        config_u32_or(c, NULL, "q_lora_rank", 1, CONFIG_HIDDEN_MAX, 0, &x.q_rank, e) ||
        config_u32(c, NULL, "qk_nope_head_dim", 1, CONFIG_HEAD_DIM_MAX, &x.nope_dim, e) ||
        config_u32(c, NULL, "qk_rope_head_dim", 0, CONFIG_HEAD_DIM_MAX, &x.rope_dim, e))
        return e->code;
    /* MiniCPM3's class takes the width that is left, its file does not name it. */
    uint32_t left = m->hidden / m->heads;
    if (family_has_key(m->traits->keys, "v_head_dim")
            ? config_u32_or(c, NULL, "v_head_dim", 1, CONFIG_HEAD_DIM_MAX, left, &x.value_dim, e)
            : config_u32(c, NULL, "v_head_dim", 1, CONFIG_HEAD_DIM_MAX, &x.value_dim, e))
        return e->code;
    /* DeepSeek's class puts 1536 where the key is missing; null is none in all of them. */
    if (m->traits->linear == FAMILY_LINEAR_NONE &&
        json_kind(json_get(c->text, "q_lora_rank")) == JSON_MISSING)
        config_hides(c, MODEL_HIDES_PARAMS, "q_lora_rank is missing");
    if (m->traits->linear == FAMILY_LINEAR_KDA &&
        (config_bool_or(c, NULL, "mla_use_nope", nope, &nope, e) ||
         config_bool_or(c, NULL, "mla_use_output_gate", false, &x.output_gate, e)))
        return e->code;
    x.key_dim = x.nope_dim + x.rope_dim;
    x.rope = !nope && x.rope_dim > 0;
    if (family_has_key(m->traits->keys, "index_topk")) {
        x.kind = MIXER_DSA;
        if (index_of(c, &x, e))
            return e->code;
    }
    *ret = x;
    return 0;
}

/* DeepSeek V4: one latent for keys and values, and a window of it on every layer. */
static int compressed(struct config *c, struct mixer *ret, struct err *e)
{
    struct mixer x = {.kind = MIXER_COMPRESSED, .heads = c->m->heads, .rope = true, .sinks = true};
    if (config_u32(c, NULL, "num_key_value_heads", 1, 1, &x.key_heads, e) ||
        config_u32(c, NULL, "head_dim", 1, CONFIG_HEAD_DIM_MAX, &x.key_dim, e) ||
        config_u32(c, NULL, "qk_rope_head_dim", 0, x.key_dim, &x.rope_dim, e) ||
        config_u32(c, NULL, "q_lora_rank", 1, CONFIG_HIDDEN_MAX, &x.q_rank, e) ||
        config_u32(c, NULL, "sliding_window", 1, UINT32_MAX, &x.window, e) || index_of(c, &x, e))
        return e->code;
    x.value_heads = 1;
    x.value_dim = x.key_dim;
    x.nope_dim = x.key_dim - x.rope_dim;
    *ret = x;
    return 0;
}

/* --- an index beside keys and values */

static int qsa(struct config *c, struct mixer *x, struct err *e)
{
    uint32_t heads;
    if (!config_has(c, "indexer_head_dim"))
        return 0;
    if (config_u32(c, NULL, "indexer_head_dim", 1, CONFIG_HEAD_DIM_MAX, &x->index_dim, e) ||
        config_u32(c, NULL, "indexer_kv_heads", 1, CONFIG_HEADS_MAX, &heads, e) ||
        config_u32(c, NULL, "indexer_compress_ratio", 1, CONFIG_POOL_MAX, &x->index_pool, e) ||
        config_u32_or(c, NULL, "indexer_budget", 1, UINT32_MAX, 0, &x->index_top, e))
        return e->code;
    x->kind = MIXER_QSA;
    x->index_own = true;
    x->index_heads = heads;
    x->index_dim *= heads;
    return 0;
}

/* --- together */

static bool among(const enum plan_slot *slots, uint32_t n, enum plan_slot slot)
{
    for (uint32_t i = 0; i < n; i++)
        if (slots[i] == slot)
            return true;
    return false;
}

static int full(struct config *c, struct mixer *ret, struct err *e)
{
    switch (c->m->traits->attention) {
    case FAMILY_GQA:
    case FAMILY_MSA: return gqa(c, ret, e);
    case FAMILY_QSA: return gqa(c, ret, e) || qsa(c, ret, e) ? e->code : 0;
    case FAMILY_MLA: return mla(c, ret, e);
    case FAMILY_COMPRESSED: return compressed(c, ret, e);
    }
    return 0;
}

/* The full kind within a window of so many tokens. */
static int windowed(struct config *c, const struct mixer *base, const char *const *keys,
                    struct mixer *ret, struct err *e)
{
    *ret = *base;
    if (config_u32_of(c, keys, 1, UINT32_MAX, &ret->window, e))
        return e->code;
    return family_has_key(c->m->traits->keys, "swa_head_dim") ? window_shape(c, ret, e) : 0;
}

/* The mixers of the slots that there are. */
static int known_of(struct config *c, const enum plan_slot *slots, struct layers_known *k,
                    struct mixer *ret_chunk, struct err *e)
{
    static const char *const window[] = {"sliding_window", "sliding_window_size", NULL};
    static const char *const chunk[] = {"attention_chunk_size", NULL};
    const struct family *f = c->m->traits;
    const uint32_t n = c->m->layer_count;
    if (f->linear != FAMILY_LINEAR_RWKV && full(c, &k->full, e))
        return e->code;
    if (among(slots, n, PLAN_WINDOW) && (config_has(c, window[0]) || config_has(c, window[1])) &&
        windowed(c, &k->full, window, &k->window, e))
        return e->code;
    if (among(slots, n, PLAN_CHUNK) && config_has(c, chunk[0])) {
        if (windowed(c, &k->full, chunk, ret_chunk, e))
            return e->code;
        ret_chunk->chunked = true;
        k->full.rope = false; /* only these see everything and are not rotated */
    }
    if (family_has_key(f->keys, "global_head_dim") && global_shape(c, &k->full, e))
        return e->code;
    if (f->linear != FAMILY_LINEAR_NONE && mixers_recurrent_linear(c, &k->linear, e))
        return e->code;
    if (among(slots, n, PLAN_MAMBA) && mixers_recurrent_mamba(c, &k->mamba, e))
        return e->code;
    return among(slots, n, PLAN_CONV) ? mixers_recurrent_conv(c, &k->conv, e) : 0;
}

/* Says once of each kind why a layer has none. */
static void absent(struct config *c, enum plan_slot slot)
{
    switch (slot) {
    case PLAN_WINDOW:
        config_unexplained(c, "layer_types: sliding_attention without sliding_window");
        break;
    case PLAN_CHUNK: config_unexplained(c, "chunked attention without attention_chunk_size"); break;
    case PLAN_LINEAR: config_unexplained(c, "linear attention of an unknown kind"); break;
    default: break;
    }
}

static void assign(struct config *c, const enum plan_slot *slots, const struct layers_known *k,
                   const struct mixer *chunk)
{
    for (uint32_t i = 0; i < c->m->layer_count; i++) {
        struct mixer *x = &c->m->layers[i].mixer;
        switch (slots[i]) {
        case PLAN_UNSAID: break;
        case PLAN_FULL: *x = k->full; break;
        case PLAN_WINDOW: *x = k->window; break;
        case PLAN_CHUNK: *x = *chunk; break;
        case PLAN_LINEAR: *x = k->linear; break;
        case PLAN_MAMBA: *x = k->mamba; break;
        case PLAN_CONV: *x = k->conv; break;
        case PLAN_MLP:
        case PLAN_MOE: *x = (struct mixer){.kind = MIXER_NONE}; break;
        }
        if (x->kind == MIXER_UNKNOWN)
            absent(c, slots[i]);
    }
}

int mixers_build(struct config *c, const enum plan_slot *slots, struct layers_known *known,
                 struct err *e)
{
    const struct family *f = c->m->traits;
    struct mixer chunk = {0};
    /* A missing key takes the class's default, which is a window of 4096 in Mistral. null is no
     * window. */
    if (f->window_required && json_kind(json_get(c->text, "sliding_window")) == JSON_MISSING)
        config_unexplained(c, "sliding_window is missing");
    if (known_of(c, slots, known, &chunk, e))
        return e->code;
    assign(c, slots, known, &chunk);
    return mixers_layers_apply(c, e);
}
