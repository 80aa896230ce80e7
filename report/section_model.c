#include "report/html.h"
#include "report/section.h"
#include "report/words.h"
#include <stdlib.h>
#include <string.h>

/* Scopes that stand for the whole model beside the mixer kinds. */
static bool whole(const char *scope)
{
    return !scope[0] || !strcmp(scope, "all") || !strcmp(scope, "model");
}

static const struct fact *of_whole(const struct lookup *l, enum fact_key key)
{
    static const char *const scopes[] = {"", "all", "model"};
    const struct fact *f = NULL;

    for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]) && !f; i++)
        f = lookup_get(l, key, scopes[i]);
    return f;
}

/* One row for each fact of the key: meaning, scope where there is one, value, source. */
static void fact_rows(const struct lookup *l, enum fact_key key, struct buf *b)
{
    const struct fact *const *facts;
    size_t count = lookup_key(l, key, &facts);

    for (size_t i = 0; i < count; i++) {
        html_lit(b, "<tr><th scope=\"row\">");
        const char *meaning = fact_meaning(key);
        struct buf plain; /* the table's line up to the hint about its scope */
        buf_init(&plain, SIZE_MAX / 2);
        buf_add(&plain, meaning, strcspn(meaning, "<"));
        while (plain.len && plain.data[plain.len - 1] == ' ')
            plain.data[--plain.len] = '\0';
        html_text(b, plain.data);
        buf_release(&plain);
        if (!whole(facts[i]->scope)) {
            html_lit(b, " ");
            html_code(b, facts[i]->scope);
        }
        html_lit(b, "</th><td>");
        html_fact(b, facts[i]);
        html_lit(b, "</td><td class=\"dim\">");
        html_text(b, facts[i]->source);
        html_lit(b, "</td></tr>\n");
    }
}

static void figures(const struct lookup *l, struct buf *b)
{
    static const enum fact_key keys[] = {FACT_MODEL_PARAMS_TOTAL,
                                         FACT_MODEL_PARAMS_ACTIVE,
                                         FACT_MODEL_PARAMS_STORED,
                                         FACT_MODEL_PARAMS_PADDING,
                                         FACT_MODEL_STORED_BYTES,
                                         FACT_MODEL_TENSORS,
                                         FACT_MODEL_HIDDEN,
                                         FACT_MODEL_EXPERTS,
                                         FACT_MODEL_TOP_K,
                                         FACT_MODEL_LATENT_WIDTH,
                                         FACT_MODEL_ATTNRES_BLOCK,
                                         FACT_MODEL_ATTNRES_SOURCES,
                                         FACT_MODEL_ATTNRES_IN_FLIGHT,
                                         FACT_MODEL_UNEXPLAINED};

    bool any = false;

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && !any; i++)
        any = lookup_get(l, keys[i], NULL) != NULL;
    if (!any)
        return;
    html_lit(b, "<h3>Figures</h3>\n");
    html_table_pairs(b, "figures of the model");
    html_lit(b, "<tbody>\n");
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        fact_rows(l, keys[i], b);
    html_lit(b, "</tbody>");
    html_table_close(b);
}

static void kind_row(const struct lookup *l, const char *scope, bool total, struct buf *b)
{
    static const enum fact_key keys[] = {FACT_MODEL_LAYERS, FACT_MODEL_CACHE_PER_TOKEN,
                                         FACT_MODEL_CACHE_WINDOW, FACT_MODEL_STATE};
    char name[WORDS_BYTES];

    if (total)
        html_lit(b, "<tr class=\"total\"><th scope=\"row\">whole model</th>");
    else
        html_lit(b, "<tr><th scope=\"row\">");
    if (!total) {
        html_text(b, words_kind(scope, name));
        html_lit(b, "</th>");
    }
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const struct fact *f = total ? of_whole(l, keys[i]) : lookup_get(l, keys[i], scope);
        if (f)
            html_fact_cell(b, f);
        else
            html_lit(b, "<td class=\"n dim\">–</td>");
    }
    html_lit(b, "</tr>\n");
}

static void kinds(const struct lookup *l, struct buf *b)
{
    static const enum fact_key keys[] = {FACT_MODEL_LAYERS, FACT_MODEL_CACHE_PER_TOKEN,
                                         FACT_MODEL_CACHE_WINDOW, FACT_MODEL_STATE};
    const char **scopes;
    size_t count = lookup_scopes(l, keys, sizeof(keys) / sizeof(keys[0]), &scopes);

    if (count) {
        html_lit(b, "<h3>Layers and cache</h3>\n");
        html_table_open(b, "layers and cache by mixer kind");
        html_lit(b, "<thead><tr><th>mixer</th><th class=\"n\">layers</th>"
                    "<th class=\"n\">cache that grows</th><th class=\"n\">windows, full</th>"
                    "<th class=\"n\">constant state</th></tr></thead><tbody>\n");
        for (size_t i = 0; i < count; i++)
            if (!whole(scopes[i]))
                kind_row(l, scopes[i], false, b);
        kind_row(l, "", true, b);
        html_lit(b, "</tbody>");
        html_table_close(b);
    }
    free(scopes);
}

