/* The checklist: what each rule makes of facts, and that nothing unknown ever passes. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "audit/rules.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A fact, as tests write it. */
struct spec {
    enum fact_key key;
    const char *scope;
    enum fact_state state;
    int64_t i;
    double x, error;
    const char *text; /* value of a text, reason of an unknown */
    bool drop;        /* in a change: take the fact away */
};
#define T(k, scope_, text_)                             \
    {                                                   \
        .key = FACT_##k, .scope = scope_, .text = text_ \
    }
#define I(k, scope_, i_)                          \
    {                                             \
        .key = FACT_##k, .scope = scope_, .i = i_ \
    }
#define R(k, scope_, x_, error_)                                   \
    {                                                              \
        .key = FACT_##k, .scope = scope_, .x = x_, .error = error_ \
    }
#define ABSENT(k, scope_)                                      \
    {                                                          \
        .key = FACT_##k, .scope = scope_, .state = FACT_ABSENT \
    }
#define UNKNOWN(k, scope_)                                                     \
    {                                                                          \
        .key = FACT_##k, .scope = scope_, .state = FACT_UNKNOWN, .text = "why" \
    }
#define DROP(k, scope_)                                \
    {                                                  \
        .key = FACT_##k, .scope = scope_, .drop = true \
    }

/* Everything that a perfect audit of a small model with experts finds. */
static const struct spec full[] = {
    T(SUBJECT_PATH, "", "/models/m"),
    I(HOST_THREADS, "", 2),
    T(MODEL_FAMILY, "", "kimi_linear"),
    I(MODEL_LAYERS, "", 4),
    I(MODEL_LAYERS, "kda", 3),
    I(MODEL_LAYERS, "mla", 1),
    I(MODEL_TENSORS, "", 150),
    I(MODEL_EXPERTS, "", 8),
    T(FORMAT_OBSERVED, "routed_experts", "mxfp4-pack-quantized"),
    T(FORMAT_OBSERVED, "attention", "bf16"),
    T(FORMAT_DECLARED, "routed_experts", "mxfp4-pack-quantized"),
    T(FORMAT_DECLARED, "attention", "bf16"),
    I(FORMAT_BYTES, "routed_experts", 4250000000),
    I(FORMAT_TENSORS, "routed_experts", 100),
    I(FORMAT_TENSORS, "attention", 50),
    T(FORMAT_SUPPORT, "routed_experts|vllm|sm90", "native"),
    T(FORMAT_SUPPORT, "attention|vllm|sm90", "native"),
    T(FORMAT_SUPPORT, "routed_experts|sglang|sm100", "native"),
    T(FORMAT_SUPPORT, "attention|sglang|sm100", "native"),
    I(OPERATOR_LAYERS, "attention.kda", 3),
    I(OPERATOR_LAYERS, "attention.mla", 1),
    T(OPERATOR_SUPPORT, "attention.kda|vllm", "fused"),
    T(OPERATOR_SUPPORT, "attention.mla|vllm", "fused"),
    T(OPERATOR_SUPPORT, "attention.kda|sglang", "fused"),
    T(OPERATOR_SUPPORT, "attention.mla|sglang", "fused"),
    R(FALLBACK_TIME, "attention.kda", 3.4, 0.1),
    I(STRESS_REACHED, "kda", 65536),
    T(STRESS_GROWTH_EXPECTED, "kda", "constant"),
    T(STRESS_GROWTH, "kda", "constant"),
    T(STRESS_CACHE_AGREES, "kda", "yes"),
    R(STRESS_CACHE_OFF, "kda", 0, 0),
    T(STRESS_DECODE_GROWTH, "kda", "constant"),
    T(STRESS_DECODE_QUALITY, "kda", "ok: 11 epochs"),
    R(STRESS_DECODE, "kda", 1000000, 5000),
    T(STRESS_LIMIT, "kda", "at 128K tokens: time"),
    I(STRESS_REACHED, "mla", 1048576),
    T(STRESS_GROWTH_EXPECTED, "mla", "linear"),
    T(STRESS_GROWTH, "mla", "linear"),
    T(STRESS_CACHE_AGREES, "mla", "yes"),
    R(STRESS_CACHE_OFF, "mla", 0.003, 0.001),
    T(STRESS_DECODE_GROWTH, "mla", "linear"),
    T(STRESS_DECODE_QUALITY, "mla", "ok: 11 epochs"),
    R(STRESS_DECODE, "mla", 2000000, 5000),
    ABSENT(STRESS_LIMIT, "mla"),
    T(BALANCE_SOURCE, "", "recorded traffic, trace.jsonl"),
    R(BALANCE_TOKENS_PER_EXPERT, "", 1000, 0),
    R(BALANCE_MAX_MEAN, "worst", 1.2, 0),
    R(BALANCE_MAX_MEAN, "3", 1.1, 0),
    R(BALANCE_MAX_MEAN_FLOOR, "", 1.06, 0),
    R(BALANCE_CV, "worst", 0.1, 0),
    R(BALANCE_CV_FLOOR, "", 0.03, 0),
    I(BALANCE_UNUSED, "worst", 0),
    T(FINGERPRINT_DIGEST, "", "sha256:5f0c0000000000000000"),
    I(FINGERPRINT_FILES, "", 2),
    I(FINGERPRINT_BYTES, "", 1000),
    T(FINGERPRINT_BASELINE, "prod", "same"),
    I(DISTRIBUTION_SHARDS, "", 2),
    I(DISTRIBUTION_SHARDS_NAMED, "", 2),
};
#define FULL (sizeof full / sizeof full[0])

