#include "model/ffns.h"
#include "core/json.h"
#include "model/family.h"
#include <stdlib.h>
#include <string.h>

static enum ffn_act act_of(const char *name)
{
    static const struct {
        const char *name;
        enum ffn_act act;
    } acts[] = {{"silu", FFN_ACT_SILU},
                {"gelu", FFN_ACT_GELU},
                {"situ", FFN_ACT_SITU},
                {"relu2", FFN_ACT_RELU2}};
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
        if (!strcmp(acts[i].name, name))
            return acts[i].act;
    return FFN_ACT_UNKNOWN;
}

/* What dense, shared and routed feed-forwards have in common. */
static int common(struct config *c, struct ffn *x, struct err *e)
{
    const char *act;
    x->gated = true;
    if (config_text(c, "hidden_act", &act, e))
        return e->code;
    x->act = act ? act_of(act) : FFN_ACT_UNKNOWN;
    if (!act)
        config_unexplained(c, "hidden_act is missing");
    else if (x->act == FFN_ACT_UNKNOWN)
        config_unexplained(c, "hidden_act=%s", act);
    if (x->act == FFN_ACT_SITU) {
        if (config_real_or(c, NULL, "activation_situ_beta", 0, &x->situ_beta, e) ||
            config_real_or(c, NULL, "activation_situ_linear_beta", 0, &x->situ_linear_beta, e))
            return e->code;
        if (!(x->situ_beta > 0) || !(x->situ_linear_beta > 0))
            config_unexplained(c, "hidden_act=situ without its two betas");
    }
    x->latent = c->m->hidden;
    return 0;
}

/* --- routers */

static int checked(const struct router *r, struct err *e)
{
    if (r->top_k > r->experts)
        return err_set(e, ERR_FORMAT, "%u experts a token, of %u", r->top_k, r->experts);
    if (r->experts % r->groups || r->top_groups > r->groups)
        return err_set(e, ERR_FORMAT, "%u of %u groups of %u experts", r->top_groups, r->groups,
                       r->experts);
    if ((uint64_t)r->top_groups * (r->experts / r->groups) < r->top_k)
        return err_set(e, ERR_FORMAT, "%u experts a token, from %u groups of %u", r->top_k,
                       r->top_groups, r->experts / r->groups);
    return 0;
}

static int counts(struct config *c, struct router *r, struct err *e)
{
    static const char *const experts[] = {"n_routed_experts", "num_experts", "num_local_experts",
                                          NULL};
    static const char *const top_k[] = {"num_experts_per_tok", "num_experts_per_token",
                                        "experts_per_token", NULL};
    r->groups = r->top_groups = 1;
    r->scaling = 1;
    if (config_u32_of(c, experts, 1, CONFIG_EXPERTS_MAX, &r->experts, e) ||
        config_u32_of(c, top_k, 1, CONFIG_EXPERTS_MAX, &r->top_k, e))
        return e->code;
    return 0;
}

static enum router_score score_of(const char *name)
{
    return !strcmp(name, "sigmoid")   ? ROUTER_SIGMOID
           : !strcmp(name, "softmax") ? ROUTER_SOFTMAX
                                      : ROUTER_UNKNOWN;
}

/* DeepSeek V3: sigmoid with a correction bias, in groups. The class has no other score and no
 * other method; older files repeat both. The counts of groups have a default that Kimi K2's
 * released files contradict, so a file without them tells nothing. */
static int deepseek_router(struct config *c, struct router *r, struct err *e)
{
    static const char *const needed[] = {"n_group", "topk_group", "norm_topk_prob",
                                         "routed_scaling_factor"};
    const char *score, *method;
    if (config_text(c, "scoring_func", &score, e) || config_text(c, "topk_method", &method, e) ||
        config_u32_or(c, NULL, "n_group", 1, CONFIG_EXPERTS_MAX, 1, &r->groups, e) ||
        config_u32_or(c, NULL, "topk_group", 1, CONFIG_EXPERTS_MAX, 1, &r->top_groups, e) ||
        config_bool_or(c, NULL, "norm_topk_prob", true, &r->renormalize, e) ||
        config_real_or(c, NULL, "routed_scaling_factor", 1, &r->scaling, e))
        return e->code;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!config_has(c, needed[i]))
            config_unexplained(c, "%s is missing", needed[i]);
    r->score = score ? score_of(score) : ROUTER_SIGMOID;
    if (r->score != ROUTER_SIGMOID)
        config_unexplained(c, "scoring_func=%s", score);
    r->bias = true;
    if (method && strcmp(method, "noaux_tc"))
        config_unexplained(c, "topk_method=%s", method);
    return 0;
}

static int kimi_router(struct config *c, struct router *r, struct err *e)
{
    const char *score;
    bool grouped = true;
    if (config_text(c, "moe_router_activation_func", &score, e) ||
        config_bool_or(c, NULL, "use_grouped_topk", true, &grouped, e) ||
        config_u32_or(c, NULL, "num_expert_group", 1, CONFIG_EXPERTS_MAX, 1, &r->groups, e) ||
        config_u32_or(c, NULL, "topk_group", 1, CONFIG_EXPERTS_MAX, 1, &r->top_groups, e) ||
        config_bool_or(c, NULL, "moe_renormalize", true, &r->renormalize, e) ||
        config_real_or(c, NULL, "routed_scaling_factor", 1, &r->scaling, e))
        return e->code;
    if (!grouped)
        r->groups = r->top_groups = 1;
    r->score = score ? score_of(score) : ROUTER_UNKNOWN;
    if (r->score == ROUTER_UNKNOWN)
        config_unexplained(c, "moe_router_activation_func%s%s", score ? "=" : " is missing",
                           score ? score : "");
    r->bias = true;
    return 0;
}

