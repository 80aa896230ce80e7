#include "stress/act.h"
#include <math.h>
#include <string.h>

static const char *const names[ACTS] = {"silu", "situ", "relu2", "identity"};

const char *act_name(enum act_kind k)
{
    return names[k];
}

int act_parse(const char *name, enum act_kind *ret)
{
    for (unsigned i = 0; i < ACTS; i++) {
        if (strcmp(name, names[i]) == 0) {
            *ret = (enum act_kind)i;
            return 0;
        }
    }
    return -1;
}

int act_of(enum ffn_act a, enum act_kind *ret)
{
    switch (a) {
    case FFN_ACT_SILU: *ret = ACT_SILU; return 0;
    case FFN_ACT_SITU: *ret = ACT_SITU; return 0;
    case FFN_ACT_RELU2: *ret = ACT_RELU2; return 0;
    case FFN_ACT_GELU:
    case FFN_ACT_RELU:
    case FFN_ACT_SWIGLU_CLAMPED:
    case FFN_ACT_UNKNOWN:
    case FFN_ACTS: break;
    }
    return -1;
}

double act_sigmoid(double x)
{
    /* exp of a negative number only, so that nothing overflows; NaN takes the second branch */
    if (x >= 0)
        return 1 / (1 + exp(-x));
    double e = exp(x);
    return e / (1 + e);
}

double act_softplus(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

double act_plain(enum act_kind k, double b1, double g)
{
    switch (k) {
    case ACT_SILU: return g * act_sigmoid(g);
    case ACT_SITU: return b1 * tanh(g / b1) * act_sigmoid(g);
    case ACT_RELU2: return g <= 0 ? 0 : g * g; /* NaN is not <= 0 and stays */
    case ACT_IDENTITY:
    case ACTS: break;
    }
    return g;
}

double act_gated(enum act_kind k, double b1, double b2, double g, double u)
{
    return act_plain(k, b1, g) * (k == ACT_SITU ? b2 * tanh(u / b2) : u);
}
