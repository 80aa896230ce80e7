#ifndef REPORT_HTML_H
#define REPORT_HTML_H
#include "core/buf.h"
#include "core/fact.h"
#include "core/verdict.h"
#include <stdint.h>

/* How anything gets onto the page. Two writers: html_lit takes only string literals (the "" beside
 * its argument makes anything else a syntax error), html_text escapes. Sections use these and the
 * helpers below, never buf_add*, so that text from outside cannot become markup. */

#define html_lit(b, s) buf_adds((b), "" s "")

/* s escaped for text and for attributes in double quotes. Characters that nobody can see or that
 * turn the reading direction around are shown as [U+202E]. NULL writes nothing. */
void html_text(struct buf *b, const char *s);

/* Numbers: a plain integer for attributes, a coordinate with at most one decimal, a count with
 * thousands separators, bytes rounded with the exact count beside them, a date and time in UTC. */
void html_int(struct buf *b, int64_t n);
void html_coord(struct buf *b, double x);
void html_count(struct buf *b, uint64_t n);
void html_bytes(struct buf *b, uint64_t bytes);
void html_date(struct buf *b, int64_t unix_seconds);

/* Sentences in which `words between backticks` are commands or names: these become code. */
void html_prose(struct buf *b, const char *s);

/* s as code. */
void html_code(struct buf *b, const char *s);

/* A status as mark and word, coloured: never colour alone. */
void html_status(struct buf *b, enum verdict_status s);
/* The same mark with another word: "✓ fused". */
void html_mark(struct buf *b, enum verdict_status s, const char *word);

/* A fact's value with unit and error; an unknown one as "? unknown" with its reason, an absent one
 * as "none", NULL as "not recorded". */
void html_fact(struct buf *b, const struct fact *f);
/* The same without the reason, for narrow cells: the reasons stand among the unknowns. */
void html_fact_short(struct buf *b, const struct fact *f);
/* html_fact as a table cell, set right if the key is a number. */
void html_fact_cell(struct buf *b, const struct fact *f);

/* A table that scrolls in a box of its own; the label is read out with the box. Rows and cells are
 * the caller's. */
#define html_table_open(b, label)                                                          \
    html_lit(b, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"" label \
                "\"><table>\n")
/* The same for names and values: the first column takes what it needs and no more. */
#define html_table_pairs(b, label)                                                         \
    html_lit(b, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"" label \
                "\"><table class=\"kv\">\n")
#define html_table_close(b) html_lit(b, "</table></div>\n")

#endif
