#include "audit/stage.h"
#include "audit/printout.h"
#include "core/buf.h"
#include "core/file.h"
#include "core/json.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/text.h"
#include <stdlib.h>
#include <string.h>

static int by_size(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* What the command line asks for is what is judged: --context takes the place of the policy's
 * lengths, so that the recorded policy says what the verdicts were about. */
static void take_contexts(const struct options *o, struct policy *p)
{
    uint64_t *lengths = mem_arena_alloc(&p->arena, o->context_count * sizeof(*lengths));
    size_t n = 0;

    memcpy(lengths, o->contexts, o->context_count * sizeof(*lengths));
    qsort(lengths, o->context_count, sizeof(*lengths), by_size);
    for (size_t i = 0; i < o->context_count; i++)
        if (n == 0 || lengths[i] != lengths[n - 1])
            lengths[n++] = lengths[i];
    p->contexts_tokens = lengths;
    p->context_count = n;
}

/* What is wrong with a file that an option names is wrong with the command line, unless the file
 * could not be read. */
static int refuse_file(const char *option, struct err *e)
{
    if (e->code != ERR_IO)
        e->code = ERR_USAGE;
    return err_wrap(e, "%s", option);
}

int stage_policy(const struct options *o, struct policy *ret, struct err *e)
{
    for (size_t i = 0; i < o->context_count; i++)
        if (o->contexts[i] > POLICY_CONTEXT_TOKENS_MAX)
            return err_set(e, ERR_USAGE, "--context is over the limit of %u tokens",
                           POLICY_CONTEXT_TOKENS_MAX);
    if (!o->policy)
        policy_builtin(ret);
    else if (policy_read(o->policy, ret, e))
        return refuse_file("--policy", e);
    if (o->context_count)
        take_contexts(o, ret);
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
    if (rc) {
        support_release(ret);
        return refuse_file("--support", e);
    }
    return 0;
}

/* Whether the stage did its work; if not, why. */
static int status_of(const struct options *o, const struct subject *subject,
                     const struct fact_list *l, const struct stage *s)
{
    const struct fact *reason = NULL;
    char plain[200];

    for (size_t i = 0; i < l->count; i++) {
        const struct fact *f = &l->items[i];
        if (f->key == s->done && f->state != FACT_UNKNOWN)
            return CMD_YES;
        if (f->key == s->done && !reason)
            reason = f;
    }
    log_error("%s: %s: %s", o->cmd->name, text_plain(o->args[0], plain, sizeof(plain)),
              reason                  ? reason->why
              : subject->model_why[0] ? subject->model_why
                                      : "nothing could be found out");
    return CMD_UNKNOWN;
}

int stage_run(const struct options *o, const struct stage *s)
{
    struct subject subject;
    struct evidence v;
    struct policy p;
    struct err e = {0};
    int status = CMD_UNKNOWN;

    if (stage_policy(o, &p, &e))
        return cmd_fail(o, &e);
    evidence_init(&v);
    if (!subject_load(o->args[0], o, &subject, &e)) {
        if (!evidence_subject(&v, &subject, &e) && !s->run(&v, &subject, o, &p, &e)) {
            status = status_of(o, &subject, &v.facts, s);
            if (o->json)
                status = cmd_print_json(o, printout_json(&v.facts, s->prefixes), status);
            else
                s->print(&v.facts);
        }
        subject_release(&subject);
    }
    evidence_release(&v);
    policy_release(&p);
    return e.code ? cmd_fail(o, &e) : status;
}
