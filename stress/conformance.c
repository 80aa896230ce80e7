#include "stress/conformance.h"
#include "core/text.h"
#include "stress/conformance_case.h"
#include "stress/conformance_ops.h"
#include "stress/kernel.h"
#include <stdio.h>
#include <string.h>

const char *conformance_state_name(enum conformance_state s)
{
    static const char *const names[] = {"pass", "fail", "missing", "unknown operator", "malformed"};

    return names[s];
}

static void say(struct conformance_result *r, enum conformance_state s, const char *reason)
{
    r->state = s;
    snprintf(r->reason, sizeof(r->reason), "%s", reason);
}

/* The operator of that name, run and compared; r->state is set unless the case failed. */
static void check(struct conformance_case *c, const char *op, unsigned cpu_mask)
{
    struct conformance_result *r = c->result;
    const struct kernel *k = kernel_find(op);

    text_plain(op, r->op, sizeof(r->op));
    if (!k) {
        say(r, CONFORMANCE_UNKNOWN_OP, "no operator of that name: `kernels list` has them all");
        return;
    }
    if (k->missing) {
        say(r, CONFORMANCE_MISSING, k->missing);
        return;
    }
    c->tolerance = conformance_case_number(c, "tolerance");
    if (c->tolerance < 0) {
        err_set(&c->e, ERR_FORMAT, "parameter tolerance is negative");
        return;
    }
    conformance_ops_find(op)(c, cpu_mask);
    r->state = CONFORMANCE_PASS;
    for (size_t i = 0; i < r->output_count; i++) {
        if (!r->outputs[i].ok)
            r->state = CONFORMANCE_FAIL;
    }
}

int conformance_check(const void *bytes, size_t n, unsigned cpu_mask,
                      struct conformance_result *ret, struct err *e)
{
    struct conformance_result r = {0};
    struct conformance_case c;
    int rc = 0;

    if (n > CONFORMANCE_FILE_BYTES_MAX)
        return err_set(e, ERR_LIMIT, "a conformance file of %zu bytes; at most %lu are read", n,
                       CONFORMANCE_FILE_BYTES_MAX);
    conformance_case_open(&c, bytes, n, &r);
    const char *op = conformance_case_text(&c, "op");
    if (op)
        check(&c, op, cpu_mask);
    if (conformance_case_failed(&c) && c.e.code != ERR_FORMAT) {
        *e = c.e;
        rc = c.e.code;
    } else if (conformance_case_failed(&c)) {
        say(&r, CONFORMANCE_MALFORMED, c.e.msg);
        r.output_count = 0;
    }
    conformance_case_close(&c);
    if (rc == 0)
        *ret = r;
    return rc;
}
