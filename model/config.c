#include "model/config.h"
#include "core/json.h"
#include "core/text.h"
#include "model/family.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- finding the family */

static int text_of(const struct cJSON *obj, const char *key, const char **ret, struct err *e)
{
    const struct cJSON *item = json_get(obj, key);
    *ret = "";
    if (json_kind(item) == JSON_MISSING || json_kind(item) == JSON_NULL)
        return 0;
    if (!json_text(item, ret))
        return err_set(e, ERR_FORMAT, "%s is %s, not a text", key, json_kind_name(json_kind(item)));
    return 0;
}

static int architecture_of(const struct cJSON *obj, const char **ret, struct err *e)
{
    const struct cJSON *list = json_get(obj, "architectures");
    *ret = "";
    if (json_kind(list) == JSON_MISSING || json_kind(list) == JSON_NULL)
        return 0;
    if (json_kind(list) != JSON_ARRAY)
        return err_set(e, ERR_FORMAT, "architectures is %s, not an array",
                       json_kind_name(json_kind(list)));
    const struct cJSON *first = json_first(list);
    if (first && !json_text(first, ret))
        return err_set(e, ERR_FORMAT, "architectures[0] is %s, not a text",
                       json_kind_name(json_kind(first)));
    return 0;
}

static int unsupported(const char *type, const char *text_type, const char *architecture,
                       struct err *e)
{
    char a[80], b[80], c[80];
    return err_set(e, ERR_UNSUPPORTED,
                   "no known architecture: model_type \"%s\"%s%s%s, architectures \"%s\"",
                   text_plain(type, a, sizeof a), *text_type ? ", text_config.model_type \"" : "",
                   text_plain(text_type, b, sizeof b), *text_type ? "\"" : "",
                   text_plain(architecture, c, sizeof c));
}

int config_init(struct config *c, const struct cJSON *root, struct model *m, struct err *e)
{
    const char *type, *text_type = "", *architecture;
    if (json_kind(root) != JSON_OBJECT)
        return err_set(e, ERR_FORMAT, "the config is %s, not an object",
                       json_kind_name(json_kind(root)));
    if (text_of(root, "model_type", &type, e) || architecture_of(root, &architecture, e))
        return e->code;
    const struct cJSON *text = json_get(root, "text_config");
    if (json_kind(text) == JSON_OBJECT) {
        if (text_of(text, "model_type", &text_type, e))
            return err_wrap(e, "text_config");
    } else {
        text = NULL;
    }
    const struct family *f = family_find(type);
    bool nested = f && f->text_types[0];
    /* The architecture is the class that runs: a config may call itself a llama and be none. */
    if (!f || (*architecture && !family_has_architecture(f, architecture)) ||
        nested != (text != NULL) || (nested && !family_has_text_type(f, text_type)))
        return unsupported(type, text_type, architecture, e);
    *c = (struct config){.root = root, .text = text ? text : root, .m = m};
    m->traits = f;
    m->family = f->name;
    m->prefix = f->prefix;
    m->architecture = mem_arena_strndup(&m->arena, architecture, strlen(architecture));
    return 0;
}

/* --- values */

static bool missing(const struct cJSON *item)
{
    return json_kind(item) == JSON_MISSING || json_kind(item) == JSON_NULL;
}

bool config_has(const struct config *c, const char *key)
{
    return !missing(json_get(c->text, key));
}

static int take_u32(const struct cJSON *item, const char *key, uint32_t min, uint32_t max,
                    uint32_t *ret, struct err *e)
{
    uint64_t v;
    double x;
    if (missing(item))
        return err_set(e, ERR_FORMAT, "%s is missing", key);
    if (!json_u64(item, &v)) {
        if (json_real(item, &x) && x > max)
            return err_set(e, ERR_LIMIT, "%s is %g, over the limit of %u", key, x, max);
        if (json_real(item, &x))
            return err_set(e, ERR_FORMAT, "%s is %g, not a whole number from %u to %u", key, x, min,
                           max);
        return err_set(e, ERR_FORMAT, "%s is %s, not a number", key,
                       json_kind_name(json_kind(item)));
    }
    if (v < min)
        return err_set(e, ERR_FORMAT, "%s is %llu, less than %u", key, (unsigned long long)v, min);
    if (v > max)
        return err_set(e, ERR_LIMIT, "%s is %llu, over the limit of %u", key, (unsigned long long)v,
                       max);
    *ret = (uint32_t)v;
    return 0;
}

