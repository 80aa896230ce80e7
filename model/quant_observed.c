#include "model/quant.h"
#include "model/expect.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void quant_observed_add(struct quant_observed *o, enum quant_class c, const char *name,
                        uint64_t tensors, uint64_t bytes)
{
    size_t i = 0, n = o->classes[c].format_count;
    struct quant_share *s = o->classes[c].formats;
    while (i < n && strcmp(s[i].name, name))
        i++;
    if (i == n && n + 1 >= QUANT_FORMATS_MAX && strcmp(name, "unknown")) {
        /* the last place is for all that find none */
        quant_observed_add(o, c, "unknown", tensors, bytes);
        return;
    }
    if (i == n) {
        snprintf(s[i].name, sizeof s[i].name, "%s", name);
        o->classes[c].format_count++;
    }
    s[i].tensors += tensors;
    s[i].bytes += bytes;
    o->classes[c].tensors += tensors;
    o->classes[c].bytes += bytes;
}

static int by_bytes(const void *a, const void *b)
{
    const struct quant_share *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return strcmp(x->name, y->name);
}

void quant_observed_sort(struct quant_observed *o)
{
    for (unsigned c = 0; c < QUANT_CLASSES; c++)
        qsort(o->classes[c].formats, o->classes[c].format_count, sizeof *o->classes[c].formats,
              by_bytes);
}

static void count(struct expect_finder *f, const struct module *x, struct quant_observed *o)
{
    char format[MODULE_FORMAT_BYTES];
    struct expect_hit hit;
    const struct tensor *t = module_data(x), *bias = x->role[MODULE_BIAS];
    uint64_t bytes = x->bytes;
    size_t tensors = x->tensors;
    if (bias && bias != t) { /* a vector of its own, beside the matrix */
        struct module alone = {.name = x->name, .module_bytes = x->module_bytes};
        alone.role[MODULE_BIAS] = bias;
        expect_find(f, x->name, x->module_bytes, MODULE_BIAS, &hit);
        quant_observed_add(o, expect_class(&hit, x->name, x->module_bytes),
                           module_format(&alone, 0, format), 1, bias->bytes);
        bytes -= bias->bytes;
        tensors--;
    }
    enum module_role role = t && x->role[MODULE_PLAIN] == t  ? MODULE_PLAIN
                            : t && x->role[MODULE_BIAS] == t ? MODULE_BIAS
                                                             : MODULE_WEIGHT;
    expect_find(f, x->name, x->module_bytes, role, &hit);
    module_format(x, hit.item ? hit.item->elements * (hit.item->joint ? hit.item->copies : 1) : 0,
                  format);
    quant_observed_add(o, expect_class(&hit, x->name, x->module_bytes), format, tensors, bytes);
}

int quant_observed_of(const struct model *m, const struct inventory *inv,
                      struct quant_observed *ret, struct err *e)
{
    struct quant_observed *o = mem_alloc(1, sizeof *o);
    struct expect_finder *f = mem_alloc(1, sizeof *f);
    struct module x;
    (void)e;
    expect_finder_init(f, m);
    for (size_t at = 0; module_next(inv, &at, &x);)
        count(f, &x, o);
    quant_observed_sort(o);
    *ret = *o;
    free(f);
    free(o);
    return 0;
}

const char *quant_observed_names(const struct quant_observed *o, enum quant_class c,
                                 char ret[QUANT_NAMES_BYTES])
{
    size_t n = 0;
    ret[0] = '\0';
    /* QUANT_FORMATS_MAX names of QUANT_NAME_BYTES fit. */
    for (size_t i = 0; i < o->classes[c].format_count; i++)
        n += (size_t)snprintf(ret + n, QUANT_NAMES_BYTES - n, "%s%s", i ? "+" : "",
                              o->classes[c].formats[i].name);
    return ret;
}
