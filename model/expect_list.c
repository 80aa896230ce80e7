#include "model/expect_list.h"
#include "core/text.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct expect *expect_list_add(struct expect_list *l, enum quant_class class, uint64_t rows,
                               uint64_t cols, uint64_t taps, const char *fmt, ...)
{
    assert(l->count < EXPECT_ITEMS_MAX);
    struct expect *x = &l->items[l->count++];
    *x = (struct expect){.class = class, .copies = 1, .copies_active = 1, .shape = {rows}};
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(x->name, sizeof x->name, fmt, ap);
    va_end(ap);
    assert(n > 0 && (size_t)n < sizeof x->name);
    x->dims = 1;
    if (cols)
        x->shape[x->dims++] = cols;
    if (taps)
        x->shape[x->dims++] = taps;
    x->elements = rows * (cols ? cols : 1) * (taps ? taps : 1);
    x->role = text_ends(x->name, ".weight") ? MODULE_WEIGHT
              : text_ends(x->name, ".bias") ? MODULE_BIAS
                                            : MODULE_PLAIN;
    x->base = (size_t)n - (x->role == MODULE_WEIGHT ? strlen(".weight")
                           : x->role == MODULE_BIAS ? strlen(".bias")
                                                    : 0);
    const char *star = strchr(x->name, '*');
    x->star = star ? (size_t)(star - x->name) : 0;
    return x;
}

void expect_list_matrix(struct expect_list *l, enum quant_class class, const char *dir,
                        const char *name, uint64_t rows, uint64_t cols)
{
    expect_list_add(l, class, rows, cols, 0, "%s.%s.weight", dir, name);
}

void expect_list_vector(struct expect_list *l, const char *dir, const char *name, uint64_t n)
{
    expect_list_add(l, QUANT_NORMS, n, 0, 0, "%s.%s", dir, name);
}
