#include "model/blocks.h"
#include "core/json.h"
#include "model/family.h"
#include <math.h>
#include <string.h>

#define WIDTH_UNIT 256u /* inner widths of Nemotron-NAS are rounded up to it */

/* --- Nemotron-NAS */

/* Each other key of the block has to say that there is none of it. */
static void others(struct config *c, const struct cJSON *block, const char *what,
                   const char *const *known, unsigned hides)
{
    for (const struct cJSON *v = json_first(block); v; v = json_next(v)) {
        bool off, known_key = json_kind(v) == JSON_NULL || (json_bool(v, &off) && !off);
        for (size_t i = 0; known[i]; i++)
            known_key |= !strcmp(known[i], json_key(v));
        if (!known_key)
            config_hides(c, hides, "block_configs: %s.%s", what, json_key(v));
    }
}

static int attention(struct config *c, const struct cJSON *block, struct mixer *x, struct err *e)
{
    static const char *const known[] = {"n_heads_in_group", "no_op", "replace_with_linear", NULL};
    bool none = false, linear = false;
    uint32_t group;
    others(c, block, "attention", known, MODEL_HIDES_ALL);
    if (config_bool_or(c, block, "no_op", false, &none, e) ||
        config_bool_or(c, block, "replace_with_linear", false, &linear, e))
        return e->code;
    if (none || linear) {
        *x = (struct mixer){.kind = MIXER_NONE};
        if (linear)
            config_hides(c, MODEL_HIDES_BEYOND_CACHE,
                         "block_configs: attention.replace_with_linear");
        return 0;
    }
    if (config_u32(c, block, "n_heads_in_group", 1, CONFIG_HEADS_MAX, &group, e))
        return e->code;
    if (x->heads % group)
        return err_set(e, ERR_FORMAT, "n_heads_in_group %u does not divide %u heads", group,
                       x->heads);
    x->key_heads = x->value_heads = x->heads / group;
    return 0;
}

static int feed_forward(struct config *c, const struct cJSON *block, struct ffn *x, struct err *e)
{
    static const char *const known[] = {"ffn_mult", "no_op", "replace_with_linear", NULL};
    bool none = false, linear = false;
    double mult;
    others(c, block, "ffn", known, MODEL_HIDES_BEYOND_CACHE);
    if (config_bool_or(c, block, "no_op", false, &none, e) ||
        config_bool_or(c, block, "replace_with_linear", false, &linear, e) ||
        config_real_or(c, block, "ffn_mult", 0, &mult, e))
        return e->code;
    if (linear)
        config_hides(c, MODEL_HIDES_BEYOND_CACHE, "block_configs: ffn.replace_with_linear");
    if (none || linear) {
        *x = (struct ffn){.kind = FFN_NONE};
        return 0;
    }
    double width = floor(2 * mult * c->m->hidden / 3);
    if (!(width >= 1) || width > CONFIG_INNER_MAX)
        return err_set(e, ERR_FORMAT, "ffn_mult is %g, which gives no width from 1 to %u", mult,
                       CONFIG_INNER_MAX);
    x->inner = ((uint32_t)width + WIDTH_UNIT - 1) / WIDTH_UNIT * WIDTH_UNIT;
    return 0;
}

static int searched(struct config *c, const struct cJSON *block, struct layer *l, struct err *e)
{
    static const char *const known[] = {"attention", "ffn", NULL};
    others(c, block, "block", known, MODEL_HIDES_ALL);
    if (json_kind(json_get(block, "attention")) != JSON_OBJECT ||
        json_kind(json_get(block, "ffn")) != JSON_OBJECT)
        return err_set(e, ERR_FORMAT, "there are no attention and no ffn");
    return attention(c, json_get(block, "attention"), &l->mixer, e) ||
                   feed_forward(c, json_get(block, "ffn"), &l->ffn, e)
               ? e->code
               : 0;
}

/* --- Nemotron Puzzle: experts of their own width and number in each layer */

static int puzzle(struct config *c, const struct cJSON *block, struct layer *l, struct err *e)
{
    static const char *const known[] = {"block_type", "moe_intermediate_size",
                                        "num_experts_per_tok", "n_routed_experts", NULL};
    bool moe = l->ffn.kind == FFN_MOE || l->ffn.kind == FFN_MOE_LATENT;
    others(c, block, "block", known, moe ? MODEL_HIDES_BEYOND_CACHE : MODEL_HIDES_ALL);
    if (!moe)
        return 0;
    struct router *r = &l->ffn.router;
    if (config_u32_or(c, block, "moe_intermediate_size", 1, CONFIG_INNER_MAX, l->ffn.inner,
                      &l->ffn.inner, e) ||
        config_u32_or(c, block, "num_experts_per_tok", 1, CONFIG_EXPERTS_MAX, r->top_k, &r->top_k,
                      e) ||
        config_u32_or(c, block, "n_routed_experts", 1, CONFIG_EXPERTS_MAX, r->experts, &r->experts,
                      e))
        return e->code;
    if (r->top_k > r->experts || r->experts % r->groups)
        return err_set(e, ERR_FORMAT, "%u experts a token, of %u in %u groups", r->top_k,
                       r->experts, r->groups);
    return 0;
}

int blocks_build(struct config *c, struct err *e)
{
    const struct cJSON *list = json_get(c->text, "block_configs");
    struct model *m = c->m;
    bool nemotron = m->traits->layout == FAMILY_LAYOUT_NEMOTRON;
    uint32_t i = 0;
    if (!config_has(c, "block_configs") || !family_has_key(m->traits->keys, "block_configs"))
        return 0;
    if (json_kind(list) != JSON_ARRAY || json_count(list) != m->layer_count)
        return err_set(e, ERR_FORMAT, "block_configs is no list of %u entries", m->layer_count);
    for (const struct cJSON *v = json_first(list); v; v = json_next(v), i++) {
        if (json_kind(v) != JSON_OBJECT)
            return err_set(e, ERR_FORMAT, "block_configs[%u] is no object", i);
        if (nemotron ? puzzle(c, v, &m->layers[i], e) : searched(c, v, &m->layers[i], e))
            return err_wrap(e, "block_configs[%u]", i);
    }
    return 0;
}
