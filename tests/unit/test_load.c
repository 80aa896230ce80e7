#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "report/load.c"
#include "report/heat.h"
#include "fixture_markup.h"
#include "fixture_view.h"

static struct fixture f;

static void put_load(uint32_t layer, uint32_t expert, uint64_t tokens)
{
    struct fact_load l = {layer, expert, tokens};

    assert_int_equal(f.sink.put_load(f.sink.ctx, &l, &f.e), 0);
}

static void test_no_loads_give_no_cells(void **state)
{
    struct load p;

    (void)state;
    fixture_start(&f);
    load_init(&p, &f.v, 32);
    assert_int_equal(p.rows, 0);
    assert_false(p.too_many);
    load_release(&p);
    fixture_end(&f);
}

static void test_shares_are_of_the_layers_mean(void **state)
{
    struct load p;

    (void)state;
    fixture_start(&f);
    put_load(7, 0, 30); /* layers out of order, sums 40 and 0, four experts in the model */
    put_load(7, 1, 10);
    put_load(3, 0, 0);
    put_load(3, 1, 0);
    put_load(7, 2, 0);
    load_init(&p, &f.v, 4);
    assert_int_equal(p.rows, 2);
    assert_int_equal(p.cols, 4);
    assert_int_equal(p.row_name[0], 3);
    assert_int_equal(p.row_name[1], 7);
    assert_true(p.share[0] == 0);
    assert_true(p.share[4] == 3); /* 30 of a mean of 10 */
    assert_true(p.share[5] == 1);
    assert_true(p.share[6] == 0);
    assert_true(isnan(p.share[7]));
    assert_true(p.gaps);
    assert_int_equal(p.hot[0].layer, 7);
    assert_int_equal(p.hot[0].expert, 0);
    assert_int_equal(p.hot[0].tokens, 30);
    load_release(&p);
    fixture_end(&f);
}

static void test_binned_cell_shows_the_most_loaded(void **state)
{
    struct load p;

    (void)state;
    fixture_start(&f);
    for (uint32_t l = 0; l < 300; l++)
        for (uint32_t x = 0; x < 896; x++)
            put_load(l, x, l == 170 && x == 651 ? 900 : 10);
    load_init(&p, &f.v, 896);
    assert_int_equal(p.per_col, 4);
    assert_int_equal(p.cols, 224);
    assert_int_equal(p.per_row, 3);
    assert_int_equal(p.rows, 100);
    double mean = (895 * 10.0 + 900) / 896;
    assert_true(fabs((double)p.share[170 / 3 * 224 + 651 / 4] - 900 / mean) < 1e-4);
    assert_true(fabs((double)p.share[0] - 1) < 1e-6);
    assert_int_equal(p.hot_count, LOAD_HOT);
    assert_int_equal(p.hot[0].expert, 651);
    load_release(&p);
    fixture_end(&f);
}

static void test_wild_expert_number_is_refused_not_allocated(void **state)
{
    struct load p;

    (void)state;
    fixture_start(&f);
    put_load(0, UINT32_MAX, 1);
    load_init(&p, &f.v, 0);
    assert_true(p.too_many);
    assert_int_equal(p.rows, 0);
    load_release(&p);
    fixture_end(&f);
}

static void test_legend_has_the_bounds_of_the_levels(void **state)
{
    static const struct {
        float share;
        unsigned level;
        const char *legend;
    } cases[] = {{0, 0, "h0\"></i>none"},        {0.001f, 1, "h1\"></i>to 0.5"},
                 {0.5f, 1, "h1\"></i>to 0.5"},   {0.79f, 2, "h2\"></i>0.5–0.8"},
                 {0.81f, 3, "h3\"></i>0.8–1"},   {1.01f, 4, "h4\"></i>1–1.25"},
                 {1.5f, 5, "h5\"></i>1.25–1.6"}, {2.5f, 6, "h6\"></i>1.6–2.5"},
                 {3.9f, 7, "h7\"></i>2.5–4"},    {4.01f, 8, "h8\"></i>over 4"},
                 {1e30f, 8, "h8\"></i>over 4"}};
    struct buf b;

    (void)state;
    buf_init(&b, 10000);
    heat_legend(&b);
    assert_string_equal(markup_read(b.data).fault, "");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(heat_level(cases[i].share), cases[i].level);
        assert_non_null(strstr(b.data, cases[i].legend));
    }
    buf_release(&b);
}

static void test_picture_has_every_cell_once(void **state)
{
    static const float share[] = {0, 0.9f, 0.9f, 5, NAN, 0.9f};
    static const uint32_t names[] = {1, 2};
    struct buf b;

    (void)state;
    buf_init(&b, 100000);
    heat_write(&(struct heat){.title = "<t>",
                              .words = "\"w\"",
                              .rows = 2,
                              .cols = 3,
                              .share = share,
                              .row_name = names,
                              .last = 2},
               &b);
    assert_string_equal(markup_read(b.data).fault, "");
    size_t runs = 0; /* 0 | 0.9 0.9 | 5 | 0.9: the NaN draws nothing */
    for (const char *c = b.data; (c = strstr(c, "H")); c++)
        runs++;
    assert_int_equal(runs, 2 * 4);
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_loads_give_no_cells),
        cmocka_unit_test(test_shares_are_of_the_layers_mean),
        cmocka_unit_test(test_binned_cell_shows_the_most_loaded),
        cmocka_unit_test(test_wild_expert_number_is_refused_not_allocated),
        cmocka_unit_test(test_legend_has_the_bounds_of_the_levels),
        cmocka_unit_test(test_picture_has_every_cell_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
