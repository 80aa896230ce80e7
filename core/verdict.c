#include "core/verdict.h"
#include <assert.h>
#include <string.h>

static const struct {
    const char *name, *mark;
    int grave; /* rank in the sum of an item */
} statuses[] = {
    [VERDICT_PASS] = {"pass", "✓", 1},
    [VERDICT_WARN] = {"warn", "!", 2},
    [VERDICT_FAIL] = {"fail", "✗", 4},
    [VERDICT_UNKNOWN] = {"unknown", "?", 3},
    [VERDICT_NOT_APPLICABLE] = {"not applicable", "–", 0},
};
#define STATUSES (sizeof(statuses) / sizeof(statuses[0]))

static const struct {
    const char *name, *title;
} items[VERDICT_ITEMS] = {
    [VERDICT_FORMATS] = {"formats", "Formats"},
    [VERDICT_OPERATORS] = {"operators", "Operators"},
    [VERDICT_CONTEXT] = {"context", "Long context"},
    [VERDICT_EXPERTS] = {"experts", "Expert balance"},
    [VERDICT_FINGERPRINT] = {"fingerprint", "Fingerprint"},
    [VERDICT_DISTRIBUTION] = {"distribution", "Distribution"},
    [VERDICT_READINESS] = {"readiness", "Readiness"},
};

const char *verdict_status_name(enum verdict_status s)
{
    assert((unsigned)s < STATUSES);
    return statuses[s].name;
}

const char *verdict_status_mark(enum verdict_status s)
{
    assert((unsigned)s < STATUSES);
    return statuses[s].mark;
}

bool verdict_status_find(const char *name, enum verdict_status *ret)
{
    for (unsigned i = 0; i < STATUSES; i++) {
        if (strcmp(statuses[i].name, name) == 0) {
            *ret = (enum verdict_status)i;
            return true;
        }
    }
    return false;
}

const char *verdict_item_name(enum verdict_item i)
{
    assert((unsigned)i < VERDICT_ITEMS);
    return items[i].name;
}

const char *verdict_item_title(enum verdict_item i)
{
    assert((unsigned)i < VERDICT_ITEMS);
    return items[i].title;
}

bool verdict_item_find(const char *name, enum verdict_item *ret)
{
    for (unsigned i = 0; i < VERDICT_ITEMS; i++) {
        if (strcmp(items[i].name, name) == 0) {
            *ret = (enum verdict_item)i;
            return true;
        }
    }
    return false;
}

enum verdict_status verdict_worse(enum verdict_status a, enum verdict_status b)
{
    assert((unsigned)a < STATUSES && (unsigned)b < STATUSES);
    return statuses[a].grave >= statuses[b].grave ? a : b;
}
