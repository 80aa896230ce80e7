#include "stress/prim_lanes.h"

void prim_avx2(struct prim_ops *ops)
{
    *ops = prim_lanes;
    ops->variant = "avx2";
}
