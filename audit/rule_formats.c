#include "audit/rule.h"
#include "core/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Item 1: is each stored format native to the target, or is a step of dequantization needed? */

void rule_formats_headers(struct rule *r)
{
    const struct fact *all = fact_list_find(r->facts, FACT_MODEL_TENSORS, NULL);
    const struct fact *t = rule_known(r, FACT_MODEL_TENSORS, NULL);
    char n[TEXT_NUMBER_BYTES], why[RULE_NAME_BYTES];
    uint64_t in_classes = 0;
    bool counted = false;

    rule_start(r);
    rule_cite(r, all);
    if (!t || t->i <= 0) {
        rule_judge(r, VERDICT_UNKNOWN);
        rule_say(r, "No tensor headers were read (%s), so what the weights hold is not known.",
                 rule_why(all, "no weight file was found", why));
        rule_brief(r, "no tensor headers were read");
        rule_advise(r, "Put the weight files, or at least their headers, where the config is, and "
                       "look again: assay inspect SUBJECT.");
        rule_end(r);
        return;
    }
    for (const struct fact *f = NULL; (f = rule_next(r, FACT_FORMAT_TENSORS, f));) {
        if (f->state == FACT_KNOWN && f->i > 0 && rule_known(r, FACT_FORMAT_OBSERVED, f->scope))
            in_classes += (uint64_t)f->i;
        counted = true;
    }
    if (counted && in_classes < (uint64_t)t->i) {
        rule_judge(r, VERDICT_UNKNOWN);
        uint64_t strange = (uint64_t)t->i - in_classes;
        rule_say(r, "%s of %s %s to no module class whose format is known.", text_count(strange, n),
                 rule_count((uint64_t)t->i, "tensor", why), strange == 1 ? "belongs" : "belong");
        rule_brief(r, "%s to no known module class",
                   strange == 1 ? "1 tensor belongs" : rule_count(strange, "tensor", why));
        rule_advise(r, "See which tensors could not be placed: assay inspect SUBJECT --tensors.");
        rule_end(r);
        return;
    }
    rule_judge(r, VERDICT_PASS);
    rule_count((uint64_t)t->i, "tensor header", why);
    rule_say(r, "%s %s read.", why, t->i == 1 ? "was" : "were");
    rule_brief(r, "%s read", why);
    rule_end(r);
}

/* A verdict on the findings of one severity that no other rule tells; none if there are none. */
static bool judge_findings(struct rule *r, const char *severity, enum verdict_status status)
{
    struct rule_list l = {.separator = " "}; /* findings are whole sentences */
    const struct fact *first = NULL;
    char text[RULE_NAME_BYTES];

    rule_start(r);
    for (const struct fact *f = NULL; (f = rule_next(r, FACT_MODEL_FINDING, f));) {
        const char *rest;
        if (f->state != FACT_KNOWN || !rule_word(f->text, severity) ||
            rule_word(f->scope, "format-disagrees"))
            continue;
        rest = f->text + strlen(severity);
        rest += strspn(rest, ": ");
        rule_list_add(r, &l, "%s", rule_plain(rest, text));
        rule_cite(r, f);
        if (!first)
            first = f;
    }
    rule_list_end(r, &l);
    if (!first) {
        rule_drop(r);
        return false;
    }
    rule_judge(r, status);
    rule_brief(r, "%s in the files (%s", rule_count(l.count, severity, text), first->scope);
    rule_brief(r, l.count == 1 ? ")" : " and %zu more)", l.count - 1);
    if (status == VERDICT_FAIL)
        rule_advise(r, "Fetch the files that are named again, then look: assay inspect SUBJECT.");
    rule_end(r);
    return true;
}

static bool finding_has_severity(const struct fact *f)
{
    return f->state == FACT_KNOWN && (rule_word(f->text, "note") || rule_word(f->text, "warning") ||
                                      rule_word(f->text, "failure"));
}

/* A finding whose severity cannot be read may be a grave one. */
static bool judge_odd_findings(struct rule *r)
{
    struct rule_list l = {0};
    char scope[RULE_NAME_BYTES];

    rule_start(r);
    for (const struct fact *f = NULL; (f = rule_next(r, FACT_MODEL_FINDING, f));) {
        if (f->state == FACT_ABSENT || finding_has_severity(f))
            continue;
        if (l.count == 0)
            rule_say(r, "How grave these findings are could not be read: ");
        rule_list_add(r, &l, "%s", rule_plain(f->scope, scope));
        rule_cite(r, f);
    }
    rule_list_end(r, &l);
    if (l.count == 0) {
        rule_drop(r);
        return false;
    }
    rule_say(r, ".");
    rule_brief(r, "findings that could not be judged");
    rule_judge(r, VERDICT_UNKNOWN);
    rule_end(r);
    return true;
}

