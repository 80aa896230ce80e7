#include "core/mem.h"
#include "core/text.h"
#include "report/html.h"
#include "report/pivot.h"
#include "report/section.h"
#include "report/words.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void row(const struct lookup *l, const char *part, const struct pivot *p, struct buf *b)
{
    const struct fact *disagrees = lookup_get(l, FACT_FORMAT_DISAGREES, part);
    const struct fact *bytes = lookup_get(l, FACT_FORMAT_BYTES, part);
    const struct fact *tensors = lookup_get(l, FACT_FORMAT_TENSORS, part);

    html_lit(b, "<tr><th scope=\"row\">");
    html_text(b, part);
    html_lit(b, "</th><td class=\"n\">");
    if (tensors && tensors->state == FACT_KNOWN && tensors->i >= 0)
        html_count(b, (uint64_t)tensors->i);
    else
        html_fact(b, tensors);
    html_lit(b, "</td>");
    html_fact_cell(b, bytes);
    html_lit(b, "<td class=\"fmt\">");
    html_fact_short(b, lookup_get(l, FACT_FORMAT_OBSERVED, part));
    html_lit(b, "</td><td class=\"fmt\">");
    html_fact_short(b, lookup_get(l, FACT_FORMAT_DECLARED, part));
    if (disagrees && disagrees->state == FACT_KNOWN) {
        html_lit(b, "<br>");
        html_mark(b, VERDICT_WARN, "disagrees");
    }
    html_lit(b, "</td>");
    for (size_t i = 0; i < p->count; i++)
        section_verdicts_support(pivot_get(l, FACT_FORMAT_SUPPORT, part, p->columns[i]), b);
    html_lit(b, "</tr>\n");
}

/* Two head rows: the backend over its hardware. */
static void head(const struct pivot *p, struct buf *b)
{
    char name[200], next[200], shown[WORDS_BYTES];

    html_lit(b, "<thead><tr><th rowspan=\"2\">part</th><th rowspan=\"2\" class=\"n\">tensors</th>"
                "<th rowspan=\"2\" class=\"n\">stored</th><th rowspan=\"2\">observed</th>"
                "<th rowspan=\"2\">declared</th>");
    for (size_t i = 0, n; i < p->count; i += n) {
        lookup_part(p->columns[i], 0, name, sizeof(name));
        for (n = 1; i + n < p->count; n++)
            if (strcmp(name, lookup_part(p->columns[i + n], 0, next, sizeof(next))) != 0)
                break;
        html_lit(b, "<th class=\"grp\" colspan=\"");
        html_int(b, (int64_t)n);
        html_lit(b, "\">");
        html_text(b, words_backend(name, shown));
        html_lit(b, "</th>");
    }
    html_lit(b, "</tr>\n<tr>");
    for (size_t i = 0; i < p->count; i++) {
        html_lit(b, "<th class=\"nw\">");
        html_text(b, lookup_part(p->columns[i], 1, name, sizeof(name)));
        html_lit(b, "</th>");
    }
    html_lit(b, "</tr></thead>");
}

static void disagreements(const struct lookup *l, struct buf *b)
{
    const struct fact *const *facts;
    size_t count = lookup_key(l, FACT_FORMAT_DISAGREES, &facts), shown = 0;

    for (size_t i = 0; i < count; i++) {
        if (facts[i]->state != FACT_KNOWN)
            continue;
        if (!shown++)
            html_lit(b, "<ul class=\"plain\">\n");
        html_lit(b, "<li>");
        html_mark(b, VERDICT_WARN, "disagrees");
        html_lit(b, " ");
        html_text(b, facts[i]->scope);
        html_lit(b, ": ");
        html_prose(b, facts[i]->text);
        html_lit(b, "</li>\n");
    }
    if (shown)
        html_lit(b, "</ul>\n");
}

static bool any_but_absent(const struct fact *const *facts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (facts[i]->state != FACT_ABSENT)
            return true;
    return false;
}

