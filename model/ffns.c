#include "model/ffns.h"
#include "core/json.h"
#include "model/family.h"
#include "model/routers.h"
#include <stdlib.h>
#include <string.h>

/* --- what dense, shared and routed feed-forwards have in common */

static enum ffn_act act_of(const char *name)
{
    static const struct {
        const char *name;
        enum ffn_act act;
    } acts[] = {{"silu", FFN_ACT_SILU},      {"swish", FFN_ACT_SILU},
                {"gelu", FFN_ACT_GELU},      {"gelu_new", FFN_ACT_GELU},
                {"gelu_fast", FFN_ACT_GELU}, {"gelu_pytorch_tanh", FFN_ACT_GELU},
                {"relu", FFN_ACT_RELU},      {"situ", FFN_ACT_SITU},
                {"relu2", FFN_ACT_RELU2},    {"swigluoai", FFN_ACT_SWIGLU_CLAMPED}};
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
        if (!strcmp(acts[i].name, name))
            return acts[i].act;
    return FFN_ACT_UNKNOWN;
}

static int common(struct config *c, struct ffn *x, struct err *e)
{
    static const char *const keys[] = {"hidden_act", "hidden_activation", "mlp_hidden_act",
                                       "activation_function"};
    const struct family *f = c->m->traits;
    const char *act = NULL, *key = keys[0];
    x->gated = !f->ungated;
    for (size_t i = 0; i < sizeof keys / sizeof *keys && !act; i++) {
        key = keys[i];
        if (config_text(c, key, &act, e))
            return e->code;
    }
    if (f->act)
        act = f->act;
    x->act = act ? act_of(act) : FFN_ACT_UNKNOWN;
    if (!act)
        config_hides(c, MODEL_HIDES_OPERATORS, "hidden_act is missing");
    else if (x->act == FFN_ACT_UNKNOWN)
        config_hides(c, MODEL_HIDES_BEYOND_CACHE, "%s=%s", key, act);
    if (x->act == FFN_ACT_SITU) {
        if (config_real_or(c, NULL, "activation_situ_beta", 0, &x->situ_beta, e) ||
            config_real_or(c, NULL, "activation_situ_linear_beta", 0, &x->situ_linear_beta, e))
            return e->code;
        if (!(x->situ_beta > 0) || !(x->situ_linear_beta > 0))
            config_hides(c, MODEL_HIDES_OPERATORS, "hidden_act=situ without its two betas");
    }
    x->latent = c->m->hidden;
    return 0;
}

/* --- experts, and which layers have them */

static int shared_width(const char *key, uint32_t inner, struct ffn *x, struct err *e)
{
    uint64_t width = (uint64_t)x->shared * inner;
    if (width > CONFIG_INNER_MAX)
        return err_set(e, ERR_LIMIT, "%s x moe_intermediate_size is %llu, over the limit of %u",
                       key, (unsigned long long)width, CONFIG_INNER_MAX);
    x->shared_inner = (uint32_t)width;
    return 0;
}

static int shared_of(struct config *c, struct ffn *x, struct err *e)
{
    const char *key = "n_shared_experts";
    uint32_t inner = x->inner;
    switch (c->m->traits->moe) {
    case FAMILY_KIMI: key = "num_shared_experts"; break;
    case FAMILY_DEEPSEEK: break;
    case FAMILY_NEMOTRON:
        if (config_u32(c, NULL, "moe_shared_expert_intermediate_size", 1, CONFIG_INNER_MAX, &inner,
                       e))
            return e->code;
        break;
    case FAMILY_LLAMA4: x->shared = 1; return shared_width("shared expert", inner, x, e);
    case FAMILY_MINIMAX:
        if (config_u32_or(c, NULL, "shared_intermediate_size", 0, CONFIG_INNER_MAX, 0,
                          &x->shared_inner, e))
            return e->code;
        x->shared = x->shared_inner > 0;
        return 0;
    default:
        if (!c->m->traits->shared_dir)
            return 0;
        x->shared = 1;
        x->shared_gate = true;
        return config_u32(c, NULL, "shared_expert_intermediate_size", 1, CONFIG_INNER_MAX,
                          &x->shared_inner, e);
    }
    if (config_u32_or(c, NULL, key, 0, CONFIG_EXPERTS_MAX, 0, &x->shared, e))
        return e->code;
    return shared_width(key, inner, x, e);
}

