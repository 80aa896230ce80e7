#include "audit/cmd_list.h"
#include "audit/evidence.h"
#include "audit/place.h"
#include "audit/record.h"
#include "audit/rules.h"
#include "audit/stage.h"
#include "core/file.h"
#include "core/json.h"
#include "core/log.h"
#include "core/text.h"
#include "fingerprint/diff.h"
#include "report/document.h"
#include "report/page.h"
#include "report/summary.h"
#include <stdio.h>
#include <string.h>

#define REPORT_NAME "assay-report.html"
#define REPORT_BYTES_MAX (64u << 20)

/* One audit in the making. */
struct audit {
    const struct options *o;
    struct policy policy;
    struct support support;
    struct subject subject;
    struct evidence evidence;
    struct record record;
    struct manifest manifest;
    bool hashed;
};

/* Of the time for measuring, in percent: the ladder gets 55, the operators 25, the experts 15, the
 * formats 5. */
static struct evidence_limits share(const struct audit *a, unsigned percent)
{
    struct evidence_limits l;

    evidence_limits(a->o, &a->policy, &l);
    l.budget_ns = l.budget_ns / 100 * percent;
    return l;
}

/* The named baseline against what was hashed. The baseline is read before the run's own snapshot
 * is recorded. */
static int put_baseline(struct audit *a, struct err *e)
{
    struct fact_sink sink = fact_list_sink(&a->evidence.facts);
    struct place then = {0};
    struct db *db = NULL;
    struct err why = {0};
    char word[256], text[512];
    struct diff d;
    int rc;

    if (!a->o->baseline)
        return fact_put_absent(&sink, FACT_FINGERPRINT_BASELINE, "", "no baseline was named", e);
    if (!a->hashed)
        return fact_put_unknown(&sink, FACT_FINGERPRINT_BASELINE, a->o->baseline,
                                "the files could not be hashed", e);
    snprintf(word, sizeof(word), "baseline:%s", a->o->baseline);
    rc = place_resolve(word, a->o, &db, &then, &why);
    db_close(db);
    if (rc)
        return fact_put_unknown(&sink, FACT_FINGERPRINT_BASELINE, a->o->baseline, why.msg, e);
    diff_compare(&then.manifest, &a->manifest, &d);
    snprintf(text, sizeof(text),
             "%s %s: %zu files identical, %zu changed, %zu added, %zu removed, %zu renamed",
             diff_equal(&d) ? "same as" : "changed against", then.label, d.counts[DIFF_IDENTICAL],
             d.counts[DIFF_CHANGED], d.counts[DIFF_ADDED], d.counts[DIFF_REMOVED],
             d.counts[DIFF_RENAMED]);
    if (!diff_equal(&d) && !diff_differs(&d))
        rc = fact_put_unknown(&sink, FACT_FINGERPRINT_BASELINE, a->o->baseline,
                              "a side has files without a digest", e);
    else
        rc = fact_put_text(&sink, FACT_FINGERPRINT_BASELINE, a->o->baseline, text, "sha256", e);
    diff_release(&d);
    place_release(&then);
    return rc;
}

static int fingerprint(struct audit *a, struct err *e)
{
    struct err why = {0};

    a->hashed = !place_hash(&a->subject.local, a->o, &a->manifest, &why);
    if (evidence_fingerprint(&a->evidence, a->hashed ? &a->manifest : NULL, why.msg, e))
        return e->code;
    if (put_baseline(a, e))
        return e->code;
    if (a->hashed)
        record_snapshot(&a->record, &a->subject.local, &a->manifest);
    return 0;
}

static int gather(struct audit *a, struct err *e)
{
    struct evidence *v = &a->evidence;
    struct evidence_limits ladder = share(a, 55), operators = share(a, 25), experts = share(a, 15);
    struct evidence_limits formats = share(a, 5);

    if (evidence_subject(v, &a->subject, e))
        return e->code;
    record_flush(&a->record, v);
    if (fingerprint(a, e))
        return e->code;
    record_flush(&a->record, v);
    if (evidence_coverage(v, &a->policy, &a->support, e) ||
        evidence_fallback(v, &a->subject, a->o, &operators, e))
        return e->code;
    record_flush(&a->record, v);
    if (evidence_stress(v, &a->subject, a->o, &ladder, e) ||
        evidence_dequant(v, &a->subject, a->o, &formats, e))
        return e->code;
    record_flush(&a->record, v);
    if (evidence_balance(v, &a->subject, a->o, &experts, e))
        return e->code;
    record_flush(&a->record, v);
    return 0;
}

static int write_report(const struct view *view, const char *path, struct err *e)
{
    struct buf b;

    buf_init(&b, REPORT_BYTES_MAX);
    page_write(view, &b);
    int rc = buf_check(&b, "the report", e);
    if (!rc)
        rc = file_write(path, b.data, b.len, e);
    if (rc)
        err_wrap(e, "the report is not written");
    buf_release(&b);
    return rc;
}

static void print_result(const struct audit *a, const struct view *view, const char *report)
{
    struct buf b;

    buf_init(&b, REPORT_BYTES_MAX);
    if (a->o->json)
        document_write(view, false, &b);
    else
        summary_write(view, report, &b);
    fwrite(b.data, 1, b.len, stdout);
    buf_release(&b);
}

/* Judges, records, writes and prints. What could not be written makes the status 3, whatever the
 * verdict: a night's run that left no trace is no answer. */
static int conclude(struct audit *a, struct err *e)
{
    const char *path = a->o->report ? a->o->report : REPORT_NAME;
    struct verdict_set verdicts;
    struct view view;
    struct err unwritten = {0};

    rules_judge(&a->evidence.facts, &a->policy, &verdicts);
    int status =
        rules_exit_status(&verdicts, a->o->fail_on_given ? a->o->fail_on : a->policy.fail_on);
    int rc = record_finish(&a->record, &a->evidence, &verdicts, &a->subject.local, &a->policy,
                           a->hashed ? &a->manifest : NULL, &view, e);
    rules_release(&verdicts);
    if (rc)
        return rc;
    rc = write_report(&view, path, &unwritten);
    print_result(a, &view, rc ? NULL : path);
    view_release(&view);
    if (a->record.refusal[0]) {
        log_error("audit: the run is not recorded: %s", a->record.refusal);
        status = CMD_UNKNOWN;
    }
    if (rc) {
        log_error("audit: %s", unwritten.msg);
        status = CMD_UNKNOWN;
    }
    return status;
}

int cmd_audit(const struct options *o)
{
    struct audit a = {.o = o};
    struct err e = {0};
    int status = CMD_UNKNOWN;

    if (stage_policy(o, &a.policy, &e))
        return cmd_fail(o, &e);
    if (stage_support(o, &a.support, &e)) {
        policy_release(&a.policy);
        return cmd_fail(o, &e);
    }
    evidence_init(&a.evidence);
    if (!subject_load(o->args[0], o, &a.subject, &e)) {
        record_begin(&a.record, o, &a.subject.local, &a.policy);
        if (a.record.refusal[0])
            log_warn("audit: going on without a record: %s", a.record.refusal);
        if (!gather(&a, &e))
            status = conclude(&a, &e);
        record_release(&a.record);
        subject_release(&a.subject);
    }
    log_progress_done();
    manifest_release(&a.manifest);
    evidence_release(&a.evidence);
    support_release(&a.support);
    policy_release(&a.policy);
    return e.code ? cmd_fail(o, &e) : status;
}