void rule_formats_findings(struct rule *r)
{
    bool any = judge_findings(r, "failure", VERDICT_FAIL);

    any |= judge_findings(r, "warning", VERDICT_WARN);
    any |= judge_odd_findings(r);
    if (any || !rule_known(r, FACT_MODEL_TENSORS, NULL))
        return;
    rule_start(r);
    rule_judge(r, VERDICT_PASS);
    rule_cite(r, rule_known(r, FACT_MODEL_TENSORS, NULL));
    rule_say(r, "Config, index and tensor headers do not contradict each other.");
    rule_brief(r, "no contradictions in the files");
    rule_end(r);
}

static bool format_is_known(const struct fact *f)
{
    return f && f->state == FACT_KNOWN && f->text[0] && strcmp(f->text, "unknown") != 0;
}

void rule_formats_declared(struct rule *r)
{
    struct rule_list differ = {0}, silent = {0};
    char name[RULE_NAME_BYTES], text[RULE_NAME_BYTES];
    size_t classes = 0;

    rule_start(r);
    for (const struct fact *f = NULL; (f = rule_next(r, FACT_FORMAT_DISAGREES, f));) {
        if (f->state == FACT_ABSENT)
            continue;
        if (differ.count == 0)
            rule_say(r, "The tensors are not what the config declares: ");
        rule_list_add(r, &differ, "%s (%s)", rule_plain(f->scope, name),
                      f->state == FACT_KNOWN ? rule_plain(f->text, text)
                                             : rule_why(f, "not compared", text));
        rule_cite(r, f);
    }
    if (differ.count) {
        rule_list_end(r, &differ);
        rule_say(r, ". The tensors decide. ");
    }
    for (const struct fact *f = NULL; (f = rule_next(r, FACT_FORMAT_OBSERVED, f));) {
        const struct fact *d = fact_list_find(r->facts, FACT_FORMAT_DECLARED, f->scope);
        if (f->state == FACT_ABSENT)
            continue;
        classes++;
        if (format_is_known(d)) {
            if (differ.count == 0)
                rule_cite(r, d);
            continue;
        }
        if (silent.count == 0)
            rule_say(r, "What the config declares could not be read for ");
        rule_list_add(r, &silent, "%s (%s)", rule_plain(f->scope, name),
                      rule_why(d, "nothing declared", text));
        rule_cite(r, d ? d : f);
    }
    if (silent.count) {
        rule_list_end(r, &silent);
        rule_say(r, "; there the tensors were compared with nothing.");
    }
    if (classes == 0 && differ.count == 0) {
        rule_drop(r); /* formats.headers says that nothing was read */
        return;
    }
    if (differ.count)
        rule_brief(r, "%zu declared format%s not what the tensors have", differ.count,
                   differ.count == 1 ? " is" : "s are");
    else if (silent.count)
        rule_brief(r, "%s without a readable declaration",
                   rule_count(silent.count, "module class", text));
    else
        rule_say(r, "Each module class (%zu in all) has the format that the config declares.",
                 classes);
    rule_judge(r, differ.count || silent.count ? VERDICT_WARN : VERDICT_PASS);
    rule_end(r);
}

/* What a backend does with a stored format, gravest first. */
enum path {
    PATH_REJECT,
    PATH_UNKNOWN,
    PATH_EXPAND,
    PATH_CONVERT,
    PATH_WEIGHT_ONLY,
    PATH_SUPPORTED,
    PATH_NATIVE,
    PATHS
};

static const struct {
    const char *word;
    enum verdict_status status;
    const char *before, *after, *brief; /* the clause around the list of classes */
} paths[PATHS] = {
    [PATH_REJECT] = {"reject", VERDICT_FAIL, "rejects ", "", "rejected by"},
    [PATH_UNKNOWN] = {"unknown", VERDICT_UNKNOWN, "nothing is known about ", "", "unknown in"},
    [PATH_EXPAND] = {"expand", VERDICT_WARN, "expands to 16 bits at load ", "", "expanded by"},
    [PATH_CONVERT] = {"convert", VERDICT_WARN, "converts once at load, keeping the size, ", "",
                      "converted by"},
    [PATH_WEIGHT_ONLY] = {"weight_only", VERDICT_WARN, "unpacks inside the matrix product ",
                          ", which saves memory and no arithmetic", "weight-only in"},
    [PATH_SUPPORTED] = {"supported", VERDICT_WARN, "supports ",
                        ", and its documentation does not say by which path",
                        "supported, path not stated, by"},
    [PATH_NATIVE] = {"native", VERDICT_PASS, "computes natively with ", "", "native in"},
};

static enum path path_of(const struct fact *f)
{
    if (f && f->state == FACT_KNOWN)
        for (int i = 0; i < PATHS; i++)
            if (!strcmp(f->text, paths[i].word))
                return (enum path)i;
    return PATH_UNKNOWN;
}

/* Bits a weight takes, scales included, by the name of the format (model/quant.h); 0 if the name
 * does not tell. Block scales: 8 bits per 32 (MX) or per 16 (NVFP4), 16 bits per group (pack). A
 * scale per row or per 128 x 128 block is below a hundredth of a bit and left out. */
