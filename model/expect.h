#ifndef MODEL_EXPECT_H
#define MODEL_EXPECT_H
#include "core/err.h"
#include "model/model.h"
#include "model/module.h"
#include "model/quant.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The parameters that a model of this description has: names, shapes, classes. Parameter counts
 * are sums over it, tensors are compared with it, declared formats are asked of its names. */

#define EXPECT_ITEMS_MAX 48
#define EXPECT_NAME_BYTES 72

struct expect {
    char name[EXPECT_NAME_BYTES]; /* below the layer: "self_attn.q_proj.weight"; of an expert,
                                     with * for its number: "mlp.experts.*.up_proj.weight" */
    size_t star;                  /* bytes in front of the *; 0: no expert's */
    size_t base;                  /* bytes without the last ".weight" or ".bias" */
    enum module_role role; /* MODULE_WEIGHT, MODULE_BIAS or MODULE_PLAIN: what follows the base */
    uint8_t dims;
    uint64_t shape[3];
    uint64_t elements; /* of one copy */
    bool joint;        /* one tensor holds all copies; its first dimension counts them */
    enum quant_class class;
    uint32_t copies, copies_active; /* 1, 1; of an expert's: experts, top-k */
};

struct expect_list {
    struct expect items[EXPECT_ITEMS_MAX];
    size_t count;
};

/* Parameters of one layer. A layer of unknown kind lists what is known of it. */
void expect_layer(const struct model *m, uint32_t layer, struct expect_list *ret);

#define EXPECT_HEAD_BYTES 300
/* Name of the head's tensor, also where it is tied. */
void expect_head(const struct model *m, char ret[EXPECT_HEAD_BYTES]);

/* Parameters outside the layers; names are whole. */
void expect_outer(const struct model *m, struct expect_list *ret);

/* Where a tensor's name belongs. */
enum expect_place {
    EXPECT_FOREIGN, /* outside the text model: vision tower, projector */
    EXPECT_OUTER,   /* of the text model, outside the layers */
    EXPECT_LAYER,
    EXPECT_MTP, /* in a draft layer behind the decoder layers; looked up as the last of those, which
                   it repeats */
    EXPECT_BEYOND /* in a layer behind those */
};

struct expect_hit {
    enum expect_place place;
    uint32_t layer;            /* of EXPECT_LAYER, EXPECT_MTP and EXPECT_BEYOND */
    uint32_t expert;           /* of an expert's tensor */
    const char *rest;          /* the name below the layer */
    const struct expect *item; /* NULL: no parameter of that name is expected. Valid until the next
                                  look-up in another layer */
};

/* The class of the tensors of a module that was looked up. Names that nothing is expected of are
 * QUANT_OTHER, but a head that is stored although it is tied. */
enum quant_class expect_class(const struct expect_hit *hit, const char *name, size_t module_bytes);

/* Look-ups of many names; layers in a row are cheap when names come sorted. */
struct expect_finder {
    const struct model *m;
    struct expect_list outer, layer;
    uint32_t at; /* layer that `layer` lists */
    bool ready;
};

void expect_finder_init(struct expect_finder *f, const struct model *m);

/* Looks up the module that the first module_bytes bytes of name name. role is of the tensor:
 * MODULE_PLAIN and MODULE_BIAS find parameters of that kind, every other role a weight. */
void expect_find(struct expect_finder *f, const char *name, size_t module_bytes,
                 enum module_role role, struct expect_hit *ret);

#endif
