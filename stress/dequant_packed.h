#ifndef STRESS_DEQUANT_PACKED_H
#define STRESS_DEQUANT_PACKED_H
#include "stress/dequant.h"

/* The definitions of the kinds that keep their scales in tensors of their own. The kinds of FP8
 * differ in what shares a scale only, those of FP4 in how a scale is written: the experts of
 * gptoss_mxfp4 lie one below the other and are one matrix. */
dequant_rows_fn dequant_packed_ct, dequant_packed_int8, dequant_packed_awq, dequant_packed_gptq,
    dequant_packed_fp8, dequant_packed_fp4;

/* The scale of one group of an FP4 kind. */
float dequant_packed_scale(const struct dequant_matrix *m, uint64_t group);

#endif
