#include "core/json.h"
#include "model/cost.h"
#include "model/operators.h"
#include "model/quant.h"
#include <stdlib.h>

/* A config.json of anybody's: parsed, built into a model, costed, and asked for its formats and
 * operators. What is explained must have a cost or say that it leaves 64 bits; what is hidden must
 * have none. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void ask(const struct cJSON *doc, struct model *m)
{
    struct err e = {0};
    struct cost c;
    struct operators o;
    struct quant_declared *d = malloc(sizeof *d);
    int rc = cost_of(m, &c, &e);
    bool hidden = model_hidden(m, MODEL_HIDES_CACHE, NULL) != NULL;
    if (!d || (hidden && !rc) || (rc && !e.msg[0]))
        abort();
    if (!hidden && rc && rc != ERR_LIMIT)
        abort();
    if (!rc) {
        if (c.params_known == (model_hidden(m, MODEL_HIDES_PARAMS, NULL) != NULL))
            abort();
        if (c.params_active > c.params_total || cost_model_bytes(m, 1) < c.state_bytes)
            abort();
        cost_release(&c);
    }
    if (!operators_of(m, &o, &e) && model_hidden(m, MODEL_HIDES_OPERATORS, NULL))
        abort();
    /* the time is that of the layers: many are for the tests, not for the fuzzer */
    if (m->layer_count <= 64 && m->mtp_layers <= 64)
        quant_declared_of(doc, NULL, m, d, &e);
    free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct err e = {0};
    struct cJSON *doc;
    struct model m;
    struct finding_list findings = {0};
    if (json_parse((const char *)bytes, n, &doc, NULL, &e))
        return 0;
    if (!model_build(doc, NULL, &findings, &m, &e)) {
        ask(doc, &m);
        model_release(&m);
    }
    finding_list_release(&findings);
    json_free(doc);
    return 0;
}
