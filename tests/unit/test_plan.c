#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "fixture_model.h"
#include "model/cost.h"

/* Every spelling of which layer is what. Layers as letters: g full, w window, k chunk, d delta
 * rule, l lightning, m Mamba2, e experts alone, n feed-forward alone, s shares a cache, c
 * convolution, ? unknown. */
static void kinds(const struct model *m, char *ret)
{
    for (uint32_t i = 0; i < m->layer_count; i++) {
        const struct mixer *x = &m->layers[i].mixer;
        ret[i] = x->kind == MIXER_UNKNOWN       ? '?'
                 : x->kind == MIXER_GATED_DELTA ? 'd'
                 : x->kind == MIXER_LIGHTNING   ? 'l'
                 : x->kind == MIXER_MAMBA2      ? 'm'
                 : x->kind == MIXER_CONV        ? 'c'
                 : x->kind == MIXER_NONE        ? m->layers[i].ffn.kind == FFN_DENSE ? 'n' : 'e'
                 : x->store == MIXER_SHARES     ? 's'
                 : x->chunked                   ? 'k'
                 : x->window                    ? 'w'
                                                : 'g';
    }
    ret[m->layer_count] = '\0';
}

#define BASE                                                                             \
    "\"hidden_size\":64,\"intermediate_size\":96,\"vocab_size\":100,\"rms_norm_eps\":1," \
    "\"num_attention_heads\":4,\"num_key_value_heads\":2,\"head_dim\":16,\"dtype\":"     \
    "\"bfloat16\",\"hidden_act\":\"silu\","
#define GDN                                                                              \
    "\"linear_num_key_heads\":2,\"linear_num_value_heads\":2,\"linear_key_head_dim\":8," \
    "\"linear_value_head_dim\":8,\"linear_conv_kernel_dim\":4,"
#define MAMBA                                                                                     \
    "\"mamba_num_heads\":4,\"mamba_head_dim\":16,\"ssm_state_size\":8,\"n_groups\":2,"            \
    "\"conv_kernel\":4,\"n_routed_experts\":4,\"num_experts_per_tok\":2,"                         \
    "\"moe_intermediate_size\":8,\"moe_shared_expert_intermediate_size\":8,\"n_shared_experts\":" \
    "1,"

struct spelling {
    const char *type, *keys, *kinds;
    bool explained;
};

