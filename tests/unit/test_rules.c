/* The checklist as a whole: nothing unknown ever passes; sums, headlines, exit statuses. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "tests/unit/rule_facts.h"

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
    distribution(pointers, 3, "Unknown", "looked at; Git LFS pointers: 2.");
    distribution(unreadable, 3, "Unknown", "Git LFS pointers: 1; not readable: 1.");
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
        cmocka_unit_test(headlines_and_exit_statuses),
        cmocka_unit_test(distribution_is_judged_from_its_own_facts),
        cmocka_unit_test(distribution_does_not_read_readiness_facts),
        cmocka_unit_test(an_item_that_is_not_required_is_marked),
        cmocka_unit_test(findings_are_put_as_the_rules_read_them),
        cmocka_unit_test(names_from_outside_are_escaped_and_many_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
