#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "report/words.c"

static void test_reals_carry_unit_and_error(void **state)
{
    static const struct {
        double x, error;
        const char *unit, *out;
    } cases[] = {
        {27703, 40, "bytes/token", "27,703 ± 40 B/token"},
        {27648, 0, "bytes/token", "27,648 B/token"},
        {1.9, 0.04, "x", "1.900 ± 0.040×"},
        {2, 0, "x", "2×"},
        {3456, 4.1e-13, "bytes/token", "3,456 ± 4.1e-13 B/token"},
        {1.5e-8, 1.4e-8, "bytes", "1.500e-08 ± 1.4e-08 B"},
        {1.31, 0, "ratio", "1.310"},
        {0.06612, 0, "ratio", "0.06612"},
        {0.000066125, 0, "ratio", "0.00006612"},
        {3495253, 262144, "ns/token", "3.50 ± 0.26 ms/token"},
        {412, 0, "ns", "412 ns"},
        {2.5e9, 0, "ns", "2.500 s"},
        {11.2e9, 0.14e9, "bytes/s", "11.20 ± 0.14 GB/s"},
        {999, 0, "bytes/s", "999 B/s"},
        {0, 0, "bytes", "0 B"},
        {-1234567, 0, "bytes", "-1,234,567 B"},
        {1234.5678, 0, "tokens", "1,235 tokens"},
        {NAN, 0, "bytes", "unknown"},
        {1e-7, 0, "ratio", "1.000e-07"},
    };
    char out[WORDS_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(words_real(cases[i].x, cases[i].error, cases[i].unit, out),
                            cases[i].out);
}

static void test_extreme_reals_fit_their_array(void **state)
{
    static const double extreme[] = {1.7e308, -1.7e308, 5e-324, INFINITY, -INFINITY, 1e19, 1e20};
    char out[WORDS_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof(extreme) / sizeof(extreme[0]); i++)
        for (size_t k = 0; k < sizeof(extreme) / sizeof(extreme[0]); k++)
            assert_true(strlen(words_real(extreme[i], extreme[k], "bytes/token", out)) <
                        WORDS_BYTES - 1);
}

static void test_integers_have_separators_and_one_is_singular(void **state)
{
    static const struct {
        enum fact_key key;
        int64_t n;
        const char *out;
    } cases[] = {
        {FACT_MODEL_PARAMS_TOTAL, 2779999999999, "2,779,999,999,999 parameters"},
        {FACT_MODEL_LAYERS, 1, "1 layer"},
        {FACT_MODEL_LAYERS, 0, "0 layers"},
        {FACT_MODEL_CACHE_PER_TOKEN, 27648, "27,648 B/token"},
        {FACT_MODEL_STORED_BYTES, 999, "999 B"},
        {FACT_MODEL_STORED_BYTES, 1000, "1 kB (1,000 B)"},
        {FACT_MODEL_LAYERS, INT64_MIN, "-9,223,372,036,854,775,808 layers"},
    };
    char out[WORDS_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fact f = {.key = cases[i].key, .scope = "", .i = cases[i].n};
        assert_string_equal(words_fact(&f, out), cases[i].out);
    }
}

static void test_states_are_words(void **state)
{
    struct fact f = {.key = FACT_MODEL_LAYERS, .scope = "", .state = FACT_UNKNOWN};
    char out[WORDS_BYTES];

    (void)state;
    assert_string_equal(words_fact(&f, out), "unknown");
    f.state = FACT_ABSENT;
    assert_string_equal(words_fact(&f, out), "none");
    assert_string_equal(words_fact(NULL, out), "not recorded");
}

static void test_ratios_as_percent(void **state)
{
    char out[WORDS_BYTES];

    (void)state;
    assert_string_equal(words_percent(0.0021, 0, out), "0.21 %");
    assert_string_equal(words_percent(0.013, 0.0149, out), "1.3 ± 1.5 %");
    assert_string_equal(words_percent(12.3, 0, out), "1,230.00 %");
    assert_string_equal(words_percent(NAN, 0, out), "unknown");
}

static void test_kinds_are_spelled_as_people_do(void **state)
{
    char out[WORDS_BYTES];

    (void)state;
    assert_string_equal(words_kind("kda", out), "KDA");
    assert_string_equal(words_kind("gqa.window.2", out), "GQA window 2");
    assert_string_equal(words_kind("key_decoupled", out), "key_decoupled");
    assert_string_equal(words_kind("kdax", out), "kdax");
    assert_string_equal(words_backend("vllm", out), "vLLM");
    assert_string_equal(words_backend("trtllm", out), "TensorRT-LLM");
    assert_string_equal(words_backend("llama.cpp", out), "llama.cpp");
    assert_string_equal(words_backend("vllm-xpu", out), "vllm-xpu");
}

static void test_rounded_numbers_out_of_range_are_question_marks(void **state)
{
    char out[WORDS_BYTES];

    (void)state;
    assert_string_equal(words_tokens(131072, out), "128K");
    assert_string_equal(words_tokens(NAN, out), "?");
    assert_string_equal(words_tokens(1e30, out), "?");
    assert_string_equal(words_bytes(-1, out), "?");
    assert_string_equal(words_bytes(27600, out), "27.6 kB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reals_carry_unit_and_error),
        cmocka_unit_test(test_extreme_reals_fit_their_array),
        cmocka_unit_test(test_integers_have_separators_and_one_is_singular),
        cmocka_unit_test(test_states_are_words),
        cmocka_unit_test(test_ratios_as_percent),
        cmocka_unit_test(test_kinds_are_spelled_as_people_do),
        cmocka_unit_test(test_rounded_numbers_out_of_range_are_question_marks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
