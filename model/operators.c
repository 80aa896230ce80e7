#include "model/operators.h"
#include "core/buf.h"
#include "model/family.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *meaning;
} table[OPERATORS_KINDS] = {
#define X(enumerator, name, meaning) {name, meaning},
    OPERATORS_TABLE(X)
#undef X
};

const char *operators_name(enum operators_kind k)
{
    return table[k].name;
}

const char *operators_meaning(enum operators_kind k)
{
    return table[k].meaning;
}

static void use(struct operators *o, enum operators_kind k, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Counts a layer; the first one says on what evidence. */
static void use(struct operators *o, enum operators_kind k, const char *fmt, ...)
{
    if (o->items[k].layers++)
        return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(o->items[k].evidence, sizeof o->items[k].evidence, fmt, ap);
    va_end(ap);
}

static void softmax(const struct mixer *x, enum operators_kind k, struct operators *o)
{
    use(o,
        x->store == MIXER_ENCODES ? OPERATORS_ENCODER
        : x->chunked              ? OPERATORS_CHUNK
        : x->window               ? OPERATORS_WINDOW
                                  : k,
        "num_attention_heads %u, num_key_value_heads %u, width %u, window %u", x->heads,
        x->key_heads, x->key_dim, x->window);
}

static void recurrent(const struct mixer *x, enum operators_kind k, struct operators *o)
{
    use(o, k, "%u heads of %u x %u, state of %u bytes a number", x->value_heads, x->key_dim,
        x->value_dim, x->state_element_bytes);
    if (x->conv_kernel)
        use(o, OPERATORS_CONV_SHORT, "%u taps", x->conv_kernel);
}

static void kda(const struct mixer *x, struct operators *o)
{
    use(o, OPERATORS_KDA, "linear_attn_config: num_heads %u, head_dim %u, %s gate", x->heads,
        x->key_dim, x->gate == KDA_GATE_BOUNDED ? "bounded" : "softplus");
    use(o, OPERATORS_CONV_SHORT, "linear_attn_config: short_conv_kernel_size %u", x->conv_kernel);
}

static void latent(const struct mixer *x, struct operators *o)
{
    use(o, x->kind == MIXER_DSA ? OPERATORS_DSA : OPERATORS_MLA,
        "kv_lora_rank %u, qk_rope_head_dim %u, num_attention_heads %u", x->kv_rank, x->rope_dim,
        x->heads);
}

static void kind(const struct mixer *x, struct operators *o)
{
    switch (x->kind) {
    case MIXER_GQA: softmax(x, OPERATORS_GQA, o); break;
    case MIXER_MSA: softmax(x, OPERATORS_MSA, o); break;
    case MIXER_QSA: softmax(x, OPERATORS_QSA, o); break;
    case MIXER_KEY_DECOUPLED:
        use(o, OPERATORS_KEY_DECOUPLED, "key heads %u of width %u, value heads %u of width %u",
            x->key_heads, x->key_dim, x->value_heads, x->value_dim);
        break;
    case MIXER_MLA:
    case MIXER_DSA: latent(x, o); break;
    case MIXER_COMPRESSED:
        use(o, OPERATORS_COMPRESSED, "compress_ratios, head_dim %u, sliding_window %u", x->key_dim,
            x->window);
        break;
    case MIXER_KDA: kda(x, o); break;
    case MIXER_GATED_DELTA: recurrent(x, OPERATORS_GATED_DELTA, o); break;
    case MIXER_LIGHTNING: recurrent(x, OPERATORS_LIGHTNING, o); break;
    case MIXER_MAMBA2: recurrent(x, OPERATORS_MAMBA2, o); break;
    case MIXER_RWKV: recurrent(x, OPERATORS_RWKV, o); break;
    case MIXER_CONV: use(o, OPERATORS_CONV_SHORT, "%u taps", x->conv_kernel); break;
    case MIXER_NONE:
    case MIXER_UNKNOWN:
    case MIXERS: break;
    }
}

static void mixer(const struct mixer *x, struct operators *o)
{
    bool latents = x->kind == MIXER_MLA || x->kind == MIXER_DSA || x->kind == MIXER_COMPRESSED;
    kind(x, o);
    if (x->index_own)
        use(o, OPERATORS_INDEXER, "%u heads of width %u, top %u, a key for %u tokens",
            x->index_heads, x->index_dim, x->index_top, x->index_pool);
    if (x->sinks)
        use(o, OPERATORS_SINKS, "of the family: one a head");
    if (x->output_gate)
        use(o, OPERATORS_OUTPUT_GATE, "%s",
            x->kind == MIXER_KDA   ? "linear_attn_config: gate of each delta rule layer"
            : x->kind == MIXER_MLA ? "mla_use_output_gate true"
                                   : "of the family");
    if (x->rope)
        use(o, OPERATORS_ROPE, "rotated width %u", latents ? x->rope_dim : x->key_dim);
    if (x->qk_norm)
        use(o, OPERATORS_NORM_QK, "of the family: a norm of width %u", x->key_dim);
}

static void feed_forward(const struct ffn *x, struct operators *o)
{
    static const enum operators_kind acts[] = {
        OPERATORS_KINDS, OPERATORS_SILU, OPERATORS_GELU,          OPERATORS_SITU,
        OPERATORS_RELU2, OPERATORS_RELU, OPERATORS_SWIGLU_CLAMPED};
    if (x->kind != FFN_NONE && x->act != FFN_ACT_UNKNOWN)
        use(o, acts[x->act], "hidden_act %s", model_act_name(x->act));
    if (x->kind != FFN_MOE && x->kind != FFN_MOE_LATENT)
        return;
    const struct router *r = &x->router;
    use(o, r->groups > 1 ? OPERATORS_ROUTE_GROUPED : OPERATORS_ROUTE,
        "%u experts, top-%u, %s, %u of %u groups", r->experts, r->top_k, model_score_name(r->score),
        r->top_groups, r->groups);
    use(o, OPERATORS_GROUPED_GEMM, "%u experts of %u x %u", r->experts, x->inner, x->latent);
    if (x->kind == FFN_MOE_LATENT)
        use(o, OPERATORS_LATENT, "experts work in a width of %u", x->latent);
    if (x->shared)
        use(o, OPERATORS_SHARED, "%u shared experts, together of width %u", x->shared,
            x->shared_inner);
}

int operators_of(const struct model *m, struct operators *ret, struct err *e)
{
    struct operators o;
    memset(&o, 0, sizeof o);
    size_t more;
    const char *hidden = model_hidden(m, MODEL_HIDES_OPERATORS, &more);
    if (hidden)
        return err_set(e, ERR_UNSUPPORTED,
                       "the operators of %s are not all known: not understood: %s%s", m->family,
                       hidden, more ? ", and more" : "");
    for (uint32_t i = 0; i < m->layer_count; i++) {
        const struct layer *l = &m->layers[i];
        if (l->mixer.kind == MIXER_UNKNOWN || l->ffn.kind == FFN_UNKNOWN)
            return err_set(e, ERR_UNSUPPORTED, "layer %u of %s is of unknown kind", i, m->family);
        mixer(&l->mixer, &o);
        feed_forward(&l->ffn, &o);
        use(&o, m->traits->layer_norm ? OPERATORS_NORM_LAYER : OPERATORS_NORM_RMS, "%s %g",
            m->traits->layer_norm ? "layer_norm_eps" : "rms_norm_eps", m->norm_eps);
        if (l->residual == RESIDUAL_HYPER)
            use(&o, OPERATORS_HYPER, "hc_mult above 1");
        if (l->residual == RESIDUAL_ATTNRES_BLOCK)
            use(&o, OPERATORS_ATTNRES_BLOCK, "attn_res_block_size %u, in decoder layers",
                m->attnres_block);
        if (l->residual == RESIDUAL_ATTNRES)
            use(&o, OPERATORS_ATTNRES, "attention residuals over every sub-layer");
    }
    for (uint32_t i = 0; i < m->mtp_layers; i++)
        use(&o, OPERATORS_MTP, "num_nextn_predict_layers %u", m->mtp_layers);
    *ret = o;
    return 0;
}

int operators_facts(const struct operators *o, const char *why, const struct fact_sink *sink,
                    struct err *e)
{
    if (!o)
        return fact_put_unknown(sink, FACT_OPERATOR_LAYERS, "", why ? why : "no model", e);
    for (unsigned k = 0; k < OPERATORS_KINDS; k++)
        if (o->items[k].layers && fact_put_int(sink, FACT_OPERATOR_LAYERS, table[k].name,
                                               o->items[k].layers, o->items[k].evidence, e))
            return e->code;
    return 0;
}
