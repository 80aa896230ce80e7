/* What each rule of the checklist makes of facts. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "tests/unit/rule_facts.h"

/* --- item 1 --------------------------------------------------------------------------------- */

static void formats_headers(void **state)
{
    (void)state;
    EXPECT("formats.headers", PASS, "150 tensor headers", I(MODEL_TENSORS, "", 150));
    EXPECT("formats.headers", UNKNOWN, "No tensor headers were read (why)",
           UNKNOWN(MODEL_TENSORS, ""));
    EXPECT("formats.headers", UNKNOWN, "No tensor headers", I(MODEL_TENSORS, "", 0));
    EXPECT("formats.headers", UNKNOWN, "1 of 151 tensors", I(MODEL_TENSORS, "", 151));
    EXPECT("formats.headers", UNKNOWN, "50 of 150 tensors", DROP(FORMAT_OBSERVED, "attention"));
}

static void formats_support(void **state)
{
    static const struct {
        const char *word;
        enum verdict_status status;
    } words[] = {
        {"native", VERDICT_PASS},     {"supported", VERDICT_WARN}, {"weight_only", VERDICT_WARN},
        {"convert", VERDICT_WARN},    {"expand", VERDICT_WARN},    {"reject", VERDICT_FAIL},
        {"unknown", VERDICT_UNKNOWN}, {"Native", VERDICT_UNKNOWN}, {"", VERDICT_UNKNOWN}};

    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const struct spec c[] = {T(FORMAT_SUPPORT, "attention|sglang|sm100", words[i].word)};
        expect_with("", c, 1, "formats.support", words[i].status, "", __LINE__);
    }
    EXPECT("formats.support", UNKNOWN, "nothing is known about attention (bf16): why",
           UNKNOWN(FORMAT_SUPPORT, "attention|vllm|sm90"));
    EXPECT("formats.support", UNKNOWN, "vLLM on sm90: nothing is known about attention",
           DROP(FORMAT_SUPPORT, "attention|vllm|sm90"));
    EXPECT("formats.support", UNKNOWN, "nothing is known about attention: why",
           UNKNOWN(FORMAT_OBSERVED, "attention"));
    EXPECT("formats.support", PASS, "computes natively with routed_experts (mxfp4-pack-quantized)",
           ABSENT(FORMAT_OBSERVED, "head"));
}

/* MXFP4 has 4.25 bits a weight with its scales, so 16 bits take 3.7647 times as much (facts: 3.76).
 */
static void formats_expand_says_the_size(void **state)
{
    (void)state;
    EXPECT("formats.support", WARN,
           "expands to 16 bits at load routed_experts (mxfp4-pack-quantized) from 4.25 GB to about "
           "16 GB",
           T(FORMAT_SUPPORT, "routed_experts|vllm|sm90", "expand"));
    EXPECT("formats.support", WARN, "from 4.25 GB to about 15.1 GB", /* int4 g32: 3.556 times */
           T(FORMAT_SUPPORT, "routed_experts|vllm|sm90", "expand"),
           T(FORMAT_OBSERVED, "routed_experts", "pack-quantized-int4-g32"));
    EXPECT("formats.support", WARN, "from 4.25 GB to a size that is not known",
           T(FORMAT_SUPPORT, "routed_experts|vllm|sm90", "expand"),
           T(FORMAT_OBSERVED, "routed_experts", "exl3"));
}

static void formats_reject_outweighs_unknown(void **state)
{
    (void)state;
    EXPECT("formats.support", FAIL,
           "rejects attention (bf16); nothing is known about routed_experts",
           T(FORMAT_SUPPORT, "attention|vllm|sm90", "reject"),
           DROP(FORMAT_SUPPORT, "routed_experts|vllm|sm90"));
}

static void formats_declared(void **state)
{
    (void)state;
    EXPECT("formats.declared", WARN, "attention (declared fp8, observed bf16)",
           T(FORMAT_DISAGREES, "attention", "declared fp8, observed bf16"));
    EXPECT("formats.declared", WARN, "could not be read for attention (why)",
           UNKNOWN(FORMAT_DECLARED, "attention"));
    EXPECT("formats.declared", WARN, "could not be read for attention",
           T(FORMAT_DECLARED, "attention", "unknown"));
    EXPECT("formats.declared", PASS, "Each module class (2 in all)",
           ABSENT(FORMAT_DISAGREES, "attention"));
}

