#ifndef RULE_FACTS_H
#define RULE_FACTS_H
/* Facts of a perfect audit, changes to them, and what the rules make of both. For test_rule.c and
 * test_rules.c; include after cmocka.h. */
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

static inline void policy_with(const char *more, struct policy *ret)
{
    char text[2048];
    struct err e = {0};

    snprintf(text, sizeof text, policy_text, more);
    if (policy_parse(text, strlen(text), ret, &e))
        fail_msg("%s", e.msg);
}

static inline void put(const struct fact_sink *s, const struct spec *f)
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
static inline void put_points(const struct fact_sink *s, size_t lengths)
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

static inline bool same_place(const struct spec *a, const struct spec *b)
{
    return a->key == b->key && !strcmp(a->scope, b->scope);
}

/* The perfect facts with changes: replaced where key and scope are there, taken away, or added. */
static inline void build(const struct spec *changes, size_t n, size_t lengths,
                         struct fact_list *ret)
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

static inline void judge_with(const char *policy, const struct spec *changes, size_t n,
                              size_t lengths, struct judged *ret)
{
    build(changes, n, lengths, &ret->facts);
    policy_with(policy, &ret->policy);
    rules_judge(&ret->facts, &ret->policy, &ret->set);
}

static inline void release(struct judged *j)
{
    rules_release(&j->set);
    policy_release(&j->policy);
    fact_list_release(&j->facts);
}

static inline enum verdict_status status(const struct judged *j, enum verdict_item item)
{
    return rules_sum(&j->set, item)->status;
}

/* The gravest verdict of a rule; NULL if it gave none. */
static inline const struct verdict *of_rule(const struct judged *j, const char *id)
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
static inline void expect_with(const char *policy, const struct spec *changes, size_t n,
                               const char *rule, enum verdict_status want, const char *says,
                               int line)
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

#endif
