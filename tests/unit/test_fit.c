#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "stress/fit.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct fit_opts exact = {.tolerance = 0.001};
static const struct fit_opts loose = {.tolerance = 0.05};

static struct fit fit(const struct fit_point *p, size_t n, const struct fit_opts *o)
{
    struct fit f;

    fit_of(p, n, o, &f);
    return f;
}

static void assert_near(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want)))
        fail_msg("%.15g is not %.15g", got, want);
}

/* The line's figures from exact rationals, by the textbook sums and not by deviations from means:
 *   python3: from fractions import Fraction as F; w = 1 or 1/y^2; S = sum w, Sx = sum wx, ...
 *   D = S Sxx - Sx^2; b = (S Sxy - Sx Sy) / D; a = (Sxx Sy - Sx Sxy) / D;
 *   v = sum w (y - a - b x)^2 / 3; errors sqrt(v S / D), sqrt(v Sxx / D)
 * which is what numpy.polyfit(x, y, 1, cov=True) gives. */
static const struct fit_point noisy[] = {
    {4096, 5100}, {8192, 9050}, {16384, 17400}, {32768, 33700}, {65536, 66900}};

static void least_squares_matches_the_closed_form(void **state)
{
    struct fit f = fit(noisy, COUNT(noisy), &loose);

    (void)state;
    assert_int_equal(f.growth, FIT_LINEAR);
    assert_near(f.slope, 1.00653863722278, 1e-12);
    assert_near(f.slope_error, 0.00244490793231008, 1e-9);
    assert_near(f.intercept, 868.75, 1e-9);
    assert_near(f.intercept_error, 82.7017396006572, 1e-9);
    assert_near(f.residual, 0.0212681846932321, 1e-9);
}

static void weights_of_relative_noise_match_the_closed_form(void **state)
{
    const struct fit_opts o = {.tolerance = 0.05, .relative = true};
    struct fit f = fit(noisy, COUNT(noisy), &o);

    (void)state;
    assert_near(f.slope, 1.00018875388181, 1e-12);
    assert_near(f.slope_error, 0.0063802470703216, 1e-9);
    assert_near(f.intercept, 971.43815952699, 1e-9);
    assert_near(f.intercept_error, 56.0936304015787, 1e-9);
    assert_near(f.residual, 0.0127054620250618, 1e-9);
}

/* 24 layers of 1,152 bytes a token, as Kimi K3 has them, up to 1M tokens. */
static size_t latent_cache(struct fit_point *p)
{
    size_t n = 0;

    for (double x = 4096; x <= 1048576; x *= 2)
        p[n++] = (struct fit_point){x, 27648 * x};
    return n;
}

static void exact_line_has_no_residual(void **state)
{
    struct fit_point p[16];
    size_t n = latent_cache(p);
    struct fit f = fit(p, n, &exact);

    (void)state;
    assert_int_equal(f.growth, FIT_LINEAR);
    assert_near(f.slope, 27648, 1e-12);
    assert_true(f.intercept == 0 && f.residual == 0);
    assert_true(f.slope_error == 0 && f.intercept_error == 0);
}

static void state_of_constant_size_is_constant(void **state)
{
    static const struct fit_point p[] = {
        {4096, 449372160}, {8192, 449372160}, {1048576, 449372160}};
    struct fit f = fit(p, COUNT(p), &exact);

    (void)state;
    assert_int_equal(f.growth, FIT_CONSTANT);
    assert_true(f.level == 449372160);
    assert_true(f.slope == 0);
}

static void window_is_a_plateau_with_its_knee(void **state)
{
    static const struct fit_point p[] = {
        {1024, 4194304}, {2048, 8388608}, {4096, 16777216}, {8192, 16777216}, {16384, 16777216}};
    struct fit f = fit(p, COUNT(p), &exact);

    (void)state;
    assert_int_equal(f.growth, FIT_PLATEAU);
    assert_near(f.slope, 4096, 1e-12);
    assert_true(f.level == 16777216);
    assert_near(f.knee, 4096, 1e-9);
}

