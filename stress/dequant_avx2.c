#include "stress/dequant_blocks.h"
#include "stress/dequant_lanes.h"
#include "stress/dequant_transposed.h"

void dequant_avx2(struct dequant_ops *ops, enum dequant_kind kind)
{
    if (dequant_gguf_values(kind))
        ops->rows = dequant_blocks_rows;
    else if (kind == DEQUANT_AWQ)
        ops->rows = dequant_transposed_awq;
    else if (kind == DEQUANT_GPTQ)
        ops->rows = dequant_transposed_gptq;
    else
        ops->rows = dequant_lanes_of(kind);
    ops->variant = "avx2"; /* every kind has it */
}
