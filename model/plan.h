#ifndef MODEL_PLAN_H
#define MODEL_PLAN_H
#include "core/err.h"
#include "model/config.h"
#include <stdint.h>

/* Which layer has which sort of mixer: every spelling of it in one place. */

enum plan_slot {
    PLAN_UNSAID, /* no key tells; why is among the unexplained */
    PLAN_FULL,   /* the family's attention over everything */
    PLAN_WINDOW, /* the same over a sliding window */
    PLAN_CHUNK,  /* the same within a chunk */
    PLAN_LINEAR, /* the family's linear attention */
    PLAN_MAMBA,
    PLAN_CONV, /* a short convolution */
    PLAN_MLP,  /* no mixer: a dense feed-forward */
    PLAN_MOE   /* no mixer: experts */
};

/* Fills slots[0 .. layer_count). The first key that speaks decides, in this order: layer_types,
 * layers_block_type, block_configs, hybrid_override_pattern, the lists of linear_attn_config,
 * hybrid_layer_pattern and local_layer_ids, attn_type_list, full_attention_interval,
 * sliding_window_pattern; then what the family's class does without any. A later one that
 * contradicts it is unexplained. Errors as model_build's. */
int plan_build(struct config *c, enum plan_slot *slots, struct err *e);

#endif
