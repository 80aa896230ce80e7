#include "model/layers.h"
#include "core/json.h"
#include "model/family.h"
#include "model/ffns.h"
#include "model/mixers.h"

static int widths(struct config *c, struct err *e)
{
    struct model *m = c->m;
    uint64_t positions = 0;
    if (config_u32(c, NULL, "hidden_size", 1, CONFIG_HIDDEN_MAX, &m->hidden, e) ||
        config_u32(c, NULL, "vocab_size", 1, CONFIG_VOCAB_MAX, &m->vocab, e) ||
        config_u32(c, NULL, "num_hidden_layers", 1, MODEL_LAYERS_MAX, &m->layer_count, e) ||
        config_u32(c, NULL, "num_attention_heads", 1, CONFIG_HEADS_MAX, &m->heads, e) ||
        config_u32_or(c, NULL, "num_nextn_predict_layers", 0, MODEL_LAYERS_MAX, 0, &m->mtp_layers,
                      e) ||
        config_real_or(c, NULL, "rms_norm_eps", 0, &m->norm_eps, e))
        return e->code;
    if (!config_has(c, "rms_norm_eps"))
        config_unexplained(c, "rms_norm_eps is missing");
    else if (!(m->norm_eps > 0))
        return err_set(e, ERR_FORMAT, "rms_norm_eps is %g, not above 0", m->norm_eps);

    /* All these families tie the two only where the config says so; the outer config speaks for
     * the text tower when the inner one is silent. */
    struct config outer = *c;
    outer.text = c->root;
    if (config_bool_or(&outer, NULL, "tie_word_embeddings", false, &m->tied_embeddings, e) ||
        config_bool_or(c, NULL, "tie_word_embeddings", m->tied_embeddings, &m->tied_embeddings, e))
        return e->code;

    static const char *const keys[] = {"max_position_embeddings", "model_max_length"};
    for (size_t i = 0; i < 2 && !positions; i++) {
        if (!config_has(c, keys[i]))
            continue;
        if (!json_u64(json_get(c->text, keys[i]), &positions))
            return err_set(e, ERR_FORMAT, "%s is not a whole number", keys[i]);
        if (positions > CONFIG_TOKENS_MAX)
            return err_set(e, ERR_LIMIT, "%s is %llu, over the limit of %llu", keys[i],
                           (unsigned long long)positions, CONFIG_TOKENS_MAX);
    }
    m->max_positions = positions;
    return 0;
}

static int residuals(struct config *c, struct err *e)
{
    struct model *m = c->m;
    if (m->traits->attention == FAMILY_KDA_MLA &&
        config_u32_or(c, NULL, "attn_res_block_size", 0, MODEL_LAYERS_MAX, 0, &m->attnres_block, e))
        return e->code;
    for (uint32_t i = 0; i < m->layer_count; i++)
        m->layers[i].residual = m->attnres_block ? RESIDUAL_ATTNRES_BLOCK : RESIDUAL_ADD;
    return 0;
}

int layers_build(struct config *c, struct layers_known *ret, struct err *e)
{
    struct model *m = c->m;
    struct layers_known known = {0};
    if (widths(c, e))
        return e->code;
    m->layers = mem_arena_alloc(&m->arena, m->layer_count * sizeof *m->layers);
    if (residuals(c, e) || mixers_build(c, &known, e) || ffns_build(c, e))
        return e->code;
    config_scan(c);
    *ret = known;
    return 0;
}
