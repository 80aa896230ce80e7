#include "model/operators.h"
#include "core/buf.h"
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

static void mixer(const struct mixer *x, struct operators *o)
{
    switch (x->kind) {
    case MIXER_GQA:
        use(o, x->window ? OPERATORS_WINDOW : OPERATORS_GQA,
            "num_attention_heads %u, num_key_value_heads %u, width %u, window %u", x->heads,
            x->key_heads, x->key_dim, x->window);
        break;
    case MIXER_KEY_DECOUPLED:
        use(o, OPERATORS_KEY_DECOUPLED, "key heads %u of width %u, value heads %u of width %u",
            x->key_heads, x->key_dim, x->value_heads, x->value_dim);
        break;
    case MIXER_MLA:
        use(o, OPERATORS_MLA, "kv_lora_rank %u, qk_rope_head_dim %u, num_attention_heads %u",
            x->kv_rank, x->rope_dim, x->heads);
        break;
    case MIXER_KDA:
        use(o, OPERATORS_KDA, "linear_attn_config: num_heads %u, head_dim %u, %s gate", x->heads,
            x->key_dim, x->gate == KDA_GATE_BOUNDED ? "bounded" : "softplus");
        use(o, OPERATORS_CONV_SHORT, "linear_attn_config: short_conv_kernel_size %u",
            x->conv_kernel);
        break;
    case MIXER_UNKNOWN:
    case MIXERS: break;
    }
    if (x->output_gate)
        use(o, OPERATORS_OUTPUT_GATE, "%s",
            x->kind == MIXER_KDA ? "linear_attn_config: gate of each delta rule layer"
                                 : "mla_use_output_gate true");
    if (x->rope)
        use(o, OPERATORS_ROPE, "rotated width %u", x->kind == MIXER_MLA ? x->rope_dim : x->key_dim);
    if (x->qk_norm)
        use(o, OPERATORS_NORM_QK, "of the family: a norm of width %u", x->key_dim);
}

static void feed_forward(const struct ffn *x, struct operators *o)
{
    static const enum operators_kind acts[] = {OPERATORS_KINDS, OPERATORS_SILU, OPERATORS_GELU,
                                               OPERATORS_SITU, OPERATORS_RELU2};
    if (x->act != FFN_ACT_UNKNOWN)
        use(o, acts[x->act], "hidden_act %s", model_act_name(x->act));
    if (x->kind != FFN_MOE && x->kind != FFN_MOE_LATENT)
        return;
    const struct router *r = &x->router;
    use(o, r->groups > 1 ? OPERATORS_ROUTE_GROUPED : OPERATORS_ROUTE,
        "%u experts, top-%u, %s, %u of %u groups", r->experts, r->top_k, model_score_name(r->score),
        r->top_groups, r->groups);
    use(o, OPERATORS_GROUPED_GEMM, "%u experts of %u x %u", r->experts, x->inner, x->latent);
    if (x->kind == FFN_MOE_LATENT)
        use(o, OPERATORS_LATENT, "routed_expert_hidden_size %u", x->latent);
    if (x->shared)
        use(o, OPERATORS_SHARED, "%u shared experts, together of width %u", x->shared,
            x->shared_inner);
}

int operators_of(const struct model *m, struct operators *ret, struct err *e)
{
    struct operators o;
    memset(&o, 0, sizeof o);
    if (m->unexplained_count)
        return err_set(e, ERR_UNSUPPORTED,
                       "the operators of %s are not all known: not understood: %s%s", m->family,
                       m->unexplained[0], m->unexplained_count > 1 ? ", and more" : "");
    for (uint32_t i = 0; i < m->layer_count; i++) {
        const struct layer *l = &m->layers[i];
        if (l->mixer.kind == MIXER_UNKNOWN || l->ffn.kind == FFN_UNKNOWN)
            return err_set(e, ERR_UNSUPPORTED, "layer %u of %s is of unknown kind", i, m->family);
        mixer(&l->mixer, &o);
        feed_forward(&l->ffn, &o);
        use(&o, OPERATORS_NORM_RMS, "rms_norm_eps %g", m->norm_eps);
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
