#ifndef CORE_JSONSCAN_H
#define CORE_JSONSCAN_H
#include "core/err.h"
#include <stddef.h>

/* The strict door before cJSON: RFC 8259 to the letter, without recursion and without memory.
 * Private to core/json.c. The text has no byte order mark. 0 and the number of values if
 * text[0..bytes) is one JSON value with nothing but white space around it; else ERR_FORMAT or, past
 * a limit of json.h, ERR_LIMIT, with line and column. Keys that come twice are not its business. */
int jsonscan_check(const char *text, size_t bytes, size_t *ret_values, struct err *e);

#endif
