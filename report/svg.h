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
    const char *label;  /* what the line is; at its right end and in its tooltips; "" for none */
    const char *detail; /* second row of the label; "" for none */
    unsigned hue;
    bool unlabelled; /* keeps the label out of the drawing: another line of this hue has it */
    bool dashed;     /* without markers: predicted; otherwise measured */
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

#endif
