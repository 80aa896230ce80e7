#include "model/follow.h"
#include "model/family.h"
#include <string.h>

#define DIFFERS "config-tensor-differs"

/* --- mixers */

static bool has(const struct census_layer *l, enum census_slot s)
{
    return l->slots[s].seen;
}

static uint64_t rows(const struct census_layer *l, enum census_slot s)
{
    return l->slots[s].rows;
}

/* The delta rule has a decay (A_log, dt_bias, a gate projection) and short convolutions; latent
 * attention has a joint compression; plain attention has neither. */
static enum mixer_kind kind_of(const struct census_layer *l)
{
    bool delta = has(l, CENSUS_A_LOG) && has(l, CENSUS_DT) && has(l, CENSUS_F_A) &&
                 has(l, CENSUS_CONV) && has(l, CENSUS_B);
    bool any_delta = has(l, CENSUS_A_LOG) || has(l, CENSUS_DT) || has(l, CENSUS_CONV);
    bool latent = has(l, CENSUS_KV_A) && has(l, CENSUS_KV_B);
    bool plain = has(l, CENSUS_Q) && has(l, CENSUS_K) && has(l, CENSUS_V) && has(l, CENSUS_O);
    if (delta && !latent)
        return MIXER_KDA;
    if (latent && !any_delta)
        return MIXER_MLA;
    return plain && !any_delta && !latent ? MIXER_GQA : MIXER_UNKNOWN;
}

/* a / b if it comes out and is within the limit; else 0. */
static uint32_t part(uint64_t a, uint64_t b, uint64_t max)
{
    return b && a % b == 0 && a / b <= max ? (uint32_t)(a / b) : 0;
}

/* Head counts and widths of softmax attention. Query heads come from the config: rows alone do not
 * tell heads from width. Unequal counts of key and value heads are what grouped queries cannot
 * explain. */
static bool plain_widths(const struct census_layer *l, bool gated, struct mixer *x)
{
    uint64_t o = l->slots[CENSUS_O].cols;
    uint32_t dk = part(rows(l, CENSUS_Q), gated ? 2ull * x->heads : x->heads, CONFIG_HEAD_DIM_MAX);
    uint32_t dv = o ? part(o, x->heads, CONFIG_HEAD_DIM_MAX) : dk;
    uint32_t hk = part(rows(l, CENSUS_K), dk, CONFIG_HEADS_MAX);
    uint32_t hv = part(rows(l, CENSUS_V), dv, CONFIG_HEADS_MAX);
    if (!hk || !hv || x->heads % hk || x->heads % hv)
        return false;
    x->kind = hk == hv ? MIXER_GQA : MIXER_KEY_DECOUPLED;
    x->key_heads = hk;
    x->value_heads = hv;
    x->key_dim = dk;
    x->value_dim = dv;
    return true;
}

static bool latent_widths(const struct census_layer *l, struct mixer *x)
{
    uint64_t rank = rows(l, CENSUS_KV_A_NORM), joint = rows(l, CENSUS_KV_A);
    uint32_t q = part(rows(l, has(l, CENSUS_Q_B) ? CENSUS_Q_B : CENSUS_Q), x->heads,
                      2 * CONFIG_HEAD_DIM_MAX);
    uint32_t kv = part(rows(l, CENSUS_KV_B), x->heads, 2 * CONFIG_HEAD_DIM_MAX);
    if (!rank || joint < rank || rank > CONFIG_HIDDEN_MAX || joint - rank > CONFIG_HEAD_DIM_MAX ||
        rows(l, CENSUS_Q_A) > CONFIG_HIDDEN_MAX)
        return false;
    uint32_t rope = (uint32_t)(joint - rank);
    if (q <= rope || kv <= q - rope)
        return false;
    x->kv_rank = (uint32_t)rank;
    x->q_rank = (uint32_t)rows(l, CENSUS_Q_A);
    x->rope_dim = rope;
    x->nope_dim = q - rope;
    x->key_dim = q;
    x->value_dim = kv - x->nope_dim;
    x->output_gate = has(l, CENSUS_GATE);
    return true;
}

