#ifndef AUDIT_RULES_H
#define AUDIT_RULES_H
#include "audit/policy.h"
#include "core/fact.h"
#include "core/mem.h"
#include "core/verdict.h"
#include "model/finding.h"
#include <stdbool.h>
#include <stddef.h>

/* The checklist. Rules read facts and a policy, nothing else: no clock, no files, no database; so
 * the same facts give the same verdicts, and verdicts can be derived again under another policy.
 * A fact that is unknown, and one that is not there, never helps towards a pass. */

struct verdict_set {
    struct verdict
        *items; /* the two headlines; then for each item its sum and its rules' verdicts */
    size_t count, cap;
    bool learnt;            /* a fact about the model, its formats, operators or weights is known */
    struct mem_arena arena; /* owns everything above but the facts */
};

/* Judges. The indices in the verdicts' facts count facts->items. A rule may give several verdicts
 * (one for each backend, one for each mixer kind) under its id; each item has one verdict with
 * `sum` set and rule "item"; so have VERDICT_DISTRIBUTION and VERDICT_READINESS, whose titles are
 * the headline words: "Downloadable", "Partly downloadable", "Not downloadable", "Unknown";
 * "Ready", "Ready with warnings", "Not ready", "Not proven". Release with rules_release. */
void rules_judge(const struct fact_list *facts, const struct policy *p, struct verdict_set *ret);
void rules_release(struct verdict_set *s);

/* The sum of an item or a headline. Never NULL after rules_judge. */
const struct verdict *rules_sum(const struct verdict_set *s, enum verdict_item item);

/* 0, 1, or 3 where nothing could be learnt. fail_on is the mildest readiness status that gives 1:
 * VERDICT_FAIL, VERDICT_UNKNOWN (fail too) or VERDICT_WARN (fail, unknown too). */
int rules_exit_status(const struct verdict_set *s, enum verdict_status fail_on);

/* The checklist itself, for `assay policy` and the manual. NULL past the end. */
struct rules_entry {
    enum verdict_item item;
    const char *id;       /* "formats.support" */
    const char *question; /* a whole sentence */
};
const struct rules_entry *rules_entry(size_t i);

/* Puts findings as MODEL_FINDING facts in the form that the rules read: scope is the code (from the
 * second of a code on "code 2", "code 3"; a scope is unique in a run), the text is the severity's
 * name, ": ", and the finding's text. Dropped findings become one of code "findings-dropped",
 * whose severity is unknown. */
int rules_findings_put(const struct finding_list *l, const char *source,
                       const struct fact_sink *sink, struct err *e);

/* Words that facts of text type must use, so that rules understand them; other words judge as
 * unknown.
 *   FORMAT_SUPPORT       native, supported (path not stated), weight_only, convert, expand, reject
 *   OPERATOR_SUPPORT     fused, partial, composed, none
 *   STRESS_GROWTH ...    constant, plateau, linear
 *   BALANCE_SOURCE       starts with "recorded" or "synthetic"
 *   FINGERPRINT_PROBLEM, DISTRIBUTION_PROBLEM   start with missing, empty, short, long or malformed
 *                        (the file is not what it has to be); pointer, unreadable, changed and all
 *                        else are not known
 *   FINGERPRINT_BASELINE starts with same or changed
 *   MODEL_FINDING        as rules_findings_put writes it
 * MODEL_EXPERTS is put as absent for a dense model: the expert item is then not applicable.
 * FINGERPRINT_BASELINE is put as absent, with scope "", when no baseline was named. */

#endif
