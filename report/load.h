#ifndef REPORT_LOAD_H
#define REPORT_LOAD_H
#include "db/view.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The loads of a view as the cells of a picture: each expert's tokens as a share of its layer's
 * mean, and neighbours together where there are more than fit. */

#define LOAD_COLS_MAX 224      /* cells across; with 896 experts 4 share one */
#define LOAD_ROWS_MAX 128      /* cells down */
#define LOAD_CELLS_MAX 8000000 /* layers * experts that are worked on: 64 MB */
#define LOAD_HOT 5

struct load_hot {
    uint32_t layer, expert;
    uint64_t tokens;
    double share; /* of the layer's mean */
};

struct load {
    size_t rows, cols;  /* cells; 0 if there are no loads or they are over the limit */
    float *share;       /* [rows * cols]: the largest share among those in the cell; NaN: none */
    uint32_t *row_name; /* [rows] number of the first layer in it */
    uint32_t per_row, per_col;     /* layers and experts in a cell */
    uint32_t layers, experts;      /* that there are */
    bool gaps;                     /* some expert of some layer has no record */
    bool too_many;                 /* over LOAD_CELLS_MAX: nothing is drawn */
    struct load_hot hot[LOAD_HOT]; /* the most loaded by share, falling */
    size_t hot_count;
};

/* experts is what the model says, 0 if it does not; a larger number in the loads wins. */
void load_init(struct load *ret, const struct view *v, uint32_t experts);
void load_release(struct load *p);

#endif
