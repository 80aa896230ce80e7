#include "audit/cmd_list.h"
#include "audit/stage.h"
#include "audit/tables.h"

static int run(struct evidence *v, const struct subject *s, const struct options *o,
               const struct policy *p, struct err *e)
{
    struct evidence_limits all, ladder, unpack;

    evidence_limits(o, p, &all);
    ladder = unpack = all;
    ladder.budget_ns = all.budget_ns / 10 * 9;
    unpack.budget_ns = all.budget_ns / 10;
    if (evidence_stress(v, s, o, &ladder, e))
        return e->code;
    return evidence_dequant(v, s, o, &unpack, e);
}

int cmd_stress(const struct options *o)
{
    static const char *const prefixes[] = {"stress.", "format.dequant.", NULL};
    static const struct stage stage = {
        .run = run, .prefixes = prefixes, .done = FACT_STRESS_REACHED, .print = tables_print_stress};

    return stage_run(o, &stage);
}
