#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "stress/seed.h"

/* The first numbers of splitmix64 from seed 1234567, as published with xoshiro. */
static void numbers_are_those_of_splitmix64(void **state)
{
    static const uint64_t want[] = {6457827717110365317ull, 3203168211198807973ull,
                                    9817491932198370423ull, 4593380528125082431ull,
                                    16408922859458223821ull};
    uint64_t s = 1234567;

    (void)state;
    for (size_t i = 0; i < 5; i++)
        assert_true(seed_next(&s) == want[i]);
}

static void same_seed_fills_alike(void **state)
{
    uint16_t a[32], b[32], c[31];
    uint32_t f[7];

    (void)state;
    seed_fill(a, sizeof(a), true, 5);
    seed_fill(b, sizeof(b), true, 5);
    seed_fill(c, sizeof(c), true, 6); /* not a whole number of words */
    assert_memory_equal(a, b, sizeof(a));
    assert_memory_not_equal(a, c, sizeof(c));
    for (size_t i = 0; i < 31; i++) /* BF16 of magnitude 0.25 to 0.5 */
        assert_int_equal(c[i] & 0x7F80, 0x3E80);
    seed_fill(f, sizeof(f), false, 6);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(f[i] & 0x7F800000u, 0x3E800000u);
}

static void unit_stays_inside_the_open_interval(void **state)
{
    uint64_t s = 0;
    double sum = 0;

    (void)state;
    for (int i = 0; i < 10000; i++) {
        double x = seed_unit(&s);
        assert_true(x > 0 && x < 1);
        sum += x;
    }
    assert_true(sum > 4900 && sum < 5100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_those_of_splitmix64),
        cmocka_unit_test(same_seed_fills_alike),
        cmocka_unit_test(unit_stays_inside_the_open_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
