#ifndef MODEL_COST_H
#define MODEL_COST_H
#include "core/fact.h"
#include "model/model.h"

/* Exact costs of a model. Caches are those that engines keep: keys, values, latents and the inputs
 * of convolutions in BF16, recurrent matrices in the number format that m->state_rule names (F32 in
 * every KDA layer). Formulas: facts on architectures, KDA 2.5, the table of 5; cost_cache.c. */

enum cost_store { COST_BF16, COST_FP8 };

struct cost_layer {
    uint64_t params;            /* all parameters of the layer */
    uint64_t params_active;     /* those that one token uses */
    uint64_t cache_token_bytes; /* growing with each token; rounded down where a step is longer */
    uint64_t window_bytes;      /* sliding window when full, constant afterwards */
    uint64_t state_bytes;       /* constant per sequence */
};

struct cost {
    struct cost_layer *layers; /* [layer_count]; free with cost_release */
    bool params_known;         /* false: all params_* are 0 */
    char params_why[320];      /* what hides them */
    uint64_t params_total;     /* embeddings, layers, norms, head; MTP layers left out */
    uint64_t params_active;    /* without the input embedding; tied to the head it counts as head */
    uint64_t params_embedding; /* input embedding */
    uint64_t cache_token_bytes, window_bytes, state_bytes; /* whole model */
    /* Where several tokens share an entry, a cache grows by cache_step_bytes each
     * cache_step_tokens; cache_token_bytes is their quotient, rounded down. Otherwise the step is
     * one token. */
    uint64_t cache_step_bytes;
    uint32_t cache_step_tokens;
    bool fp8_known; /* every layer has a layout with keys, values and latents in FP8 */
    uint64_t fp8_step_bytes, fp8_window_bytes;
    uint64_t attnres_in_flight_bytes; /* per token in flight, BF16 */
};

/* What the tensors themselves add up to. */
struct cost_stored {
    uint64_t params;          /* packed ones counted as unpacked, scales and the like left out */
    uint64_t params_padding;  /* of these, values that no head uses (A_log longer than heads) */
    const char *padding_name; /* pattern of the tensor that is padded: "self_attn.A_log"; or NULL */
    uint64_t params_mtp;      /* of these, in draft layers */
    uint64_t params_other;    /* of these, outside the text model: vision tower, projector. Both
                                 are 0 where the layout of the parameters is not known */
    uint64_t bytes;
};

/* ERR_UNSUPPORTED, naming the keys, if something hides the cache or a layer is unknown; ERR_LIMIT
 * if a figure leaves 64 bits. What hides the parameters only leaves params_known false. */
int cost_of(const struct model *m, struct cost *ret, struct err *e);
void cost_release(struct cost *c);

/* Cache bytes of one layer / the whole model at `tokens` of context: growing part + min(tokens,
 * window) part + constant state. UINT64_MAX where the sum leaves 64 bits (no memory holds it), and,
 * in FP8, where a layer has no such layout. */
uint64_t cost_mixer_bytes(const struct mixer *x, uint64_t tokens);
uint64_t cost_model_bytes(const struct model *m, uint64_t tokens);
uint64_t cost_store_bytes(const struct model *m, enum cost_store store, uint64_t tokens);

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
