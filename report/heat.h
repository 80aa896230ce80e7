#ifndef REPORT_HEAT_H
#define REPORT_HEAT_H
#include "core/buf.h"
#include <stddef.h>
#include <stdint.h>

/* A heat map as inline SVG: the load of a cell as a share of its row's mean, in HEAT_LEVELS steps
 * with fixed bounds, so that two reports can be compared by eye. Colours come from style.css. */
#define HEAT_LEVELS 9

struct heat {
    const char *title, *words; /* tooltip; what it shows, for those who do not see it */
    size_t rows, cols;         /* both > 0 */
    const float *share;        /* [rows * cols]; NaN draws no cell */
    const uint32_t *row_name;  /* [rows] the number of the layer */
    uint32_t last;             /* number of the last expert; the first is 0 */
};

/* Writes the drawing: one path a level, runs of equal cells joined, so that 92 rows of 224 cells
 * stay under half a megabyte. */
void heat_write(const struct heat *h, struct buf *b);

/* Level of a share: 0 none at all, then upwards. */
unsigned heat_level(float share);

/* The legend: each level with its bounds in numbers. */
void heat_legend(struct buf *b);

#endif
