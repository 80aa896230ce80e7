#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "model/tensor.h"
#include <string.h>

static void elements_are_the_product(void **state)
{
    struct tensor t = {.dims = 3, .shape = {2, 3, 5, 99}};

    (void)state;
    assert_int_equal(tensor_elements(&t), 30);
    t.shape[1] = 0;
    assert_int_equal(tensor_elements(&t), 0);
    t.dims = 0;
    assert_int_equal(tensor_elements(&t), 1);
    t.dims = 2;
    t.shape[0] = t.shape[1] = 1ull << 31;
    assert_true(tensor_elements(&t) == 1ull << 62);
}

static void shapes_print_whole_or_end_in_dots(void **state)
{
    struct tensor t = {.dims = 2, .shape = {7168, 3584}};
    char text[200];

    (void)state;
    assert_string_equal(tensor_shape_text(&t, text, sizeof(text)), "[7168, 3584]");
    assert_string_equal(tensor_shape_text(&t, text, 13), "[7168, 3584]");
    assert_string_equal(tensor_shape_text(&t, text, 12), "[7168, 3...");
    assert_string_equal(tensor_shape_text(&t, text, 2), ".");
    assert_string_equal(tensor_shape_text(&t, text, 1), "");
    t.dims = 0;
    assert_string_equal(tensor_shape_text(&t, text, sizeof(text)), "[]");
    t.dims = TENSOR_DIMS_MAX;
    for (unsigned i = 0; i < t.dims; i++)
        t.shape[i] = UINT64_MAX;
    assert_int_equal(strlen(tensor_shape_text(&t, text, sizeof(text))), 8 * 20 + 7 * 2 + 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_are_the_product),
        cmocka_unit_test(shapes_print_whole_or_end_in_dots),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
