#include "core/mem.h"
#include "report/curve.h"
#include "report/html.h"
#include "report/section.h"
#include "report/words.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WHOLE "model" /* scope of the predicted curve of the whole model */

struct kinds {
    const char **names;
    size_t count, cap;
};

static void add_kind(struct kinds *k, const char *name)
{
    if (!name[0] || !strcmp(name, WHOLE))
        return;
    for (size_t i = 0; i < k->count; i++)
        if (!strcmp(k->names[i], name))
            return;
    k->names = mem_grow(k->names, &k->cap, k->count + 1, sizeof(*k->names));
    k->names[k->count++] = name;
}

/* Every mixer kind that has a curve or a figure. */
static void find_kinds(const struct lookup *l, const struct curve_list *c, struct kinds *ret)
{
    static const enum fact_key keys[] = {FACT_STRESS_GROWTH,      FACT_STRESS_GROWTH_EXPECTED,
                                         FACT_STRESS_REACHED,     FACT_STRESS_LIMIT,
                                         FACT_STRESS_CACHE_SLOPE, FACT_STRESS_DECODE};
    const char **scopes;
    size_t count = lookup_scopes(l, keys, sizeof(keys) / sizeof(keys[0]), &scopes);

    *ret = (struct kinds){0};
    for (size_t i = 0; i < c->count; i++)
        add_kind(ret, c->items[i].scope);
    for (size_t i = 0; i < count; i++)
        add_kind(ret, scopes[i]);
    free(scopes);
}

/* A rounded value of a point, for sentences. */
static void say_value(struct buf *b, const struct fact_point *p, bool time)
{
    char number[WORDS_BYTES];

    buf_adds(b, time ? words_real(p->y, p->y_error, "ns", number) : words_bytes(p->y, number));
}

static const struct fact_point *first_of(const struct curve *c)
{
    for (size_t i = 0; c && i < c->count; i++)
        if (isfinite(c->points[i]->y))
            return c->points[i];
    return NULL;
}

static void say_curve(struct buf *b, const char *verb, const struct curve *c, bool time)
{
    const struct fact_point *first = first_of(c), *last = curve_last(c);
    char number[WORDS_BYTES];

    if (!first)
        return;
    buf_addf(b, " %s ", verb);
    say_value(b, first, time);
    buf_addf(b, " at %s", words_tokens(first->x, number));
    if (last != first) {
        buf_adds(b, ", ");
        say_value(b, last, time);
        buf_addf(b, " at %s", words_tokens(last->x, number));
    }
    buf_adds(b, ";");
}

/* What the drawing shows, in words; html_text escapes it where it is printed. */
static void say_plot(struct buf *b, const struct curve_list *c, const struct kinds *k, bool time)
{
    char name[WORDS_BYTES];

    buf_adds(b, time ? "Decode time of one layer over context." : "Cache bytes over context.");
    for (size_t i = 0; i < k->count; i++) {
        buf_addf(b, " %s:", words_kind(k->names[i], name));
        say_curve(b, "measured",
                  curve_list_find(c, time ? "decode.measured" : "cache.measured", k->names[i]),
                  time);
        say_curve(b, time ? "floor" : "predicted",
                  curve_list_find(c, time ? "decode.floor" : "cache.predicted", k->names[i]), time);
    }
}

/* One plot: for each kind a solid line of what was measured and a dashed one of what was to be
 * expected, labelled once, at the longer of the two. */