static const char policy_text[] =
    "{\"name\":\"test\",\"target\":{\"backends\":[{\"name\":\"vllm\",\"hardware\":\"sm90\"},"
    "{\"name\":\"sglang\",\"hardware\":\"sm100\"}],\"context_lengths\":[\"32K\",\"1M\"]}%s}";

static void policy_with(const char *more, struct policy *ret)
{
    char text[2048];
    struct err e = {0};

    snprintf(text, sizeof text, policy_text, more);
    if (policy_parse(text, strlen(text), ret, &e))
        fail_msg("%s", e.msg);
}

static void put(const struct fact_sink *s, const struct spec *f)
{
    struct err e = {0};
    int rc;

    if (f->state == FACT_ABSENT)
        rc = fact_put_absent(s, f->key, f->scope, "test", &e);
    else if (f->state == FACT_UNKNOWN)
        rc = fact_put_unknown(s, f->key, f->scope, f->text ? f->text : "why", &e);
    else if (fact_type(f->key) == FACT_INT)
        rc = fact_put_int(s, f->key, f->scope, f->i, "test", &e);
    else if (fact_type(f->key) == FACT_REAL)
        rc = fact_put_real(s, f->key, f->scope, f->x, f->error, "test", &e);
    else
        rc = fact_put_text(s, f->key, f->scope, f->text, "test", &e);
    assert_int_equal(rc, 0);
}

/* kda was measured at three lengths, and could not be at a fourth */
static void put_points(const struct fact_sink *s, size_t lengths)
{
    struct err e = {0};

    for (size_t i = 0; i < 4; i++) {
        struct fact_point p = {.series = "cache.measured",
                               .scope = "kda",
                               .x = 4096.0 * (double)(1u << i),
                               .y = i < lengths ? 1e6 : NAN,
                               .x_unit = "tokens",
                               .y_unit = "bytes",
                               .note = i < lengths ? "" : "time"};
        assert_int_equal(s->put_point(s->ctx, &p, &e), 0);
        p.series = "cache.predicted";
        p.y = 1e6;
        assert_int_equal(s->put_point(s->ctx, &p, &e), 0);
    }
}

static bool same_place(const struct spec *a, const struct spec *b)
{
    return a->key == b->key && !strcmp(a->scope, b->scope);
}

/* The perfect facts with changes: replaced where key and scope are there, taken away, or added. */
static void build(const struct spec *changes, size_t n, size_t lengths, struct fact_list *ret)
{
    struct fact_sink s;

    fact_list_init(ret);
    s = fact_list_sink(ret);
    for (size_t i = 0; i < FULL; i++) {
        const struct spec *f = &full[i];
        for (size_t j = 0; j < n; j++)
            if (same_place(&full[i], &changes[j]))
                f = &changes[j];
        if (!f->drop)
            put(&s, f);
    }
    for (size_t j = 0; j < n; j++) {
        bool known = false;
        for (size_t i = 0; i < FULL; i++)
            known |= same_place(&full[i], &changes[j]);
        if (!known && !changes[j].drop)
            put(&s, &changes[j]);
    }
    put_points(&s, lengths);
}

struct judged {
    struct fact_list facts;
    struct policy policy;
    struct verdict_set set;
};

static void judge_with(const char *policy, const struct spec *changes, size_t n, size_t lengths,
                       struct judged *ret)
{
    build(changes, n, lengths, &ret->facts);
    policy_with(policy, &ret->policy);
    rules_judge(&ret->facts, &ret->policy, &ret->set);
}

