#include "audit/cmd_list.h"
#include "audit/stage.h"

static int run(struct evidence *v, const struct subject *s, const struct options *o,
               const struct policy *p, struct err *e)
{
    (void)s;
    return evidence_coverage(v, p, o->support, e);
}

int cmd_coverage(const struct options *o)
{
    static const char *const prefixes[] = {"format.", "operator.", NULL};

    return stage_run(o, run, prefixes);
}
