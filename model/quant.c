#include "model/quant.h"
#include "model/expect.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[QUANT_CLASSES] = {
    "routed_experts", "shared_experts", "attention", "dense_ffn", "router", "latent",
    "attnres",        "embedding",      "head",      "norms",     "mtp",    "other"};

const char *quant_class_name(enum quant_class c)
{
    return (unsigned)c < QUANT_CLASSES ? names[c] : "other";
}

enum quant_class quant_class_of(const struct model *m, const struct tensor *t)
{
    struct expect_finder *f = mem_alloc(1, sizeof *f);
    struct expect_hit hit;
    size_t bytes;
    enum module_role role = module_split(t->name, &bytes);
    expect_finder_init(f, m);
    expect_find(f, t->name, bytes, role, &hit);
    enum quant_class c = expect_class(&hit, t->name, bytes);
    free(f);
    return c;
}

static bool is_known(const char *s)
{
    return s[0] && strcmp(s, "unknown") != 0;
}

/* The same formats, in whatever order: the shares of the two sides need not agree. */
static bool same_parts(const char *a, const char *b)
{
    char x[QUANT_NAMES_BYTES + 2], y[QUANT_NAMES_BYTES + 2], part[QUANT_NAMES_BYTES + 2];
    snprintf(x, sizeof x, "+%s+", a);
    snprintf(y, sizeof y, "+%s+", b);
    if (strlen(x) != strlen(y))
        return false;
    for (const char *p = x; p[1];) {
        const char *end = strchr(p + 1, '+');
        snprintf(part, sizeof part, "%.*s", (int)(end - p + 1), p);
        if (!strstr(y, part))
            return false;
        p = end;
    }
    return true;
}

static bool plain_only(const struct quant_observed *o)
{
    for (size_t i = 0; i < o->classes[QUANT_NORMS].format_count; i++) {
        const char *name = o->classes[QUANT_NORMS].formats[i].name;
        if (strcmp(name, "bf16") && strcmp(name, "f16") && strcmp(name, "f32"))
            return false;
    }
    return true;
}

bool quant_disagrees(const struct quant_declared *d, const struct quant_observed *o,
                     enum quant_class c)
{
    char seen[QUANT_NAMES_BYTES];
    quant_observed_names(o, c, seen);
    if (c == QUANT_NORMS && plain_only(o))
        return false;
    return is_known(d->classes[c].names) && is_known(seen) &&
           !same_parts(d->classes[c].names, seen);
}

static int put_declared(const struct quant_declared *d, enum quant_class c,
                        const struct fact_sink *sink, struct err *e)
{
    if (!d)
        return fact_put_unknown(sink, FACT_FORMAT_DECLARED, names[c],
                                "the config's quantization could not be read", e);
    if (!d->classes[c].names[0])
        return fact_put_absent(sink, FACT_FORMAT_DECLARED, names[c], d->where, e);
    if (!is_known(d->classes[c].names))
        return fact_put_unknown(sink, FACT_FORMAT_DECLARED, names[c], d->classes[c].why, e);
    return fact_put_text(sink, FACT_FORMAT_DECLARED, names[c], d->classes[c].names, d->where, e);
}

static int put_observed(const struct quant_observed *o, enum quant_class c,
                        const struct fact_sink *sink, struct err *e)
{
    static const char source[] = "tensor headers", why[] = "no tensor headers at hand";
    char text[QUANT_NAMES_BYTES];
    if (!o)
        return fact_put_unknown(sink, FACT_FORMAT_OBSERVED, names[c], why, e) ||
                       fact_put_unknown(sink, FACT_FORMAT_BYTES, names[c], why, e) ||
                       fact_put_unknown(sink, FACT_FORMAT_TENSORS, names[c], why, e)
                   ? e->code
                   : 0;
    quant_observed_names(o, c, text);
    if (!text[0] ? fact_put_absent(sink, FACT_FORMAT_OBSERVED, names[c], source, e)
                 : fact_put_text(sink, FACT_FORMAT_OBSERVED, names[c], text, source, e))
        return e->code;
    return fact_put_int(sink, FACT_FORMAT_BYTES, names[c], (int64_t)o->classes[c].bytes, source,
                        e) ||
                   fact_put_int(sink, FACT_FORMAT_TENSORS, names[c], (int64_t)o->classes[c].tensors,
                                source, e)
               ? e->code
               : 0;
}

int quant_facts(const struct quant_declared *d, const struct quant_observed *o,
                struct finding_list *findings, const struct fact_sink *sink, struct err *e)
{
    for (unsigned i = 0; i < QUANT_CLASSES; i++) {
        enum quant_class c = (enum quant_class)i;
        char seen[QUANT_NAMES_BYTES], both[2 * QUANT_NAMES_BYTES + 64];
        bool declares = d && d->classes[c].names[0], has = o && o->classes[c].tensors;
        /* Modules outside the text model are told of where there are some. */
        if ((!declares && !has) || (c == QUANT_OTHER && o && !has))
            continue;
        if (put_declared(d, c, sink, e) || put_observed(o, c, sink, e))
            return e->code;
        if (!d || !o || !quant_disagrees(d, o, c))
            continue;
        quant_observed_names(o, c, seen);
        snprintf(both, sizeof both, "%s declared, %s in the tensors", d->classes[c].names, seen);
        if (fact_put_text(sink, FACT_FORMAT_DISAGREES, names[c], both,
                          "config.json and tensor headers", e))
            return e->code;
        if (findings)
            finding_add(findings, FINDING_WARN, "format-disagrees",
                        "The format of %s: %s declares %s, the tensors have %s.", names[c],
                        d->where, d->classes[c].names, seen);
    }
    return 0;
}
