#include "model/cost.h"
#include "model/cost_cache.h"
#include "model/expect.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BF16_BYTES 2u

/* *sum += a * b. False if that leaves 64 bits. */
static bool add_product(uint64_t *sum, uint64_t a, uint64_t b)
{
    uint64_t p;
    return !__builtin_mul_overflow(a, b, &p) && !__builtin_add_overflow(*sum, p, sum);
}

/* --- caches */

uint64_t cost_mixer_bytes(const struct mixer *x, uint64_t tokens)
{
    struct cost_cache c;
    return cost_cache_of(x, COST_BF16, &c) ? cost_cache_bytes(&c, tokens) : UINT64_MAX;
}

uint64_t cost_store_bytes(const struct model *m, enum cost_store store, uint64_t tokens)
{
    uint64_t sum = 0;
    struct cost_cache c;
    for (uint32_t i = 0; i < m->layer_count; i++)
        if (!cost_cache_of(&m->layers[i].mixer, store, &c) ||
            __builtin_add_overflow(sum, cost_cache_bytes(&c, tokens), &sum))
            return UINT64_MAX;
    return sum;
}

uint64_t cost_model_bytes(const struct model *m, uint64_t tokens)
{
    return cost_store_bytes(m, COST_BF16, tokens);
}

/* The shortest step after which every layer has grown by whole entries. */
static bool step_of(const struct model *m, uint32_t *ret)
{
    uint64_t step = 1;
    struct cost_cache c;
    for (uint32_t i = 0; i < m->layer_count; i++) {
        cost_cache_of(&m->layers[i].mixer, COST_BF16, &c);
        const uint32_t parts[] = {c.entry_tokens, c.index_tokens};
        for (int k = 0; k < 2; k++) {
            uint64_t a = step, b = parts[k];
            while (b) {
                uint64_t rest = a % b;
                a = b;
                b = rest;
            }
            step = step / a * parts[k];
            if (step > UINT32_MAX)
                return false;
        }
    }
    *ret = (uint32_t)step;
    return true;
}

/* Growth in a step of tokens, and the windows. *ret_known false: a layer has no such layout. */
static bool grown(const struct model *m, enum cost_store store, uint32_t step, uint64_t *ret_bytes,
                  uint64_t *ret_window, bool *ret_known)
{
    struct cost_cache c;
    *ret_bytes = *ret_window = 0;
    *ret_known = true;
    for (uint32_t i = 0; i < m->layer_count; i++) {
        if (!cost_cache_of(&m->layers[i].mixer, store, &c)) {
            *ret_known = false;
            return true;
        }
        if (!add_product(ret_bytes, c.token, step) ||
            !add_product(ret_bytes, c.entry, step / c.entry_tokens) ||
            !add_product(ret_bytes, c.index, step / c.index_tokens) ||
            !add_product(ret_window, c.window, c.window_tokens))
            return false;
    }
    return true;
}

static bool cache_cost(const struct model *m, struct cost *c)
{
    bool known;
    for (uint32_t i = 0; i < m->layer_count; i++) {
        struct cost_layer *x = &c->layers[i];
        struct cost_cache p;
        cost_cache_of(&m->layers[i].mixer, COST_BF16, &p);
        x->cache_token_bytes = p.token + p.entry / p.entry_tokens + p.index / p.index_tokens;
        x->window_bytes = p.window * p.window_tokens;
        x->state_bytes = p.state;
        if (__builtin_add_overflow(c->state_bytes, x->state_bytes, &c->state_bytes))
            return false;
    }
    if (!step_of(m, &c->cache_step_tokens) ||
        !grown(m, COST_BF16, c->cache_step_tokens, &c->cache_step_bytes, &c->window_bytes,
               &known) ||
        !grown(m, COST_FP8, c->cache_step_tokens, &c->fp8_step_bytes, &c->fp8_window_bytes,
               &c->fp8_known))
        return false;
    c->cache_token_bytes = c->cache_step_bytes / c->cache_step_tokens;
    return true;
}

