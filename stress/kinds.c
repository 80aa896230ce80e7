#include "stress/kinds.h"
#include "model/cost.h"
#include <stdbool.h>
#include <stdio.h>

static bool same_shape(const struct mixer *a, const struct mixer *b)
{
    return a->kind == b->kind && a->heads == b->heads && a->key_heads == b->key_heads &&
           a->value_heads == b->value_heads && a->key_dim == b->key_dim &&
           a->value_dim == b->value_dim && a->window == b->window && a->kv_rank == b->kv_rank &&
           a->nope_dim == b->nope_dim && a->rope_dim == b->rope_dim &&
           a->conv_kernel == b->conv_kernel && a->gate == b->gate && a->chunked == b->chunked &&
           a->store == b->store && a->state_element_bytes == b->state_element_bytes &&
           a->index_dim == b->index_dim && a->index_own == b->index_own &&
           a->index_pool == b->index_pool && a->ratio == b->ratio;
}

/* A window that is all that a layer sees; compressed layers have one beside the rest. */
static bool has_window(const struct mixer *x)
{
    return x->window && x->kind != MIXER_COMPRESSED;
}

/* Each scope once, numbered from the second on. */
static void name(const struct kinds *k, struct kinds_group *g)
{
    unsigned number = 1;

    for (size_t i = 0; i < k->count; i++) {
        const struct mixer *x = &k->groups[i].mixer;
        number += x->kind == g->mixer.kind && has_window(x) == has_window(&g->mixer);
    }
    int n = snprintf(g->scope, sizeof(g->scope), "%.16s%s", model_mixer_name(g->mixer.kind),
                     has_window(&g->mixer) ? ".window" : "");
    if (number > 1)
        snprintf(g->scope + n, sizeof(g->scope) - (size_t)n, ".%u", number);
}

static void sort(struct kinds *k, uint64_t tokens)
{
    for (size_t i = 1; i < k->count; i++) {
        struct kinds_group g = k->groups[i];
        uint64_t bytes = cost_mixer_bytes(&g.mixer, tokens);
        size_t at = i;
        while (at > 0 && cost_mixer_bytes(&k->groups[at - 1].mixer, tokens) > bytes) {
            k->groups[at] = k->groups[at - 1];
            at--;
        }
        k->groups[at] = g;
    }
}

int kinds_of(const struct model *m, uint64_t target_tokens, struct kinds *ret, struct err *e)
{
    struct kinds k = {.count = 0};

    for (uint32_t i = 0; i < m->layer_count; i++) {
        const struct mixer *x = &m->layers[i].mixer;
        size_t g = 0;
        if (x->kind == MIXER_NONE) /* a feed-forward alone has neither cache nor decode step */
            continue;
        while (g < k.count && !same_shape(&k.groups[g].mixer, x))
            g++;
        if (g == KINDS_MAX)
            return err_set(e, ERR_LIMIT,
                           "layer %u has another mixer shape than the %d before it: more shapes "
                           "than a run takes",
                           i, KINDS_MAX);
        if (g == k.count) {
            k.groups[g].mixer = *x;
            name(&k, &k.groups[g]);
            k.count++;
        }
        k.groups[g].layers++;
    }
    sort(&k, target_tokens);
    *ret = k;
    return 0;
}
