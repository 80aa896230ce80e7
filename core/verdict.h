#ifndef CORE_VERDICT_H
#define CORE_VERDICT_H
#include <stdbool.h>
#include <stddef.h>

/* What a rule of the policy makes of facts. audit/ judges, db/ keeps, report/ prints. */

enum verdict_status {
    VERDICT_PASS,
    VERDICT_WARN,
    VERDICT_FAIL,
    VERDICT_UNKNOWN,       /* could not find out: never a pass */
    VERDICT_NOT_APPLICABLE /* the question does not arise: expert balance of a dense model */
};

/* The five items of the checklist, and beside them the two headlines. */
enum verdict_item {
    VERDICT_FORMATS,
    VERDICT_OPERATORS,
    VERDICT_CONTEXT,
    VERDICT_EXPERTS,
    VERDICT_FINGERPRINT,
    VERDICT_DISTRIBUTION, /* headline: downloadable yes (pass), partly (warn), no (fail), unknown */
    VERDICT_READINESS,    /* headline: ready (pass), with warnings, not ready (fail), not proven */
    VERDICT_ITEMS
};

struct verdict {
    enum verdict_item item;
    const char *rule; /* stable word: "formats.native", "context.growth", "item" for the sum */
    bool sum;         /* the verdict of the whole item, made of the item's other verdicts */
    bool required;    /* by the policy: a fail or unknown here decides readiness */
    enum verdict_status status;
    const char *title;   /* headline word: "Not proven", "Downloadable"; "" for rules */
    const char *text;    /* one or two whole sentences with the numbers that decided */
    const char *advice;  /* what would settle or mend it: a command or a step; "" if nothing */
    const size_t *facts; /* [fact_count] indices into the run's facts, in order of weight */
    size_t fact_count;
};

const char *verdict_status_name(enum verdict_status s); /* "pass", "warn", ..., "not applicable" */
const char *verdict_status_mark(enum verdict_status s); /* "✓" "!" "✗" "?" "–" */
bool verdict_status_find(const char *name, enum verdict_status *ret);
const char *verdict_item_name(enum verdict_item i);  /* "formats", ..., "readiness" */
const char *verdict_item_title(enum verdict_item i); /* "Formats", "Long context", ... */
bool verdict_item_find(const char *name, enum verdict_item *ret);

/* The gravest of two for the sum of an item: fail, then unknown, then warn, then pass; not
 * applicable gives way to anything. */
enum verdict_status verdict_worse(enum verdict_status a, enum verdict_status b);

#endif
