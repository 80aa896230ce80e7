#include "core/json.h"
#include "core/text.h"
#include "report/html.h"
#include "report/section.h"
#include <string.h>

/* The last part of a path: what people call the subject. Other subjects go by their whole name. */
static const char *short_name(const char *subject)
{
    const char *slash = strrchr(subject, '/');

    return subject[0] == '/' && slash && slash[1] ? slash + 1 : subject;
}

/* Members of the policy's target, as the policy spells them: a backend is an object whose texts
 * belong together ("vllm sm90"). */
static void target_value(const struct cJSON *item, struct buf *b)
{
    const char *text;
    uint64_t n;

    if (json_text(item, &text)) {
        html_text(b, text);
    } else if (json_u64(item, &n)) {
        html_count(b, n);
    } else {
        for (const struct cJSON *part = json_first(item); part; part = json_next(part)) {
            if (part != json_first(item))
                html_lit(b, " ");
            if (json_text(part, &text))
                html_text(b, text);
        }
    }
}

static void target(const struct view *v, struct buf *b)
{
    struct cJSON *policy;
    struct err e = {0};

    if (!v->policy || json_parse(v->policy, strlen(v->policy), &policy, NULL, &e))
        return;
    const struct cJSON *items = json_get(policy, "target");
    if (json_first(items))
        html_lit(b, "<p class=\"dim\">Target");
    for (const struct cJSON *item = json_first(items); item; item = json_next(item)) {
        html_lit(b, " · ");
        for (const char *c = json_key(item); *c; c++) {
            char letter[2] = {*c == '_' ? ' ' : *c, '\0'};
            html_text(b, letter);
        }
        html_lit(b, ": <span class=\"ink\">");
        if (json_kind(item) != JSON_ARRAY)
            target_value(item, b);
        else
            for (const struct cJSON *one = json_first(item); one; one = json_next(one)) {
                if (one != json_first(item))
                    html_lit(b, ", ");
                target_value(one, b);
            }
        html_lit(b, "</span>");
    }
    if (json_first(items))
        html_lit(b, "</p>\n");
    json_free(policy);
}

static void title(const struct lookup *l, struct buf *b)
{
    const struct view *v = l->v;
    const char *subject = v->subject ? v->subject : "";
    const struct fact *version = lookup_get(l, FACT_HOST_VERSION, NULL);

    html_lit(b, "<header>\n<p class=\"eyebrow\">Readiness report");
    if (version && version->state == FACT_KNOWN) {
        html_lit(b, " · assay ");
        html_text(b, version->text);
    }
    html_lit(b, "</p>\n<h1>");
    html_text(b, subject[0] ? short_name(subject) : "unnamed subject");
    html_lit(b, "</h1>\n<p class=\"dim\">");
    if (strcmp(short_name(subject), subject)) {
        html_code(b, subject);
        html_lit(b, " · ");
    }
    html_text(b, v->subject_kind && v->subject_kind[0] ? v->subject_kind : "kind not recorded");
    html_lit(b, "</p>\n<p class=\"dim\">Run ");
    if (v->run > 0)
        html_count(b, (uint64_t)v->run);
    else
        html_lit(b, "<b class=\"warn\">not recorded</b>");
    html_lit(b, " · ");
    html_date(b, v->started);
    if (!v->finished)
        html_lit(b, " · <b class=\"warn\">not finished</b>");
    html_lit(b, " · policy ");
    html_code(b, v->policy_name ? v->policy_name : "");
    html_lit(b, "</p>\n");
    target(v, b);
    html_lit(b, "<p class=\"dim\">Snapshot ");
    if (v->digest) {
        html_code(b, v->digest);
        if (v->snapshot_first_seen > 0) {
            html_lit(b, ", first recorded ");
            html_date(b, v->snapshot_first_seen);
        }
    } else {
        html_mark(b, VERDICT_UNKNOWN, "no digest");
        if (v->file_count)
            html_lit(b, ": not every weight file could be read");
    }
    html_lit(b, "</p>\n</header>\n");
}

static void headline(const struct lookup *l, enum verdict_item item, struct buf *b)
{
    const struct verdict *s = view_sum(l->v, item);

    html_lit(b, "<div class=\"head\"><p class=\"k\">");
    html_text(b, verdict_item_title(item));
    html_lit(b, "</p><p class=\"v\">");
    if (!s)
        html_mark(b, VERDICT_UNKNOWN, "Unknown");
    else
        html_mark(b, s->status, s->title[0] ? s->title : verdict_status_name(s->status));
    html_lit(b, "</p><p>");
    if (s)
        html_prose(b, s->text);
    else
        html_lit(b, "This run did not judge it.");
    html_lit(b, "</p></div>\n");
}

static void item_link(enum verdict_item item, struct buf *b)
{
    html_lit(b, "<a href=\"#");
    html_text(b, verdict_item_name(item));
    html_lit(b, "\">");
    html_int(b, (int64_t)item + 1);
    html_lit(b, " ");
    html_text(b, verdict_item_title(item));
    html_lit(b, "</a>");
}

static void item_line(const struct lookup *l, enum verdict_item item, struct buf *b)
{
    const struct verdict *s = view_sum(l->v, item);

    html_lit(b, "<li>");
    html_status(b, s ? s->status : VERDICT_UNKNOWN);
    item_link(item, b);
    html_lit(b, "<span>");
    if (s)
        html_prose(b, s->text);
    else
        html_lit(b, "This run did not judge it.");
    if (s && !s->required)
        html_lit(b, " <span class=\"dim\">Not required by the policy.</span>");
    html_lit(b, "</span></li>\n");
}

void section_header(const struct lookup *l, struct buf *b)
{
    title(l, b);
    html_lit(b, "<div class=\"heads\">\n");
    headline(l, VERDICT_DISTRIBUTION, b);
    headline(l, VERDICT_READINESS, b);
    html_lit(b, "</div>\n<ol class=\"list\">\n");
    for (enum verdict_item i = VERDICT_FORMATS; i < VERDICT_DISTRIBUTION; i++)
        item_line(l, i, b);
    html_lit(b, "</ol>\n<nav aria-label=\"sections\"><a href=\"#unknown\">What we do not know</a>"
                "<a href=\"#model\">The model</a><a href=\"#distribution\">Distribution</a>"
                "<a href=\"#evidence\">Evidence</a></nav>\n");
}