static const struct spelling spellings[] = {
    /* strides, and what the class has without one */
    {"gemma2", "\"num_hidden_layers\":4,\"sliding_window\":9", "wgwg", true},
    {"gemma3_text", "\"num_hidden_layers\":7,\"sliding_window\":9", "wwwwwgw", true},
    {"gemma3_text", "\"num_hidden_layers\":4,\"sliding_window\":9,\"sliding_window_pattern\":2",
     "wgwg", true},
    {"gemma3_text", "\"num_hidden_layers\":4,\"sliding_window\":9,\"_sliding_window_pattern\":2",
     "wgwg", true},
    {"gpt_oss",
     "\"num_hidden_layers\":4,\"sliding_window\":9,\"num_local_experts\":4,"
     "\"num_experts_per_tok\":2",
     "wgwg", true},
    {"cohere2", "\"num_hidden_layers\":4,\"sliding_window\":9,\"layer_norm_eps\":1", "wwwg", true},
    /* letters */
    {"exaone4", "\"num_hidden_layers\":4,\"sliding_window\":9,\"sliding_window_pattern\":\"LLLG\"",
     "wwwg", true},
    {"exaone4", "\"num_hidden_layers\":5,\"sliding_window\":9,\"sliding_window_pattern\":\"LLLG\"",
     "wwwgw", false},
    {"exaone4", "\"num_hidden_layers\":4,\"sliding_window\":9,\"sliding_window_pattern\":\"LXG\"",
     "????", false},
    {"exaone4", "\"num_hidden_layers\":2,\"sliding_window\":9", "gg", false},
    {"exaone4", "\"num_hidden_layers\":2,\"sliding_window\":null", "gg", true},
    /* two accounts agree, or neither is believed */
    {"gemma3_text",
     "\"num_hidden_layers\":2,\"sliding_window\":9,\"sliding_window_pattern\":2,"
     "\"layer_types\":[\"sliding_attention\",\"full_attention\"]",
     "wg", true},
    {"gemma3_text",
     "\"num_hidden_layers\":2,\"sliding_window\":9,\"sliding_window_pattern\":2,"
     "\"layer_types\":[\"full_attention\",\"sliding_attention\"]",
     "gw", false},
    /* a window without its width */
    {"gemma3_text", "\"num_hidden_layers\":2,\"sliding_window_pattern\":2", "?g", false},
    /* numbers of layers with a window; 0 and 1 a layer */
    {"mimo_v2_flash",
     "\"num_hidden_layers\":4,\"sliding_window\":9,\"hybrid_layer_pattern\":[0,1,1,0],"
     "\"swa_num_attention_heads\":4,\"swa_num_key_value_heads\":1,\"swa_head_dim\":16,"
     "\"swa_v_head_dim\":8",
     "gwwg", true},
    {"mimo_v2_flash", "\"num_hidden_layers\":2,\"hybrid_layer_pattern\":[0,2]", "g?", false},
    {"mimo_v2_flash", "\"num_hidden_layers\":2,\"sliding_window\":9", "gg", false},
    /* Llama 4: what is not rotated sees everything */
    {"llama4_text",
     "\"num_hidden_layers\":5,\"attention_chunk_size\":9,"
     "\"interleave_moe_layer_step\":9,\"intermediate_size_mlp\":8",
     "kkkgk", true},
    {"llama4_text",
     "\"num_hidden_layers\":3,\"attention_chunk_size\":9,\"no_rope_layers\":[1,0,1],"
     "\"interleave_moe_layer_step\":9,\"intermediate_size_mlp\":8",
     "kgk", true},
    {"llama4_text",
     "\"num_hidden_layers\":3,\"interleave_moe_layer_step\":9,"
     "\"intermediate_size_mlp\":8",
     "ggg", false},
    /* linear attention by stride, by words, by numbers */
    {"qwen3_5_text", GDN "\"num_hidden_layers\":4,\"full_attention_interval\":4", "dddg", true},
    {"qwen3_5_text",
     GDN "\"num_hidden_layers\":2,\"layer_types\":[\"full_attention\","
         "\"linear_attention\"]",
     "gd", true},
    {"qwen3_5_text",
     GDN "\"num_hidden_layers\":2,\"full_attention_interval\":2,"
         "\"layer_types\":[\"full_attention\",\"linear_attention\"]",
     "gd", false},
    {"qwen3", "\"num_hidden_layers\":2,\"layer_types\":[\"full_attention\",\"linear_attention\"]",
     "g?", false},
    {"minimax_m1",
     "\"num_hidden_layers\":3,\"attn_type_list\":[0,0,1],\"num_local_experts\":4,"
     "\"num_experts_per_tok\":2",
     "llg", true},
    /* Nemotron's letters, words, and blocks */
    {"nemotron_h", MAMBA "\"num_hidden_layers\":4,\"hybrid_override_pattern\":\"M*E-\"", "mgen",
     true},
    {"nemotron_h", MAMBA "\"num_hidden_layers\":4,\"hybrid_override_pattern\":\"M*EX\"", "mge?",
     false},
    {"nemotron_h", MAMBA "\"num_hidden_layers\":3,\"hybrid_override_pattern\":\"M*E-\"", "???",
     false},
    {"nemotron_h", MAMBA "\"layers_block_type\":[\"mamba\",\"moe\",\"attention\",\"mlp\"]", "megn",
     true},
    {"nemotron_h_puzzle",
     MAMBA
     "\"block_configs\":[{\"block_type\":\"mamba\"},{\"block_type\":\"moe\","
     "\"moe_intermediate_size\":16,\"num_experts_per_tok\":1},{\"block_type\":\"attention\"}]",
     "meg", true},
    {"nemotron_h_puzzle",
     MAMBA "\"block_configs\":[{\"block_type\":\"mamba\",\"mamba_num_heads\":2}]", "m", false},
    /* a convolution alone */
    {"lfm2",
     "\"num_hidden_layers\":3,\"conv_L_cache\":3,\"layer_types\":[\"conv\",\"conv\","
     "\"full_attention\"]",
     "ccg", true},
    /* the last layers read what earlier ones keep */
    {"gemma4_text",
     "\"num_hidden_layers\":4,\"sliding_window\":9,\"num_kv_shared_layers\":2,\"layer_types\":["
     "\"sliding_attention\",\"full_attention\",\"sliding_attention\",\"full_attention\"]",
     "wgss", true},
    {"gemma4_text",
     "\"num_hidden_layers\":2,\"sliding_window\":9,\"layer_types\":[\"sliding_attention\","
     "\"full_attention\"]",
     "wg", false},
    /* nobody says what a lone window means */
    {"laguna", "\"num_hidden_layers\":2,\"sliding_window\":9", "gg", false},
};

static void every_spelling_gives_the_layers_their_kinds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        const struct spelling *s = &spellings[i];
        struct fixture_model f;
        char have[64];
        if (fixture_build(&f, NULL, "{\"model_type\":\"%s\"," BASE "%s}", s->type, s->keys))
            fail_msg("%s %s: %s", s->type, s->keys, f.e.msg);
        kinds(&f.m, have);
        const char *hidden = model_hidden(&f.m, MODEL_HIDES_CACHE, NULL);
        if (strcmp(have, s->kinds) || (hidden == NULL) != s->explained)
            fail_msg("%s %s: %s, %s", s->type, s->keys, have, hidden ? hidden : "explained");
        fixture_end(&f);
    }
}