static void formats_findings(void **state)
{
    (void)state;
    EXPECT("formats.findings", FAIL, "shard 2 is missing.",
           T(MODEL_FINDING, "shard-missing", "failure: shard 2 is missing."));
    EXPECT("formats.findings", WARN, "A is odd. B is odd.",
           T(MODEL_FINDING, "odd", "warning: A is odd."),
           T(MODEL_FINDING, "odd 2", "warning: B is odd."));
    EXPECT("formats.findings", PASS, "do not contradict",
           T(MODEL_FINDING, "padding", "note: A_log is padded."));
    EXPECT("formats.findings", UNKNOWN, "odd", T(MODEL_FINDING, "odd", "oddly: nothing."));
    EXPECT("formats.findings", UNKNOWN, "odd", UNKNOWN(MODEL_FINDING, "odd"));
    EXPECT("formats.findings", PASS, "", /* formats.declared tells it */
           T(MODEL_FINDING, "format-disagrees", "warning: attention differs."));
}

/* --- item 2 --------------------------------------------------------------------------------- */

static void operators_support(void **state)
{
    (void)state;
    EXPECT("operators.support", WARN, "a part of the cases of attention.kda",
           T(OPERATOR_SUPPORT, "attention.kda|vllm", "partial"));
    EXPECT("operators.support", FAIL, "no implementation of attention.kda",
           T(OPERATOR_SUPPORT, "attention.kda|vllm", "none"));
    EXPECT("operators.support", UNKNOWN, "nothing is known about attention.kda (why)",
           UNKNOWN(OPERATOR_SUPPORT, "attention.kda|vllm"));
    EXPECT("operators.support", UNKNOWN, "SGLang: nothing is known about attention.mla",
           DROP(OPERATOR_SUPPORT, "attention.mla|sglang"));
    EXPECT("operators.support", UNKNOWN, "nothing is known",
           T(OPERATOR_SUPPORT, "attention.kda|vllm", "fusedish"));
}

/* The policy's loss is 3: only what is above it at the lower end of its spread fails. */
static void operators_fallback_loss(void **state)
{
    (void)state;
    EXPECT("operators.support", FAIL,
           "3.4 ± 0.1 times the fused time on this host's CPU, over the "
           "policy's 3",
           T(OPERATOR_SUPPORT, "attention.kda|vllm", "composed"));
    EXPECT("operators.support", WARN, "attention.kda (3.4 ± 0.5 times",
           T(OPERATOR_SUPPORT, "attention.kda|vllm", "composed"),
           R(FALLBACK_TIME, "attention.kda", 3.4, 0.5));
    EXPECT("operators.support", WARN, "attention.kda (2 ± 0.1 times",
           T(OPERATOR_SUPPORT, "attention.kda|vllm", "composed"),
           R(FALLBACK_TIME, "attention.kda", 2, 0.1));
    EXPECT("operators.support", WARN, "attention.mla (loss not measured)",
           T(OPERATOR_SUPPORT, "attention.mla|vllm", "composed"));
    EXPECT("operators.support", UNKNOWN, "attention.kda (loss not measured: why)",
           T(OPERATOR_SUPPORT, "attention.kda|vllm", "composed"),
           UNKNOWN(FALLBACK_TIME, "attention.kda"));
    EXPECT_POLICY(",\"operators\":{\"fallback_time_max_ratio\":4}", "operators.support", WARN,
                  "3.4", T(OPERATOR_SUPPORT, "attention.kda|vllm", "composed"));
}

static void operators_known(void **state)
{
    (void)state;
    EXPECT("operators.known", PASS, "name 2 operators", I(OPERATOR_LAYERS, "attention.kda", 3));
    EXPECT("operators.known", UNKNOWN, "may have holes: x_mode",
           T(MODEL_UNEXPLAINED, "x_mode", "x_mode"));
    EXPECT("operators.known", UNKNOWN, "are not known: why", UNKNOWN(OPERATOR_LAYERS, ""));
    EXPECT("operators.known", UNKNOWN, "no config was understood",
           DROP(OPERATOR_LAYERS, "attention.kda"), DROP(OPERATOR_LAYERS, "attention.mla"));
}