/* A narrower space for the routed experts. */
static int latent_of(struct config *c, struct ffn *x, struct err *e)
{
    const char *key = c->m->traits->moe == FAMILY_KIMI       ? "routed_expert_hidden_size"
                      : c->m->traits->moe == FAMILY_NEMOTRON ? "moe_latent_size"
                                                             : NULL;
    if (!key || !config_has(c, key))
        return 0;
    x->kind = FFN_MOE_LATENT;
    return config_u32(c, NULL, key, 1, CONFIG_HIDDEN_MAX, &x->latent, e) ||
                   (c->m->traits->moe == FAMILY_KIMI &&
                    config_bool_or(c, NULL, "latent_moe_use_norm", false, &x->latent_norm, e))
               ? e->code
               : 0;
}

static int moe_of(struct config *c, const struct ffn *base, struct ffn *ret, struct err *e)
{
    struct ffn x = *base;
    enum family_moe moe = c->m->traits->moe;
    bool plain = moe == FAMILY_MIXTRAL || moe == FAMILY_GPT_OSS || moe == FAMILY_LLAMA4 ||
                 ((moe == FAMILY_MINIMAX || moe == FAMILY_MOE_OTHER) &&
                  !config_has(c, "moe_intermediate_size"));
    x.kind = FFN_MOE;
    if (routers_build(c, &x.router, e) ||
        config_u32(c, NULL, plain ? "intermediate_size" : "moe_intermediate_size", 1,
                   CONFIG_INNER_MAX, &x.inner, e) ||
        shared_of(c, &x, e) || latent_of(c, &x, e))
        return e->code;
    *ret = x;
    return 0;
}

/* Marks in moe[0..layer_count) the layers with experts, DeepSeek's way: dense ones first, then
 * every freq-th layer, or a list with an entry a layer. */
static int by_frequency(struct config *c, bool *moe, struct err *e)
{
    uint32_t first, every = 1, n = c->m->layer_count;
    const struct cJSON *freq = json_get(c->text, "moe_layer_freq");
    if (config_u32_or(c, NULL, "first_k_dense_replace", 0, UINT32_MAX, 0, &first, e))
        return e->code;
    if (json_kind(freq) == JSON_ARRAY) {
        uint32_t i = 0;
        if (json_count(freq) != n)
            return err_set(e, ERR_FORMAT, "moe_layer_freq has %zu entries for %u layers",
                           json_count(freq), n);
        for (const struct cJSON *v = json_first(freq); v; v = json_next(v), i++) {
            uint64_t on;
            if (!json_u64(v, &on))
                return err_set(e, ERR_FORMAT, "moe_layer_freq[%u] is no whole number", i);
            moe[i] = on != 0 && i >= first;
        }
        return 0;
    }
    if (config_u32_or(c, NULL, "moe_layer_freq", 1, UINT32_MAX, 1, &every, e))
        return e->code;
    for (uint32_t i = 0; i < n; i++)
        moe[i] = i >= first && i % every == 0;
    return 0;
}

