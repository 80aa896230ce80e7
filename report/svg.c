#include "report/svg.h"
#include "core/mem.h"
#include "report/html.h"
#include "report/words.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The canvas of a plot, in units of its viewBox. At 350 px, the width of a telephone, text of 12
 * units is 10 px high. */
enum {
    WIDTH = 420,
    HEIGHT = 250,
    LEFT = 58,
    RIGHT = 318,
    TOP = 14,
    BOTTOM = 206,
    LABEL_X = 330,
    LABEL_ROW = 13
};

struct axes {
    double x_low, x_high; /* log2 of tokens, whole */
    double y_low, y_high; /* log10 of the value, whole */
};

static bool drawable(const struct svg_point *p)
{
    return isfinite(p->x) && isfinite(p->y) && p->x > 0 && p->y > 0;
}

/* The axes that hold all points; false if there are none. */
static bool fit(const struct svg_plot *p, struct axes *ret)
{
    struct axes a = {INFINITY, -INFINITY, INFINITY, -INFINITY};

    for (size_t i = 0; i < p->line_count; i++)
        for (size_t k = 0; k < p->lines[i].count; k++) {
            const struct svg_point *q = &p->lines[i].points[k];
            if (!drawable(q))
                continue;
            a.x_low = fmin(a.x_low, log2(q->x));
            a.x_high = fmax(a.x_high, log2(q->x));
            a.y_low = fmin(a.y_low, log10(q->y));
            a.y_high = fmax(a.y_high, log10(q->y));
        }
    if (!isfinite(a.x_low))
        return false;
    a.x_low = floor(a.x_low);
    a.x_high = fmax(ceil(a.x_high), a.x_low + 1);
    a.y_low = floor(a.y_low);
    a.y_high = fmax(ceil(a.y_high), a.y_low + 1);
    *ret = a;
    return true;
}

static double at_x(const struct axes *a, double x)
{
    return LEFT + (log2(x) - a->x_low) / (a->x_high - a->x_low) * (RIGHT - LEFT);
}

/* Values outside, as the ends of error bars may be, land on the edge. */
static double at_y(const struct axes *a, double y)
{
    double share = y > 0 ? (log10(y) - a->y_low) / (a->y_high - a->y_low) : 0;

    return BOTTOM - fmin(fmax(share, 0), 1) * (BOTTOM - TOP);
}

static void value(struct buf *b, bool time, double y)
{
    char number[WORDS_BYTES];

    html_text(b, time ? words_real(y, 0, "ns", number) : words_bytes(y, number));
}

static void y_tick(struct buf *b, const struct axes *a, bool time, double y)
{
    double at = at_y(a, y);

    html_lit(b, "<line class=\"grid\" x1=\"");
    html_int(b, LEFT);
    html_lit(b, "\" x2=\"");
    html_int(b, RIGHT);
    html_lit(b, "\" y1=\"");
    html_coord(b, at);
    html_lit(b, "\" y2=\"");
    html_coord(b, at);
    html_lit(b, "\"/><text x=\"");
    html_int(b, LEFT - 7);
    html_lit(b, "\" y=\"");
    html_coord(b, at + 4);
    html_lit(b, "\" text-anchor=\"end\">");
    value(b, time, y);
    html_lit(b, "</text>\n");
}

static void x_tick(struct buf *b, const struct axes *a, double tokens)
{
    char number[WORDS_BYTES];
    double at = at_x(a, tokens);

    html_lit(b, "<line class=\"axis\" x1=\"");
    html_coord(b, at);
    html_lit(b, "\" x2=\"");
    html_coord(b, at);
    html_lit(b, "\" y1=\"");
    html_int(b, BOTTOM);
    html_lit(b, "\" y2=\"");
    html_int(b, BOTTOM + 4);
    html_lit(b, "\"/><text x=\"");
    html_coord(b, at);
    html_lit(b, "\" y=\"");
    html_int(b, BOTTOM + 18);
    html_lit(b, "\" text-anchor=\"middle\">");
    html_text(b, words_tokens(tokens, number));
    html_lit(b, "</text>\n");
}

