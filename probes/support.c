#include "probes/support.h"
#include "core/text.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS 7

static const unsigned char formats_csv[] = {
#include "probes/format_support.csv.inc"
};
static const unsigned char operators_csv[] = {
#include "probes/operator_support.csv.inc"
};

static const struct {
    const char *name;
    int badness; /* among the words of its kind; a larger one is worse */
    bool of_kind[SUPPORT_KINDS];
} statuses[SUPPORT_STATUSES] = {
    [SUPPORT_UNKNOWN] = {"unknown", 5, {true, true}},
    [SUPPORT_NATIVE] = {"native", 0, {true, false}},
    [SUPPORT_SUPPORTED] = {"supported", 1, {true, false}},
    [SUPPORT_WEIGHT_ONLY] = {"weight_only", 2, {true, false}},
    [SUPPORT_CONVERT] = {"convert", 3, {true, false}},
    [SUPPORT_EXPAND] = {"expand", 4, {true, false}},
    [SUPPORT_REJECT] = {"reject", 6, {true, false}},
    [SUPPORT_FUSED] = {"fused", 0, {false, true}},
    [SUPPORT_PARTIAL] = {"partial", 1, {false, true}},
    [SUPPORT_COMPOSED] = {"composed", 2, {false, true}},
    [SUPPORT_NONE] = {"none", 6, {false, true}},
};

/* Words of the hardware column, each with the group that it belongs to. */
static const struct {
    const char *name, *group;
} machines[] = {
    {"sm70", "cuda"},  {"sm75", "cuda"},  {"sm80", "cuda"},  {"sm86", "cuda"},  {"sm89", "cuda"},
    {"sm90", "cuda"},  {"sm100", "cuda"}, {"sm103", "cuda"}, {"sm120", "cuda"}, {"sm121", "cuda"},
    {"cuda", ""},      {"mi300", "amd"},  {"mi355x", "amd"}, {"amd", ""},       {"x86", ""},
    {"arm", ""},       {"tpu", ""},       {"metal", ""},     {"vulkan", ""},    {"ascend", ""},
    {"intel_gpu", ""}, {"opencl", ""},    {"hexagon", ""},   {"webgpu", ""},    {"any", ""},
};
#define MACHINES (sizeof(machines) / sizeof(*machines))

/* --- from fields to a row ------------------------------------------------------------------ */

/* The position of a name in its table, or -1. */
static int status_find(enum support_kind kind, const char *name)
{
    for (int i = 0; i < SUPPORT_STATUSES; i++)
        if (statuses[i].of_kind[kind] && strcmp(statuses[i].name, name) == 0)
            return i;
    return -1;
}

bool support_has_hardware(const char *hardware)
{
    for (size_t i = 0; i < MACHINES; i++)
        if (strcmp(machines[i].name, hardware) == 0)
            return true;
    return false;
}

static bool is_number(const char *s, size_t n, int low, int high)
{
    int value = 0;

    for (size_t i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9')
            return false;
        value = value * 10 + (s[i] - '0');
    }
    return value >= low && value <= high;
}

/* YYYY, YYYY-MM or YYYY-MM-DD */
static bool is_date(const char *s)
{
    size_t n = strlen(s);

    if ((n != 4 && n != 7 && n != 10) || !is_number(s, 4, 2000, 2999))
        return false;
    if (n >= 7 && (s[4] != '-' || !is_number(s + 5, 2, 1, 12)))
        return false;
    return n < 10 || (s[7] == '-' && is_number(s + 8, 2, 1, 31));
}

/* Takes the words in front of a condition's text: class=, act= and option=. Returns NULL, or what
 * is wrong. */
static const char *condition_words(struct support_row *row, struct mem_arena *arena)
{
    const char *p = row->condition;
    bool any = false;

    for (;;) {
        size_t word = strcspn(p, " ;"), key = strcspn(p, " ;=");
        const char **slot = NULL;
        if (key >= word || key != strspn(p, "abcdefghijklmnopqrstuvwxyz_"))
            break;
        if (text_starts(p, "class="))
            slot = &row->class;
        else if (text_starts(p, "act="))
            slot = &row->act;
        else if (text_starts(p, "option="))
            slot = &row->option;
        if (!slot)
            return "a condition begins with a word that is not class=, act= or option=";
        if (*slot || word == key + 1)
            return "a condition word stands twice or has no value";
        *slot = mem_arena_strndup(arena, p + key + 1, word - key - 1);
        any = true;
        p += word;
        if (*p != ' ')
            break;
        p++;
    }
    if (any && *p != 0 && *p != ';')
        return "a semicolon is missing between the words and the text of a condition";
    return NULL;
}