static bool plot(const struct lookup *l, const struct curve_list *c, const struct kinds *k,
                 bool time, struct buf *b)
{
    struct svg_line *lines = mem_alloc(2 * k->count + 1, sizeof(*lines));
    char(*names)[WORDS_BYTES] = mem_alloc(k->count + 1, sizeof(*names));
    char(*details)[WORDS_BYTES] = mem_alloc(k->count + 1, sizeof(*details));
    struct buf words;
    size_t n = 0;

    buf_init(&words, SIZE_MAX / 2);
    say_plot(&words, c, k, time);
    for (size_t i = 0; i < k->count; i++) {
        const struct fact *layers = lookup_get(l, FACT_MODEL_LAYERS, k->names[i]);
        const struct curve *dashed =
            curve_list_find(c, time ? "decode.floor" : "cache.predicted", k->names[i]);
        const struct curve *solid =
            curve_list_find(c, time ? "decode.measured" : "cache.measured", k->names[i]);
        const struct fact_point *dashed_end = curve_last(dashed), *solid_end = curve_last(solid);
        bool on_dashed = !solid_end || (!time && dashed_end && dashed_end->x > solid_end->x);
        words_kind(k->names[i], names[i]);
        if (!time && layers && layers->state == FACT_KNOWN)
            words_fact(layers, details[i]);
        lines[n++] = curve_line(dashed, on_dashed ? names[i] : "", details[i], (unsigned)i, true);
        lines[n] = curve_line(solid, names[i], details[i], (unsigned)i, false);
        lines[n].unlabelled = on_dashed;
        n++;
    }
    if (!time && k->count > 1)
        lines[n++] = curve_line(curve_list_find(c, "cache.predicted", WHOLE), "whole model", "",
                                (unsigned)k->count, true);
    bool drawn = svg_plot(
        &(struct svg_plot){.title = time ? "Decode time over context" : "Cache over context",
                           .words = words.data,
                           .time = time,
                           .lines = lines,
                           .line_count = n},
        b);
    buf_release(&words);
    free(lines);
    free(names);
    free(details);
    return drawn;
}

static void figures(const struct lookup *l, const struct curve_list *c, const struct kinds *k,
                    struct buf *b)
{
    const struct fact *bandwidth = lookup_get(l, FACT_STRESS_BANDWIDTH, "");

    html_lit(b, "<div class=\"two\"><figure>\n");
    if (plot(l, c, k, false, b))
        html_lit(b, "<figcaption><b>Cache of one sequence</b>, all layers of a kind. Solid with "
                    "markers: measured. Dashed: predicted from the architecture.</figcaption>");
    else
        html_lit(b, "<p class=\"dim\">No point of the cache curve could be drawn.</p>");
    html_lit(b, "</figure><figure>\n");
    if (plot(l, c, k, true, b)) {
        html_lit(b, "<figcaption><b>Decode time</b> of one token in one layer, one thread. Bars: "
                    "spread. Dashed: the floor, bytes over this run's read bandwidth, "
                    "where they do not fit the processor's cache (");
        html_fact(b, bandwidth);
        html_lit(b, ").</figcaption>");
    } else {
        html_lit(b, "<p class=\"dim\">No point of the decode curve could be drawn.</p>");
    }
    html_lit(b, "</figure></div>\n");
}

static void off_cell(const struct fact *f, struct buf *b)
{
    char number[WORDS_BYTES];

    if (!f || f->state != FACT_KNOWN) {
        html_fact_cell(b, f);
        return;
    }
    html_lit(b, "<td class=\"n\">");
    html_text(b, words_percent(f->x, f->error, number));
    html_lit(b, "</td>");
}

/* A fitted figure, and under it what the architecture predicts. */
static void beside(const struct lookup *l, enum fact_key key, enum fact_key expected_key,
                   const char *kind, struct buf *b)
{
    const struct fact *expected = lookup_get(l, expected_key, kind);

    html_lit(b, "<td class=\"n\">");
    html_fact(b, lookup_get(l, key, kind));
    if (expected) {
        html_lit(b, "<br><small>expected ");
        html_fact(b, expected);
        html_lit(b, "</small>");
    }
    html_lit(b, "</td>");
}

