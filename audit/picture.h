#ifndef AUDIT_PICTURE_H
#define AUDIT_PICTURE_H
#include "core/buf.h"
#include "model/model.h"

/* Layers as a run-length picture, for people: "23 x (3 x KDA, MLA), MLA". */

#define PICTURE_BYTES_MAX (1u << 20) /* MODEL_LAYERS_MAX words of no pattern fit */

/* Appends the mixers of all layers; of one without a mixer its feed-forward. A repeated group of up to 16 layers is written once. */
void picture_mixers(const struct model *m, struct buf *b);

/* Appends the feed-forward kinds of all layers that have one: "dense, 92 x latent MoE". */
void picture_ffns(const struct model *m, struct buf *b);

#endif
