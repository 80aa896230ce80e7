#include "model/plan.h"
#include "core/json.h"
#include "model/family.h"
#include <stdlib.h>
#include <string.h>

/* A key that speaks of layers: false if it is not there. What cannot be read leaves the slots
 * unsaid and an unexplained entry. */
struct speaker {
    const char *key;
    bool (*speak)(struct config *c, const struct cJSON *value, enum plan_slot *slots);
};

struct word {
    const char *word;
    enum plan_slot slot;
};

/* --- lists with one entry a layer */

/* True if the family has such layers at all. */
static bool may(const struct family *f, enum plan_slot slot)
{
    switch (slot) {
    case PLAN_WINDOW: return f->window != FAMILY_WINDOW_NONE && f->window != FAMILY_WINDOW_CHUNK;
    case PLAN_CHUNK: return f->window == FAMILY_WINDOW_CHUNK;
    case PLAN_LINEAR: return f->linear != FAMILY_LINEAR_NONE;
    case PLAN_MAMBA:
        return family_has_key(f->keys, "conv_kernel") || family_has_key(f->keys, "mamba_d_conv");
    case PLAN_CONV: return family_has_key(f->keys, "conv_L_cache");
    default: return true;
    }
}

static bool by_words(struct config *c, const char *key, const struct cJSON *list,
                     const struct word *words, size_t count, enum plan_slot *slots)
{
    uint32_t i = 0;
    const char *text;
    if (json_kind(list) != JSON_ARRAY || json_count(list) != c->m->layer_count) {
        config_unexplained(c, "%s is no list of %u entries", key, c->m->layer_count);
        return true;
    }
    for (const struct cJSON *v = json_first(list); v; v = json_next(v), i++) {
        if (!json_text(v, &text)) {
            config_unexplained(c, "%s[%u] is no text", key, i);
            continue;
        }
        for (size_t k = 0; k < count; k++)
            if (!strcmp(words[k].word, text) && may(c->m->traits, words[k].slot))
                slots[i] = words[k].slot;
        if (slots[i] == PLAN_UNSAID)
            config_unexplained(c, "%s: %s", key, text);
    }
    return true;
}

static bool layer_types(struct config *c, const struct cJSON *v, enum plan_slot *slots)
{
    static const struct word words[] = {
        {"full_attention", PLAN_FULL},
        {"attention", PLAN_FULL},
        {"sliding_attention", PLAN_WINDOW},
        {"deepseek_sparse_attention", PLAN_FULL},
        {"qwen_sparse_attention", PLAN_FULL},
        {"linear_attention", PLAN_LINEAR},
        {"chunked_attention", PLAN_CHUNK},
        {"mamba", PLAN_MAMBA},
        {"conv", PLAN_CONV},
    };
    return by_words(c, "layer_types", v, words, sizeof words / sizeof *words, slots);
}

static bool layers_block_type(struct config *c, const struct cJSON *v, enum plan_slot *slots)
{
    static const struct word words[] = {
        {"attention", PLAN_FULL}, {"mamba", PLAN_MAMBA}, {"moe", PLAN_MOE}, {"mlp", PLAN_MLP}};
    return by_words(c, "layers_block_type", v, words, sizeof words / sizeof *words, slots);
}

/* Puzzle's blocks name their kind; those of Nemotron-NAS have an attention and a feed-forward. */
static bool block_types(struct config *c, const struct cJSON *list, enum plan_slot *slots)
{
    const char *text;
    uint32_t i = 0;
    if (!json_get(json_first(list), "block_type"))
        return false;
    if (json_kind(list) != JSON_ARRAY || json_count(list) != c->m->layer_count)
        return false; /* blocks_build refuses it */
    for (const struct cJSON *v = json_first(list); v; v = json_next(v), i++) {
        const struct cJSON *type = json_get(v, "block_type");
        if (json_text(type, &text))
            slots[i] = !strcmp(text, "mamba")       ? PLAN_MAMBA
                       : !strcmp(text, "attention") ? PLAN_FULL
                       : !strcmp(text, "moe")       ? PLAN_MOE
                       : !strcmp(text, "mlp")       ? PLAN_MLP
                                                    : PLAN_UNSAID;
        if (slots[i] == PLAN_UNSAID)
            config_unexplained(c, "block_configs[%u].block_type", i);
    }
    return true;
}

