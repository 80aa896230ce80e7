#include "audit/rule.h"
#include "core/text.h"
#include <stdio.h>
#include <string.h>

/* Item 2: are there fused operators in the target backend, and what does the fallback lose? */

/* The next operator that the model uses. */
static const struct fact *next_operator(const struct rule *r, const struct fact *after)
{
    const struct fact *f = after;

    while ((f = rule_next(r, FACT_OPERATOR_LAYERS, f)))
        if (f->state == FACT_KNOWN && f->scope[0] && f->i > 0)
            return f;
    return NULL;
}

void rule_operators_known(struct rule *r)
{
    const struct fact *gap = NULL;
    struct rule_list unexplained = {0};
    size_t operators = 0;
    char text[RULE_NAME_BYTES];

    rule_start(r);
    for (const struct fact *f = NULL; (f = rule_next(r, FACT_MODEL_UNEXPLAINED, f));) {
        if (f->state == FACT_ABSENT)
            continue;
        if (unexplained.count == 0)
            rule_say(r, "Config keys could not be explained, so the list of operators may have "
                        "holes: ");
        rule_list_add(r, &unexplained, "%s",
                      f->state == FACT_KNOWN ? rule_plain(f->text, text) : rule_why(f, "", text));
        rule_cite(r, f);
    }
    if (unexplained.count) {
        rule_list_end(r, &unexplained);
        rule_say(r, ". ");
    }
    for (const struct fact *f = NULL; (f = rule_next(r, FACT_OPERATOR_LAYERS, f));) {
        if (f->state == FACT_UNKNOWN && !gap)
            gap = f;
        if (f->state == FACT_KNOWN && f->scope[0] && f->i > 0) {
            operators++;
            rule_cite(r, f);
        }
    }
    if (gap || operators == 0) {
        rule_cite(r, gap);
        rule_say(r, "The operators that the model needs are not known: %s.",
                 rule_why(gap, "no config was understood", text));
    }
    if (gap || operators == 0 || unexplained.count) {
        rule_judge(r, VERDICT_UNKNOWN);
        rule_brief(r, "the model's operators are not fully known");
        rule_advise(r, "See which keys are not known: assay inspect SUBJECT.");
    } else {
        rule_judge(r, VERDICT_PASS);
        rule_say(r, "The config and the tensors name %s, and nothing in them is left unexplained.",
                 rule_count(operators, "operator", text));
    }
    rule_end(r);
}

enum path { PATH_NONE, PATH_UNKNOWN, PATH_COMPOSED, PATH_PARTIAL, PATH_FUSED, PATHS };

static const struct {
    const char *word;
    enum verdict_status status;
    const char *before, *brief;
} paths[PATHS] = {
    [PATH_NONE] = {"none", VERDICT_FAIL, "has no implementation of ", "not implemented in"},
    [PATH_UNKNOWN] = {"unknown", VERDICT_UNKNOWN, "nothing is known about ", "unknown in"},
    [PATH_COMPOSED] = {"composed", VERDICT_WARN, "runs as a sequence of general operations ",
                       "composed in"},
    [PATH_PARTIAL] = {"partial", VERDICT_WARN, "has a fused kernel for a part of the cases of ",
                      "fused in part in"},
    [PATH_FUSED] = {"fused", VERDICT_PASS, "has fused ", "fused in"},
};

static enum path path_of(const struct fact *f)
{
    if (f && f->state == FACT_KNOWN)
        for (int i = 0; i < PATHS; i++)
            if (!strcmp(f->text, paths[i].word))
                return (enum path)i;
    return PATH_UNKNOWN;
}

static const struct fact *support_of(const struct rule *r, const char *operator,
                                     const char * backend)
{
    char scope[2 * RULE_NAME_BYTES];
    int n = snprintf(scope, sizeof scope, "%s|%s", operator, backend);

    if (n < 0 || (size_t)n >= sizeof scope)
        return NULL;
    return fact_list_find(r->facts, FACT_OPERATOR_SUPPORT, scope);
}

/* Judges what an operator loses that has to fall back. Most operators have no kernels of ours to
 * measure it by; then the loss stays unsaid. One that could not be measured is unknown. Only a loss
 * that is above the policy's even at the lower end of its spread fails. */
