#include "audit/rules.h"
#include "audit/rule.h"
#include "core/text.h"
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The checklist. A row of `leads` tells the sum of its item when all is well. */
static const struct row {
    struct rules_entry entry;
    rule_fn *judge;
    bool leads;
} rows[] = {
    {{VERDICT_FORMATS, "formats.headers", "Were the headers of all tensors read?"},
     rule_formats_headers,
     false},
    {{VERDICT_FORMATS, "formats.findings", "Are the files whole, and do they agree?"},
     rule_formats_findings,
     false},
    {{VERDICT_FORMATS, "formats.declared",
      "Do the tensors have the format that the config declares?"},
     rule_formats_declared,
     false},
    {{VERDICT_FORMATS, "formats.support",
      "Is the stored format of each module class native to the target backend and hardware?"},
     rule_formats_support,
     true},
    {{VERDICT_OPERATORS, "operators.known", "Are all operators of the model known?"},
     rule_operators_known,
     false},
    {{VERDICT_OPERATORS, "operators.support",
      "Does the target backend have fused operators, and what does a fallback lose?"},
     rule_operators_support,
     true},
    {{VERDICT_CONTEXT, "context.ladder", "Was each mixer kind measured over context lengths?"},
     rule_context_ladder,
     false},
    {{VERDICT_CONTEXT, "context.cache",
      "Does the measured cache grow as the architecture says, and to the size it says?"},
     rule_context_cache,
     true},
    {{VERDICT_CONTEXT, "context.reached", "Was the longest target length reached?"},
     rule_context_reached,
     true},
    {{VERDICT_CONTEXT, "context.decode", "Does decode time grow as the cache that it reads?"},
     rule_context_decode,
     false},
    {{VERDICT_CONTEXT, "context.latency",
      "Is decode time within the policy's bound, if it has one?"},
     rule_context_latency,
     false},
    {{VERDICT_EXPERTS, "experts.evidence", "Was the load of the experts recorded from traffic?"},
     rule_experts_evidence,
     false},
    {{VERDICT_EXPERTS, "experts.tokens", "Did each expert see enough tokens to tell?"},
     rule_experts_tokens,
     false},
    {{VERDICT_EXPERTS, "experts.load", "How far is the busiest expert above what chance gives?"},
     rule_experts_load,
     true},
    {{VERDICT_EXPERTS, "experts.spread", "How uneven is the load beyond what chance gives?"},
     rule_experts_spread,
     false},
    {{VERDICT_EXPERTS, "experts.unused", "Are there experts that no token reached?"},
     rule_experts_unused,
     false},
    {{VERDICT_FINGERPRINT, "fingerprint.digest", "Is there one digest over all weight files?"},
     rule_fingerprint_digest,
     true},
    {{VERDICT_FINGERPRINT, "fingerprint.files", "Could every weight file be hashed whole?"},
     rule_fingerprint_files,
     false},
    {{VERDICT_FINGERPRINT, "fingerprint.baseline", "Are the weights those of the named baseline?"},
     rule_fingerprint_baseline,
     true},
};
#define ROWS (sizeof rows / sizeof rows[0])

static const char sum_rule[] = "item";

const struct rules_entry *rules_entry(size_t i)
{
    return i < ROWS ? &rows[i].entry : NULL;
}

static bool leads(const char *id)
{
    for (size_t i = 0; i < ROWS; i++)
        if (!strcmp(rows[i].entry.id, id))
            return rows[i].leads;
    return false;
}

/* Says the briefs of the verdicts [first, end): of those that have the item's status, which decided
 * it, and then of the leading ones that passed. Where all passed, of the leading ones only. */
static void say_briefs(struct rule *r, size_t first, size_t end, enum verdict_status status)
{
    struct rule_list l = {.separator = "; "};
    size_t at = r->text.len;

    for (int pass = status == VERDICT_PASS; pass < 2; pass++)
        for (size_t i = first; i < end; i++) {
            const struct verdict *v = &r->set->items[i];
            if (v->status == (pass ? VERDICT_PASS : status) && (!pass || leads(v->rule)) &&
                r->briefs[i][0])
                rule_list_add(r, &l, "%s", r->briefs[i]);
        }
    rule_list_end(r, &l);
    if (r->text.len > at) {
        r->text.data[at] = (char)toupper((unsigned char)r->text.data[at]);
        rule_say(r, ".");
    }
}

