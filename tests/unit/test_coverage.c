/* Facts about the model against the support tables. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "audit/coverage.h"
#include <stdio.h>
#include <string.h>

static const char formats[] = SUPPORT_FORMATS_HEADER
    "\n"
    "alpha,bf16,any,native,,alpha docs,2026-08\n"
    "alpha,mxfp4-pack-quantized,sm100,native,,alpha docs,2026-08\n"
    "alpha,mxfp4-pack-quantized,sm100,weight_only,act=situ; no SiTU in the kernel,alpha "
    "#9,2026-09\n"
    "alpha,mxfp4-pack-quantized,sm90,expand,option=slow; at load,alpha #8,2026-07-03\n"
    "alpha,fp8,any,reject,,alpha docs,2026-08\n";
static const char operators[] =
    SUPPORT_OPERATORS_HEADER "\n"
                             "alpha,attention.kda,sm90,composed,,alpha docs,2026-08\n"
                             "alpha,attention.kda,sm100,fused,,alpha docs,2026-08\n"
                             "alpha,attention.mla,any,fused,,alpha docs,2026-08\n"
                             "alpha,moe.latent,any,none,,alpha #1,2026-08\n";

struct world {
    struct fact_list facts;
    struct fact_sink sink;
    struct policy policy;
    struct support support;
    char rows[4096]; /* "kind entry hardware status;" of each row told */
};

static int keep_row(void *ctx, const struct run_support *row, struct err *e)
{
    struct world *w = ctx;
    size_t n = strlen(w->rows);

    (void)e;
    snprintf(w->rows + n, sizeof w->rows - n, "%s %s %s %s;", row->kind, row->entry, row->hardware,
             row->status);
    return 0;
}

static void begin(struct world *w)
{
    static const char policy[] =
        "{\"target\":{\"backends\":[{\"name\":\"alpha\",\"hardware\":\"sm90\"},"
        "{\"name\":\"alpha\",\"hardware\":\"sm100\"},{\"name\":\"omega\",\"hardware\":\"sm90\"}]}}";
    struct err e = {0};

    memset(w, 0, sizeof *w);
    fact_list_init(&w->facts);
    w->sink = fact_list_sink(&w->facts);
    assert_int_equal(policy_parse(policy, strlen(policy), &w->policy, &e), 0);
    if (support_add(&w->support, formats, strlen(formats), "formats", &e) ||
        support_add(&w->support, operators, strlen(operators), "operators", &e))
        fail_msg("%s", e.msg);
}

static void end(struct world *w)
{
    fact_list_release(&w->facts);
    policy_release(&w->policy);
    support_release(&w->support);
}

static void format(struct world *w, const char *class, const char *name)
{
    struct err e = {0};

    assert_int_equal(fact_put_text(&w->sink, FACT_FORMAT_OBSERVED, class, name, "t", &e), 0);
}

static void operator(struct world *w, const char *name)
{
    struct err e = {0};

    assert_int_equal(fact_put_int(&w->sink, FACT_OPERATOR_LAYERS, name, 1, "t", &e), 0);
}

static void cover(struct world *w)
{
    struct err e = {0};

    if (coverage_put(&w->facts, &w->policy, &w->support, &w->sink, keep_row, w, &e))
        fail_msg("%s", e.msg);
}

static const struct fact *get(const struct world *w, enum fact_key key, const char *scope)
{
    const struct fact *f = fact_list_find(&w->facts, key, scope);

    if (!f)
        fail_msg("no fact of scope %s", scope);
    return f;
}

static void is(const struct world *w, enum fact_key key, const char *scope, const char *text,
               const char *source)
{
    const struct fact *f = get(w, key, scope);

    if (f->state != FACT_KNOWN || strcmp(f->text, text) != 0 || strcmp(f->source, source) != 0)
        fail_msg("%s: %s \"%s\" from \"%s\", not \"%s\" from \"%s\"", scope,
                 fact_state_name(f->state), f->text ? f->text : "", f->source, text, source);
}

static void is_unknown(const struct world *w, enum fact_key key, const char *scope,
                       const char *says)
{
    const struct fact *f = get(w, key, scope);

    if (f->state != FACT_UNKNOWN || !strstr(f->why, says))
        fail_msg("%s: %s, \"%s\", not unknown with \"%s\"", scope, fact_state_name(f->state),
                 f->why ? f->why : "", says);
}