static void two_points_decide_nothing(void **state)
{
    struct fit f = fit(noisy, 2, &loose);
    struct fit_expectation want = {.growth = FIT_LINEAR, .slope = 1};
    struct fit_check c;

    (void)state;
    assert_int_equal(f.growth, FIT_UNKNOWN);
    assert_non_null(strstr(f.why, "three"));
    assert_true(isnan(f.slope));
    fit_compare(&f, &want, 4096, 0.01, &c);
    assert_int_equal(c.verdict, FIT_UNDECIDED);
}

static void points_that_are_no_measurements_decide_nothing(void **state)
{
    static const struct fit_point nan_point[] = {{1, 1}, {2, NAN}, {3, 3}};
    static const struct fit_point backwards[] = {{1, 1}, {3, 3}, {2, 2}};
    static const struct fit_point twice[] = {{1, 1}, {1, 2}, {2, 2}};
    static const struct fit_point zero[] = {{1, 0}, {2, 1}, {3, 2}};

    (void)state;
    assert_int_equal(fit(nan_point, 3, &loose).growth, FIT_UNKNOWN);
    assert_int_equal(fit(backwards, 3, &loose).growth, FIT_UNKNOWN);
    assert_int_equal(fit(twice, 3, &loose).growth, FIT_UNKNOWN);
    assert_int_equal(fit(zero, 3, &loose).growth, FIT_UNKNOWN);
}

static void square_law_and_falling_line_are_irregular(void **state)
{
    static const struct fit_point square[] = {{1, 1}, {2, 4}, {4, 16}, {8, 64}, {16, 256}};
    static const struct fit_point falling[] = {{1, 100}, {2, 80}, {3, 60}, {4, 40}};
    static const struct fit_point jump[] = {{1, 10}, {2, 10}, {4, 30}, {8, 30}};

    (void)state;
    assert_int_equal(fit(square, 5, &loose).growth, FIT_IRREGULAR);
    assert_int_equal(fit(falling, 4, &loose).growth, FIT_IRREGULAR);
    assert_int_equal(fit(jump, 4, &loose).growth, FIT_IRREGULAR);
}

static void right_expectation_is_met(void **state)
{
    struct fit_point p[16];
    size_t n = latent_cache(p);
    struct fit f = fit(p, n, &exact);
    struct fit_expectation want = {.growth = FIT_LINEAR, .slope = 27648};
    struct fit_check c;

    (void)state;
    fit_compare(&f, &want, 4096, 0.01, &c);
    assert_int_equal(c.verdict, FIT_AGREES);
    assert_true(fabs(c.slope_off) < 1e-9);
}

/* All 93 layers counted as full attention: the mistake of a calculator that does not know hybrids.
 */
static void wrong_slope_is_refused(void **state)
{
    struct fit_point p[16];
    size_t n = latent_cache(p);
    struct fit f = fit(p, n, &exact);
    struct fit_expectation want = {.growth = FIT_LINEAR, .slope = 93 * 1152};
    struct fit_check c;

    (void)state;
    fit_compare(&f, &want, 4096, 0.01, &c);
    assert_int_equal(c.verdict, FIT_DIFFERS);
    assert_near(c.slope_off, 24.0 / 93 - 1, 1e-9);
    assert_non_null(strstr(c.why, "slope"));
}

static void wrong_growth_is_refused(void **state)
{
    struct fit_point p[16];
    size_t n = latent_cache(p);
    struct fit f = fit(p, n, &exact);
    struct fit_expectation want = {.growth = FIT_CONSTANT, .intercept = 449372160};
    struct fit_check c;

    (void)state;
    fit_compare(&f, &want, 4096, 0.01, &c);
    assert_int_equal(c.verdict, FIT_DIFFERS);
    assert_non_null(strstr(c.why, "linear"));
    assert_non_null(strstr(c.why, "constant"));
}

