#include "model/gguf_formats.h"
#include "core/text.h"
#include "model/gguf_names.h"
#include "model/gguf_pairs.h"
#include "model/gguf_type.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *format_of(const struct tensor *t)
{
    static const char *const plain[DTYPES] = {
        [DTYPE_F16] = "f16", [DTYPE_BF16] = "bf16", [DTYPE_F32] = "f32", [DTYPE_F64] = "f64",
        [DTYPE_I8] = "i8",   [DTYPE_I16] = "i16",   [DTYPE_I32] = "i32", [DTYPE_I64] = "i64"};

    if (t->format)
        return t->format;
    return plain[t->dtype] ? plain[t->dtype] : "unknown";
}

static void add(struct gguf_formats *f, const struct tensor *t)
{
    const struct gguf_type *type = gguf_type_named(format_of(t));
    size_t i = 0;

    while (i < f->count && strcmp(f->items[i].name, t->dtype_text) != 0)
        i++;
    if (i == GGUF_FORMATS_MAX) {
        f->dropped++;
        return;
    }
    if (i == f->count) {
        f->count++;
        f->items[i].name = t->dtype_text;
        f->items[i].format = format_of(t);
        f->items[i].bits_per_weight = type ? gguf_type_bits(type) : 0;
    }
    f->items[i].tensors++;
    f->items[i].bytes += t->bytes;
    f->items[i].elements += tensor_elements(t);
}

static int by_bytes(const void *a, const void *b)
{
    const struct gguf_formats_type *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return strcmp(x->name, y->name);
}

void gguf_formats_of(const struct inventory *inv, struct gguf_formats *ret)
{
    struct gguf_formats f = {0};

    for (size_t i = 0; i < inv->count; i++)
        add(&f, &inv->tensors[i]);
    if (f.count)
        qsort(f.items, f.count, sizeof(f.items[0]), by_bytes);
    *ret = f;
}

void gguf_formats_observed(const struct inventory *inv, struct quant_observed *ret)
{
    struct quant_observed *o = mem_alloc(1, sizeof(*o));

    for (size_t i = 0; i < inv->count; i++) {
        const struct tensor *t = &inv->tensors[i];
        quant_observed_add(o, gguf_names_class(t), format_of(t), 1, t->bytes);
    }
    quant_observed_sort(o);
    *ret = *o;
    free(o);
}

const char *gguf_formats_value(const struct gguf_pair *p, char ret[GGUF_FORMATS_VALUE_BYTES])
{
    char number[TEXT_NUMBER_BYTES];
    const char *name, *format;

    ret[0] = '\0';
    switch (p->type) {
    case GGUF_TEXT:
        if (p->text)
            text_plain(p->text, ret, GGUF_FORMATS_VALUE_BYTES);
        break;
    case GGUF_BOOL: snprintf(ret, GGUF_FORMATS_VALUE_BYTES, "%s", p->u64 ? "true" : "false"); break;
    case GGUF_F32:
    case GGUF_F64:
        snprintf(ret, GGUF_FORMATS_VALUE_BYTES, "%s", text_real(p->real, 9, number));
        break;
    case GGUF_I8:
    case GGUF_I16:
    case GGUF_I32:
    case GGUF_I64: snprintf(ret, GGUF_FORMATS_VALUE_BYTES, "%" PRId64, p->i64); break;
    case GGUF_ARRAY:
    case GGUF_VALUES: break;
    default:
        snprintf(ret, GGUF_FORMATS_VALUE_BYTES, "%" PRIu64, p->u64);
        if (strcmp(p->key, "general.file_type") == 0 &&
            gguf_type_of_file(p->u64, &name, &format) == 0)
            snprintf(ret, GGUF_FORMATS_VALUE_BYTES, "%" PRIu64 " (%s)", p->u64, name);
        break;
    }
    return ret;
}

int gguf_formats_facts(const struct gguf *g, const struct inventory *inv,
                       const struct fact_sink *sink, struct err *e)
{
    static const char source[] = "GGUF metadata";
    static const char *const keys[] = {"general.architecture",     "general.name",
                                       "general.size_label",       "general.file_type",
                                       "general.quantized_by",     "general.quantization_version",
                                       "general.license",          "general.source.url",
                                       "quantize.imatrix.dataset", "split.count"};
    char value[GGUF_FORMATS_VALUE_BYTES];
    struct gguf_formats f;

    snprintf(value, sizeof(value), "GGUF version %" PRIu32, g->version);
    int rc = fact_put_text(sink, FACT_MODEL_CONTAINER, "", value, "GGUF header", e);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && !rc; i++) {
        const struct gguf_pair *p = gguf_pairs_find(g, keys[i]);
        if (p && gguf_formats_value(p, value)[0])
            rc = fact_put_text(sink, FACT_MODEL_METADATA, keys[i], value, source, e);
    }
    gguf_formats_of(inv, &f);
    for (size_t i = 0; i < f.count && !rc; i++)
        if (f.items[i].bits_per_weight > 0)
            rc =
                fact_put_real(sink, FACT_FORMAT_BITS, f.items[i].format, f.items[i].bits_per_weight,
                              0, "GGUF type, by the size of its blocks", e);
    return rc;
}