/* --- parameters */

static bool sum_list(const struct expect_list *l, uint64_t *total, uint64_t *active)
{
    for (size_t i = 0; i < l->count; i++) {
        const struct expect *x = &l->items[i];
        if (!add_product(total, x->elements, x->copies) ||
            !add_product(active, x->elements, x->copies_active))
            return false;
    }
    return true;
}

static bool layer_cost(const struct model *m, uint32_t i, struct expect_list *l,
                       struct cost_layer *ret)
{
    expect_layer(m, i, l);
    return sum_list(l, &ret->params, &ret->params_active);
}

static bool params_cost(const struct model *m, struct cost *c)
{
    struct expect_list *l = mem_alloc(1, sizeof *l);
    bool ok = true;
    for (uint32_t i = 0; ok && i < m->layer_count; i++) {
        struct cost_layer *x = &c->layers[i];
        ok = layer_cost(m, i, l, x) &&
             !__builtin_add_overflow(c->params_total, x->params, &c->params_total) &&
             !__builtin_add_overflow(c->params_active, x->params_active, &c->params_active);
    }
    if (ok) {
        expect_outer(m, l);
        ok = sum_list(l, &c->params_total, &c->params_active);
        c->params_embedding = (uint64_t)m->vocab * m->hidden;
        if (!m->tied_embeddings)
            c->params_active -= c->params_embedding;
    }
    free(l);
    return ok;
}

/* What hides it, in one line that fits a message. */
static void hidden(const struct model *m, unsigned what, char ret[320])
{
    size_t n = 0;
    ret[0] = '\0';
    for (size_t i = 0; i < m->unexplained_count; i++) {
        size_t k = strlen(m->unexplained[i]);
        if (!(m->hides[i] & what))
            continue;
        if (n + k + 8 > 320) {
            memcpy(ret + n, ", ...", sizeof ", ...");
            return;
        }
        if (n) {
            memcpy(ret + n, ", ", 2);
            n += 2;
        }
        memcpy(ret + n, m->unexplained[i], k + 1);
        n += k;
    }
}

static void hide_params(const struct model *m, struct cost *c)
{
    hidden(m, MODEL_HIDES_PARAMS, c->params_why);
    for (uint32_t i = 0; !c->params_why[0] && i < m->layer_count; i++)
        if (m->layers[i].ffn.kind == FFN_UNKNOWN)
            snprintf(c->params_why, sizeof c->params_why,
                     "the feed-forward of layer %u is of unknown kind", i);
    c->params_known = !c->params_why[0];
}

int cost_of(const struct model *m, struct cost *ret, struct err *e)
{
    struct cost c = {0};
    char list[320];
    if (model_hidden(m, MODEL_HIDES_CACHE, NULL)) {
        hidden(m, MODEL_HIDES_CACHE, list);
        return err_set(e, ERR_UNSUPPORTED,
                       "no exact cost for %s: the config or the tensors have what is not "
                       "understood: %s",
                       m->family, list);
    }
    for (uint32_t i = 0; i < m->layer_count; i++)
        if (m->layers[i].mixer.kind == MIXER_UNKNOWN)
            return err_set(e, ERR_UNSUPPORTED, "no exact cost for %s: layer %u is of unknown kind",
                           m->family, i);
    hide_params(m, &c);
    c.layers = mem_alloc(m->layer_count ? m->layer_count : 1, sizeof *c.layers);
    if (!cache_cost(m, &c) || (c.params_known && !params_cost(m, &c))) {
        cost_release(&c);
        return err_set(e, ERR_LIMIT, "the costs of %s do not fit 64 bits", m->family);
    }
    /* The running sum is the residual stream that any model has; the stored blocks are extra. */
    c.attnres_in_flight_bytes = (uint64_t)(model_attnres_sources(m) - 1) * m->hidden * BF16_BYTES;
    *ret = c;
    return 0;
}

void cost_release(struct cost *c)
{
    free(c->layers);
    *c = (struct cost){0};
}