static void draw_axes(struct buf *b, const struct axes *a, bool time)
{
    double decades = a->y_high - a->y_low, octaves = a->x_high - a->x_low;
    double y_step = ceil(decades / 6), x_step = ceil(octaves / 5);

    for (double k = a->y_low; k <= a->y_high; k += y_step) {
        y_tick(b, a, time, pow(10, k));
        if (decades == 1 && k < a->y_high) {
            y_tick(b, a, time, 2 * pow(10, k));
            y_tick(b, a, time, 5 * pow(10, k));
        }
    }
    for (double k = a->x_low; k <= a->x_high; k += x_step)
        x_tick(b, a, exp2(k));
    html_lit(b, "<text x=\"188\" y=\"243\" text-anchor=\"middle\">context, tokens</text>\n");
}

/* The class that gives a line its colour; a literal for each, since only literals are markup. */
static void hue_class(struct buf *b, unsigned hue)
{
    switch (hue % SVG_HUES) {
    case 0: html_lit(b, "c0"); break;
    case 1: html_lit(b, "c1"); break;
    case 2: html_lit(b, "c2"); break;
    case 3: html_lit(b, "c3"); break;
    case 4: html_lit(b, "c4"); break;
    default: html_lit(b, "c5"); break;
    }
}

static void xy(struct buf *b, double x, double y)
{
    html_coord(b, x);
    html_lit(b, " ");
    html_coord(b, y);
}

/* A line breaks where a point is missing. */
static void draw_path(struct buf *b, const struct axes *a, const struct svg_line *l)
{
    bool pen = false;

    html_lit(b, "<path class=\"");
    hue_class(b, l->hue);
    if (l->dashed)
        html_lit(b, " p\" d=\"");
    else
        html_lit(b, " m\" d=\"");
    for (size_t i = 0; i < l->count; i++) {
        if (!drawable(&l->points[i])) {
            pen = false;
            continue;
        }
        if (pen)
            html_lit(b, "L");
        else
            html_lit(b, "M");
        xy(b, at_x(a, l->points[i].x), at_y(a, l->points[i].y));
        pen = true;
    }
    html_lit(b, "\"/>\n");
}

static void draw_bar(struct buf *b, const struct axes *a, const struct svg_line *l,
                     const struct svg_point *p)
{
    double x = at_x(a, p->x), low = at_y(a, p->y - p->error), high = at_y(a, p->y + p->error);

    html_lit(b, "<path class=\"");
    hue_class(b, l->hue);
    html_lit(b, " e\" d=\"M");
    xy(b, x, low);
    html_lit(b, "V");
    html_coord(b, high);
    html_lit(b, "M");
    xy(b, x - 3, low);
    html_lit(b, "h6M");
    xy(b, x - 3, high);
    html_lit(b, "h6\"/>");
}

/* Circle, square, triangle, diamond, then the last two turned. */
static void draw_marker(struct buf *b, const struct axes *a, const struct svg_plot *plot,
                        const struct svg_line *l, const struct svg_point *p)
{
    char number[WORDS_BYTES];

    if (p->error > 0)
        draw_bar(b, a, l, p);
    html_lit(b, "<path class=\"");
    hue_class(b, l->hue);
    html_lit(b, " k\" d=\"M");
    xy(b, at_x(a, p->x), at_y(a, p->y));
    switch (l->hue % SVG_HUES) {
    case 0: html_lit(b, "m-3.4 0a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0-6.8 0z"); break;
    case 1: html_lit(b, "m-3 -3h6v6h-6z"); break;
    case 2: html_lit(b, "m0-4l4 7h-8z"); break;
    case 3: html_lit(b, "m0-4.4l4.4 4.4l-4.4 4.4l-4.4-4.4z"); break;
    case 4: html_lit(b, "m0 4l4-7h-8z"); break;
    default: html_lit(b, "m-1.2-4h2.4v2.8h2.8v2.4h-2.8v2.8h-2.4v-2.8h-2.8v-2.4h2.8z"); break;
    }
    html_lit(b, "\"><title>");
    html_text(b, l->label);
    html_lit(b, ", ");
    html_text(b, words_real(p->x, 0, "tokens", number));
    html_lit(b, ": ");
    if (p->error > 0 && plot->time)
        html_text(b, words_real(p->y, p->error, "ns", number));
    else
        value(b, plot->time, p->y);
    html_lit(b, "</title></path>\n");
}

