#include "model/mixers_recurrent.h"
#include "core/json.h"
#include "model/family.h"
#include <stdio.h>
#include <string.h>

/* --- the number format of states */

static const char *dtype_of(const struct config *c, const char **ret_key)
{
    static const char *const keys[] = {"dtype", "torch_dtype"};
    const struct cJSON *const in[] = {c->text, c->root};
    const char *text;
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < 2; k++)
            if (json_text(json_get(in[i], keys[k]), &text)) {
                *ret_key = keys[k];
                return text;
            }
    return NULL;
}

/* mamba_ssm_cache_dtype or mamba_ssm_dtype, else the model's number format: the rule of engines for
 * Gated DeltaNet, Mamba2 and lightning attention. */
static int declared_state(struct config *c, struct mixer *x, struct err *e)
{
    static const char *const keys[] = {"mamba_ssm_cache_dtype", "mamba_ssm_dtype"};
    const char *text = NULL, *key = NULL;
    char rule[128];
    for (size_t i = 0; i < 2 && !text; i++) {
        key = keys[i];
        if (config_text(c, key, &text, e))
            return e->code;
    }
    bool named = text != NULL;
    if (!named)
        text = dtype_of(c, &key);
    if (text && !strncmp(text, "torch.", 6))
        text += 6;
    if (!text || !strcmp(text, "bfloat16") || !strcmp(text, "float16")) {
        x->state_element_bytes = 2;
    } else if (!strcmp(text, "float32")) {
        x->state_element_bytes = 4;
    } else {
        config_hides(c, MODEL_HIDES_CACHE, "%s=%s", key, text);
        x->state_element_bytes = 4;
    }
    if (!text)
        snprintf(rule, sizeof rule, "no number format is declared: BF16, as all caches here");
    else
        snprintf(rule, sizeof rule, "%s %.32s%s", key, text,
                 named ? "" : ", no mamba_ssm_dtype is declared");
    c->m->state_rule = mem_arena_strndup(&c->m->arena, rule, strlen(rule));
    return 0;
}

static void fixed_state(struct config *c, struct mixer *x, const char *rule)
{
    x->state_element_bytes = 4;
    c->m->state_rule = rule;
}

/* --- the kinds */

static int kda(struct config *c, struct mixer *ret, struct err *e)
{
    static const char *const read[] = {
        "full_attn_layers",       "kda_layers",       "num_heads",         "head_dim",
        "short_conv_kernel_size", "gate_lower_bound", "use_full_rank_gate"};
    const struct cJSON *lin = json_get(c->text, "linear_attn_config");
    struct mixer x = {.kind = MIXER_KDA, .output_gate = true};
    if (json_kind(lin) != JSON_OBJECT) {
        config_unexplained(c, "linear_attn_config is %s", json_kind_name(json_kind(lin)));
        return 0;
    }
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
    fixed_state(c, &x, "F32, as every engine keeps the state of KDA");
    *ret = x;
    return 0;
}

static int gated_delta(struct config *c, struct mixer *ret, struct err *e)
{
    struct mixer x = {.kind = MIXER_GATED_DELTA, .output_gate = true};
    if (config_u32(c, NULL, "linear_num_value_heads", 1, CONFIG_HEADS_MAX, &x.value_heads, e) ||
        config_u32(c, NULL, "linear_num_key_heads", 1, CONFIG_HEADS_MAX, &x.key_heads, e) ||
        config_u32(c, NULL, "linear_key_head_dim", 1, CONFIG_HEAD_DIM_MAX, &x.key_dim, e) ||
        config_u32(c, NULL, "linear_value_head_dim", 1, CONFIG_HEAD_DIM_MAX, &x.value_dim, e) ||
        config_u32(c, NULL, "linear_conv_kernel_dim", 1, CONFIG_KERNEL_MAX, &x.conv_kernel, e))
        return e->code;
    if (x.value_heads % x.key_heads)
        return err_set(e, ERR_FORMAT,
                       "linear_num_value_heads %u is no multiple of linear_num_key_heads %u",
                       x.value_heads, x.key_heads);
    x.heads = x.value_heads;
    *ret = x;
    return declared_state(c, ret, e);
}