/* The sum of an item stands before its verdicts; its place was kept at `at`. */
static void sum_item(struct rule *r, size_t at, enum verdict_item item)
{
    size_t first = at + 1, end = r->set->count;

    r->item = item;
    r->id = sum_rule;
    rule_start(r);
    for (size_t i = first; i < end; i++)
        rule_judge(r, r->set->items[i].status);
    if (first == end) {
        rule_judge(r, VERDICT_UNKNOWN);
        rule_say(r, "Nothing was looked at.");
    }
    say_briefs(r, first, end, r->status);
    for (size_t i = first; i < end; i++) {
        const struct verdict *v = &r->set->items[i];
        if (v->status != r->status)
            continue;
        for (size_t j = 0; j < v->fact_count; j++)
            rule_cite(r, &r->facts->items[v->facts[j]]);
        if (r->advice.len == 0)
            rule_advise(r, "%s", v->advice);
    }
    rule_end(r);
    r->set->count--;
    r->set->items[at] = r->set->items[end];
    r->set->items[at].sum = true;
}

/* Keeps a place in the set; rule_end fills places at the end only. */
static size_t keep_place(struct rule *r)
{
    rule_start(r);
    rule_end(r);
    return r->set->count - 1;
}

/* What an item says about readiness: what is not required can hold back a pass, and no more. */
static enum verdict_status weight_of(const struct verdict *v)
{
    if (v->required || v->status == VERDICT_PASS || v->status == VERDICT_NOT_APPLICABLE)
        return v->status;
    return VERDICT_WARN;
}

/* "Formats, Long context." */
static bool say_items(struct rule *r, enum verdict_status status, bool required, const char *before)
{
    struct rule_list l = {0};

    for (size_t i = 0; i < POLICY_ITEMS; i++) {
        const struct verdict *v = rules_sum(r->set, (enum verdict_item)i);
        if (v->status != status || v->required != required)
            continue;
        if (l.count == 0)
            rule_say(r, "%s", before);
        rule_list_add(r, &l, "%s", verdict_item_title((enum verdict_item)i));
    }
    if (l.count)
        rule_say(r, ". ");
    return l.count > 0;
}

static void judge_readiness(struct rule *r)
{
    static const char *const titles[] = {[VERDICT_PASS] = "Ready",
                                         [VERDICT_WARN] = "Ready with warnings",
                                         [VERDICT_FAIL] = "Not ready",
                                         [VERDICT_UNKNOWN] = "Not proven"};

    rule_start(r);
    rule_judge(r, VERDICT_PASS);
    for (size_t i = 0; i < POLICY_ITEMS; i++)
        rule_judge(r, weight_of(rules_sum(r->set, (enum verdict_item)i)));
    r->title = titles[r->status];
    if (!say_items(r, VERDICT_FAIL, true, "Failed: "))
        rule_say(r, "No required item failed. ");
    say_items(r, VERDICT_UNKNOWN, true, "Not known: ");
    say_items(r, VERDICT_WARN, true, "With warnings: ");
    say_items(r, VERDICT_FAIL, false, "Failed, and not required: ");
    say_items(r, VERDICT_UNKNOWN, false, "Not known, and not required: ");
    say_items(r, VERDICT_WARN, false, "With warnings, and not required: ");
    for (size_t i = 0; i < POLICY_ITEMS; i++) {
        const struct verdict *v = rules_sum(r->set, (enum verdict_item)i);
        if (weight_of(v) != r->status)
            continue;
        for (size_t j = 0; j < v->fact_count; j++)
            rule_cite(r, &r->facts->items[v->facts[j]]);
        if (r->advice.len == 0)
            rule_advise(r, "%s", v->advice);
    }
    rule_end(r);
}

static void judge_headline(struct rule *r, enum verdict_item item, rule_fn *judge, size_t at)
{
    size_t end = r->set->count;

    r->item = item;
    r->id = sum_rule;
    judge(r);
    assert(r->set->count == end + 1);
    r->set->count = end;
    r->set->items[at] = r->set->items[end];
    r->set->items[at].sum = true;
}

/* Facts that say something about the subject itself. Those about the host, about the run, and
 * counts of nothing do not. */
