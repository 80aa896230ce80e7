#include "report/html.h"
#include "report/section.h"
#include "report/words.h"
#include <stdio.h>
#include <string.h>

#define FACTS_SHOWN 12 /* of one rule; the rest is counted, and stands in the evidence */

/* What an item asks, and the words of its answer, for a reader who has seen no such page before. */
static const char *const questions[VERDICT_ITEMS] = {
    [VERDICT_FORMATS] =
        "What the tensors hold, against what the config declares and what the target's backends "
        "take. Native: computed with as stored. Weight only: unpacked inside the matrix product, "
        "which saves memory and no arithmetic. sm90 and sm100: NVIDIA Hopper and Blackwell.",
    [VERDICT_OPERATORS] =
        "Whether each backend has a kernel of its own for what the layers do. Fused: one kernel. "
        "Partial: one, for a part of the cases. Composed: a sequence of general operations, the "
        "fallback, whose loss is the question.",
    [VERDICT_CONTEXT] =
        "Whether memory and decode time grow with the context as the architecture says. Mixer: "
        "what attends or recurs over the tokens in a layer. Measured with reference kernels at the "
        "model's head shapes on this host's CPU: how cost grows, not how fast a GPU serves.",
    [VERDICT_EXPERTS] =
        "Whether the routers use the experts evenly, beside what chance alone would give.",
    [VERDICT_FINGERPRINT] = "Which bytes this answer is tied to: a digest of every file.",
};

void section_verdicts_heading(const struct lookup *l, enum verdict_item item, struct buf *b)
{
    const struct verdict *s = view_sum(l->v, item);

    html_lit(b, "<h2 id=\"");
    html_text(b, verdict_item_name(item));
    html_lit(b, "\">");
    if (item < VERDICT_DISTRIBUTION) {
        html_int(b, (int64_t)item + 1);
        html_lit(b, " ");
    }
    html_text(b, verdict_item_title(item));
    html_lit(b, " ");
    html_status(b, s ? s->status : VERDICT_UNKNOWN);
    html_lit(b, "</h2>\n");
    if (!questions[item])
        return;
    html_lit(b, "<p class=\"dim\">");
    html_text(b, questions[item]);
    html_lit(b, "</p>\n");
}

static void cited(const struct view *v, size_t index, struct buf *b)
{
    if (index >= v->facts.count)
        return;
    const struct fact *f = &v->facts.items[index];
    html_lit(b, "<li><a href=\"#f");
    html_int(b, (int64_t)index);
    html_lit(b, "\"><code>");
    html_text(b, fact_name(f->key));
    html_lit(b, "</code></a> ");
    if (f->scope[0]) {
        html_text(b, f->scope);
        html_lit(b, ": ");
    }
    html_fact(b, f);
    if (f->source && f->source[0]) {
        html_lit(b, " <span class=\"dim\">(");
        html_text(b, f->source);
        html_lit(b, ")</span>");
    }
    html_lit(b, "</li>\n");
}

static void rule(const struct view *v, const struct verdict *r, struct buf *b)
{
    html_lit(b, "<li>");
    html_status(b, r->status);
    html_lit(b, "<div><p>");
    html_prose(b, r->text);
    if (r->advice[0]) {
        html_lit(b, " <span class=\"dim\">");
        html_prose(b, r->advice);
        html_lit(b, "</span>");
    }
    html_lit(b, "</p><details><summary>");
    html_code(b, r->rule);
    html_lit(b, ", decided by ");
    html_count(b, r->fact_count);
    if (r->fact_count == 1)
        html_lit(b, " fact</summary><ul>\n");
    else
        html_lit(b, " facts</summary><ul>\n");
    for (size_t i = 0; i < r->fact_count && i < FACTS_SHOWN; i++)
        cited(v, r->facts[i], b);
    if (r->fact_count > FACTS_SHOWN) {
        html_lit(b, "<li>and ");
        html_count(b, r->fact_count - FACTS_SHOWN);
        html_lit(b, " more: <a href=\"#evidence\">Evidence</a></li>\n");
    }
    html_lit(b, "</ul></details></div></li>\n");
}

void section_verdicts(const struct lookup *l, enum verdict_item item, struct buf *b)
{
    bool any = false;

    for (size_t i = 0; i < l->v->verdict_count; i++) {
        const struct verdict *r = &l->v->verdicts[i];
        if (r->item != item || r->sum)
            continue;
        if (!any)
            html_lit(b, "<ul class=\"rules\">\n");
        any = true;
        rule(l->v, r, b);
    }
    if (any)
        html_lit(b, "</ul>\n");
}

/* What a word of the support tables means for a reader who only looks at marks. */
static enum verdict_status mark_of(const char *word)
{
    static const struct {
        const char *word;
        enum verdict_status status;
    } table[] = {{"native", VERDICT_PASS},  {"supported", VERDICT_WARN},
                 {"fused", VERDICT_PASS},   {"weight_only", VERDICT_WARN},
                 {"convert", VERDICT_WARN}, {"expand", VERDICT_WARN},
                 {"partial", VERDICT_WARN}, {"composed", VERDICT_WARN},
                 {"reject", VERDICT_FAIL},  {"none", VERDICT_FAIL}};

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (!strcmp(word, table[i].word))
            return table[i].status;
    return VERDICT_UNKNOWN;
}

void section_verdicts_support(const struct fact *f, struct buf *b)
{
    char word[64];

    if (!f || f->state == FACT_UNKNOWN) {
        html_lit(b, "<td>");
        html_mark(b, VERDICT_UNKNOWN, "unknown");
        html_lit(b, "</td>");
        return;
    }
    const char *text = f->state == FACT_ABSENT ? "none" : f->text ? f->text : "";
    snprintf(word, sizeof(word), "%.60s", text);
    for (char *c = word; *c; c++)
        if (*c == '_')
            *c = ' ';
    html_lit(b, "<td>");
    html_mark(b, mark_of(text), word);
    html_lit(b, "</td>");
}

static void support_row(const struct run_support *s, struct buf *b)
{
    char name[WORDS_BYTES];

    html_lit(b, "<tr><td>");
    html_text(b, words_backend(s->backend, name));
    html_lit(b, "</td><td>");
    html_text(b, s->entry);
    html_lit(b, "</td><td>");
    html_text(b, s->hardware);
    html_lit(b, "</td><td>");
    html_text(b, s->status);
    html_lit(b, "</td><td class=\"w\">");
    html_text(b, s->condition);
    html_lit(b, "</td><td class=\"w\">");
    html_text(b, s->source);
    html_lit(b, "</td><td class=\"nw\">");
    html_text(b, s->as_of);
    html_lit(b, "</td></tr>\n");
}

void section_verdicts_supports(const struct lookup *l, const char *kind, struct buf *b)
{
    const struct view *v = l->v;
    size_t count = 0;

    for (size_t i = 0; i < v->support_count; i++)
        count += !strcmp(v->supports[i].kind, kind);
    if (!count)
        return;
    html_lit(b, "<details><summary>Support table: ");
    html_count(b, count);
    html_lit(b, " entries with condition, source and date</summary>\n");
    html_table_open(b, "support entries");
    html_lit(b, "<thead><tr><th>backend</th><th>entry</th><th>hardware</th><th>status</th>"
                "<th>condition</th><th>source</th><th>as of</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < v->support_count; i++)
        if (!strcmp(v->supports[i].kind, kind))
            support_row(&v->supports[i], b);
    html_lit(b, "</tbody>");
    html_table_close(b);
    html_lit(b, "</details>\n");
}
