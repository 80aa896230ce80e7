#include "model/mixers.h"
#include "core/json.h"
#include "model/family.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- softmax attention over keys and values */

static int head_dim_of(struct config *c, uint32_t *ret, struct err *e)
{
    struct model *m = c->m;
    if (!config_has(c, "head_dim") && m->traits->head_dim_optional) {
        if (m->hidden % m->heads)
            return err_set(e, ERR_FORMAT,
                           "head_dim is missing, and hidden_size %u is no multiple of "
                           "num_attention_heads %u",
                           m->hidden, m->heads);
        *ret = m->hidden / m->heads;
        return 0;
    }
    return config_u32(c, NULL, "head_dim", 1, CONFIG_HEAD_DIM_MAX, ret, e);
}

static int decoupled(struct config *c, struct mixer *x, struct err *e)
{
    if (config_u32(c, NULL, "key_heads", 1, CONFIG_HEADS_MAX, &x->key_heads, e) ||
        config_u32(c, NULL, "value_heads", 1, CONFIG_HEADS_MAX, &x->value_heads, e) ||
        config_u32(c, NULL, "key_dim", 1, CONFIG_HEAD_DIM_MAX, &x->key_dim, e) ||
        config_u32(c, NULL, "value_dim", 1, CONFIG_HEAD_DIM_MAX, &x->value_dim, e))
        return e->code;
    if (x->heads % x->key_heads || x->heads % x->value_heads)
        return err_set(e, ERR_FORMAT,
                       "num_attention_heads %u is no multiple of key_heads %u and value_heads %u",
                       x->heads, x->key_heads, x->value_heads);
    x->kind = MIXER_KEY_DECOUPLED;
    return 0;
}

static int gqa(struct config *c, struct mixer *ret, struct err *e)
{
    struct model *m = c->m;
    const struct family *f = m->traits;
    struct mixer x = {.kind = MIXER_GQA, .heads = m->heads, .qk_norm = f->qk_norm, .rope = true};
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
    if (head_dim_of(c, &x.key_dim, e))
        return e->code;
    if (f->kv_heads_optional
            ? config_u32_or(c, NULL, "num_key_value_heads", 1, CONFIG_HEADS_MAX, m->heads,
                            &x.key_heads, e)
            : config_u32(c, NULL, "num_key_value_heads", 1, CONFIG_HEADS_MAX, &x.key_heads, e))
        return e->code;
    if (m->heads % x.key_heads)
        return err_set(e, ERR_FORMAT,
                       "num_attention_heads %u is no multiple of num_key_value_heads %u", m->heads,
                       x.key_heads);
    x.value_heads = x.key_heads;
    x.value_dim = x.key_dim;
    *ret = x;
    return 0;
}

/* --- latent attention and the delta rule */

static int mla(struct config *c, struct mixer *ret, struct err *e)
{
    struct model *m = c->m;
    struct mixer x = {
        .kind = MIXER_MLA, .heads = m->heads, .key_heads = m->heads, .value_heads = m->heads};
    bool nope = false;
    if (config_u32(c, NULL, "kv_lora_rank", 1, CONFIG_HIDDEN_MAX, &x.kv_rank, e) ||
        config_u32_or(c, NULL, "q_lora_rank", 1, CONFIG_HIDDEN_MAX, 0, &x.q_rank, e) ||
        config_u32(c, NULL, "qk_nope_head_dim", 1, CONFIG_HEAD_DIM_MAX, &x.nope_dim, e) ||
        config_u32(c, NULL, "qk_rope_head_dim", 0, CONFIG_HEAD_DIM_MAX, &x.rope_dim, e) ||
        config_u32(c, NULL, "v_head_dim", 1, CONFIG_HEAD_DIM_MAX, &x.value_dim, e))
        return e->code;
    /* DeepSeek's class puts 1536 where the key is missing; null is none in all of them. */
    if (m->traits->attention == FAMILY_MLA &&
        json_kind(json_get(c->text, "q_lora_rank")) == JSON_MISSING)
        config_unexplained(c, "q_lora_rank is missing");
    if (m->traits->attention == FAMILY_KDA_MLA &&
        (config_bool_or(c, NULL, "mla_use_nope", false, &nope, e) ||
         config_bool_or(c, NULL, "mla_use_output_gate", false, &x.output_gate, e)))
        return e->code;
    x.key_dim = x.nope_dim + x.rope_dim;
    x.rope = !nope && x.rope_dim > 0;
    *ret = x;
    return 0;
}

