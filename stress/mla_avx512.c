#include "stress/mla_tiled.h"

void mla_avx512(struct mla_ops *ops)
{
    ops->decode = mla_tiled_decode;
    ops->variant = "avx512";
}
