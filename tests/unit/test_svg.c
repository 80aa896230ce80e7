#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "report/svg.c"
#include "fixture_markup.h"

static bool draw(const struct svg_line *lines, size_t count, struct buf *b)
{
    buf_init(b, 1 << 20);
    return svg_plot(
        &(struct svg_plot){
            .title = "t <1>", .words = "w \"2\"", .lines = lines, .line_count = count},
        b);
}

static void test_nothing_to_draw_writes_nothing(void **state)
{
    static const struct svg_point points[] = {{4096, NAN, 0}, {NAN, 1, 0},   {0, 1, 0},
                                              {4096, 0, 0},   {4096, -1, 0}, {INFINITY, 1, 0}};
    struct svg_line line = {.label = "x", .detail = "", .points = points, .count = 6};
    struct buf b;

    (void)state;
    assert_false(draw(&line, 1, &b));
    assert_int_equal(b.len, 0);
    buf_release(&b);
    assert_false(draw(NULL, 0, &b));
    buf_release(&b);
}

static void test_single_point_has_axes(void **state)
{
    static const struct svg_point point = {5000, 5e6, 1e9};
    struct svg_line line = {.label = "x", .detail = "1 layer", .points = &point, .count = 1};
    struct buf b;

    (void)state;
    assert_true(draw(&line, 1, &b));
    assert_string_equal(markup_read(b.data).fault, "");
    assert_non_null(strstr(b.data, ">4K<"));
    assert_non_null(strstr(b.data, ">8K<"));
    assert_non_null(strstr(b.data, ">1 MB<"));
    assert_non_null(strstr(b.data, ">2 MB<")); /* one decade only: 1, 2, 5 */
    assert_non_null(strstr(b.data, "aria-label=\"w &quot;2&quot;\""));
    assert_null(strstr(b.data, "nan"));
    assert_null(strstr(b.data, "inf"));
    buf_release(&b);
}

static void test_line_breaks_where_a_point_is_missing(void **state)
{
    static const struct svg_point points[] = {
        {4096, 10, 0}, {8192, 20, 0}, {16384, NAN, 0}, {32768, 80, 0}, {65536, 100, 0}};
    struct svg_line line = {
        .label = "x", .detail = "", .dashed = true, .points = points, .count = 5};
    struct buf b;

    (void)state;
    assert_true(draw(&line, 1, &b));
    const char *path = strstr(b.data, " p\" d=\"");
    assert_non_null(path);
    size_t moves = 0, draws = 0;
    for (const char *c = path + 7; *c != '"'; c++) {
        moves += *c == 'M';
        draws += *c == 'L';
    }
    assert_int_equal(moves, 2);
    assert_int_equal(draws, 2);
    buf_release(&b);
}

static void test_axes_hold_every_point(void **state)
{
    struct svg_point points[2] = {{4096, 1e-3, 0}, {1048576, 1e14, 0}};
    struct svg_line line = {.label = "", .detail = "", .points = points, .count = 2};
    struct svg_plot p = {.lines = &line, .line_count = 1};
    struct axes a;

    (void)state;
    assert_true(fit(&p, &a));
    assert_true(at_x(&a, 4096) == LEFT);
    assert_true(at_x(&a, 1048576) == RIGHT);
    assert_true(at_y(&a, 1e14) == TOP);
    assert_true(at_y(&a, 1e-3) == BOTTOM);
    assert_true(at_y(&a, -5) == BOTTOM);
    assert_true(at_y(&a, 1e300) == TOP);
}

static void test_labels_do_not_overlap(void **state)
{
    struct label labels[5];

    (void)state;
    for (size_t i = 0; i < 5; i++)
        labels[i] = (struct label){.want = BOTTOM - 4, .height = 28};
    move_apart(labels, 5);
    for (size_t i = 1; i < 5; i++)
        assert_true(labels[i].at >= labels[i - 1].at + labels[i - 1].height);
    assert_true(labels[0].at >= TOP);
    assert_true(labels[4].at + 28 <= BOTTOM + 8);
}

static void test_each_hue_has_a_marker_of_its_own(void **state)
{
    static const struct svg_point point = {4096, 10, 0};
    char shapes[SVG_HUES][80];

    (void)state;
    for (unsigned i = 0; i < SVG_HUES; i++) {
        struct svg_line line = {.label = "x", .detail = "", .hue = i, .points = &point, .count = 1};
        struct buf b;
        assert_true(draw(&line, 1, &b));
        const char *marker = strstr(b.data, " k\" d=\"");
        assert_non_null(marker);
        marker += 7;
        (void)snprintf(shapes[i], sizeof(shapes[i]), "%.*s", (int)strcspn(marker, "\""), marker);
        for (unsigned k = 0; k < i; k++)
            assert_string_not_equal(shapes[i], shapes[k]);
        buf_release(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_to_draw_writes_nothing),
        cmocka_unit_test(test_single_point_has_axes),
        cmocka_unit_test(test_line_breaks_where_a_point_is_missing),
        cmocka_unit_test(test_axes_hold_every_point),
        cmocka_unit_test(test_labels_do_not_overlap),
        cmocka_unit_test(test_each_hue_has_a_marker_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