static int kda(struct config *c, const struct cJSON *lin, struct mixer *ret, struct err *e)
{
    static const char *const read[] = {
        "full_attn_layers",       "kda_layers",       "num_heads",         "head_dim",
        "short_conv_kernel_size", "gate_lower_bound", "use_full_rank_gate"};
    struct mixer x = {.kind = MIXER_KDA, .output_gate = true};
    if (config_u32(c, lin, "num_heads", 1, CONFIG_HEADS_MAX, &x.heads, e) ||
        config_u32(c, lin, "head_dim", 1, CONFIG_HEAD_DIM_MAX, &x.key_dim, e) ||
        config_u32(c, lin, "short_conv_kernel_size", 1, CONFIG_KERNEL_MAX, &x.conv_kernel, e) ||
        config_bool_or(c, lin, "use_full_rank_gate", false, &x.full_rank_gate, e) ||
        config_real_or(c, lin, "gate_lower_bound", 0, &x.lower_bound, e))
        return err_wrap(e, "linear_attn_config");
    enum json_kind bound = json_kind(json_get(lin, "gate_lower_bound"));
    if (bound != JSON_MISSING && bound != JSON_NULL) {
        if (!(x.lower_bound < 0))
            return err_set(e, ERR_FORMAT, "linear_attn_config: gate_lower_bound is %g, not below 0",
                           x.lower_bound);
        x.gate = KDA_GATE_BOUNDED;
    }
    x.key_heads = x.value_heads = x.heads;
    x.value_dim = x.key_dim;
    for (const struct cJSON *v = json_first(lin); v; v = json_next(v)) {
        bool known = false;
        for (size_t i = 0; i < sizeof read / sizeof *read; i++)
            known |= !strcmp(read[i], json_key(v));
        if (!known && json_kind(v) != JSON_NULL)
            config_unexplained(c, "linear_attn_config.%s", json_key(v));
    }
    *ret = x;
    return 0;
}

/* --- which layer has which */

/* Counts the entries of a list of layer numbers into seen[0..L], where L = layer_count. False if
 * it is no list of whole numbers up to L. */
static bool count_list(const struct cJSON *list, uint32_t layers, uint8_t *seen)
{
    if (json_kind(list) != JSON_ARRAY)
        return false;
    for (const struct cJSON *v = json_first(list); v; v = json_next(v)) {
        uint64_t n;
        if (!json_u64(v, &n) || n > layers)
            return false;
        if (seen[n] < 255)
            seen[n]++;
    }
    return true;
}

/* The lists of linear_attn_config count from 1 in Kimi's files and from 0 in GLM's. Zero occurs in
 * one of them only, and so does the number of layers; together they name each layer once. */
static bool split_by_lists(struct config *c, const struct cJSON *lin, struct layers_known *known)
{
    struct model *m = c->m;
    uint32_t n = m->layer_count;
    uint8_t *full = mem_alloc(n + 1, 1), *delta = mem_alloc(n + 1, 1);
    bool ok = count_list(json_get(lin, "full_attn_layers"), n, full) &&
              count_list(json_get(lin, "kda_layers"), n, delta);
    if (!ok) {
        config_unexplained(c,
                           "linear_attn_config: full_attn_layers and kda_layers are not two "
                           "lists of layers up to %u",
                           n);
    } else {
        bool from0 = full[0] || delta[0], to_n = full[n] || delta[n];
        uint32_t base = from0 ? 0 : 1;
        ok = from0 != to_n;
        for (uint32_t i = 0; ok && i < n; i++)
            ok = full[i + base] + delta[i + base] == 1;
        if (!ok)
            config_unexplained(c,
                               "linear_attn_config: full_attn_layers and kda_layers do not name "
                               "each of %u layers once",
                               n);
        for (uint32_t i = 0; ok && i < n; i++)
            m->layers[i].mixer = full[i + base] ? known->mla : known->kda;
    }
    free(full);
    free(delta);
    return ok;
}

/* The mixer that layer_types gives a layer; false for a kind that the family does not have. */
static bool by_type(const struct config *c, const char *type, const struct layers_known *known,
                    uint32_t window, struct mixer *ret)
{
    bool hybrid = c->m->traits->attention == FAMILY_KDA_MLA;
    const struct mixer *x = NULL;
    if (!strcmp(type, "full_attention"))
        x = c->m->traits->attention == FAMILY_GQA ? &known->gqa : &known->mla;
    else if (hybrid && !strcmp(type, "linear_attention"))
        x = &known->kda;
    else if (!strcmp(type, "sliding_attention") && window)
        x = &known->gqa;
    if (!x || x->kind == MIXER_UNKNOWN)
        return false;
    *ret = *x;
    ret->window = !strcmp(type, "sliding_attention") ? window : 0;
    return true;
}

