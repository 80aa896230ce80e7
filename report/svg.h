#ifndef REPORT_SVG_H
#define REPORT_SVG_H
#include "core/buf.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Drawings as inline SVG. Colours come from classes of style.css, so that dark mode and print have
 * their own; each line also has a marker of its own and a label at its end. */

#define SVG_HUES 6 /* colours and markers; later lines use them again */

struct svg_point {
    double x, y;  /* drawn if both are finite and > 0: the axes are logarithmic */
    double error; /* half width of the bar; 0 draws none */
};

struct svg_line {
    const char *label;  /* at the right end, first row; "" for none */
    const char *detail; /* second row of the label; "" for none */
    unsigned hue;
    bool dashed; /* without markers: predicted; otherwise measured */
    const struct svg_point *points;
    size_t count;
};

struct svg_plot {
    const char *title; /* tooltip and name of the drawing */
    const char *words; /* what the drawing shows, for those who do not see it */
    bool time;         /* y is in ns; otherwise in bytes */
    const struct svg_line *lines;
    size_t line_count;
};

/* Log-log axes: x in tokens with ticks at powers of two, y at decades (1, 2, 5 if there is only one
 * decade). Writes nothing and returns false if no point can be drawn. */
bool svg_plot(const struct svg_plot *p, struct buf *b);

/* A heat map: load of a cell as a share of its row's mean, in SVG_LEVELS steps with fixed bounds,
 * so that two reports can be compared by eye. */
#define SVG_LEVELS 9

struct svg_heat {
    const char *title, *words;
    size_t rows, cols;        /* both > 0 */
    const float *share;       /* [rows * cols]; NaN draws no cell */
    const uint32_t *row_name; /* [rows] the number of the layer */
    uint32_t first, last;     /* numbers at the left and right end of the columns */
};
void svg_heat(const struct svg_heat *h, struct buf *b);

/* Level of a share: 0 none at all, then upwards. */
unsigned svg_heat_level(float share);

/* The legend of the heat map as HTML. */
void svg_heat_legend(struct buf *b);

#endif