/* Findings are "severity: text" under their code. */
static void finding(const struct fact *f, struct buf *b)
{
    const char *text = f->text ? f->text : "", *rest = strchr(text, ':');
    size_t n = rest ? (size_t)(rest - text) : 0;
    enum verdict_status s = VERDICT_UNKNOWN;

    if (f->state != FACT_KNOWN)
        return;
    if (n == 7 && !strncmp(text, "failure", n)) {
        html_lit(b, "<div class=\"box n\">");
        html_mark(b, s = VERDICT_FAIL, "failure");
    } else if (n == 7 && !strncmp(text, "warning", n)) {
        html_lit(b, "<div class=\"box w\">");
        html_mark(b, s = VERDICT_WARN, "warning");
    } else if (n == 4 && !strncmp(text, "note", n)) {
        html_lit(b, "<div class=\"box i\">");
        html_mark(b, s = VERDICT_NOT_APPLICABLE, "note");
    } else {
        html_lit(b, "<div class=\"box i\">");
    }
    html_lit(b, " ");
    html_prose(b, s == VERDICT_UNKNOWN ? text : rest + 1 + (rest[1] == ' '));
    html_lit(b, " <span class=\"dim\">");
    html_code(b, f->scope);
    if (f->source && f->source[0]) {
        html_lit(b, ", ");
        html_text(b, f->source);
    }
    html_lit(b, "</span></div>\n");
}

#define FINDINGS_SHOWN 8

/* In the order of lookup_key, by code; failures first, since they matter most. */
static void findings(const struct lookup *l, struct buf *b)
{
    static const char *const order[] = {"failure:", "warning:", "", "note:"};
    const struct fact *const *facts;
    size_t count = lookup_key(l, FACT_MODEL_FINDING, &facts), shown = 0;

    if (!count)
        return;
    html_lit(b, "<h3>Findings</h3>\n");
    for (size_t pass = 0; pass < sizeof(order) / sizeof(order[0]); pass++)
        for (size_t i = 0; i < count; i++) {
            const char *text = facts[i]->text ? facts[i]->text : "";
            size_t mine = 2;
            for (size_t k = 0; k < sizeof(order) / sizeof(order[0]); k++)
                if (order[k][0] && !strncmp(text, order[k], strlen(order[k])))
                    mine = k;
            if (mine != pass)
                continue;
            if (shown++ == FINDINGS_SHOWN) {
                html_lit(b, "<details><summary>");
                html_count(b, count - FINDINGS_SHOWN);
                html_lit(b, " more</summary>\n");
            }
            finding(facts[i], b);
        }
    if (shown > FINDINGS_SHOWN)
        html_lit(b, "</details>\n");
}

/* The layers as a picture in words, which counts by kind cannot give: "23 x (3 x KDA, MLA), MLA".
 */
static void layers(const struct lookup *l, struct buf *b)
{
    const struct fact *mixers = lookup_get(l, FACT_MODEL_MIXERS, NULL);
    const struct fact *ffns = lookup_get(l, FACT_MODEL_FEED_FORWARD, NULL);

    if (!mixers || !ffns)
        return;
    html_lit(b, "<p>Layers: ");
    html_fact(b, mixers);
    html_lit(b, " · feed-forward: ");
    html_fact(b, ffns);
    html_lit(b, "</p>\n");
}

void section_model(const struct lookup *l, struct buf *b)
{
    const struct fact *family = lookup_get(l, FACT_MODEL_FAMILY, NULL);
    const struct fact *architecture = lookup_get(l, FACT_MODEL_ARCHITECTURE, NULL);

    html_lit(b, "<h2 id=\"model\">The model</h2>\n");
    if (!family && !architecture) {
        html_lit(b,
                 "<p class=\"dim\">This run recorded nothing about the model's structure.</p>\n");
    } else {
        html_lit(b, "<p>Family ");
        html_fact(b, family);
        html_lit(b, " · class ");
        html_fact(b, architecture);
        html_lit(b, "</p>\n");
    }
    layers(l, b);
    findings(l, b);
    kinds(l, b);
    figures(l, b);
}
