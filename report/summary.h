#ifndef REPORT_SUMMARY_H
#define REPORT_SUMMARY_H
#include "core/buf.h"
#include "db/view.h"

#define SUMMARY_WIDTH 100 /* columns */

/* One run for a terminal: headlines, the five items with their marks, what is not known and how to
 * find out, and where the report is (path; NULL leaves that line out). UTF-8, no colours. Text from
 * outside is escaped for a terminal. */
void summary_write(const struct view *v, const char *report_path, struct buf *b);

#endif
