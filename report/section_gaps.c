#include "core/mem.h"
#include "report/curve.h"
#include "report/html.h"
#include "report/section.h"
#include "report/words.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Points of one curve in a row that have no value. Their reasons mostly differ by a number only
 * ("it would take 1.9 s"), so the first speaks for all, and says for how many. */
struct gap {
    const struct curve *curve;
    size_t first, count;
    bool told; /* with another gap */
};

static size_t find_gaps(const struct curve_list *c, struct gap **ret)
{
    struct gap *gaps = NULL;
    size_t count = 0, cap = 0;

    for (size_t i = 0; i < c->count; i++)
        for (size_t k = 0; k < c->items[i].count; k++) {
            struct gap *last = count ? &gaps[count - 1] : NULL;
            if (isfinite(c->items[i].points[k]->y))
                continue;
            if (last && last->curve == &c->items[i] && last->first + last->count == k) {
                last->count++;
                continue;
            }
            gaps = mem_grow(gaps, &cap, count + 1, sizeof(*gaps));
            gaps[count++] = (struct gap){.curve = &c->items[i], .first = k, .count = 1};
        }
    *ret = gaps;
    return count;
}

static const struct fact_point *point(const struct gap *g, size_t i)
{
    return g->curve->points[g->first + i];
}

/* True if two gaps are of one kind, over the same lengths, for the same reason. */
static bool same(const struct gap *a, const struct gap *b)
{
    return !strcmp(a->curve->scope, b->curve->scope) && a->count == b->count &&
           point(a, 0)->x == point(b, 0)->x &&
           point(a, a->count - 1)->x == point(b, b->count - 1)->x &&
           !strcmp(point(a, 0)->note, point(b, 0)->note);
}

static void lengths(const struct gap *g, struct buf *b)
{
    char number[WORDS_BYTES];

    html_text(b, words_tokens(point(g, 0)->x, number));
    if (g->count > 1) {
        html_lit(b, " to ");
        html_text(b, words_tokens(point(g, g->count - 1)->x, number));
    }
    html_lit(b, " tokens");
    if (g->count > 1) {
        html_lit(b, " (");
        html_count(b, g->count);
        html_lit(b, " points)");
    }
}

static void line(struct gap *gaps, size_t count, size_t at, struct buf *b)
{
    const struct gap *g = &gaps[at];
    char name[WORDS_BYTES];
    bool alike = true;

    html_lit(b, "<li>");
    html_text(b, words_kind(g->curve->scope, name));
    html_lit(b, ", ");
    html_code(b, g->curve->series);
    for (size_t i = at + 1; i < count; i++)
        if (!gaps[i].told && same(g, &gaps[i])) {
            html_lit(b, ", ");
            html_code(b, gaps[i].curve->series);
            gaps[i].told = true;
        }
    html_lit(b, ", ");
    lengths(g, b);
    html_lit(b, ": ");
    const char *note = point(g, 0)->note;
    html_prose(b, note[0] ? note : "no reason was recorded");
    for (size_t i = 1; i < g->count; i++)
        alike = alike && !strcmp(point(g, i)->note, note);
    if (!alike)
        html_lit(b, " <span class=\"dim\">(the first; the others stand below, in the table of all "
                    "points)</span>");
    html_lit(b, "</li>\n");
}

void section_gaps(const struct curve_list *c, struct buf *b)
{
    struct gap *gaps;
    size_t count = find_gaps(c, &gaps);

    if (count)
        html_lit(b, "<h3>Points that are missing</h3>\n<ul class=\"plain small\">\n");
    for (size_t i = 0; i < count; i++)
        if (!gaps[i].told)
            line(gaps, count, i, b);
    if (count)
        html_lit(b, "</ul>\n");
    free(gaps);
}