/* --- item 3 --------------------------------------------------------------------------------- */

static const struct spec no_ladder = {
    .key = FACT_STRESS_REACHED, .scope = "", .state = FACT_UNKNOWN, .text = "no such family"};

static void context_ladder(void **state)
{
    (void)state;
    EXPECT("context.ladder", UNKNOWN, "run for MLA", DROP(STRESS_REACHED, "mla"));
    EXPECT("context.ladder", UNKNOWN, "run for GQA", I(MODEL_LAYERS, "gqa", 1),
           I(MODEL_LAYERS, "", 5));
    EXPECT("context.ladder", PASS, "each of the 3 mixer kinds", I(MODEL_LAYERS, "gqa", 1),
           I(MODEL_LAYERS, "", 5), I(STRESS_REACHED, "gqa.window", 1048576));
    EXPECT("context.ladder", UNKNOWN, "mixer of 2 layers is not known", I(MODEL_LAYERS, "", 6));
    EXPECT("context.ladder", UNKNOWN, "mixers of the model are not known (no such family)",
           DROP(MODEL_LAYERS, "kda"), DROP(MODEL_LAYERS, "mla"), no_ladder);
    EXPECT("context.ladder", UNKNOWN, "run for MLA (no such family)", DROP(STRESS_REACHED, "mla"),
           no_ladder);
}

/* A ladder that was not run at all leaves one unknown fact without a scope: nothing is judged of it
 * but that there was no ladder. */
static void context_of_no_kind_is_told_once(void **state)
{
    struct judged j;

    (void)state;
    judge_with("", &no_ladder, 1, 3, &j);
    for (size_t i = 0; i < j.set.count; i++)
        if (strncmp(j.set.items[i].text, ": ", 2) == 0)
            fail_msg("%s judges what has no name%s", j.set.items[i].rule, j.set.items[i].text);
    release(&j);
}

static void context_cache(void **state)
{
    (void)state;
    EXPECT("context.cache", FAIL,
           "MLA: the cache should be linear in the context length, and is "
           "constant",
           T(STRESS_GROWTH, "mla", "constant"));
    EXPECT("context.cache", FAIL, "is irregular", T(STRESS_GROWTH, "mla", "irregular"));
    EXPECT("context.cache", UNKNOWN, "growth of the cache is not known (why)",
           UNKNOWN(STRESS_GROWTH, "mla"));
    EXPECT("context.cache", UNKNOWN, "", T(STRESS_GROWTH_EXPECTED, "mla", "unknown"),
           T(STRESS_GROWTH, "mla", "unknown"));
    EXPECT("context.cache", PASS, "off by at most 1.9 ± 0.1 %",
           R(STRESS_CACHE_OFF, "mla", 0.019, 0.001), R(STRESS_CACHE_OFF, "kda", 0.019, 0.001));
    EXPECT("context.cache", FAIL, "more than the policy's 2",
           R(STRESS_CACHE_OFF, "mla", 0.022, 0.001));
    EXPECT("context.cache", UNKNOWN, "decides nothing", R(STRESS_CACHE_OFF, "mla", 0.021, 0.002));
    EXPECT("context.cache", UNKNOWN, "decides nothing", R(STRESS_CACHE_OFF, "mla", 0.019, 0.002));
    EXPECT("context.cache", UNKNOWN, "", R(STRESS_CACHE_OFF, "mla", NAN, 0));
    EXPECT("context.cache", WARN, "The fit is not as predicted: slope 5 % off",
           T(STRESS_CACHE_AGREES, "mla", "slope 5 % off"));
    /* a window that fills beyond the ladder's end, and one that should have filled */
    EXPECT("context.cache", UNKNOWN, "beyond the ladder's end",
           T(STRESS_GROWTH_EXPECTED, "mla", "plateau"), I(STRESS_REACHED, "mla", 65536));
    EXPECT("context.cache", FAIL, "should be plateau", T(STRESS_GROWTH_EXPECTED, "mla", "plateau"));
    EXPECT_POLICY(",\"context\":{\"cache_off_max_ratio\":0.05}", "context.cache", PASS, "",
                  R(STRESS_CACHE_OFF, "mla", 0.04, 0.001));
}

