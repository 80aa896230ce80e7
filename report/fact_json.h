#ifndef REPORT_FACT_JSON_H
#define REPORT_FACT_JSON_H
#include "core/fact.h"

struct cJSON;

/* Facts and points as JSON, in the one form that every command's --json has. */

/* Appends {key, scope, state, value, unit, error, source, why} to an array: value is a number, a
 * text or null (not known), error only of reals that have one, why only of unknown facts. */
void fact_json_add(struct cJSON *facts, const struct fact *f);

/* Appends {series, scope, x, y, y_error, x_unit, y_unit, note} to an array: y is null where there
 * is none, and note says why. */
void fact_json_add_point(struct cJSON *points, const struct fact_point *p);

#endif