static int row_of(const struct csv *c, size_t line, enum support_kind kind,
                  char fields[FIELDS][CSV_FIELD_BYTES_MAX + 1], struct mem_arena *arena,
                  struct support_row *ret, struct err *e)
{
    static const char *const names[] = {"backend",   "entry",  "hardware", "status",
                                        "condition", "source", "as_of"};
    const char *copies[FIELDS], *wrong;
    char name[80];

    for (int i = 0; i < FIELDS; i++) {
        if (!fields[i][0] && i != 4)
            return err_set(e, ERR_FORMAT, "%s, line %zu: the %s is empty", c->origin, line,
                           names[i]);
        copies[i] = mem_arena_strndup(arena, fields[i], strlen(fields[i]));
    }
    int status = status_find(kind, copies[3]);
    if (status < 0 || !support_has_hardware(copies[2]) || !is_date(copies[6])) {
        int i = !support_has_hardware(copies[2]) ? 2 : status < 0 ? 3 : 6;
        return err_set(e, ERR_FORMAT, "%s, line %zu: \"%s\" is no %s that is known", c->origin,
                       line, text_plain(copies[i], name, sizeof(name)),
                       i == 6 ? "date (YYYY, YYYY-MM or YYYY-MM-DD)" : names[i]);
    }
    *ret = (struct support_row){.backend = copies[0],
                                .entry = copies[1],
                                .hardware = copies[2],
                                .status = (enum support_status)status,
                                .condition = copies[4],
                                .source = copies[5],
                                .as_of = copies[6]};
    wrong = condition_words(ret, arena);
    if (wrong)
        return err_set(e, ERR_FORMAT, "%s, line %zu: %s", c->origin, line, wrong);
    return 0;
}

/* Takes the header line. */
static int header(struct csv *c, enum support_kind *ret, struct err *e)
{
    *ret = SUPPORT_FORMATS;
    if (csv_take_line(c, SUPPORT_FORMATS_HEADER))
        return 0;
    *ret = SUPPORT_OPERATORS;
    if (csv_take_line(c, SUPPORT_OPERATORS_HEADER))
        return 0;
    return err_set(e, ERR_FORMAT,
                   "%s, line 1: must be " SUPPORT_FORMATS_HEADER " or " SUPPORT_OPERATORS_HEADER,
                   c->origin);
}

/* All rows behind the header. On failure the caller frees *rows all the same. */
static int rows_of(struct csv *c, enum support_kind kind, struct mem_arena *arena,
                   struct support_row **rows, size_t *count, struct err *e)
{
    char(*fields)[CSV_FIELD_BYTES_MAX + 1] = mem_alloc(FIELDS, sizeof(*fields));
    size_t cap = 0;
    int rc = 0;

    while (!rc && !csv_ended(c)) {
        size_t line = c->line;
        rc = csv_read(c, fields, FIELDS, e);
        if (!rc && *count == SUPPORT_ROWS_MAX)
            rc = err_set(e, ERR_LIMIT, "%s: more rows than the limit of %d", c->origin,
                         SUPPORT_ROWS_MAX);
        if (rc)
            break;
        *rows = mem_grow(*rows, &cap, *count + 1, sizeof(**rows));
        rc = row_of(c, line, kind, fields, arena, &(*rows)[*count], e);
        *count += !rc;
    }
    free(fields);
    return rc;
}

/* --- the tables ---------------------------------------------------------------------------- */

int support_add(struct support *s, const char *text, size_t bytes, const char *origin,
                struct err *e)
{
    struct csv c;
    char name[256];
    struct support_row *rows = NULL;
    enum support_kind kind = SUPPORT_FORMATS;
    size_t count = 0;