static double bits_of(const char *format)
{
    unsigned bits, group;

    if (!strcmp(format, "mxfp4-pack-quantized") || !strcmp(format, "mxfp4-blocks"))
        return 4 + 8.0 / 32;
    if (!strcmp(format, "nvfp4-pack-quantized") || !strcmp(format, "modelopt-nvfp4"))
        return 4 + 8.0 / 16;
    if (!strcmp(format, "mxfp8-quantized"))
        return 8 + 8.0 / 32;
    if (sscanf(format, "pack-quantized-int%2u-g%6u", &bits, &group) == 2 && bits && group)
        return bits + 16.0 / group;
    if (sscanf(format, "pack-quantized-int%2u-channel", &bits) == 1 && bits)
        return bits;
    if (rule_word(format, "fp8") || rule_word(format, "int8-channel") ||
        rule_word(format, "int8-tensor"))
        return 8;
    return 0;
}

/* " from 1.45 TB to about 5.44 TB" after the class, where both are known. */
static void say_expanded(struct rule *r, const struct fact *observed)
{
    const struct fact *b = rule_known(r, FACT_FORMAT_BYTES, observed->scope);
    double bits = bits_of(observed->text);
    char from[TEXT_NUMBER_BYTES], to[TEXT_NUMBER_BYTES];

    if (!b || b->i <= 0)
        return;
    rule_cite(r, b);
    if (bits == 0) {
        rule_say(r, " from %s to a size that is not known", text_bytes((uint64_t)b->i, from));
        return;
    }
    rule_say(r, " from %s to about %s", text_bytes((uint64_t)b->i, from),
             text_bytes((uint64_t)((double)b->i * 16 / bits), to));
}

static const struct fact *support_of(const struct rule *r, const struct fact *observed,
                                     const struct policy_backend *b)
{
    char scope[3 * POLICY_NAME_BYTES_MAX + 8];
    int n = snprintf(scope, sizeof scope, "%s|%s|%s", observed->scope, b->name, b->hardware);

    if (n < 0 || (size_t)n >= sizeof scope)
        return NULL;
    return fact_list_find(r->facts, FACT_FORMAT_SUPPORT, scope);
}

/* One clause: the classes that go one path. Returns their number. */
static size_t say_path(struct rule *r, const struct policy_backend *b, enum path path, bool first)
{
    struct rule_list l = {0};
    const struct fact *reason = NULL;
    char name[RULE_NAME_BYTES], format[RULE_NAME_BYTES];

    for (const struct fact *f = NULL; (f = rule_next(r, FACT_FORMAT_OBSERVED, f));) {
        const struct fact *s = support_of(r, f, b);
        enum path its = f->state == FACT_KNOWN ? path_of(s) : PATH_UNKNOWN;
        if (f->state == FACT_ABSENT || its != path)
            continue;
        if (l.count == 0)
            rule_say(r, "%s%s", first ? "" : "; ", paths[path].before);
        rule_list_add(r, &l, f->state == FACT_KNOWN ? "%s (%s)" : "%s%s",
                      rule_plain(f->scope, name),
                      f->state == FACT_KNOWN ? rule_plain(f->text, format) : "");
        if (path == PATH_EXPAND && l.count <= RULE_LIST_MAX)
            say_expanded(r, f);
        if (!reason)
            reason = f->state == FACT_UNKNOWN ? f : s;
        rule_cite(r, s ? s : f);
    }
    if (l.count == 0)
        return 0;
    rule_list_end(r, &l);
    rule_say(r, "%s", paths[path].after);
    if (path == PATH_UNKNOWN)
        rule_say(r, ": %s", rule_why(reason, "no support table was asked", name));
    return l.count;
}

static void judge_target(struct rule *r, const struct policy_backend *b)
{
    char name[RULE_NAME_BYTES], text[RULE_NAME_BYTES];
    size_t total = 0, counts[PATHS];
    enum path worst = PATHS;

    rule_start(r);
    rule_backend(b->name, name);
    rule_say(r, "%s on %s: ", name, b->hardware);
    for (int i = 0; i < PATHS; i++) {
        counts[i] = say_path(r, b, (enum path)i, total == 0);
        total += counts[i];
        if (counts[i] == 0)
            continue;
        rule_judge(r, paths[i].status);
        if (worst == PATHS)
            worst = (enum path)i;
    }
    rule_say(r, ".");
    rule_brief(r, "%s %s on %s (%zu of %s)", paths[worst].brief, name, b->hardware, counts[worst],
               rule_count(total, "module class", text));
    if (r->status == VERDICT_UNKNOWN)
        rule_advise(r,
                    "Find out what the version that you run does, and add it as a row: assay audit "
                    "SUBJECT --support FILE.");
    else if (r->status == VERDICT_FAIL)
        rule_advise(r, "Choose another backend or hardware as the policy's target, or a checkpoint "
                       "in another format.");
    rule_end(r);
}

void rule_formats_support(struct rule *r)
{
    const struct fact *f = NULL;

    while ((f = rule_next(r, FACT_FORMAT_OBSERVED, f)) && f->state != FACT_KNOWN)
        continue;
    if (!f)
        return; /* formats.headers says that no format is known, and why */
    for (size_t i = 0; i < r->policy->backend_count; i++)
        judge_target(r, &r->policy->backends[i]);
}
