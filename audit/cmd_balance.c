#include "audit/cmd_list.h"
#include "audit/stage.h"

static int run(struct evidence *v, const struct subject *s, const struct options *o,
               const struct policy *p, struct err *e)
{
    struct evidence_limits l;

    evidence_limits(o, p, &l);
    return evidence_balance(v, s, o, &l, e);
}

int cmd_balance(const struct options *o)
{
    static const char *const prefixes[] = {"balance.", NULL};

    return stage_run(o, run, prefixes);
}
