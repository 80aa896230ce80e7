#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "core/cpu.h"
#include "stress/kbench_case.h"
#include "../../stress/kbench.c"
#include <math.h>
#include <string.h>

/* Timing decides nothing here: what is tested is that every case is what its row will claim. */

static void cases_have_a_kernel_with_a_cost(void **state)
{
    (void)state;
    for (size_t i = 0; i < kbench_case_count; i++) {
        const struct kbench_case *k = &kbench_case_table[i];
        const struct kernel *kernel = kernel_find(k->op);
        assert_non_null(kernel);
        assert_null(kernel->missing);
        assert_true(kernel->fused(&k->shape).bytes < (double)KBENCH_BYTES_MAX);
        if (k->composed)
            assert_non_null(kernel->composed);
    }
}

static void implemented_kernels_with_variants_have_a_case(void **state)
{
    (void)state;
    for (size_t i = 0; i < kernel_count; i++) {
        bool found = kernel_table[i].missing || strcmp(kernel_table[i].variants, "c") == 0 ||
                     strcmp(kernel_table[i].op, "residual.attnres") == 0; /* the block's mix */
        for (size_t j = 0; j < kbench_case_count; j++)
            found = found || strcmp(kbench_case_table[j].op, kernel_table[i].op) == 0;
        if (!found)
            fail_msg("%s", kernel_table[i].op);
    }
}

/* A case whose data is small enough to be computed both ways: the paths that are timed agree. */
static void the_paths_that_are_timed_agree(void **state)
{
    (void)state;
    for (size_t i = 0; i < kbench_case_count; i++) {
        struct kbench_case k = kbench_case_table[i];
        struct kbench_case_call c = {0};
        struct err e = {0};
        static float first[96 * 128];

        if (!k.composed)
            continue;
        struct kbench_case_data *d = mem_alloc(1, sizeof(*d));
        c.data = d;
        if (k.shape.tokens)
            k.shape.tokens = 70;
        if (k.shape.experts)
            k.shape.inner = k.shape.latent = 40;
        if (kbench_case_open(&k, d, &e) != 0)
            fail_msg("%s", e.msg);
        uint64_t n = k.shape.hidden ? k.shape.hidden : k.shape.heads * k.shape.value_dim;
        assert_true(n <= sizeof(first) / sizeof(first[0]));
        k.init(&c, 0);
        prim_init(&c.prim, 0);
        assert_string_equal(c.variant, "c");
        float *state_before = NULL;
        uint64_t states = k.shape.heads * k.shape.key_dim * k.shape.value_dim;
        if (d->state) {
            state_before = mem_alloc(states, sizeof(float));
            memcpy(state_before, d->state, states * sizeof(float));
        }
        k.fused(&c);
        memcpy(first, d->out, n * sizeof(float));
        if (d->state)
            memcpy(d->state, state_before, states * sizeof(float));
        memset(d->out, 0xff, n * sizeof(float));
        k.composed(&c);
        for (uint64_t j = 0; j < n; j++) {
            if (!(fabs((double)d->out[j] - (double)first[j]) <=
                  1e-3 * (1 + fabs((double)first[j]))))
                fail_msg("%s: %g and %g", k.op, (double)d->out[j], (double)first[j]);
        }
        free(state_before);
        kbench_case_close(d);
        free(d);
    }
}

static void a_refusal_of_memory_names_the_case(void **state)
{
    struct kbench_case k = kbench_case_table[0];
    struct kbench_case_data *d = mem_alloc(1, sizeof(*d));
    struct err e = {0};

    (void)state;
    k.shape.tokens = 1ull << 52;
    assert_int_equal(kbench_case_open(&k, d, &e), ERR_LIMIT);
    assert_non_null(strstr(e.msg, k.op));
    kbench_case_close(d);
    free(d);
}

/* A made-up case, so that a whole series takes no time. */
static void nothing(void *ctx)
{
    (void)ctx;
}

static void a_series_has_a_row_for_each_path_and_variant(void **state)
{
    struct kbench_case k = kbench_case_table[0];
    struct kbench_row rows[ROWS_MAX];
    struct series s = {.k = &k, .rows = rows, .budget_ns = 1};

    (void)state;
    k.fused = nothing;
    k.composed = nothing;
    run_case(&s, NULL, 0);
    assert_int_equal(s.count, 2);
    assert_string_equal(rows[0].variant, "c");
    assert_string_equal(rows[0].path, "fused");
    assert_true(rows[0].ratio == 1);
    assert_string_equal(rows[1].path, "composed");
    assert_true(rows[1].bytes > rows[0].bytes);
#if defined(__x86_64__)
    s.count = 0;
    run_case(&s, NULL, CPU_AVX2 | CPU_AVX512); /* the calls are ours, no variant runs */
    assert_int_equal(s.count, 6);
    assert_string_equal(rows[4].variant, "avx512");
#endif
}

static void packed_matrices_have_the_bytes_that_their_rows_claim(void **state)
{
    unsigned seen = 0;

    (void)state;
    for (size_t i = 0; i < kbench_case_count; i++) {
        const struct kbench_case *k = &kbench_case_table[i];
        if (!k->shape.packed_bytes)
            continue;
        struct kbench_case_data *d = mem_alloc(1, sizeof(*d));
        struct err e = {0};
        if (kbench_case_open(k, d, &e))
            fail_msg("%s", e.msg);
        assert_int_equal(d->packed.stored_bytes, k->shape.packed_bytes);
        kbench_case_close(d);
        free(d);
        seen++;
    }
    assert_true(seen == DEQUANT_KINDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cases_have_a_kernel_with_a_cost),
        cmocka_unit_test(implemented_kernels_with_variants_have_a_case),
        cmocka_unit_test(the_paths_that_are_timed_agree),
        cmocka_unit_test(packed_matrices_have_the_bytes_that_their_rows_claim),
        cmocka_unit_test(a_refusal_of_memory_names_the_case),
        cmocka_unit_test(a_series_has_a_row_for_each_path_and_variant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
