#ifndef CORE_JSONSCAN_H
#define CORE_JSONSCAN_H
#include "core/err.h"
#include <stdbool.h>
#include <stddef.h>

/* The strict door before cJSON: RFC 8259 to the letter, without recursion and without memory.
 * Private to core/json.c. The text has no byte order mark. 0, the number of values, and how many of
 * them are the words NaN, Infinity or -Infinity (only where take_words allows them), if
 * text[0..bytes) is one value with nothing but white space around it; else ERR_FORMAT or, past a
 * limit of json.h, ERR_LIMIT, with line and column. Keys that come twice are not its business. */
int jsonscan_check(const char *text, size_t bytes, bool take_words, size_t *ret_values,
                   size_t *ret_words, struct err *e);

#endif
