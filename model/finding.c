#include "model/finding.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void finding_list_release(struct finding_list *l)
{
    free(l->items);
    mem_arena_release(&l->arena);
    *l = (struct finding_list){0};
}

void finding_add(struct finding_list *l, enum finding_severity severity, const char *code,
                 const char *fmt, ...)
{
    size_t at = l->count;
    va_list ap;

    if (l->count >= FINDING_MAX) {
        /* Past the maximum the last place goes to the gravest, so that finding_worst stays true. */
        l->dropped++;
        at = FINDING_MAX - 1;
        if (severity <= l->items[at].severity)
            return;
    } else {
        l->items = mem_grow(l->items, &l->cap, l->count + 1, sizeof(*l->items));
        l->count++;
    }
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    assert(n >= 0);
    char *text = mem_arena_alloc(&l->arena, (size_t)n + 1);
    va_start(ap, fmt);
    (void)vsnprintf(text, (size_t)n + 1, fmt, ap);
    va_end(ap);
    l->items[at] = (struct finding){.severity = severity, .code = code, .text = text};
}

const char *finding_severity_name(enum finding_severity s)
{
    static const char *const names[] = {
        [FINDING_NOTE] = "note", [FINDING_WARN] = "warning", [FINDING_FAIL] = "failure"};

    return (unsigned)s < sizeof(names) / sizeof(names[0]) ? names[s] : "?";
}

enum finding_severity finding_worst(const struct finding_list *l)
{
    enum finding_severity worst = FINDING_NOTE;

    for (size_t i = 0; i < l->count; i++)
        if (l->items[i].severity > worst)
            worst = l->items[i].severity;
    return worst;
}
