#ifndef AUDIT_TABLES_H
#define AUDIT_TABLES_H
#include "core/fact.h"

/* The facts of one stage as tables for a terminal. Sources and the facts that no table shows are in
 * --json and in the report. */

/* One table a mixer kind: context, cache predicted and measured, decode time beside the floor that
 * memory sets; then what the fit found. */
void tables_print_stress(const struct fact_list *l);

/* One row a layer, with the noise floor beside each figure that has one. */
void tables_print_balance(const struct fact_list *l);

/* Formats and operators against backends, one row each; then what is not known. */
void tables_print_coverage(const struct fact_list *l);

#endif
