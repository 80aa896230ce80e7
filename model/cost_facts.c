#include "model/cost.h"
#include <stdio.h>
#include <string.h>

#define HEADERS "tensor headers"
#define NO_HEADERS "no tensor headers at hand; point at the weights or fetch their headers"

/* One long chain of puts, each of which may end it. */
static int put(const struct fact_sink *s, enum fact_key key, const char *scope, uint64_t v,
               const char *source, struct err *e)
{
    if (v > INT64_MAX)
        return fact_put_unknown(s, key, scope, "the figure does not fit 63 bits", e);
    return fact_put_int(s, key, scope, (int64_t)v, source, e);
}

static int put_shape(const struct model *m, const char *source, const struct fact_sink *s,
                     struct err *e)
{
    if (fact_put_text(s, FACT_MODEL_FAMILY, "", m->family, source, e) ||
        fact_put_text(s, FACT_MODEL_ARCHITECTURE, "", m->architecture, source, e) ||
        put(s, FACT_MODEL_HIDDEN, "", m->hidden, source, e) ||
        put(s, FACT_MODEL_LAYERS, "", m->layer_count, source, e))
        return e->code;
    for (unsigned k = 0; k < MIXERS; k++) {
        uint32_t n = model_count(m, (enum mixer_kind)k);
        if (n && k != MIXER_NONE &&
            put(s, FACT_MODEL_LAYERS, model_mixer_name((enum mixer_kind)k), n, source, e))
            return e->code;
    }
    for (size_t i = 0; i < m->unexplained_count; i++)
        /* What hides only the count of parameters is the reason of that fact. */
        if (m->hides[i] != MODEL_HIDES_PARAMS &&
            fact_put_text(s, FACT_MODEL_UNEXPLAINED, m->unexplained[i], m->unexplained[i], source,
                          e))
            return e->code;
    return 0;
}

/* A figure that the model has, or that it surely has not: nothing hides it. */
static int put_if(const struct model *m, bool has, enum fact_key key, uint64_t v,
                  const char *source, const struct fact_sink *s, struct err *e)
{
    const char *why = model_hidden(m, MODEL_HIDES_OPERATORS, NULL);
    if (has)
        return put(s, key, "", v, source, e);
    return why ? fact_put_unknown(s, key, "", why, e) : fact_put_absent(s, key, "", source, e);
}

static int put_special(const struct model *m, const struct cost *c, const char *source,
                       const struct fact_sink *s, struct err *e)
{
    const struct ffn *moe = NULL;
    bool res = m->attnres_block != 0;
    for (uint32_t i = 0; i < m->layer_count && !moe; i++)
        if (m->layers[i].ffn.kind == FFN_MOE || m->layers[i].ffn.kind == FFN_MOE_LATENT)
            moe = &m->layers[i].ffn;
    bool latent = moe && moe->kind == FFN_MOE_LATENT;
    if (put_if(m, moe != NULL, FACT_MODEL_EXPERTS, moe ? moe->router.experts : 0, source, s, e) ||
        put_if(m, moe != NULL, FACT_MODEL_TOP_K, moe ? moe->router.top_k : 0, source, s, e) ||
        put_if(m, latent, FACT_MODEL_LATENT_WIDTH, latent ? moe->latent : 0, source, s, e) ||
        put_if(m, res, FACT_MODEL_ATTNRES_SOURCES, model_attnres_sources(m), source, s, e) ||
        put_if(m, res, FACT_MODEL_ATTNRES_BLOCK, m->attnres_block, source, s, e))
        return e->code;
    if (res && !c)
        return fact_put_unknown(s, FACT_MODEL_ATTNRES_IN_FLIGHT, "", "the costs are not known", e);
    return put_if(m, res, FACT_MODEL_ATTNRES_IN_FLIGHT, c ? c->attnres_in_flight_bytes : 0, source,
                  s, e);
}

static int put_params(const struct cost *c, const char *source, const struct fact_sink *s,
                      struct err *e)
{
    if (!c->params_known)
        return fact_put_unknown(s, FACT_MODEL_PARAMS_TOTAL, "", c->params_why, e) ||
                       fact_put_unknown(s, FACT_MODEL_PARAMS_ACTIVE, "", c->params_why, e)
                   ? e->code
                   : 0;
    return put(s, FACT_MODEL_PARAMS_TOTAL, "", c->params_total, source, e) ||
                   put(s, FACT_MODEL_PARAMS_ACTIVE, "", c->params_active, source, e)
               ? e->code
               : 0;
}

