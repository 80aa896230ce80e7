#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "report/lookup.c"
#include "report/pivot.h"
#include "fixture_view.h"

static struct fixture f;

static void test_empty_view_has_nothing(void **state)
{
    struct lookup l;
    const struct fact *const *facts;
    const char **scopes;
    enum fact_key key = FACT_MODEL_LAYERS;

    (void)state;
    fixture_start(&f);
    lookup_init(&l, &f.v);
    assert_null(lookup_get(&l, key, NULL));
    assert_null(lookup_get(&l, key, ""));
    assert_int_equal(lookup_key(&l, key, &facts), 0);
    assert_int_equal(lookup_scopes(&l, &key, 1, &scopes), 0);
    free(scopes);
    lookup_release(&l);
    fixture_end(&f);
}

static void test_scopes_keep_the_order_of_first_appearance(void **state)
{
    static const enum fact_key keys[] = {FACT_FORMAT_BYTES, FACT_FORMAT_TENSORS};
    static const char *const want[] = {"z", "a", "m", "b"};
    struct lookup l;
    const char **scopes;

    (void)state;
    fixture_start(&f);
    put_int(&f, FACT_FORMAT_TENSORS, "z", 1);
    put_int(&f, FACT_FORMAT_BYTES, "a", 2);
    put_int(&f, FACT_MODEL_LAYERS, "other", 3);
    put_int(&f, FACT_FORMAT_BYTES, "m", 4);
    put_int(&f, FACT_FORMAT_BYTES, "z", 5);
    put_int(&f, FACT_FORMAT_TENSORS, "b", 6);
    lookup_init(&l, &f.v);
    assert_int_equal(lookup_scopes(&l, keys, 2, &scopes), 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(scopes[i], want[i]);
    free(scopes);
    assert_int_equal(lookup_get(&l, FACT_FORMAT_BYTES, "z")->i, 5);
    assert_int_equal(lookup_get(&l, FACT_FORMAT_BYTES, NULL)->i, 2);
    assert_null(lookup_get(&l, FACT_FORMAT_BYTES, "b"));
    lookup_release(&l);
    fixture_end(&f);
}

static void test_parts_of_a_scope(void **state)
{
    char part[6];

    (void)state;
    assert_string_equal(lookup_part("class|vllm|sm90", 0, part, sizeof(part)), "class");
    assert_string_equal(lookup_part("class|vllm|sm90", 1, part, sizeof(part)), "vllm");
    assert_string_equal(lookup_part("class|vllm|sm90", 2, part, sizeof(part)), "sm90");
    assert_string_equal(lookup_part("class|vllm|sm90", 3, part, sizeof(part)), "");
    assert_string_equal(lookup_part("longer than room", 0, part, sizeof(part)), "longe");
}

static void test_columns_of_one_backend_stand_together(void **state)
{
    static const char *const want[] = {"vllm|sm90", "vllm|sm100", "sglang|sm90", "v|sm1"};
    struct lookup l;
    struct pivot p;

    (void)state;
    fixture_start(&f);
    put_text(&f, FACT_FORMAT_SUPPORT, "x|vllm|sm90", "native");
    put_text(&f, FACT_FORMAT_SUPPORT, "x|sglang|sm90", "convert");
    put_text(&f, FACT_FORMAT_SUPPORT, "x|v|sm1", "expand");
    put_text(&f, FACT_FORMAT_SUPPORT, "y|vllm|sm100", "reject");
    put_text(&f, FACT_FORMAT_SUPPORT, "no bar", "reject");
    lookup_init(&l, &f.v);
    pivot_init(&p, &l, FACT_FORMAT_SUPPORT);
    assert_int_equal(p.count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(p.columns[i], want[i]);
    assert_string_equal(pivot_get(&l, FACT_FORMAT_SUPPORT, "y", "vllm|sm100")->text, "reject");
    assert_null(pivot_get(&l, FACT_FORMAT_SUPPORT, "y", "vllm|sm90"));
    pivot_release(&p);
    lookup_release(&l);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty_view_has_nothing),
        cmocka_unit_test(test_scopes_keep_the_order_of_first_appearance),
        cmocka_unit_test(test_parts_of_a_scope),
        cmocka_unit_test(test_columns_of_one_backend_stand_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
