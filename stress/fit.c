#include "stress/fit.h"
#include <math.h>
#include <stdio.h>

#define ROUNDING 1e-10

/* A line y = intercept + slope x by weighted least squares, from deviations to the weighted means,
 * which keeps the digits that the textbook sums lose at x = 1e6. */
struct line {
    double slope, slope_error, intercept, intercept_error;
};

static struct line line_of(const struct fit_point *p, size_t n, bool relative)
{
    double sw = 0, mx = 0, my = 0, sxx = 0, sxy = 0, chi = 0;
    struct line l;

    for (size_t i = 0; i < n; i++) {
        double w = relative ? 1 / (p[i].y * p[i].y) : 1;
        sw += w;
        mx += w * p[i].x;
        my += w * p[i].y;
    }
    mx /= sw;
    my /= sw;
    for (size_t i = 0; i < n; i++) {
        double w = relative ? 1 / (p[i].y * p[i].y) : 1;
        sxx += w * (p[i].x - mx) * (p[i].x - mx);
        sxy += w * (p[i].x - mx) * (p[i].y - my);
    }
    l.slope = sxy / sxx;
    l.intercept = my - l.slope * mx;
    for (size_t i = 0; i < n; i++) {
        double w = relative ? 1 / (p[i].y * p[i].y) : 1;
        double r = p[i].y - l.intercept - l.slope * p[i].x;
        chi += w * r * r;
    }
    double variance = n > 2 ? chi / (double)(n - 2) : NAN;
    l.slope_error = sqrt(variance / sxx);
    l.intercept_error = sqrt(variance * (1 / sw + mx * mx / sxx));
    return l;
}

static double line_residual(const struct fit_point *p, size_t n, const struct line *l)
{
    double worst = 0;

    for (size_t i = 0; i < n; i++)
        worst = fmax(worst, fabs(p[i].y - l->intercept - l->slope * p[i].x) / p[i].y);
    return worst;
}

static double mean_of(const struct fit_point *p, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += p[i].y;
    return sum / (double)n;
}

static double level_residual(const struct fit_point *p, size_t n, double level)
{
    double worst = 0;

    for (size_t i = 0; i < n; i++)
        worst = fmax(worst, fabs(p[i].y - level) / p[i].y);
    return worst;
}

static const char *unusable(const struct fit_point *p, size_t n)
{
    if (n < FIT_POINTS_MIN)
        return "fewer than three points: a line through two fits anything";
    if (n > FIT_POINTS_MAX)
        return "more points than a fit takes";
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(p[i].x) || !isfinite(p[i].y))
            return "a point is not a finite number";
        if (p[i].y <= 0)
            return "a point is zero or negative, which no size and no time is";
        if (i && p[i].x <= p[i - 1].x)
            return "the lengths do not rise from point to point";
    }
    return NULL;
}

/* Points on a line to ten digits are on the line: what is left is the rounding of doubles, and is
 * not told as an uncertainty or as a constant part. */
static void set_line(struct fit *f, const struct line *l, double residual, double first_y)
{
    bool exact = residual < ROUNDING;

    f->slope = l->slope;
    f->slope_error = exact && isfinite(l->slope_error) ? 0 : l->slope_error;
    f->intercept = exact && fabs(l->intercept) < ROUNDING * first_y ? 0 : l->intercept;
    f->intercept_error = exact && isfinite(l->intercept_error) ? 0 : l->intercept_error;
    f->residual = exact ? 0 : residual;
}

/* A plateau with its first flat point at `first`: a line before it that rises and meets the level
 * between the last rising point and the first flat one (within the tolerance in x). */
static bool plateau_at(const struct fit_point *p, size_t n, size_t first, const struct fit_opts *o,
                       struct fit *f)
{
    double level = mean_of(p + first, n - first);
    double flat = level_residual(p + first, n - first, level);
    struct line l = line_of(p, first, o->relative);
    double rising = line_residual(p, first, &l);

    if (flat > o->tolerance || rising > o->tolerance || l.slope <= 0)
        return false;
    double knee = (level - l.intercept) / l.slope;
    if (knee < p[first - 1].x * (1 - o->tolerance) || knee > p[first].x * (1 + o->tolerance))
        return false;
    f->growth = FIT_PLATEAU;
    set_line(f, &l, fmax(flat, rising), p[0].y);
    f->level = level;
    f->knee = knee;
    return true;
}

