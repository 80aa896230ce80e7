#include "report/heat.h"
#include "report/html.h"
#include "report/load.h"
#include "report/section.h"
#include "report/words.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORST "worst" /* scope of the worst layer's figures; the other scopes are layers */

static void source(const struct lookup *l, struct buf *b)
{
    const struct fact *f = lookup_get(l, FACT_BALANCE_SOURCE, NULL);
    const struct fact *tokens = lookup_get(l, FACT_BALANCE_TOKENS, NULL);
    const struct fact *mean = lookup_get(l, FACT_BALANCE_TOKENS_PER_EXPERT, NULL);
    const struct fact *left_out = lookup_get(l, FACT_BALANCE_LEFT_OUT, NULL);

    if (f && f->state == FACT_KNOWN && !strncmp(f->text, "synthetic", 9))
        html_lit(b, "<div class=\"box w\"><b>Synthetic inputs, not traffic.</b> ");
    else
        html_lit(b, "<div class=\"box i\">");
    html_lit(b, "Source: ");
    html_fact(b, f);
    html_lit(b, ". Routed in each layer: ");
    html_fact(b, tokens);
    html_lit(b, "; mean load of an expert: ");
    html_fact(b, mean);
    html_lit(b, "; layers seen: ");
    html_fact(b, lookup_get(l, FACT_BALANCE_LAYERS, NULL));
    html_lit(b, ".");
    if (left_out && left_out->state != FACT_ABSENT) {
        html_lit(b, " Left out: ");
        html_fact(b, left_out);
        html_lit(b, ".");
    }
    html_lit(b, "</div>\n");
}

static void hot_list(const struct load *p, struct buf *b)
{
    char number[WORDS_BYTES];

    html_lit(b, "<p class=\"small\">Most loaded: ");
    for (size_t i = 0; i < p->hot_count; i++) {
        const struct load_hot *h = &p->hot[i];
        if (i)
            html_lit(b, "; ");
        html_lit(b, "layer ");
        html_int(b, h->layer);
        html_lit(b, " expert ");
        html_int(b, h->expert);
        html_lit(b, ", ");
        html_count(b, h->tokens);
        html_lit(b, " tokens (");
        snprintf(number, sizeof(number), "%.2f×", h->share);
        html_text(b, number);
        html_lit(b, " the layer's mean)");
    }
    html_lit(b, ".</p>\n");
}

/* What the picture shows, for those who do not see it. */
static void say(const struct load *p, struct buf *words)
{
    buf_addf(words, "Load of %u experts in %u layers as a share of each layer's mean.", p->experts,
             p->layers);
    for (size_t i = 0; i < p->hot_count; i++)
        buf_addf(words, "%s layer %u expert %u %.2f", i ? "," : " Most loaded:", p->hot[i].layer,
                 p->hot[i].expert, p->hot[i].share);
}

static void caption(const struct load *p, struct buf *b)
{
    html_lit(b, "<figcaption><b>Load of each expert</b>, layers down, experts across.");
    if (p->per_col > 1) {
        html_lit(b, " Each cell holds ");
        html_count(b, p->per_col);
        html_lit(b, " neighbouring experts and shows the most loaded of them.");
    }
    if (p->per_row > 1) {
        html_lit(b, " Each row holds ");
        html_count(b, p->per_row);
        html_lit(b, " neighbouring layers and shows the most loaded of them.");
    }
    if (p->gaps)
        html_lit(b, " Experts without a record count as no tokens and are left empty.");
    html_lit(b, "</figcaption>");
}

static void picture(const struct lookup *l, struct buf *b)
{
    const struct fact *experts = lookup_get(l, FACT_MODEL_EXPERTS, NULL);
    bool known =
        experts && experts->state == FACT_KNOWN && experts->i > 0 && experts->i < LOAD_CELLS_MAX;
    struct load p;
    struct buf words;

    load_init(&p, l->v, known ? (uint32_t)experts->i : 0);
    if (p.too_many) {
        html_lit(b, "<p class=\"dim\">Not drawn: layers times experts are over ");
        html_count(b, LOAD_CELLS_MAX);
        html_lit(b, ".</p>\n");
    }
    if (p.rows) {
        buf_init(&words, SIZE_MAX / 2);
        say(&p, &words);
        html_lit(b, "<figure><div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                    "aria-label=\"load of the experts\">\n");
        heat_write(&(struct heat){.title = "Load of the experts",
                                  .words = words.data,
                                  .rows = p.rows,
                                  .cols = p.cols,
                                  .share = p.share,
                                  .row_name = p.row_name,
                                  .last = p.experts - 1},
                   b);
        html_lit(b, "</div>");
        heat_legend(b);
        caption(&p, b);
        html_lit(b, "</figure>\n");
        hot_list(&p, b);
        buf_release(&words);
    }
    load_release(&p);
}

/* "layer 2" stands before "layer 12". */
static int by_layer(const void *a, const void *b)
{
    const char *p = *(const char *const *)a, *q = *(const char *const *)b;
    size_t same = 0;

    while (p[same] && p[same] == q[same])
        same++;
    while (same && isdigit((unsigned char)p[same - 1])) /* back to where the number starts */
        same--;
    size_t digits = strspn(p + same, "0123456789"), other = strspn(q + same, "0123456789");
    if (digits && other && digits != other)
        return digits < other ? -1 : 1;
    return strcmp(p + same, q + same);
}

