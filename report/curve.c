#include "report/curve.h"
#include "core/mem.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_x(const void *a, const void *b)
{
    const struct fact_point *p = *(const struct fact_point *const *)a;
    const struct fact_point *q = *(const struct fact_point *const *)b;

    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return p < q ? -1 : p > q;
}

static struct curve *find(const struct curve_list *l, const char *series, const char *scope)
{
    /* points of one curve mostly come together, so the search starts at the end */
    for (size_t i = l->count; i-- > 0;)
        if (!strcmp(l->items[i].series, series) && !strcmp(l->items[i].scope, scope))
            return &l->items[i];
    return NULL;
}

void curve_list_init(struct curve_list *l, const struct view *v)
{
    *l = (struct curve_list){0};
    for (size_t i = 0; i < v->facts.point_count; i++) {
        const struct fact_point *p = &v->facts.points[i];
        struct curve *c = find(l, p->series, p->scope);
        if (!c) {
            l->items = mem_grow(l->items, &l->cap, l->count + 1, sizeof(*l->items));
            c = &l->items[l->count++];
            *c = (struct curve){.series = p->series, .scope = p->scope};
        }
        c->points = mem_grow(c->points, &c->cap, c->count + 1, sizeof(*c->points));
        c->points[c->count++] = p;
    }
    for (size_t i = 0; i < l->count; i++) {
        struct curve *c = &l->items[i];
        qsort(c->points, c->count, sizeof(*c->points), by_x);
        c->drawn = mem_alloc(c->count, sizeof(*c->drawn));
        for (size_t k = 0; k < c->count; k++)
            c->drawn[k] =
                (struct svg_point){c->points[k]->x, c->points[k]->y, c->points[k]->y_error};
    }
}

void curve_list_release(struct curve_list *l)
{
    for (size_t i = 0; i < l->count; i++) {
        free(l->items[i].points);
        free(l->items[i].drawn);
    }
    free(l->items);
    *l = (struct curve_list){0};
}

const struct curve *curve_list_find(const struct curve_list *l, const char *series,
                                    const char *scope)
{
    return find(l, series, scope);
}

struct svg_line curve_line(const struct curve *c, const char *label, const char *detail,
                           unsigned hue, bool dashed)
{
    return (struct svg_line){
        .label = label,
        .detail = detail,
        .hue = hue,
        .dashed = dashed,
        .points = c ? c->drawn : NULL,
        .count = c ? c->count : 0,
    };
}

const struct fact_point *curve_last(const struct curve *c)
{
    for (size_t i = c ? c->count : 0; i-- > 0;)
        if (isfinite(c->points[i]->y))
            return c->points[i];
    return NULL;
}
