#include "audit/printout.h"
#include "core/json.h"
#include "core/text.h"

static void add_value(struct cJSON *row, const struct fact *f)
{
    if (f->state != FACT_KNOWN) {
        json_add_null(row, "value");
        return;
    }
    switch (fact_type(f->key)) {
    case FACT_INT: json_add_i64(row, "value", f->i); break;
    case FACT_REAL: json_add_real(row, "value", f->x); break;
    case FACT_BOOL: json_add_bool(row, "value", f->i != 0); break;
    default: json_add_text(row, "value", f->text); break;
    }
}

static void add_fact(struct cJSON *rows, const struct fact *f)
{
    struct cJSON *row = json_add_object(rows, NULL);

    json_add_text(row, "key", fact_name(f->key));
    json_add_text(row, "scope", f->scope);
    json_add_text(row, "state", fact_state_name(f->state));
    add_value(row, f);
    if (fact_type(f->key) == FACT_REAL && f->state == FACT_KNOWN)
        json_add_real(row, "error", f->error);
    json_add_text(row, "unit", fact_unit(f->key));
    json_add_text(row, "source", f->source);
    if (f->state == FACT_UNKNOWN)
        json_add_text(row, "why", f->why);
}

static void add_point(struct cJSON *rows, const struct fact_point *p)
{
    struct cJSON *row = json_add_object(rows, NULL);

    json_add_text(row, "series", p->series);
    json_add_text(row, "scope", p->scope);
    json_add_real(row, "x", p->x);
    json_add_text(row, "x_unit", p->x_unit);
    json_add_real(row, "y", p->y);
    json_add_real(row, "y_error", p->y_error);
    json_add_text(row, "y_unit", p->y_unit);
    if (p->note && p->note[0])
        json_add_text(row, "note", p->note);
}

static bool starts_with_any(const char *name, const char *const *prefixes)
{
    for (; *prefixes; prefixes++)
        if (text_starts(name, *prefixes))
            return true;
    return false;
}

struct cJSON *printout_json(const struct fact_list *l, const char *const *prefixes)
{
    struct cJSON *doc = json_object();
    struct cJSON *facts = json_add_array(doc, "facts");

    for (size_t i = 0; i < l->count; i++)
        if (starts_with_any(fact_name(l->items[i].key), prefixes))
            add_fact(facts, &l->items[i]);
    if (l->point_count) {
        struct cJSON *points = json_add_array(doc, "points");
        for (size_t i = 0; i < l->point_count; i++)
            add_point(points, &l->points[i]);
    }
    return doc;
}