    text_plain(origin, name, sizeof(name));
    csv_init(&c, text, bytes, mem_arena_strndup(&s->arena, name, strlen(name)));
    if (bytes > SUPPORT_TEXT_BYTES_MAX)
        return err_set(e, ERR_LIMIT, "%s: %zu bytes are over the limit of %zu for a table", name,
                       bytes, SUPPORT_TEXT_BYTES_MAX);
    int rc = header(&c, &kind, e);
    if (!rc)
        rc = rows_of(&c, kind, &s->arena, &rows, &count, e);
    if (rc) {
        free(rows);
        return rc;
    }
    struct support_table *t = &s->tables[kind];
    size_t cap = count;
    rows = mem_grow(rows, &cap, count + t->count + 1, sizeof(*rows));
    for (size_t i = 0; i < count; i++) {
        rows[i].layer = t->layers;
        rows[i].origin = c.origin;
    }
    if (t->count > 0)
        memcpy(rows + count, t->rows, t->count * sizeof(*rows));
    free(t->rows);
    t->rows = rows;
    t->count += count;
    t->layers++;
    return 0;
}

int support_init(struct support *s, struct err *e)
{
    *s = (struct support){0};
    int rc =
        support_add(s, (const char *)formats_csv, sizeof(formats_csv), "format_support.csv", e);
    if (!rc)
        rc = support_add(s, (const char *)operators_csv, sizeof(operators_csv),
                         "operator_support.csv", e);
    if (rc)
        support_release(s);
    return rc;
}

void support_release(struct support *s)
{
    for (int k = 0; k < SUPPORT_KINDS; k++)
        free(s->tables[k].rows);
    mem_arena_release(&s->arena);
    *s = (struct support){0};
}

/* --- asking -------------------------------------------------------------------------------- */

struct question {
    const char *backend, *hardware, *class, *act;
    const char *entry; /* entry_bytes of it: a part of a joined name */
    size_t entry_bytes;
};

/* What of a row fits a question: larger is closer. */
struct match {
    const struct support_row *row;
    int hardware;   /* 2 the same, 1 its group, 0 any */
    int act, class; /* 1 if the row names the one that was asked for */
    bool perhaps;   /* the row names one, and the question does not know which it is */
};

/* 2, 1, 0 as above; -1 if the row speaks of other hardware. */
static int hardware_fit(const char *row, const char *asked)
{
    if (strcmp(row, asked) == 0)
        return 2;
    for (size_t i = 0; i < MACHINES; i++)
        if (strcmp(machines[i].name, asked) == 0 && strcmp(machines[i].group, row) == 0)
            return 1;
    return strcmp(row, "any") == 0 ? 0 : -1;
}

static bool entry_fits(const char *row, const char *name, size_t n)
{
    size_t len = strlen(row);

    if (len > 0 && row[len - 1] == '*')
        return n >= len - 1 && memcmp(row, name, len - 1) == 0;
    return n == len && memcmp(row, name, n) == 0;
}

static bool fits(const struct support_row *row, const struct question *q, struct match *ret)
{
    *ret = (struct match){.row = row, .hardware = hardware_fit(row->hardware, q->hardware)};
    if (ret->hardware < 0 || strcmp(row->backend, q->backend) != 0 ||
        !entry_fits(row->entry, q->entry, q->entry_bytes))
        return false;
    if ((row->act && q->act && strcmp(row->act, q->act) != 0) ||
        (row->class && q->class && strcmp(row->class, q->class) != 0))
        return false;
    ret->act = row->act && q->act;
    ret->class = row->class && q->class;
    ret->perhaps = (row->act && !q->act) || (row->class && !q->class);
    return true;
}

/* True if x decides and not y; y when they are equal. */
static bool outranks(const struct match *x, const struct match *y)
{
    const struct support_row *a = x->row, *b = y->row;

    if (a->layer != b->layer)
        return a->layer > b->layer;
    if (!a->option != !b->option)
        return !a->option;
    if (x->act != y->act)
        return x->act > y->act;
    if (x->class != y->class)
        return x->class > y->class;
    if (x->hardware != y->hardware)
        return x->hardware > y->hardware;
    if ((a->status == SUPPORT_SUPPORTED) != (b->status == SUPPORT_SUPPORTED))
        return b->status == SUPPORT_SUPPORTED;
    return statuses[a->status].badness > statuses[b->status].badness;
}

