#ifndef MODEL_MODULE_H
#define MODEL_MODULE_H
#include "model/inventory.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A module of a checkpoint: the tensors whose names differ in the last part only, such as
 * x.weight_packed, x.weight_scale and x.weight_shape. One of them holds the numbers, the others say
 * how to read them. A tensor that has no such last part (x.A_log) is a module of its own. */

enum module_role {
    MODULE_PLAIN,        /* the name has no known last part */
    MODULE_BIAS,         /* .bias: numbers of their own */
    MODULE_WEIGHT,       /* .weight */
    MODULE_PACKED,       /* .weight_packed of compressed-tensors */
    MODULE_QWEIGHT,      /* .qweight of GPTQ and AWQ */
    MODULE_TRELLIS,      /* .trellis of EXL3 */
    MODULE_BLOCKS,       /* x_blocks of gpt-oss */
    MODULE_BLOCK_SCALES, /* x_scales of gpt-oss */
    MODULE_SCALE,        /* .weight_scale */
    MODULE_SCALE_INV,    /* .weight_scale_inv */
    MODULE_SCALE_2,      /* .weight_scale_2 of ModelOpt */
    MODULE_GLOBAL_SCALE, /* .weight_global_scale */
    MODULE_SHAPE,        /* .weight_shape */
    MODULE_ZERO,         /* .weight_zero_point, .qzeros */
    MODULE_SCALES,       /* .scales of GPTQ, AWQ and MLX */
    MODULE_BIASES,       /* .biases of MLX */
    MODULE_ABSMAX,       /* .weight.absmax of bitsandbytes */
    MODULE_SCB,          /* .SCB of bitsandbytes */
    MODULE_EXTRA,        /* other companions: input and cache scales, g_idx, quant_state */
    MODULE_ROLES
};

struct module {
    const char *name; /* of its first tensor: module_bytes of it name the module */
    size_t module_bytes;
    const struct tensor *role[MODULE_ROLES]; /* NULL: there is none. Of several, the last */
    uint64_t bytes;                          /* stored, companions counted */
    size_t tensors;
};

/* The module at inv->tensors[*at], and moves *at past its tensors; false at the end. */
bool module_next(const struct inventory *inv, size_t *at, struct module *ret);

/* Splits a tensor's name: the role of its last part, and the bytes that name the module. */
enum module_role module_split(const char *name, size_t *ret_module_bytes);

/* The tensor with the numbers, or NULL if only companions are there (scales without a weight). A
 * module that has a bias beside them is read for the rest; a bias alone is the numbers. */
const struct tensor *module_data(const struct module *x);

/* The shape of the numbers when unpacked. False if the headers do not tell it: words packed by a
 * number of bits that only the config names. */
bool module_shape(const struct module *x, uint8_t *ret_dims, uint64_t ret[TENSOR_DIMS_MAX]);

/* True if the module can hold numbers of that shape: equal when unpacked, dimensions of 1 left
 * out, or packed by a whole number of bits. */
bool module_holds(const struct module *x, uint8_t dims, const uint64_t *shape);

/* Bits of a packed number whose words hold `elements`: from 1 to 8; 0 if it does not come out. */
unsigned module_bits(const struct module *x, uint64_t elements);

#define MODULE_FORMAT_BYTES 32 /* as QUANT_NAME_BYTES */
/* The name of the format as quant.h lists them. elements: numbers when unpacked, 0 if unknown. */
const char *module_format(const struct module *x, uint64_t elements, char ret[MODULE_FORMAT_BYTES]);

#endif
