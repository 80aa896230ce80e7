#include "model/layers.h"
#include "core/json.h"
#include "model/blocks.h"
#include "model/family.h"
#include "model/ffns.h"
#include "model/mixers.h"
#include "model/plan.h"
#include <stdlib.h>

/* Files of classes older than the common names have their own. */
static const char *const hidden_keys[] = {"hidden_size", "n_embd", "n_embed", "d_model", NULL};
static const char *const layer_keys[] = {"num_hidden_layers", "n_layer",        "num_layers",
                                         "n_layers",          "decoder_layers", NULL};
static const char *const head_keys[] = {"num_attention_heads", "n_head", "n_heads",
                                        "decoder_attention_heads", NULL};
static const char *const vocab_keys[] = {"vocab_size", "padded_vocab_size", NULL};
static const char *const eps_keys[] = {
    "rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon", "layernorm_epsilon",
    "norm_eps",     "norm_epsilon",   "block_norm_eps",     NULL};
static const char *const position_keys[] = {"max_position_embeddings", "model_max_length",
                                            "n_positions", "seq_length", NULL};

/* Nemotron's newer files list the layers and do not count them. */
static int count_layers(struct config *c, uint32_t *ret, struct err *e)
{
    static const char *const keys[] = {"layers_block_type", "block_configs"};
    const struct cJSON *list = json_get(c->text, keys[0]);
    const char *key = list ? keys[0] : keys[1];
    list = list ? list : json_get(c->text, keys[1]);
    if (json_kind(list) != JSON_ARRAY || config_has(c, "num_hidden_layers"))
        return config_u32_of(c, layer_keys, 1, MODEL_LAYERS_MAX, ret, e);
    size_t n = json_count(list);
    if (n == 0 || n > MODEL_LAYERS_MAX)
        return err_set(e, ERR_LIMIT, "%s has %zu entries, not 1 to %u", key, n, MODEL_LAYERS_MAX);
    *ret = (uint32_t)n;
    return 0;
}

static int epsilon(struct config *c, double *ret, struct err *e)
{
    for (size_t i = 0; eps_keys[i]; i++) {
        if (!config_has(c, eps_keys[i]))
            continue;
        if (config_real_or(c, NULL, eps_keys[i], 0, ret, e))
            return e->code;
        return *ret > 0 ? 0 : err_set(e, ERR_FORMAT, "%s is %g, not above 0", eps_keys[i], *ret);
    }
    config_hides(c, MODEL_HIDES_OPERATORS, "rms_norm_eps is missing");
    return 0;
}

static int draft_layers(struct config *c, uint32_t *ret, struct err *e)
{
    static const char *const keys[] = {"num_nextn_predict_layers", "mtp_num_hidden_layers", NULL};
    for (size_t i = 0; keys[i]; i++)
        if (config_has(c, keys[i]) && family_has_key(c->m->traits->keys, keys[i]))
            return config_u32(c, NULL, keys[i], 0, MODEL_LAYERS_MAX, ret, e);
    return 0;
}

static int widths(struct config *c, struct err *e)
{
    struct model *m = c->m;
    uint64_t positions = 0;
    if (config_u32_of(c, hidden_keys, 1, CONFIG_HIDDEN_MAX, &m->hidden, e) ||
        config_u32_of(c, vocab_keys, 1, CONFIG_VOCAB_MAX, &m->vocab, e) ||
        count_layers(c, &m->layer_count, e) || draft_layers(c, &m->mtp_layers, e) ||
        epsilon(c, &m->norm_eps, e))
        return e->code;
    if (m->traits->linear != FAMILY_LINEAR_RWKV &&
        config_u32_of(c, head_keys, 1, CONFIG_HEADS_MAX, &m->heads, e))
        return e->code;

    /* All these families tie the two only where the config says so; the outer config speaks for
     * the text tower when the inner one is silent. */
    struct config outer = *c;
    outer.text = c->root;
    if (config_bool_or(&outer, NULL, "tie_word_embeddings", m->traits->tied, &m->tied_embeddings,
                       e) ||
        config_bool_or(c, NULL, "tie_word_embeddings", m->tied_embeddings, &m->tied_embeddings, e))
        return e->code;

    for (size_t i = 0; position_keys[i] && !positions; i++) {
        const char *key = position_keys[i];
        if (!config_has(c, key))
            continue;
        if (!json_u64(json_get(c->text, key), &positions))
            return err_set(e, ERR_FORMAT, "%s is not a whole number", key);
        if (positions > CONFIG_TOKENS_MAX)
            return err_set(e, ERR_LIMIT, "%s is %llu, over the limit of %llu", key,
                           (unsigned long long)positions, CONFIG_TOKENS_MAX);
    }
    m->max_positions = positions;
    return 0;
}

static int residuals(struct config *c, struct err *e)
{
    struct model *m = c->m;
    uint32_t streams = 1;
    if (m->traits->linear == FAMILY_LINEAR_KDA &&
        config_u32_or(c, NULL, "attn_res_block_size", 0, MODEL_LAYERS_MAX, 0, &m->attnres_block, e))
        return e->code;
    if (family_has_key(m->traits->keys, "hc_mult") &&
        config_u32_or(c, NULL, "hc_mult", 1, MODEL_LAYERS_MAX, 1, &streams, e))
        return e->code;
    for (uint32_t i = 0; i < m->layer_count; i++)
        m->layers[i].residual = m->attnres_block ? RESIDUAL_ATTNRES_BLOCK
                                : streams > 1    ? RESIDUAL_HYPER
                                                 : RESIDUAL_ADD;
    return 0;
}

int layers_build(struct config *c, struct layers_known *ret, struct err *e)
{
    struct model *m = c->m;
    struct layers_known known = {0};
    if (widths(c, e))
        return e->code;
    m->layers = mem_arena_alloc(&m->arena, m->layer_count * sizeof *m->layers);
    enum plan_slot *slots = mem_alloc(m->layer_count, sizeof *slots);
    int rc = residuals(c, e);
    if (!rc)
        rc = plan_build(c, slots, e);
    if (!rc)
        rc = mixers_build(c, slots, &known, e);
    if (!rc)
        rc = ffns_build(c, slots, e);
    if (!rc)
        rc = blocks_build(c, e);
    free(slots);
    if (rc)
        return rc;
    if (m->traits->layout == FAMILY_LAYOUT_UNKNOWN)
        config_hides(c, MODEL_HIDES_PARAMS, "the layout of the parameters of %s", m->family);
    if (m->traits->beyond)
        config_hides(c, MODEL_HIDES_OPERATORS, "%s", m->traits->beyond);
    config_scan(c);
    *ret = known;
    return 0;
}
