#ifndef CORE_TEXT_H
#define CORE_TEXT_H
#include "core/buf.h"
#include "core/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Words to numbers. All reject an empty text, a sign, trailing text, a fraction that is not whole
 * in the base unit or has over 19 digits, and overflow, with ERR_USAGE and the text in the message.
 */

/* Decimal digits only. */
int text_parse_u64(const char *s, uint64_t *ret, struct err *e);

/* Bytes: a number, optionally with a fraction, and a unit. K M G T (also KiB MiB GiB TiB) count in
 * 1024, kB MB GB TB in 1000, B or nothing in 1. "4G" is 4,294,967,296, "1.5M" is 1,572,864. */
int text_parse_bytes(const char *s, uint64_t *ret, struct err *e);

/* Tokens of context: a number, optionally with a fraction, and K or M (or k, m), which count in
 * 1024 as context lengths do: "128K" is 131,072, "1M" is 1,048,576. */
int text_parse_tokens(const char *s, uint64_t *ret, struct err *e);

/* A duration in ns: a number, optionally with a fraction, and ns, us, ms, s, m or h. "60s". A
 * number without a unit is an error, except 0. */
int text_parse_duration_ns(const char *s, uint64_t *ret, struct err *e);

#define TEXT_NUMBER_BYTES 40

/* Numbers to words, into the caller's array, which they return. */

/* "1,559,965,606,912" */
const char *text_count(uint64_t n, char ret[TEXT_NUMBER_BYTES]);
/* Three digits in decimal units: "1.56 TB", "27.6 kB", "512 B". Rounded; print the exact count
 * beside it where it matters. */
const char *text_bytes(uint64_t bytes, char ret[TEXT_NUMBER_BYTES]);
/* "1M", "128K", "5000": the shortest exact form, as text_parse_tokens reads it. */
const char *text_tokens(uint64_t tokens, char ret[TEXT_NUMBER_BYTES]);
/* Three digits: "1.84 ms", "412 ns", "2.5 s", "3.2 min", "7.5 h"; "unknown" for NaN. */
const char *text_duration(double ns, char ret[TEXT_NUMBER_BYTES]);
/* Significant digits (1 to 17), without trailing zeros, and without an exponent where
 * 1e-4 <= |x| < 1e7; "unknown" for NaN, "infinite" for infinity. */
const char *text_real(double x, int digits, char ret[TEXT_NUMBER_BYTES]);

/* The character at the start of the n bytes: its code point to ret, its bytes (1 to 4) returned; 0
 * if n is 0 or no valid character stands there. */
size_t text_utf8_next(const void *bytes, size_t n, uint32_t *ret);

/* True if the n bytes are UTF-8 as RFC 3629 has it: no overlong forms, no surrogates. */
bool text_utf8_valid(const void *bytes, size_t n);

/* Appends s with & < > " ' as entities; bytes that are not UTF-8 and control characters other than
 * newline and tab as U+FFFD. */
void text_escape_html(struct buf *b, const char *s);

/* True for a character that may stand on a terminal as it is: false for control characters, DEL, C1
 * and those that reorder what stands beside them, U+202E and the like (Unicode TR 9). */
bool text_is_plain(uint32_t c);

/* Appends s fit for a terminal or a log line: control characters, DEL, C1, bidirectional controls
 * and bytes that are not UTF-8 as \xNN, backslash as \\ . */
void text_escape_plain(struct buf *b, const char *s);

/* The same, but a backslash stays as it is: for a line whose parts are escaped already. */
void text_escape_line(struct buf *b, const char *s);

/* s through text_escape_plain, cut to the array with "..." where it does not fit: for names from
 * outside inside an error message. Returns ret. */
const char *text_plain(const char *s, char *ret, size_t ret_bytes);

/* n bytes as 2n lowercase hex digits and a NUL. */
void text_hex(const uint8_t *bytes, size_t n, char *ret);

/* True if s is exactly 2n lowercase hex digits; the bytes go to ret. */
bool text_unhex(const char *s, uint8_t *ret, size_t n);

bool text_starts(const char *s, const char *prefix);
bool text_ends(const char *s, const char *suffix);

#endif
