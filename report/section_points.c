#include "report/html.h"
#include "report/section.h"
#include "report/words.h"
#include <math.h>

static void row(const struct fact_point *p, struct buf *b)
{
    char number[WORDS_BYTES];

    html_lit(b, "<tr><td>");
    html_code(b, p->series);
    html_lit(b, "</td><td>");
    html_text(b, p->scope);
    html_lit(b, "</td><td class=\"n\">");
    html_text(b, words_real(p->x, 0, p->x_unit, number));
    html_lit(b, "</td><td class=\"n\">");
    if (isnan(p->y))
        html_mark(b, VERDICT_UNKNOWN, "missing");
    else
        html_text(b, words_real(p->y, p->y_error, p->y_unit, number));
    html_lit(b, "</td><td>");
    html_prose(b, p->note);
    html_lit(b, "</td></tr>\n");
}

void section_points(const struct lookup *l, struct buf *b)
{
    const struct fact_list *f = &l->v->facts;

    if (!f->point_count)
        return;
    html_lit(b, "<details><summary>All ");
    html_count(b, f->point_count);
    html_lit(b, " points of the curves</summary>\n");
    html_table_open(b, "points of the curves");
    html_lit(b, "<thead><tr><th>series</th><th>of</th><th class=\"n\">context</th>"
                "<th class=\"n\">value</th><th>note</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < f->point_count; i++)
        row(&f->points[i], b);
    html_lit(b, "</tbody>");
    html_table_close(b);
    html_lit(b, "</details>\n");
}
