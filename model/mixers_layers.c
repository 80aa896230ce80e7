#include "model/mixers_layers.h"
#include "core/json.h"
#include "model/family.h"
#include <stdlib.h>
#include <string.h>

/* The layers that sparse_attention_freq marks have an index of blocks. */
static int msa(struct config *c, struct err *e)
{
    const struct cJSON *s = json_get(c->text, "sparse_attention_config");
    const struct cJSON *list = json_get(s, "sparse_attention_freq");
    struct mixer x = {0};
    bool use = false;
    uint32_t i = 0;
    uint64_t on;
    if (!config_has(c, "sparse_attention_config"))
        return 0;
    if (json_kind(s) != JSON_OBJECT)
        return err_set(e, ERR_FORMAT, "sparse_attention_config is %s, not an object",
                       json_kind_name(json_kind(s)));
    if (config_bool_or(c, s, "use_sparse_attention", false, &use, e))
        return err_wrap(e, "sparse_attention_config");
    if (!use)
        return 0;
    if (config_u32(c, s, "sparse_index_dim", 1, CONFIG_HEAD_DIM_MAX, &x.index_dim, e) ||
        config_u32(c, s, "sparse_num_index_heads", 1, CONFIG_HEADS_MAX, &x.index_heads, e) ||
        config_u32(c, s, "sparse_topk_blocks", 1, UINT32_MAX, &x.index_top, e))
        return err_wrap(e, "sparse_attention_config");
    if (json_kind(list) != JSON_ARRAY || json_count(list) != c->m->layer_count) {
        config_unexplained(c, "sparse_attention_freq is no list of %u entries", c->m->layer_count);
        return 0;
    }
    for (const struct cJSON *v = json_first(list); v; v = json_next(v), i++) {
        struct mixer *to = &c->m->layers[i].mixer;
        if (!json_u64(v, &on) || on > 1) {
            config_unexplained(c, "sparse_attention_freq[%u] is neither 0 nor 1", i);
        } else if (on && to->kind == MIXER_GQA) {
            to->kind = MIXER_MSA;
            to->index_own = true;
            to->index_pool = 1;
            to->index_dim = x.index_dim;
            to->index_heads = x.index_heads;
            to->index_top = x.index_top;
        }
    }
    return 0;
}

/* DeepSeek V4.1: these layers, counted from 0, make latents and index keys; the layers behind read
 * theirs. */
static void source_layers(struct config *c)
{
    const struct cJSON *list = json_get(c->text, "kv_source_layer_ids");
    struct model *m = c->m;
    bool *keeps = mem_alloc(m->layer_count, sizeof *keeps);
    uint64_t i;
    for (const struct cJSON *v = json_first(list); v; v = json_next(v)) {
        if (!json_u64(v, &i) || i >= m->layer_count || keeps[i] || !m->layers[i].mixer.ratio) {
            config_unexplained(c, "kv_source_layer_ids is no list of compressed layers");
            break;
        }
        keeps[i] = true;
    }
    for (uint32_t k = 0; k < m->layer_count; k++)
        if (!keeps[k]) {
            m->layers[k].mixer.ratio = 0;
            m->layers[k].mixer.index_own = false;
            m->layers[k].mixer.index_pool = 1;
        }
    free(keeps);
}

/* Ratio of each layer; more entries than layers are of draft layers. An index goes with ratio 4. */
static void ratios(struct config *c)
{
    const struct cJSON *list = json_get(c->text, "compress_ratios"), *v = json_first(list);
    struct model *m = c->m;
    bool sources = config_has(c, "kv_source_layer_ids") &&
                   family_has_key(m->traits->keys, "kv_source_layer_ids");
    if (json_kind(list) != JSON_ARRAY || json_count(list) < m->layer_count) {
        config_unexplained(c, "compress_ratios is no list of %u entries", m->layer_count);
        return;
    }
    for (uint32_t i = 0; i < m->layer_count; i++, v = json_next(v)) {
        struct mixer *x = &m->layers[i].mixer;
        uint64_t r;
        if (!json_u64(v, &r) || r > CONFIG_POOL_MAX || (!sources && r != 0 && r != 4 && r != 128)) {
            config_unexplained(c, "compress_ratios[%u] is none of 0, 4 and 128", i);
            continue;
        }
        x->ratio = (uint32_t)r;
        x->index_own = sources ? r != 0 : r == 4;
        x->index_pool = x->index_own ? (uint32_t)r : 1;
    }
    if (sources)
        source_layers(c);
}

