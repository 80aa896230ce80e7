#include "audit/subject.h"
#include "audit/picture.h"
#include "audit/rules.h"
#include "core/json.h"
#include "core/log.h"
#include "model/gguf_formats.h"
#include "model/gguf_model.h"
#include <stdio.h>
#include <string.h>

static void keep_why(char why[ERR_MSG_BYTES], const struct err *e)
{
    memcpy(why, e->msg, ERR_MSG_BYTES);
}

/* Parses one JSON document of the folder. What is wrong with it becomes a finding and `why`. */
static struct cJSON *parse(const char *name, const char *text, size_t bytes,
                           struct finding_list *findings, char why[ERR_MSG_BYTES])
{
    struct cJSON *doc = NULL;
    struct err e = {0};
    unsigned odd = 0;

    if (json_parse(text, bytes, &doc, &odd, &e)) {
        err_wrap(&e, "%s", name);
        finding_add(findings, FINDING_FAIL, "config-broken", "%s", e.msg);
        keep_why(why, &e);
        return NULL;
    }
    if (odd & JSON_ODD_WORDS)
        finding_add(findings, FINDING_WARN, "json-words",
                    "%s has NaN or Infinity, which are no JSON; they are read as null", name);
    if (odd & JSON_ODD_BOM)
        finding_add(findings, FINDING_WARN, "byte-order-mark",
                    "%s starts with a byte order mark, which some loaders refuse", name);
    return doc;
}

/* What follows from the model; inv is NULL if no tensors have names that it knows. */
static void build_parts(struct subject *s, const struct inventory *inv)
{
    struct err e = {0};

    s->has_model = true;
    s->tensors = inv;
    if (cost_of(&s->model, &s->cost, &e))
        keep_why(s->cost_why, &e);
    else
        s->has_cost = true;
    if (operators_of(&s->model, &s->operators, &e))
        keep_why(s->operators_why, &e);
    else
        s->has_operators = true;
    if (!inv || inv->count == 0)
        return;
    if (cost_stored_of(&s->model, inv, &s->stored, &e))
        finding_add(&s->local.findings, FINDING_WARN, "stored-size-unknown", "%s", e.msg);
    else
        s->has_stored = true;
}

static void build_model(struct subject *s)
{
    const struct inventory *inv = &s->local.inventory;
    struct err e = {0};

    if (model_build(s->config, inv, &s->local.findings, &s->model, &e)) {
        keep_why(s->model_why, &e);
        return;
    }
    build_parts(s, inv);
    if (quant_declared_of(s->config, s->hf_quant, &s->model, &s->declared, &e))
        finding_add(&s->local.findings, FINDING_WARN, "quantization-unread", "%s", e.msg);
    else
        s->has_declared = true;
    if (inv->count == 0)
        return;
    if (quant_observed_of(&s->model, inv, &s->observed, &e))
        finding_add(&s->local.findings, FINDING_WARN, "formats-unread", "%s", e.msg);
    else
        s->has_observed = true;
}

/* GGUF: its own metadata says what the model is; where they do not, a config.json beside the file
 * may, but its tensors have other names and cannot be compared with it. The header declares the
 * format of each tensor, and a config's words about formats are of the weights before they were
 * converted. */
static void build_gguf(struct subject *s)
{
    const struct inventory *inv = &s->local.inventory;
    struct finding_list *findings = &s->local.findings;
    struct err e = {0}, config = {0};

    s->has_declared = s->has_observed = true;
    s->declared.where = "types in the GGUF header";
    gguf_formats_observed(inv, &s->observed);
    for (int c = 0; c < QUANT_CLASSES; c++)
        quant_observed_names(&s->observed, (enum quant_class)c, s->declared.classes[c].names);
    if (!gguf_model_build(&s->local.gguf, inv, findings, &s->model, &s->renamed, &e)) {
        s->model_why[0] = '\0';
        build_parts(s, &s->renamed);
        return;
    }
    keep_why(s->model_why, &e);
    if (!s->config || model_build(s->config, NULL, findings, &s->model, &config))
        return;
    s->model_why[0] = '\0';
    finding_add(findings, FINDING_WARN, "config-not-confirmed",
                "the model is what config.json says, and the tensors could not be compared with "
                "it: %s",
                e.msg);
    build_parts(s, NULL);
}

