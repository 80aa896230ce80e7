#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "audit/cmd.h"
#include "audit/options.h"
#include <string.h>

static const struct cmd stress = {.name = "stress",
                                  .options = OPTION_CONTEXT | OPTION_BUDGET | OPTION_MEMORY |
                                             OPTION_SEED | OPTION_FAIL_ON | OPTION_THREADS |
                                             OPTION_BASELINE,
                                  .args_min = 1,
                                  .args_max = 1,
                                  .args = "SUBJECT"};

static int parse(struct options *ret, struct err *e, int argc, const char *const *words)
{
    char copies[12][64];
    char *argv[13] = {0};
    bool help = false;

    for (int i = 0; i < argc; i++) {
        strcpy(copies[i], words[i]);
        argv[i] = copies[i];
    }
    return options_parse(&stress, argc, argv, ret, &help, e);
}

#define PARSE(o, e, ...)                                                       \
    parse(o, e, (int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)), \
          (const char *[]){__VA_ARGS__})

static void values_have_their_units(void **state)
{
    struct options o;
    struct err e = {0};

    (void)state;
    assert_int_equal(PARSE(&o, &e, "stress", "--context", "4K,128K,1M", "--budget=60s", "m",
                           "--memory", "4G", "--threads", "2"),
                     0);
    assert_int_equal(o.context_count, 3);
    assert_int_equal(o.contexts[0], 4096);
    assert_int_equal(o.contexts[2], 1048576);
    assert_int_equal(o.budget_ns, 60000000000);
    assert_int_equal(o.memory_bytes, 4294967296);
    assert_int_equal(o.threads, 2);
    assert_int_equal(o.seed, 1);
    assert_int_equal(o.arg_count, 1);
}

static void wrong_words_name_themselves(void **state)
{
    static const struct {
        const char *words[5];
        int count;
        const char *in_message;
    } cases[] = {
        {{"stress"}, 1, "SUBJECT"},
        {{"stress", "a", "b"}, 3, "'b'"},
        {{"stress", ""}, 2, "empty"},
        {{"stress", "m", "--budget"}, 3, "--budget"},
        {{"stress", "m", "--budget", "60"}, 4, "budget"},
        {{"stress", "m", "--json=yes"}, 3, "json"},
        {{"stress", "m", "--bogus"}, 3, "--bogus"},
        {{"stress", "m", "--layers"}, 3, "takes no --layers"},
        {{"stress", "m", "--seed=1", "--seed=1"}, 4, "twice"},
        {{"stress", "m", "--context=0"}, 3, "0 tokens"},
        {{"stress", "m", "--context=4K,"}, 3, "context"},
        {{"stress", "m", "--fail-on=never"}, 3, "never"},
        {{"stress", "m", "--threads=0"}, 3, "threads"},
        {{"stress", "m", "--seed=-1"}, 3, "seed"},
        /* 0 stands for "not given" in struct options */
        {{"stress", "m", "--budget=0"}, 3, "--budget: 0 is too little"},
        {{"stress", "m", "--budget", "0ms"}, 4, "--budget: 0 is too little"},
        {{"stress", "m", "--memory=0"}, 3, "--memory: 0 is too little"},
        {{"stress", "m", "--memory="}, 3, "--memory is empty"},
        {{"stress", "m", "--baseline="}, 3, "--baseline is empty"},
        {{"stress", "m", "--baseline=a\nb"}, 3, "control characters"},
        {{"stress", "m", "--baseline=\xff"}, 3, "UTF-8"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct options o;
        struct err e = {0};
        assert_int_equal(parse(&o, &e, cases[i].count, cases[i].words), ERR_USAGE);
        if (!strstr(e.msg, cases[i].in_message))
            fail_msg("case %zu: '%s' lacks '%s'", i, e.msg, cases[i].in_message);
    }
}

/* A longer name would have to be cut somewhere, and then name another baseline. */
static void names_of_baselines_are_whole(void **state)
{
    static char word[sizeof("--baseline=") + OPTIONS_BASELINE_BYTES_MAX + 1] = "--baseline=";
    char name[] = "stress", subject[] = "m";
    char *argv[] = {name, subject, word, NULL};
    struct options o;
    struct err e = {0};
    bool help = false;
    size_t at = strlen(word);

    (void)state;
    memset(word + at, 'x', OPTIONS_BASELINE_BYTES_MAX);
    assert_int_equal(options_parse(&stress, 3, argv, &o, &help, &e), 0);
    assert_int_equal(strlen(o.baseline), OPTIONS_BASELINE_BYTES_MAX);
    word[at + OPTIONS_BASELINE_BYTES_MAX] = 'x';
    assert_int_equal(options_parse(&stress, 3, argv, &o, &help, &e), ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_have_their_units),
        cmocka_unit_test(wrong_words_name_themselves),
        cmocka_unit_test(names_of_baselines_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
