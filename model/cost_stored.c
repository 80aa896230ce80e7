#include "model/cost.h"
#include "core/text.h"
#include "model/expect.h"
#include "model/family.h"
#include <stdlib.h>
#include <string.h>

/* What the tensors add up to, once the numbers of packed ones are counted as numbers. */

static bool integer(enum dtype t)
{
    switch (t) {
    case DTYPE_BOOL:
    case DTYPE_U8:
    case DTYPE_I8:
    case DTYPE_I16:
    case DTYPE_U16:
    case DTYPE_I32:
    case DTYPE_U32:
    case DTYPE_I64:
    case DTYPE_U64: return true;
    default: return false;
    }
}

/* True if the tensor is a buffer and no parameter: integers that no scale turns into numbers, and
 * the table of rotary frequencies that old checkpoints carry. */
static bool buffer(const struct module *x, const struct tensor *t)
{
    if (x->role[MODULE_PLAIN] == t || x->role[MODULE_BIAS] == t)
        return integer(t->dtype) || text_ends(t->name, "inv_freq");
    return x->tensors == 1 && x->role[MODULE_WEIGHT] == t && integer(t->dtype);
}

/* Numbers in the module's data. Where their count is not in the headers, the layout tells it, if
 * the words hold it by a whole number of bits. */
static int numbers(const struct module *x, const struct expect *item, uint64_t *ret, struct err *e)
{
    uint64_t shape[TENSOR_DIMS_MAX], n = 1;
    uint8_t dims;
    const struct tensor *t = module_data(x);
    if (module_shape(x, &dims, shape)) {
        for (uint8_t i = 0; i < dims; i++)
            if (__builtin_mul_overflow(n, shape[i], &n))
                return err_set(e, ERR_LIMIT, "%s: its elements do not fit 64 bits", t->name);
        *ret = n;
        return 0;
    }
    if (!item || !module_holds(x, item->dims, item->shape))
        return err_set(e, ERR_UNSUPPORTED,
                       "%s: packed numbers of a module that the model's layout does not name, so "
                       "their count is unknown",
                       t->name);
    *ret = item->elements * (item->joint ? item->copies : 1);
    return 0;
}

static int count(struct expect_finder *f, const struct module *x, const struct tensor *t,
                 struct cost_stored *s, struct err *e)
{
    struct expect_hit hit;
    uint64_t n = 0;
    bool bias = x->role[MODULE_BIAS] == t;
    expect_find(f, x->name, x->module_bytes,
                x->role[MODULE_PLAIN] == t ? MODULE_PLAIN
                : bias                     ? MODULE_BIAS
                                           : MODULE_WEIGHT,
                &hit);
    if (bias)
        n = tensor_elements(t);
    else if (numbers(x, hit.item, &n, e))
        return e->code;
    const struct expect *item = hit.item;
    if (item && text_ends(item->name, "A_log") && n > item->elements) {
        s->params_padding += n - item->elements;
        s->padding_name = f->m->kda_fused ? "self_attn.forget_gate.A_log" : "self_attn.A_log";
    }
    /* Without a layout the prefix is no sure sign of the text model. */
    if (f->m->traits->layout == FAMILY_LAYOUT_UNKNOWN)
        hit.place = EXPECT_OUTER;
    if (hit.place == EXPECT_MTP)
        s->params_mtp += n;
    if (hit.place == EXPECT_FOREIGN)
        s->params_other += n;
    if (__builtin_add_overflow(s->params, n, &s->params))
        return err_set(e, ERR_LIMIT, "the parameters do not fit 64 bits");
    return 0;
}

int cost_stored_of(const struct model *m, const struct inventory *inv, struct cost_stored *ret,
                   struct err *e)
{
    struct cost_stored s = {0};
    struct expect_finder *f = mem_alloc(1, sizeof *f);
    struct module x;
    int rc = 0;
    expect_finder_init(f, m);
    for (size_t at = 0; !rc && module_next(inv, &at, &x);) {
        const struct tensor *t = module_data(&x), *bias = x.role[MODULE_BIAS];
        s.bytes += x.bytes;
        if (t && !buffer(&x, t))
            rc = count(f, &x, t, &s, e);
        if (!rc && bias && bias != t && !buffer(&x, bias))
            rc = count(f, &x, bias, &s, e);
    }
    free(f);
    if (rc)
        return rc;
    *ret = s;
    return 0;
}