static void formats_get_a_fact_for_each_target(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    format(&w, "attention", "bf16");
    format(&w, "head", "fp8");
    cover(&w);
    assert_int_equal(w.facts.count, 2 + 2 * 3);
    is(&w, FACT_FORMAT_SUPPORT, "attention|alpha|sm90", "native", "alpha docs, 2026-08");
    is(&w, FACT_FORMAT_SUPPORT, "attention|alpha|sm100", "native", "alpha docs, 2026-08");
    is(&w, FACT_FORMAT_SUPPORT, "head|alpha|sm90", "reject", "alpha docs, 2026-08");
    is_unknown(&w, FACT_FORMAT_SUPPORT, "head|omega|sm90", "no row of omega");
    end(&w);
}

static void a_condition_stands_in_the_source(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    format(&w, "routed_experts", "mxfp4-pack-quantized");
    cover(&w);
    is(&w, FACT_FORMAT_SUPPORT, "routed_experts|alpha|sm90", "expand",
       "alpha #8, 2026-07-03 (option=slow; at load)");
    end(&w);
}

/* SiTU is part of a kernel's signature: what runs SiLU natively may not run SiTU. */
static void the_activation_decides_for_feed_forwards_only(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    operator(&w, "activation.situ");
    format(&w, "routed_experts", "mxfp4-pack-quantized");
    format(&w, "attention", "mxfp4-pack-quantized");
    cover(&w);
    is(&w, FACT_FORMAT_SUPPORT, "routed_experts|alpha|sm100", "weight_only",
       "alpha #9, 2026-09 (act=situ; no SiTU in the kernel)");
    is(&w, FACT_FORMAT_SUPPORT, "attention|alpha|sm100", "native", "alpha docs, 2026-08");
    end(&w);
    begin(&w);
    operator(&w, "activation.silu");
    format(&w, "routed_experts", "mxfp4-pack-quantized");
    cover(&w);
    is(&w, FACT_FORMAT_SUPPORT, "routed_experts|alpha|sm100", "native", "alpha docs, 2026-08");
    end(&w);
    /* with two activations it is not known which one the experts have: the worse row decides */
    begin(&w);
    operator(&w, "activation.silu");
    operator(&w, "activation.situ");
    format(&w, "routed_experts", "mxfp4-pack-quantized");
    cover(&w);
    is(&w, FACT_FORMAT_SUPPORT, "routed_experts|alpha|sm100", "weight_only",
       "alpha #9, 2026-09 (act=situ; no SiTU in the kernel)");
    end(&w);
}

static void a_class_of_two_formats_is_as_bad_as_the_worse(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    format(&w, "attention", "bf16+fp8");
    format(&w, "head", "bf16+exl3");
    cover(&w);
    is(&w, FACT_FORMAT_SUPPORT, "attention|alpha|sm100", "reject", "alpha docs, 2026-08");
    is_unknown(&w, FACT_FORMAT_SUPPORT, "head|alpha|sm100", "exl3");
    end(&w);
}

static void what_is_in_no_table_is_unknown_and_says_how_old_it_is(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    format(&w, "head", "exl3");
    operator(&w, "norm.rms");
    cover(&w);
    is_unknown(&w, FACT_FORMAT_SUPPORT, "head|alpha|sm90", "exl3");
    is_unknown(&w, FACT_FORMAT_SUPPORT, "head|alpha|sm90", "the newest row of alpha is of 2026-09");
    is_unknown(&w, FACT_OPERATOR_SUPPORT, "norm.rms|alpha", "norm.rms");
    is_unknown(&w, FACT_OPERATOR_SUPPORT, "norm.rms|alpha",
               "the newest row of alpha is of 2026-08");
    end(&w);
}

static void an_unknown_format_keeps_its_reason(void **state)
{
    struct world w;
    struct err e = {0};

    (void)state;
    begin(&w);
    assert_int_equal(fact_put_unknown(&w.sink, FACT_FORMAT_OBSERVED, "attention", "no headers", &e),
                     0);
    assert_int_equal(fact_put_absent(&w.sink, FACT_FORMAT_OBSERVED, "head", "t", &e), 0);
    cover(&w);
    assert_int_equal(w.facts.count, 2 + 3);
    is_unknown(&w, FACT_FORMAT_SUPPORT, "attention|alpha|sm90", "no headers");
    assert_string_equal(w.rows, "");
    end(&w);
}