/* A label wants to stand beside its line's end; labels that would overlap move apart. */
struct label {
    const struct svg_line *line;
    double x, want, at, height;
};

static int by_want(const void *a, const void *b)
{
    const struct label *p = a, *q = b;

    if (p->want != q->want)
        return p->want < q->want ? -1 : 1;
    return p->line < q->line ? -1 : p->line > q->line;
}

static void move_apart(struct label *labels, size_t count)
{
    double floor_at = TOP;

    for (size_t i = 0; i < count; i++) {
        labels[i].at = fmax(labels[i].want - labels[i].height / 2, floor_at);
        floor_at = labels[i].at + labels[i].height;
    }
    double ceiling = BOTTOM + 8; /* push back up what ran out at the bottom */
    for (size_t i = count; i-- > 0;) {
        labels[i].at = fmin(labels[i].at, ceiling - labels[i].height);
        ceiling = labels[i].at;
    }
}

static void draw_label(struct buf *b, const struct label *l)
{
    double middle = l->at + l->height / 2;

    html_lit(b, "<path class=\"lead\" d=\"M");
    xy(b, l->x + 5, l->want);
    html_lit(b, "L");
    xy(b, LABEL_X - 3, middle);
    html_lit(b, "\"/><text class=\"lab ");
    hue_class(b, l->line->hue);
    html_lit(b, "\" x=\"");
    html_int(b, LABEL_X);
    html_lit(b, "\" y=\"");
    html_coord(b, l->at + 11);
    html_lit(b, "\">");
    html_text(b, l->line->label);
    if (l->line->detail[0]) {
        html_lit(b, "<tspan class=\"det\" x=\"");
        html_int(b, LABEL_X);
        html_lit(b, "\" dy=\"12\">");
        html_text(b, l->line->detail);
        html_lit(b, "</tspan>");
    }
    html_lit(b, "</text>\n");
}

static void draw_labels(struct buf *b, const struct axes *a, const struct svg_plot *p)
{
    struct label *labels = mem_alloc(p->line_count ? p->line_count : 1, sizeof(*labels));
    size_t count = 0;

    for (size_t i = 0; i < p->line_count; i++) {
        const struct svg_line *l = &p->lines[i];
        size_t k = l->count;
        while (k && !drawable(&l->points[k - 1]))
            k--;
        if (!l->label[0] || l->unlabelled || !k)
            continue;
        labels[count++] = (struct label){
            .line = l,
            .x = at_x(a, l->points[k - 1].x),
            .want = at_y(a, l->points[k - 1].y),
            .height = l->detail[0] ? 2 * LABEL_ROW + 2 : LABEL_ROW + 2,
        };
    }
    if (count)
        qsort(labels, count, sizeof(*labels), by_want);
    move_apart(labels, count);
    for (size_t i = 0; i < count; i++)
        draw_label(b, &labels[i]);
    free(labels);
}

static void open_svg(struct buf *b, double width, double height, const char *title,
                     const char *words)
{
    html_lit(b, "<svg viewBox=\"0 0 ");
    xy(b, width, height);
    html_lit(b, "\" role=\"img\" aria-label=\"");
    html_text(b, words);
    html_lit(b, "\"><title>");
    html_text(b, title);
    html_lit(b, "</title>\n");
}

bool svg_plot(const struct svg_plot *p, struct buf *b)
{
    struct axes a;

    if (!fit(p, &a))
        return false;
    open_svg(b, WIDTH, HEIGHT, p->title, p->words);
    draw_axes(b, &a, p->time);
    for (size_t i = 0; i < p->line_count; i++) /* predicted below, measured on top */
        if (p->lines[i].dashed)
            draw_path(b, &a, &p->lines[i]);
    for (size_t i = 0; i < p->line_count; i++) {
        const struct svg_line *l = &p->lines[i];
        if (l->dashed)
            continue;
        draw_path(b, &a, l);
        for (size_t k = 0; k < l->count; k++)
            if (drawable(&l->points[k]))
                draw_marker(b, &a, p, l, &l->points[k]);
    }
    draw_labels(b, &a, p);
    html_lit(b, "</svg>\n");
    return true;
}
