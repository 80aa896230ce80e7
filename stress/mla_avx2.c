#include "stress/mla_tiled.h"

void mla_avx2(struct mla_ops *ops)
{
    ops->decode = mla_tiled_decode;
    ops->variant = "avx2";
}
