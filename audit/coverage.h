#ifndef AUDIT_COVERAGE_H
#define AUDIT_COVERAGE_H
#include "audit/policy.h"
#include "core/err.h"
#include "core/fact.h"
#include "db/run.h"
#include "probes/support.h"

/* What the target's backends do with this model's formats and operators: facts about the model meet
 * the support tables. */

/* Called once for each row of a table that decided a fact, the same row once. A non-zero return
 * ends coverage_put with that error. The strings live for the call only. */
typedef int coverage_row_fn(void *ctx, const struct run_support *row, struct err *e);

/* For each FORMAT_OBSERVED fact (scope: module class, text: format) and each backend and hardware
 * of the target puts a FORMAT_SUPPORT fact of scope "class|backend|hardware"; for each
 * OPERATOR_LAYERS fact (scope: operator) and each backend an OPERATOR_SUPPORT fact of scope
 * "operator|backend", the worst over the hardware that the target names with that backend: none,
 * then unknown, composed, partial, fused. Absent facts are left out.
 *
 * The value is the table's word; its source is the deciding row's source, date and condition. What
 * stands in no table is unknown, and why says what was asked, how old the table is, and what would
 * settle it; so is what an unknown fact is asked about, for that fact's reason.
 *
 * Some rows of the format table narrow to an activation. It is that of the one activation.*
 * operator, "none" for classes that are no feed-forwards; with several operators or none of that
 * kind it is not known, and all such rows are asked.
 *
 * sink may be the sink of `facts` itself: what is there at the start is what is read. row may be
 * NULL. Fails as sink and row do; ERR_LIMIT if a scope would not fit COVERAGE_SCOPE_BYTES. */
int coverage_put(const struct fact_list *facts, const struct policy *p,
                 const struct support *tables, const struct fact_sink *sink, coverage_row_fn *row,
                 void *ctx, struct err *e);

#define COVERAGE_SCOPE_BYTES 512

#endif
