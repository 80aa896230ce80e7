#ifndef STRESS_ACT_H
#define STRESS_ACT_H
#include "model/model.h"

/* Activations of feed-forward layers, as tests/vectors/SPEC.md spells them. */
enum act_kind { ACT_SILU, ACT_SITU, ACT_RELU2, ACT_IDENTITY, ACTS };

/* "silu", "situ", "relu2", "identity". */
const char *act_name(enum act_kind k);
/* The kind of that name into *ret; -1 for other names. */
int act_parse(const char *name, enum act_kind *ret);
/* The kind that a model names; -1 for one that has no definition here (gelu, unknown). */
int act_of(enum ffn_act a, enum act_kind *ret);

/* act(g) of an ungated expert. situ: b1 tanh(g/b1) sigmoid(g); b2 is not used. */
double act_plain(enum act_kind k, double b1, double g);
/* act(g) times the gate's other half: u, or b2 tanh(u/b2) for situ. */
double act_gated(enum act_kind k, double b1, double b2, double g, double u);

double act_sigmoid(double x);
double act_softplus(double x); /* log(1 + e^x) without overflow */

#endif
