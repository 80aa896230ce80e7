#include "audit/stage.h"
#include "audit/printout.h"
#include "core/buf.h"
#include "core/file.h"
#include "core/json.h"
#include "core/log.h"
#include "core/text.h"

int stage_policy(const struct options *o, struct policy *ret, struct err *e)
{
    if (o->policy)
        return policy_read(o->policy, ret, e);
    policy_builtin(ret);
    return 0;
}

int stage_support(const struct options *o, struct support *ret, struct err *e)
{
    struct buf b;
    int rc = support_init(ret, e);

    if (rc || !o->support)
        return rc;
    buf_init(&b, SUPPORT_TEXT_BYTES_MAX);
    rc = file_read(o->support, &b, e);
    if (!rc)
        rc = support_add(ret, b.data, b.len, o->support, e);
    buf_release(&b);
    if (rc)
        support_release(ret);
    return rc;
}

static int print(const struct options *o, const struct fact_list *l, const char *const *prefixes)
{
    int status = CMD_UNKNOWN;

    for (size_t i = 0; i < l->count; i++) {
        const struct fact *f = &l->items[i];
        if (!text_starts(fact_name(f->key), prefixes[0]))
            continue;
        if (f->state == FACT_KNOWN)
            status = CMD_YES;
        else if (f->state == FACT_UNKNOWN)
            log_warn("%s %s: %s", fact_name(f->key), f->scope, f->why);
    }
    if (o->json)
        return cmd_print_json(o, printout_json(l, prefixes), status);
    for (; *prefixes; prefixes++)
        printout_print_facts(l, *prefixes);
    printout_print_points(l);
    return status;
}

int stage_run(const struct options *o, stage_fn *fn, const char *const *prefixes)
{
    struct evidence v;
    struct subject s;
    struct policy p;
    struct err e = {0};
    int status = CMD_UNKNOWN;

    if (stage_policy(o, &p, &e))
        return cmd_fail(o, &e);
    evidence_init(&v);
    if (!subject_load(o->args[0], o, &s, &e)) {
        if (!evidence_subject(&v, &s, &e) && !fn(&v, &s, o, &p, &e))
            status = print(o, &v.facts, prefixes);
        subject_release(&s);
    }
    evidence_release(&v);
    policy_release(&p);
    return e.code ? cmd_fail(o, &e) : status;
}