/* True if x, which perhaps applies, would make the answer worse than y does. */
static bool worsens(const struct match *x, const struct match *y)
{
    return x->perhaps && !x->row->option && x->row->layer >= y->row->layer &&
           statuses[x->row->status].badness > statuses[y->row->status].badness;
}

/* For the list: newest layer, closest hardware, then the order of the table. */
static int for_list(const void *x, const void *y)
{
    const struct match *a = x, *b = y;

    if (a->row->layer != b->row->layer)
        return a->row->layer > b->row->layer ? -1 : 1;
    if (a->hardware != b->hardware)
        return a->hardware > b->hardware ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

/* Takes the answer to one part into ret, which keeps the worse. */
static void merge(const struct question *q, const struct match *best, size_t rows, bool first,
                  struct support_answer *ret)
{
    enum support_status status = best ? best->row->status : SUPPORT_UNKNOWN;
    char entry[64], backend[64];

    if (!first && statuses[status].badness <= statuses[ret->status].badness)
        return;
    ret->status = status;
    ret->decisive = best ? best->row : NULL;
    ret->why[0] = 0;
    if (best && status == SUPPORT_UNKNOWN) {
        snprintf(ret->why, sizeof(ret->why), "%s", best->row->condition);
    } else if (!best) {
        snprintf(entry, sizeof(entry), "%.*s", (int)(q->entry_bytes > 60 ? 60 : q->entry_bytes),
                 q->entry);
        snprintf(ret->why, sizeof(ret->why), "%s: %s on %s, hardware %s%s%s%s%s",
                 rows > 0 ? "depends on the class or activation, which is not known"
                          : "not in the table",
                 entry, text_plain(q->backend, backend, sizeof(backend)), q->hardware,
                 q->class ? ", class " : "", q->class ? q->class : "",
                 q->act ? ", activation " : "", q->act ? q->act : "");
    }
}

static void part(const struct support_table *t, const struct question *q, bool first,
                 struct support_answer *ret)
{
    struct match *found = mem_alloc(t->count + 1, sizeof(*found)), *best = NULL;
    size_t n = 0;

    for (size_t i = 0; i < t->count; i++)
        n += fits(&t->rows[i], q, &found[n]);
    qsort(found, n, sizeof(*found), for_list);
    for (size_t i = 0; i < n; i++) {
        ret->rows[ret->row_count++] = found[i].row;
        if (!found[i].perhaps && (!best || outranks(&found[i], best)))
            best = &found[i];
    }
    for (size_t i = 0; i < n && best; i++)
        if (worsens(&found[i], best))
            best = &found[i];
    merge(q, best, n, first, ret);
    free(found);
}

void support_format(const struct support *s, const char *backend, const char *format,
                    const char *hardware, const char *class, const char *act,
                    struct support_answer *ret)
{
    const struct support_table *t = &s->tables[SUPPORT_FORMATS];
    struct question q = {.backend = backend, .hardware = hardware, .class = class, .act = act};
    size_t parts = 1;

    for (const char *p = format; *p; p++)
        parts += *p == '+';
    *ret = (struct support_answer){0};
    ret->rows = mem_alloc(parts * t->count + 1, sizeof(*ret->rows));
    for (const char *p = format;; p += q.entry_bytes + 1) {
        q.entry = p;
        q.entry_bytes = strcspn(p, "+");
        part(t, &q, p == format, ret);
        if (p[q.entry_bytes] == 0)
            break;
    }
}

void support_operator(const struct support *s, const char *backend, const char *op,
                      const char *hardware, struct support_answer *ret)
{
    const struct support_table *t = &s->tables[SUPPORT_OPERATORS];
    struct question q = {
        .backend = backend, .hardware = hardware, .entry = op, .entry_bytes = strlen(op)};

    *ret = (struct support_answer){0};
    ret->rows = mem_alloc(t->count + 1, sizeof(*ret->rows));
    part(t, &q, true, ret);
}

void support_answer_release(struct support_answer *a)
{
    free(a->rows);
    *a = (struct support_answer){0};
}

const char *support_status_name(enum support_status s)
{
    assert((unsigned)s < SUPPORT_STATUSES);
    return statuses[s].name;
}

const char *support_kind_name(enum support_kind k)
{
    return k == SUPPORT_FORMATS ? "format" : "operator";
}
