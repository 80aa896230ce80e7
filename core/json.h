#ifndef CORE_JSON_H
#define CORE_JSON_H
#include "core/buf.h"
#include "core/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* cJSON behind a strict door. Used for documents of moderate size (config, policy, index metadata);
 * safetensors headers and shard indexes have the exact parser of model/jsontok. cJSON takes
 * duplicate keys, bad UTF-8, text after the value and numbers such as 01; json_parse does not. */

struct cJSON;

#define JSON_DOCUMENT_BYTES_MAX (64u << 20) /* configs of mixed-precision models have 3 MB */
#define JSON_DEPTH_MAX 64                   /* cJSON recurses; real configs nest 7 deep */
#define JSON_VALUES_MAX (4u << 20)          /* cJSON takes 80 bytes for each, even for a 0 */
#define JSON_NUMBER_BYTES_MAX 63            /* cJSON reads no more of a number */

/* What is legal nowhere and common in the wild: a byte order mark at the start, and the words NaN,
 * Infinity and -Infinity that Python's json module writes (NVIDIA's Nemotron configs have them). */
enum { JSON_ODD_BOM = 1 << 0, JSON_ODD_WORDS = 1 << 1 };

/* Parses text[0..bytes) as one JSON value. ret_odd NULL: for our own documents; the two oddities
 * are ERR_FORMAT. Otherwise they are taken and reported in *ret_odd as a mask: the mark is skipped,
 * the words become null. ERR_FORMAT, with line and column where there is one, for anything else
 * that RFC 8259 forbids, for a key twice in one object (also when equal only after unescaping; the
 * key is named), for \u0000 and for half a surrogate pair. ERR_LIMIT past the limits above, for a
 * number past the range of a double, and when there is no memory. *ret is set on success only; free
 * with json_free. */
int json_parse(const char *text, size_t bytes, struct cJSON **ret, unsigned *ret_odd,
               struct err *e);
void json_free(struct cJSON *doc);

/* The member of that name, case-sensitive; NULL if obj is NULL or no object, or has none. Walks the
 * list: do not call it in a loop over a large object, walk that with json_first/json_next. */
const struct cJSON *json_get(const struct cJSON *obj, const char *key);
const struct cJSON *json_first(const struct cJSON *container); /* NULL if empty or no container */
const struct cJSON *json_next(const struct cJSON *item);
const char *json_key(const struct cJSON *item);
size_t json_count(const struct cJSON *container);

enum json_kind {
    JSON_NULL,
    JSON_BOOL,
    JSON_NUMBER,
    JSON_TEXT,
    JSON_ARRAY,
    JSON_OBJECT,
    JSON_MISSING /* the kind of NULL */
};
enum json_kind json_kind(const struct cJSON *item);
const char *json_kind_name(enum json_kind kind); /* "a number", "an object", "missing" */

/* Values. Each returns false, leaving *ret alone, if item is NULL or of another kind. */
bool json_text(const struct cJSON *item, const char **ret);
bool json_bool(const struct cJSON *item, bool *ret);
bool json_real(const struct cJSON *item, double *ret);
/* A whole number from 0 to 2^53 - 1; 1e3 and 4.0 count as whole. 2^53 itself is refused, since
 * 2^53 + 1 reads as the same double. */
bool json_u64(const struct cJSON *item, uint64_t *ret);

/* Writing: build with these, print, free. Each add appends to an object (key not NULL) or an array
 * (key NULL) and returns what it added. Text that is not UTF-8 is added with U+FFFD in place of the
 * bad bytes. NaN and infinity become null. Keys are the caller's to keep apart. */
struct cJSON *json_object(void);
struct cJSON *json_array(void);
struct cJSON *json_add_object(struct cJSON *to, const char *key);
struct cJSON *json_add_array(struct cJSON *to, const char *key);
struct cJSON *json_add_text(struct cJSON *to, const char *key, const char *value); /* NULL: null */
struct cJSON *json_add_u64(struct cJSON *to, const char *key, uint64_t value);     /* exact */
struct cJSON *json_add_i64(struct cJSON *to, const char *key, int64_t value);      /* exact */
struct cJSON *json_add_real(struct cJSON *to, const char *key, double value);
struct cJSON *json_add_bool(struct cJSON *to, const char *key, bool value);
struct cJSON *json_add_null(struct cJSON *to, const char *key);
/* Appends the document, indented by two spaces (compact: on one line), with a final newline. */
void json_print(const struct cJSON *doc, bool compact, struct buf *b);

#endif
