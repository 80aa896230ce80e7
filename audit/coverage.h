#ifndef AUDIT_COVERAGE_H
#define AUDIT_COVERAGE_H
#include "audit/policy.h"
#include "core/err.h"
#include "core/fact.h"

/* What the target's backends do with this model's formats and operators: facts about the model
 * meet the support tables. */

struct support;    /* probes/support.h: tables, shipped and scanned */
struct db_support; /* db/db.h: a row that was used */

/* Called once for each support row that a fact was read from. A non-zero return ends coverage_put
 * with that error. The strings live for the call only. */
typedef int coverage_row_fn(void *ctx, const struct run_support *row, struct err *e);

/* For each FORMAT_OBSERVED fact (scope: module class, text: format) and each backend and hardware
 * of the target, puts a FORMAT_SUPPORT fact of scope "class|backend|hardware"; for each
 * OPERATOR_LAYERS fact (scope: operator) and each backend, an OPERATOR_SUPPORT fact of scope
 * "operator|backend". The value is the table's word, the source its source and date. What stands in
 * no table is unknown, and why says which table was asked and how to add to it; so is what depends
 * on an unknown fact. sink may be the sink of `facts` itself: what is there at the start is what is
 * read. row may be NULL. */
int coverage_put(const struct fact_list *facts, const struct policy *p,
                 const struct support *tables, const struct fact_sink *sink, coverage_row_fn *row,
                 void *ctx, struct err *e);

#endif