static bool delta_widths(const struct census_layer *l, struct mixer *x)
{
    uint64_t heads = rows(l, CENSUS_B), taps = l->slots[CENSUS_CONV].cols;
    uint32_t dk = part(rows(l, CENSUS_Q), heads, CONFIG_HEAD_DIM_MAX);
    uint32_t dv = part(rows(l, CENSUS_V), heads, CONFIG_HEAD_DIM_MAX);
    if (!heads || heads > CONFIG_HEADS_MAX || !dk || !dv || !taps || taps > CONFIG_KERNEL_MAX)
        return false;
    x->heads = x->key_heads = x->value_heads = (uint32_t)heads;
    x->key_dim = dk;
    x->value_dim = dv;
    x->conv_kernel = (uint32_t)taps;
    x->full_rank_gate = has(l, CENSUS_GATE) && !has(l, CENSUS_GATE_A);
    return true;
}

static void note_width(struct tally *t, uint32_t layer, const char *what, uint64_t tensors,
                       uint64_t config)
{
    if (tensors != config)
        tally_add(t, FINDING_WARN, DIFFERS, layer, "%s: %llu by the tensors, %llu by the config",
                  what, (unsigned long long)tensors, (unsigned long long)config);
}

static void note_mixer(struct tally *t, uint32_t layer, const struct mixer *a,
                       const struct mixer *b)
{
    note_width(t, layer, "heads", a->heads, b->heads);
    note_width(t, layer, "key heads", a->key_heads, b->key_heads);
    note_width(t, layer, "value heads", a->value_heads, b->value_heads);
    note_width(t, layer, "width of a key head", a->key_dim, b->key_dim);
    note_width(t, layer, "width of a value head", a->value_dim, b->value_dim);
    note_width(t, layer, "rank of the cached latent", a->kv_rank, b->kv_rank);
    note_width(t, layer, "rank of the queries", a->q_rank, b->q_rank);
    note_width(t, layer, "width of the rope slice", a->rope_dim, b->rope_dim);
    note_width(t, layer, "taps of the short convolution", a->conv_kernel, b->conv_kernel);
    note_width(t, layer, "output gate", a->output_gate, b->output_gate);
    note_width(t, layer, "full-rank gate", a->full_rank_gate, b->full_rank_gate);
}

/* Kinds that the telling tensors do not tell apart: an index is a key of the config's. */
static bool same_kind(enum mixer_kind config, enum mixer_kind tensors)
{
    return config == tensors || (tensors == MIXER_GQA && config == MIXER_KEY_DECOUPLED) ||
           (tensors == MIXER_MLA && config == MIXER_DSA);
}

/* The mixer of that kind that the config describes somewhere, or a bare one of that kind. */
static bool template_of(const struct model *m, enum mixer_kind kind,
                        const struct layers_known *known, struct mixer *ret)
{
    const struct mixer *const all[] = {&known->full, &known->linear};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (same_kind(all[i]->kind, kind)) {
            *ret = *all[i];
            return true;
        }
    *ret = (struct mixer){.kind = kind,
                          .heads = m->heads,
                          .key_heads = m->heads,
                          .value_heads = m->heads,
                          .state_element_bytes = kind == MIXER_KDA ? 4 : 0,
                          .output_gate = kind == MIXER_KDA};
    return false;
}

static bool widths_of(const struct family *f, const struct census_layer *l, struct mixer *x)
{
    switch (x->kind) {
    case MIXER_GQA:
    case MIXER_KEY_DECOUPLED: return plain_widths(l, f->q_gate, x);
    case MIXER_MLA:
    case MIXER_DSA: return latent_widths(l, x);
    case MIXER_KDA: return delta_widths(l, x);
    default: return false; /* of these the tensors' names and shapes are compared, no more */
    }
}

