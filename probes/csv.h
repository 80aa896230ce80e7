#ifndef PROBES_CSV_H
#define PROBES_CSV_H
#include "core/err.h"
#include <stdbool.h>
#include <stddef.h>

/* Lines of comma-separated fields, strict as RFC 4180 has them: LF or CRLF, quotes doubled inside
 * quotes; and stricter: UTF-8, no control characters and so no line breaks inside a field, no empty
 * lines. */

#define CSV_FIELD_BYTES_MAX 1000 /* a longer field is an unclosed quote */

struct csv {
    const char *p, *end, *line_start;
    size_t line;        /* counted from 1 */
    const char *origin; /* for messages; lives as long as c */
};

void csv_init(struct csv *c, const char *text, size_t bytes, const char *origin);
bool csv_ended(const struct csv *c);

/* Takes the line if it is exactly `text` and returns true; otherwise takes nothing. */
bool csv_take_line(struct csv *c, const char *text);

/* Reads one line of exactly n fields. ERR_FORMAT with origin, line and, where it helps, column in
 * bytes; ERR_LIMIT for a field over CSV_FIELD_BYTES_MAX. */
int csv_read(struct csv *c, char (*fields)[CSV_FIELD_BYTES_MAX + 1], int n, struct err *e);

#endif
