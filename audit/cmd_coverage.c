#include "audit/cmd_list.h"
#include "audit/stage.h"

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

    return stage_run(o, run, prefixes);
}