static void release(struct judged *j)
{
    rules_release(&j->set);
    policy_release(&j->policy);
    fact_list_release(&j->facts);
}

static enum verdict_status status(const struct judged *j, enum verdict_item item)
{
    return rules_sum(&j->set, item)->status;
}

/* The gravest verdict of a rule; NULL if it gave none. */
static const struct verdict *of_rule(const struct judged *j, const char *id)
{
    const struct verdict *found = NULL;

    for (size_t i = 0; i < j->set.count; i++) {
        const struct verdict *v = &j->set.items[i];
        if (strcmp(v->rule, id) != 0)
            continue;
        if (!found || verdict_worse(found->status, v->status) != found->status)
            found = v;
    }
    return found;
}

/* Judges the perfect facts with changes and compares one rule's gravest verdict and its item. */
static void expect_with(const char *policy, const struct spec *changes, size_t n, const char *rule,
                        enum verdict_status want, const char *says, int line)
{
    struct judged j;
    const struct verdict *v;

    judge_with(policy, changes, n, 3, &j);
    v = of_rule(&j, rule);
    if (!v)
        fail_msg("line %d: %s gave no verdict", line, rule);
    if (v->status != want)
        fail_msg("line %d: %s is %s, not %s: %s", line, rule, verdict_status_name(v->status),
                 verdict_status_name(want), v->text);
    if (!strstr(v->text, says))
        fail_msg("line %d: %s does not say \"%s\": %s", line, rule, says, v->text);
    if (verdict_worse(status(&j, v->item), want) != status(&j, v->item))
        fail_msg("line %d: the sum is better than %s", line, rule);
    release(&j);
}
#define EXPECT_POLICY(policy, rule, want, says, ...)                                             \
    do {                                                                                         \
        const struct spec c_[] = {__VA_ARGS__};                                                  \
        expect_with(policy, c_, sizeof c_ / sizeof c_[0], rule, VERDICT_##want, says, __LINE__); \
    } while (0)
#define EXPECT(rule, want, says, ...) EXPECT_POLICY("", rule, want, says, __VA_ARGS__)

/* --- the whole ------------------------------------------------------------------------------ */

static void perfect_facts_are_ready(void **state)
{
    struct judged j;

    (void)state;
    judge_with("", NULL, 0, 3, &j);
    for (int i = 0; i < VERDICT_ITEMS; i++)
        if (status(&j, (enum verdict_item)i) != VERDICT_PASS)
            fail_msg("%s: %s", verdict_item_name((enum verdict_item)i),
                     rules_sum(&j.set, (enum verdict_item)i)->text);
    assert_string_equal(rules_sum(&j.set, VERDICT_READINESS)->title, "Ready");
    assert_string_equal(rules_sum(&j.set, VERDICT_DISTRIBUTION)->title, "Downloadable");
    assert_int_equal(rules_exit_status(&j.set, VERDICT_WARN), 0);
    release(&j);
}

static void verdicts_name_facts_and_speak_in_sentences(void **state)
{
    struct judged j;

    (void)state;
    judge_with("", NULL, 0, 3, &j);
    assert_int_equal(j.set.items[0].item, VERDICT_DISTRIBUTION);
    assert_int_equal(j.set.items[1].item, VERDICT_READINESS);
    for (size_t i = 0; i < j.set.count; i++) {
        const struct verdict *v = &j.set.items[i];
        size_t n = strlen(v->text);
        if (v->fact_count == 0)
            fail_msg("%s names no fact", v->rule);
        for (size_t k = 0; k < v->fact_count; k++)
            assert_true(v->facts[k] < j.facts.count);
        if (n < 10 || v->text[n - 1] != '.')
            fail_msg("%s: no sentence: \"%s\"", v->rule, v->text);
        if (v->advice[0] && v->advice[strlen(v->advice) - 1] != '.')
            fail_msg("%s: no sentence: \"%s\"", v->rule, v->advice);
        assert_int_equal(v->sum, !strcmp(v->rule, "item"));
        if (v->item < VERDICT_DISTRIBUTION)
            assert_true(v->required);
    }
    release(&j);
}

static void every_row_of_the_checklist_is_a_rule(void **state)
{
    struct judged j;
    size_t n = 0;

    (void)state;
    judge_with(",\"context\":{\"decode_layer_max_ns\":1e9}", NULL, 0, 3, &j);
    for (const struct rules_entry *r; (r = rules_entry(n)); n++) {
        const struct verdict *v = of_rule(&j, r->id);
        if (!v || v->item != r->item)
            fail_msg("%s gave no verdict", r->id);
        assert_int_equal(r->question[strlen(r->question) - 1], '?');
        assert_memory_equal(r->id, verdict_item_name(r->item), strlen(verdict_item_name(r->item)));
    }
    assert_int_equal(n, 19);
    release(&j);
}

static void no_facts_are_not_proven_and_exit_3(void **state)
{
    struct judged j;

    (void)state;
    fact_list_init(&j.facts);
    policy_builtin(&j.policy);
    rules_judge(&j.facts, &j.policy, &j.set);
    for (int i = 0; i < VERDICT_ITEMS; i++)
        assert_int_equal(status(&j, (enum verdict_item)i), VERDICT_UNKNOWN);
    assert_string_equal(rules_sum(&j.set, VERDICT_READINESS)->title, "Not proven");
    assert_false(j.set.learnt);
    assert_int_equal(rules_exit_status(&j.set, VERDICT_FAIL), 3);
    assert_int_equal(rules_exit_status(&j.set, VERDICT_UNKNOWN), 3);
    assert_int_equal(rules_exit_status(&j.set, VERDICT_WARN), 3);
    release(&j);
}

/* --- unknown is never pass ------------------------------------------------------------------ */

/* Facts that no required question rests on, so that their loss leaves the model ready. */
static bool is_beside(const struct spec *f, bool dropped)
{
    switch (f->key) {
    case FACT_SUBJECT_PATH:
    case FACT_HOST_THREADS:
    case FACT_MODEL_FAMILY:
    case FACT_FORMAT_BYTES:        /* the size of an expansion that is not there */
    case FACT_FALLBACK_TIME:       /* of an operator that is fused */
    case FACT_STRESS_LIMIT:        /* the reason is asked for where the target is not reached */
    case FACT_STRESS_DECODE:       /* this policy has no bound */
    case FACT_DISTRIBUTION_SHARDS: /* never readiness */
    case FACT_DISTRIBUTION_SHARDS_NAMED: return true;
    case FACT_MODEL_LAYERS: return f->scope[0] == '\0'; /* the sum, beside its parts */
    case FACT_OPERATOR_LAYERS: return dropped;          /* nothing says that it was there */
    case FACT_BALANCE_MAX_MEAN: return dropped;         /* one layer beside the worst */
    default: return false;
    }
}

static void each_fact_that_is_gone_keeps_from_ready(void **state)
{
    (void)state;
    for (size_t i = 0; i < FULL; i++) {
        struct spec change = full[i];
        struct judged j;
        change.drop = true;
        judge_with("", &change, 1, 3, &j);
        if (!is_beside(&full[i], true) && status(&j, VERDICT_READINESS) == VERDICT_PASS)
            fail_msg("ready without %s %s", fact_name(full[i].key), full[i].scope);
        release(&j);
    }
}

static void each_fact_turned_unknown_keeps_from_ready(void **state)
{
    (void)state;
    for (size_t i = 0; i < FULL; i++) {
        const struct spec change = {
            .key = full[i].key, .scope = full[i].scope, .state = FACT_UNKNOWN};
        struct judged j;
        judge_with("", &change, 1, 3, &j);
        if (!is_beside(&full[i], false) && status(&j, VERDICT_READINESS) == VERDICT_PASS)
            fail_msg("ready with %s %s unknown", fact_name(full[i].key), full[i].scope);
        release(&j);
    }
}

static void all_facts_of_one_key_gone_keep_from_ready(void **state)
{
    (void)state;
    for (size_t i = 0; i < FULL; i++) {
        struct spec changes[FULL];
        struct judged j;
        size_t n = 0;
        bool beside = is_beside(&full[i], false) || full[i].key == FACT_FORMAT_TENSORS;
        for (size_t k = 0; k < FULL; k++)
            if (full[k].key == full[i].key) {
                changes[n] = full[k];
                changes[n++].drop = true;
            }
        if (full[i].key == FACT_MODEL_LAYERS)
            beside = false;
        judge_with("", changes, n, 3, &j);
        if (!beside && status(&j, VERDICT_READINESS) == VERDICT_PASS)
            fail_msg("ready without any %s", fact_name(full[i].key));
        release(&j);
    }
}

/* Bad news of every kind, one at a time: what turns unknown must never look better. */
static const struct spec bad_news[] = {
    T(MODEL_FINDING, "shard-missing", "failure: shard 2 is missing."),
    T(MODEL_FINDING, "config-tensor-differs", "warning: hidden is 64 and 128."),
    T(MODEL_UNEXPLAINED, "x_mode", "x_mode"),
    T(FORMAT_DISAGREES, "attention", "declared fp8, observed bf16"),
    T(FORMAT_SUPPORT, "attention|vllm|sm90", "reject"),
    T(FORMAT_SUPPORT, "attention|vllm|sm90", "expand"),
    T(OPERATOR_SUPPORT, "attention.kda|vllm", "none"),
    T(OPERATOR_SUPPORT, "attention.kda|vllm", "composed"),
    T(STRESS_GROWTH, "mla", "constant"),
    T(STRESS_CACHE_AGREES, "mla", "slope 5 % off"),
    R(STRESS_CACHE_OFF, "mla", 0.5, 0),
    I(STRESS_REACHED, "mla", 4096),
    T(STRESS_DECODE_GROWTH, "kda", "linear"),
    T(STRESS_DECODE_QUALITY, "kda", "unstable: 11 epochs"),
    T(BALANCE_SOURCE, "", "synthetic inputs, seed 1"),
    T(BALANCE_LEFT_OUT, "", "layer 3: no time"),
    R(BALANCE_TOKENS_PER_EXPERT, "", 10, 0),
    R(BALANCE_MAX_MEAN, "worst", 9, 0),
    R(BALANCE_CV, "worst", 9, 0),
    I(BALANCE_UNUSED, "worst", 3),
    T(FINGERPRINT_PROBLEM, "a.safetensors", "missing"),
    T(FINGERPRINT_PROBLEM, "b.safetensors", "unreadable: permission"),
    T(FINGERPRINT_BASELINE, "prod", "changed: 1 file"),
    I(DISTRIBUTION_SHARDS, "", 0),
    I(DISTRIBUTION_SHARDS, "", 1),
    T(DISTRIBUTION_PROBLEM, "a.safetensors", "short: 3 of 4 bytes"),
};

static bool improves(enum verdict_status before, enum verdict_status after)
{
    if (after == VERDICT_NOT_APPLICABLE)
        return before != VERDICT_NOT_APPLICABLE;
    if (after == VERDICT_PASS)
        return before != VERDICT_PASS;
    return after == VERDICT_WARN && before != VERDICT_PASS && before != VERDICT_WARN;
}

static void bad_news_is_never_ready(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_news / sizeof bad_news[0]; i++) {
        struct judged j;
        enum verdict_item item = VERDICT_READINESS;
        if (bad_news[i].key == FACT_DISTRIBUTION_SHARDS ||
            bad_news[i].key == FACT_DISTRIBUTION_PROBLEM)
            item = VERDICT_DISTRIBUTION;
        judge_with("", &bad_news[i], 1, 3, &j);
        if (status(&j, item) == VERDICT_PASS)
            fail_msg("%s %s passes", fact_name(bad_news[i].key), bad_news[i].scope);
        release(&j);
    }
}

