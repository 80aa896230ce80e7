#include "report/heat.h"
#include "report/html.h"
#include <math.h>

enum { LEFT = 62, WIDTH = 720, RIGHT = 714, TOP = 4, ROWS_HEIGHT = 340, ROW_MAX = 16, ROW_MIN = 4 };

/* Upper bounds of the levels 1 to 7, as shares of the mean. Even routing of a few dozen tokens an
 * expert stays between 0.8 and 1.25 most of the time; the rest is what stands out. */
static const float bound[HEAT_LEVELS - 2] = {0.5f, 0.8f, 1.0f, 1.25f, 1.6f, 2.5f, 4.0f};

unsigned heat_level(float share)
{
    unsigned level = 1;

    if (share <= 0)
        return 0;
    while (level < HEAT_LEVELS - 1 && share > bound[level - 1])
        level++;
    return level;
}

static void level_class(struct buf *b, unsigned level)
{
    switch (level) {
    case 0: html_lit(b, "h0"); break;
    case 1: html_lit(b, "h1"); break;
    case 2: html_lit(b, "h2"); break;
    case 3: html_lit(b, "h3"); break;
    case 4: html_lit(b, "h4"); break;
    case 5: html_lit(b, "h5"); break;
    case 6: html_lit(b, "h6"); break;
    case 7: html_lit(b, "h7"); break;
    default: html_lit(b, "h8"); break;
    }
}

static unsigned cell(const struct heat *h, size_t row, size_t col)
{
    float share = h->share[row * h->cols + col];

    return isnan(share) ? HEAT_LEVELS : heat_level(share);
}

/* All cells of one level as one path. */
static void draw_level(const struct heat *h, unsigned level, double width, double height,
                       struct buf *b)
{
    html_lit(b, "<path class=\"");
    level_class(b, level);
    html_lit(b, "\" d=\"");
    for (size_t row = 0; row < h->rows; row++)
        for (size_t col = 0; col < h->cols;) {
            size_t end = col;
            while (end < h->cols && cell(h, row, end) == level)
                end++;
            if (end == col) {
                col++;
                continue;
            }
            html_lit(b, "M");
            html_coord(b, LEFT + (double)col * width);
            html_lit(b, " ");
            html_coord(b, TOP + (double)row * height);
            html_lit(b, "H");
            html_coord(b, LEFT + (double)end * width);
            html_lit(b, "v");
            html_coord(b, height);
            html_lit(b, "H");
            html_coord(b, LEFT + (double)col * width);
            html_lit(b, "z");
            col = end;
        }
    html_lit(b, "\"/>\n");
}

static void draw_text(struct buf *b, double x, double y, bool end)
{
    html_lit(b, "<text x=\"");
    html_coord(b, x);
    html_lit(b, "\" y=\"");
    html_coord(b, y);
    if (end)
        html_lit(b, "\" text-anchor=\"end\">");
    else
        html_lit(b, "\">");
}

void heat_write(const struct heat *h, struct buf *b)
{
    /* heights are whole tenths, which is what coordinates are written in: rows then meet exactly */
    double height = floor(10 * fmin(fmax((double)ROWS_HEIGHT / (double)h->rows, ROW_MIN), ROW_MAX));
    double width = (double)(RIGHT - LEFT) / (double)h->cols;
    height /= 10;
    double bottom = TOP + (double)h->rows * height;
    size_t every = (size_t)ceil(13 / height); /* rows between two names */

    html_lit(b, "<svg class=\"heat\" viewBox=\"0 0 ");
    html_int(b, WIDTH);
    html_lit(b, " ");
    html_coord(b, bottom + 22);
    html_lit(b, "\" role=\"img\" aria-label=\"");
    html_text(b, h->words);
    html_lit(b, "\"><title>");
    html_text(b, h->title);
    html_lit(b, "</title>\n");
    for (size_t row = 0; row < h->rows; row += every) {
        draw_text(b, LEFT - 8, TOP + ((double)row + 0.5) * height + 4, true);
        html_lit(b, "layer ");
        html_int(b, h->row_name[row]);
        html_lit(b, "</text>\n");
    }
    for (unsigned level = 0; level < HEAT_LEVELS; level++)
        draw_level(h, level, width, height, b);
    html_lit(b, "<rect class=\"frame\" x=\"");
    html_int(b, LEFT);
    html_lit(b, "\" y=\"");
    html_int(b, TOP);
    html_lit(b, "\" width=\"");
    html_int(b, RIGHT - LEFT);
    html_lit(b, "\" height=\"");
    html_coord(b, bottom - TOP);
    html_lit(b, "\"/>");
    draw_text(b, LEFT, bottom + 16, false);
    html_lit(b, "expert 0</text>");
    draw_text(b, RIGHT, bottom + 16, true);
    html_lit(b, "expert ");
    html_int(b, h->last);
    html_lit(b, "</text>\n</svg>\n");
}

/* The swatches repeat the bounds above in words; a unit test holds them together. */
void heat_legend(struct buf *b)
{
    html_lit(b, "<p class=\"legend\"><span>share of the layer's mean</span>"
                "<span><i class=\"h0\"></i>none</span><span><i class=\"h1\"></i>to 0.5</span>"
                "<span><i class=\"h2\"></i>0.5–0.8</span><span><i class=\"h3\"></i>0.8–1</span>"
                "<span><i class=\"h4\"></i>1–1.25</span><span><i class=\"h5\"></i>1.25–1.6</span>"
                "<span><i class=\"h6\"></i>1.6–2.5</span><span><i class=\"h7\"></i>2.5–4</span>"
                "<span><i class=\"h8\"></i>over 4</span></p>\n");
}
