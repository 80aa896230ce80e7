#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "core/fact.c"

static void keys_are_named_once(void **state)
{
    enum fact_key k;

    (void)state;
    for (int i = 0; i < FACT_KEYS; i++) {
        assert_true(fact_find(fact_name((enum fact_key)i), &k));
        assert_int_equal(k, i); /* a name that stands twice is found at its first place */
        assert_true(fact_meaning((enum fact_key)i)[0] != '\0');
        assert_non_null(strchr(fact_name((enum fact_key)i), '.'));
    }
    k = FACT_MODEL_LAYERS;
    assert_false(fact_find("model", &k));
    assert_int_equal(k, FACT_MODEL_LAYERS);
    assert_string_equal(fact_name(FACT_MODEL_LAYERS), "model.layers");
    assert_string_equal(fact_unit(FACT_MODEL_LAYERS), "layers");
    assert_int_equal(fact_type(FACT_MODEL_LAYERS), FACT_INT);
}

static void list_keeps_copies(void **state)
{
    struct fact_list l;
    char scope[] = "kda", text[] = "kimi", note[] = "no memory";
    struct err e = {0};

    (void)state;
    fact_list_init(&l);
    struct fact_sink s = fact_list_sink(&l);
    assert_int_equal(fact_put_text(&s, FACT_MODEL_FAMILY, scope, text, "config.json", &e), 0);
    struct fact_point p = {.series = text,
                           .scope = scope,
                           .x = 1,
                           .y = NAN,
                           .x_unit = "tokens",
                           .y_unit = "bytes",
                           .note = note};
    assert_int_equal(s.put_point(s.ctx, &p, &e), 0);
    struct fact_load load = {3, 4, 5};
    assert_int_equal(s.put_load(s.ctx, &load, &e), 0);
    memset(scope, 'x', 3), memset(text, 'x', 4), memset(note, 'x', 2);
    assert_int_equal(l.count, 1);
    assert_string_equal(l.items[0].scope, "kda");
    assert_string_equal(l.items[0].text, "kimi");
    assert_string_equal(l.items[0].source, "config.json");
    assert_string_equal(l.items[0].why, "");
    assert_string_equal(l.points[0].series, "kimi");
    assert_string_equal(l.points[0].note, "no memory");
    assert_true(isnan(l.points[0].y));
    assert_int_equal(l.loads[0].tokens, 5);
    fact_list_release(&l);
    assert_int_equal(l.count, 0);
    assert_null(l.items);
}

static void each_shorthand_fills_its_value(void **state)
{
    struct fact_list l;
    struct err e = {0};

    (void)state;
    fact_list_init(&l);
    struct fact_sink s = fact_list_sink(&l);
    fact_put_int(&s, FACT_MODEL_LAYERS, "gqa", INT64_MIN, "config.json", &e);
    fact_put_real(&s, FACT_FALLBACK_TIME, "attnres", 1.5, 0.25, "measured", &e);
    fact_put_absent(&s, FACT_MODEL_EXPERTS, NULL, "config.json", &e);
    fact_put_unknown(&s, FACT_MODEL_STATE, "", "no headers", &e);
    assert_int_equal(l.items[0].i, INT64_MIN);
    assert_true(l.items[1].x == 1.5 && l.items[1].error == 0.25);
    assert_int_equal(l.items[2].state, FACT_ABSENT);
    assert_string_equal(l.items[2].scope, "");
    assert_int_equal(l.items[3].state, FACT_UNKNOWN);
    assert_string_equal(l.items[3].why, "no headers");
    for (size_t i = 0; i < l.count; i++)
        assert_non_null(l.items[i].text);
    fact_list_release(&l);
}

static void find_takes_the_first_of_key_and_scope(void **state)
{
    struct fact_list l;
    struct err e = {0};

    (void)state;
    fact_list_init(&l);
    struct fact_sink s = fact_list_sink(&l);
    fact_put_int(&s, FACT_MODEL_LAYERS, "kda", 1, "", &e);
    fact_put_int(&s, FACT_MODEL_LAYERS, "mla", 2, "", &e);
    fact_put_int(&s, FACT_MODEL_HIDDEN, "mla", 3, "", &e);
    assert_int_equal(fact_list_find(&l, FACT_MODEL_LAYERS, NULL)->i, 1);
    assert_int_equal(fact_list_find(&l, FACT_MODEL_LAYERS, "mla")->i, 2);
    assert_null(fact_list_find(&l, FACT_MODEL_LAYERS, ""));
    assert_null(fact_list_find(&l, FACT_MODEL_EXPERTS, NULL));
    fact_list_release(&l);
}

