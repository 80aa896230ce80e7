#ifndef MODEL_CONFIRM_H
#define MODEL_CONFIRM_H
#include "core/err.h"
#include "model/layers.h"
#include "model/inventory.h"

/* Compares what the config says with what the tensors are, and lets the tensors decide: the
 * prefix, the mixer of each layer, widths, the number of experts, tied embeddings. Each difference
 * is a FINDING_WARN with both sides, once for all layers that share it. A layer whose tensors are
 * not understood makes the model unexplained. inv is finished and not empty. */
int confirm_tensors(struct config *c, const struct inventory *inv, const struct layers_known *known,
                    struct finding_list *findings, struct err *e);

#endif
