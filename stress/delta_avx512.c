#include "stress/delta_lanes.h"

void delta_avx512(struct delta_ops *ops)
{
    ops->step = delta_lanes_step;
    ops->variant = "avx512";
}
