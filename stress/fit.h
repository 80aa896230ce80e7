#ifndef STRESS_FIT_H
#define STRESS_FIT_H
#include <stdbool.h>
#include <stddef.h>

/* How a quantity grows with the context, found from measured points and held against what the
 * architecture predicts. */

#define FIT_POINTS_MIN 3 /* a line through two points fits anything */
#define FIT_POINTS_MAX 64

enum fit_growth {
    FIT_UNKNOWN,  /* fewer than FIT_POINTS_MIN points, or points that are no numbers */
    FIT_CONSTANT, /* within the tolerance of the mean everywhere */
    FIT_LINEAR,   /* within the tolerance of a line that rises */
    FIT_PLATEAU,  /* rises in a line, then stays: a sliding window */
    FIT_IRREGULAR /* none of these */
};

struct fit_point {
    double x, y;
};

struct fit_opts {
    double tolerance; /* largest relative residual that a shape may leave, e.g. 0.01 */
    bool relative;    /* weigh each point by 1/y^2: for times, whose noise grows with them */
};

struct fit {
    enum fit_growth growth;
    size_t points;
    /* The line: over all points, or over the rising ones of a plateau. Standard errors are those of
     * (weighted) least squares with the residual variance over points - 2; NaN for two points;
     * 0, as the residual is, for points that lie on the line to ten digits. */
    double slope, slope_error;
    double intercept, intercept_error;
    double residual; /* largest |y - shape| / |y| of the shape found; of the line if irregular */
    double level;    /* constant: the mean; plateau: the mean of the flat part; else NaN */
    double knee;     /* plateau: where the line meets the level; else NaN */
    const char *why; /* of FIT_UNKNOWN and FIT_IRREGULAR: a sentence; else "" */
};

/* p[0..n) with x rising strictly. Tries constant, line, plateau (at least two points in each part),
 * in that order; the first whose residual is within the tolerance wins. */
void fit_of(const struct fit_point *p, size_t n, const struct fit_opts *o, struct fit *ret);

#define FIT_OUTLIER_POINTS_MIN 6

/* For times, which neighbours disturb: as fit_of, and if that finds no shape in at least
 * FIT_OUTLIER_POINTS_MIN points, once more without one of them, the one without which the shape
 * leaves the smallest residual. *ret_outlier is its index, or n if none was left out: say so. */
void fit_of_times(const struct fit_point *p, size_t n, const struct fit_opts *o, struct fit *ret,
                  size_t *ret_outlier);

/* What the architecture says. */
struct fit_expectation {
    enum fit_growth growth; /* constant, linear or plateau */
    double slope;           /* linear, plateau: per token of all layers */
    double intercept;       /* linear: the constant part; constant: the level; plateau: the level */
};

enum fit_verdict { FIT_AGREES, FIT_DIFFERS, FIT_UNDECIDED };

#define FIT_WHY_BYTES 200

struct fit_check {
    enum fit_verdict verdict;
    double slope_off;        /* found / expected - 1; NaN if nothing is expected */
    double intercept_off;    /* (found - expected) over the expected value at the first point for a
                                line    (an intercept may be 0), over the level otherwise */
    char why[FIT_WHY_BYTES]; /* of anything but FIT_AGREES: a sentence with both sides */
};

/* Agrees if the growth is the same and slope and level are within the tolerance. first_x is the x
 * of the first point. Undecided if the fit is FIT_UNKNOWN. */
void fit_compare(const struct fit *f, const struct fit_expectation *want, double first_x,
                 double tolerance, struct fit_check *ret);

const char *fit_growth_name(enum fit_growth g); /* "linear", "constant", "plateau", ... */

#endif
