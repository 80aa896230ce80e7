#include "model/quant_scheme.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a scheme says of one module. */

static int by_name(const void *key, const void *entry)
{
    return strcmp(key, ((const struct quant_scheme_entry *)entry)->name);
}

/* The entry for the module, or for the nearest folder that it lies in. */
static const struct quant_scheme_entry *entry_of(const struct quant_scheme *s, const char *module)
{
    char name[512];
    size_t n = strlen(module);
    if (!s->entry_count || n >= sizeof name)
        return NULL;
    memcpy(name, module, n + 1);
    for (char *dot;;) {
        const struct quant_scheme_entry *x =
            bsearch(name, s->entries, s->entry_count, sizeof *s->entries, by_name);
        if (x || !(dot = strrchr(name, '.')))
            return x;
        *dot = '\0';
    }
}

/* The answer for the whole name or, in a block inside text_config, for the name in the text model.
 */
static enum quant_pattern_answer match(const struct quant_pattern *p, const char *module,
                                       size_t tower_bytes)
{
    if (!p)
        return QUANT_PATTERN_NO;
    enum quant_pattern_answer whole = quant_pattern_match(p, module);
    if (whole == QUANT_PATTERN_YES || !tower_bytes || tower_bytes >= strlen(module))
        return whole;
    return quant_pattern_match(p, module + tower_bytes);
}

static const char *unsure(const struct quant_pattern *p, char why[QUANT_WHY_BYTES])
{
    snprintf(why, QUANT_WHY_BYTES, "%s", quant_pattern_why(p));
    return "unknown";
}

static const char *by_rules(const struct quant_scheme *s, const char *module, size_t tower_bytes,
                            bool linear, char why[QUANT_WHY_BYTES])
{
    for (size_t i = 0; i < s->rule_count; i++) {
        const struct quant_scheme_rule *r = &s->rules[i];
        enum quant_pattern_answer a = match(r->targets, module, tower_bytes);
        if (!(r->linear && linear)) {
            if (a == QUANT_PATTERN_UNSURE)
                return unsure(r->targets, why);
            if (a == QUANT_PATTERN_NO)
                continue;
        }
        if (!strcmp(r->format, "unknown"))
            memcpy(why, r->why, QUANT_WHY_BYTES);
        return r->format;
    }
    return "";
}

const char *quant_scheme_format(const struct quant_scheme *s, const char *module,
                                size_t tower_bytes, enum quant_class class, bool linear,
                                char why[QUANT_WHY_BYTES])
{
    if (s->unknown[0]) {
        memcpy(why, s->unknown, QUANT_WHY_BYTES);
        return "unknown";
    }
    if (!s->method[0])
        return "";
    if (s->experts_only && class != QUANT_ROUTED_EXPERTS)
        return "";
    enum quant_pattern_answer ignored = match(s->ignore, module, tower_bytes);
    if (ignored == QUANT_PATTERN_YES)
        return "";
    const struct quant_scheme_entry *x = entry_of(s, module);
    if (x)
        return x->format;
    if (s->entries_only || (s->head_plain && class == QUANT_HEAD))
        return "";
    if (s->router_unsure && class == QUANT_ROUTER) {
        snprintf(why, QUANT_WHY_BYTES, "whether %s quantises the router is not in the config",
                 s->method);
        return "unknown";
    }
    if (ignored == QUANT_PATTERN_UNSURE)
        return unsure(s->ignore, why);
    return by_rules(s, module, tower_bytes,
                    linear || (s->embedding_linear && class == QUANT_EMBEDDING), why);
}