int config_u32(const struct config *c, const struct cJSON *in, const char *key, uint32_t min,
               uint32_t max, uint32_t *ret, struct err *e)
{
    return take_u32(json_get(in ? in : c->text, key), key, min, max, ret, e);
}

int config_u32_or(const struct config *c, const struct cJSON *in, const char *key, uint32_t min,
                  uint32_t max, uint32_t fallback, uint32_t *ret, struct err *e)
{
    const struct cJSON *item = json_get(in ? in : c->text, key);
    if (missing(item)) {
        *ret = fallback;
        return 0;
    }
    return take_u32(item, key, min, max, ret, e);
}

int config_u32_of(const struct config *c, const char *const *keys, uint32_t min, uint32_t max,
                  uint32_t *ret, struct err *e)
{
    for (size_t i = 0; keys[i]; i++)
        if (config_has(c, keys[i]))
            return config_u32(c, NULL, keys[i], min, max, ret, e);
    return err_set(e, ERR_FORMAT, "%s is missing", keys[0]);
}

int config_bool_or(const struct config *c, const struct cJSON *in, const char *key, bool fallback,
                   bool *ret, struct err *e)
{
    const struct cJSON *item = json_get(in ? in : c->text, key);
    if (missing(item))
        *ret = fallback;
    else if (!json_bool(item, ret))
        return err_set(e, ERR_FORMAT, "%s is %s, not true or false", key,
                       json_kind_name(json_kind(item)));
    return 0;
}

int config_real_or(const struct config *c, const struct cJSON *in, const char *key, double fallback,
                   double *ret, struct err *e)
{
    const struct cJSON *item = json_get(in ? in : c->text, key);
    if (missing(item))
        *ret = fallback;
    else if (!json_real(item, ret) || !isfinite(*ret))
        return err_set(e, ERR_FORMAT, "%s is %s, not a finite number", key,
                       json_kind_name(json_kind(item)));
    return 0;
}

int config_text(const struct config *c, const char *key, const char **ret, struct err *e)
{
    *ret = NULL;
    if (config_has(c, key) && !json_text(json_get(c->text, key), ret))
        return err_set(e, ERR_FORMAT, "%s is %s, not a text", key,
                       json_kind_name(json_kind(json_get(c->text, key))));
    return 0;
}

/* --- what could not be explained */

void config_unexplained(struct config *c, const char *fmt, ...)
{
    char raw[256], safe[256];
    struct model *m = c->m;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(raw, sizeof raw, fmt, ap);
    va_end(ap);
    text_plain(raw, safe, sizeof safe);
    for (size_t i = 0; i < m->unexplained_count; i++)
        if (!strcmp(m->unexplained[i], safe))
            return;
    /* The array lives in the arena at its full size: it is small, and released with the model. */
    if (!m->unexplained)
        m->unexplained =
            mem_arena_alloc(&m->arena, (CONFIG_UNEXPLAINED_MAX + 1) * sizeof *m->unexplained);
    if (m->unexplained_count < CONFIG_UNEXPLAINED_MAX) {
        m->unexplained[m->unexplained_count++] = mem_arena_strndup(&m->arena, safe, strlen(safe));
        return;
    }
    c->unexplained_dropped++;
    snprintf(safe, sizeof safe, "%zu more", c->unexplained_dropped);
    m->unexplained[CONFIG_UNEXPLAINED_MAX] = mem_arena_strndup(&m->arena, safe, strlen(safe));
    m->unexplained_count = CONFIG_UNEXPLAINED_MAX + 1;
}
