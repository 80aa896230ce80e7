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

/* The text model of a wrapper. Its text_config names the family; its architectures, where there are
 * some, are of the class that would run without the wrapper. */
static const struct family *held(const struct family_wrapper *w, const char *text_type)
{
    const struct family *f = family_find(*text_type ? text_type : w->texts[0], "");
    return f && family_holds(w, f) ? f : NULL;
}

int config_init(struct config *c, const struct cJSON *root, struct model *m, struct err *e)
{
    const char *type, *text_type = "", *architecture;
    const struct family *f;
    const struct family_wrapper *w = NULL;
    if (json_kind(root) != JSON_OBJECT)
        return err_set(e, ERR_FORMAT, "the config is %s, not an object",
                       json_kind_name(json_kind(root)));
    if (text_of(root, "model_type", &type, e) || architecture_of(root, &architecture, e))
        return e->code;
    const struct cJSON *text = json_get(root, "text_config");
    if (json_kind(text) == JSON_OBJECT) {
        if (text_of(text, "model_type", &text_type, e))
            return err_wrap(e, "text_config");
        w = family_find_wrapper(type, architecture);
        f = w ? held(w, text_type) : NULL;
    } else {
        text = NULL;
        f = family_find(type, architecture);
    }
    if (!f)
        return unsupported(type, text_type, architecture, e);
    *c = (struct config){.root = root, .text = text ? text : root, .m = m};
    m->traits = f;
    m->family = w ? w->type : f->name ? f->name : f->types[0];
    m->prefix = w ? w->prefix : f->prefix;
    m->head = w ? w->head : NULL;
    m->encoder = f->encoder;
    m->wrapped = w != NULL;
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

int config_u32_of(struct config *c, const char *const *keys, uint32_t min, uint32_t max,
                  uint32_t *ret, struct err *e)
{
    size_t first = 0;
    uint64_t other;
    while (keys[first] && !config_has(c, keys[first]))
        first++;
    if (!keys[first])
        return err_set(e, ERR_FORMAT, "%s is missing", keys[0]);
    if (config_u32(c, NULL, keys[first], min, max, ret, e))
        return e->code;
    for (size_t i = first + 1; keys[i]; i++)
        if (json_u64(json_get(c->text, keys[i]), &other) && other != *ret)
            config_unexplained(c, "%s=%u, %s=%llu", keys[first], *ret, keys[i],
                               (unsigned long long)other);
    return 0;
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

static void __attribute__((format(printf, 3, 0)))
add(struct config *c, unsigned what, const char *fmt, va_list ap)
{
    char raw[256], safe[256];
    struct model *m = c->m;
    vsnprintf(raw, sizeof raw, fmt, ap);
    text_plain(raw, safe, sizeof safe);
    for (size_t i = 0; i < m->unexplained_count; i++)
        if (!strcmp(m->unexplained[i], safe)) {
            m->hides[i] |= (uint8_t)what;
            return;
        }
    /* The arrays live in the arena at their full size: they are small, and released with the
     * model. */
    if (!m->unexplained) {
        m->unexplained =
            mem_arena_alloc(&m->arena, (CONFIG_UNEXPLAINED_MAX + 1) * sizeof *m->unexplained);
        m->hides = mem_arena_alloc(&m->arena, (CONFIG_UNEXPLAINED_MAX + 1) * sizeof *m->hides);
    }
    if (m->unexplained_count < CONFIG_UNEXPLAINED_MAX) {
        m->hides[m->unexplained_count] = (uint8_t)what;
        m->unexplained[m->unexplained_count++] = mem_arena_strndup(&m->arena, safe, strlen(safe));
        return;
    }
    if (!c->unexplained_dropped++)
        m->hides[CONFIG_UNEXPLAINED_MAX] = 0;
    m->hides[CONFIG_UNEXPLAINED_MAX] |= (uint8_t)what;
    snprintf(safe, sizeof safe, "%zu more", c->unexplained_dropped);
    m->unexplained[CONFIG_UNEXPLAINED_MAX] = mem_arena_strndup(&m->arena, safe, strlen(safe));
    m->unexplained_count = CONFIG_UNEXPLAINED_MAX + 1;
}

void config_hides(struct config *c, unsigned what, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    add(c, what, fmt, ap);
    va_end(ap);
}

void config_unexplained(struct config *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    add(c, MODEL_HIDES_ALL, fmt, ap);
    va_end(ap);
}
