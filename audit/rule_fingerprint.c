#include "audit/rule.h"
#include "core/text.h"
#include <string.h>

/* Item 5: is this conclusion tied to one exact version? */

void rule_fingerprint_digest(struct rule *r)
{
    const struct fact *d = fact_list_find(r->facts, FACT_FINGERPRINT_DIGEST, NULL);
    const struct fact *files = rule_known(r, FACT_FINGERPRINT_FILES, NULL);
    const struct fact *bytes = rule_known(r, FACT_FINGERPRINT_BYTES, NULL);
    const struct fact *tensors = fact_list_find(r->facts, FACT_MODEL_TENSORS, NULL);
    char text[RULE_NAME_BYTES], n[TEXT_NUMBER_BYTES], m[TEXT_NUMBER_BYTES];
    const char *hex;

    rule_start(r);
    rule_cite(r, d);
    rule_cite(r, files);
    rule_cite(r, bytes);
    if (!d || d->state != FACT_KNOWN || !d->text[0]) {
        rule_judge(r, VERDICT_UNKNOWN);
        rule_say(r, "There is no digest over all files (%s).",
                 rule_why(d, "nothing was hashed", text));
        rule_brief(r, "there is no digest over all files");
        rule_advise(r, "Hash the files: assay fingerprint SUBJECT.");
    } else if (!files || files->i <= 0 || !bytes || bytes->i < 0) {
        rule_judge(r, VERDICT_UNKNOWN);
        rule_say(r, "There is a digest, and over how many files and bytes is not known.");
        rule_brief(r, "what the digest covers is not known");
        rule_advise(r, "Hash the files again: assay fingerprint SUBJECT.");
    } else if (!tensors || tensors->state != FACT_KNOWN || tensors->i <= 0) {
        rule_judge(r, VERDICT_UNKNOWN);
        rule_cite(r, tensors);
        rule_say(r, "Files hashed: %s, and no weights are known to be among them (%s).",
                 text_count((uint64_t)files->i, n), rule_why(tensors, "none was read", text));
        rule_brief(r, "no weights are known to be among the files hashed");
        rule_advise(r,
                    "Put the weight files where the config is, and hash again: assay fingerprint "
                    "SUBJECT.");
    } else {
        rule_judge(r, VERDICT_PASS);
        text_count((uint64_t)files->i, n);
        rule_say(r, "%s file%s, %s bytes, hashed; digest %s.", n, files->i == 1 ? "" : "s",
                 text_count((uint64_t)bytes->i, m), rule_plain(d->text, text));
        hex = strchr(text, ':');
        rule_brief(r, "%s file%s hashed, digest %.12s", n, files->i == 1 ? "" : "s",
                   hex ? hex + 1 : text);
    }
    rule_end(r);
}

static size_t judge_problems(struct rule *r, enum verdict_status status)
{
    struct rule_list l = {0};
    char name[RULE_NAME_BYTES], text[RULE_NAME_BYTES];
    bool pointers = false;

    rule_start(r);
    for (const struct fact *f = NULL; (f = rule_next(r, FACT_FINGERPRINT_PROBLEM, f));) {
        if (f->state == FACT_ABSENT || rule_broken(f) != (status == VERDICT_FAIL))
            continue;
        if (l.count == 0)
            rule_say(r, "%s",
                     status == VERDICT_FAIL ? "Files are not whole: "
                                            : "Files could not be hashed: ");
        rule_list_add(r, &l, "%s (%s)", rule_plain(f->scope, name),
                      f->state == FACT_KNOWN ? rule_plain(f->text, text)
                                             : rule_why(f, "unknown", text));
        pointers |= f->state == FACT_KNOWN && rule_word(f->text, "pointer");
        rule_cite(r, f);
    }
    if (l.count == 0) {
        rule_drop(r);
        return 0;
    }
    rule_list_end(r, &l);
    rule_say(r, ".");
    rule_judge(r, status);
    rule_brief(r, "%zu file%s", l.count, l.count == 1 ? "" : "s");
    rule_brief(r, "%s", status == VERDICT_FAIL ? " not whole" : " could not be hashed");
    rule_advise(r, pointers ? "Fetch what the pointers stand for: git lfs pull."
                            : "Fetch these files again, then hash them: assay fingerprint "
                              "SUBJECT.");
    rule_end(r);
    return l.count;
}

void rule_fingerprint_files(struct rule *r)
{
    const struct fact *d = rule_known(r, FACT_FINGERPRINT_DIGEST, NULL);
    size_t problems = judge_problems(r, VERDICT_FAIL);

    problems += judge_problems(r, VERDICT_UNKNOWN);
    if (problems || !d)
        return; /* without a digest, fingerprint.digest says what is not known */
    rule_start(r);
    rule_judge(r, VERDICT_PASS);
    rule_cite(r, d);
    rule_say(r, "Every file is there and could be read to its end.");
    rule_end(r);
}

static void judge_baseline(struct rule *r, const struct fact *f)
{
    char name[RULE_NAME_BYTES], text[RULE_NAME_BYTES];

    rule_start(r);
    rule_cite(r, f);
    if (f->state == FACT_KNOWN && rule_word(f->text, "same")) {
        rule_judge(r, VERDICT_PASS);
        rule_say(r, "The weights are those of baseline %s.", rule_plain(f->scope, name));
        rule_brief(r, "the same as baseline %s", name);
    } else if (f->state == FACT_KNOWN && rule_word(f->text, "changed")) {
        rule_judge(r, VERDICT_FAIL);
        rule_say(r, "The weights are not those of baseline %s (%s).", rule_plain(f->scope, name),
                 rule_plain(f->text, text));
        rule_brief(r, "changed against baseline %s", name);
        rule_advise(r,
                    "See what changed: assay diff baseline:%s SUBJECT. If it is meant, move the "
                    "baseline: assay fingerprint SUBJECT --baseline %s.",
                    name, name);
    } else if (f->state == FACT_ABSENT) {
        rule_judge(r, VERDICT_PASS);
        rule_say(r, "No baseline was named to compare with; this recording can be the first.");
        rule_advise(r, "Name it, so that later audits see a change: assay fingerprint SUBJECT "
                       "--baseline NAME.");
    } else {
        rule_judge(r, VERDICT_UNKNOWN);
        rule_say(r, "Whether the weights are those of baseline %s is not known (%s).",
                 rule_plain(f->scope, name), rule_why(f, "not compared", text));
        rule_brief(r, "baseline %s was not compared", name);
        rule_advise(r, "Name a baseline: assay fingerprint SUBJECT --baseline NAME; or compare "
                       "again: assay verify SUBJECT --baseline NAME.");
    }
    rule_end(r);
}

void rule_fingerprint_baseline(struct rule *r)
{
    const struct fact *f = rule_next(r, FACT_FINGERPRINT_BASELINE, NULL);

    if (!rule_known(r, FACT_FINGERPRINT_DIGEST, NULL) && !f)
        return; /* nothing was hashed: fingerprint.digest says so */
    if (!f) {
        rule_start(r);
        rule_judge(r, VERDICT_UNKNOWN);
        rule_say(r, "Whether there is a baseline to compare with was not recorded.");
        rule_brief(r, "no baseline was looked for");
        rule_end(r);
        return;
    }
    for (; f; f = rule_next(r, FACT_FINGERPRINT_BASELINE, f))
        judge_baseline(r, f);
}