static void turning_a_fact_unknown_never_helps(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_news / sizeof bad_news[0]; i++) {
        struct spec changes[2] = {bad_news[i]};
        struct judged before;
        judge_with("", changes, 1, 3, &before);
        for (size_t k = 0; k <= FULL; k++) {
            struct spec gone = k < FULL ? full[k] : bad_news[i];
            struct judged after;
            gone.state = FACT_UNKNOWN;
            changes[0] = same_place(&gone, &bad_news[i]) ? gone : bad_news[i];
            changes[1] = gone;
            judge_with("", changes, 2, 3, &after);
            for (int item = 0; item < VERDICT_ITEMS; item++)
                if (improves(status(&before, (enum verdict_item)item),
                             status(&after, (enum verdict_item)item)))
                    fail_msg("%s is better with %s %s unknown, beside %s %s",
                             verdict_item_name((enum verdict_item)item), fact_name(gone.key),
                             gone.scope, fact_name(bad_news[i].key), bad_news[i].scope);
            release(&after);
        }
        release(&before);
    }
}

/* --- item 1 --------------------------------------------------------------------------------- */

static void formats_headers(void **state)
{
    (void)state;
    EXPECT("formats.headers", PASS, "150 tensors", I(MODEL_TENSORS, "", 150));
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
    EXPECT("formats.support", UNKNOWN, "vllm on sm90: nothing is known about attention",
           DROP(FORMAT_SUPPORT, "attention|vllm|sm90"));
    EXPECT("formats.support", UNKNOWN, "nothing is known about attention (why)",
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
    EXPECT("formats.declared", PASS, "All 2 module classes", ABSENT(FORMAT_DISAGREES, "attention"));
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
    EXPECT("operators.support", UNKNOWN, "sglang: nothing is known about attention.mla",
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

static void context_ladder(void **state)
{
    (void)state;
    EXPECT("context.ladder", UNKNOWN, "run for mla", DROP(STRESS_REACHED, "mla"));
    EXPECT("context.ladder", UNKNOWN, "run for gqa", I(MODEL_LAYERS, "gqa", 1),
           I(MODEL_LAYERS, "", 5));
    EXPECT("context.ladder", PASS, "each of the 3 mixer kinds", I(MODEL_LAYERS, "gqa", 1),
           I(MODEL_LAYERS, "", 5), I(STRESS_REACHED, "gqa.window", 1048576));
    EXPECT("context.ladder", UNKNOWN, "mixers of 2 layers are not known", I(MODEL_LAYERS, "", 6));
    EXPECT("context.ladder", UNKNOWN, "mixers of the model are not known",
           DROP(MODEL_LAYERS, "kda"), DROP(MODEL_LAYERS, "mla"));
}

static void context_cache(void **state)
{
    (void)state;
    EXPECT("context.cache", FAIL,
           "mla: the cache should be linear in the context length, and is "
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
    EXPECT("context.reached", UNKNOWN,
           "mla: measured up to 64K tokens of the 1M asked for (no reason was recorded); the "
           "shorter targets were reached",
           short_mla);
    EXPECT("context.reached", UNKNOWN, "(at 128K tokens: memory); what lies",
           I(STRESS_REACHED, "mla", 16384), T(STRESS_LIMIT, "mla", "at 128K tokens: memory"));
    EXPECT_POLICY(",\"context\":{\"extrapolation\":\"warn\"}", "context.reached", WARN,
                  "extrapolated", short_mla);
    EXPECT("context.reached", UNKNOWN, "not known", UNKNOWN(STRESS_REACHED, "mla"));
    /* a growing cache is not settled, whatever the number of lengths */
    EXPECT("context.reached", UNKNOWN, "kda", T(STRESS_GROWTH, "kda", "linear"),
           T(STRESS_GROWTH_EXPECTED, "kda", "linear"));
    EXPECT("context.reached", UNKNOWN, "kda", T(STRESS_GROWTH_EXPECTED, "kda", "plateau"));
    EXPECT_POLICY(",\"context\":{\"constant_min_lengths\":4}", "context.reached", UNKNOWN, "kda",
                  I(STRESS_REACHED, "kda", 65536));
    /* two measured lengths and many predicted ones are too few */
    judge_with("", NULL, 0, 2, &j);
    assert_int_equal(of_rule(&j, "context.reached")->status, VERDICT_UNKNOWN);
    release(&j);
}

static void context_decode(void **state)
{
    (void)state;
    EXPECT("context.decode", WARN, "kda: decode time on this host is linear",
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
    EXPECT_POLICY(bound, "context.latency", FAIL, "mla", R(STRESS_DECODE, "mla", 2010000, 5000));
    EXPECT_POLICY(bound, "context.latency", UNKNOWN, "mla", UNKNOWN(STRESS_DECODE, "mla"));
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
    EXPECT("fingerprint.digest", UNKNOWN, "no digest over all weight files (why)",
           UNKNOWN(FINGERPRINT_DIGEST, ""));
    EXPECT("fingerprint.digest", UNKNOWN, "", I(FINGERPRINT_FILES, "", 0));
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

/* --- headlines ------------------------------------------------------------------------------ */

static void readiness(const char *policy, const struct spec *change, size_t n, const char *title,
                      int on_fail, int on_unknown, int on_warn)
{
    struct judged j;
    const struct verdict *v;

    judge_with(policy, change, n, 3, &j);
    v = rules_sum(&j.set, VERDICT_READINESS);
    if (strcmp(v->title, title) != 0)
        fail_msg("%s, not %s: %s", v->title, title, v->text);
    assert_int_equal(rules_exit_status(&j.set, VERDICT_FAIL), on_fail);
    assert_int_equal(rules_exit_status(&j.set, VERDICT_UNKNOWN), on_unknown);
    assert_int_equal(rules_exit_status(&j.set, VERDICT_WARN), on_warn);
    release(&j);
}

static void headlines_and_exit_statuses(void **state)
{
    static const struct spec rejected = T(FORMAT_SUPPORT, "attention|vllm|sm90", "reject");
    static const struct spec unknown = UNKNOWN(FORMAT_SUPPORT, "attention|vllm|sm90");
    static const struct spec warned = T(FORMAT_SUPPORT, "attention|vllm|sm90", "weight_only");
    static const struct spec both[] = {T(FORMAT_SUPPORT, "attention|vllm|sm90", "reject"),
                                       UNKNOWN(STRESS_GROWTH, "mla")};
    static const char without_formats[] = ",\"required\":[\"operators\",\"context\"]";

    (void)state;
    readiness("", NULL, 0, "Ready", 0, 0, 0);
    readiness("", &warned, 1, "Ready with warnings", 0, 0, 1);
    readiness("", &unknown, 1, "Not proven", 0, 1, 1);
    readiness("", &rejected, 1, "Not ready", 1, 1, 1);
    readiness("", both, 2, "Not ready", 1, 1, 1);
    readiness(without_formats, &rejected, 1, "Ready with warnings", 0, 0, 1);
    readiness(without_formats, &unknown, 1, "Ready with warnings", 0, 0, 1);
    readiness(without_formats, NULL, 0, "Ready", 0, 0, 0);
}

static void distribution(const struct spec *changes, size_t n, const char *title, const char *says)
{
    struct judged j;
    const struct verdict *v;

    judge_with("", changes, n, 3, &j);
    v = rules_sum(&j.set, VERDICT_DISTRIBUTION);
    if (strcmp(v->title, title) != 0 || !strstr(v->text, says))
        fail_msg("%s, not %s: %s", v->title, title, v->text);
    /* and readiness does not care */
    assert_int_equal(status(&j, VERDICT_READINESS), VERDICT_PASS);
    release(&j);
}

static void distribution_is_judged_from_its_own_facts(void **state)
{
    static const struct spec fewer[] = {I(DISTRIBUTION_SHARDS, "", 1),
                                        T(DISTRIBUTION_PROBLEM, "b", "missing")};
    static const struct spec none[] = {I(DISTRIBUTION_SHARDS, "", 0),
                                       T(DISTRIBUTION_PROBLEM, "a", "missing"),
                                       T(DISTRIBUTION_PROBLEM, "b", "pointer")};
    static const struct spec pointers[] = {I(DISTRIBUTION_SHARDS, "", 0),
                                           T(DISTRIBUTION_PROBLEM, "a", "pointer"),
                                           T(DISTRIBUTION_PROBLEM, "b", "pointer")};
    static const struct spec unreadable[] = {I(DISTRIBUTION_SHARDS, "", 0),
                                             T(DISTRIBUTION_PROBLEM, "a", "unreadable: EACCES"),
                                             T(DISTRIBUTION_PROBLEM, "b", "pointer")};
    static const struct spec one_unreadable = T(DISTRIBUTION_PROBLEM, "a", "unreadable: EACCES");
    static const struct spec no_index = ABSENT(DISTRIBUTION_SHARDS_NAMED, "");
    static const struct spec bad_index = UNKNOWN(DISTRIBUTION_SHARDS_NAMED, "");
    static const struct spec nothing = UNKNOWN(DISTRIBUTION_SHARDS, "");

    (void)state;
    distribution(NULL, 0, "Downloadable", "All 2 weight files");
    distribution(&no_index, 1, "Downloadable", "All 2 weight files");
    distribution(fewer, 1, "Partly downloadable", "the index names 2");
    distribution(fewer, 2, "Partly downloadable", "b (missing)");
    distribution(none, 3, "Not downloadable", "No weight file");
    distribution(pointers, 3, "Unknown", "2 are Git LFS pointers and 0 could not be read");
    distribution(unreadable, 3, "Unknown", "1 are Git LFS pointers and 1 could not be read");
    distribution(&one_unreadable, 1, "Unknown", "could not be looked at");
    distribution(&bad_index, 1, "Unknown", "(why)");
    distribution(&nothing, 1, "Unknown", "(why)");
}

static void distribution_does_not_read_readiness_facts(void **state)
{
    struct judged j;
    struct fact_sink s;
    struct err e = {0};

    (void)state;
    fact_list_init(&j.facts);
    s = fact_list_sink(&j.facts);
    assert_int_equal(fact_put_int(&s, FACT_DISTRIBUTION_SHARDS, "", 2, "t", &e), 0);
    assert_int_equal(fact_put_int(&s, FACT_DISTRIBUTION_SHARDS_NAMED, "", 2, "t", &e), 0);
    policy_builtin(&j.policy);
    rules_judge(&j.facts, &j.policy, &j.set);
    assert_string_equal(rules_sum(&j.set, VERDICT_DISTRIBUTION)->title, "Downloadable");
    assert_string_equal(rules_sum(&j.set, VERDICT_READINESS)->title, "Not proven");
    /* that shards lie there says nothing about the subject as a model */
    assert_int_equal(rules_exit_status(&j.set, VERDICT_UNKNOWN), 3);
    release(&j);
}

static void an_item_that_is_not_required_is_marked(void **state)
{
    struct judged j;

    (void)state;
    judge_with(",\"required\":[\"formats\"]", NULL, 0, 3, &j);
    assert_true(rules_sum(&j.set, VERDICT_FORMATS)->required);
    assert_false(rules_sum(&j.set, VERDICT_CONTEXT)->required);
    assert_false(of_rule(&j, "context.cache")->required);
    release(&j);
}

/* --- findings ------------------------------------------------------------------------------- */

static void findings_are_put_as_the_rules_read_them(void **state)
{
    struct finding_list l = {0};
    struct fact_list facts;
    struct fact_sink s;
    struct err e = {0};

    (void)state;
    finding_add(&l, FINDING_FAIL, "shard-missing", "shard %d is missing.", 2);
    finding_add(&l, FINDING_NOTE, "padding", "A_log is padded.");
    finding_add(&l, FINDING_WARN, "shard-missing", "x.");
    l.dropped = 7;
    fact_list_init(&facts);
    s = fact_list_sink(&facts);
    assert_int_equal(rules_findings_put(&l, "tensor headers", &s, &e), 0);
    assert_int_equal(facts.count, 4);
    assert_string_equal(facts.items[0].scope, "shard-missing");
    assert_string_equal(facts.items[0].text, "failure: shard 2 is missing.");
    assert_string_equal(facts.items[0].source, "tensor headers");
    assert_string_equal(facts.items[1].text, "note: A_log is padded.");
    assert_string_equal(facts.items[2].scope, "shard-missing 2");
    assert_string_equal(facts.items[2].text, "warning: x.");
    assert_string_equal(facts.items[3].scope, "findings-dropped");
    fact_list_release(&facts);
    finding_list_release(&l);
}

static void names_from_outside_are_escaped_and_many_are_counted(void **state)
{
    struct spec many[20];
    char scopes[20][32];
    struct judged j;
    const struct verdict *v;

    (void)state;
    for (int i = 0; i < 20; i++) {
        snprintf(scopes[i], sizeof scopes[i], "f%d\x1b[31m", i);
        many[i] = (struct spec)T(FINGERPRINT_PROBLEM, scopes[i], "missing");
    }
    judge_with("", many, 20, 3, &j);
    v = of_rule(&j, "fingerprint.files");
    assert_null(strchr(v->text, '\x1b'));
    assert_non_null(strstr(v->text, "f7"));
    assert_null(strstr(v->text, "f8"));
    assert_non_null(strstr(v->text, "and 12 more"));
    assert_int_equal(v->fact_count, 20);
    release(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(perfect_facts_are_ready),
        cmocka_unit_test(verdicts_name_facts_and_speak_in_sentences),
        cmocka_unit_test(every_row_of_the_checklist_is_a_rule),
        cmocka_unit_test(no_facts_are_not_proven_and_exit_3),
        cmocka_unit_test(each_fact_that_is_gone_keeps_from_ready),
        cmocka_unit_test(each_fact_turned_unknown_keeps_from_ready),
        cmocka_unit_test(all_facts_of_one_key_gone_keep_from_ready),
        cmocka_unit_test(bad_news_is_never_ready),
        cmocka_unit_test(turning_a_fact_unknown_never_helps),
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
        cmocka_unit_test(context_cache),
        cmocka_unit_test(context_reached),
        cmocka_unit_test(context_decode),
        cmocka_unit_test(context_latency),
        cmocka_unit_test(experts_of_a_dense_model_are_not_applicable),
        cmocka_unit_test(experts_on_synthetic_inputs_warn_at_most_and_at_least),
        cmocka_unit_test(experts_load_is_judged_over_chance),
        cmocka_unit_test(fingerprint),
        cmocka_unit_test(headlines_and_exit_statuses),
        cmocka_unit_test(distribution_is_judged_from_its_own_facts),
        cmocka_unit_test(distribution_does_not_read_readiness_facts),
        cmocka_unit_test(an_item_that_is_not_required_is_marked),
        cmocka_unit_test(findings_are_put_as_the_rules_read_them),
        cmocka_unit_test(names_from_outside_are_escaped_and_many_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
