#ifndef REPORT_CURVE_H
#define REPORT_CURVE_H
#include "db/view.h"
#include "report/svg.h"

/* The points of a view, grouped: a curve is one series of one scope, by rising x. */
struct curve {
    const char *series, *scope;
    const struct fact_point **points;
    struct svg_point *drawn; /* the same points for a plot */
    size_t count, cap;
};

struct curve_list {
    struct curve *items; /* in order of first appearance */
    size_t count, cap;
};

/* The view must outlive the list. */
void curve_list_init(struct curve_list *l, const struct view *v);
void curve_list_release(struct curve_list *l);

/* The curve, or NULL. */
const struct curve *curve_list_find(const struct curve_list *l, const char *series,
                                    const char *scope);

/* The curve as a line of a plot. c may be NULL: a line without points. */
struct svg_line curve_line(const struct curve *c, const char *label, const char *detail,
                           unsigned hue, bool dashed);

/* The last point that has a value, or NULL (also for c NULL). */
const struct fact_point *curve_last(const struct curve *c);

#endif