static bool hybrid_override_pattern(struct config *c, const struct cJSON *v, enum plan_slot *slots)
{
    const char *text;
    uint32_t n = c->m->layer_count;
    if (!json_text(v, &text) || strlen(text) != n) {
        config_unexplained(c, "hybrid_override_pattern is no text of %u letters", n);
        return true;
    }
    for (uint32_t i = 0; i < n; i++) {
        slots[i] = text[i] == 'M'   ? PLAN_MAMBA
                   : text[i] == '*' ? PLAN_FULL
                   : text[i] == 'E' ? PLAN_MOE
                   : text[i] == '-' ? PLAN_MLP
                                    : PLAN_UNSAID;
        if (slots[i] == PLAN_UNSAID)
            config_unexplained(c, "hybrid_override_pattern: %c", text[i]);
    }
    return true;
}

/* A list of numbers with one entry a layer, each of which stands for a slot. */
static bool by_numbers(struct config *c, const char *key, const struct cJSON *list,
                       const enum plan_slot slot[2], enum plan_slot *slots)
{
    uint32_t i = 0;
    uint64_t k;
    if (json_kind(list) != JSON_ARRAY || json_count(list) != c->m->layer_count) {
        config_unexplained(c, "%s is no list of %u entries", key, c->m->layer_count);
        return true;
    }
    for (const struct cJSON *v = json_first(list); v; v = json_next(v), i++) {
        if (json_u64(v, &k) && k < 2)
            slots[i] = slot[k];
        else
            config_unexplained(c, "%s[%u] is neither 0 nor 1", key, i);
    }
    return true;
}

static bool hybrid_layer_pattern(struct config *c, const struct cJSON *v, enum plan_slot *slots)
{
    static const enum plan_slot slot[] = {PLAN_FULL, PLAN_WINDOW};
    return by_numbers(c, "hybrid_layer_pattern", v, slot, slots);
}

static bool attn_type_list(struct config *c, const struct cJSON *v, enum plan_slot *slots)
{
    static const enum plan_slot slot[] = {PLAN_LINEAR, PLAN_FULL};
    return by_numbers(c, "attn_type_list", v, slot, slots);
}

/* --- lists of layer numbers */

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
static void split(struct config *c, const struct cJSON *lin, enum plan_slot *slots)
{
    uint32_t n = c->m->layer_count;
    uint8_t *full = mem_alloc(n + 1, 1), *delta = mem_alloc(n + 1, 1);
    if (!count_list(json_get(lin, "full_attn_layers"), n, full) ||
        !count_list(json_get(lin, "kda_layers"), n, delta)) {
        config_unexplained(c,
                           "linear_attn_config: full_attn_layers and kda_layers are not two "
                           "lists of layers up to %u",
                           n);
    } else {
        bool from0 = full[0] || delta[0], to_n = full[n] || delta[n];
        uint32_t base = from0 ? 0 : 1;
        bool ok = from0 != to_n;
        for (uint32_t i = 0; ok && i < n; i++)
            ok = full[i + base] + delta[i + base] == 1;
        if (!ok)
            config_unexplained(c,
                               "linear_attn_config: full_attn_layers and kda_layers do not name "
                               "each of %u layers once",
                               n);
        for (uint32_t i = 0; ok && i < n; i++)
            slots[i] = full[i + base] ? PLAN_FULL : PLAN_LINEAR;
    }
    free(full);
    free(delta);
}

