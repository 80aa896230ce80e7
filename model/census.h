#ifndef MODEL_CENSUS_H
#define MODEL_CENSUS_H
#include "model/inventory.h"
#include "model/model.h"
#include <stdbool.h>
#include <stdint.h>

/* What the tensors of each layer are, without asking the config: which of the telling modules are
 * there, and how wide they are. */

enum census_slot {
    CENSUS_Q,
    CENSUS_K,
    CENSUS_V,
    CENSUS_O, /* q_proj, k_proj, v_proj, o_proj */
    CENSUS_GATE,
    CENSUS_GATE_A, /* g_proj, g_a_proj */
    CENSUS_Q_A,
    CENSUS_Q_B, /* q_a_proj, q_b_proj */
    CENSUS_KV_A,
    CENSUS_KV_A_NORM,
    CENSUS_KV_B, /* kv_a_proj_with_mqa, its norm, kv_b_proj */
    CENSUS_A_LOG,
    CENSUS_F_A,
    CENSUS_DT,
    CENSUS_CONV,
    CENSUS_B,  /* of the delta rule */
    CENSUS_UP, /* mlp.up_proj of a dense feed-forward */
    CENSUS_ROUTER,
    CENSUS_LATENT,
    CENSUS_SHARED,
    CENSUS_EXPERT, /* EXPERT: up of one expert */
    CENSUS_RES,    /* self_attention_res_proj */
    CENSUS_JOINT,  /* experts.gate_up_proj: all experts in one tensor */
    CENSUS_SLOTS
};

/* Longest prefix of the text tower: names are its, and at most 30 bytes of their own. */
#define CENSUS_PREFIX_MAX 40
#define CENSUS_EXPERTS_MAX 65536 /* as the config may name */

/* A module's first and last dimension; 0: there is none, or its packing hides it. */
struct census_width {
    bool seen;
    uint64_t rows, cols;
};

struct census_layer {
    struct census_width slots[CENSUS_SLOTS];
    uint32_t experts; /* highest expert number + 1 */
};

struct census {
    struct census_layer *layers; /* [m->layer_count] */
    uint32_t layer_count;        /* highest layer number in the tensors + 1 */
    bool fused;                  /* KDA in the newer layout: conv1d, forget_gate.* */
};

/* The name prefix of the text tower: in front of embed_tokens or of the layers. *ret is in m's
 * arena, or m->prefix if that is right. False if no such tensor is there. */
bool census_prefix(struct model *m, const struct inventory *inv, const char **ret);

/* m gives the prefix, the layer count and the names of the family. */
void census_take(const struct model *m, const struct inventory *inv, struct census *ret);
void census_release(struct census *c);

#endif