/* Qwen's way: every step-th layer counted from 1, but those named dense. */
static int by_step(struct config *c, bool *moe, struct err *e)
{
    uint32_t step, n = c->m->layer_count;
    const struct cJSON *dense = json_get(c->text, "mlp_only_layers");
    if (config_u32_or(c, NULL, "decoder_sparse_step", 1, UINT32_MAX, 1, &step, e))
        return e->code;
    for (uint32_t i = 0; i < n; i++)
        moe[i] = (i + 1) % step == 0;
    if (config_has(c, "mlp_only_layers") && json_kind(dense) != JSON_ARRAY)
        return err_set(e, ERR_FORMAT, "mlp_only_layers is %s, not an array",
                       json_kind_name(json_kind(dense)));
    for (const struct cJSON *v = json_first(dense); v; v = json_next(v)) {
        uint64_t i;
        if (!json_u64(v, &i) || i >= n)
            return err_set(e, ERR_FORMAT, "mlp_only_layers has an entry that is no layer");
        moe[i] = false;
    }
    return 0;
}

/* A list with an entry a layer: dense or sparse. It has to agree with what other keys said. */
static int by_types(struct config *c, bool said, bool *moe, struct err *e)
{
    const struct cJSON *list = json_get(c->text, "mlp_layer_types");
    const char *text;
    uint32_t i = 0, n = c->m->layer_count;
    if (!config_has(c, "mlp_layer_types"))
        return 0;
    if (json_kind(list) != JSON_ARRAY || json_count(list) != n)
        return err_set(e, ERR_FORMAT, "mlp_layer_types is no list of %u entries", n);
    for (const struct cJSON *v = json_first(list); v; v = json_next(v), i++) {
        bool sparse = json_text(v, &text) && !strcmp(text, "sparse");
        if (!sparse && (!json_text(v, &text) || strcmp(text, "dense")))
            return err_set(e, ERR_FORMAT, "mlp_layer_types[%u] is neither dense nor sparse", i);
        if (said && moe[i] != sparse)
            config_hides(c, MODEL_HIDES_BEYOND_CACHE,
                         "mlp_layer_types says another thing of layer %u", i);
        moe[i] = sparse;
    }
    return 0;
}

static int every(const struct config *c, uint32_t step, bool *moe)
{
    for (uint32_t i = 0; i < c->m->layer_count; i++)
        moe[i] = (i + 1) % step == 0;
    return 0;
}

/* The experts of a family whose keys vary: whichever of them are there. */
static int by_any(struct config *c, bool *moe, struct err *e)
{
    static const char *const counts[] = {"num_experts", "num_local_experts", "n_routed_experts"};
    bool any = false;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        any |= config_has(c, counts[i]);
    if (!any)
        return 0;
    if (config_has(c, "first_k_dense_replace") || config_has(c, "moe_layer_freq"))
        return by_frequency(c, moe, e);
    if (config_has(c, "mlp_layer_types"))
        return by_types(c, false, moe, e);
    return by_step(c, moe, e);
}

/* A key that is missing takes the class's default, and the classes that run these files differ:
 * 256 experts after 3 dense layers in V3's, none in V2's. null is a word: none. */
static void deepseek_tells(struct config *c)
{
    static const char *const needed[] = {"n_routed_experts", "n_shared_experts",
                                         "first_k_dense_replace"};
    /* A list tells it of each layer; DeepSeek V4 has no dense layers. */
    bool told = json_kind(json_get(c->text, "moe_layer_freq")) == JSON_ARRAY ||
                family_has_key(c->m->traits->keys, "num_hash_layers");
    for (size_t i = 0; i < sizeof needed / sizeof *needed - told; i++)
        if (json_kind(json_get(c->text, needed[i])) == JSON_MISSING)
            config_hides(c, MODEL_HIDES_BEYOND_CACHE, "%s is missing", needed[i]);
}

