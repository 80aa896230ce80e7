#include "audit/coverage.h"
#include "core/text.h"
#include "core/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct coverage {
    const struct policy *policy;
    const struct support *tables;
    const struct fact_sink *sink;
    coverage_row_fn *row;
    void *ctx;
    const struct support_row **told; /* rows that `row` was called for */
    size_t told_count, told_cap;
    char act[64]; /* the model's activation; "" if not known */
};

/* What one entry came to: worst over hardware where several are asked. */
struct outcome {
    enum support_status status;
    const struct support_row *decisive;
    char why[480];
};

static int tell(struct coverage *c, enum support_kind kind, const struct support_row *row,
                struct err *e)
{
    struct run_support s;

    if (!row || !c->row)
        return 0;
    for (size_t i = 0; i < c->told_count; i++)
        if (c->told[i] == row)
            return 0;
    c->told = mem_grow(c->told, &c->told_cap, c->told_count + 1, sizeof *c->told);
    c->told[c->told_count++] = row;
    s = (struct run_support){.backend = row->backend,
                             .kind = support_kind_name(kind),
                             .entry = row->entry,
                             .hardware = row->hardware,
                             .status = support_status_name(row->status),
                             .condition = row->condition,
                             .source = row->source,
                             .as_of = row->as_of};
    return c->row(c->ctx, &s, e);
}

/* Puts the fact: the word with the row behind it, or unknown with the reason. */
static int put(struct coverage *c, enum fact_key key, const char *scope,
               const struct outcome *found, struct err *e)
{
    const struct support_row *row = found->decisive;
    struct buf source;
    int rc;

    if (found->status == SUPPORT_UNKNOWN && found->why[0])
        return fact_put_unknown(c->sink, key, scope, found->why, e);
    buf_init(&source, 4 * SUPPORT_FIELD_BYTES_MAX + 256);
    if (found->status == SUPPORT_UNKNOWN)
        buf_adds(&source, "looked for and not found: ");
    buf_addf(&source, "%s, %s", row ? row->source : "support table", row ? row->as_of : "");
    if (row && row->condition[0])
        buf_addf(&source, " (%s)", row->condition);
    rc = buf_check(&source, "the source of a support row", e);
    if (rc == 0 && found->status == SUPPORT_UNKNOWN)
        rc = fact_put_unknown(c->sink, key, scope, source.data, e);
    else if (rc == 0)
        rc = fact_put_text(c->sink, key, scope, support_status_name(found->status), source.data, e);
    buf_release(&source);
    return rc;
}

static int scope_of(char *ret, const char *a, const char *b, const char *c, struct err *e)
{
    int n = c ? snprintf(ret, COVERAGE_SCOPE_BYTES, "%s|%s|%s", a, b, c)
              : snprintf(ret, COVERAGE_SCOPE_BYTES, "%s|%s", a, b);

    if (n < 0 || n >= COVERAGE_SCOPE_BYTES)
        return err_set(e, ERR_LIMIT, "the scope of a support fact has over %d bytes",
                       COVERAGE_SCOPE_BYTES - 1);
    return 0;
}

/* The newest date that a table's rows of a backend have, "" if it has none. Dates of the form
 * YYYY[-MM[-DD]] sort as text. */
static const char *newest(const struct support_table *t, const char *backend)
{
    const char *found = "";

    for (size_t i = 0; i < t->count; i++)
        if (!strcmp(t->rows[i].backend, backend) && strcmp(t->rows[i].as_of, found) > 0)
            found = t->rows[i].as_of;
    return found;
}

/* Takes an answer over, and adds to a reason how old the table is and what would settle it. */
static void take(const struct coverage *c, enum support_kind kind, const char *backend,
                 const struct support_answer *answer, struct outcome *ret)
{
    const char *date = newest(&c->tables->tables[kind], backend);
    char name[80];

    ret->status = answer->status;
    ret->decisive = answer->decisive;
    ret->why[0] = '\0';
    if (answer->status != SUPPORT_UNKNOWN || answer->decisive)
        return;
    text_plain(backend, name, sizeof name);
    if (date[0])
        snprintf(ret->why, sizeof ret->why,
                 "%s; the newest row of %s is of %s; a row of your own can settle it", answer->why,
                 name, date);
    else
        snprintf(ret->why, sizeof ret->why,
                 "%s; the table has no row of %s at all; is the name right?", answer->why, name);
}

/* The activation as far as it concerns a class: only feed-forwards have one. */
static const char *act_of(const struct coverage *c, const char *class)
{
    if (strcmp(class, "routed_experts") != 0 && strcmp(class, "shared_experts") != 0 &&
        strcmp(class, "dense_ffn") != 0 && strcmp(class, "mtp") != 0)
        return "none";
    return c->act[0] ? c->act : NULL;
}