/* An operator is asked about once for each backend: what holds on all the hardware it names. */
static void operators_get_the_worst_over_the_hardware(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    operator(&w, "attention.kda");
    operator(&w, "attention.mla");
    operator(&w, "moe.latent");
    cover(&w);
    assert_int_equal(w.facts.count, 3 + 3 * 2);
    is(&w, FACT_OPERATOR_SUPPORT, "attention.kda|alpha", "composed", "alpha docs, 2026-08");
    is(&w, FACT_OPERATOR_SUPPORT, "attention.mla|alpha", "fused", "alpha docs, 2026-08");
    is(&w, FACT_OPERATOR_SUPPORT, "moe.latent|alpha", "none", "alpha #1, 2026-08");
    is_unknown(&w, FACT_OPERATOR_SUPPORT, "attention.kda|omega", "no row of omega");
    end(&w);
}

static void unknown_on_one_hardware_outweighs_fused_on_another(void **state)
{
    static const char one[] = SUPPORT_OPERATORS_HEADER "\nalpha,rope,sm100,fused,,d,2026-08\n";
    struct err e = {0};
    struct world w;

    (void)state;
    begin(&w);
    assert_int_equal(support_add(&w.support, one, strlen(one), "one", &e), 0);
    operator(&w, "rope");
    cover(&w);
    is_unknown(&w, FACT_OPERATOR_SUPPORT, "rope|alpha", "sm90");
    end(&w);
}

static void each_deciding_row_is_told_once(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    format(&w, "attention", "bf16");
    format(&w, "router", "bf16");
    operator(&w, "attention.kda");
    cover(&w);
    assert_string_equal(w.rows, "format bf16 any native;operator attention.kda sm90 composed;"
                                "operator attention.kda sm100 fused;");
    end(&w);
}

static int refuse(void *ctx, const struct fact *f, struct err *e)
{
    (void)ctx;
    (void)f;
    return err_set(e, ERR_DB, "disk full");
}

static void a_sink_that_refuses_ends_it(void **state)
{
    struct fact_sink sink = {.put = refuse};
    struct err e = {0};
    struct world w;

    (void)state;
    begin(&w);
    format(&w, "attention", "bf16");
    assert_int_equal(coverage_put(&w.facts, &w.policy, &w.support, &sink, NULL, NULL, &e), ERR_DB);
    end(&w);
}

static void a_scope_that_does_not_fit_is_an_error(void **state)
{
    char class[COVERAGE_SCOPE_BYTES];
    struct err e = {0};
    struct world w;

    (void)state;
    memset(class, 'c', sizeof class - 1);
    class[sizeof class - 1] = '\0';
    begin(&w);
    format(&w, class, "bf16");
    assert_int_equal(coverage_put(&w.facts, &w.policy, &w.support, &w.sink, NULL, NULL, &e),
                     ERR_LIMIT);
    end(&w);
}

/* Kimi K3's experts against the shipped table: MXFP4 with SiTU is weight-only in vLLM on every GPU
 * (facts: coverage-bugs 9), and native on sm100 in SGLang. */
static void the_shipped_table_knows_kimi_k3(void **state)
{
    struct err e = {0};
    struct world w;

    (void)state;
    begin(&w);
    policy_release(&w.policy);
    policy_builtin(&w.policy);
    support_release(&w.support);
    assert_int_equal(support_init(&w.support, &e), 0);
    operator(&w, "activation.situ");
    operator(&w, "attention.kda");
    format(&w, "routed_experts", "mxfp4-pack-quantized");
    cover(&w);
    assert_string_equal(get(&w, FACT_FORMAT_SUPPORT, "routed_experts|vllm|sm100")->text,
                        "weight_only");
    assert_string_equal(get(&w, FACT_FORMAT_SUPPORT, "routed_experts|vllm|sm90")->text,
                        "weight_only");
    assert_string_equal(get(&w, FACT_FORMAT_SUPPORT, "routed_experts|sglang|sm100")->text,
                        "native");
    assert_string_equal(get(&w, FACT_OPERATOR_SUPPORT, "attention.kda|vllm")->text, "fused");
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_get_a_fact_for_each_target),
        cmocka_unit_test(a_condition_stands_in_the_source),
        cmocka_unit_test(the_activation_decides_for_feed_forwards_only),
        cmocka_unit_test(a_class_of_two_formats_is_as_bad_as_the_worse),
        cmocka_unit_test(what_is_in_no_table_is_unknown_and_says_how_old_it_is),
        cmocka_unit_test(an_unknown_format_keeps_its_reason),
        cmocka_unit_test(operators_get_the_worst_over_the_hardware),
        cmocka_unit_test(unknown_on_one_hardware_outweighs_fused_on_another),
        cmocka_unit_test(each_deciding_row_is_told_once),
        cmocka_unit_test(a_sink_that_refuses_ends_it),
        cmocka_unit_test(a_scope_that_does_not_fit_is_an_error),
        cmocka_unit_test(the_shipped_table_knows_kimi_k3),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
