#include "audit/rule.h"
#include "core/text.h"
#include <math.h>
#include <string.h>

/* Item 3: do memory and throughput at the target lengths follow the architecture?
 *
 * Scopes of the STRESS_* facts are mixer kinds, where need be with ".window" or ".2" behind them;
 * those of MODEL_LAYERS are the bare kinds. */

/* No ladder came anywhere: rule_context_ladder says so once, and nothing else can be told. */
static bool nothing_reached(const struct rule *r)
{
    for (const struct fact *f = NULL; (f = rule_next(r, FACT_STRESS_REACHED, f));)
        if (f->state == FACT_KNOWN && f->i > 0)
            return false;
    return true;
}

/* The next scope that the ladder was run for: that of a fact which tells how its cache should grow,
 * or else of one that tells how far it came. A fact without a scope is of no kind: it says why
 * there was no ladder at all, which is for context.ladder to tell. */
static const struct fact *next_kind(const struct rule *r, const struct fact *after)
{
    const struct fact *f = after;

    if (nothing_reached(r))
        return NULL;
    if (!f || f->key == FACT_STRESS_GROWTH_EXPECTED)
        while ((f = rule_next(r, FACT_STRESS_GROWTH_EXPECTED, f)))
            if (f->scope[0])
                return f;
    while ((f = rule_next(r, FACT_STRESS_REACHED, f)))
        if (f->scope[0] && !fact_list_find(r->facts, FACT_STRESS_GROWTH_EXPECTED, f->scope))
            return f;
    return NULL;
}

static bool is_kind(const struct fact *layers)
{
    return layers->state == FACT_KNOWN && layers->i > 0 && layers->scope[0] &&
           strcmp(layers->scope, "all") != 0;
}

/* Layers that are of none of the kinds. */
static int64_t layers_of_no_kind(const struct rule *r)
{
    const struct fact *all = rule_known(r, FACT_MODEL_LAYERS, "");
    int64_t n = all ? all->i : 0;

    for (const struct fact *f = NULL; (f = rule_next(r, FACT_MODEL_LAYERS, f));)
        if (is_kind(f))
            n -= f->i;
    return all && n > 0 ? n : 0;
}

/* A ladder of that kind of mixer came anywhere. */
static const struct fact *reached_by(const struct rule *r, const char *kind)
{
    size_t n = strlen(kind);

    for (const struct fact *f = NULL; (f = rule_next(r, FACT_STRESS_REACHED, f));)
        if (f->state == FACT_KNOWN && f->i > 0 && strncmp(f->scope, kind, n) == 0 &&
            (f->scope[n] == '\0' || f->scope[n] == '.'))
            return f;
    return NULL;
}

/* Why a kind has no ladder: what ended the run as a whole, or the first ladder. */
static const char *why_no_ladder(struct rule *r, char ret[RULE_NAME_BYTES])
{
    const struct fact *whole = fact_list_find(r->facts, FACT_STRESS_REACHED, "");
    const struct fact *limit = rule_next(r, FACT_STRESS_LIMIT, NULL);

    if (whole && whole->state == FACT_UNKNOWN) {
        rule_cite(r, whole);
        return rule_why(whole, "", ret);
    }
    rule_cite(r, limit);
    return limit && limit->state == FACT_KNOWN ? rule_plain(limit->text, ret)
                                               : rule_why(limit, "not measured", ret);
}

/* Names the kinds that have no ladder; returns how many those are. */
static size_t say_missing(struct rule *r, size_t *ret_kinds)
{
    struct rule_list missing = {0};
    char text[RULE_NAME_BYTES];

    *ret_kinds = 0;
    for (const struct fact *f = NULL; (f = rule_next(r, FACT_MODEL_LAYERS, f));) {
        const struct fact *reached;
        if (!is_kind(f))
            continue;
        ++*ret_kinds;
        rule_cite(r, f);
        if ((reached = reached_by(r, f->scope))) {
            rule_cite(r, reached);
            continue;
        }
        if (missing.count == 0)
            rule_say(r, "No ladder of context lengths was run for ");
        rule_list_add(r, &missing, "%s", rule_kind(f->scope, text));
    }
    rule_list_end(r, &missing);
    if (missing.count)
        rule_say(r, " (%s). ", why_no_ladder(r, text));
    return missing.count;
}