static void follow_mixer(struct config *c, uint32_t i, const struct census_layer *l,
                         const struct layers_known *known, struct tally *t)
{
    struct mixer *now = &c->m->layers[i].mixer, x = *now;
    enum mixer_kind seen = kind_of(l);
    bool described = true;
    if (seen == MIXER_UNKNOWN)
        return;
    bool same = same_kind(now->kind, seen);
    if (!same)
        described = template_of(c->m, seen, known, &x);
    if (!widths_of(c->m->traits, l, &x))
        return; /* the comparison of names and shapes says what does not fit */
    if (x.kind != now->kind)
        tally_add(t, FINDING_WARN, DIFFERS, i, "the mixer is %s by the tensors, %s by the config",
                  model_mixer_name(x.kind), model_mixer_name(now->kind));
    else
        note_mixer(t, i, &x, now);
    /* The config has no word on what tensors cannot tell: rotation, the form of the decay gate. */
    if (!described)
        config_unexplained(c, "tensors are %s, of which the config says nothing",
                           model_mixer_name(x.kind));
    *now = x;
}

/* --- feed-forwards */

static const struct ffn *any_moe(const struct model *m)
{
    for (uint32_t i = 0; i < m->layer_count; i++)
        if (m->layers[i].ffn.kind == FFN_MOE || m->layers[i].ffn.kind == FFN_MOE_LATENT)
            return &m->layers[i].ffn;
    return NULL;
}

static void note_kind(struct tally *t, uint32_t i, enum ffn_kind tensors, enum ffn_kind config)
{
    if (tensors != config)
        tally_add(t, FINDING_WARN, DIFFERS, i,
                  "the feed-forward is %s by the tensors, %s by the config",
                  model_ffn_name(tensors), model_ffn_name(config));
}

static void take(uint64_t width, uint64_t max, uint32_t *ret)
{
    if (width && width <= max)
        *ret = (uint32_t)width;
}

static void follow_experts(struct config *c, uint32_t i, const struct census_layer *l,
                           const struct ffn *moe, struct tally *t)
{
    struct ffn *now = &c->m->layers[i].ffn, x = moe ? *moe : *now;
    const struct census_width *r = &l->slots[CENSUS_ROUTER], *w = &l->slots[CENSUS_EXPERT];
    uint32_t latent = now->latent;
    if (!moe) {
        config_unexplained(c, "tensors have experts, of which the config says nothing");
        return;
    }
    if (has(l, CENSUS_LATENT))
        take(rows(l, CENSUS_LATENT), CONFIG_HIDDEN_MAX, &x.latent);
    x.kind = has(l, CENSUS_LATENT) ? FFN_MOE_LATENT : FFN_MOE;
    if (!has(l, CENSUS_LATENT))
        take(w->cols, CONFIG_HIDDEN_MAX, &x.latent);
    take(r->rows, CONFIG_EXPERTS_MAX, &x.router.experts);
    take(w->rows, CONFIG_INNER_MAX, &x.inner);
    take(rows(l, CENSUS_SHARED), CONFIG_INNER_MAX, &x.shared_inner);
    x.router.on_latent = r->cols && r->cols == x.latent && x.latent != c->m->hidden;
    note_kind(t, i, x.kind, now->kind);
    if (now->kind == FFN_MOE || now->kind == FFN_MOE_LATENT) {
        note_width(t, i, "routed experts", x.router.experts, now->router.experts);
        note_width(t, i, "inner width of an expert", x.inner, now->inner);
        note_width(t, i, "width in which experts work", x.latent, latent);
        note_width(t, i, "inner width of the shared experts", x.shared_inner, now->shared_inner);
        note_width(t, i, "the router reads the latent", x.router.on_latent, now->router.on_latent);
    }
    /* Top-k of more experts than there are, or uneven groups, cannot run. */
    if (x.router.top_k > x.router.experts || x.router.experts % x.router.groups)
        config_unexplained(c, "%u experts a token in %u groups, of %u in the tensors",
                           x.router.top_k, x.router.groups, x.router.experts);
    if (l->experts)
        note_width(t, i, "experts with tensors against rows of the router", l->experts,
                   x.router.experts);
    *now = x;
}

