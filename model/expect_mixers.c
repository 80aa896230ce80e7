#include "model/expect_mixers.h"
#include "model/expect_list.h"
#include "model/family.h"

#define ATTENTION "self_attn"

static void matrix(struct expect_list *l, const char *name, uint64_t rows, uint64_t cols)
{
    expect_list_matrix(l, QUANT_ATTENTION, ATTENTION, name, rows, cols);
}

static void vector(struct expect_list *l, const char *name, uint64_t n)
{
    expect_list_vector(l, ATTENTION, name, n);
}

/* --- keys and values */

static void softmax(const struct model *m, const struct mixer *x, const char *dir,
                    struct expect_list *l)
{
    const struct family *f = m->traits;
    uint64_t q = (uint64_t)x->heads * x->key_dim, k = (uint64_t)x->key_heads * x->key_dim;
    uint64_t v = (uint64_t)x->value_heads * x->value_dim, o = (uint64_t)x->heads * x->value_dim;
    bool all = f->qk_norm == FAMILY_QK_NORM_ALL;
    if (f->fused) {
        expect_list_matrix(l, QUANT_ATTENTION, dir, "qkv_proj", q + k + v, m->hidden);
    } else {
        expect_list_matrix(l, QUANT_ATTENTION, dir, "q_proj", f->q_gate ? 2 * q : q, m->hidden);
        expect_list_matrix(l, QUANT_ATTENTION, dir, "k_proj", k, m->hidden);
        expect_list_matrix(l, QUANT_ATTENTION, dir, "v_proj", v, m->hidden);
    }
    expect_list_matrix(l, QUANT_ATTENTION, dir, "o_proj", m->hidden, o);
    if (x->output_gate && !f->q_gate)
        expect_list_matrix(l, QUANT_ATTENTION, dir, "g_proj", o, m->hidden);
    if (x->qkv_bias) {
        expect_list_vector(l, dir, "q_proj.bias", q);
        expect_list_vector(l, dir, "k_proj.bias", k);
        expect_list_vector(l, dir, "v_proj.bias", v);
    }
    if (x->o_bias)
        expect_list_vector(l, dir, "o_proj.bias", m->hidden);
    if (x->qk_norm) {
        expect_list_vector(l, dir, "q_norm.weight", all ? q : x->key_dim);
        expect_list_vector(l, dir, "k_norm.weight", all ? k : x->key_dim);
    }
    if (x->sinks)
        expect_list_vector(l, dir, "sinks", x->heads);
}

/* --- latents */

/* Queries of the index come from the latent of the queries; its key is shared by its heads. */
static void indexer(const struct model *m, const struct mixer *x, struct expect_list *l)
{
    matrix(l, "indexer.wq_b", (uint64_t)x->index_heads * x->index_dim, x->q_rank);
    matrix(l, "indexer.wk", x->index_dim, m->hidden);
    vector(l, "indexer.k_norm.weight", x->index_dim);
    vector(l, "indexer.k_norm.bias", x->index_dim);
    matrix(l, "indexer.weights_proj", x->index_heads, m->hidden);
}

static void latent(const struct model *m, const struct mixer *x, struct expect_list *l)
{
    uint64_t q = (uint64_t)x->heads * x->key_dim, o = (uint64_t)x->heads * x->value_dim;
    uint64_t kv = (uint64_t)x->heads * ((uint64_t)x->nope_dim + x->value_dim);
    if (x->q_rank) {
        matrix(l, "q_a_proj", x->q_rank, m->hidden);
        vector(l, "q_a_layernorm.weight", x->q_rank);
        matrix(l, "q_b_proj", q, x->q_rank);
    } else {
        matrix(l, "q_proj", q, m->hidden);
    }
    matrix(l, "kv_a_proj_with_mqa", (uint64_t)x->kv_rank + x->rope_dim, m->hidden);
    vector(l, "kv_a_layernorm.weight", x->kv_rank);
    matrix(l, "kv_b_proj", kv, x->kv_rank);
    if (x->output_gate)
        matrix(l, "g_proj", o, m->hidden);
    matrix(l, "o_proj", m->hidden, o);
    if (x->kind == MIXER_DSA && x->index_own)
        indexer(m, x, l);
}

/* --- recurrent */

