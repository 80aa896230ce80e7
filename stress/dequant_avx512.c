#include "stress/dequant_blocks.h"
#include "stress/dequant_lanes.h"

void dequant_avx512(struct dequant_ops *ops, enum dequant_kind kind)
{
    dequant_rows_fn *rows =
        dequant_gguf_values(kind) ? dequant_blocks_rows : dequant_lanes_of(kind);

    if (rows) {
        ops->rows = rows;
        ops->variant = "avx512";
    }
}
