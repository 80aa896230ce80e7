#include "audit/tables.h"
#include "core/text.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct fact *known(const struct fact_list *l, enum fact_key key, const char *scope)
{
    const struct fact *f = fact_list_find(l, key, scope);

    return f && f->state == FACT_KNOWN ? f : NULL;
}

static const char *words(const struct fact_list *l, enum fact_key key, const char *scope, char *ret,
                         size_t bytes)
{
    const struct fact *f = fact_list_find(l, key, scope);
    char raw[512];

    if (!f || f->state == FACT_ABSENT)
        return "-";
    return text_plain(fact_words(f, raw, sizeof(raw)), ret, bytes);
}

/* --- stress ----------------------------------------------------------------------------------- */

static const struct fact_point *point(const struct fact_list *l, const char *series,
                                      const char *scope, double x)
{
    for (size_t i = 0; i < l->point_count; i++) {
        const struct fact_point *p = &l->points[i];
        if (p->x == x && !strcmp(p->series, series) && !strcmp(p->scope, scope))
            return p;
    }
    return NULL;
}

static const char *bytes_of(const struct fact_point *p, char ret[TEXT_NUMBER_BYTES])
{
    return p && !isnan(p->y) ? text_count((uint64_t)p->y, ret) : "-";
}

static const char *time_of(const struct fact_point *p, char *ret, size_t size)
{
    char y[TEXT_NUMBER_BYTES], spread[TEXT_NUMBER_BYTES];

    if (!p || isnan(p->y))
        return "-";
    snprintf(ret, size, "%s ± %s", text_duration(p->y, y), text_duration(p->y_error, spread));
    return ret;
}

static void print_rung(const struct fact_list *l, const char *kind, const struct fact_point *rung)
{
    const struct fact_point *measured = point(l, "cache.measured", kind, rung->x);
    const struct fact_point *decode = point(l, "decode.measured", kind, rung->x);
    const struct fact_point *floor = point(l, "decode.floor", kind, rung->x);
    char x[TEXT_NUMBER_BYTES], predicted[TEXT_NUMBER_BYTES], seen[TEXT_NUMBER_BYTES];
    char time[96], least[TEXT_NUMBER_BYTES], note[200];
    const struct fact_point *missing = decode && decode->note[0] ? decode : measured;

    printf("  %8s %18s %18s ", text_tokens((uint64_t)rung->x, x), bytes_of(rung, predicted),
           bytes_of(measured, seen));
    printf(" %22s %10s", time_of(decode, time, sizeof(time)),
           floor && !isnan(floor->y) ? text_duration(floor->y, least) : "-");
    if (missing && missing->note[0])
        printf("  %s", text_plain(missing->note, note, sizeof(note)));
    putchar('\n');
}

static void print_kind(const struct fact_list *l, const char *kind)
{
    char a[160], b[160], c[160], d[160];

    printf("\n%s\n  %8s %18s %18s  %22s %10s\n", kind, "context", "predicted bytes",
           "measured bytes", "decode, one layer", "floor");
    for (size_t i = 0; i < l->point_count; i++)
        if (!strcmp(l->points[i].series, "cache.predicted") && !strcmp(l->points[i].scope, kind))
            print_rung(l, kind, &l->points[i]);
    printf("  cache growth   expected %s, found %s\n",
           words(l, FACT_STRESS_GROWTH_EXPECTED, kind, a, sizeof(a)),
           words(l, FACT_STRESS_GROWTH, kind, b, sizeof(b)));
    if (known(l, FACT_STRESS_CACHE_SLOPE, kind))
        printf("  cache fit      %s, constant %s\n",
               words(l, FACT_STRESS_CACHE_SLOPE, kind, c, sizeof(c)),
               words(l, FACT_STRESS_CACHE_CONSTANT, kind, d, sizeof(d)));
    printf("  decode growth  %s\n", words(l, FACT_STRESS_DECODE_GROWTH, kind, a, sizeof(a)));
    printf("  decode rate    %s, kernel %s\n",
           words(l, FACT_STRESS_DECODE_RATE, kind, c, sizeof(c)),
           words(l, FACT_STRESS_VARIANT, kind, b, sizeof(b)));
    if (known(l, FACT_STRESS_LIMIT, kind))
        printf("  ended          %s\n", words(l, FACT_STRESS_LIMIT, kind, a, sizeof(a)));
}

/* What unpacking the stored formats takes; nothing where all are plain. */
static void print_dequant(const struct fact_list *l)
{
    char text[512];

    for (size_t i = 0; i < l->count; i++) {
        const struct fact *f = &l->items[i];
        if (f->state == FACT_ABSENT ||
            (f->key != FACT_FORMAT_DEQUANT_RATE && f->key != FACT_FORMAT_DEQUANT_LOAD))
            continue;
        printf("%-14s %s: %s\n", f->key == FACT_FORMAT_DEQUANT_RATE ? "unpacking" : "adds to load",
               f->scope, fact_words(f, text, sizeof(text)));
    }
}