void fit_of(const struct fit_point *p, size_t n, const struct fit_opts *o, struct fit *ret)
{
    struct fit f = {.points = n,
                    .slope = NAN,
                    .slope_error = NAN,
                    .intercept = NAN,
                    .intercept_error = NAN,
                    .residual = NAN,
                    .level = NAN,
                    .knee = NAN,
                    .why = ""};
    const char *why = unusable(p, n);

    if (why) {
        f.why = why;
        *ret = f;
        return;
    }
    struct line l = line_of(p, n, o->relative);
    set_line(&f, &l, line_residual(p, n, &l), p[0].y);
    double level = mean_of(p, n);
    double flat = level_residual(p, n, level);
    if (flat <= o->tolerance) {
        f.growth = FIT_CONSTANT;
        f.level = level;
        f.residual = flat;
    } else if (f.residual <= o->tolerance && f.slope > 0) {
        f.growth = FIT_LINEAR;
    } else {
        for (size_t first = 2; first + 2 <= n; first++) {
            if (plateau_at(p, n, first, o, &f))
                break;
        }
        if (f.growth != FIT_PLATEAU) {
            f.growth = FIT_IRREGULAR;
            f.why = "neither a constant, nor a rising line, nor a line that becomes flat";
        }
    }
    *ret = f;
}

void fit_of_times(const struct fit_point *p, size_t n, const struct fit_opts *o, struct fit *ret,
                  size_t *ret_outlier)
{
    struct fit_point rest[FIT_POINTS_MAX];

    *ret_outlier = n;
    fit_of(p, n, o, ret);
    if (ret->growth != FIT_IRREGULAR || n < FIT_OUTLIER_POINTS_MIN)
        return;
    for (size_t out = 0; out < n; out++) {
        struct fit f;
        for (size_t i = 0, k = 0; i < n; i++) {
            if (i != out)
                rest[k++] = p[i];
        }
        fit_of(rest, n - 1, o, &f);
        if (f.growth == FIT_IRREGULAR || (*ret_outlier < n && f.residual >= ret->residual))
            continue;
        *ret = f;
        *ret_outlier = out;
    }
}

const char *fit_growth_name(enum fit_growth g)
{
    switch (g) {
    case FIT_UNKNOWN: return "unknown";
    case FIT_CONSTANT: return "constant";
    case FIT_LINEAR: return "linear";
    case FIT_PLATEAU: return "plateau";
    case FIT_IRREGULAR: return "irregular";
    }
    return "?";
}

static void check_slope(double found, double want, double tolerance, struct fit_check *c)
{
    c->slope_off = found / want - 1;
    if (fabs(c->slope_off) <= tolerance)
        return;
    c->verdict = FIT_DIFFERS;
    snprintf(c->why, sizeof(c->why), "the slope is %.6g, and %.6g was expected (%+.2f %%)", found,
             want, 100 * c->slope_off);
}

static void check_level(const char *what, double found, double want, double unit, double tolerance,
                        struct fit_check *c)
{
    c->intercept_off = (found - want) / unit;
    if (fabs(c->intercept_off) <= tolerance || c->verdict != FIT_AGREES)
        return;
    c->verdict = FIT_DIFFERS;
    snprintf(c->why, sizeof(c->why), "the %s is %.6g, and %.6g was expected", what, found, want);
}

void fit_compare(const struct fit *f, const struct fit_expectation *want, double first_x,
                 double tolerance, struct fit_check *ret)
{
    struct fit_check c = {.verdict = FIT_AGREES, .slope_off = NAN, .intercept_off = NAN};

    if (f->growth == FIT_UNKNOWN) {
        c.verdict = FIT_UNDECIDED;
        snprintf(c.why, sizeof(c.why), "%s", f->why);
    } else if (f->growth != want->growth) {
        c.verdict = FIT_DIFFERS;
        snprintf(c.why, sizeof(c.why), "the growth is %s, and %s was expected",
                 fit_growth_name(f->growth), fit_growth_name(want->growth));
    } else if (f->growth == FIT_CONSTANT) {
        check_level("level", f->level, want->intercept, want->intercept, tolerance, &c);
    } else if (f->growth == FIT_PLATEAU) {
        check_slope(f->slope, want->slope, tolerance, &c);
        check_level("level of the plateau", f->level, want->intercept, want->intercept, tolerance,
                    &c);
    } else if (f->growth == FIT_LINEAR) {
        check_slope(f->slope, want->slope, tolerance, &c);
        check_level("constant part", f->intercept, want->intercept,
                    want->intercept + want->slope * first_x, tolerance, &c);
    }
    *ret = c;
}
