#include "stress/residual_lanes.h"

void residual_avx2(struct residual_ops *ops)
{
    ops->mix = residual_lanes_mix;
    ops->variant = "avx2";
}