/* A figure has its own floor under the same scope, or one floor for all. */
static const struct fact *floor_of(const struct lookup *l, enum fact_key key, const char *scope)
{
    const struct fact *f = lookup_get(l, key, scope);

    return f ? f : lookup_get(l, key, NULL);
}

static void worst_row(const struct lookup *l, enum fact_key key, enum fact_key floor_key,
                      struct buf *b)
{
    const struct fact *f = lookup_get(l, key, WORST);

    html_lit(b, "<tr><th scope=\"row\">");
    switch ((int)key) { /* the table's meanings name their scope, which this table does not have */
    case FACT_BALANCE_MAX_MEAN: html_lit(b, "largest over mean load"); break;
    case FACT_BALANCE_CV: html_lit(b, "coefficient of variation"); break;
    case FACT_BALANCE_ENTROPY: html_lit(b, "entropy over that of an even load"); break;
    case FACT_BALANCE_GINI: html_lit(b, "Gini coefficient"); break;
    default: html_lit(b, "experts without a token"); break;
    }
    html_lit(b, "</th>");
    html_fact_cell(b, f);
    if (floor_key == key)
        html_lit(b, "<td class=\"n dim\">–</td>");
    else
        html_fact_cell(b, floor_of(l, floor_key, WORST));
    html_lit(b, "<td class=\"w dim\">");
    html_text(b, f ? f->source : "");
    html_lit(b, "</td></tr>\n");
}

static void worst(const struct lookup *l, struct buf *b)
{
    html_table_open(b, "balance figures of the worst layer");
    html_lit(b,
             "<thead><tr><th>figure</th><th class=\"n\">worst layer</th>"
             "<th class=\"n\">even routing, by chance</th><th>source</th></tr></thead><tbody>\n");
    worst_row(l, FACT_BALANCE_MAX_MEAN, FACT_BALANCE_MAX_MEAN_FLOOR, b);
    worst_row(l, FACT_BALANCE_CV, FACT_BALANCE_CV_FLOOR, b);
    worst_row(l, FACT_BALANCE_ENTROPY, FACT_BALANCE_ENTROPY, b);
    worst_row(l, FACT_BALANCE_GINI, FACT_BALANCE_GINI, b);
    worst_row(l, FACT_BALANCE_UNUSED, FACT_BALANCE_UNUSED, b);
    html_lit(b, "</tbody>");
    html_table_close(b);
}

static void layer_row(const struct lookup *l, const char *scope, struct buf *b)
{
    html_lit(b, "<tr><th scope=\"row\">");
    html_text(b, scope);
    html_lit(b, "</th>");
    html_fact_cell(b, lookup_get(l, FACT_BALANCE_MAX_MEAN, scope));
    html_fact_cell(b, floor_of(l, FACT_BALANCE_MAX_MEAN_FLOOR, scope));
    html_fact_cell(b, lookup_get(l, FACT_BALANCE_CV, scope));
    html_fact_cell(b, floor_of(l, FACT_BALANCE_CV_FLOOR, scope));
    html_fact_cell(b, lookup_get(l, FACT_BALANCE_ENTROPY, scope));
    html_fact_cell(b, lookup_get(l, FACT_BALANCE_GINI, scope));
    html_fact_cell(b, lookup_get(l, FACT_BALANCE_UNUSED, scope));
    html_lit(b, "</tr>\n");
}

static void layers(const struct lookup *l, const char **scopes, size_t count, struct buf *b)
{
    qsort(scopes, count, sizeof(*scopes), by_layer);
    html_lit(b, "<details><summary>Figures of each layer</summary>\n");
    html_table_open(b, "balance figures of each layer");
    html_lit(b, "<thead><tr><th>layer</th><th class=\"n\">max/mean</th>"
                "<th class=\"n\">by chance</th><th class=\"n\">cv</th>"
                "<th class=\"n\">by chance</th><th class=\"n\">entropy</th>"
                "<th class=\"n\">Gini</th><th class=\"n\">unused</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < count; i++)
        if (strcmp(scopes[i], WORST) != 0 && scopes[i][0])
            layer_row(l, scopes[i], b);
    html_lit(b, "</tbody>");
    html_table_close(b);
    html_lit(b, "</details>\n");
}

void section_experts(const struct lookup *l, struct buf *b)
{
    static const enum fact_key keys[] = {FACT_BALANCE_MAX_MEAN, FACT_BALANCE_CV,
                                         FACT_BALANCE_ENTROPY, FACT_BALANCE_GINI,
                                         FACT_BALANCE_UNUSED};
    const struct fact *experts = lookup_get(l, FACT_MODEL_EXPERTS, NULL);
    const char **scopes;
    size_t count = lookup_scopes(l, keys, sizeof(keys) / sizeof(keys[0]), &scopes);

    section_verdicts_heading(l, VERDICT_EXPERTS, b);
    if (experts && experts->state == FACT_ABSENT)
        html_lit(b, "<p class=\"dim\">The model has no routed experts.</p>\n");
    else if (!count && !l->v->facts.load_count)
        html_lit(b, "<p class=\"dim\">This run recorded no expert load.</p>\n");
    if (count || l->v->facts.load_count) {
        source(l, b);
        picture(l, b);
    }
    if (count)
        worst(l, b);
    section_verdicts(l, VERDICT_EXPERTS, b);
    if (count > 1)
        layers(l, scopes, count, b);
    free(scopes);
}