static void follow_ffn(struct config *c, uint32_t i, const struct census_layer *l,
                       const struct ffn *moe, struct tally *t)
{
    struct ffn *now = &c->m->layers[i].ffn;
    bool dense = has(l, CENSUS_UP);
    bool experts = has(l, CENSUS_ROUTER) && (l->experts || has(l, CENSUS_JOINT));
    if (experts && !dense) {
        follow_experts(c, i, l, moe, t);
    } else if (dense && !experts) {
        struct ffn x = {.kind = FFN_DENSE,
                        .act = now->act,
                        .bias = now->bias,
                        .gated = now->gated,
                        .latent = c->m->hidden,
                        .situ_beta = now->situ_beta,
                        .situ_linear_beta = now->situ_linear_beta};
        x.inner = now->kind == FFN_DENSE ? now->inner : 0;
        take(rows(l, CENSUS_UP), CONFIG_INNER_MAX, &x.inner);
        note_kind(t, i, x.kind, now->kind);
        if (now->kind == FFN_DENSE)
            note_width(t, i, "inner width of the dense feed-forward", x.inner, now->inner);
        if (x.inner)
            *now = x;
    }
}

/* --- residuals */

static void follow_residuals(struct config *c, const struct census *cs, struct tally *t)
{
    struct model *m = c->m;
    uint32_t with = 0, whole = 0;
    for (uint32_t i = 0; i < m->layer_count; i++) {
        with += has(&cs->layers[i], CENSUS_RES);
        whole += kind_of(&cs->layers[i]) != MIXER_UNKNOWN;
    }
    if (with && !m->attnres_block) {
        tally_add(t, FINDING_WARN, DIFFERS, TALLY_NO_LAYER,
                  "%u layers have tensors of attention residuals, the config names no block size",
                  with);
        config_unexplained(c, "attn_res_block_size is missing, the tensors have residual queries");
    } else if (m->attnres_block && !with && whole == m->layer_count) {
        tally_add(t, FINDING_WARN, DIFFERS, TALLY_NO_LAYER,
                  "attn_res_block_size is %u, no layer has tensors of attention residuals",
                  m->attnres_block);
        m->attnres_block = 0;
        for (uint32_t i = 0; i < m->layer_count; i++)
            m->layers[i].residual = RESIDUAL_ADD;
    }
}

/* A config that says KDA means one of two things; the tensors tell which. */
static void note_kda(const struct config *c, const struct layers_known *known, struct tally *t)
{
    uint32_t delta = model_count(c->m, MIXER_KDA);
    uint32_t decoupled = model_count(c->m, MIXER_KEY_DECOUPLED);
    if (known->linear.kind != MIXER_KDA)
        return;
    if (delta)
        tally_add(t, FINDING_NOTE, "kda-is-delta-attention", TALLY_NO_LAYER,
                  "KDA is Kimi Delta Attention here, not key-decoupled attention: %u layers have "
                  "A_log, dt_bias, f_a_proj and short convolutions, and a state of constant size",
                  delta);
    if (decoupled)
        tally_add(t, FINDING_WARN, "kda-is-key-decoupled", TALLY_NO_LAYER,
                  "KDA is key-decoupled attention in %u layers: softmax over keys and values of "
                  "their own head counts, with a cache that grows",
                  decoupled);
}

void follow_census(struct config *c, const struct census *cs, const struct layers_known *known,
                   struct tally *t)
{
    struct ffn moe;
    const struct ffn *first = any_moe(c->m);
    if (first)
        moe = *first;
    for (uint32_t i = 0; i < c->m->layer_count; i++)
        c->m->experts_fused |= has(&cs->layers[i], CENSUS_JOINT);
    for (uint32_t i = 0; i < c->m->layer_count; i++) {
        follow_mixer(c, i, &cs->layers[i], known, t);
        follow_ffn(c, i, &cs->layers[i], first ? &moe : NULL, t);
    }
    c->m->kda_fused = cs->fused;
    follow_residuals(c, cs, t);
    note_kda(c, known, t);
}
