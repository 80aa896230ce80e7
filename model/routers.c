#include "model/routers.h"
#include "core/json.h"
#include "model/family.h"
#include <string.h>

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
                                        "experts_per_token",   "top_k_experts",
                                        "moe_top_k",           NULL};
    r->groups = r->top_groups = 1;
    r->scaling = 1;
    if (config_u32_of(c, experts, 1, CONFIG_EXPERTS_MAX, &r->experts, e) ||
        config_u32_of(c, top_k, 1, CONFIG_EXPERTS_MAX, &r->top_k, e))
        return e->code;
    return 0;
}

static enum router_score score_of(const char *name)
{
    return !strcmp(name, "sigmoid")        ? ROUTER_SIGMOID
           : !strcmp(name, "softmax")      ? ROUTER_SOFTMAX
           : !strcmp(name, "sqrtsoftplus") ? ROUTER_SQRTSOFTPLUS
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
    r->score = score ? score_of(score) : ROUTER_SIGMOID;
    bool root = family_has_key(c->m->traits->keys, "num_hash_layers"); /* DeepSeek V4's score */
    if (r->score != (root ? ROUTER_SQRTSOFTPLUS : ROUTER_SIGMOID))
        config_hides(c, MODEL_HIDES_BEYOND_CACHE, "scoring_func=%s", score);
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (json_kind(json_get(c->text, needed[i])) == JSON_MISSING &&
            !(root && i < 2)) { /* it has no groups */
            config_hides(c, MODEL_HIDES_OPERATORS, "%s is missing", needed[i]);
            r->score = ROUTER_UNKNOWN; /* nothing may be routed by a guess */
        }
    r->bias = true;
    if (method && strcmp(method, "noaux_tc"))
        config_hides(c, MODEL_HIDES_BEYOND_CACHE, "topk_method=%s", method);
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
        config_hides(c, MODEL_HIDES_OPERATORS, "moe_router_activation_func%s%s",
                     score ? "=" : " is missing", score ? score : "");
    r->bias = true;
    return 0;
}

/* MiniMax: a sigmoid, with a correction bias where use_routing_bias says so, renormalised. */
static int minimax_router(struct config *c, struct router *r, struct err *e)
{
    const char *score;
    if (config_text(c, "scoring_func", &score, e) ||
        config_bool_or(c, NULL, "use_routing_bias", false, &r->bias, e) ||
        config_real_or(c, NULL, "routed_scaling_factor", 1, &r->scaling, e))
        return e->code;
    r->score = score ? score_of(score) : ROUTER_UNKNOWN;
    r->renormalize = true;
    if (r->score != ROUTER_SIGMOID)
        config_hides(c, MODEL_HIDES_OPERATORS, "scoring_func%s%s", score ? "=" : " is missing",
                     score ? score : "");
    return 0;
}

/* Nemotron's router is DeepSeek's; its key norm_topk_prob has that class's default. */
static int nemotron_router(struct config *c, struct router *r, struct err *e)
{
    r->score = ROUTER_SIGMOID;
    r->bias = true;
    return config_u32_or(c, NULL, "n_group", 1, CONFIG_EXPERTS_MAX, 1, &r->groups, e) ||
                   config_u32_or(c, NULL, "topk_group", 1, CONFIG_EXPERTS_MAX, 1, &r->top_groups,
                                 e) ||
                   config_bool_or(c, NULL, "norm_topk_prob", true, &r->renormalize, e) ||
                   config_real_or(c, NULL, "routed_scaling_factor", 1, &r->scaling, e)
               ? e->code
               : 0;
}

int routers_build(struct config *c, struct router *r, struct err *e)
{
    const struct family *f = c->m->traits;
    int rc = counts(c, r, e);
    if (rc)
        return rc;
    switch (f->moe) {
    case FAMILY_DENSE: break;
    case FAMILY_MIXTRAL:
    case FAMILY_GPT_OSS:
        r->score = ROUTER_SOFTMAX_AFTER_TOPK;
        r->renormalize = true;
        break;
    case FAMILY_LLAMA4: r->score = ROUTER_SIGMOID; break;
    case FAMILY_QWEN:
        r->score = ROUTER_SOFTMAX;
        rc = config_bool_or(c, NULL, "norm_topk_prob", f->linear == FAMILY_LINEAR_GDN,
                            &r->renormalize, e);
        break;
    case FAMILY_DEEPSEEK: rc = deepseek_router(c, r, e); break;
    case FAMILY_KIMI: rc = kimi_router(c, r, e); break;
    case FAMILY_MINIMAX: rc = minimax_router(c, r, e); break;
    case FAMILY_NEMOTRON: rc = nemotron_router(c, r, e); break;
    case FAMILY_MOE_OTHER:
        config_hides(c, MODEL_HIDES_OPERATORS, "how the experts of %s are routed", f->types[0]);
        break;
    }
    return rc ? rc : checked(r, e);
}
