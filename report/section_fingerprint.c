#include "core/mem.h"
#include "report/html.h"
#include "report/section.h"
#include <stdlib.h>

#define FILES_SHOWN 8     /* rows outside the fold */
#define PROBLEMS_SHOWN 40 /* more of them if they are not ok: these come first */

static void state_cell(const struct snapshot_file *f, struct buf *b)
{
    html_lit(b, "<td>");
    if (f->state == SNAPSHOT_FILE_OK)
        html_mark(b, VERDICT_PASS, "hashed");
    else
        html_mark(b, VERDICT_UNKNOWN, snapshot_file_state_name(f->state));
    if (f->why && f->why[0]) {
        html_lit(b, " <small>");
        html_prose(b, f->why);
        html_lit(b, "</small>");
    }
    html_lit(b, "</td>");
}

static void row(const struct snapshot_file *f, struct buf *b)
{
    html_lit(b, "<tr><td class=\"path\"><code>");
    html_text(b, f->path);
    html_lit(b, "</code>");
    if (!f->weight)
        html_lit(b, " <small>not a weight file</small>");
    html_lit(b, "</td><td class=\"n\">");
    html_count(b, f->size_bytes);
    html_lit(b, "</td><td class=\"sha\">");
    if (f->sha256)
        html_code(b, f->sha256);
    else
        html_mark(b, VERDICT_UNKNOWN, "no digest");
    html_lit(b, "</td>");
    state_cell(f, b);
    html_lit(b, "</tr>\n");
}

static void rows(const struct snapshot_file *const *files, size_t count, struct buf *b)
{
    html_table_open(b, "files of the snapshot");
    html_lit(b, "<thead><tr><th>file</th><th class=\"n\">bytes</th><th>sha256</th><th>state</th>"
                "</tr></thead><tbody>\n");
    for (size_t i = 0; i < count; i++)
        row(files[i], b);
    html_lit(b, "</tbody>");
    html_table_close(b);
}

/* Files that are not ok come first, and more of them stand outside the fold. */
static void files(const struct view *v, struct buf *b)
{
    const struct snapshot_file **order = mem_alloc(v->file_count + 1, sizeof(*order));
    size_t count = 0, problems, shown;

    for (size_t i = 0; i < v->file_count; i++)
        if (v->files[i].state != SNAPSHOT_FILE_OK)
            order[count++] = &v->files[i];
    problems = count;
    for (size_t i = 0; i < v->file_count; i++)
        if (v->files[i].state == SNAPSHOT_FILE_OK)
            order[count++] = &v->files[i];
    shown = problems > PROBLEMS_SHOWN ? PROBLEMS_SHOWN : problems;
    shown = shown < FILES_SHOWN ? FILES_SHOWN : shown;
    if (shown + 2 >= count) /* a fold for two rows hides more than it saves */
        shown = count;
    rows(order, shown, b);
    if (shown < count) {
        html_lit(b, "<details><summary>");
        html_count(b, count - shown);
        html_lit(b, " more files</summary>\n");
        rows(order + shown, count - shown, b);
        html_lit(b, "</details>\n");
    }
    free(order);
}

static void baselines(const struct lookup *l, struct buf *b)
{
    const struct fact *const *facts;
    size_t count = lookup_key(l, FACT_FINGERPRINT_BASELINE, &facts);

    for (size_t i = 0; i < count; i++) {
        html_lit(b, "<tr><th scope=\"row\">baseline ");
        if (facts[i]->scope[0])
            html_code(b, facts[i]->scope);
        html_lit(b, "</th><td>");
        if (facts[i]->state == FACT_ABSENT)
            html_lit(b, "none was named");
        else
            html_fact(b, facts[i]);
        html_lit(b, "</td></tr>\n");
    }
    if (!count)
        html_lit(b,
                 "<tr><th scope=\"row\">baseline</th><td class=\"dim\">not recorded</td></tr>\n");
}

void section_fingerprint(const struct lookup *l, struct buf *b)
{
    const struct view *v = l->v;
    const struct fact *digest = lookup_get(l, FACT_FINGERPRINT_DIGEST, NULL);

    section_verdicts_heading(l, VERDICT_FINGERPRINT, b);
    html_table_pairs(b, "fingerprint of the snapshot");
    html_lit(b, "<tbody><tr><th scope=\"row\">snapshot digest</th><td>");
    if (v->digest)
        html_code(b, v->digest);
    else if (digest)
        html_fact(b, digest);
    else
        html_mark(b, VERDICT_UNKNOWN, "no digest");
    html_lit(b, "</td></tr>\n<tr><th scope=\"row\">files hashed</th><td>");
    html_fact(b, lookup_get(l, FACT_FINGERPRINT_FILES, NULL));
    html_lit(b, "</td></tr>\n<tr><th scope=\"row\">bytes hashed</th><td>");
    html_fact(b, lookup_get(l, FACT_FINGERPRINT_BYTES, NULL));
    html_lit(b, "</td></tr>\n");
    baselines(l, b);
    html_lit(b, "</tbody>");
    html_table_close(b);
    section_verdicts(l, VERDICT_FINGERPRINT, b);
    if (v->file_count)
        files(v, b);
    else
        html_lit(b, "<p class=\"dim\">This run recorded no files.</p>\n");
}