static bool is_learnt(const struct fact *f)
{
    if (f->state != FACT_KNOWN || (fact_type(f->key) == FACT_INT && f->i <= 0))
        return false;
    switch (f->key) {
    case FACT_MODEL_FAMILY:
    case FACT_MODEL_LAYERS:
    case FACT_MODEL_TENSORS:
    case FACT_FORMAT_OBSERVED:
    case FACT_FORMAT_DECLARED:
    case FACT_OPERATOR_LAYERS:
    case FACT_STRESS_GROWTH:
    case FACT_BALANCE_MAX_MEAN:
    case FACT_FINGERPRINT_DIGEST:
    case FACT_FINGERPRINT_FILES: return true;
    default: return false;
    }
}

void rules_judge(const struct fact_list *facts, const struct policy *p, struct verdict_set *ret)
{
    struct rule r = {.facts = facts, .policy = p, .set = ret, .id = sum_rule};
    size_t distribution, readiness;

    *ret = (struct verdict_set){0};
    distribution = keep_place(&r);
    readiness = keep_place(&r);
    for (int item = 0; item < (int)POLICY_ITEMS; item++) {
        size_t at;
        r.item = (enum verdict_item)item;
        at = keep_place(&r);
        for (size_t i = 0; i < ROWS; i++) {
            if (rows[i].entry.item != r.item)
                continue;
            r.id = rows[i].entry.id;
            rows[i].judge(&r);
        }
        sum_item(&r, at, r.item);
    }
    judge_headline(&r, VERDICT_DISTRIBUTION, rule_distribution_headline, distribution);
    judge_headline(&r, VERDICT_READINESS, judge_readiness, readiness);
    for (size_t i = 0; i < facts->count && !ret->learnt; i++)
        ret->learnt = is_learnt(&facts->items[i]);
    free(r.briefs);
    free(r.cited);
}

void rules_release(struct verdict_set *s)
{
    free(s->items);
    mem_arena_release(&s->arena);
    *s = (struct verdict_set){0};
}

const struct verdict *rules_sum(const struct verdict_set *s, enum verdict_item item)
{
    size_t i = 0;

    while (i < s->count && !(s->items[i].sum && s->items[i].item == item))
        i++;
    assert(i < s->count);
    return &s->items[i];
}

int rules_exit_status(const struct verdict_set *s, enum verdict_status fail_on)
{
    assert(fail_on == VERDICT_FAIL || fail_on == VERDICT_UNKNOWN || fail_on == VERDICT_WARN);
    switch (rules_sum(s, VERDICT_READINESS)->status) {
    case VERDICT_FAIL: return 1;
    case VERDICT_UNKNOWN: return !s->learnt ? 3 : fail_on == VERDICT_FAIL ? 0 : 1;
    case VERDICT_WARN: return !s->learnt ? 3 : fail_on == VERDICT_WARN;
    case VERDICT_PASS:
    case VERDICT_NOT_APPLICABLE: break;
    }
    return s->learnt ? 0 : 3;
}

int rules_findings_put(const struct finding_list *l, const char *source,
                       const struct fact_sink *sink, struct err *e)
{
    struct buf text;
    char scope[RULE_NAME_BYTES];
    int rc = 0;

    buf_init(&text, RULE_TEXT_BYTES_MAX);
    for (size_t i = 0; i < l->count && rc == 0; i++) {
        const struct finding *f = &l->items[i];
        size_t nth = 1;
        for (size_t j = 0; j < i; j++)
            nth += !strcmp(l->items[j].code, f->code);
        snprintf(scope, sizeof scope, nth == 1 ? "%s" : "%s %zu", f->code, nth);
        text.len = 0;
        buf_addf(&text, "%s: %s", finding_severity_name(f->severity), f->text);
        if (!(rc = buf_check(&text, "a finding", e)))
            rc = fact_put_text(sink, FACT_MODEL_FINDING, scope, text.data, source, e);
    }
    if (rc == 0 && l->dropped) {
        text.len = 0;
        buf_addf(&text, "unknown: %zu more findings were counted and not kept.", l->dropped);
        rc = fact_put_text(sink, FACT_MODEL_FINDING, "findings-dropped", text.data, source, e);
    }
    buf_release(&text);
    return rc;
}