static void wrong_constant_part_is_refused(void **state)
{
    static const struct fit_point p[] = {
        {4096, 449372160}, {8192, 449372160}, {1048576, 449372160}};
    struct fit f = fit(p, COUNT(p), &exact);
    struct fit_expectation want = {.growth = FIT_CONSTANT, .intercept = 69 * 6291456.0};
    struct fit_check c;

    (void)state;
    fit_compare(&f, &want, 4096, 0.01, &c);
    assert_int_equal(c.verdict, FIT_DIFFERS); /* the convolution state left out: 3.4 % */
    assert_near(c.intercept_off, 449372160 / (69 * 6291456.0) - 1, 1e-9);
    /* A line with a constant part that was not predicted, as large as the first point itself. */
    static const struct fit_point line[] = {{4096, 8192}, {8192, 12288}, {16384, 20480}};
    f = fit(line, COUNT(line), &exact);
    want = (struct fit_expectation){.growth = FIT_LINEAR, .slope = 1};
    fit_compare(&f, &want, 4096, 0.01, &c);
    assert_int_equal(c.verdict, FIT_DIFFERS);
    assert_near(c.intercept_off, 1, 1e-9);
}

static void wrong_window_is_refused(void **state)
{
    static const struct fit_point p[] = {
        {1024, 4194304}, {2048, 8388608}, {4096, 16777216}, {8192, 16777216}, {16384, 16777216}};
    struct fit f = fit(p, COUNT(p), &exact);
    struct fit_expectation want = {.growth = FIT_PLATEAU, .slope = 4096, .intercept = 8388608};
    struct fit_check c;

    (void)state;
    fit_compare(&f, &want, 1024, 0.01, &c);
    assert_int_equal(c.verdict, FIT_DIFFERS);
    assert_near(c.intercept_off, 1, 1e-9);
    want.intercept = 16777216;
    fit_compare(&f, &want, 1024, 0.01, &c);
    assert_int_equal(c.verdict, FIT_AGREES);
}

static void one_disturbed_time_is_left_out_and_named(void **state)
{
    static const struct fit_point p[] = {{4096, 12.2}, {8192, 20.7},  {16384, 38.9}, {32768, 72.7},
                                         {65536, 141}, {131072, 424}, {262144, 590}};
    const struct fit_opts o = {.tolerance = 0.25, .relative = true};
    struct fit_point twice[COUNT(p)];
    struct fit f;
    size_t out;

    (void)state;
    assert_int_equal(fit(p, COUNT(p), &o).growth, FIT_IRREGULAR);
    fit_of_times(p, COUNT(p), &o, &f, &out);
    assert_int_equal(f.growth, FIT_LINEAR);
    assert_int_equal(out, 5);
    assert_int_equal(f.points, COUNT(p) - 1);
    memcpy(twice, p, sizeof(p));
    twice[1].y = 60; /* a second one is no accident */
    fit_of_times(twice, COUNT(p), &o, &f, &out);
    assert_int_equal(f.growth, FIT_IRREGULAR);
    assert_int_equal(out, COUNT(p));
    fit_of_times(p + 2, COUNT(p) - 2, &o, &f, &out); /* too few to spare one */
    assert_int_equal(f.growth, FIT_IRREGULAR);
    assert_int_equal(out, COUNT(p) - 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(least_squares_matches_the_closed_form),
        cmocka_unit_test(weights_of_relative_noise_match_the_closed_form),
        cmocka_unit_test(exact_line_has_no_residual),
        cmocka_unit_test(state_of_constant_size_is_constant),
        cmocka_unit_test(window_is_a_plateau_with_its_knee),
        cmocka_unit_test(two_points_decide_nothing),
        cmocka_unit_test(points_that_are_no_measurements_decide_nothing),
        cmocka_unit_test(square_law_and_falling_line_are_irregular),
        cmocka_unit_test(right_expectation_is_met),
        cmocka_unit_test(wrong_slope_is_refused),
        cmocka_unit_test(wrong_growth_is_refused),
        cmocka_unit_test(wrong_constant_part_is_refused),
        cmocka_unit_test(wrong_window_is_refused),
        cmocka_unit_test(one_disturbed_time_is_left_out_and_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
