#include "audit/printout.h"
#include "core/json.h"
#include "core/text.h"
#include "report/fact_json.h"

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
            fact_json_add(facts, &l->items[i]);
    if (l->point_count) {
        struct cJSON *points = json_add_array(doc, "points");
        for (size_t i = 0; i < l->point_count; i++)
            fact_json_add_point(points, &l->points[i]);
    }
    return doc;
}
