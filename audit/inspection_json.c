#include "audit/inspection.h"
#include "audit/inspection_gguf.h"
#include "audit/picture.h"
#include "core/json.h"

static void add_picture(struct cJSON *to, const char *key, const struct model *m,
                        void (*draw)(const struct model *, struct buf *))
{
    struct buf b;

    buf_init(&b, PICTURE_BYTES_MAX);
    draw(m, &b);
    json_add_text(to, key, b.data);
    buf_release(&b);
}

static void add_layers(struct cJSON *doc, const struct model *m)
{
    struct cJSON *layers = json_add_object(doc, "layers");
    struct cJSON *kinds = json_add_object(layers, "by_mixer");
    struct cJSON *each = json_add_array(layers, "each");

    json_add_u64(layers, "count", m->layer_count);
    add_picture(layers, "mixers", m, picture_mixers);
    add_picture(layers, "feed_forward", m, picture_ffns);
    for (int k = 0; k < MIXERS; k++)
        if (model_count(m, (enum mixer_kind)k))
            json_add_u64(kinds, model_mixer_name((enum mixer_kind)k),
                         model_count(m, (enum mixer_kind)k));
    for (uint32_t i = 0; i < m->layer_count; i++) {
        struct cJSON *row = json_add_object(each, NULL);
        json_add_text(row, "mixer", model_mixer_name(m->layers[i].mixer.kind));
        json_add_text(row, "residual", model_residual_name(m->layers[i].residual));
        json_add_text(row, "feed_forward", model_ffn_name(m->layers[i].ffn.kind));
    }
}

static void add_model(struct cJSON *doc, const struct model *m)
{
    json_add_text(doc, "family", m->family);
    json_add_text(doc, "architecture", m->architecture);
    json_add_u64(doc, "hidden", m->hidden);
    json_add_u64(doc, "vocabulary", m->vocab);
    add_layers(doc, m);
    if (m->attnres_block) {
        struct cJSON *a = json_add_object(doc, "attention_residuals");
        json_add_u64(a, "block_layers", m->attnres_block);
        json_add_u64(a, "sources_at_output", model_attnres_sources(m));
    }
    for (uint32_t i = 0; i < m->layer_count; i++) {
        const struct ffn *f = &m->layers[i].ffn;
        if (f->kind != FFN_MOE && f->kind != FFN_MOE_LATENT)
            continue;
        struct cJSON *x = json_add_object(doc, "experts");
        json_add_u64(x, "count", f->router.experts);
        json_add_u64(x, "top_k", f->router.top_k);
        json_add_u64(x, "shared", f->shared);
        json_add_text(x, "router", model_score_name(f->router.score));
        if (f->kind == FFN_MOE_LATENT)
            json_add_u64(x, "latent_width", f->latent);
        else
            json_add_null(x, "latent_width");
        break;
    }
}

static void add_parameters(struct cJSON *doc, const struct subject *s)
{
    struct cJSON *p = json_add_object(doc, "parameters");

    if (s->has_cost && s->cost.params_known) {
        json_add_u64(p, "total", s->cost.params_total);
        json_add_u64(p, "active", s->cost.params_active);
        json_add_u64(p, "embedding", s->cost.params_embedding);
    } else {
        json_add_null(p, "total");
        json_add_null(p, "active");
        json_add_null(p, "embedding");
    }
    if (!s->has_stored) {
        json_add_null(p, "stored");
        return;
    }
    json_add_u64(p, "stored", s->stored.params);
    json_add_u64(p, "stored_drafts", s->stored.params_mtp);
    json_add_u64(p, "stored_other", s->stored.params_other);
    json_add_u64(p, "stored_padding", s->stored.params_padding);
    json_add_text(p, "padding_tensor", s->stored.padding_name);
}

static void add_cache(struct cJSON *doc, const struct subject *s, const struct options *o)
{
    const uint64_t *contexts;
    size_t n = inspection_contexts(o, &contexts);

    if (!s->has_cost) {
        json_add_null(doc, "cache");
        return;
    }
    struct cJSON *c = json_add_object(doc, "cache");
    json_add_u64(c, "bytes_per_token", s->cost.cache_token_bytes);
    json_add_u64(c, "step_tokens", s->cost.cache_step_tokens);
    json_add_u64(c, "step_bytes", s->cost.cache_step_bytes);
    json_add_u64(c, "window_bytes", s->cost.window_bytes);
    json_add_u64(c, "state_bytes", s->cost.state_bytes);
    json_add_text(c, "state_format", s->model.state_rule);
    if (s->cost.fp8_known) {
        json_add_u64(c, "fp8_step_bytes", s->cost.fp8_step_bytes);
        json_add_u64(c, "fp8_window_bytes", s->cost.fp8_window_bytes);
    } else {
        json_add_null(c, "fp8_step_bytes");
        json_add_null(c, "fp8_window_bytes");
    }
    json_add_bool(c, "encoder", s->model.encoder);
    json_add_u64(c, "in_flight_bytes_per_token", s->cost.attnres_in_flight_bytes);
    struct cJSON *at = json_add_array(c, "at");
    for (size_t i = 0; i < n; i++) {
        struct cJSON *row = json_add_object(at, NULL);
        json_add_u64(row, "tokens", contexts[i]);
        json_add_u64(row, "bytes", cost_model_bytes(&s->model, contexts[i]));
    }
}

