#include "core/text.h"
#include "report/html.h"
#include "report/section.h"

/* Facts of the outside world, when a run has collected them. Told by their names, so that keys
 * which are added later are printed as well. */
static bool outside(const struct fact *f)
{
    const char *name = fact_name(f->key);

    return text_starts(name, "signal.") || text_starts(name, "reach.") ||
           text_starts(name, "runtime.");
}

static void signals(const struct view *v, struct buf *b)
{
    bool any = false;

    for (size_t i = 0; i < v->facts.count; i++) {
        const struct fact *f = &v->facts.items[i];
        if (!outside(f))
            continue;
        if (!any) {
            html_table_open(b, "reach and runtime signals");
            html_lit(b, "<tbody>\n");
        }
        any = true;
        html_lit(b, "<tr><th scope=\"row\">");
        html_text(b, fact_meaning(f->key));
        html_lit(b, " ");
        html_text(b, f->scope);
        html_lit(b, "</th>");
        html_fact_cell(b, f);
        html_lit(b, "<td class=\"dim\">");
        html_text(b, f->source);
        html_lit(b, "</td></tr>\n");
    }
    if (any) {
        html_lit(b, "</tbody>");
        html_table_close(b);
    } else {
        html_lit(b, "<p class=\"dim\">Reach signals (downloads, likes, age) and runtime signals "
                    "(tokens served, share) were not collected by this run. Being distributed "
                    "would say nothing about being ready in any case: the two are judged apart."
                    "</p>\n");
    }
}

static void problems(const struct lookup *l, struct buf *b)
{
    const struct fact *const *facts;
    size_t count = lookup_key(l, FACT_DISTRIBUTION_PROBLEM, &facts);

    if (!count)
        return;
    if (count > 8) {
        html_lit(b, "<details><summary>");
        html_count(b, count);
        html_lit(b, " weight files with a problem</summary>\n");
    }
    html_table_open(b, "weight files with a problem");
    html_lit(b, "<thead><tr><th>file</th><th>problem</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < count; i++) {
        html_lit(b, "<tr><td class=\"path\">");
        html_code(b, facts[i]->scope);
        html_lit(b, "</td><td>");
        html_fact(b, facts[i]);
        html_lit(b, "</td></tr>\n");
    }
    html_lit(b, "</tbody>");
    html_table_close(b);
    if (count > 8)
        html_lit(b, "</details>\n");
}

void section_distribution(const struct lookup *l, struct buf *b)
{
    section_verdicts_heading(l, VERDICT_DISTRIBUTION, b);
    html_lit(b, "<p>Weight files present and whole: ");
    html_fact(b, lookup_get(l, FACT_DISTRIBUTION_SHARDS, NULL));
    html_lit(b, "; named by the index: ");
    html_fact(b, lookup_get(l, FACT_DISTRIBUTION_SHARDS_NAMED, NULL));
    html_lit(b, ".</p>\n");
    problems(l, b);
    section_verdicts(l, VERDICT_DISTRIBUTION, b);
    signals(l->v, b);
}
