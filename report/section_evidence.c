#include "report/html.h"
#include "report/section.h"
#include "report/words.h"
#include <string.h>

/* The subject as one word of a shell. */
static void shell_word(const char *s, struct buf *b)
{
    static const char safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                               "@%_+:,./-";

    if (s[0] && s[0] != '-' && strspn(s, safe) == strlen(s)) {
        html_text(b, s);
        return;
    }
    html_lit(b, "'");
    for (const char *quote; (quote = strchr(s, '\'')); s = quote + 1) {
        struct buf part;
        buf_init(&part, SIZE_MAX / 2);
        buf_add(&part, s, (size_t)(quote - s));
        html_text(b, part.data);
        buf_release(&part);
        html_lit(b, "'\\''");
    }
    html_text(b, s);
    html_lit(b, "'");
}

#define COMMAND(b, what, before, subject, after)                             \
    do {                                                                     \
        html_lit(b, "<tr><th scope=\"row\">" what "</th><td><code>" before); \
        if (subject)                                                         \
            shell_word(subject, b);                                          \
        html_lit(b, after "</code></td></tr>\n");                            \
    } while (0)

static void commands(const struct view *v, struct buf *b)
{
    const char *subject = v->subject ? v->subject : "";

    html_lit(b, "<p>Every number on this page can be found again:</p>\n");
    html_table_pairs(b, "commands that find the numbers again");
    html_lit(b, "<tbody>\n");
    COMMAND(b, "everything", "assay audit ", subject, "");
    COMMAND(b, "the model", "assay inspect ", subject, "");
    COMMAND(b, "1 Formats, 2 Operators", "assay coverage ", subject, "");
    COMMAND(b, "3 Long context", "assay stress ", subject, "");
    COMMAND(b, "4 Expert balance", "assay balance ", subject, "");
    COMMAND(b, "5 Fingerprint", "assay verify ", subject, "");
    if (v->run > 0) {
        html_lit(b, "<tr><th scope=\"row\">this run, again</th><td><code>assay report ");
        html_int(b, v->run);
        html_lit(b, "</code></td></tr>\n");
    }
    html_lit(b, "</tbody>");
    html_table_close(b);
}

static void method(const struct lookup *l, struct buf *b)
{
    static const enum fact_key keys[] = {
        FACT_HOST_CPU,      FACT_HOST_THREADS,    FACT_HOST_MEMORY,
        FACT_HOST_SYSTEM,   FACT_HOST_VERSION,    FACT_STRESS_BANDWIDTH,
        FACT_STRESS_EPOCHS, FACT_STRESS_COUNTERS, FACT_STRESS_VARIANT};

    bool any = false;

    for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]) && !any; k++)
        any = lookup_get(l, keys[k], NULL) != NULL;
    if (!any)
        return;
    html_lit(b, "<h3>Host and method</h3>\n<p class=\"small\">Measured values are medians over the "
                "epochs; ± is the median absolute deviation, or the standard error of a fit. A "
                "value without ± is exact or was read, not measured.</p>\n");
    html_table_pairs(b, "host and method");
    html_lit(b, "<tbody>\n");
    for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
        const struct fact *const *facts;
        size_t count = lookup_key(l, keys[k], &facts);
        for (size_t i = 0; i < count; i++) {
            html_lit(b, "<tr><th scope=\"row\"><code>");
            html_text(b, fact_name(keys[k]));
            html_lit(b, "</code> ");
            html_text(b, facts[i]->scope);
            html_lit(b, "</th><td>");
            html_fact(b, facts[i]);
            html_lit(b, "</td></tr>\n");
        }
    }
    html_lit(b, "</tbody>");
    html_table_close(b);
}

static void fact_row(const struct fact *f, size_t index, struct buf *b)
{
    html_lit(b, "<tr id=\"f");
    html_int(b, (int64_t)index);
    html_lit(b, "\"><td><code>");
    html_text(b, fact_name(f->key));
    html_lit(b, "</code></td><td>");
    html_text(b, f->scope);
    html_lit(b, "</td>");
    html_fact_cell(b, f);
    html_lit(b, "<td>");
    html_text(b, fact_state_name(f->state));
    html_lit(b, "</td><td class=\"w\">");
    html_text(b, f->source);
    html_lit(b, "</td></tr>\n");
}

static void facts(const struct view *v, struct buf *b)
{
    html_lit(b, "<details id=\"facts\"><summary>All ");
    html_count(b, v->facts.count);
    html_lit(b, " facts of this run</summary>\n");
    html_table_open(b, "all facts of this run");
    html_lit(b, "<thead><tr><th>key</th><th>scope</th><th>value</th><th>state</th><th>source</th>"
                "</tr></thead><tbody>\n");
    for (size_t i = 0; i < v->facts.count; i++)
        fact_row(&v->facts.items[i], i, b);
    html_lit(b, "</tbody>");
    html_table_close(b);
    html_lit(b, "</details>\n");
}

void section_evidence(const struct lookup *l, struct buf *b)
{
    html_lit(b, "<h2 id=\"evidence\">Evidence</h2>\n");
    commands(l->v, b);
    method(l, b);
    section_verdicts(l, VERDICT_READINESS, b);
    facts(l->v, b);
    if (l->v->policy && l->v->policy[0]) {
        html_lit(b, "<details><summary>The policy as used</summary><pre>");
        html_text(b, l->v->policy);
        html_lit(b, "</pre></details>\n");
    }
}
