#include "audit/rule.h"
#include "core/text.h"
#include <math.h>
#include <string.h>

/* Item 4: are the experts evenly used under real traffic? Figures are judged by their excess over
 * what perfectly even routing gives by chance (facts: coverage 5.1). Synthetic inputs through the
 * real router cannot say how traffic loads it, in either direction: they warn, and no more. */

enum experts { EXPERTS_UNKNOWN, EXPERTS_NONE, EXPERTS_SOME };

static enum experts has_experts(const struct rule *r, const struct fact **ret)
{
    const struct fact *f = fact_list_find(r->facts, FACT_MODEL_EXPERTS, NULL);

    *ret = f;
    if (f && f->state == FACT_ABSENT)
        return EXPERTS_NONE;
    if (!f || f->state == FACT_UNKNOWN)
        return EXPERTS_UNKNOWN;
    return f->i > 0 ? EXPERTS_SOME : EXPERTS_NONE;
}

static const struct fact *source_of(const struct rule *r)
{
    return fact_list_find(r->facts, FACT_BALANCE_SOURCE, NULL);
}

static bool is_recorded(const struct fact *source)
{
    return source && source->state == FACT_KNOWN && rule_word(source->text, "recorded");
}

static void judge_source(struct rule *r, const struct fact *source)
{
    char text[RULE_NAME_BYTES];

    if (is_recorded(source)) {
        rule_judge(r, VERDICT_PASS);
        rule_say(r, "The load comes from %s.", rule_plain(source->text, text));
        return;
    }
    rule_advise(r, "Only a record of the experts that real traffic picks can settle this.");
    if (!source || source->state != FACT_KNOWN || !rule_word(source->text, "synthetic")) {
        rule_judge(r, VERDICT_UNKNOWN);
        rule_say(r, "The load of the experts is not known (%s).",
                 rule_why(source, "no traffic and no router weights were given", text));
        rule_brief(r, "the load of the experts is not known");
        return;
    }
    rule_judge(r, r->policy->accept_synthetic ? VERDICT_WARN : VERDICT_UNKNOWN);
    rule_say(r, "The load comes from %s; recorded traffic was not given.",
             rule_plain(source->text, text));
    rule_brief(r, "synthetic inputs only, no recorded traffic");
}

/* A layer that was not seen may be the worst one. */
static void judge_left_out(struct rule *r)
{
    const struct fact *f = NULL;
    char text[RULE_NAME_BYTES];

    while ((f = rule_next(r, FACT_BALANCE_LEFT_OUT, f)) && f->state == FACT_ABSENT)
        continue;
    if (!f)
        return;
    rule_cite(r, f);
    rule_judge(r, VERDICT_UNKNOWN);
    rule_say(r, " The load of some layers was not seen: %s.",
             f->state == FACT_KNOWN ? rule_plain(f->text, text) : rule_why(f, "unknown", text));
    rule_brief(r, "%sthe load of some layers was not seen", r->brief.len ? "; " : "");
}

void rule_experts_evidence(struct rule *r)
{
    const struct fact *experts;
    char why[RULE_NAME_BYTES];

    rule_start(r);
    switch (has_experts(r, &experts)) {
    case EXPERTS_NONE:
        rule_judge(r, VERDICT_NOT_APPLICABLE);
        rule_say(r, "The model is dense: it has no experts whose load could be uneven.");
        rule_brief(r, "the model is dense and has no experts");
        break;
    case EXPERTS_UNKNOWN:
        rule_judge(r, VERDICT_UNKNOWN);
        rule_say(r, "Whether the model has experts is not known (%s).",
                 rule_why(experts, "no config was understood", why));
        rule_brief(r, "whether the model has experts is not known");
        rule_advise(r, "See what the config says: assay inspect SUBJECT.");
        break;
    case EXPERTS_SOME:
        rule_cite(r, source_of(r));
        judge_source(r, source_of(r));
        judge_left_out(r);
        break;
    }
    rule_cite(r, experts);
    rule_end(r);
}

/* True if there is a load to judge at all; otherwise experts.evidence has said why not. */
static bool has_load(const struct rule *r)
{
    const struct fact *f;

    return has_experts(r, &f) == EXPERTS_SOME && rule_known(r, FACT_BALANCE_SOURCE, NULL);
}

void rule_experts_tokens(struct rule *r)
{
    const struct fact *f = fact_list_find(r->facts, FACT_BALANCE_TOKENS_PER_EXPERT, NULL);
    char x[TEXT_NUMBER_BYTES], min[TEXT_NUMBER_BYTES], why[RULE_NAME_BYTES];

    if (!has_load(r))
        return;
    rule_start(r);
    rule_cite(r, f);
    text_real(r->policy->tokens_per_expert_min, 4, min);
    if (!f || f->state != FACT_KNOWN || !isfinite(f->x)) {
        rule_judge(r, VERDICT_UNKNOWN);
        rule_say(r, "How many tokens an expert got is not known (%s).",
                 rule_why(f, "not counted", why));
        rule_brief(r, "tokens per expert are not known");
    } else if (f->x < r->policy->tokens_per_expert_min) {
        rule_judge(r, VERDICT_UNKNOWN);
        rule_say(r, "An expert got %s tokens in the mean; under %s, chance drowns the load.",
                 text_real(f->x, 4, x), min);
        rule_brief(r, "%s tokens per expert are too few", x);
        rule_advise(r, "Route more tokens: assay audit SUBJECT --tokens N.");
    } else {
        rule_judge(r, VERDICT_PASS);
        rule_say(r, "An expert got %s tokens in the mean, enough to tell load from chance.",
                 text_real(f->x, 4, x));
    }
    rule_end(r);
}