static int refuse_all(void *ctx, const struct fact *f, struct err *e)
{
    (void)ctx, (void)f;
    return err_set(e, ERR_DB, "full");
}

static void a_refusal_of_the_sink_comes_back(void **state)
{
    struct fact_sink s = {.put = refuse_all};
    struct err e = {0};

    (void)state;
    assert_int_equal(fact_put_int(&s, FACT_MODEL_LAYERS, "", 1, "", &e), ERR_DB);
    assert_string_equal(e.msg, "full");
}

static void words_carry_unit_and_error(void **state)
{
    static const struct {
        struct fact f;
        const char *words;
    } cases[] = {
        {{.key = FACT_MODEL_CACHE_PER_TOKEN, .i = 27648}, "27,648 bytes/token"},
        {{.key = FACT_MODEL_LAYERS, .i = -1234}, "-1,234 layers"},
        {{.key = FACT_MODEL_LAYERS, .i = INT64_MIN}, "-9,223,372,036,854,775,808 layers"},
        {{.key = FACT_BALANCE_CV, .x = 1.31}, "1.31"},
        {{.key = FACT_STRESS_CACHE_SLOPE, .x = 27648}, "27,648 bytes/token"},
        {{.key = FACT_STRESS_CACHE_SLOPE, .x = -0.21, .error = 0.22}, "-0.21 ± 0.22 bytes/token"},
        {{.key = FACT_STRESS_CACHE_CONSTANT, .x = 449372160.2, .error = 565248},
         "449,372,160 ± 565,248 bytes"},
        {{.key = FACT_STRESS_CACHE_CONSTANT, .x = -2048}, "-2,048 bytes"},
        {{.key = FACT_FALLBACK_TIME, .x = 1.31274, .error = 0.0214}, "1.313 ± 0.021 x"},
        {{.key = FACT_FALLBACK_TIME, .x = 0, .error = 0.5}, "0 ± 0.5 x"},
        {{.key = FACT_FALLBACK_TIME, .x = 0.01, .error = 25}, "0.01 ± 25 x"},
        {{.key = FACT_STRESS_BANDWIDTH, .x = 12.34e9}, "12.3 GB/s"},
        {{.key = FACT_STRESS_BANDWIDTH, .x = 12.34e9, .error = 0.2e9}, "12.3 GB/s ± 200 MB/s"},
        {{.key = FACT_STRESS_BANDWIDTH, .x = 12}, "12 bytes/s"},
        {{.key = FACT_MODEL_FAMILY, .text = "kimi_k3"}, "kimi_k3"},
        {{.key = FACT_MODEL_FAMILY, .state = FACT_ABSENT}, "absent"},
        {{.key = FACT_MODEL_FAMILY, .state = FACT_UNKNOWN, .why = "no config"},
         "unknown: no config"},
        {{.key = FACT_MODEL_FAMILY, .state = FACT_UNKNOWN}, "unknown"},
        {{.key = FACT_FALLBACK_TIME, .x = (double)NAN}, "unknown"},
    };
    char words[200];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(fact_words(&cases[i].f, words, sizeof(words)), cases[i].words);
}

static void words_that_do_not_fit_end_in_dots(void **state)
{
    struct fact f = {.key = FACT_MODEL_FAMILY, .text = "abcdefgh\xe2\x9c\x93xyz"};
    char words[13];

    (void)state;
    assert_string_equal(fact_words(&f, words, 10), "abcdef...");
    /* 12 bytes of room would cut the check mark after its first byte */
    assert_string_equal(fact_words(&f, words, 13), "abcdefgh...");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_named_once),
        cmocka_unit_test(list_keeps_copies),
        cmocka_unit_test(each_shorthand_fills_its_value),
        cmocka_unit_test(find_takes_the_first_of_key_and_scope),
        cmocka_unit_test(a_refusal_of_the_sink_comes_back),
        cmocka_unit_test(words_carry_unit_and_error),
        cmocka_unit_test(words_that_do_not_fit_end_in_dots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