/* indexer_types names the layers that pick for themselves; the others follow. */
static void index_owners(struct config *c)
{
    const struct cJSON *list = json_get(c->text, "indexer_types");
    struct model *m = c->m;
    uint32_t i = 0;
    const char *text;
    uint64_t every;
    if (!config_has(c, "indexer_types")) {
        if (config_has(c, "index_topk_pattern") ||
            (json_u64(json_get(c->text, "index_topk_freq"), &every) && every > 1))
            config_hides(c, MODEL_HIDES_CACHE | MODEL_HIDES_PARAMS,
                         "index_topk_freq or index_topk_pattern without indexer_types");
        return;
    }
    if (json_kind(list) != JSON_ARRAY || json_count(list) != m->layer_count) {
        config_hides(c, MODEL_HIDES_CACHE, "indexer_types is no list of %u entries",
                     m->layer_count);
        return;
    }
    for (const struct cJSON *v = json_first(list); v; v = json_next(v), i++) {
        bool text_is = json_text(v, &text), full = text_is && !strcmp(text, "full");
        if (!full && !(text_is && !strcmp(text, "shared")))
            config_hides(c, MODEL_HIDES_CACHE, "indexer_types[%u] is neither full nor shared", i);
        if (full || m->layers[i].mixer.kind != MIXER_DSA)
            continue;
        m->layers[i].mixer.index_own = false;
        config_hides(c, MODEL_HIDES_PARAMS, "indexer_types: whether shared layers have an indexer");
    }
}

static int shared_of(struct config *c, struct err *e)
{
    uint32_t n = 0, layers = c->m->layer_count;
    if (!family_has_key(c->m->traits->keys, "num_kv_shared_layers"))
        return 0;
    if (!json_get(c->text, "num_kv_shared_layers"))
        config_hides(c, MODEL_HIDES_CACHE, "num_kv_shared_layers is missing");
    if (config_u32_or(c, NULL, "num_kv_shared_layers", 0, layers, 0, &n, e))
        return e->code;
    for (uint32_t i = layers - n; i < layers; i++)
        c->m->layers[i].mixer.store = MIXER_SHARES;
    return 0;
}

static int query_heads(struct config *c, struct err *e)
{
    const struct cJSON *list = json_get(c->text, "num_attention_heads_per_layer");
    uint32_t i = 0;
    uint64_t n;
    if (json_kind(list) != JSON_ARRAY ||
        !family_has_key(c->m->traits->keys, "num_attention_heads_per_layer"))
        return 0;
    if (json_count(list) != c->m->layer_count)
        return err_set(e, ERR_FORMAT, "num_attention_heads_per_layer has %zu entries for %u layers",
                       json_count(list), c->m->layer_count);
    for (const struct cJSON *v = json_first(list); v; v = json_next(v), i++) {
        if (!json_u64(v, &n) || n == 0 || n > CONFIG_HEADS_MAX)
            return err_set(e, ERR_FORMAT, "num_attention_heads_per_layer[%u] is no head count", i);
        struct mixer *x = &c->m->layers[i].mixer;
        if (x->kind != MIXER_GQA)
            continue;
        x->heads = (uint32_t)n;
        if (n % x->key_heads)
            return err_set(e, ERR_FORMAT,
                           "num_attention_heads_per_layer[%u] is %llu, no multiple of %u key heads",
                           i, (unsigned long long)n, x->key_heads);
    }
    return 0;
}

int mixers_layers_apply(struct config *c, struct err *e)
{
    enum family_attention attention = c->m->traits->attention;
    if (attention == FAMILY_COMPRESSED)
        ratios(c);
    if (attention == FAMILY_MLA)
        index_owners(c);
    if (attention == FAMILY_MSA && msa(c, e))
        return e->code;
    return shared_of(c, e) || query_heads(c, e) ? e->code : 0;
}
