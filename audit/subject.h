#ifndef AUDIT_SUBJECT_H
#define AUDIT_SUBJECT_H
#include "audit/options.h"
#include "core/err.h"
#include "core/fact.h"
#include "model/cost.h"
#include "model/finding.h"
#include "model/model.h"
#include "model/operators.h"
#include "model/quant.h"
#include "probes/local.h"
#include <stdbool.h>

/* A subject, read as far as it could be: each part is there or says why it is not. */
struct subject {
    struct local local;     /* the folder: files, config text, index, inventory; and
                               all findings, those of the model too */
    struct cJSON *config;   /* NULL if it could not be parsed */
    struct cJSON *hf_quant; /* hf_quant_config.json, or NULL */
    bool has_model, has_cost, has_stored, has_operators, has_declared, has_observed;
    struct model model;
    struct cost cost;
    struct cost_stored stored;
    struct operators operators;
    struct quant_declared declared;
    struct quant_observed observed;
    char model_why[ERR_MSG_BYTES]; /* why there is no model; "" if there is one */
    char cost_why[ERR_MSG_BYTES];
    char operators_why[ERR_MSG_BYTES];
};

/* Reads the folder and builds what can be built. Fails only if the folder itself cannot be read;
 * everything else that goes wrong is kept in the parts. Release in either case. */
int subject_load(const char *path, const struct options *o, struct subject *ret, struct err *e);
void subject_release(struct subject *s);

/* Puts what the subject is: subject, model, format and distribution facts, and its findings. */
int subject_facts(struct subject *s, const struct fact_sink *sink, struct err *e);

#endif