/* The rates by format, each with how it was measured. */
static void rates(const struct lookup *l, struct buf *b)
{
    const struct fact *const *facts;
    size_t count = lookup_key(l, FACT_FORMAT_DEQUANT_RATE, &facts);

    html_lit(b, "<ul class=\"plain small\">");
    for (size_t i = 0; i < count; i++) {
        if (facts[i]->state == FACT_ABSENT)
            continue;
        html_lit(b, "<li>");
        if (facts[i]->scope[0]) {
            html_code(b, facts[i]->scope);
            html_lit(b, ": ");
        }
        html_fact(b, facts[i]);
        if (facts[i]->state == FACT_KNOWN && facts[i]->source && facts[i]->source[0]) {
            html_lit(b, " <span class=\"dim\">");
            html_text(b, facts[i]->source);
            html_lit(b, "</span>");
        }
        html_lit(b, "</li>\n");
    }
    html_lit(b, "</ul>\n");
}

/* What a backend that cannot compute in a format as it is stored has to do first. */
static void unpacking(const struct lookup *l, struct buf *b)
{
    const struct fact *const *loads, *const *facts;
    size_t count = lookup_key(l, FACT_FORMAT_DEQUANT_LOAD, &loads);
    size_t formats = lookup_key(l, FACT_FORMAT_DEQUANT_RATE, &facts);
    const struct fact *roof = lookup_get(l, FACT_STRESS_BANDWIDTH, "");

    if (!count && !formats)
        return;
    html_lit(b, "<h3>Unpacking</h3>\n");
    if (!any_but_absent(loads, count) && !any_but_absent(facts, formats)) {
        html_lit(b, "<p class=\"dim\">All numbers are stored plain: nothing to unpack.</p>\n");
        return;
    }
    html_lit(b,
             "<p class=\"dim\">What a dequantization step adds to loading where a backend needs "
             "one: stored bytes over the rate of one thread of this host's CPU. Reading the file "
             "and writing the result to memory are not in it. Read bandwidth of the same run, "
             "one thread: ");
    html_fact_short(b, roof);
    html_lit(b, ".</p>\n");
    if (any_but_absent(loads, count)) {
        html_table_open(b, "unpacking by part of the model");
        html_lit(b, "<thead><tr><th>part</th><th>observed</th><th class=\"n\">stored</th>"
                    "<th class=\"n\">adds to loading</th></tr></thead><tbody>\n");
        for (size_t i = 0; i < count; i++) {
            if (loads[i]->state == FACT_ABSENT)
                continue;
            html_lit(b, "<tr><th scope=\"row\">");
            html_text(b, loads[i]->scope);
            html_lit(b, "</th><td class=\"fmt\">");
            html_fact_short(b, lookup_get(l, FACT_FORMAT_OBSERVED, loads[i]->scope));
            html_lit(b, "</td>");
            html_fact_cell(b, lookup_get(l, FACT_FORMAT_BYTES, loads[i]->scope));
            html_fact_cell(b, loads[i]);
            html_lit(b, "</tr>\n");
        }
        html_lit(b, "</tbody>");
        html_table_close(b);
    }
    rates(l, b);
}

void section_formats(const struct lookup *l, struct buf *b)
{
    static const enum fact_key keys[] = {FACT_FORMAT_OBSERVED, FACT_FORMAT_DECLARED,
                                         FACT_FORMAT_BYTES, FACT_FORMAT_TENSORS,
                                         FACT_FORMAT_DISAGREES};
    const char **parts;
    size_t count = lookup_scopes(l, keys, sizeof(keys) / sizeof(keys[0]), &parts);
    struct pivot p;

    section_verdicts_heading(l, VERDICT_FORMATS, b);
    pivot_init(&p, l, FACT_FORMAT_SUPPORT);
    if (!count) {
        html_lit(b, "<p class=\"dim\">This run recorded no number formats.</p>\n");
    } else {
        html_table_open(b, "formats by part of the model");
        head(&p, b);
        html_lit(b, "<tbody>\n");
        for (size_t i = 0; i < count; i++)
            row(l, parts[i], &p, b);
        html_lit(b, "</tbody>");
        html_table_close(b);
    }
    disagreements(l, b);
    unpacking(l, b);
    section_verdicts(l, VERDICT_FORMATS, b);
    section_verdicts_supports(l, "format", b);
    pivot_release(&p);
    free(parts);
}
