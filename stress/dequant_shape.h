#ifndef STRESS_DEQUANT_SHAPE_H
#define STRESS_DEQUANT_SHAPE_H
#include "stress/dequant.h"
#include <stdbool.h>

/* From the names of formats (model/quant.h) to the kernels that unpack them. */

/* True for formats whose numbers a machine reads as they are: bf16, f32, i64 ... */
bool dequant_shape_plain(const char *format);

/* The matrix of that format with about cols columns (as many more as make the last group whole) and
 * `rows` rows, a multiple of 8: kind, group, bits and the dtype of the scales, without arrays. What
 * the name does not tell is as most checkpoints have it: groups of 128 in GPTQ and AWQ, no
 * activation order, F32 scales for FP8 and BF16 ones for integers. zero is not NULL where the
 * format has zero points. ERR_UNSUPPORTED if no kernel reads the format. */
int dequant_shape_of(const char *format, uint64_t rows, uint64_t cols, struct dequant_matrix *ret,
                     struct err *e);

#endif