static void context_reached(void **state)
{
    static const struct spec short_mla = I(STRESS_REACHED, "mla", 65536);
    struct judged j;

    (void)state;
    EXPECT("context.reached", PASS, "", I(STRESS_REACHED, "mla", 1048576));
    EXPECT("context.reached", UNKNOWN, "up to 1048575 tokens", I(STRESS_REACHED, "mla", 1048575));
    EXPECT("context.reached", UNKNOWN,
           "MLA: measured up to 64K tokens of the 1M asked for (the ladder was not asked to go "
           "further); the "
           "shorter targets were reached",
           short_mla);
    EXPECT("context.reached", UNKNOWN, "(at 128K tokens: memory); what lies",
           I(STRESS_REACHED, "mla", 16384), T(STRESS_LIMIT, "mla", "at 128K tokens: memory"));
    EXPECT_POLICY(",\"context\":{\"extrapolation\":\"warn\"}", "context.reached", WARN,
                  "extrapolated", short_mla);
    EXPECT("context.reached", UNKNOWN, "not known", UNKNOWN(STRESS_REACHED, "mla"));
    /* no ladder at all is told once, by the rule on the ladder */
    static const struct spec none[] = {UNKNOWN(STRESS_REACHED, "mla"),
                                       UNKNOWN(STRESS_REACHED, "kda")};
    judge_with("", none, 2, 3, &j);
    assert_null(of_rule(&j, "context.reached"));
    assert_null(of_rule(&j, "context.cache"));
    assert_int_equal(of_rule(&j, "context.ladder")->status, VERDICT_UNKNOWN);
    assert_int_equal(status(&j, VERDICT_CONTEXT), VERDICT_UNKNOWN);
    release(&j);
    /* a growing cache is not settled, whatever the number of lengths */
    EXPECT("context.reached", UNKNOWN, "KDA", T(STRESS_GROWTH, "kda", "linear"),
           T(STRESS_GROWTH_EXPECTED, "kda", "linear"));
    EXPECT("context.reached", UNKNOWN, "KDA", T(STRESS_GROWTH_EXPECTED, "kda", "plateau"));
    EXPECT_POLICY(",\"context\":{\"constant_min_lengths\":4}", "context.reached", UNKNOWN, "KDA",
                  I(STRESS_REACHED, "kda", 65536));
    /* two measured lengths and many predicted ones are too few */
    judge_with("", NULL, 0, 2, &j);
    assert_int_equal(of_rule(&j, "context.reached")->status, VERDICT_UNKNOWN);
    release(&j);
}

static void context_decode(void **state)
{
    (void)state;
    EXPECT("context.decode", WARN, "KDA: decode time on this host is linear",
           T(STRESS_DECODE_GROWTH, "kda", "linear"));
    EXPECT("context.decode", UNKNOWN, "growth of decode time is not known",
           UNKNOWN(STRESS_DECODE_GROWTH, "kda"));
    EXPECT("context.decode", WARN, "not steady (unstable: 11 epochs)",
           T(STRESS_DECODE_QUALITY, "kda", "unstable: 11 epochs"));
}

static void context_latency(void **state)
{
    static const char bound[] = ",\"context\":{\"decode_layer_max_ns\":2000000}";
    struct judged j;

    (void)state;
    judge_with("", NULL, 0, 3, &j);
    assert_null(of_rule(&j, "context.latency"));
    release(&j);
    EXPECT_POLICY(bound, "context.latency", UNKNOWN, "within the spread",
                  R(STRESS_DECODE, "mla", 2000000, 5000));
    EXPECT_POLICY(bound, "context.latency", PASS, "", R(STRESS_DECODE, "mla", 1990000, 5000));
    EXPECT_POLICY(bound, "context.latency", FAIL, "MLA", R(STRESS_DECODE, "mla", 2010000, 5000));
    EXPECT_POLICY(bound, "context.latency", UNKNOWN, "MLA", UNKNOWN(STRESS_DECODE, "mla"));
}

/* --- item 4 --------------------------------------------------------------------------------- */

