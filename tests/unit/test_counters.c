#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "stress/counters.c"

/* A probe that saw what a good counter shows. */
static struct counters_probe good(void)
{
    return (struct counters_probe){.expected_instructions = 20000000,
                                   .instructions = 20004000,
                                   .cycles = 10001000,
                                   .enabled_ns = 5000000,
                                   .running_ns = 5000000};
}

static char why[COUNTERS_WHY_BYTES];

static void counter_that_counts_is_ok(void **state)
{
    struct counters_probe p = good();

    (void)state;
    assert_int_equal(counters_judge(&p, why), COUNTERS_OK);
    p.enabled_ns = p.running_ns = -1; /* not known is no fault */
    assert_int_equal(counters_judge(&p, why), COUNTERS_OK);
}

static void forbidden_is_restricted_and_says_what_to_do(void **state)
{
    struct counters_probe p = {.error = EACCES};

    (void)state;
    assert_int_equal(counters_judge(&p, why), COUNTERS_RESTRICTED);
    assert_non_null(strstr(why, "perf_event_paranoid"));
    p.error = EPERM;
    assert_int_equal(counters_judge(&p, why), COUNTERS_RESTRICTED);
}

static void missing_is_absent_with_the_reason(void **state)
{
    static const int errors[] = {ENOENT, EOPNOTSUPP, ENODEV, ENOSYS};
    struct counters_probe p = {.detail = "PAPI_add_event: no default PMU found"};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        p.error = errors[i];
        assert_int_equal(counters_judge(&p, why), COUNTERS_ABSENT);
        assert_string_equal(why, p.detail);
    }
    p.detail = NULL;
    assert_int_equal(counters_judge(&p, why), COUNTERS_ABSENT);
    assert_true(why[0] != '\0');
}

/* A virtual machine that showed 395 instructions where 3.5e9 had run, enabled equal to running. */
static void counter_that_lies_is_implausible(void **state)
{
    struct counters_probe p = good();

    (void)state;
    p.expected_instructions = 3500000000;
    p.instructions = 395;
    p.cycles = 1200;
    assert_int_equal(counters_judge(&p, why), COUNTERS_IMPLAUSIBLE);
    assert_non_null(strstr(why, "395"));
    assert_non_null(strstr(why, "3500000000"));
}

static void negative_delta_is_implausible(void **state)
{
    struct counters_probe p = good();

    (void)state;
    p.instructions = -20000000;
    assert_int_equal(counters_judge(&p, why), COUNTERS_IMPLAUSIBLE);
    assert_non_null(strstr(why, "negative"));
    p = good();
    p.cycles = -1;
    assert_int_equal(counters_judge(&p, why), COUNTERS_IMPLAUSIBLE);
}

static void instructions_without_cycles_are_implausible(void **state)
{
    struct counters_probe p = good();

    (void)state;
    p.cycles = 0;
    assert_int_equal(counters_judge(&p, why), COUNTERS_IMPLAUSIBLE);
    assert_non_null(strstr(why, "no cycles"));
}

static void event_that_never_ran_is_implausible(void **state)
{
    struct counters_probe p = good();

    (void)state;
    p.running_ns = 0;
    assert_int_equal(counters_judge(&p, why), COUNTERS_IMPLAUSIBLE);
    p.enabled_ns = 0; /* a pinned event on an oversubscribed host: both are zero */
    assert_int_equal(counters_judge(&p, why), COUNTERS_IMPLAUSIBLE);
    p.enabled_ns = 5000000;
    p.running_ns = 2500000; /* multiplexed: the count is half of what ran */
    assert_int_equal(counters_judge(&p, why), COUNTERS_IMPLAUSIBLE);
    assert_non_null(strstr(why, "2500000"));
}

