#include "report/fact_json.h"
#include "core/json.h"

static void add_value(struct cJSON *o, const struct fact *f)
{
    if (f->state != FACT_KNOWN) {
        json_add_null(o, "value");
        return;
    }
    switch (fact_type(f->key)) {
    case FACT_INT: json_add_i64(o, "value", f->i); break;
    case FACT_REAL: json_add_real(o, "value", f->x); break;
    case FACT_TEXT: json_add_text(o, "value", f->text); break;
    }
}

void fact_json_add(struct cJSON *facts, const struct fact *f)
{
    struct cJSON *o = json_add_object(facts, NULL);

    json_add_text(o, "key", fact_name(f->key));
    json_add_text(o, "scope", f->scope);
    json_add_text(o, "state", fact_state_name(f->state));
    add_value(o, f);
    json_add_text(o, "unit", fact_unit(f->key));
    if (f->state == FACT_KNOWN && fact_type(f->key) == FACT_REAL && f->error > 0)
        json_add_real(o, "error", f->error);
    json_add_text(o, "source", f->source);
    if (f->state == FACT_UNKNOWN)
        json_add_text(o, "why", f->why);
}

void fact_json_add_point(struct cJSON *points, const struct fact_point *p)
{
    struct cJSON *o = json_add_object(points, NULL);

    json_add_text(o, "series", p->series);
    json_add_text(o, "scope", p->scope);
    json_add_real(o, "x", p->x);
    json_add_real(o, "y", p->y); /* NaN becomes null */
    json_add_real(o, "y_error", p->y_error);
    json_add_text(o, "x_unit", p->x_unit);
    json_add_text(o, "y_unit", p->y_unit);
    json_add_text(o, "note", p->note);
}
