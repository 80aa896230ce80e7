#ifndef MODEL_QUANT_H
#define MODEL_QUANT_H
#include "core/err.h"
#include "core/fact.h"
#include "model/finding.h"
#include "model/inventory.h"
#include "model/model.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Number formats per module class: what the config declares, what the tensors have. The tensors
 * decide; a difference is a finding and a fact. */

/* The classes, with the names that scope the FORMAT_* facts. */
enum quant_class {
    QUANT_ROUTED_EXPERTS, /* "routed_experts" */
    QUANT_SHARED_EXPERTS, /* "shared_experts": with the gate on them where there is one */
    QUANT_ATTENTION,      /* "attention": matrices of every mixer kind */
    QUANT_DENSE_FFN,      /* "dense_ffn" */
    QUANT_ROUTER,         /* "router": the gate matrix */
    QUANT_LATENT,         /* "latent": projections into and out of the experts' narrower space */
    QUANT_ATTNRES,        /* "attnres": queries of the attention residuals */
    QUANT_EMBEDDING,      /* "embedding" */
    QUANT_HEAD,           /* "head" */
    QUANT_NORMS, /* "norms": vectors and short convolutions: norms, biases, A_log, dt_bias */
    QUANT_MTP,   /* "mtp": draft layers behind the decoder layers */
    QUANT_OTHER, /* "other": outside the text model: vision tower, projector */
    QUANT_CLASSES
};

/* Format names: the keys of the support tables. N, R, C are decimal numbers.
 *
 *   bf16 f16 f32 f64               plain
 *   mxfp4-pack-quantized           compressed-tensors: weight_packed U8, E8M0 scale per 32
 *   nvfp4-pack-quantized           compressed-tensors: weight_packed U8, E4M3 scale per 16, global
 *   mxfp8-quantized                weight F8_E4M3, E8M0 scale per 32
 *   pack-quantized-intB-gN         compressed-tensors: weight_packed I32, B bits, scale per N
 *   pack-quantized-intB-channel    the same, one scale a row
 *   int8-gN int8-channel int8-tensor   weight I8 with scales
 *   fp8-block-RxC                  weight F8_E4M3, a scale per R x C block
 *   fp8-channel fp8-tensor         weight F8_E4M3, a scale a row, a scale a matrix
 *   fp8                            weight F8_E4M3 or F8_E5M2 without a scale that tells more
 *   modelopt-nvfp4                 weight U8, E4M3 scale per 16, F32 weight_scale_2
 *   mxfp4-blocks                   gpt-oss: *_blocks U8, *_scales U8
 *   gptq-intB awq-intB             qweight I32, qzeros I32, scales
 *   mlx-intB-gN mlx-fpB-gN         weight U32, scales; biases only for integers
 *   bnb-nf4 bnb-int8               bitsandbytes
 *   exl3                           trellis I16
 *   gguf-q4_k ...                  a GGUF type that comes in blocks (model/gguf_type.h)
 *   i8 u8 i16 i32 i64 ...          an integer tensor without any scale: the dtype in lower case
 *   unknown                        none of these
 *
 * A class whose modules differ has the names of all its formats joined by "+", the one with the
 * most stored bytes first (declared: the one with the most modules): "mxfp4-pack-quantized+bf16".
 */
#define QUANT_NAME_BYTES 32
#define QUANT_NAMES_BYTES 256
#define QUANT_FORMATS_MAX 8 /* different formats in one class; the rest are counted as unknown */
#define QUANT_WHY_BYTES 256

struct quant_share {
    char name[QUANT_NAME_BYTES];
    uint64_t tensors, bytes; /* scales and zero points count to the format they serve */
};

struct quant_observed {
    struct {
        struct quant_share formats[QUANT_FORMATS_MAX]; /* most bytes first */
        size_t format_count;                           /* 0: the class has no tensors */
        uint64_t tensors, bytes;
    } classes[QUANT_CLASSES];
};

struct quant_declared {
    char method[64];   /* "compressed-tensors", "fp8" ...; "" if nothing is declared */
    const char *where; /* "quantization_config", "text_config.quantization_config" ... */
    struct {
        char names[QUANT_NAMES_BYTES]; /* as above; "" if the model has no such class; "unknown".
                                          Of norms the config's dtype: no scheme speaks of them */
        char why[QUANT_WHY_BYTES];     /* of "unknown": what could not be read */
    } classes[QUANT_CLASSES];
};

/* What the config declares, read in this order: quantization_config, the same in text_config,
 * compression_config, hf_quant_config.json (parsed; NULL: there is none), then MLX's quantization.
 * Without any of them each class has the config's dtype ("unknown" if it names none). Names of
 * modules come from the model's layout. An unknown method or an ignore pattern that cannot be read
 * exactly makes the classes it touches "unknown", never plain. ERR_FORMAT if a block is no object.
 */
int quant_declared_of(const struct cJSON *config, const struct cJSON *hf_quant_config,
                      const struct model *m, struct quant_declared *ret, struct err *e);

/* What the tensors have. */
int quant_observed_of(const struct model *m, const struct inventory *inv,
                      struct quant_observed *ret, struct err *e);

/* Counts tensors of a format to a class, and, once all are counted, puts the formats of each class
 * in order: for those who tell classes by other names than the model's layout gives. */
void quant_observed_add(struct quant_observed *o, enum quant_class c, const char *name,
                        uint64_t tensors, uint64_t bytes);
void quant_observed_sort(struct quant_observed *o);

/* The names of a class's formats joined by "+", "" for none; returns ret. */
const char *quant_observed_names(const struct quant_observed *o, enum quant_class c,
                                 char ret[QUANT_NAMES_BYTES]);

/* True if both sides are known and differ. Norms differ only by what is no plain float: families
 * keep some vectors in F32 whatever the config's dtype. */
bool quant_disagrees(const struct quant_declared *d, const struct quant_observed *o,
                     enum quant_class c);

/* The class that a tensor of the model belongs to, by its name and shape. */
enum quant_class quant_class_of(const struct model *m, const struct tensor *t);
const char *quant_class_name(enum quant_class c); /* "routed_experts" ... as above */

/* Puts FORMAT_DECLARED, FORMAT_OBSERVED, FORMAT_BYTES, FORMAT_TENSORS and, where the two sides
 * differ, FORMAT_DISAGREES for each class that the model or the tensors have, and adds a finding
 * "format-disagrees" for each difference (findings may be NULL). Either side may be NULL: then its
 * facts are unknown. */
int quant_facts(const struct quant_declared *d, const struct quant_observed *o,
                struct finding_list *findings, const struct fact_sink *sink, struct err *e);

#endif
