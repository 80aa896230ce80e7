#include "audit/cmd_list.h"
#include "audit/stage.h"
#include "audit/tables.h"

static int run(struct evidence *v, const struct subject *s, const struct options *o,
               const struct policy *p, struct err *e)
{
    struct evidence_limits l;

    evidence_limits(o, p, &l);
    return evidence_stress(v, s, o, &l, e);
}

int cmd_stress(const struct options *o)
{
    static const char *const prefixes[] = {"stress.", NULL};
    static const struct stage stage = {.run = run,
                                       .prefixes = prefixes,
                                       .done = FACT_STRESS_REACHED,
                                       .print = tables_print_stress};

    return stage_run(o, &stage);
}