static void experts_of_a_dense_model_are_not_applicable(void **state)
{
    static const struct spec dense[] = {
        ABSENT(MODEL_EXPERTS, ""),           DROP(BALANCE_SOURCE, ""),
        DROP(BALANCE_TOKENS_PER_EXPERT, ""), DROP(BALANCE_MAX_MEAN, "worst"),
        DROP(BALANCE_MAX_MEAN, "3"),         DROP(BALANCE_MAX_MEAN_FLOOR, ""),
        DROP(BALANCE_CV, "worst"),           DROP(BALANCE_CV_FLOOR, ""),
        DROP(BALANCE_UNUSED, "worst"),
    };
    struct judged j;

    (void)state;
    judge_with("", dense, sizeof dense / sizeof dense[0], 3, &j);
    assert_int_equal(status(&j, VERDICT_EXPERTS), VERDICT_NOT_APPLICABLE);
    assert_int_equal(status(&j, VERDICT_READINESS), VERDICT_PASS);
    assert_non_null(strstr(rules_sum(&j.set, VERDICT_EXPERTS)->text, "dense"));
    release(&j);
    EXPECT("experts.evidence", NOT_APPLICABLE, "dense", I(MODEL_EXPERTS, "", 0));
    EXPECT("experts.evidence", UNKNOWN, "has experts is not known", DROP(MODEL_EXPERTS, ""));
    EXPECT("experts.evidence", UNKNOWN, "has experts is not known (why)",
           UNKNOWN(MODEL_EXPERTS, ""));
}

/* Synthetic inputs can neither pass nor fail a model. */
static void experts_on_synthetic_inputs_warn_at_most_and_at_least(void **state)
{
    static const char strict[] = ",\"experts\":{\"accept_synthetic\":false}";
    static const struct spec synthetic = T(BALANCE_SOURCE, "", "synthetic inputs, seed 1");
    static const struct spec hot[] = {T(BALANCE_SOURCE, "", "synthetic inputs, seed 1"),
                                      R(BALANCE_MAX_MEAN, "worst", 50, 0)};
    struct judged j;

    (void)state;
    EXPECT("experts.evidence", WARN, "recorded traffic was not given", synthetic);
    EXPECT_POLICY(strict, "experts.evidence", UNKNOWN, "recorded traffic was not given", synthetic);
    judge_with("", hot, 2, 3, &j);
    assert_int_equal(of_rule(&j, "experts.load")->status, VERDICT_WARN);
    assert_int_equal(status(&j, VERDICT_EXPERTS), VERDICT_WARN);
    release(&j);
    EXPECT("experts.evidence", UNKNOWN, "", T(BALANCE_SOURCE, "", "a dream"));
    EXPECT("experts.evidence", UNKNOWN, "layer 3: no time",
           T(BALANCE_LEFT_OUT, "", "layer 3: no time"));
}

static void experts_load_is_judged_over_chance(void **state)
{
    (void)state;
    EXPECT("experts.load", PASS, "is 1.2 in the worst layer; even routing gives 1.06 by chance",
           R(BALANCE_MAX_MEAN, "3", 1.1, 0));
    EXPECT("experts.load", WARN, "", R(BALANCE_MAX_MEAN, "worst", 1.32, 0));
    /* at the threshold is not over it */
    EXPECT("experts.load", WARN, "", R(BALANCE_MAX_MEAN, "worst", 2, 0),
           R(BALANCE_MAX_MEAN_FLOOR, "", 1, 0));
    EXPECT("experts.load", PASS, "", R(BALANCE_MAX_MEAN, "worst", 1.25, 0),
           R(BALANCE_MAX_MEAN_FLOOR, "", 1, 0));
    EXPECT("experts.load", FAIL, "", R(BALANCE_MAX_MEAN, "worst", 2.07, 0));
    /* the same load, when chance alone gives as much */
    EXPECT("experts.load", PASS, "", R(BALANCE_MAX_MEAN, "worst", 2.07, 0),
           R(BALANCE_MAX_MEAN_FLOOR, "", 1.9, 0));
    /* a layer worse than what is called the worst decides */
    EXPECT("experts.load", FAIL, "", R(BALANCE_MAX_MEAN, "3", 5, 0));
    EXPECT("experts.load", UNKNOWN, "chance", UNKNOWN(BALANCE_MAX_MEAN_FLOOR, ""));
    EXPECT("experts.spread", WARN, "coefficient of variation is 0.2",
           R(BALANCE_CV, "worst", 0.2, 0));
    EXPECT("experts.spread", FAIL, "", R(BALANCE_CV, "worst", 0.79, 0));
    EXPECT("experts.tokens", UNKNOWN, "49 tokens in the mean; under 50",
           R(BALANCE_TOKENS_PER_EXPERT, "", 49, 0));
    EXPECT("experts.tokens", PASS, "", R(BALANCE_TOKENS_PER_EXPERT, "", 50, 0));
    EXPECT("experts.unused", WARN, "3 experts got no token", I(BALANCE_UNUSED, "worst", 3));
    EXPECT_POLICY(",\"experts\":{\"unused_max_experts\":3}", "experts.unused", PASS, "",
                  I(BALANCE_UNUSED, "worst", 3));
}