static int put_format(struct coverage *c, const struct fact *observed,
                      const struct policy_backend *b, struct err *e)
{
    struct outcome found = {.status = SUPPORT_UNKNOWN};
    char scope[COVERAGE_SCOPE_BYTES];
    struct support_answer answer;
    int rc;

    if ((rc = scope_of(scope, observed->scope, b->name, b->hardware, e)))
        return rc;
    if (observed->state == FACT_UNKNOWN) {
        text_plain(observed->why, found.why, sizeof found.why);
        return put(c, FACT_FORMAT_SUPPORT, scope, &found, e);
    }
    support_format(c->tables, b->name, observed->text, b->hardware, observed->scope,
                   act_of(c, observed->scope), &answer);
    take(c, SUPPORT_FORMATS, b->name, &answer, &found);
    if (!(rc = put(c, FACT_FORMAT_SUPPORT, scope, &found, e)))
        rc = tell(c, SUPPORT_FORMATS, answer.decisive, e);
    support_answer_release(&answer);
    return rc;
}

/* The worst of the answers for several pieces of hardware: none, unknown, composed, partial. */
static int badness(enum support_status s)
{
    switch (s) {
    case SUPPORT_FUSED: return 0;
    case SUPPORT_PARTIAL: return 1;
    case SUPPORT_COMPOSED: return 2;
    case SUPPORT_NONE: return 4;
    default: return 3;
    }
}

static bool is_first_of_name(const struct policy *p, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (!strcmp(p->backends[j].name, p->backends[i].name))
            return false;
    return true;
}

static int put_operator(struct coverage *c, const struct fact *layers, const char *backend,
                        struct err *e)
{
    struct outcome worst = {.status = SUPPORT_FUSED};
    char scope[COVERAGE_SCOPE_BYTES];
    bool any = false;
    int rc;

    if ((rc = scope_of(scope, layers->scope, backend, NULL, e)))
        return rc;
    for (size_t i = 0; i < c->policy->backend_count && rc == 0; i++) {
        const struct policy_backend *b = &c->policy->backends[i];
        struct support_answer answer;
        if (strcmp(b->name, backend) != 0)
            continue;
        support_operator(c->tables, b->name, layers->scope, b->hardware, &answer);
        if (!any || badness(answer.status) > badness(worst.status))
            take(c, SUPPORT_OPERATORS, b->name, &answer, &worst);
        any = true;
        rc = tell(c, SUPPORT_OPERATORS, answer.decisive, e);
        support_answer_release(&answer);
    }
    return rc ? rc : put(c, FACT_OPERATOR_SUPPORT, scope, &worst, e);
}

static int put_operators(struct coverage *c, const struct fact *layers, struct err *e)
{
    const struct policy *p = c->policy;
    int rc = 0;

    for (size_t i = 0; i < p->backend_count && rc == 0; i++)
        if (is_first_of_name(p, i))
            rc = put_operator(c, layers, p->backends[i].name, e);
    return rc;
}

/* The activation of the feed-forwards, if the model has exactly one. */
static void find_act(const struct fact_list *facts, char *ret, size_t ret_bytes)
{
    static const char prefix[] = "activation.";
    size_t found = 0;

    ret[0] = '\0';
    for (size_t i = 0; i < facts->count; i++) {
        const struct fact *f = &facts->items[i];
        if (f->key != FACT_OPERATOR_LAYERS || f->state != FACT_KNOWN || f->i <= 0 ||
            !text_starts(f->scope, prefix))
            continue;
        if (found++ || strlen(f->scope) - strlen(prefix) >= ret_bytes) {
            ret[0] = '\0';
            return;
        }
        strcpy(ret, f->scope + strlen(prefix));
    }
}

int coverage_put(const struct fact_list *facts, const struct policy *p,
                 const struct support *tables, const struct fact_sink *sink, coverage_row_fn *row,
                 void *ctx, struct err *e)
{
    struct coverage c = {.policy = p, .tables = tables, .sink = sink, .row = row, .ctx = ctx};
    size_t count = facts->count; /* the sink may add to the same list, and move its array */
    int rc = 0;

    find_act(facts, c.act, sizeof c.act);
    for (size_t i = 0; i < count && rc == 0; i++) {
        const struct fact f = facts->items[i];
        if (f.key == FACT_FORMAT_OBSERVED && f.state != FACT_ABSENT)
            for (size_t j = 0; j < p->backend_count && rc == 0; j++)
                rc = put_format(&c, &f, &p->backends[j], e);
        else if (f.key == FACT_OPERATOR_LAYERS && f.state == FACT_KNOWN && f.i > 0 && f.scope[0])
            rc = put_operators(&c, &f, e);
    }
    free(c.told);
    return rc;
}
