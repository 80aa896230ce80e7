#include "core/fact.h"
#include "core/text.h"
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    enum fact_type type;
    const char *unit, *meaning;
} keys[FACT_KEYS] = {
#define X(enumerator, name, type, unit, meaning) [FACT_##enumerator] = {name, type, unit, meaning},
#include "core/fact_keys.h"
#undef X
};

const char *fact_name(enum fact_key key)
{
    assert((unsigned)key < FACT_KEYS);
    return keys[key].name;
}

enum fact_type fact_type(enum fact_key key)
{
    assert((unsigned)key < FACT_KEYS);
    return keys[key].type;
}

const char *fact_unit(enum fact_key key)
{
    assert((unsigned)key < FACT_KEYS);
    return keys[key].unit;
}

const char *fact_meaning(enum fact_key key)
{
    assert((unsigned)key < FACT_KEYS);
    return keys[key].meaning;
}

bool fact_find(const char *name, enum fact_key *ret)
{
    for (unsigned i = 0; i < FACT_KEYS; i++) {
        if (strcmp(keys[i].name, name) == 0) {
            *ret = (enum fact_key)i;
            return true;
        }
    }
    return false;
}

const char *fact_state_name(enum fact_state state)
{
    static const char *const names[] = {
        [FACT_KNOWN] = "known", [FACT_ABSENT] = "absent", [FACT_UNKNOWN] = "unknown"};

    assert((unsigned)state < sizeof(names) / sizeof(names[0]));
    return names[state];
}

/* Every string of a fact is set, so that no listener has to ask for NULL. */
static struct fact blank(enum fact_key key, const char *scope, enum fact_state state,
                         const char *source)
{
    return (struct fact){.key = key,
                         .scope = scope ? scope : "",
                         .state = state,
                         .text = "",
                         .source = source ? source : "",
                         .why = ""};
}

int fact_put_int(const struct fact_sink *s, enum fact_key key, const char *scope, int64_t value,
                 const char *source, struct err *e)
{
    struct fact f = blank(key, scope, FACT_KNOWN, source);

    assert(fact_type(key) == FACT_INT);
    f.i = value;
    return s->put(s->ctx, &f, e);
}

int fact_put_real(const struct fact_sink *s, enum fact_key key, const char *scope, double value,
                  double error, const char *source, struct err *e)
{
    struct fact f = blank(key, scope, FACT_KNOWN, source);

    assert(fact_type(key) == FACT_REAL);
    f.x = value;
    f.error = error;
    return s->put(s->ctx, &f, e);
}

int fact_put_text(const struct fact_sink *s, enum fact_key key, const char *scope,
                  const char *value, const char *source, struct err *e)
{
    struct fact f = blank(key, scope, FACT_KNOWN, source);

    assert(fact_type(key) == FACT_TEXT && value);
    f.text = value;
    return s->put(s->ctx, &f, e);
}

int fact_put_absent(const struct fact_sink *s, enum fact_key key, const char *scope,
                    const char *source, struct err *e)
{
    struct fact f = blank(key, scope, FACT_ABSENT, source);

    return s->put(s->ctx, &f, e);
}

int fact_put_unknown(const struct fact_sink *s, enum fact_key key, const char *scope,
                     const char *why, struct err *e)
{
    struct fact f = blank(key, scope, FACT_UNKNOWN, "");

    assert(why);
    f.why = why;
    return s->put(s->ctx, &f, e);
}

void fact_list_init(struct fact_list *l)
{
    *l = (struct fact_list){0};
}

void fact_list_release(struct fact_list *l)
{
    free(l->items);
    free(l->points);
    free(l->loads);
    mem_arena_release(&l->arena);
    *l = (struct fact_list){0};
}

static const char *keep(struct fact_list *l, const char *s)
{
    return s && *s ? mem_arena_strndup(&l->arena, s, strlen(s)) : "";
}

static int list_put(void *ctx, const struct fact *f, struct err *e)
{
    struct fact_list *l = ctx;

    (void)e;
    l->items = mem_grow(l->items, &l->cap, l->count + 1, sizeof(*l->items));
    struct fact *to = &l->items[l->count++];
    *to = *f;
    to->scope = keep(l, f->scope);
    to->text = keep(l, f->text);
    to->source = keep(l, f->source);
    to->why = keep(l, f->why);
    return 0;
}

static int list_put_point(void *ctx, const struct fact_point *p, struct err *e)
{
    struct fact_list *l = ctx;

    (void)e;
    l->points = mem_grow(l->points, &l->point_cap, l->point_count + 1, sizeof(*l->points));
    struct fact_point *to = &l->points[l->point_count++];
    *to = *p;
    to->series = keep(l, p->series);
    to->scope = keep(l, p->scope);
    to->x_unit = keep(l, p->x_unit);
    to->y_unit = keep(l, p->y_unit);
    to->note = keep(l, p->note);
    return 0;
}

