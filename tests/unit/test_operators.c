#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "fixture_model.h"
#include "model/operators.h"

/* A list such as "attention.mla 24, moe.route 92", in the table's order. */
static void listed(const struct operators *o, char *ret, size_t bytes)
{
    size_t n = 0;
    ret[0] = '\0';
    for (unsigned k = 0; k < OPERATORS_KINDS; k++)
        if (o->items[k].layers)
            n += (size_t)snprintf(ret + n, bytes - n, "%s%s %u", n ? ", " : "",
                                  operators_name((enum operators_kind)k), o->items[k].layers);
}

static const struct {
    const char *slug, *list;
} real[] = {
    {"aic-moonshotai--Kimi-K3",
     "attention.mla 24, attention.kda 69, attention.output_gate 93, conv.short 69, norm.rms 93, "
     "residual.attnres_block 93, activation.situ 93, moe.route 92, moe.grouped_gemm 92, "
     "moe.latent 92, moe.shared 92"},
    {"made-Kimi-Linear-48B-A3B",
     "attention.mla 7, attention.kda 20, attention.output_gate 20, conv.short 20, norm.rms 27, "
     "activation.silu 27, moe.route 26, moe.grouped_gemm 26, moe.shared 26"},
    {"aic-deepseek-ai--DeepSeek-V3",
     "attention.mla 61, rope 61, norm.rms 61, activation.silu 61, moe.route_grouped 58, "
     "moe.grouped_gemm 58, moe.shared 58, draft.mtp 1"},
    {"aic-moonshotai--Kimi-K2-Instruct",
     "attention.mla 61, rope 61, norm.rms 61, activation.silu 61, moe.route 60, "
     "moe.grouped_gemm 60, moe.shared 60"},
    {"aic-meta-llama--Llama-3.3-70B-Instruct",
     "attention.gqa 80, rope 80, norm.rms 80, activation.silu 80"},
    {"aic-Qwen--Qwen3-30B-A3B",
     "attention.gqa 48, rope 48, norm.rms 48, norm.qk 48, activation.silu 48, moe.route 48, "
     "moe.grouped_gemm 48"},
};

static void real_models_need_what_their_papers_say(void **state)
{
    size_t found = 0;
    (void)state;
    for (size_t i = 0; i < sizeof real / sizeof *real; i++) {
        struct fixture_model f;
        struct operators o;
        char have[1024];
        if (!fixture_real(&f, NULL, real[i].slug))
            continue;
        assert_int_equal(operators_of(&f.m, &o, &f.e), 0);
        listed(&o, have, sizeof have);
        if (strcmp(have, real[i].list))
            fail_msg("%s:\n%s", real[i].slug, have);
        fixture_end(&f);
        found++;
    }
    if (!found)
        skip();
}

static void evidence_names_the_keys(void **state)
{
    struct fixture_model f;
    struct operators o;
    (void)state;
    if (!fixture_real(&f, NULL, "aic-moonshotai--Kimi-K3"))
        skip();
    assert_int_equal(operators_of(&f.m, &o, &f.e), 0);
    assert_string_equal(o.items[OPERATORS_LATENT].evidence, "experts work in a width of 3584");
    assert_non_null(strstr(o.items[OPERATORS_ROUTE].evidence, "896 experts, top-16, sigmoid"));
    assert_non_null(strstr(o.items[OPERATORS_ATTNRES_BLOCK].evidence, "attn_res_block_size 12"));
    fixture_end(&f);
}

static void windows_and_full_layers_are_two_operators(void **state)
{
    struct fixture_model f;
    struct operators o;
    (void)state;
    assert_int_equal(
        fixture_build(&f, NULL,
                      "{\"model_type\":\"qwen2\",\"hidden_size\":64,\"intermediate_size\":160,"
                      "\"num_hidden_layers\":4,\"num_attention_heads\":4,"
                      "\"num_key_value_heads\":2,\"vocab_size\":100,\"hidden_act\":\"silu\","
                      "\"rms_norm_eps\":1e-06,\"use_sliding_window\":true,"
                      "\"sliding_window\":99,\"max_window_layers\":3}"),
        0);
    assert_int_equal(operators_of(&f.m, &o, &f.e), 0);
    assert_int_equal(o.items[OPERATORS_GQA].layers, 3);
    assert_int_equal(o.items[OPERATORS_WINDOW].layers, 1);
    fixture_end(&f);
}

static void a_list_with_holes_is_no_list(void **state)
{
    struct fixture_model f;
    struct operators o;
    struct fact_list l;
    (void)state;
    assert_int_equal(fixture_build(&f, NULL, "{" FIXTURE_LLAMA ",\"ssm_state_size\":16}"), 0);
    assert_int_equal(operators_of(&f.m, &o, &f.e), ERR_UNSUPPORTED);
    assert_non_null(strstr(f.e.msg, "ssm_state_size"));
    fact_list_init(&l);
    struct fact_sink sink = fact_list_sink(&l);
    assert_int_equal(operators_facts(NULL, f.e.msg, &sink, &f.e), 0);
    assert_int_equal(l.count, 1);
    assert_int_equal(l.items[0].state, FACT_UNKNOWN);
    assert_non_null(strstr(l.items[0].why, "ssm_state_size"));
    fact_list_release(&l);
    fixture_end(&f);
}

static void facts_are_scoped_by_the_operators_names(void **state)
{
    struct fixture_model f;
    struct operators o;
    struct fact_list l;
    (void)state;
    assert_int_equal(fixture_build(&f, NULL, "{" FIXTURE_LLAMA "}"), 0);
    assert_int_equal(operators_of(&f.m, &o, &f.e), 0);
    fact_list_init(&l);
    struct fact_sink sink = fact_list_sink(&l);
    assert_int_equal(operators_facts(&o, NULL, &sink, &f.e), 0);
    assert_int_equal(l.count, 4);
    assert_int_equal(fact_list_find(&l, FACT_OPERATOR_LAYERS, "attention.gqa")->i, 2);
    fact_list_release(&l);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_models_need_what_their_papers_say),
        cmocka_unit_test(evidence_names_the_keys),
        cmocka_unit_test(windows_and_full_layers_are_two_operators),
        cmocka_unit_test(a_list_with_holes_is_no_list),
        cmocka_unit_test(facts_are_scoped_by_the_operators_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