static void fit_row(const struct lookup *l, const char *kind, struct buf *b)
{
    char name[WORDS_BYTES];
    const struct fact *limit = lookup_get(l, FACT_STRESS_LIMIT, kind);

    html_lit(b, "<tr><th scope=\"row\">");
    html_text(b, words_kind(kind, name));
    html_lit(b, "</th>");
    html_fact_cell(b, lookup_get(l, FACT_STRESS_GROWTH_EXPECTED, kind));
    html_fact_cell(b, lookup_get(l, FACT_STRESS_GROWTH, kind));
    beside(l, FACT_STRESS_CACHE_SLOPE, FACT_STRESS_CACHE_SLOPE_EXPECTED, kind, b);
    beside(l, FACT_STRESS_CACHE_CONSTANT, FACT_STRESS_CACHE_CONSTANT_EXPECTED, kind, b);
    off_cell(lookup_get(l, FACT_STRESS_CACHE_OFF, kind), b);
    html_fact_cell(b, lookup_get(l, FACT_STRESS_REACHED, kind));
    if (limit)
        html_fact_cell(b, limit);
    else
        html_lit(b, "<td class=\"dim\">the target</td>");
    html_lit(b, "</tr>\n");
}

static void decode_row(const struct lookup *l, const char *kind, struct buf *b)
{
    char name[WORDS_BYTES];
    const struct fact *ipc = lookup_get(l, FACT_STRESS_IPC, kind);

    html_lit(b, "<tr><th scope=\"row\">");
    html_text(b, words_kind(kind, name));
    html_lit(b, "</th>");
    html_fact_cell(b, lookup_get(l, FACT_STRESS_DECODE, kind));
    html_fact_cell(b, lookup_get(l, FACT_STRESS_DECODE_GROWTH, kind));
    html_fact_cell(b, lookup_get(l, FACT_STRESS_DECODE_RATE, kind));
    html_lit(b, "<td class=\"n\">");
    if (ipc)
        html_fact_short(b, ipc);
    else
        html_lit(b, "–");
    html_lit(b, "</td>");
    html_fact_cell(b, lookup_get(l, FACT_STRESS_EPOCHS, kind));
    html_fact_cell(b, lookup_get(l, FACT_STRESS_DECODE_QUALITY, kind));
    html_fact_cell(b, lookup_get(l, FACT_STRESS_VARIANT, kind));
    html_lit(b, "</tr>\n");
}

static void tables(const struct lookup *l, const struct kinds *k, struct buf *b)
{
    html_lit(b, "<h3>Growth of the cache</h3>\n");
    html_table_open(b, "growth of the cache by mixer kind");
    html_lit(b, "<thead><tr><th>mixer</th><th>expected</th><th>found</th>"
                "<th class=\"n\">slope</th><th class=\"n\">constant</th>"
                "<th class=\"n\">off by, at most</th><th class=\"n\">reached</th>"
                "<th>stopped by</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < k->count; i++)
        fit_row(l, k->names[i], b);
    html_lit(b, "</tbody>");
    html_table_close(b);
    html_lit(b, "<p class=\"dim\">All layers of a kind. Memory is measured in whole pages; their "
                "rounding is not counted in \"off by\".</p>\n");
    html_lit(b, "<h3>Decode at the longest context measured</h3>\n");
    html_table_open(b, "decode by mixer kind");
    html_lit(b, "<thead><tr><th>mixer</th><th class=\"n\">time in one layer</th><th>growth</th>"
                "<th class=\"n\">bytes moved</th><th class=\"n\">IPC</th>"
                "<th class=\"n\">epochs</th><th>quality</th><th>kernel</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < k->count; i++)
        decode_row(l, k->names[i], b);
    html_lit(b, "</tbody>");
    html_table_close(b);
}

void section_context(const struct lookup *l, struct buf *b)
{
    struct curve_list curves;
    struct kinds kinds;

    section_verdicts_heading(l, VERDICT_CONTEXT, b);
    curve_list_init(&curves, l->v);
    find_kinds(l, &curves, &kinds);
    if (!kinds.count) {
        html_lit(b, "<p class=\"dim\">This run measured no ladder of context lengths.</p>\n");
    } else {
        figures(l, &curves, &kinds, b);
        section_gaps(&curves, b);
        tables(l, &kinds, b);
    }
    section_verdicts(l, VERDICT_CONTEXT, b);
    section_points(l, b);
    free(kinds.names);
    curve_list_release(&curves);
}
