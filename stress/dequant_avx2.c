#include "stress/dequant_lanes.h"
#include "stress/dequant_transposed.h"

void dequant_avx2(struct dequant_ops *ops, enum dequant_kind kind)
{
    dequant_rows_fn *rows = kind == DEQUANT_AWQ    ? dequant_transposed_awq
                            : kind == DEQUANT_GPTQ ? dequant_transposed_gptq
                                                   : dequant_lanes_of(kind);

    if (rows) {
        ops->rows = rows;
        ops->variant = "avx2";
    }
}
