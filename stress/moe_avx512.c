#include "stress/moe_lanes.h"

void moe_avx512(struct moe_ops *ops)
{
    ops->token = moe_lanes_token;
    ops->variant = "avx512";
}
