#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H
#include "core/buf.h"
#include "db/view.h"

/* The report of one run as one HTML file: no script, nothing fetched, everything from outside
 * escaped. The same view gives the same bytes. It prints what the view holds and judges nothing.
 * A model with 1,000 files, 92 layers and 896 experts gives less than 3 MB. The buffer's own limit
 * applies: call buf_check. */
void page_write(const struct view *v, struct buf *b);

#endif