void rule_context_ladder(struct rule *r)
{
    int64_t strange = layers_of_no_kind(r);
    char text[RULE_NAME_BYTES];
    size_t kinds, missing;

    rule_start(r);
    missing = say_missing(r, &kinds);
    if (kinds == 0)
        rule_say(r, "The mixers of the model are not known (%s), so nothing was measured.",
                 why_no_ladder(r, text));
    else if (strange)
        rule_say(r, "The mixer of %s is not known.", rule_count((uint64_t)strange, "layer", text));
    if (kinds == 0 || strange || missing) {
        rule_judge(r, VERDICT_UNKNOWN);
        rule_brief(r, "%s",
                   missing ? "no ladder was run" : "the model's mixers are not fully known");
        rule_advise(r, missing ? "Run the ladder: assay stress SUBJECT."
                               : "See what the config says: assay inspect SUBJECT.");
    } else {
        rule_judge(r, VERDICT_PASS);
        rule_say(r, "The ladder was run for %s%s.", kinds == 1 ? "" : "each of the ",
                 kinds == 1 ? "the one mixer kind" : rule_count(kinds, "mixer kind", text));
    }
    rule_end(r);
}

/* Says why a comparison cannot be made, and that it is unknown. */
static void unknown(struct rule *r, const char *kind, const char *what, const struct fact *f)
{
    char name[RULE_NAME_BYTES], why[RULE_NAME_BYTES];

    rule_judge(r, VERDICT_UNKNOWN);
    rule_cite(r, f);
    rule_say(r, "%s: %s is not known (%s).", rule_kind(kind, name), what,
             rule_why(f, "not measured", why));
    rule_brief(r, "%s of %s is not known", what, name);
    rule_advise(r, "Run the ladder again: assay stress SUBJECT.");
}

static bool growth_is_known(const struct fact *f)
{
    return f && f->state == FACT_KNOWN &&
           (!strcmp(f->text, "constant") || !strcmp(f->text, "plateau") ||
            !strcmp(f->text, "linear") || !strcmp(f->text, "irregular"));
}

/* The distance between measured and predicted cache against the policy's. Only a distance that is
 * clear of the threshold by its own spread decides. */
static void judge_off(struct rule *r, const char *name, const struct fact *off)
{
    double max = r->policy->cache_off_max_ratio, lo = off->x - off->error, hi = off->x + off->error;
    char x[TEXT_NUMBER_BYTES], error[TEXT_NUMBER_BYTES], limit[TEXT_NUMBER_BYTES];

    text_real(off->x * 100, 3, x);
    if (hi > 0)
        rule_say(r, ", off by at most %s", x);
    else
        rule_say(r, ", with no distance beyond a page");
    if (off->error > 0)
        rule_say(r, " ± %s", text_real(off->error * 100, 2, error));
    if (hi > 0)
        rule_say(r, " %%");
    text_real(max * 100, 3, limit);
    if (hi <= max) {
        rule_say(r, " (the policy allows %s %%).", limit);
        rule_judge(r, VERDICT_PASS);
        if (hi > 0)
            rule_brief(r, "cache of %s within %s %% of the architecture", name, x);
        else
            rule_brief(r, "cache of %s as the architecture says", name);
    } else if (lo > max) {
        rule_say(r, ", more than the policy's %s %%.", limit);
        rule_judge(r, VERDICT_FAIL);
        rule_brief(r, "the cache of %s is off by %s %%", name, x);
    } else {
        rule_say(r, "; the spread holds the policy's %s %%, so it decides nothing.", limit);
        rule_judge(r, VERDICT_UNKNOWN);
        rule_brief(r, "the cache of %s is measured too coarsely", name);
        rule_advise(r, "Measure longer contexts, where a page weighs less: assay stress SUBJECT.");
    }
}

/* A window that fills beyond the end of the ladder looks like a line up to there. */
static bool ends_before_knee(const struct rule *r, const char *kind, const char *want,
                             const char *found)
{
    const struct fact *f = rule_known(r, FACT_STRESS_REACHED, kind);

    return !strcmp(want, "plateau") && !strcmp(found, "linear") &&
           !(f && f->i > 0 && (uint64_t)f->i >= policy_context_max(r->policy));
}