static int list_put_load(void *ctx, const struct fact_load *load, struct err *e)
{
    struct fact_list *l = ctx;

    (void)e;
    l->loads = mem_grow(l->loads, &l->load_cap, l->load_count + 1, sizeof(*l->loads));
    l->loads[l->load_count++] = *load;
    return 0;
}

struct fact_sink fact_list_sink(struct fact_list *l)
{
    return (struct fact_sink){
        .put = list_put, .put_point = list_put_point, .put_load = list_put_load, .ctx = l};
}

const struct fact *fact_list_find(const struct fact_list *l, enum fact_key key, const char *scope)
{
    for (size_t i = 0; i < l->count; i++) {
        if (l->items[i].key == key && (!scope || strcmp(l->items[i].scope, scope) == 0))
            return &l->items[i];
    }
    return NULL;
}

/* The decimal exponent of x != 0. */
static int magnitude(double x)
{
    return (int)floor(log10(fabs(x)));
}

/* Bytes, to the nearest one: "-1,646,592". */
static void whole(double x, char ret[TEXT_NUMBER_BYTES])
{
    char count[TEXT_NUMBER_BYTES];

    text_count((uint64_t)(fabs(x) + 0.5), count);
    (void)snprintf(ret, TEXT_NUMBER_BYTES, "%s%.*s", x < 0 ? "-" : "", TEXT_NUMBER_BYTES - 2,
                   count);
}

/* A measured value shows digits down to the second digit of its error, an exact one up to nine. */
static void real_words(const struct fact *f, char ret[4 * TEXT_NUMBER_BYTES])
{
    const char *unit = fact_unit(f->key);
    char value[TEXT_NUMBER_BYTES], error[TEXT_NUMBER_BYTES];
    bool has_error = isfinite(f->error) && f->error > 0;
    int digits = 9;

    if (isnan(f->x)) {
        (void)snprintf(ret, 4 * TEXT_NUMBER_BYTES, "unknown");
        return;
    }
    if (strcmp(unit, "ratio") == 0) /* a plain number says it all */
        unit = "";

    if (has_error && isfinite(f->x) && f->x != 0) {
        digits = magnitude(f->x) - magnitude(f->error) + 2;
        digits = digits < 1 ? 1 : digits > 9 ? 9 : digits;
    }
    if (strcmp(unit, "bytes/s") == 0 && f->x >= 1000 && f->x < 1e18) {
        text_bytes((uint64_t)f->x, value);
        text_bytes((uint64_t)(has_error && f->error < 1e18 ? f->error : 0), error);
        if (has_error)
            (void)snprintf(ret, 4 * TEXT_NUMBER_BYTES, "%s/s ± %s/s", value, error);
        else
            (void)snprintf(ret, 4 * TEXT_NUMBER_BYTES, "%s/s", value);
        return;
    }
    if (text_starts(unit, "bytes") && fabs(f->x) < 1e18 &&
        (fabs(f->x) >= 1000 || (has_error && f->error >= 1000 && f->error < 1e18))) {
        whole(f->x, value);
        whole(has_error ? f->error : 0, error);
    } else {
        text_real(f->x, digits, value);
        text_real(f->error, 2, error);
    }
    (void)snprintf(ret, 4 * TEXT_NUMBER_BYTES, "%s%s%s%s%s", value, has_error ? " ± " : "",
                   has_error ? error : "", *unit ? " " : "", unit);
}

static void int_words(const struct fact *f, char ret[4 * TEXT_NUMBER_BYTES])
{
    const char *unit = fact_unit(f->key);
    char count[TEXT_NUMBER_BYTES];
    uint64_t size = f->i < 0 ? 0 - (uint64_t)f->i : (uint64_t)f->i;

    (void)snprintf(ret, 4 * TEXT_NUMBER_BYTES, "%s%s%s%s", f->i < 0 ? "-" : "",
                   text_count(size, count), *unit ? " " : "", unit);
}

const char *fact_words(const struct fact *f, char *ret, size_t ret_bytes)
{
    char number[4 * TEXT_NUMBER_BYTES];
    const char *why = f->why ? f->why : "";
    int n;

    if (f->state == FACT_UNKNOWN) {
        n = snprintf(ret, ret_bytes, "unknown%s%s", *why ? ": " : "", why);
    } else if (f->state == FACT_ABSENT) {
        n = snprintf(ret, ret_bytes, "absent");
    } else if (fact_type(f->key) == FACT_TEXT) {
        n = snprintf(ret, ret_bytes, "%s", f->text ? f->text : "");
    } else {
        if (fact_type(f->key) == FACT_REAL)
            real_words(f, number);
        else
            int_words(f, number);
        n = snprintf(ret, ret_bytes, "%s", number);
    }
    if (n >= (int)ret_bytes && ret_bytes >= 4) {
        size_t at = ret_bytes - 4; /* not within a character */
        while (at && ((unsigned char)ret[at] & 0xc0) == 0x80)
            at--;
        memcpy(ret + at, "...", 4);
    }
    return ret;
}
