#include "report/document.h"
#include "core/clock.h"
#include "core/json.h"
#include "core/version.h"
#include "report/fact_json.h"

#define FORMAT "assay-report"
#define FORMAT_VERSION 1

static void add_date(struct cJSON *to, const char *key, int64_t unix_seconds)
{
    char text[CLOCK_TEXT_BYTES];

    clock_format(unix_seconds, text);
    json_add_text(to, key, unix_seconds > 0 ? text : NULL);
}

static void add_files(const struct view *v, struct cJSON *snapshot)
{
    struct cJSON *files = json_add_array(snapshot, "files");

    for (size_t i = 0; i < v->file_count; i++) {
        const struct snapshot_file *f = &v->files[i];
        struct cJSON *o = json_add_object(files, NULL);
        json_add_text(o, "path", f->path);
        json_add_u64(o, "size_bytes", f->size_bytes);
        json_add_text(o, "sha256", f->sha256);
        json_add_text(o, "state", snapshot_file_state_name(f->state));
        json_add_text(o, "why", f->why);
        json_add_bool(o, "weight", f->weight);
    }
}

/* The sum of an item or a headline; null if the run did not judge it, which is unknown. */
static void add_sum(const struct view *v, struct cJSON *to, enum verdict_item item)
{
    const struct verdict *s = view_sum(v, item);

    if (!s) {
        json_add_null(to, verdict_item_name(item));
        return;
    }
    struct cJSON *o = json_add_object(to, verdict_item_name(item));
    json_add_text(o, "status", verdict_status_name(s->status));
    json_add_text(o, "title", s->title);
    json_add_text(o, "text", s->text);
    json_add_text(o, "advice", s->advice);
}

static void add_verdicts(const struct view *v, struct cJSON *doc)
{
    struct cJSON *verdicts = json_add_array(doc, "verdicts");

    for (size_t i = 0; i < v->verdict_count; i++) {
        const struct verdict *r = &v->verdicts[i];
        struct cJSON *o = json_add_object(verdicts, NULL);
        json_add_text(o, "item", verdict_item_name(r->item));
        json_add_text(o, "rule", r->rule);
        json_add_bool(o, "sum", r->sum);
        json_add_bool(o, "required", r->required);
        json_add_text(o, "status", verdict_status_name(r->status));
        json_add_text(o, "title", r->title);
        json_add_text(o, "text", r->text);
        json_add_text(o, "advice", r->advice);
        struct cJSON *facts = json_add_array(o, "facts");
        for (size_t k = 0; k < r->fact_count; k++)
            json_add_u64(facts, NULL, r->facts[k]);
    }
}

/* Neighbouring loads of one layer share an object: 82,000 objects would be ten times the bytes. */
static void add_loads(const struct view *v, struct cJSON *doc)
{
    struct cJSON *loads = json_add_array(doc, "loads"), *experts = NULL, *tokens = NULL;

    for (size_t i = 0; i < v->facts.load_count; i++) {
        const struct fact_load *l = &v->facts.loads[i];
        if (!i || l->layer != l[-1].layer) {
            struct cJSON *o = json_add_object(loads, NULL);
            json_add_u64(o, "layer", l->layer);
            experts = json_add_array(o, "experts");
            tokens = json_add_array(o, "tokens");
        }
        json_add_u64(experts, NULL, l->expert);
        json_add_u64(tokens, NULL, l->tokens);
    }
}

static void add_supports(const struct view *v, struct cJSON *doc)
{
    struct cJSON *supports = json_add_array(doc, "supports");

    for (size_t i = 0; i < v->support_count; i++) {
        const struct run_support *s = &v->supports[i];
        struct cJSON *o = json_add_object(supports, NULL);
        json_add_text(o, "backend", s->backend);
        json_add_text(o, "kind", s->kind);
        json_add_text(o, "entry", s->entry);
        json_add_text(o, "hardware", s->hardware);
        json_add_text(o, "status", s->status);
        json_add_text(o, "condition", s->condition);
        json_add_text(o, "source", s->source);
        json_add_text(o, "as_of", s->as_of);
    }
}

static void add_run(const struct view *v, struct cJSON *doc)
{
    json_add_text(doc, "format", FORMAT);
    json_add_u64(doc, "version", FORMAT_VERSION);
    json_add_text(doc, "assay", VERSION);
    if (v->run > 0)
        json_add_i64(doc, "run", v->run);
    else
        json_add_null(doc, "run");
    add_date(doc, "started", v->started);
    add_date(doc, "finished", v->finished);
    struct cJSON *subject = json_add_object(doc, "subject");
    json_add_text(subject, "name", v->subject);
    json_add_text(subject, "kind", v->subject_kind);
    struct cJSON *snapshot = json_add_object(doc, "snapshot");
    json_add_text(snapshot, "digest", v->digest);
    add_date(snapshot, "first_seen", v->snapshot_first_seen);
    add_files(v, snapshot);
    struct cJSON *policy = json_add_object(doc, "policy");
    json_add_text(policy, "name", v->policy_name);
    json_add_text(policy, "text", v->policy);
}

void document_write(const struct view *v, bool compact, struct buf *b)
{
    struct cJSON *doc = json_object();

    add_run(v, doc);
    struct cJSON *headlines = json_add_object(doc, "headlines");
    add_sum(v, headlines, VERDICT_DISTRIBUTION);
    add_sum(v, headlines, VERDICT_READINESS);
    struct cJSON *items = json_add_object(doc, "items");
    for (enum verdict_item i = VERDICT_FORMATS; i < VERDICT_DISTRIBUTION; i++)
        add_sum(v, items, i);
    add_verdicts(v, doc);
    struct cJSON *facts = json_add_array(doc, "facts"), *points = json_add_array(doc, "points");
    for (size_t i = 0; i < v->facts.count; i++)
        fact_json_add(facts, &v->facts.items[i]);
    for (size_t i = 0; i < v->facts.point_count; i++)
        fact_json_add_point(points, &v->facts.points[i]);
    add_loads(v, doc);
    add_supports(v, doc);
    json_print(doc, compact, b);
    json_free(doc);
}