static void judge_cache(struct rule *r, const char *kind)
{
    const struct fact *want = fact_list_find(r->facts, FACT_STRESS_GROWTH_EXPECTED, kind);
    const struct fact *found = fact_list_find(r->facts, FACT_STRESS_GROWTH, kind);
    const struct fact *off = fact_list_find(r->facts, FACT_STRESS_CACHE_OFF, kind);
    const struct fact *agrees = fact_list_find(r->facts, FACT_STRESS_CACHE_AGREES, kind);
    char name[RULE_NAME_BYTES], a[RULE_NAME_BYTES], b[RULE_NAME_BYTES];

    rule_start(r);
    rule_kind(kind, name);
    if (!growth_is_known(want)) {
        unknown(r, kind, "the growth that the architecture predicts", want);
    } else if (!growth_is_known(found)) {
        unknown(r, kind, "the measured growth of the cache", found);
    } else if (ends_before_knee(r, kind, want->text, found->text)) {
        unknown(r, kind, "whether the cache stops growing beyond the ladder's end", found);
    } else if (strcmp(want->text, found->text) != 0) {
        rule_judge(r, VERDICT_FAIL);
        rule_say(r, "%s: the cache should be %s in the context length, and is %s.", name,
                 rule_plain(want->text, a), rule_plain(found->text, b));
        rule_brief(r, "the cache of %s is %s, not %s", name, b, a);
        rule_advise(r, "Look at the curve: either the config does not describe the layers, or the "
                       "cache is not kept as engines keep it.");
    } else if (!off || off->state != FACT_KNOWN || !isfinite(off->x) || off->x < 0) {
        unknown(r, kind, "the distance of measured from predicted cache", off);
    } else if (!agrees || agrees->state != FACT_KNOWN) {
        unknown(r, kind, "whether the fit of the cache agrees with the prediction", agrees);
    } else {
        rule_say(r, "%s: the cache is %s in the context length, as the architecture says", name,
                 rule_plain(found->text, a));
        judge_off(r, name, off);
        if (strcmp(agrees->text, "yes") != 0) {
            rule_judge(r, VERDICT_WARN);
            rule_say(r, " The fit is not as predicted: %s.", rule_plain(agrees->text, a));
        }
    }
    rule_cite(r, agrees);
    rule_cite(r, found);
    rule_cite(r, want);
    rule_cite(r, off);
    rule_end(r);
}

void rule_context_cache(struct rule *r)
{
    for (const struct fact *f = NULL; (f = next_kind(r, f));)
        judge_cache(r, f->scope);
}

/* Lengths at which the cache of that kind was measured. */
static size_t lengths_measured(const struct rule *r, const char *kind)
{
    size_t n = 0;

    for (size_t i = 0; i < r->facts->point_count; i++) {
        const struct fact_point *p = &r->facts->points[i];
        n += !strcmp(p->series, "cache.measured") && !strcmp(p->scope, kind) && isfinite(p->y);
    }
    return n;
}

/* A cache that was seen not to grow, at enough lengths, is the same at any length: the target need
 * not be reached. The ladder ended beyond a window's knee if the fit found the plateau. */
static bool settled(const struct rule *r, const char *kind, size_t lengths)
{
    const struct fact *want = rule_known(r, FACT_STRESS_GROWTH_EXPECTED, kind);
    const struct fact *found = rule_known(r, FACT_STRESS_GROWTH, kind);

    return want && found && strcmp(want->text, found->text) == 0 &&
           (!strcmp(found->text, "constant") || !strcmp(found->text, "plateau")) &&
           lengths >= r->policy->constant_min_lengths;
}

static void judge_short(struct rule *r, const char *name, const char *kind, uint64_t reached)
{
    const struct fact *limit = fact_list_find(r->facts, FACT_STRESS_LIMIT, kind);
    const struct policy *p = r->policy;
    const char *no_reason = limit && limit->state == FACT_ABSENT
                                ? "the ladder was not asked to go further"
                                : "no reason was recorded";
    char a[TEXT_NUMBER_BYTES], b[TEXT_NUMBER_BYTES], why[RULE_NAME_BYTES];
    size_t met = 0;

    rule_cite(r, limit);
    while (met < p->context_count && p->contexts_tokens[met] <= reached)
        met++;
    rule_judge(r, p->accept_extrapolation ? VERDICT_WARN : VERDICT_UNKNOWN);
    rule_say(r,
             "%s: measured up to %s tokens of the %s asked for (%s)%s; what lies beyond is "
             "extrapolated.",
             name, text_tokens(reached, a), text_tokens(policy_context_max(p), b),
             limit && limit->state == FACT_KNOWN ? rule_plain(limit->text, why)
                                                 : rule_why(limit, no_reason, why),
             met ? "; the shorter targets were reached" : "");
    rule_brief(r, "measured %s up to %s of %s tokens", name, a, b);
    rule_advise(r, "Give the ladder more: assay audit SUBJECT --memory BYTES --budget TIME%s.",
                p->accept_extrapolation
                    ? ""
                    : "; or accept extrapolation in the policy: context.extrapolation \"warn\"");
}