/* The windows of a list have shapes of their own. */
static void windows_take_their_own_shape(void **state)
{
    struct fixture_model f;
    (void)state;
    assert_int_equal(
        fixture_build(&f, NULL,
                      "{\"model_type\":\"mimo_v2_flash\"," BASE "\"num_hidden_layers\":2,"
                      "\"sliding_window\":9,\"v_head_dim\":8,\"hybrid_layer_pattern\":[0,1],"
                      "\"swa_num_attention_heads\":8,\"swa_num_key_value_heads\":4,"
                      "\"swa_head_dim\":24,\"swa_v_head_dim\":12}"),
        0);
    const struct mixer *full = &f.m.layers[0].mixer, *window = &f.m.layers[1].mixer;
    assert_int_equal(full->key_dim, 16);
    assert_int_equal(full->value_dim, 8);
    assert_int_equal(window->heads, 8);
    assert_int_equal(window->key_heads, 4);
    assert_int_equal(window->key_dim, 24);
    assert_int_equal(window->value_dim, 12);
    assert_int_equal(window->window, 9);
    fixture_end(&f);
}

/* Gemma 4: full layers have wider heads, and fewer where keys and values are one projection. */
static void full_layers_take_their_own_shape(void **state)
{
    static const char *const keys[] = {
        "\"attention_k_eq_v\":true,\"num_global_key_value_heads\":1",
        "\"attention_k_eq_v\":false,\"num_global_key_value_heads\":1",
        "\"attention_k_eq_v\":false,\"num_global_key_value_heads\":2",
    };
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct fixture_model f;
        assert_int_equal(fixture_build(&f, NULL,
                                       "{\"model_type\":\"gemma4_text\"," BASE
                                       "\"num_hidden_layers\":2,"
                                       "\"sliding_window\":9,\"num_kv_shared_layers\":0,"
                                       "\"global_head_dim\":32,%s,\"layer_types\":["
                                       "\"sliding_attention\",\"full_attention\"]}",
                                       keys[i]),
                         0);
        assert_int_equal(f.m.layers[0].mixer.key_dim, 16);
        assert_int_equal(f.m.layers[0].mixer.key_heads, 2);
        assert_int_equal(f.m.layers[1].mixer.key_dim, 32);
        assert_int_equal(f.m.layers[1].mixer.value_dim, 32);
        if (i == 0)
            assert_int_equal(f.m.layers[1].mixer.key_heads, 1);
        assert_int_equal(model_hidden(&f.m, MODEL_HIDES_CACHE, NULL) != NULL, i == 1);
        fixture_end(&f);
    }
}

/* Which layers own index keys has to be said where not all of them do. */
static void shared_indexes_are_counted_where_they_are_named(void **state)
{
    static const struct {
        const char *keys;
        int own; /* of 4; -1: the cache is not known */
    } cases[] = {
        {"\"index_topk_freq\":1", 4},
        {"\"index_topk_freq\":2,\"indexer_types\":[\"full\",\"shared\",\"full\",\"shared\"]", 2},
        {"\"index_topk_freq\":2", -1},
        {"\"index_topk_pattern\":\"FSFS\"", -1},
        {"\"indexer_types\":[\"full\",\"other\",\"full\",\"full\"]", -1},
        {"\"indexer_types\":[\"full\"]", -1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture_model f;
        struct cost c;
        assert_int_equal(
            fixture_build(&f, NULL,
                          "{\"model_type\":\"glm_moe_dsa\"," BASE "\"num_hidden_layers\":4,"
                          "\"kv_lora_rank\":512,\"q_lora_rank\":32,\"qk_nope_head_dim\":16,"
                          "\"qk_rope_head_dim\":64,\"v_head_dim\":16,\"index_n_heads\":2,"
                          "\"index_head_dim\":128,\"index_topk\":16,%s}",
                          cases[i].keys),
            0);
        bool known = cost_of(&f.m, &c, &f.e) == 0;
        if (known != (cases[i].own >= 0))
            fail_msg("%s: %s", cases[i].keys, known ? "known" : f.e.msg);
        if (known) {
            assert_int_equal(c.cache_token_bytes, 4 * (512 + 64) * 2 + cases[i].own * 256);
            assert_int_equal(c.fp8_step_bytes, 4 * 656 + cases[i].own * 132);
            cost_release(&c);
        }
        fixture_end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_spelling_gives_the_layers_their_kinds),
        cmocka_unit_test(windows_take_their_own_shape),
        cmocka_unit_test(full_layers_take_their_own_shape),
        cmocka_unit_test(shared_indexes_are_counted_where_they_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
