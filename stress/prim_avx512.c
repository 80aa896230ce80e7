#include "stress/prim_lanes.h"

void prim_avx512(struct prim_ops *ops)
{
    *ops = prim_lanes;
    ops->variant = "avx512";
}