static void judge_reached(struct rule *r, const char *kind)
{
    const struct fact *f = fact_list_find(r->facts, FACT_STRESS_REACHED, kind);
    uint64_t target = policy_context_max(r->policy);
    size_t lengths = lengths_measured(r, kind);
    char a[TEXT_NUMBER_BYTES], b[TEXT_NUMBER_BYTES], name[RULE_NAME_BYTES];

    rule_start(r);
    rule_kind(kind, name);
    rule_cite(r, f);
    if (!f || f->state != FACT_KNOWN || f->i <= 0) {
        unknown(r, kind, "the longest context measured", f);
    } else if ((uint64_t)f->i >= target) {
        rule_judge(r, VERDICT_PASS);
        rule_say(r, "%s: measured up to %s tokens; the policy asks for %s.", name,
                 text_tokens((uint64_t)f->i, a), text_tokens(target, b));
        rule_brief(r, "measured %s up to %s tokens", name, a);
    } else if (settled(r, kind, lengths)) {
        rule_judge(r, VERDICT_PASS);
        rule_cite(r, fact_list_find(r->facts, FACT_STRESS_GROWTH, kind));
        rule_say(r,
                 "%s: measured at %zu lengths up to %s tokens, where the cache has stopped "
                 "growing; %s tokens take the same.",
                 name, lengths, text_tokens((uint64_t)f->i, a), text_tokens(target, b));
        rule_brief(r, "cache of %s no longer grows at %s tokens", name, a);
    } else {
        judge_short(r, name, kind, (uint64_t)f->i);
    }
    rule_end(r);
}

void rule_context_reached(struct rule *r)
{
    for (const struct fact *f = NULL; (f = next_kind(r, f));)
        judge_reached(r, f->scope);
}

static void judge_decode(struct rule *r, const char *kind)
{
    const struct fact *want = fact_list_find(r->facts, FACT_STRESS_GROWTH_EXPECTED, kind);
    const struct fact *found = fact_list_find(r->facts, FACT_STRESS_DECODE_GROWTH, kind);
    const struct fact *clock = fact_list_find(r->facts, FACT_STRESS_DECODE_QUALITY, kind);
    char name[RULE_NAME_BYTES], why[RULE_NAME_BYTES];

    rule_start(r);
    rule_kind(kind, name);
    rule_cite(r, found);
    if (!growth_is_known(want)) {
        unknown(r, kind, "the growth that the architecture predicts", want);
    } else if (!growth_is_known(found)) {
        unknown(r, kind, "the growth of decode time", found);
    } else if (strcmp(want->text, found->text) != 0) {
        rule_judge(r, VERDICT_WARN);
        rule_say(r,
                 "%s: decode time on this host is %s in the context length, and the cache that "
                 "each step reads is %s.",
                 name, found->text, want->text);
        rule_brief(r, "decode time of %s is %s, not %s", name, found->text, want->text);
        rule_advise(r,
                    "Look at the curve beside its floor; run on a quiet host with more lengths.");
    } else {
        rule_judge(r, VERDICT_PASS);
        rule_say(r, "%s: decode time is %s in the context length, as the cache is.", name,
                 found->text);
        rule_brief(r, "decode time of %s follows its cache", name);
        if (!clock || clock->state != FACT_KNOWN || !rule_word(clock->text, "ok")) {
            rule_judge(r, VERDICT_WARN);
            rule_say(r, " The clock was not steady (%s).",
                     clock && clock->state == FACT_KNOWN
                         ? rule_plain(clock->text, why)
                         : rule_why(clock, "nothing was noted about it", why));
            rule_brief(r, ", by an unsteady clock");
        }
    }
    rule_cite(r, clock);
    rule_cite(r, want);
    rule_end(r);
}

void rule_context_decode(struct rule *r)
{
    for (const struct fact *f = NULL; (f = next_kind(r, f));)
        judge_decode(r, f->scope);
}

static void judge_latency(struct rule *r, const char *kind)
{
    const struct fact *f = fact_list_find(r->facts, FACT_STRESS_DECODE, kind);
    double max = r->policy->decode_layer_max_ns;
    char x[TEXT_NUMBER_BYTES], limit[TEXT_NUMBER_BYTES], name[RULE_NAME_BYTES];

    rule_start(r);
    rule_kind(kind, name);
    rule_cite(r, f);
    if (!f || f->state != FACT_KNOWN || !(f->x > 0)) {
        unknown(r, kind, "decode time", f);
        rule_end(r);
        return;
    }
    text_duration(f->x, x);
    text_duration(max, limit);
    rule_judge(r, f->x + f->error <= max  ? VERDICT_PASS
                  : f->x - f->error > max ? VERDICT_FAIL
                                          : VERDICT_UNKNOWN);
    rule_say(r,
             "%s: one layer takes %s a token at the longest context measured; the policy's "
             "bound is %s%s.",
             name, x, limit, r->status == VERDICT_UNKNOWN ? ", within the spread" : "");
    rule_brief(r, "one layer of %s takes %s a token", name, x);
    rule_end(r);
}

void rule_context_latency(struct rule *r)
{
    if (r->policy->decode_layer_max_ns == 0)
        return;
    for (const struct fact *f = NULL; (f = next_kind(r, f));)
        judge_latency(r, f->scope);
}