/* --- item 5 --------------------------------------------------------------------------------- */

static void fingerprint(void **state)
{
    (void)state;
    EXPECT("fingerprint.digest", UNKNOWN, "no digest over all files (why)",
           UNKNOWN(FINGERPRINT_DIGEST, ""));
    EXPECT("fingerprint.digest", UNKNOWN, "", I(FINGERPRINT_FILES, "", 0));
    /* a config alone has a digest, and it ties nothing down */
    EXPECT("fingerprint.digest", UNKNOWN, "no weights are known to be among them (why)",
           UNKNOWN(MODEL_TENSORS, ""));
    EXPECT("fingerprint.files", FAIL, "a (missing)", T(FINGERPRINT_PROBLEM, "a", "missing"));
    EXPECT("fingerprint.files", FAIL, "", T(FINGERPRINT_PROBLEM, "a", "short: 3 of 4 bytes"));
    EXPECT("fingerprint.files", FAIL, "", T(FINGERPRINT_PROBLEM, "a", "long"));
    EXPECT("fingerprint.files", FAIL, "", T(FINGERPRINT_PROBLEM, "a", "malformed: header"));
    EXPECT("fingerprint.files", UNKNOWN, "", T(FINGERPRINT_PROBLEM, "a", "pointer"));
    EXPECT("fingerprint.files", UNKNOWN, "", T(FINGERPRINT_PROBLEM, "a", "unreadable: EACCES"));
    EXPECT("fingerprint.files", UNKNOWN, "", T(FINGERPRINT_PROBLEM, "a", "changed while read"));
    EXPECT("fingerprint.files", UNKNOWN, "", T(FINGERPRINT_PROBLEM, "a", "shortish"));
    EXPECT("fingerprint.files", UNKNOWN, "", UNKNOWN(FINGERPRINT_PROBLEM, "a"));
    EXPECT("fingerprint.files", PASS, "", ABSENT(FINGERPRINT_PROBLEM, ""));
    EXPECT("fingerprint.baseline", FAIL, "not those of baseline prod (changed: 1 file)",
           T(FINGERPRINT_BASELINE, "prod", "changed: 1 file"));
    EXPECT("fingerprint.baseline", PASS, "can be the first", DROP(FINGERPRINT_BASELINE, "prod"),
           ABSENT(FINGERPRINT_BASELINE, ""));
    EXPECT("fingerprint.baseline", UNKNOWN, "prod is not known (why)",
           UNKNOWN(FINGERPRINT_BASELINE, "prod"));
    EXPECT("fingerprint.baseline", UNKNOWN, "not recorded", DROP(FINGERPRINT_BASELINE, "prod"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_headers),
        cmocka_unit_test(formats_support),
        cmocka_unit_test(formats_expand_says_the_size),
        cmocka_unit_test(formats_reject_outweighs_unknown),
        cmocka_unit_test(formats_declared),
        cmocka_unit_test(formats_findings),
        cmocka_unit_test(operators_support),
        cmocka_unit_test(operators_fallback_loss),
        cmocka_unit_test(operators_known),
        cmocka_unit_test(context_ladder),
        cmocka_unit_test(context_of_no_kind_is_told_once),
        cmocka_unit_test(context_cache),
        cmocka_unit_test(context_reached),
        cmocka_unit_test(context_decode),
        cmocka_unit_test(context_latency),
        cmocka_unit_test(experts_of_a_dense_model_are_not_applicable),
        cmocka_unit_test(experts_on_synthetic_inputs_warn_at_most_and_at_least),
        cmocka_unit_test(experts_load_is_judged_over_chance),
        cmocka_unit_test(fingerprint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
