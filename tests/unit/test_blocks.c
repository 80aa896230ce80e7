#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "fixture_model.h"
#include "model/cost.h"

#define NAS                                                                            \
    "{\"model_type\":\"nemotron-nas\",\"hidden_size\":512,\"intermediate_size\":null," \
    "\"vocab_size\":100,\"rms_norm_eps\":1e-05,\"num_attention_heads\":8,"             \
    "\"num_key_value_heads\":null,\"hidden_act\":\"silu\",\"num_hidden_layers\":2,"    \
    "\"block_configs\":[{\"attention\":{\"n_heads_in_group\":4},\"ffn\":{\"ffn_mult\":1.3}},%s]}"

static void blocks_change_their_layer_only(void **state)
{
    static const struct {
        const char *block;
        enum mixer_kind mixer;
        enum ffn_kind ffn;
        uint32_t key_heads, inner;
        unsigned hides;
    } cases[] = {
        /* 2 x 2.625 x 512 / 3 is 896, and 1,024 in units of 256 */
        {"{\"attention\":{\"n_heads_in_group\":2,\"no_op\":false},\"ffn\":{\"ffn_mult\":2.625}}",
         MIXER_GQA, FFN_DENSE, 4, 1024, 0},
        {"{\"attention\":{\"no_op\":true},\"ffn\":{\"ffn_mult\":0.75}}", MIXER_NONE, FFN_DENSE, 0,
         256, 0},
        {"{\"attention\":{\"n_heads_in_group\":8},\"ffn\":{\"no_op\":true}}", MIXER_GQA, FFN_NONE,
         1, 0, 0},
        {"{\"attention\":{\"replace_with_linear\":true},\"ffn\":{\"ffn_mult\":1}}", MIXER_NONE,
         FFN_DENSE, 0, 512, MODEL_HIDES_PARAMS | MODEL_HIDES_OPERATORS},
        {"{\"attention\":{\"n_heads_in_group\":8},\"ffn\":{\"replace_with_linear\":true}}",
         MIXER_GQA, FFN_NONE, 1, 0, MODEL_HIDES_PARAMS | MODEL_HIDES_OPERATORS},
        {"{\"attention\":{\"n_heads_in_group\":8,\"window_length\":64},\"ffn\":{\"ffn_mult\":1}}",
         MIXER_GQA, FFN_DENSE, 1, 512, MODEL_HIDES_ALL},
        {"{\"attention\":{\"n_heads_in_group\":8},\"ffn\":{\"ffn_mult\":1,\"sparsify\":[1]}}",
         MIXER_GQA, FFN_DENSE, 1, 512, MODEL_HIDES_PARAMS | MODEL_HIDES_OPERATORS},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture_model f;
        unsigned hides = 0;
        if (fixture_build(&f, NULL, NAS, cases[i].block))
            fail_msg("%s: %s", cases[i].block, f.e.msg);
        const struct layer *l = &f.m.layers[1];
        for (size_t k = 0; k < f.m.unexplained_count; k++)
            hides |= f.m.hides[k];
        if (l->mixer.kind != cases[i].mixer || l->ffn.kind != cases[i].ffn ||
            l->mixer.key_heads != cases[i].key_heads || l->ffn.inner != cases[i].inner ||
            hides != cases[i].hides)
            fail_msg("%s: %s with %u key heads, %s of %u, hides %u", cases[i].block,
                     model_mixer_name(l->mixer.kind), l->mixer.key_heads,
                     model_ffn_name(l->ffn.kind), l->ffn.inner, hides);
        assert_int_equal(f.m.layers[0].mixer.key_heads, 2);
        assert_int_equal(f.m.layers[0].ffn.inner, 512);
        fixture_end(&f);
    }
}

static void blocks_that_cannot_be_are_refused(void **state)
{
    static const char *const bad[] = {
        "7",
        "{}",
        "{\"attention\":{\"n_heads_in_group\":3},\"ffn\":{\"ffn_mult\":1}}",
        "{\"attention\":{\"n_heads_in_group\":0},\"ffn\":{\"ffn_mult\":1}}",
        "{\"attention\":{\"n_heads_in_group\":8},\"ffn\":{\"ffn_mult\":0}}",
        "{\"attention\":{\"n_heads_in_group\":8},\"ffn\":{\"ffn_mult\":1e300}}",
        "{\"attention\":{\"n_heads_in_group\":8},\"ffn\":{\"ffn_mult\":1}},{}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct fixture_model f;
        if (fixture_build(&f, NULL, NAS, bad[i]) != ERR_FORMAT)
            fail_msg("%s was taken", bad[i]);
        assert_non_null(strstr(f.e.msg, "block_configs"));
        fixture_end(&f);
    }
}

/* Experts of each layer have a width and a number of their own. */
static void puzzle_blocks_change_the_experts(void **state)
{
    struct fixture_model f;
    struct cost c;
    (void)state;
    if (fixture_build(
            &f, NULL,
            "{\"model_type\":\"nemotron_h_puzzle\",\"architectures\":["
            "\"NemotronHPuzzleForCausalLM\"],"
            "\"hidden_size\":32,\"vocab_size\":100,\"num_attention_heads\":4,"
            "\"num_key_value_heads\":2,\"head_dim\":8,\"mlp_hidden_act\":\"relu2\","
            "\"layer_norm_epsilon\":1e-05,\"intermediate_size\":64,\"n_routed_experts\":8,"
            "\"num_experts_per_tok\":2,\"moe_intermediate_size\":16,\"moe_latent_size\":16,"
            "\"moe_shared_expert_intermediate_size\":32,\"n_shared_experts\":1,"
            "\"layers_block_type\":[\"moe\",\"moe\",\"attention\"],\"block_configs\":["
            "{\"block_type\":\"moe\",\"moe_intermediate_size\":24,\"num_experts_per_tok\":3},"
            "{\"block_type\":\"moe\",\"n_routed_experts\":4},{\"block_type\":\"attention\"}]}"))
        fail_msg("%s", f.e.msg);
    assert_int_equal(f.m.layers[0].ffn.inner, 24);
    assert_int_equal(f.m.layers[0].ffn.router.top_k, 3);
    assert_int_equal(f.m.layers[0].ffn.router.experts, 8);
    assert_int_equal(f.m.layers[1].ffn.inner, 16);
    assert_int_equal(f.m.layers[1].ffn.router.experts, 4);
    assert_int_equal(cost_of(&f.m, &c, &f.e), 0);
    assert_true(c.params_known);
    assert_int_equal(c.cache_token_bytes, 2 * 2 * 8 * 2);
    /* gate and its bias, both latent matrices, experts of two matrices, shared, norm */
    assert_int_equal(c.layers[0].params,
                     8 * 32 + 8 + 2 * 16 * 32 + 8 * 2 * 24 * 16 + 2 * 32 * 32 + 32);
    assert_int_equal(c.layers[1].params,
                     4 * 32 + 4 + 2 * 16 * 32 + 4 * 2 * 16 * 16 + 2 * 32 * 32 + 32);
    cost_release(&c);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_change_their_layer_only),
        cmocka_unit_test(blocks_that_cannot_be_are_refused),
        cmocka_unit_test(puzzle_blocks_change_the_experts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