static void instructions_per_cycle_have_bounds(void **state)
{
    struct counters_probe p = good();

    (void)state;
    p.cycles = 20000000 / 9;
    assert_int_equal(counters_judge(&p, why), COUNTERS_IMPLAUSIBLE);
    p.cycles = 20000000ll * 25;
    assert_int_equal(counters_judge(&p, why), COUNTERS_IMPLAUSIBLE);
    p.cycles = 20000000ll * 19;
    assert_int_equal(counters_judge(&p, why), COUNTERS_OK);
}

static void count_may_miss_by_five_percent_and_no_more(void **state)
{
    struct counters_probe p = good();

    (void)state;
    p.instructions = 20900000;
    assert_int_equal(counters_judge(&p, why), COUNTERS_OK);
    p.instructions = 21100000;
    assert_int_equal(counters_judge(&p, why), COUNTERS_IMPLAUSIBLE);
    p.instructions = 18900000;
    assert_int_equal(counters_judge(&p, why), COUNTERS_IMPLAUSIBLE);
}

static void unknown_loop_proves_nothing(void **state)
{
    struct counters_probe p = good();

    (void)state;
    p.expected_instructions = 0;
    assert_int_equal(counters_judge(&p, why), COUNTERS_IMPLAUSIBLE);
}

/* Whatever this host has: a state with a reason, and not a word on stderr. */
static void probe_of_this_host_has_a_state_and_is_quiet(void **state)
{
    char name[] = "/tmp/counters-stderr-XXXXXX";
    struct counters c;
    char text[256] = "";

    (void)state;
    int file = mkstemp(name), saved = dup(2);
    assert_true(file >= 0 && saved >= 0);
    (void)unlink(name);
    (void)fflush(stderr);
    (void)dup2(file, 2);
    counters_init(&c);
    (void)dup2(saved, 2);
    ssize_t n = pread(file, text, sizeof(text) - 1, 0);
    (void)close(file);
    (void)close(saved);
    if (n != 0)
        fail_msg("stderr: %s", text);
    assert_true(c.why[0] != '\0');
#if !HAVE_PAPI
    assert_int_equal(c.state, COUNTERS_ABSENT);
    assert_string_equal(c.why, "built without PAPI");
#endif
}

struct touching {
    char *pages;
    size_t bytes;
    unsigned calls;
};

static void touch(void *ctx)
{
    struct touching *t = ctx;

    t->calls++;
    for (size_t i = 0; i < t->bytes; i += 4096)
        t->pages[i] = 1;
    spin(NULL);
}

static void software_counters_see_faults_and_time(void **state)
{
    struct touching t = {.bytes = 1u << 20};
    struct counters c;
    struct counters_values v;

    (void)state;
    t.pages = mmap(NULL, t.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(t.pages != MAP_FAILED);
    counters_init(&c);
    counters_measure(&c, touch, &t, &v);
    (void)munmap(t.pages, t.bytes);
    assert_true(v.task_clock_ns > 0);
    assert_true(v.minor_faults >= 1);
    assert_int_equal(v.hardware, c.state == COUNTERS_OK);
    assert_int_equal(t.calls, 1);
    if (!v.hardware)
        assert_true(v.instructions == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counter_that_counts_is_ok),
        cmocka_unit_test(forbidden_is_restricted_and_says_what_to_do),
        cmocka_unit_test(missing_is_absent_with_the_reason),
        cmocka_unit_test(counter_that_lies_is_implausible),
        cmocka_unit_test(negative_delta_is_implausible),
        cmocka_unit_test(instructions_without_cycles_are_implausible),
        cmocka_unit_test(event_that_never_ran_is_implausible),
        cmocka_unit_test(instructions_per_cycle_have_bounds),
        cmocka_unit_test(count_may_miss_by_five_percent_and_no_more),
        cmocka_unit_test(unknown_loop_proves_nothing),
        cmocka_unit_test(probe_of_this_host_has_a_state_and_is_quiet),
        cmocka_unit_test(software_counters_see_faults_and_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