static int lightning(struct config *c, struct mixer *ret, struct err *e)
{
    struct mixer x = {.kind = MIXER_LIGHTNING, .output_gate = true};
    if (config_u32(c, NULL, "head_dim", 1, CONFIG_HEAD_DIM_MAX, &x.key_dim, e))
        return e->code;
    x.heads = x.key_heads = x.value_heads = c->m->heads;
    x.value_dim = x.key_dim;
    *ret = x;
    return declared_state(c, ret, e);
}

/* Heads of width head_size over the attention's own width; the last token's input is kept at that
 * width too, so the two have to be one. */
static int rwkv(struct config *c, struct mixer *ret, struct err *e)
{
    struct mixer x = {.kind = MIXER_RWKV};
    uint32_t width;
    if (config_u32(c, NULL, "head_size", 1, CONFIG_HEAD_DIM_MAX, &x.key_dim, e) ||
        config_u32_or(c, NULL, "attention_hidden_size", 1, CONFIG_HIDDEN_MAX, c->m->hidden, &width,
                      e))
        return e->code;
    if (width != c->m->hidden || width % x.key_dim) {
        config_unexplained(c, "attention_hidden_size=%u with heads of %u", width, x.key_dim);
        return 0;
    }
    x.heads = x.key_heads = x.value_heads = width / x.key_dim;
    x.value_dim = x.key_dim;
    fixed_state(c, &x, "F32, as the model's own code keeps it");
    *ret = x;
    return 0;
}

int mixers_recurrent_linear(struct config *c, struct mixer *ret, struct err *e)
{
    switch (c->m->traits->linear) {
    case FAMILY_LINEAR_KDA: return kda(c, ret, e);
    case FAMILY_LINEAR_GDN: return gated_delta(c, ret, e);
    case FAMILY_LINEAR_LIGHTNING: return lightning(c, ret, e);
    case FAMILY_LINEAR_RWKV: return rwkv(c, ret, e);
    case FAMILY_LINEAR_NONE: break;
    }
    return 0;
}

int mixers_recurrent_mamba(struct config *c, struct mixer *ret, struct err *e)
{
    static const char *const heads[] = {"mamba_num_heads", "mamba_n_heads", NULL};
    static const char *const width[] = {"mamba_head_dim", "mamba_d_head", NULL};
    static const char *const states[] = {"ssm_state_size", "mamba_state_dim", "mamba_d_state",
                                         NULL};
    static const char *const groups[] = {"n_groups", "mamba_num_groups", "mamba_n_groups", NULL};
    static const char *const taps[] = {"conv_kernel", "mamba_d_conv", NULL};
    struct mixer x = {.kind = MIXER_MAMBA2};
    if (config_u32_of(c, heads, 1, CONFIG_HEADS_MAX, &x.heads, e) ||
        config_u32_of(c, width, 1, CONFIG_HEAD_DIM_MAX, &x.value_dim, e) ||
        config_u32_of(c, states, 1, CONFIG_HEAD_DIM_MAX, &x.key_dim, e) ||
        config_u32_of(c, groups, 1, CONFIG_HEADS_MAX, &x.key_heads, e) ||
        config_u32_of(c, taps, 1, CONFIG_KERNEL_MAX, &x.conv_kernel, e))
        return e->code;
    if (x.heads % x.key_heads)
        return err_set(e, ERR_FORMAT, "%s %u is no multiple of %s %u", heads[0], x.heads, groups[0],
                       x.key_heads);
    x.value_heads = x.heads;
    *ret = x;
    return declared_state(c, ret, e);
}

int mixers_recurrent_conv(struct config *c, struct mixer *ret, struct err *e)
{
    struct mixer x = {.kind = MIXER_CONV, .heads = 1, .key_heads = 1, .value_heads = 1};
    if (config_u32(c, NULL, "conv_L_cache", 1, CONFIG_KERNEL_MAX, &x.conv_kernel, e))
        return e->code;
    x.value_dim = c->m->hidden;
    fixed_state(c, &x, "no matrices: the inputs of the convolutions, in BF16");
    *ret = x;
    return 0;
}
