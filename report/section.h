#ifndef REPORT_SECTION_H
#define REPORT_SECTION_H
#include "core/buf.h"
#include "report/lookup.h"

/* The parts of the page, each in a file of its name, in the order of the page. Each writes its
 * heading and content; a part about which the run holds nothing says so. */

void section_header(const struct lookup *l, struct buf *b);   /* what, when, headlines, items */
void section_unknowns(const struct lookup *l, struct buf *b); /* what we do not know */
void section_model(const struct lookup *l, struct buf *b);
void section_formats(const struct lookup *l, struct buf *b);
void section_operators(const struct lookup *l, struct buf *b);
void section_context(const struct lookup *l, struct buf *b);
void section_experts(const struct lookup *l, struct buf *b);
void section_fingerprint(const struct lookup *l, struct buf *b);
void section_distribution(const struct lookup *l, struct buf *b);
void section_evidence(const struct lookup *l, struct buf *b);

/* Inside section_context: the points without a value and why; every point as a folded table. */
struct curve_list; /* report/curve.h */
void section_gaps(const struct curve_list *c, struct buf *b);
void section_points(const struct lookup *l, struct buf *b);

/* Shared by the items: the heading with the status of the sum and what the item asks, and the
 * item's rules with the facts that decided them. */
void section_verdicts_heading(const struct lookup *l, enum verdict_item item, struct buf *b);
void section_verdicts(const struct lookup *l, enum verdict_item item, struct buf *b);
/* A cell of a support table: the word with its mark; unknown if f is NULL or unknown. */
void section_verdicts_support(const struct fact *f, struct buf *b);
/* The rows of v->supports of that kind ("format", "operator") with condition, source and date. */
void section_verdicts_supports(const struct lookup *l, const char *kind, struct buf *b);

#endif