static void delta(const struct model *m, const struct mixer *x, struct expect_list *l)
{
    uint64_t k = (uint64_t)x->heads * x->key_dim, v = (uint64_t)x->value_heads * x->value_dim;
    const char *gate = m->kda_fused ? "self_attn.forget_gate." : "self_attn.";
    matrix(l, "q_proj", k, m->hidden);
    matrix(l, "k_proj", k, m->hidden);
    matrix(l, "v_proj", v, m->hidden);
    if (m->kda_fused) {
        expect_list_add(l, QUANT_NORMS, 2 * k + v, 1, x->conv_kernel, "self_attn.conv1d.weight");
    } else {
        expect_list_add(l, QUANT_NORMS, k, 1, x->conv_kernel, "self_attn.q_conv1d.weight");
        expect_list_add(l, QUANT_NORMS, k, 1, x->conv_kernel, "self_attn.k_conv1d.weight");
        expect_list_add(l, QUANT_NORMS, v, 1, x->conv_kernel, "self_attn.v_conv1d.weight");
    }
    expect_list_add(l, QUANT_ATTENTION, x->key_dim, m->hidden, 0, "%sf_a_proj.weight", gate);
    expect_list_add(l, QUANT_ATTENTION, k, x->key_dim, 0, "%sf_b_proj.weight", gate);
    expect_list_add(l, QUANT_NORMS, x->heads, 0, 0, "%sA_log", gate);
    expect_list_add(l, QUANT_NORMS, k, 0, 0, "%sdt_bias", gate);
    matrix(l, "b_proj", x->heads, m->hidden);
    if (x->full_rank_gate) {
        matrix(l, "g_proj", v, m->hidden);
    } else {
        matrix(l, "g_a_proj", x->key_dim, m->hidden);
        matrix(l, "g_b_proj", v, x->key_dim);
    }
    vector(l, "o_norm.weight", x->value_dim);
    matrix(l, "o_proj", m->hidden, v);
}

static void gated_delta(const struct model *m, const struct mixer *x, struct expect_list *l)
{
    static const char dir[] = "linear_attn";
    uint64_t k = (uint64_t)x->key_heads * x->key_dim, v = (uint64_t)x->value_heads * x->value_dim;
    if (m->traits->delta_joint) {
        expect_list_matrix(l, QUANT_ATTENTION, dir, "in_proj_qkvz", 2 * k + 2 * v, m->hidden);
        expect_list_matrix(l, QUANT_ATTENTION, dir, "in_proj_ba", 2ull * x->value_heads, m->hidden);
    } else {
        expect_list_matrix(l, QUANT_ATTENTION, dir, "in_proj_qkv", 2 * k + v, m->hidden);
        expect_list_matrix(l, QUANT_ATTENTION, dir, "in_proj_z", v, m->hidden);
        expect_list_matrix(l, QUANT_ATTENTION, dir, "in_proj_b", x->value_heads, m->hidden);
        expect_list_matrix(l, QUANT_ATTENTION, dir, "in_proj_a", x->value_heads, m->hidden);
    }
    expect_list_add(l, QUANT_NORMS, 2 * k + v, 1, x->conv_kernel, "%s.conv1d.weight", dir);
    expect_list_vector(l, dir, "A_log", x->value_heads);
    expect_list_vector(l, dir, "dt_bias", x->value_heads);
    expect_list_vector(l, dir, "norm.weight", x->value_dim);
    expect_list_matrix(l, QUANT_ATTENTION, dir, "out_proj", m->hidden, v);
}

/* in_proj gives the gate, the inputs of the convolution, and one step size a head. */
static void mamba(const struct model *m, const struct mixer *x, struct expect_list *l)
{
    static const char dir[] = "mixer";
    uint64_t inner = (uint64_t)x->value_heads * x->value_dim;
    uint64_t conv = inner + 2ull * x->key_heads * x->key_dim;
    expect_list_matrix(l, QUANT_ATTENTION, dir, "in_proj", inner + conv + x->heads, m->hidden);
    expect_list_add(l, QUANT_NORMS, conv, 1, x->conv_kernel, "%s.conv1d.weight", dir);
    expect_list_vector(l, dir, "conv1d.bias", conv);
    expect_list_vector(l, dir, "A_log", x->heads);
    expect_list_vector(l, dir, "D", x->heads);
    expect_list_vector(l, dir, "dt_bias", x->heads);
    expect_list_vector(l, dir, "norm.weight", inner);
    expect_list_matrix(l, QUANT_ATTENTION, dir, "out_proj", m->hidden, inner);
}

void expect_mixers_add(const struct model *m, const struct mixer *x, struct expect_list *ret)
{
    bool alone = m->traits->layout == FAMILY_LAYOUT_NEMOTRON;
    switch (x->kind) {
    case MIXER_GQA:
    case MIXER_KEY_DECOUPLED: softmax(m, x, alone ? "mixer" : ATTENTION, ret); break;
    case MIXER_MLA:
    case MIXER_DSA: latent(m, x, ret); break;
    case MIXER_KDA: delta(m, x, ret); break;
    case MIXER_GATED_DELTA: gated_delta(m, x, ret); break;
    case MIXER_MAMBA2: mamba(m, x, ret); break;
    case MIXER_NONE:
    case MIXER_LIGHTNING:
    case MIXER_CONV:
    case MIXER_MSA:
    case MIXER_QSA:
    case MIXER_COMPRESSED:
    case MIXER_RWKV:
    case MIXER_UNKNOWN:
    case MIXERS: break;
    }
}