/* layer_types, where there is one. It must agree with what the other keys said of the layer. */
static void apply_types(struct config *c, const struct layers_known *known, uint32_t window)
{
    struct model *m = c->m;
    const struct cJSON *list = json_get(c->text, "layer_types");
    if (!config_has(c, "layer_types"))
        return;
    if (json_kind(list) != JSON_ARRAY || json_count(list) != m->layer_count) {
        config_unexplained(c, "layer_types is no list of %u entries", m->layer_count);
        return;
    }
    uint32_t i = 0;
    for (const struct cJSON *v = json_first(list); v; v = json_next(v), i++) {
        const char *type;
        struct mixer x;
        struct layer *l = &m->layers[i];
        if (!json_text(v, &type)) {
            config_unexplained(c, "layer_types[%u] is no text", i);
        } else if (!by_type(c, type, known, window, &x)) {
            config_unexplained(c, "layer_types: %s", type);
        } else if (l->mixer.kind != MIXER_UNKNOWN && l->mixer.kind != x.kind) {
            config_unexplained(c, "layer_types[%u] is %s, linear_attn_config says %s", i, type,
                               model_mixer_name(l->mixer.kind));
        } else {
            l->mixer = x;
        }
    }
}

/* Window of the layers from *ret_from on; 0 none. */
static int window_of(struct config *c, uint32_t *ret_window, uint32_t *ret_from, struct err *e)
{
    const struct family *f = c->m->traits;
    bool use = true;
    uint32_t window = 0, from = 0;
    if (f->window == FAMILY_WINDOW_QWEN &&
        config_bool_or(c, NULL, "use_sliding_window", false, &use, e))
        return e->code;
    /* A missing key takes the class's default, which is a window of 4096 in Mistral. null is no
     * window. */
    if (f->window_required && json_kind(json_get(c->text, "sliding_window")) == JSON_MISSING)
        config_unexplained(c, "sliding_window is missing");
    if (f->window != FAMILY_WINDOW_NONE && use) {
        if (config_u32_or(c, NULL, "sliding_window", 1, UINT32_MAX, 0, &window, e))
            return e->code;
        if (f->window == FAMILY_WINDOW_QWEN && !config_has(c, "layer_types")) {
            if (!window || !config_has(c, "max_window_layers"))
                config_unexplained(c, "use_sliding_window without sliding_window and "
                                      "max_window_layers");
            if (config_u32_or(c, NULL, "max_window_layers", 0, UINT32_MAX, 0, &from, e))
                return e->code;
        }
    }
    *ret_window = window;
    *ret_from = from;
    return 0;
}

static int uniform(struct config *c, struct layers_known *known, struct err *e)
{
    struct model *m = c->m;
    uint32_t window = 0, from = 0;
    if (m->traits->attention == FAMILY_MLA) {
        if (mla(c, &known->mla, e))
            return e->code;
    } else if (gqa(c, &known->gqa, e) || window_of(c, &window, &from, e)) {
        return e->code;
    }
    if (config_has(c, "layer_types")) {
        apply_types(c, known, window);
        return 0;
    }
    for (uint32_t i = 0; i < m->layer_count; i++) {
        m->layers[i].mixer = m->traits->attention == FAMILY_MLA ? known->mla : known->gqa;
        m->layers[i].mixer.window = i >= from ? window : 0;
    }
    return 0;
}

int mixers_build(struct config *c, struct layers_known *known, struct err *e)
{
    if (c->m->traits->attention != FAMILY_KDA_MLA)
        return uniform(c, known, e);
    const struct cJSON *lin = json_get(c->text, "linear_attn_config");
    if (mla(c, &known->mla, e))
        return e->code;
    if (json_kind(lin) != JSON_OBJECT) {
        config_unexplained(c, "linear_attn_config is %s", json_kind_name(json_kind(lin)));
        return 0;
    }
    if (kda(c, lin, &known->kda, e))
        return e->code;
    bool lists = json_kind(json_get(lin, "full_attn_layers")) != JSON_MISSING ||
                 json_kind(json_get(lin, "kda_layers")) != JSON_MISSING;
    if (lists)
        split_by_lists(c, lin, known);
    else if (!config_has(c, "layer_types"))
        config_unexplained(c, "linear_attn_config names no layers");
    apply_types(c, known, 0);
    return 0;
}