static void add_formats(struct cJSON *doc, const struct subject *s)
{
    struct cJSON *rows = json_add_array(doc, "formats");
    char names[QUANT_NAMES_BYTES];

    for (int c = 0; c < QUANT_CLASSES; c++) {
        enum quant_class k = (enum quant_class)c;
        bool seen = s->has_observed && s->observed.classes[c].tensors;
        bool said = s->has_declared && s->declared.classes[c].names[0];
        if (s->has_observed ? !seen : !said)
            continue;
        struct cJSON *row = json_add_object(rows, NULL);
        json_add_text(row, "class", quant_class_name(k));
        json_add_text(row, "observed", seen ? quant_observed_names(&s->observed, k, names) : NULL);
        json_add_text(row, "declared", said ? s->declared.classes[c].names : NULL);
        if (seen) {
            json_add_u64(row, "tensors", s->observed.classes[c].tensors);
            json_add_u64(row, "bytes", s->observed.classes[c].bytes);
        }
        json_add_bool(row, "disagrees",
                      seen && said && quant_disagrees(&s->declared, &s->observed, k));
    }
}

static void add_operators(struct cJSON *doc, const struct subject *s)
{
    if (!s->has_operators) {
        json_add_null(doc, "operators");
        return;
    }
    struct cJSON *rows = json_add_array(doc, "operators");
    for (int k = 0; k < OPERATORS_KINDS; k++) {
        if (!s->operators.items[k].layers)
            continue;
        struct cJSON *row = json_add_object(rows, NULL);
        json_add_text(row, "name", operators_name((enum operators_kind)k));
        json_add_u64(row, "layers", s->operators.items[k].layers);
        json_add_text(row, "evidence", s->operators.items[k].evidence);
    }
}

static void add_findings(struct cJSON *doc, const struct finding_list *l)
{
    struct cJSON *rows = json_add_array(doc, "findings");

    for (size_t i = 0; i < l->count; i++) {
        struct cJSON *row = json_add_object(rows, NULL);
        json_add_text(row, "severity", finding_severity_name(l->items[i].severity));
        json_add_text(row, "code", l->items[i].code);
        json_add_text(row, "text", l->items[i].text);
    }
    json_add_u64(doc, "findings_dropped", l->dropped);
}

static void add_unknown(struct cJSON *doc, const struct subject *s)
{
    struct cJSON *u = json_add_object(doc, "unknown");

    if (s->model_why[0])
        json_add_text(u, "model", s->model_why);
    if (s->cost_why[0])
        json_add_text(u, "cost", s->cost_why);
    if (s->has_cost && !s->cost.params_known)
        json_add_text(u, "parameters", s->cost.params_why);
    if (s->operators_why[0])
        json_add_text(u, "operators", s->operators_why);
    struct cJSON *keys = json_add_array(u, "unexplained_keys");
    for (size_t i = 0; s->has_model && i < s->model.unexplained_count; i++)
        json_add_text(keys, NULL, s->model.unexplained[i]);
}

/* Every tensor as its header has it. bytes is null where the type is not known and nothing else
 * tells the size. */
static void add_tensor_list(struct cJSON *doc, const struct inventory *inv, bool gguf)
{
    struct cJSON *rows = json_add_array(doc, "tensor_list");

    for (size_t i = 0; i < inv->count; i++) {
        const struct tensor *t = &inv->tensors[i];
        struct cJSON *row = json_add_object(rows, NULL);
        json_add_text(row, "name", t->name);
        json_add_text(row, "type", t->dtype_text);
        struct cJSON *shape = json_add_array(row, "shape");
        for (unsigned d = 0; d < t->dims; d++)
            json_add_u64(shape, NULL, t->shape[d]);
        if (gguf && t->dtype == DTYPE_UNKNOWN && !t->format)
            json_add_null(row, "bytes");
        else
            json_add_u64(row, "bytes", t->bytes);
        json_add_text(row, "shard", inv->shards[t->shard].path);
        json_add_u64(row, "offset", t->offset);
    }
}

struct cJSON *inspection_json(const struct subject *s, const struct options *o)
{
    const struct inventory *inv = &s->local.inventory;
    struct cJSON *doc = json_object();

    json_add_text(doc, "subject", s->local.real_path);
    json_add_text(doc, "kind", s->local.kind);
    if (inv->shard_count) {
        json_add_u64(doc, "tensors", inv->count);
        json_add_u64(doc, "shards", inv->shard_count);
        json_add_u64(doc, "stored_bytes", inv->stored_bytes);
    } else {
        json_add_null(doc, "tensors");
        json_add_null(doc, "shards");
        json_add_null(doc, "stored_bytes");
    }
    if (s->has_model)
        add_model(doc, &s->model);
    add_parameters(doc, s);
    add_cache(doc, s, o);
    add_formats(doc, s);
    add_operators(doc, s);
    if (s->local.has_gguf)
        inspection_gguf_json(doc, s);
    if (o->tensors)
        add_tensor_list(doc, inv, s->local.has_gguf);
    add_findings(doc, &s->local.findings);
    add_unknown(doc, s);
    return doc;
}
