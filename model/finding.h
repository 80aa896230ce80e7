#ifndef MODEL_FINDING_H
#define MODEL_FINDING_H
#include "core/mem.h"
#include <stddef.h>

/* What looks wrong or odd about a subject. A finding is a value, not an error: the audit goes on.
 */
enum finding_severity {
    FINDING_NOTE, /* worth knowing, harms nothing: padding in A_log */
    FINDING_WARN, /* two sources disagree, or a thing is odd */
    FINDING_FAIL  /* the weights are not whole or not what they claim to be */
};

struct finding {
    enum finding_severity severity;
    const char *code; /* stable word with dashes: "shard-missing", "config-tensor-differs" */
    const char *text; /* a whole sentence: what, where, both sides */
};

struct finding_list {
    struct finding *items;
    size_t count, cap;
    size_t dropped; /* findings past FINDING_MAX, counted, never hidden: report it. The gravest of
                       them takes the last place */
    struct mem_arena arena;
};

#define FINDING_MAX 10000 /* a broken index of half a million names shall not fill memory */

/* Zero-initialised is an empty list. */
void finding_list_release(struct finding_list *l);
/* code must be a literal; the text is copied. */
void finding_add(struct finding_list *l, enum finding_severity severity, const char *code,
                 const char *fmt, ...) __attribute__((format(printf, 4, 5)));
const char *finding_severity_name(enum finding_severity s); /* "note", "warning", "failure" */
/* The gravest severity in the list; FINDING_NOTE if it is empty. */
enum finding_severity finding_worst(const struct finding_list *l);

#endif
