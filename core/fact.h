#ifndef CORE_FACT_H
#define CORE_FACT_H
#include "core/err.h"
#include "core/mem.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Facts: what producers observe, what rules judge, what the report prints. */

enum fact_type { FACT_INT, FACT_REAL, FACT_TEXT };

/* known: looked, and it is so. absent: looked, and there is none. unknown: could not look; why says
 * what stood in the way. */
enum fact_state { FACT_KNOWN, FACT_ABSENT, FACT_UNKNOWN };

/* Every key stands once, in core/fact_keys.h: X(enumerator, name, type, unit, meaning). */
enum fact_key {
#define X(enumerator, name, type, unit, meaning) FACT_##enumerator,
#include "core/fact_keys.h"
#undef X
    FACT_KEYS
};

struct fact {
    enum fact_key key;
    const char *scope; /* which layer kind, file, backend; "" for the whole subject. Never NULL */
    enum fact_state state;
    int64_t i;          /* value of a FACT_INT */
    double x;           /* value of a FACT_REAL */
    double error;       /* of a FACT_REAL: half width of the spread in the same unit (a MAD, a
                           standard error); 0 when exact */
    const char *text;   /* value of a FACT_TEXT */
    const char *source; /* where it was seen: "config.json", "tensor headers", "measured" */
    const char *why;    /* of an unknown fact: what stood in the way, and what to do */
};

/* One point of a curve. */
struct fact_point {
    const char *series;   /* "cache.measured", "cache.predicted", "decode.measured" ... */
    const char *scope;    /* mixer kind */
    double x, y, y_error; /* y_error: half width of the spread, 0 when exact */
    const char *x_unit, *y_unit;
    const char *note; /* "" or why the point is missing; then y is NaN */
};

/* Tokens that one expert of one layer got. */
struct fact_load {
    uint32_t layer, expert;
    uint64_t tokens;
};

/* Who listens: the database, a test's array, --json. Producers hand over what they find and do not
 * know. The strings live for the call only. A non-zero return ends the producer with that error. */
struct fact_sink {
    int (*put)(void *ctx, const struct fact *f, struct err *e);
    int (*put_point)(void *ctx, const struct fact_point *p, struct err *e); /* NULL: dropped */
    int (*put_load)(void *ctx, const struct fact_load *l, struct err *e);   /* NULL: dropped */
    void *ctx;
};

/* The table's row for a key. */
const char *fact_name(enum fact_key key); /* "model.params.total" */
enum fact_type fact_type(enum fact_key key);
const char *fact_unit(enum fact_key key);    /* "bytes", "tokens", "" */
const char *fact_meaning(enum fact_key key); /* one line */
/* False if no key has that name. */
bool fact_find(const char *name, enum fact_key *ret);
const char *fact_state_name(enum fact_state state); /* "known", "absent", "unknown" */

/* Shorthands for producers. The key's declared type must match (asserted). */
int fact_put_int(const struct fact_sink *s, enum fact_key key, const char *scope, int64_t value,
                 const char *source, struct err *e);
int fact_put_real(const struct fact_sink *s, enum fact_key key, const char *scope, double value,
                  double error, const char *source, struct err *e);
int fact_put_text(const struct fact_sink *s, enum fact_key key, const char *scope,
                  const char *value, const char *source, struct err *e);
int fact_put_absent(const struct fact_sink *s, enum fact_key key, const char *scope,
                    const char *source, struct err *e);
int fact_put_unknown(const struct fact_sink *s, enum fact_key key, const char *scope,
                     const char *why, struct err *e);

/* Facts kept in memory, with copies of their strings ("" for NULL): for rules, tests and --json. */
struct fact_list {
    struct fact *items;
    size_t count, cap;
    struct fact_point *points;
    size_t point_count, point_cap;
    struct fact_load *loads;
    size_t load_count, load_cap;
    struct mem_arena arena;
};
void fact_list_init(struct fact_list *l);
void fact_list_release(struct fact_list *l);
struct fact_sink fact_list_sink(struct fact_list *l);
/* The first fact of that key and scope (NULL scope: any scope), or NULL. */
const struct fact *fact_list_find(const struct fact_list *l, enum fact_key key, const char *scope);
/* The value as words with its unit and error: "27,648 bytes/token", "1.31 ± 0.02 x", "12.3 GB/s",
 * "absent", "unknown: ...". Text is not escaped; what does not fit is cut with "...". Returns ret.
 */
const char *fact_words(const struct fact *f, char *ret, size_t ret_bytes);

#endif
