#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "stress/kernel.h"
#include <string.h>

static void every_operator_of_the_spec_has_an_entry(void **state)
{
    static const char *const ops[] = {"attention.gqa",
                                      "attention.key_decoupled",
                                      "attention.mla",
                                      "attention.kda",
                                      "attention.gated_delta",
                                      "attention.lightning",
                                      "attention.mamba2",
                                      "residual.attnres",
                                      "residual.attnres_block",
                                      "moe.route",
                                      "moe.latent",
                                      "dequant.ct_pack",
                                      "dequant.ct_int8",
                                      "dequant.awq",
                                      "dequant.gptq",
                                      "dequant.fp8_block",
                                      "dequant.fp8_tensor",
                                      "dequant.fp8_channel",
                                      "dequant.ct_mxfp4",
                                      "dequant.gptoss_mxfp4",
                                      "dequant.ct_nvfp4",
                                      "dequant.modelopt_nvfp4",
                                      "dequant.gguf_q4_0",
                                      "dequant.gguf_q4_1",
                                      "dequant.gguf_q5_0",
                                      "dequant.gguf_q5_1",
                                      "dequant.gguf_q8_0",
                                      "dequant.gguf_iq4_nl",
                                      "dequant.gguf_mxfp4",
                                      "dequant.gguf_q2_K",
                                      "dequant.gguf_q3_K",
                                      "dequant.gguf_q4_K",
                                      "dequant.gguf_q5_K",
                                      "dequant.gguf_q6_K"};

    (void)state;
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
        assert_non_null(kernel_find(ops[i]));
}

static void other_words_have_none(void **state)
{
    static const char *const ops[] = {"",        "attention",    "attention.gq",
                                      "dequant", "dequant.kind", "attention.gqa2",
                                      "moe",     "moe.latent "};

    (void)state;
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
        assert_null(kernel_find(ops[i]));
}

static void an_entry_has_costs_or_a_reason(void **state)
{
    const struct kernel_shape s = {.tokens = 9,
                                   .heads = 4,
                                   .key_heads = 2,
                                   .value_heads = 2,
                                   .key_dim = 8,
                                   .value_dim = 8,
                                   .rank = 16,
                                   .nope_dim = 8,
                                   .rope_dim = 4,
                                   .hidden = 32,
                                   .latent = 16,
                                   .inner = 24,
                                   .experts = 8,
                                   .top_k = 2,
                                   .sources = 3,
                                   .store_bytes = 2,
                                   .rows = 4,
                                   .cols = 32,
                                   .packed_bytes = 68};

    (void)state;
    for (size_t i = 0; i < kernel_count; i++) {
        const struct kernel *k = &kernel_table[i];
        assert_ptr_equal(kernel_find(k->op), k); /* no operator stands twice */
        if (k->missing) {
            assert_null(k->fused);
            assert_string_equal(k->variants, "");
            continue;
        }
        assert_non_null(k->cost_words);
        assert_int_equal(k->variants[0], 'c');
        /* dequantization has no freedom: every variant gives the same bits */
        assert_true(strncmp(k->op, "dequant.", 8) == 0 ? k->tolerance == 0 : k->tolerance > 0);
        assert_true(k->fused(&s).bytes > 0 && k->fused(&s).flops > 0);
        if (k->composed)
            assert_true(k->composed(&s).bytes > k->fused(&s).bytes);
    }
}

/* Kimi K3: 96 heads with a state of 128 x 128 x 4 bytes are 6,291,456 bytes a layer, read and
 * written; beside them 3 vectors of 96 x 128 in, v in and the result out. */
static void kda_moves_its_state_twice(void **state)
{
    const struct kernel_shape s = {.heads = 96, .key_dim = 128, .value_dim = 128};
    const struct kernel *k = kernel_find("attention.kda");

    (void)state;
    assert_true(k->fused(&s).bytes == 2 * 6291456.0 + 5 * 96 * 128 * 4);
    assert_true(k->composed(&s).bytes > 6 * 6291456.0);
    assert_true(k->composed(&s).bytes < 7 * 6291456.0);
}

/* (512 + 64) x 2 = 1,152 bytes a token and layer. */
static void mla_reads_its_latent_once(void **state)
{
    struct kernel_shape s = {.tokens = 1000,
                             .heads = 96,
                             .nope_dim = 128,
                             .rope_dim = 64,
                             .rank = 512,
                             .value_dim = 128,
                             .store_bytes = 2};
    const struct kernel *k = kernel_find("attention.mla");
    double before = k->fused(&s).bytes;

    (void)state;
    s.tokens++;
    assert_true(k->fused(&s).bytes - before == 1152);
}

static void a_window_bounds_the_cost(void **state)
{
    struct kernel_shape s = {.tokens = 100000,
                             .heads = 8,
                             .key_heads = 2,
                             .value_heads = 2,
                             .key_dim = 64,
                             .value_dim = 64,
                             .window = 128,
                             .store_bytes = 2};
    const struct kernel *k = kernel_find("attention.gqa");
    double wide = k->fused(&s).bytes;

    (void)state;
    assert_true(wide == 128 * (2 * 64 + 2 * 64) * 2 + 4 * 8 * (64 + 64));
    s.tokens = 128;
    assert_true(k->fused(&s).bytes == wide);
}

/* Kimi K3: 16 experts of three matrices of 3584 x 3072 are 528,482,304 weights a layer. */
static void experts_cost_what_a_token_picks(void **state)
{
    struct kernel_shape s = {.hidden = 7168,
                             .latent = 3584,
                             .inner = 3072,
                             .shared_inner = 6144,
                             .experts = 896,
                             .top_k = 16,
                             .store_bytes = 1,
                             .gated = true};
    const struct kernel *k = kernel_find("moe.latent");
    double all = k->fused(&s).bytes;

    (void)state;
    s.top_k = 0;
    assert_true(all - k->fused(&s).bytes == 528482304.0);
}

/* Kimi K3: 7168 x 3584 numbers of 4 bits and a byte of scale for each 32 are 13,647,872 bytes. */
static void dequantization_reads_what_is_stored_and_writes_floats(void **state)
{
    const struct kernel_shape s = {.rows = 7168, .cols = 3584, .packed_bytes = 13647872};
    const struct kernel *scaled = kernel_find("dequant.ct_mxfp4");
    const struct kernel *shifted = kernel_find("dequant.awq");

    (void)state;
    assert_true(scaled->fused(&s).bytes == 13647872.0 + 4.0 * 7168 * 3584);
    assert_true(scaled->fused(&s).flops == 7168.0 * 3584);
    assert_true(shifted->fused(&s).flops == 2 * 7168.0 * 3584);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operator_of_the_spec_has_an_entry),
        cmocka_unit_test(other_words_have_none),
        cmocka_unit_test(an_entry_has_costs_or_a_reason),
        cmocka_unit_test(kda_moves_its_state_twice),
        cmocka_unit_test(mla_reads_its_latent_once),
        cmocka_unit_test(a_window_bounds_the_cost),
        cmocka_unit_test(experts_cost_what_a_token_picks),
        cmocka_unit_test(dequantization_reads_what_is_stored_and_writes_floats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