static void judge_loss(struct rule *r, const char *operator, enum path path, bool say)
{
    const struct fact *t = fact_list_find(r->facts, FACT_FALLBACK_TIME, operator);
    double max = r->policy->fallback_time_max_ratio;
    char x[TEXT_NUMBER_BYTES], error[TEXT_NUMBER_BYTES], limit[TEXT_NUMBER_BYTES];
    char why[RULE_NAME_BYTES];
    bool fails;

    rule_cite(r, t);
    if (!t || t->state != FACT_KNOWN || !(t->x > 0)) {
        if (t && path == PATH_COMPOSED)
            rule_judge(r, VERDICT_UNKNOWN);
        if (say)
            rule_say(r, " (loss not measured%s%s)", t ? ": " : "",
                     t ? rule_why(t, "no value", why) : "");
        return;
    }
    fails = path == PATH_COMPOSED && t->x - t->error > max;
    if (fails)
        rule_judge(r, VERDICT_FAIL);
    if (!say)
        return;
    rule_say(r, " (%s", text_real(t->x, 3, x));
    if (t->error > 0)
        rule_say(r, " ± %s", text_real(t->error, 2, error));
    rule_say(r, " times the fused time on this host's CPU");
    if (fails)
        rule_say(r, ", over the policy's %s", text_real(max, 3, limit));
    rule_say(r, ")");
}

/* One clause: the operators that go one path. Returns their number. */
static size_t say_path(struct rule *r, const char *backend, enum path path, bool first)
{
    struct rule_list l = {0};
    const struct fact *reason = NULL;
    char name[RULE_NAME_BYTES];

    for (const struct fact *f = NULL; (f = next_operator(r, f));) {
        const struct fact *s = support_of(r, f->scope, backend);
        if (path_of(s) != path)
            continue;
        if (l.count == 0)
            rule_say(r, "%s%s", first ? "" : "; ", paths[path].before);
        rule_list_add(r, &l, "%s", rule_plain(f->scope, name));
        if (path == PATH_COMPOSED || path == PATH_PARTIAL)
            judge_loss(r, f->scope, path, l.count <= RULE_LIST_MAX);
        if (!reason && s && s->state == FACT_UNKNOWN)
            reason = s;
        rule_cite(r, s ? s : f);
    }
    if (l.count == 0)
        return 0;
    rule_list_end(r, &l);
    if (path == PATH_UNKNOWN)
        rule_say(r, " (%s)", rule_why(reason, "no support table was asked", name));
    return l.count;
}

static void judge_backend(struct rule *r, const char *backend)
{
    char name[RULE_NAME_BYTES], text[RULE_NAME_BYTES];
    size_t total = 0, counts[PATHS];
    enum path worst = PATHS;

    rule_start(r);
    rule_backend(backend, name);
    rule_say(r, "%s: ", name);
    for (int i = 0; i < PATHS; i++) {
        counts[i] = say_path(r, backend, (enum path)i, total == 0);
        total += counts[i];
        if (counts[i] == 0)
            continue;
        rule_judge(r, paths[i].status);
        if (worst == PATHS)
            worst = (enum path)i;
    }
    rule_say(r, ".");
    if (r->status != paths[worst].status)
        rule_brief(r, "a fallback in %s loses %s", name,
                   r->status == VERDICT_FAIL ? "too much" : "an unknown part");
    else
        rule_brief(r, "%s %s (%zu of %s)", paths[worst].brief, name, counts[worst],
                   rule_count(total, "operator", text));
    if (r->status == VERDICT_UNKNOWN)
        rule_advise(r,
                    "Find out what the version that you run does, and add it as a row: assay audit "
                    "SUBJECT --support FILE.");
    else if (counts[PATH_COMPOSED] + counts[PATH_PARTIAL] > 0)
        rule_advise(r, "Measure the loss in the backend itself, or choose one that fuses these.");
    rule_end(r);
}

void rule_operators_support(struct rule *r)
{
    const struct policy *p = r->policy;

    if (!next_operator(r, NULL))
        return; /* operators.known says that none is known, and why */
    for (size_t i = 0; i < p->backend_count; i++) {
        bool seen = false;
        for (size_t j = 0; j < i; j++)
            seen |= !strcmp(p->backends[i].name, p->backends[j].name);
        if (!seen)
            judge_backend(r, p->backends[i].name);
    }
}