static bool linear_attn_config(struct config *c, const struct cJSON *v, enum plan_slot *slots)
{
    if (json_kind(v) != JSON_OBJECT) {
        config_unexplained(c, "linear_attn_config is %s", json_kind_name(json_kind(v)));
        return true;
    }
    if (!json_get(v, "full_attn_layers") && !json_get(v, "kda_layers"))
        return false;
    split(c, v, slots);
    return true;
}

/* The layers with a window, counted from 0; the others see everything. */
static bool local_layer_ids(struct config *c, const struct cJSON *v, enum plan_slot *slots)
{
    uint32_t n = c->m->layer_count;
    uint8_t *seen = mem_alloc(n + 1, 1);
    bool ok = count_list(v, n, seen) && !seen[n];
    if (!ok)
        config_unexplained(c, "local_layer_ids is no list of layers below %u", n);
    for (uint32_t i = 0; ok && i < n; i++)
        slots[i] = seen[i] ? PLAN_WINDOW : PLAN_FULL;
    free(seen);
    return true;
}

/* --- strides */

static void stride(struct config *c, uint64_t every, enum plan_slot others, enum plan_slot *slots)
{
    for (uint32_t i = 0; i < c->m->layer_count; i++)
        slots[i] = (i + 1) % every == 0 ? PLAN_FULL : others;
}

static bool full_attention_interval(struct config *c, const struct cJSON *v, enum plan_slot *slots)
{
    uint64_t every;
    if (json_u64(v, &every) && every)
        stride(c, every, PLAN_LINEAR, slots);
    else
        config_unexplained(c, "full_attention_interval is no number of layers");
    return true;
}

/* A stride, or its letters: L local, G global. The class that has letters makes the last layer
 * global whatever the pattern says, so one that ends in a window is left open. */
static bool sliding_window_pattern(struct config *c, const struct cJSON *v, enum plan_slot *slots)
{
    uint64_t every;
    const char *text;
    uint32_t n = c->m->layer_count;
    if (json_u64(v, &every) && every) {
        stride(c, every, PLAN_WINDOW, slots);
        return true;
    }
    if (!json_text(v, &text) || !*text || strspn(text, "LG") != strlen(text)) {
        config_unexplained(c, "sliding_window_pattern is neither a stride nor letters L and G");
        return true;
    }
    for (uint32_t i = 0; i < n; i++)
        slots[i] = text[i % strlen(text)] == 'G' ? PLAN_FULL : PLAN_WINDOW;
    if (slots[n - 1] == PLAN_WINDOW)
        config_unexplained(c, "sliding_window_pattern leaves the last layer a window");
    return true;
}

/* Llama 4 rotates nothing in every fourth layer, and those see everything. */
static bool no_rope_layers(struct config *c, const struct cJSON *v, enum plan_slot *slots)
{
    static const enum plan_slot slot[] = {PLAN_FULL, PLAN_CHUNK};
    return by_numbers(c, "no_rope_layers", v, slot, slots);
}

static bool no_rope_layer_interval(struct config *c, const struct cJSON *v, enum plan_slot *slots)
{
    uint64_t every;
    if (json_u64(v, &every) && every)
        stride(c, every, PLAN_CHUNK, slots);
    else
        config_unexplained(c, "no_rope_layer_interval is no number of layers");
    return true;
}

/* --- what the class does where no key speaks */