int subject_load(const char *path, const struct options *o, struct subject *ret, struct err *e)
{
    struct progress progress = log_progress();
    struct subject *s = ret;

    *s = (struct subject){0};
    int rc = local_open(path, o->threads, &progress, &s->local, e);
    log_progress_done();
    if (rc)
        return rc;
    if (s->local.quant) {
        char why[ERR_MSG_BYTES];
        s->hf_quant = parse("hf_quant_config.json", s->local.quant, s->local.quant_bytes,
                            &s->local.findings, why);
    }
    if (s->local.config)
        s->config = parse("config.json", s->local.config, s->local.config_bytes, &s->local.findings,
                          s->model_why);
    else
        snprintf(s->model_why, sizeof(s->model_why), "%s", s->local.config_why);
    if (s->local.has_gguf)
        build_gguf(s);
    else if (s->config)
        build_model(s);
    if (!s->has_model) {
        memcpy(s->cost_why, s->model_why, ERR_MSG_BYTES);
        memcpy(s->operators_why, s->model_why, ERR_MSG_BYTES);
    }
    return 0;
}

void subject_release(struct subject *s)
{
    if (s->has_cost)
        cost_release(&s->cost);
    if (s->has_model)
        model_release(&s->model);
    inventory_release(&s->renamed);
    json_free(s->config);
    json_free(s->hf_quant);
    local_release(&s->local);
    *s = (struct subject){0};
}

/* Without a model only the tensors speak, and the rest is unknown for one reason. */
static int unknown_model_facts(const struct subject *s, const struct fact_sink *sink, struct err *e)
{
    static const enum fact_key keys[] = {FACT_MODEL_FAMILY, FACT_MODEL_CACHE_PER_TOKEN,
                                         FACT_MODEL_STATE, FACT_MODEL_PARAMS_TOTAL,
                                         FACT_MODEL_EXPERTS};
    const struct inventory *inv = &s->local.inventory;

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (fact_put_unknown(sink, keys[i], "", s->model_why, e))
            return e->code;
    if (inv->count == 0)
        return 0;
    if (fact_put_int(sink, FACT_MODEL_TENSORS, "", (int64_t)inv->count, "tensor headers", e))
        return e->code;
    return fact_put_int(sink, FACT_MODEL_STORED_BYTES, "", (int64_t)inv->stored_bytes,
                        "tensor headers", e);
}

static int picture_fact(const struct subject *s, enum fact_key key,
                        void (*draw)(const struct model *, struct buf *),
                        const struct fact_sink *sink, struct err *e)
{
    struct buf b;

    buf_init(&b, PICTURE_BYTES_MAX);
    draw(&s->model, &b);
    int rc = fact_put_text(sink, key, "", b.data, "config and tensor headers", e);
    buf_release(&b);
    return rc;
}

static int model_facts(const struct subject *s, const struct fact_sink *sink, struct err *e)
{
    int rc = cost_facts(&s->model, s->has_cost ? &s->cost : NULL, s->has_stored ? &s->stored : NULL,
                        &s->local.inventory, sink, e);

    if (!rc)
        rc = picture_fact(s, FACT_MODEL_MIXERS, picture_mixers, sink, e);
    if (!rc)
        rc = picture_fact(s, FACT_MODEL_FEED_FORWARD, picture_ffns, sink, e);
    return rc;
}

int subject_facts(struct subject *s, const struct fact_sink *sink, struct err *e)
{
    int rc = local_facts(&s->local, sink, e);

    if (!rc && s->has_model)
        rc = model_facts(s, sink, e);
    else if (!rc)
        rc = unknown_model_facts(s, sink, e);
    if (!rc && s->local.has_gguf)
        rc = gguf_formats_facts(&s->local.gguf, &s->local.inventory, sink, e);
    if (!rc)
        rc = quant_facts(s->has_declared ? &s->declared : NULL,
                         s->has_observed ? &s->observed : NULL, &s->local.findings, sink, e);
    if (!rc)
        rc = operators_facts(s->has_operators ? &s->operators : NULL, s->operators_why, sink, e);
    if (!rc)
        rc = rules_findings_put(&s->local.findings, "config and tensor headers", sink, e);
    return rc;
}