/* The worst of a figure over all layers (and the scope "worst"). An unknown one is returned at
 * once: it may be the worst. */
static const struct fact *worst(const struct rule *r, enum fact_key key)
{
    const struct fact *found = NULL;

    for (const struct fact *f = NULL; (f = rule_next(r, key, f));) {
        if (f->state == FACT_UNKNOWN || (f->state == FACT_KNOWN && !isfinite(f->x)))
            return f;
        if (f->state == FACT_KNOWN && (!found || f->x > found->x))
            found = f;
    }
    return found;
}

/* The floor that belongs to a figure: of its scope, or the one there is; of several the lowest. */
static const struct fact *floor_of(const struct rule *r, enum fact_key key, const char *scope)
{
    const struct fact *found = fact_list_find(r->facts, key, scope);

    if (found)
        return found;
    for (const struct fact *f = NULL; (f = rule_next(r, key, f));) {
        if (f->state != FACT_KNOWN)
            return f;
        if (!found || f->x < found->x)
            found = f;
    }
    return found;
}

struct measure {
    enum fact_key figure, floor;
    const char *what; /* in a sentence */
    double warn_ratio, fail_ratio;
};

static void judge_measure(struct rule *r, const struct measure *m)
{
    const struct fact *f = worst(r, m->figure);
    const struct fact *chance = f ? floor_of(r, m->floor, f->scope) : NULL;
    bool known = f && f->state == FACT_KNOWN && isfinite(f->x);
    char x[TEXT_NUMBER_BYTES], y[TEXT_NUMBER_BYTES], z[TEXT_NUMBER_BYTES], why[RULE_NAME_BYTES];
    enum verdict_status status;
    double excess;

    rule_start(r);
    rule_cite(r, f);
    rule_cite(r, chance);
    if (!known || !chance || chance->state != FACT_KNOWN || !isfinite(chance->x)) {
        rule_judge(r, VERDICT_UNKNOWN);
        rule_say(r, "%s %s is not known (%s).", known ? "What chance gives for" : "The", m->what,
                 rule_why(known ? chance : f, "not computed", why));
        rule_brief(r, "the %s is not known", m->what);
        rule_end(r);
        return;
    }
    excess = f->x - chance->x;
    status = excess > m->fail_ratio   ? VERDICT_FAIL
             : excess > m->warn_ratio ? VERDICT_WARN
                                      : VERDICT_PASS;
    if (status == VERDICT_FAIL && !is_recorded(source_of(r)))
        status = VERDICT_WARN;
    rule_judge(r, status);
    text_real(f->x, 3, x);
    rule_say(r,
             "The %s is %s in the worst layer; even routing gives %s by chance, so the excess "
             "is %s",
             m->what, x, text_real(chance->x, 3, y), text_real(excess > 0 ? excess : 0, 3, z));
    rule_brief(r, "%s %s, by chance %s", m->what, x, y);
    rule_say(r, " (the policy warns over %s", text_real(m->warn_ratio, 3, x));
    rule_say(r, " and fails over %s).", text_real(m->fail_ratio, 3, x));
    if (status != VERDICT_PASS)
        rule_advise(r, "See which layers and experts are hot: assay balance SUBJECT.");
    rule_end(r);
}

void rule_experts_load(struct rule *r)
{
    const struct measure m = {FACT_BALANCE_MAX_MEAN, FACT_BALANCE_MAX_MEAN_FLOOR,
                              "largest over mean load", r->policy->max_mean_excess_warn_ratio,
                              r->policy->max_mean_excess_fail_ratio};

    if (has_load(r))
        judge_measure(r, &m);
}

void rule_experts_spread(struct rule *r)
{
    const struct measure m = {FACT_BALANCE_CV, FACT_BALANCE_CV_FLOOR, "coefficient of variation",
                              r->policy->cv_excess_warn_ratio, r->policy->cv_excess_fail_ratio};

    if (has_load(r))
        judge_measure(r, &m);
}

void rule_experts_unused(struct rule *r)
{
    const struct fact *most = NULL, *gap = NULL;
    char n[TEXT_NUMBER_BYTES], max[TEXT_NUMBER_BYTES], why[RULE_NAME_BYTES];

    if (!has_load(r))
        return;
    for (const struct fact *f = NULL; (f = rule_next(r, FACT_BALANCE_UNUSED, f));) {
        if (f->state != FACT_KNOWN)
            gap = f;
        else if (!most || f->i > most->i)
            most = f;
    }
    rule_start(r);
    rule_cite(r, gap ? gap : most);
    if (gap || !most || most->i < 0) {
        rule_judge(r, VERDICT_UNKNOWN);
        rule_say(r, "How many experts got no token is not known (%s).",
                 rule_why(gap, "not counted", why));
        rule_brief(r, "unused experts are not known");
    } else if ((uint64_t)most->i > r->policy->unused_max_experts) {
        rule_judge(r, VERDICT_WARN);
        rule_count((uint64_t)most->i, "expert", why);
        rule_say(r, "In a layer %s got no token at all; the policy allows %s.", why,
                 text_count(r->policy->unused_max_experts, max));
        rule_brief(r, "%s of a layer got no token", why);
    } else {
        rule_judge(r, VERDICT_PASS);
        rule_say(r, "No layer has more experts without a token than the policy allows (%s of %s).",
                 text_count((uint64_t)most->i, n), text_count(r->policy->unused_max_experts, max));
    }
    rule_end(r);
}
