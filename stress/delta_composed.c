#include "stress/delta.h"
#include "stress/scratch.h"
#include <math.h>

/* Each loop over the heads is one operation of the sequence, over whole arrays. */

static void unit(const struct prim_ops *p, const struct delta_shape *s, const float *x, float *ret)
{
    for (uint64_t h = 0; h < s->heads; h++) {
        const float *row = x + h * s->key_dim;
        double squares = (double)p->sum_squares(s->key_dim, row);
        p->scale(s->key_dim, (float)(1 / sqrt(squares + s->l2_eps)), row, ret + h * s->key_dim);
    }
}

/* ret [heads][key_dim] = exp(g(z)) */
static void decay(const struct prim_ops *p, const struct delta_shape *s, const struct delta_in *in,
                  float *rate, float *ret)
{
    uint64_t dk = s->key_dim, keys = s->heads * dk;
    const float *z = in->z;

    p->exp(s->heads, in->a_log, rate);
    if (s->gate == KDA_GATE_SOFTPLUS) {
        p->softplus(keys, z, ret);
        z = ret;
    }
    for (uint64_t h = 0; h < s->heads; h++)
        p->scale(dk, s->gate == KDA_GATE_SOFTPLUS ? -rate[h] : rate[h], z + h * dk, ret + h * dk);
    if (s->gate == KDA_GATE_BOUNDED) {
        p->sigmoid(keys, ret, ret);
        p->scale(keys, (float)s->lower_bound, ret, ret);
    }
    p->exp(keys, ret, ret);
}

void delta_composed(const struct prim_ops *p, const struct delta_shape *s,
                    const struct delta_in *in, float *state, float *ret_out, void *scratch)
{
    uint64_t dk = s->key_dim, dv = s->value_dim, keys = s->heads * dk, values = s->heads * dv;
    float *q = scratch_take(&scratch, keys, sizeof(float));
    float *k = scratch_take(&scratch, keys, sizeof(float));
    float *a = scratch_take(&scratch, keys, sizeof(float));
    float *write = scratch_take(&scratch, values, sizeof(float));
    float *beta = scratch_take(&scratch, s->heads, sizeof(float));
    float *rate = scratch_take(&scratch, s->heads, sizeof(float));

    unit(p, s, in->q, q);
    p->scale(keys, (float)(1 / sqrt((double)dk)), q, q);
    unit(p, s, in->k, k);
    p->sigmoid(s->heads, in->b, beta);
    decay(p, s, in, rate, a);
    p->scale_rows(keys, dv, a, state);
    for (uint64_t h = 0; h < s->heads; h++)
        p->matvec_t(dk, dv, state + h * dk * dv, k + h * dk, write + h * dv);
    p->sub(values, in->v, write, write);
    for (uint64_t h = 0; h < s->heads; h++)
        p->scale(dv, beta[h], write + h * dv, write + h * dv);
    for (uint64_t h = 0; h < s->heads; h++)
        p->add_outer(dk, dv, k + h * dk, write + h * dv, state + h * dk * dv);
    for (uint64_t h = 0; h < s->heads; h++)
        p->matvec_t(dk, dv, state + h * dk * dv, q + h * dk, ret_out + h * dv);
}

size_t delta_composed_scratch_bytes(const struct delta_shape *s)
{
    uint64_t keys, values;
    size_t total = 0;

    if (__builtin_mul_overflow(s->heads, s->key_dim, &keys) ||
        __builtin_mul_overflow(s->heads, s->value_dim, &values))
        return SIZE_MAX;
    for (unsigned i = 0; i < 3; i++)
        scratch_need(&total, keys, sizeof(float));
    scratch_need(&total, values, sizeof(float));
    scratch_need(&total, s->heads, sizeof(float));
    scratch_need(&total, s->heads, sizeof(float));
    return total;
}
