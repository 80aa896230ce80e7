#include "report/html.h"
#include "report/pivot.h"
#include "report/section.h"
#include "report/words.h"
#include <stdlib.h>

static void row(const struct lookup *l, const char *op, const struct pivot *p, struct buf *b)
{
    const struct fact *layers = lookup_get(l, FACT_OPERATOR_LAYERS, op);
    const struct fact *time = lookup_get(l, FACT_FALLBACK_TIME, op);
    const struct fact *bytes = lookup_get(l, FACT_FALLBACK_BYTES, op);

    html_lit(b, "<tr><th scope=\"row\"><code>");
    html_text(b, op);
    html_lit(b, "</code></th><td class=\"n\">");
    if (layers && layers->state == FACT_KNOWN && layers->i >= 0)
        html_count(b, (uint64_t)layers->i);
    else
        html_fact(b, layers);
    html_lit(b, "</td>");
    for (size_t i = 0; i < p->count; i++)
        section_verdicts_support(pivot_get(l, FACT_OPERATOR_SUPPORT, op, p->columns[i]), b);
    if (time)
        html_fact_cell(b, time);
    else
        html_lit(b, "<td class=\"n dim\">not measured</td>");
    if (bytes)
        html_fact_cell(b, bytes);
    else
        html_lit(b, "<td class=\"n dim\">–</td>");
    html_lit(b, "</tr>\n");
}

static void measured_how(const struct lookup *l, struct buf *b)
{
    const struct fact *const *facts;
    size_t count = lookup_key(l, FACT_FALLBACK_TIME, &facts);

    if (!count)
        return;
    html_lit(b, "<p class=\"small dim\">Fallback: the composed path (each small operation writes "
                "its result and the next reads it again) over the fused one; time on this host's "
                "CPU, bytes from the kernels' cost functions.</p>\n<ul class=\"plain small dim\">");
    for (size_t i = 0; i < count; i++) {
        if (facts[i]->state != FACT_KNOWN || !facts[i]->source || !facts[i]->source[0])
            continue;
        html_lit(b, "<li>");
        html_code(b, facts[i]->scope);
        html_lit(b, ": ");
        html_text(b, facts[i]->source);
        html_lit(b, "</li>\n");
    }
    html_lit(b, "</ul>\n");
}

void section_operators(const struct lookup *l, struct buf *b)
{
    static const enum fact_key keys[] = {FACT_OPERATOR_LAYERS, FACT_FALLBACK_TIME,
                                         FACT_FALLBACK_BYTES};
    const char **ops;
    size_t count = lookup_scopes(l, keys, sizeof(keys) / sizeof(keys[0]), &ops);
    char name[WORDS_BYTES];
    struct pivot p;

    section_verdicts_heading(l, VERDICT_OPERATORS, b);
    pivot_init(&p, l, FACT_OPERATOR_SUPPORT);
    if (!count) {
        html_lit(b, "<p class=\"dim\">This run recorded no operators.</p>\n");
    } else {
        html_table_open(b, "operators by backend");
        html_lit(b, "<thead><tr><th>operator</th><th class=\"n\">layers</th>");
        for (size_t i = 0; i < p.count; i++) {
            html_lit(b, "<th class=\"nw\">");
            html_text(b, words_backend(p.columns[i], name));
            html_lit(b, "</th>");
        }
        html_lit(b, "<th class=\"n\">fallback, time</th><th class=\"n\">fallback, bytes</th>"
                    "</tr></thead><tbody>\n");
        for (size_t i = 0; i < count; i++)
            row(l, ops[i], &p, b);
        html_lit(b, "</tbody>");
        html_table_close(b);
        measured_how(l, b);
    }
    section_verdicts(l, VERDICT_OPERATORS, b);
    section_verdicts_supports(l, "operator", b);
    pivot_release(&p);
    free(ops);
}