static int router_of(struct config *c, struct router *r, struct err *e)
{
    int rc = counts(c, r, e);
    if (rc)
        return rc;
    switch (c->m->traits->moe) {
    case FAMILY_DENSE: break;
    case FAMILY_MIXTRAL:
        r->score = ROUTER_SOFTMAX_AFTER_TOPK;
        r->renormalize = true;
        break;
    case FAMILY_QWEN:
        r->score = ROUTER_SOFTMAX;
        rc = config_bool_or(c, NULL, "norm_topk_prob", false, &r->renormalize, e);
        break;
    case FAMILY_DEEPSEEK: rc = deepseek_router(c, r, e); break;
    case FAMILY_KIMI: rc = kimi_router(c, r, e); break;
    }
    return rc ? rc : checked(r, e);
}

/* --- experts, and which layers have them */

static int shared_of(struct config *c, struct ffn *x, struct err *e)
{
    uint64_t width = 0;
    if (c->m->traits->moe == FAMILY_DEEPSEEK || c->m->traits->moe == FAMILY_KIMI) {
        const char *key =
            c->m->traits->moe == FAMILY_KIMI ? "num_shared_experts" : "n_shared_experts";
        if (config_u32_or(c, NULL, key, 0, CONFIG_EXPERTS_MAX, 0, &x->shared, e))
            return e->code;
        width = (uint64_t)x->shared * x->inner;
        if (width > CONFIG_INNER_MAX)
            return err_set(e, ERR_LIMIT, "%s x moe_intermediate_size is %llu, over the limit of %u",
                           key, (unsigned long long)width, CONFIG_INNER_MAX);
        x->shared_inner = (uint32_t)width;
    } else if (c->m->traits->shared_dir) {
        if (config_u32(c, NULL, "shared_expert_intermediate_size", 1, CONFIG_INNER_MAX,
                       &x->shared_inner, e))
            return e->code;
        x->shared = 1;
        x->shared_gate = true;
    }
    return 0;
}

static int moe_of(struct config *c, const struct ffn *base, struct ffn *ret, struct err *e)
{
    struct ffn x = *base;
    const char *inner =
        c->m->traits->moe == FAMILY_MIXTRAL ? "intermediate_size" : "moe_intermediate_size";
    x.kind = FFN_MOE;
    if (router_of(c, &x.router, e) ||
        config_u32(c, NULL, inner, 1, CONFIG_INNER_MAX, &x.inner, e) || shared_of(c, &x, e))
        return e->code;
    if (c->m->traits->moe == FAMILY_KIMI && config_has(c, "routed_expert_hidden_size")) {
        x.kind = FFN_MOE_LATENT;
        if (config_u32(c, NULL, "routed_expert_hidden_size", 1, CONFIG_HIDDEN_MAX, &x.latent, e) ||
            config_bool_or(c, NULL, "latent_moe_use_norm", false, &x.latent_norm, e))
            return e->code;
    }
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

/* A key that is missing takes the class's default, and the classes that run these files differ:
 * 256 experts after 3 dense layers in V3's, none in V2's. null is a word: none. */
static void deepseek_tells(struct config *c)
{
    static const char *const needed[] = {"n_routed_experts", "n_shared_experts",
                                         "first_k_dense_replace"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (json_kind(json_get(c->text, needed[i])) == JSON_MISSING)
            config_unexplained(c, "%s is missing", needed[i]);
}

static int select_layers(struct config *c, bool *moe, struct err *e)
{
    switch (c->m->traits->moe) {
    case FAMILY_DENSE: return 0;
    case FAMILY_MIXTRAL:
        for (uint32_t i = 0; i < c->m->layer_count; i++)
            moe[i] = true;
        return 0;
    case FAMILY_QWEN: return by_step(c, moe, e);
    case FAMILY_DEEPSEEK:
        deepseek_tells(c);
        return config_has(c, "n_routed_experts") ? by_frequency(c, moe, e) : 0;
    case FAMILY_KIMI: return config_has(c, "num_experts") ? by_frequency(c, moe, e) : 0;
    }
    return 0;
}

int ffns_build(struct config *c, struct err *e)
{
    struct model *m = c->m;
    struct ffn base = {0}, dense, moe = {0};
    bool any = false, all = true;
    bool *sparse = mem_alloc(m->layer_count, sizeof *sparse);
    int rc = select_layers(c, sparse, e);
    for (uint32_t i = 0; i < m->layer_count; i++) {
        any |= sparse[i];
        all &= sparse[i];
    }
    if (!rc)
        rc = common(c, &base, e);
    dense = base;
    dense.kind = FFN_DENSE;
    if (!rc && m->traits->mlp_bias)
        rc = config_bool_or(c, NULL, "mlp_bias", false, &dense.bias, e);
    if (!rc && !all)
        rc = config_u32(c, NULL, "intermediate_size", 1, CONFIG_INNER_MAX, &dense.inner, e);
    if (!rc && any)
        rc = moe_of(c, &base, &moe, e);
    for (uint32_t i = 0; !rc && i < m->layer_count; i++)
        m->layers[i].ffn = sparse[i] ? moe : dense;
    free(sparse);
    return rc;
}
