#include "model/model.h"
#include "model/confirm.h"
#include "model/config.h"
#include "model/layers.h"
#include <string.h>

const char *model_mixer_name(enum mixer_kind k)
{
    static const char *const names[] = {
        "unknown", "gqa",  "mla", "kda", "key_decoupled", "none",       "gated_delta", "lightning",
        "mamba2",  "conv", "dsa", "msa", "qsa",           "compressed", "rwkv"};
    return (unsigned)k < MIXERS ? names[k] : "unknown";
}

const char *model_residual_name(enum residual_kind k)
{
    static const char *const names[] = {"add", "attnres", "attnres_block", "hyper"};
    return (unsigned)k <= RESIDUAL_HYPER ? names[k] : "unknown";
}

const char *model_ffn_name(enum ffn_kind k)
{
    static const char *const names[] = {"unknown", "none", "dense", "moe", "moe.latent"};
    return (unsigned)k <= FFN_MOE_LATENT ? names[k] : "unknown";
}

const char *model_act_name(enum ffn_act a)
{
    static const char *const names[] = {"unknown", "silu", "gelu",          "situ",
                                        "relu2",   "relu", "swiglu_clamped"};
    return (unsigned)a < FFN_ACTS ? names[a] : "unknown";
}

const char *model_score_name(enum router_score s)
{
    static const char *const names[] = {"unknown", "softmax", "sigmoid", "softmax_after_topk",
                                        "sqrtsoftplus"};
    return (unsigned)s <= ROUTER_SQRTSOFTPLUS ? names[s] : "unknown";
}

const char *model_hidden(const struct model *m, unsigned what, size_t *ret_more)
{
    const char *first = NULL;
    size_t more = 0;
    for (size_t i = 0; i < m->unexplained_count; i++) {
        if (!(m->hides[i] & what))
            continue;
        more += first != NULL;
        first = first ? first : m->unexplained[i];
    }
    if (ret_more)
        *ret_more = more;
    return first;
}

uint32_t model_count(const struct model *m, enum mixer_kind k)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->layer_count; i++)
        n += m->layers[i].mixer.kind == k;
    return n;
}

/* Block n is stored when its first layer begins, with what came before it; the running sum of the
 * last block is never stored. */
uint32_t model_attnres_sources(const struct model *m)
{
    if (!m->attnres_block)
        return 1;
    return (m->layer_count - 1) / m->attnres_block + 1 + 1;
}

/* What no source sizes is not counted, and said. */
static void tell_left_out(const struct model *m, struct finding_list *findings)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->layer_count; i++) {
        const struct mixer *x = &m->layers[i].mixer;
        n += (x->kind == MIXER_COMPRESSED && x->ratio > 0) || (x->index_own && x->index_pool > 1);
    }
    if (n)
        finding_add(
            findings, FINDING_WARN, "compressor-state-left-out",
            "%u layers keep a small state of compressors or pools that are not full yet for "
            "each sequence; its size is not published, so the bytes of a sequence leave it "
            "out",
            n);
}

int model_build(const struct cJSON *config, const struct inventory *inv,
                struct finding_list *findings, struct model *ret, struct err *e)
{
    struct model m = {.family = ""};
    struct config c;
    struct layers_known known;
    int rc = config_init(&c, config, &m, e);
    if (!rc)
        rc = layers_build(&c, &known, e);
    if (!rc && inv && inv->count)
        rc = confirm_tensors(&c, inv, &known, findings, e);
    if (rc) {
        model_release(&m);
        return err_wrap(e, "config.json");
    }
    tell_left_out(&m, findings);
    *ret = m;
    return 0;
}

void model_release(struct model *m)
{
    mem_arena_release(&m->arena);
    *m = (struct model){.family = ""};
}