static int select_layers(struct config *c, const enum plan_slot *slots, bool *moe, struct err *e)
{
    uint32_t step;
    switch (c->m->traits->moe) {
    case FAMILY_DENSE: return 0;
    case FAMILY_MIXTRAL:
    case FAMILY_GPT_OSS: return every(c, 1, moe);
    case FAMILY_LLAMA4:
        return config_u32(c, NULL, "interleave_moe_layer_step", 1, UINT32_MAX, &step, e)
                   ? e->code
                   : every(c, step, moe);
    case FAMILY_QWEN: return config_has(c, "num_experts") ? by_step(c, moe, e) : 0;
    case FAMILY_DEEPSEEK:
        deepseek_tells(c);
        if (!config_has(c, "n_routed_experts"))
            return 0;
        return by_frequency(c, moe, e) || by_types(c, true, moe, e) ? e->code : 0;
    case FAMILY_KIMI: return config_has(c, "num_experts") ? by_frequency(c, moe, e) : 0;
    case FAMILY_MINIMAX: return by_frequency(c, moe, e);
    case FAMILY_NEMOTRON:
        for (uint32_t i = 0; i < c->m->layer_count; i++)
            moe[i] = slots[i] == PLAN_MOE;
        return 0;
    case FAMILY_MOE_OTHER: return by_any(c, moe, e);
    }
    return 0;
}

/* --- together */

/* Inner width of the dense layers, where the family has a key or a rule of its own. */
static int dense_width(struct config *c, uint32_t *ret, struct err *e)
{
    static const char *const keys[] = {"intermediate_size", "ffn_hidden_size", "n_inner", "ffn_dim",
                                       NULL};
    const struct family *f = c->m->traits;
    const char *own = f->moe == FAMILY_LLAMA4    ? "intermediate_size_mlp"
                      : f->moe == FAMILY_MINIMAX ? "dense_intermediate_size"
                                                 : NULL;
    if (config_has(c, "block_configs") && family_has_key(f->keys, "block_configs") &&
        !config_has(c, keys[0])) {
        *ret = 0; /* each block has its own */
        return 0;
    }
    if (own)
        return config_u32(c, NULL, own, 1, CONFIG_INNER_MAX, ret, e);
    for (size_t i = 0; keys[i]; i++)
        if (config_has(c, keys[i]))
            return config_u32_of(c, keys, 1, CONFIG_INNER_MAX, ret, e);
    if (f->layout == FAMILY_LAYOUT_UNKNOWN) {
        config_hides(c, MODEL_HIDES_PARAMS, "intermediate_size is missing");
        *ret = 0;
        return 0;
    }
    if (!f->ungated || f->layout == FAMILY_LAYOUT_NEMOTRON)
        return config_u32(c, NULL, keys[0], 1, CONFIG_INNER_MAX, ret, e);
    *ret = 4 * c->m->hidden; /* what classes of GPT-2's kind do without a key */
    return 0;
}

/* Nemotron's layers are one thing each: a mixer has no feed-forward beside it. */
static bool alone(const struct model *m, enum plan_slot slot)
{
    return m->traits->layout == FAMILY_LAYOUT_NEMOTRON && slot != PLAN_MLP && slot != PLAN_MOE;
}

int ffns_build(struct config *c, const enum plan_slot *slots, struct err *e)
{
    struct model *m = c->m;
    struct ffn base = {0}, dense, moe = {0};
    bool any = false, others = false;
    bool *sparse = mem_alloc(m->layer_count, sizeof *sparse);
    int rc = select_layers(c, slots, sparse, e);
    for (uint32_t i = 0; i < m->layer_count; i++) {
        any |= sparse[i];
        others |= !sparse[i] && !alone(m, slots[i]);
    }
    if (!rc)
        rc = common(c, &base, e);
    dense = base;
    dense.kind = FFN_DENSE;
    if (!rc && m->traits->mlp_bias)
        rc = config_bool_or(c, NULL, "mlp_bias", false, &dense.bias, e);
    if (!rc && others)
        rc = dense_width(c, &dense.inner, e);
    if (!rc && any)
        rc = moe_of(c, &base, &moe, e);
    for (uint32_t i = 0; !rc && i < m->layer_count; i++)
        m->layers[i].ffn = sparse[i]            ? moe
                           : alone(m, slots[i]) ? (struct ffn){.kind = FFN_NONE}
                                                : dense;
    free(sparse);
    return rc;
}
