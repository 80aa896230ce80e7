#include "audit/cmd_list.h"
#include "audit/inspection.h"
#include "audit/subject.h"
#include "core/log.h"

int cmd_inspect(const struct options *o)
{
    struct subject s;
    struct err e = {0};
    int status;

    if (subject_load(o->args[0], o, &s, &e))
        return cmd_fail(o, &e);
    status = s.has_cost ? CMD_YES : CMD_UNKNOWN;
    if (!s.has_model)
        log_error("inspect: %s: %s", o->args[0], s.model_why);
    if (o->json)
        status = cmd_print_json(o, inspection_json(&s, o), status);
    else
        inspection_print(&s, o);
    subject_release(&s);
    return status;
}
