#include "model/cost.h"
#include "model/expect.h"
#include <stdlib.h>
#include <string.h>

#define BF16_BYTES 2u
#define F32_BYTES 4u

/* *sum += a * b. False if that leaves 64 bits. */
static bool add_product(uint64_t *sum, uint64_t a, uint64_t b)
{
    uint64_t p;
    return !__builtin_mul_overflow(a, b, &p) && !__builtin_add_overflow(*sum, p, sum);
}

/* --- caches: growing bytes a token (of a full or a windowed layer), and constant bytes.
 * Softmax attention keeps keys and values of the heads as stored; latent attention keeps the latent
 * and the shared rope slice, also where nothing is rotated; the delta rule keeps one matrix a head
 * in F32 and the inputs of its three convolutions in BF16. Widths are limited (config.h), so none
 * of these leaves 64 bits. */

static uint64_t token_bytes(const struct mixer *x)
{
    switch (x->kind) {
    case MIXER_GQA:
    case MIXER_KEY_DECOUPLED:
        return ((uint64_t)x->key_heads * x->key_dim + (uint64_t)x->value_heads * x->value_dim) *
               BF16_BYTES;
    case MIXER_MLA: return ((uint64_t)x->kv_rank + x->rope_dim) * BF16_BYTES;
    case MIXER_KDA:
    case MIXER_UNKNOWN:
    case MIXERS: break;
    }
    return 0;
}

static uint64_t state_bytes(const struct mixer *x)
{
    if (x->kind != MIXER_KDA)
        return 0;
    uint64_t k = (uint64_t)x->heads * x->key_dim, v = (uint64_t)x->value_heads * x->value_dim;
    return k * x->value_dim * F32_BYTES +
           (2 * k + v) * (x->conv_kernel ? x->conv_kernel - 1 : 0) * BF16_BYTES;
}

uint64_t cost_mixer_bytes(const struct mixer *x, uint64_t tokens)
{
    uint64_t sum = state_bytes(x);
    uint64_t kept = x->window && x->window < tokens ? x->window : tokens;
    return add_product(&sum, token_bytes(x), kept) ? sum : UINT64_MAX;
}

uint64_t cost_model_bytes(const struct model *m, uint64_t tokens)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < m->layer_count; i++)
        if (__builtin_add_overflow(sum, cost_mixer_bytes(&m->layers[i].mixer, tokens), &sum))
            return UINT64_MAX;
    return sum;
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
    const struct mixer *x = &m->layers[i].mixer;
    expect_layer(m, i, l);
    if (!sum_list(l, &ret->params, &ret->params_active))
        return false;
    if (x->window)
        ret->window_bytes = x->window * token_bytes(x);
    else
        ret->cache_token_bytes = token_bytes(x);
    ret->state_bytes = state_bytes(x);
    return true;
}

static bool total_cost(const struct model *m, struct cost *c)
{
    struct expect_list *l = mem_alloc(1, sizeof *l);
    bool ok = true;
    for (uint32_t i = 0; ok && i < m->layer_count; i++) {
        struct cost_layer *x = &c->layers[i];
        ok = layer_cost(m, i, l, x) &&
             !__builtin_add_overflow(c->params_total, x->params, &c->params_total) &&
             !__builtin_add_overflow(c->params_active, x->params_active, &c->params_active) &&
             !__builtin_add_overflow(c->cache_token_bytes, x->cache_token_bytes,
                                     &c->cache_token_bytes) &&
             !__builtin_add_overflow(c->window_bytes, x->window_bytes, &c->window_bytes) &&
             !__builtin_add_overflow(c->state_bytes, x->state_bytes, &c->state_bytes);
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

/* The keys that stand in the way, in one line that fits a message. */
static int unexplained(const struct model *m, struct err *e)
{
    char list[320] = "";
    size_t n = 0;
    for (size_t i = 0; i < m->unexplained_count; i++) {
        size_t k = strlen(m->unexplained[i]);
        if (n + k + 8 > sizeof list) {
            memcpy(list + n, ", ...", sizeof ", ...");
            break;
        }
        if (n) {
            memcpy(list + n, ", ", 2);
            n += 2;
        }
        memcpy(list + n, m->unexplained[i], k + 1);
        n += k;
    }
    return err_set(
        e, ERR_UNSUPPORTED,
        "no exact cost for %s: the config or the tensors have what is not understood: %s",
        m->family, list);
}

int cost_of(const struct model *m, struct cost *ret, struct err *e)
{
    struct cost c = {0};
    if (m->unexplained_count)
        return unexplained(m, e);
    for (uint32_t i = 0; i < m->layer_count; i++)
        if (m->layers[i].mixer.kind == MIXER_UNKNOWN || m->layers[i].ffn.kind == FFN_UNKNOWN)
            return err_set(e, ERR_UNSUPPORTED, "no exact cost for %s: layer %u is of unknown kind",
                           m->family, i);
    c.layers = mem_alloc(m->layer_count ? m->layer_count : 1, sizeof *c.layers);
    if (!total_cost(m, &c)) {
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
