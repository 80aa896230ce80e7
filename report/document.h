#ifndef REPORT_DOCUMENT_H
#define REPORT_DOCUMENT_H
#include "core/buf.h"
#include "db/view.h"

/* One run as one JSON document, for machines. Keys are stable:
 *   format "assay-report", version 1, assay (version), run (null: not recorded), started, finished
 * (UTC, null), subject {name, kind}, snapshot {digest, first_seen, files [{path, size_bytes,
 * sha256, state, why, weight}]}, policy {name, text}, headlines {distribution, readiness} and items
 * {formats, ...}: {status, title, text, advice} or null, verdicts [{item, rule, sum, required,
 * status, title, text, advice, facts [index]}], facts [{key, scope, state, value, unit, error,
 * source, why}]: and points [{series, scope, x, y, y_error, x_unit, y_unit, note}]: as fact_json.h
 * has them, loads [{layer, experts [..], tokens [..]}], supports [{backend, kind, entry, hardware,
 * status, condition, source, as_of}]. compact: on one line. Ends in a newline. */
void document_write(const struct view *v, bool compact, struct buf *b);

#endif