static int silent(struct config *c, enum plan_slot *slots, struct err *e)
{
    const struct family *f = c->m->traits;
    bool use = f->window != FAMILY_WINDOW_QWEN, any = config_has(c, "sliding_window");
    uint32_t from = 0, n = c->m->layer_count;
    if (config_bool_or(c, NULL, "use_sliding_window", use, &use, e))
        return e->code;
    if (f->linear != FAMILY_LINEAR_NONE && f->attention != FAMILY_GQA) {
        config_unexplained(c, "no key names the layers with linear attention");
        return 0;
    }
    for (uint32_t i = 0; i < n; i++)
        slots[i] = f->linear == FAMILY_LINEAR_RWKV ? PLAN_LINEAR : PLAN_FULL;
    switch (f->window) {
    case FAMILY_WINDOW_NONE: break;
    case FAMILY_WINDOW_LISTED:
        if (any && use)
            config_unexplained(c, "sliding_window without a list of layers");
        break;
    case FAMILY_WINDOW_STRIDE:
        if (use && f->window_stride)
            stride(c, f->window_stride, PLAN_WINDOW, slots);
        else if (use && any)
            config_unexplained(c, "sliding_window without sliding_window_pattern");
        break;
    case FAMILY_WINDOW_CHUNK:
        if (config_has(c, "attention_chunk_size"))
            stride(c, f->window_stride, PLAN_CHUNK, slots);
        else
            config_unexplained(c, "attention_chunk_size is missing");
        break;
    case FAMILY_WINDOW_QWEN:
        if (!use)
            break;
        if (!any || !config_has(c, "max_window_layers"))
            config_unexplained(c, "use_sliding_window without sliding_window and "
                                  "max_window_layers");
        if (config_u32_or(c, NULL, "max_window_layers", 0, UINT32_MAX, 0, &from, e))
            return e->code;
        for (uint32_t i = from; i < n; i++)
            slots[i] = PLAN_WINDOW;
        break;
    case FAMILY_WINDOW_ALL:
        for (uint32_t i = 0; any && use && i < n; i++)
            slots[i] = PLAN_WINDOW;
        break;
    }
    return 0;
}

/* --- the order */

static const struct speaker speakers[] = {
    {"layer_types", layer_types},
    {"layers_block_type", layers_block_type},
    {"block_configs", block_types},
    {"hybrid_override_pattern", hybrid_override_pattern},
    {"linear_attn_config", linear_attn_config},
    {"hybrid_layer_pattern", hybrid_layer_pattern},
    {"local_layer_ids", local_layer_ids},
    {"attn_type_list", attn_type_list},
    {"full_attention_interval", full_attention_interval},
    {"sliding_window_pattern", sliding_window_pattern},
    {"_sliding_window_pattern", sliding_window_pattern},
    {"no_rope_layers", no_rope_layers},
    {"no_rope_layer_interval", no_rope_layer_interval},
};

/* A key that the family does not read says nothing about it; config_scan names it. */
static bool reads(const struct family *f, const char *key)
{
    if (!strcmp(key, "layer_types"))
        return true;
    if (!strcmp(key, "linear_attn_config"))
        return f->linear == FAMILY_LINEAR_KDA;
    if (strstr(key, "sliding_window_pattern"))
        return f->window == FAMILY_WINDOW_STRIDE || family_has_key(f->keys, key);
    if (!strncmp(key, "no_rope", strlen("no_rope")))
        return f->window == FAMILY_WINDOW_CHUNK;
    return family_has_key(f->keys, key);
}

/* Where both say something, it has to be the same. */
static void compare(struct config *c, const char *first, const enum plan_slot *a, const char *other,
                    const enum plan_slot *b)
{
    for (uint32_t i = 0; i < c->m->layer_count; i++)
        if (a[i] != PLAN_UNSAID && b[i] != PLAN_UNSAID && a[i] != b[i]) {
            config_unexplained(c, "%s and %s say different things of layer %u", first, other, i);
            return;
        }
}

int plan_build(struct config *c, enum plan_slot *slots, struct err *e)
{
    const struct family *f = c->m->traits;
    uint32_t n = c->m->layer_count;
    const char *first = NULL;
    enum plan_slot *said = mem_alloc(n, sizeof *said);
    for (size_t i = 0; i < sizeof speakers / sizeof *speakers; i++) {
        const char *key = speakers[i].key;
        if (!config_has(c, key) || !reads(f, key))
            continue;
        memset(said, 0, n * sizeof *said);
        if (!speakers[i].speak(c, json_get(c->text, key), said))
            continue;
        if (first)
            compare(c, first, slots, key, said);
        else
            memcpy(slots, said, n * sizeof *said);
        first = first ? first : key;
    }
    free(said);
    return first ? 0 : silent(c, slots, e);
}