static int put_cost(const struct model *m, const struct cost *c, const char *source,
                    const struct fact_sink *s, struct err *e)
{
    uint64_t token[MIXERS] = {0}, state[MIXERS] = {0};
    char step[160], rule[160];
    snprintf(step, sizeof step, "%s", source);
    if (c->cache_step_tokens > 1)
        snprintf(step, sizeof step, "%s; rounded down: %llu bytes each %u tokens", source,
                 (unsigned long long)c->cache_step_bytes, c->cache_step_tokens);
    snprintf(rule, sizeof rule, "%s%s%s", source,
             m->state_rule ? "; matrices in the format of " : "",
             m->state_rule ? m->state_rule : "");
    if (put(s, FACT_MODEL_CACHE_PER_TOKEN, "", c->cache_token_bytes, step, e) ||
        put(s, FACT_MODEL_CACHE_WINDOW, "", c->window_bytes, source, e) ||
        put(s, FACT_MODEL_STATE, "", c->state_bytes, rule, e) || put_params(c, source, s, e))
        return e->code;
    for (uint32_t i = 0; i < m->layer_count; i++) {
        token[m->layers[i].mixer.kind] += c->layers[i].cache_token_bytes;
        state[m->layers[i].mixer.kind] += c->layers[i].state_bytes;
    }
    for (unsigned k = 0; k < MIXERS; k++) {
        const char *name = model_mixer_name((enum mixer_kind)k);
        if (k == MIXER_NONE || !model_count(m, (enum mixer_kind)k))
            continue;
        if (put(s, FACT_MODEL_CACHE_PER_TOKEN, name, token[k], source, e) ||
            put(s, FACT_MODEL_STATE, name, state[k], source, e))
            return e->code;
    }
    return 0;
}

static int put_no_cost(const struct model *m, const struct fact_sink *s, struct err *e)
{
    static const enum fact_key keys[] = {FACT_MODEL_PARAMS_TOTAL, FACT_MODEL_PARAMS_ACTIVE,
                                         FACT_MODEL_CACHE_PER_TOKEN, FACT_MODEL_CACHE_WINDOW,
                                         FACT_MODEL_STATE};
    char why[320];
    size_t more;
    const char *hidden = model_hidden(m, MODEL_HIDES_CACHE, &more);
    snprintf(why, sizeof why, "the config or the tensors have what is not understood: %s%s",
             hidden ? hidden : "a layer of unknown kind", more ? ", and more" : "");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (fact_put_unknown(s, keys[i], "", why, e))
            return e->code;
    return 0;
}

static int put_stored(const struct cost_stored *st, const struct inventory *inv,
                      const struct fact_sink *s, struct err *e)
{
    bool headers = inv && inv->count;
    if (headers ? put(s, FACT_MODEL_TENSORS, "", inv->count, HEADERS, e) ||
                      put(s, FACT_MODEL_STORED_BYTES, "", inv->stored_bytes, HEADERS, e)
                : fact_put_unknown(s, FACT_MODEL_TENSORS, "", NO_HEADERS, e) ||
                      fact_put_unknown(s, FACT_MODEL_STORED_BYTES, "", NO_HEADERS, e))
        return e->code;
    if (!st)
        return fact_put_unknown(
            s, FACT_MODEL_PARAMS_STORED, "",
            headers ? "a packed tensor's module is not in the model's layout" : NO_HEADERS, e);
    if (put(s, FACT_MODEL_PARAMS_STORED, "", st->params, HEADERS, e))
        return e->code;
    if (st->params_padding)
        return put(s, FACT_MODEL_PARAMS_PADDING, st->padding_name, st->params_padding, HEADERS, e);
    return 0;
}

int cost_facts(const struct model *m, const struct cost *c, const struct cost_stored *s,
               const struct inventory *inv, const struct fact_sink *sink, struct err *e)
{
    const char *source = inv && inv->count ? "config.json and tensor headers" : "config.json";
    if (put_shape(m, source, sink, e) || put_special(m, c, source, sink, e) ||
        (c ? put_cost(m, c, source, sink, e) : put_no_cost(m, sink, e)))
        return e->code;
    return put_stored(s, inv, sink, e);
}
