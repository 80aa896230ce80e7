#include "audit/cmd_list.h"
#include "audit/stage.h"
#include "audit/tables.h"

static int run(struct evidence *v, const struct subject *s, const struct options *o,
               const struct policy *p, struct err *e)
{
    struct support tables;

    (void)s;
    if (stage_support(o, &tables, e))
        return e->code;
    int rc = evidence_coverage(v, p, &tables, e);
    support_release(&tables);
    return rc;
}

int cmd_coverage(const struct options *o)
{
    static const char *const prefixes[] = {"format.", "operator.", NULL};
    static const struct stage stage = {.run = run,
                                       .prefixes = prefixes,
                                       .done = FACT_FORMAT_SUPPORT,
                                       .print = tables_print_coverage};

    return stage_run(o, &stage);
}
