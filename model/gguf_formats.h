#ifndef MODEL_GGUF_FORMATS_H
#define MODEL_GGUF_FORMATS_H
#include "core/fact.h"
#include "model/gguf.h"
#include "model/inventory.h"
#include "model/quant.h"

/* Number formats of a GGUF model: by class of module, and by type. */

#define GGUF_FORMATS_MAX 48

struct gguf_formats_type {
    const char *name;   /* "Q4_K", "type 999" */
    const char *format; /* "gguf-q4_k", "bf16"; "unknown" */
    uint64_t tensors, bytes;
    uint64_t elements;      /* numbers in them */
    double bits_per_weight; /* scales included; 0 if the type is not known */
};

/* The types that the tensors have, most bytes first. */
struct gguf_formats {
    struct gguf_formats_type items[GGUF_FORMATS_MAX];
    size_t count;
    uint64_t dropped; /* tensors of types that found no place */
};

void gguf_formats_of(const struct inventory *inv, struct gguf_formats *ret);

/* The formats of each class, by the names of the tensors; no model is needed. */
void gguf_formats_observed(const struct inventory *inv, struct quant_observed *ret);

/* What the file says of itself: MODEL_CONTAINER, MODEL_METADATA for the general keys and
 * FORMAT_BITS for each type. */
int gguf_formats_facts(const struct gguf *g, const struct inventory *inv,
                       const struct fact_sink *sink, struct err *e);

/* "15 (Q4_K_M)": a value of the metadata for people. Returns ret; "" for arrays and for texts that
 * were not kept. */
#define GGUF_FORMATS_VALUE_BYTES 512
const char *gguf_formats_value(const struct gguf_pair *p, char ret[GGUF_FORMATS_VALUE_BYTES]);

#endif
