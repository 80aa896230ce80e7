#include "stress/attn_tiled.h"

void attn_avx2(struct attn_ops *ops)
{
    ops->decode = attn_tiled_decode;
    ops->variant = "avx2";
}
