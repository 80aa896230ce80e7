#ifndef MODEL_COST_H
#define MODEL_COST_H
#include "core/fact.h"
#include "model/model.h"

/* Exact costs of a model. Sizes are for BF16 caches and, for KDA, an F32 recurrent state with BF16
 * convolution state: what engines keep (facts: architecture formulas, KDA 2.5, MLA 5). */

struct cost_layer {
    uint64_t params;            /* all parameters of the layer */
    uint64_t params_active;     /* those that one token uses */
    uint64_t cache_token_bytes; /* growing with each token */
    uint64_t window_bytes;      /* sliding window when full, constant afterwards */
    uint64_t state_bytes;       /* constant per sequence */
};

struct cost {
    struct cost_layer *layers; /* [layer_count]; free with cost_release */
    uint64_t params_total;     /* embeddings, layers, norms, head; MTP layers left out */
    uint64_t params_active;    /* without the input embedding; tied to the head it counts as head */
    uint64_t params_embedding; /* input embedding */
    uint64_t cache_token_bytes, window_bytes, state_bytes; /* whole model */
    uint64_t attnres_in_flight_bytes;                      /* per token in flight, BF16 */
};

/* What the tensors themselves add up to. */
struct cost_stored {
    uint64_t params;          /* packed ones counted as unpacked, scales and the like left out */
    uint64_t params_padding;  /* of these, values that no head uses (A_log longer than heads) */
    const char *padding_name; /* pattern of the tensor that is padded: "self_attn.A_log"; or NULL */
    uint64_t params_mtp;      /* of these, in draft layers */
    uint64_t params_other;    /* of these, outside the text model: vision tower, projector */
    uint64_t bytes;
};

/* ERR_UNSUPPORTED, naming the keys, if m->unexplained is not empty or a layer is unknown;
 * ERR_LIMIT if a figure leaves 64 bits. */
int cost_of(const struct model *m, struct cost *ret, struct err *e);
void cost_release(struct cost *c);

/* Cache bytes of one layer / all layers of a mixer kind / the whole model at `tokens` of context:
 * growing part + min(tokens, window) part + constant state. UINT64_MAX where the sum leaves 64 bits
 * (no memory holds it). */
uint64_t cost_mixer_bytes(const struct mixer *x, uint64_t tokens);
uint64_t cost_model_bytes(const struct model *m, uint64_t tokens);

/* Over all tensors of the inventory. Left out of params: scales, zero points and other companions
 * of packed weights, integer tensors that are no weights, tables such as inv_freq. ERR_UNSUPPORTED,
 * with its name, for a packed tensor whose size only the layout of an unknown module would tell. */
int cost_stored_of(const struct model *m, const struct inventory *inv, struct cost_stored *ret,
                   struct err *e);

/* Puts every MODEL_* fact that these tell, but MODEL_FINDING. Each of c, s and inv may be NULL;
 * what it would have told is then unknown, with the reason. */
int cost_facts(const struct model *m, const struct cost *c, const struct cost_stored *s,
               const struct inventory *inv, const struct fact_sink *sink, struct err *e);

#endif
