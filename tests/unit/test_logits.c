#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include "core/cpu.h"
#include "core/mem.h"
#include "stress/logits.h"

static float value(uint64_t *s)
{
    *s = *s * 6364136223846793005ull + 1442695040888963407ull;
    return (float)(int32_t)(*s >> 32) / 2147483648.0f;
}

static void definition_is_the_matrix_product(void **state)
{
    static const float x[2][3] = {{1, 2, 3}, {-1, 0.5f, 4}};
    static const float w[2][3] = {{10, 20, 30}, {1, 1, -1}};
    struct logits_ops ops;
    float y[2][2];

    (void)state;
    logits_init(&ops, 0);
    assert_string_equal(ops.variant, "c");
    ops.multiply(2, 2, 3, x[0], w[0], y[0]);
    assert_true(y[0][0] == 140 && y[0][1] == 0 && y[1][0] == 120 && y[1][1] == -4.5f);
}

/* Every edge of the tiles and blocks, against the definition, bounded by the sum of magnitudes. */
static void compare(size_t tokens, size_t rows, size_t width, unsigned mask)
{
    float *x = mem_alloc(tokens * width, sizeof(float)),
          *w = mem_alloc(rows * width, sizeof(float));
    float *want = mem_alloc(tokens * rows, sizeof(float)),
          *got = mem_alloc(tokens * rows, sizeof(float));
    struct logits_ops reference, ops;
    uint64_t seed = tokens * 1000003 + rows * 1009 + width;

    for (size_t i = 0; i < tokens * width; i++)
        x[i] = value(&seed);
    for (size_t i = 0; i < rows * width; i++)
        w[i] = value(&seed);
    logits_init(&reference, 0);
    logits_init(&ops, mask);
    reference.multiply(tokens, rows, width, x, w, want);
    ops.multiply(tokens, rows, width, x, w, got);
    for (size_t t = 0; t < tokens; t++) {
        for (size_t r = 0; r < rows; r++) {
            double sum = 0;
            for (size_t i = 0; i < width; i++)
                sum += fabs((double)x[t * width + i] * w[r * width + i]);
            if (!(fabs((double)got[t * rows + r] - want[t * rows + r]) <= 1e-5 * sum + 1e-30))
                fail_msg("%s %zu x %zu x %zu: token %zu row %zu: %g is not %g", ops.variant, tokens,
                         rows, width, t, r, (double)got[t * rows + r], (double)want[t * rows + r]);
        }
    }
    free(x);
    free(w);
    free(want);
    free(got);
}

static void variants_match_the_definition_at_every_edge(void **state)
{
    static const size_t tokens[] = {1, 3, 4, 9}, rows[] = {1, 2, 3, 5, 67, 131};
    static const size_t widths[] = {1, 7, 8, 15, 16, 33, 2049};
    static const unsigned masks[] = {CPU_AVX2, CPU_AVX2 | CPU_AVX512};

    (void)state;
    for (size_t m = 0; m < 2; m++) {
        if ((cpu_features() & masks[m]) != masks[m])
            continue;
        for (size_t t = 0; t < 4; t++) {
            for (size_t r = 0; r < 6; r++) {
                for (size_t i = 0; i < 7; i++)
                    compare(tokens[t], rows[r], widths[i], masks[m]);
            }
        }
    }
}

static void nan_shows_in_its_own_row_only(void **state)
{
    float x[4 * 16], w[4 * 16], y[4 * 4];
    struct logits_ops ops;
    uint64_t seed = 1;

    (void)state;
    for (size_t i = 0; i < 64; i++) {
        x[i] = value(&seed);
        w[i] = value(&seed);
    }
    x[2 * 16 + 5] = NAN;
    logits_init(&ops, cpu_features());
    ops.multiply(4, 4, 16, x, w, y);
    for (size_t i = 0; i < 16; i++)
        assert_int_equal(isnan(y[i]) != 0, i / 4 == 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(definition_is_the_matrix_product),
        cmocka_unit_test(variants_match_the_definition_at_every_edge),
        cmocka_unit_test(nan_shows_in_its_own_row_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