void tables_print_stress(const struct fact_list *l)
{
    char text[512];

    printf("target         %s\n", words(l, FACT_STRESS_TARGET, NULL, text, sizeof(text)));
    printf("read bandwidth %s, one thread\n",
           words(l, FACT_STRESS_BANDWIDTH, "", text, sizeof(text)));
    printf("counters       %s\n", words(l, FACT_STRESS_COUNTERS, NULL, text, sizeof(text)));
    print_dequant(l);
    for (size_t i = 0; i < l->count; i++)
        if (l->items[i].key == FACT_STRESS_GROWTH_EXPECTED && l->items[i].scope[0])
            print_kind(l, l->items[i].scope);
    puts(
        "\nCache: all layers of the kind, one sequence. Decode: one layer, one token, median ± MAD."
        "\nFloor: the bytes that must be read over the read bandwidth of this run; none where they"
        "\nfit the processor's cache.");
}

/* --- balance ---------------------------------------------------------------------------------- */

static const char *real_of(const struct fact_list *l, enum fact_key key, const char *scope,
                           char ret[TEXT_NUMBER_BYTES])
{
    const struct fact *f = known(l, key, scope);

    return f ? text_real(f->x, 3, ret) : "?";
}

static void print_layer(const struct fact_list *l, const char *scope)
{
    char a[TEXT_NUMBER_BYTES], b[TEXT_NUMBER_BYTES], c[TEXT_NUMBER_BYTES], d[TEXT_NUMBER_BYTES];
    char fa[TEXT_NUMBER_BYTES], fb[TEXT_NUMBER_BYTES];
    const struct fact *unused = known(l, FACT_BALANCE_UNUSED, scope);

    printf("  %-10s %8s (%s) %8s (%s) %10s %8s", scope, real_of(l, FACT_BALANCE_MAX_MEAN, scope, a),
           real_of(l, FACT_BALANCE_MAX_MEAN_FLOOR, scope, fa),
           real_of(l, FACT_BALANCE_CV, scope, b), real_of(l, FACT_BALANCE_CV_FLOOR, scope, fb),
           real_of(l, FACT_BALANCE_ENTROPY, scope, c), real_of(l, FACT_BALANCE_GINI, scope, d));
    if (unused)
        printf(" %8lld\n", (long long)unused->i);
    else
        puts("        ?");
}

void tables_print_balance(const struct fact_list *l)
{
    char text[512];

    printf("source  %s\n", words(l, FACT_BALANCE_SOURCE, NULL, text, sizeof(text)));
    if (!known(l, FACT_BALANCE_SOURCE, NULL))
        return;
    printf("load    %s in each layer", words(l, FACT_BALANCE_TOKENS, NULL, text, sizeof(text)));
    printf(", %s an expert\n\n",
           words(l, FACT_BALANCE_TOKENS_PER_EXPERT, NULL, text, sizeof(text)));
    printf("  %-10s %15s %15s %10s %8s %8s\n", "", "max/mean", "CV", "entropy", "Gini", "unused");
    for (size_t i = 0; i < l->count; i++)
        if (l->items[i].key == FACT_BALANCE_MAX_MEAN)
            print_layer(l, l->items[i].scope);
    puts("\nIn brackets: what perfectly even routing gives by chance. worst: each figure's worst\n"
         "layer.");
}

/* --- coverage --------------------------------------------------------------------------------- */

/* The scopes of support facts are "row|column"; column is "backend" or "backend|hardware". */
static const char *column_of(const char *scope)
{
    const char *bar = strchr(scope, '|');

    return bar ? bar + 1 : "";
}

static bool same_row(const char *a, const char *b)
{
    size_t n = strcspn(a, "|");

    return n == strcspn(b, "|") && !memcmp(a, b, n);
}

static const char *cell(const struct fact *f)
{
    return f->state == FACT_KNOWN ? f->text : fact_state_name(f->state);
}

static void print_matrix(const struct fact_list *l, enum fact_key key, const char *corner)
{
    const struct fact *row = NULL, *first = NULL;

    for (size_t i = 0; i < l->count; i++) {
        const struct fact *f = &l->items[i];
        if (f->key != key)
            continue;
        if (!first)
            first = f;
        if (first == f) { /* the head: the columns of the first row */
            printf("\n%-28s", corner);
            for (size_t k = i; k < l->count; k++)
                if (l->items[k].key == key && same_row(l->items[k].scope, f->scope))
                    printf(" %-16s", column_of(l->items[k].scope));
        }
        if (!row || !same_row(row->scope, f->scope))
            printf("\n  %-26.*s", (int)strcspn(f->scope, "|"), f->scope);
        printf(" %-16s", cell(f));
        row = f;
    }
    if (first)
        puts("");
}

void tables_print_coverage(const struct fact_list *l)
{
    char why[400];
    bool any = false;

    print_matrix(l, FACT_FORMAT_SUPPORT, "formats");
    print_matrix(l, FACT_OPERATOR_SUPPORT, "operators");
    for (size_t i = 0; i < l->count; i++) {
        const struct fact *f = &l->items[i];
        if ((f->key != FACT_FORMAT_SUPPORT && f->key != FACT_OPERATOR_SUPPORT) ||
            f->state != FACT_UNKNOWN)
            continue;
        if (!any)
            puts("\nnot known");
        any = true;
        printf("  %s: %s\n", f->scope, text_plain(f->why, why, sizeof(why)));
    }
    puts("\nEach cell stands for a dated row of the support tables; --json names row and source.");
}
