#include "core/mem.h"
#include "report/html.h"
#include "report/section.h"
#include <stdlib.h>
#include <string.h>

#define SCOPES_SHOWN 6  /* of one reason; the rest is counted */
#define GROUPS_SHOWN 12 /* reasons outside the fold */

static void box(const char *title, const struct verdict *r, struct buf *b)
{
    html_lit(b, "<div class=\"box\"><b>");
    html_text(b, title);
    html_lit(b, ".</b> ");
    html_prose(b, r->text);
    if (r->advice[0]) {
        html_lit(b, " <span class=\"dim\">");
        html_prose(b, r->advice);
        html_lit(b, "</span>");
    }
    html_lit(b, "</div>\n");
}

/* The unknown rules of an item; its sum if no rule says more. Marks the facts that they cite. */
static size_t item_unknowns(const struct view *v, enum verdict_item item, bool *cited,
                            struct buf *b)
{
    const struct verdict *sum = view_sum(v, item);
    size_t shown = 0;

    for (size_t i = 0; i < v->verdict_count; i++) {
        const struct verdict *r = &v->verdicts[i];
        if (r->item != item || r->sum || r->status != VERDICT_UNKNOWN)
            continue;
        box(verdict_item_title(item), r, b);
        shown++;
        for (size_t k = 0; k < r->fact_count; k++)
            if (r->facts[k] < v->facts.count)
                cited[r->facts[k]] = true;
    }
    if (shown)
        return shown;
    if (sum && sum->status == VERDICT_UNKNOWN) {
        box(verdict_item_title(item), sum, b);
        return 1;
    }
    if (!sum) {
        html_lit(b, "<div class=\"box\"><b>");
        html_text(b, verdict_item_title(item));
        html_lit(b, ".</b> This run did not judge it.</div>\n");
        return 1;
    }
    return 0;
}

/* Unknown facts with the same key and the same reason are one line. */
struct group {
    const struct fact *first; /* in the order of lookup.sorted */
    size_t count;
    size_t shown; /* of the scopes */
};

static const char *why_of(const struct fact *f)
{
    return f->why ? f->why : "";
}

static size_t collect(const struct lookup *l, const bool *cited, struct group **ret_groups)
{
    struct group *groups = NULL;
    size_t count = 0, cap = 0, key_start = 0;

    for (size_t i = 0; i < l->count; i++) {
        const struct fact *f = l->sorted[i];
        if (f->state != FACT_UNKNOWN || cited[f - l->v->facts.items])
            continue;
        if (count && groups[count - 1].first->key != f->key)
            key_start = count;
        size_t g = key_start;
        while (g < count && strcmp(why_of(groups[g].first), why_of(f)))
            g++;
        if (g == count) {
            groups = mem_grow(groups, &cap, count + 1, sizeof(*groups));
            groups[count++] = (struct group){.first = f};
        }
        groups[g].count++;
    }
    *ret_groups = groups;
    return count;
}

static void group_line(const struct lookup *l, const bool *cited, struct group *g, struct buf *b)
{
    const struct fact *const *facts;
    size_t count = lookup_key(l, g->first->key, &facts);

    html_lit(b, "<li>");
    html_mark(b, VERDICT_UNKNOWN, "");
    html_code(b, fact_name(g->first->key));
    for (size_t i = 0; i < count; i++) {
        const struct fact *f = facts[i];
        if (f->state != FACT_UNKNOWN || cited[f - l->v->facts.items] || !f->scope[0] ||
            strcmp(why_of(f), why_of(g->first)))
            continue;
        if (g->shown++ == SCOPES_SHOWN)
            break;
        if (g->shown == 1)
            html_lit(b, " ");
        else
            html_lit(b, ", ");
        html_text(b, f->scope);
    }
    if (g->count > SCOPES_SHOWN) {
        html_lit(b, " and ");
        html_count(b, g->count - SCOPES_SHOWN);
        html_lit(b, " more");
    }
    html_lit(b, ": ");
    html_prose(b, why_of(g->first)[0] ? why_of(g->first) : "no reason was recorded");
    html_lit(b, "</li>\n");
}

static size_t fact_unknowns(const struct lookup *l, const bool *cited, struct buf *b)
{
    struct group *groups;
    size_t count = collect(l, cited, &groups);

    if (count)
        html_lit(b, "<h3>Facts that could not be established</h3>\n<ul class=\"plain\">\n");
    for (size_t i = 0; i < count; i++) {
        if (i == GROUPS_SHOWN) {
            html_lit(b, "</ul><details><summary>");
            html_count(b, count - i);
            html_lit(b, " more</summary><ul class=\"plain\">\n");
        }
        group_line(l, cited, &groups[i], b);
    }
    if (count > GROUPS_SHOWN)
        html_lit(b, "</ul></details>\n");
    else if (count)
        html_lit(b, "</ul>\n");
    free(groups);
    return count;
}

void section_unknowns(const struct lookup *l, struct buf *b)
{
    bool *cited = mem_alloc(l->count ? l->count : 1, sizeof(bool));
    size_t shown = 0;

    html_lit(b, "<h2 id=\"unknown\">What we do not know</h2>\n");
    for (enum verdict_item i = VERDICT_FORMATS; i <= VERDICT_DISTRIBUTION; i++)
        shown += item_unknowns(l->v, i, cited, b);
    shown += fact_unknowns(l, cited, b);
    if (!shown)
        html_lit(b, "<p>Nothing that this run looked at is unknown.</p>\n");
    free(cited);
}
