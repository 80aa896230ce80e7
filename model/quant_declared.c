#include "model/quant.h"
#include "core/json.h"
#include "model/expect.h"
#include "model/family.h"
#include "model/quant_scheme.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the classes of a model, one module at a time */

struct votes {
    struct {
        char name[QUANT_NAME_BYTES];
        uint64_t modules;
    } formats[QUANT_CLASSES][QUANT_FORMATS_MAX];
    size_t count[QUANT_CLASSES];
};

static void vote(struct votes *t, enum quant_class c, const char *name, uint64_t modules)
{
    size_t i = 0;
    while (i < t->count[c] && strcmp(t->formats[c][i].name, name))
        i++;
    if (i == QUANT_FORMATS_MAX) {
        i--;
        strcpy(t->formats[c][i].name, "unknown");
    } else if (i == t->count[c]) {
        snprintf(t->formats[c][i].name, QUANT_NAME_BYTES, "%s", name);
        t->count[c]++;
    }
    t->formats[c][i].modules += modules;
}

struct ask {
    const struct model *m;
    const struct quant_scheme *s;
    struct quant_declared *d;
    struct votes *t;
    const char *dtype; /* of modules that no rule speaks of; NULL: not named */
    size_t tower_bytes;
};

static void ask_name(struct ask *a, const char *module, enum quant_class c, bool linear,
                     uint64_t modules)
{
    char why[QUANT_WHY_BYTES] = "";
    const char *f = quant_scheme_format(a->s, module, a->tower_bytes, c, linear, why);
    if (!*f) {
        f = a->dtype ? a->dtype : "unknown";
        if (!a->dtype)
            snprintf(why, sizeof why, "the config names no dtype for plain weights");
    }
    if (why[0] && !a->d->classes[c].why[0])
        memcpy(a->d->classes[c].why, why, sizeof why);
    vote(a->t, c, f, modules);
}

static void ask_item(struct ask *a, const struct expect *x, const char *prefix, uint32_t layer,
                     bool in_layer, enum quant_class c)
{
    char name[400], below[64] = "";
    bool bare_router = x->class == QUANT_ROUTER &&
                       (a->m->traits->moe == FAMILY_DEEPSEEK || a->m->traits->moe == FAMILY_KIMI);
    bool linear = x->class != QUANT_EMBEDDING && !bare_router;
    if (x->class == QUANT_NORMS)
        return;
    if (in_layer)
        snprintf(below, sizeof below, "layers.%u.", layer);
    if (!x->star) {
        snprintf(name, sizeof name, "%s%s%.*s", prefix, below, (int)x->base, x->name);
        ask_name(a, name, c, linear, 1);
        return;
    }
    /* Of the experts the first and the last speak for all: lists name none or every one. */
    for (int k = 0; k < 2; k++) {
        snprintf(name, sizeof name, "%s%s%.*s%u%.*s", prefix, below, (int)x->star, x->name,
                 k ? x->copies - 1 : 0, (int)(x->base - x->star - 1), x->name + x->star + 1);
        ask_name(a, name, c, linear, k ? x->copies / 2 : x->copies - x->copies / 2);
    }
}

static void ask_all(struct ask *a)
{
    const struct model *m = a->m;
    struct expect_list *l = mem_alloc(1, sizeof *l);
    expect_outer(m, l);
    for (size_t i = 0; i < l->count; i++)
        ask_item(a, &l->items[i], "", 0, false, l->items[i].class);
    for (uint32_t n = 0; n < m->layer_count; n++) {
        expect_layer(m, n, l);
        for (size_t i = 0; i < l->count; i++)
            ask_item(a, &l->items[i], m->prefix, n, true, l->items[i].class);
    }
    /* A draft layer repeats the last decoder layer. */
    for (uint32_t n = 0; n < m->mtp_layers && n < MODEL_LAYERS_MAX; n++)
        for (size_t i = 0; i < l->count; i++)
            ask_item(a, &l->items[i], m->prefix, m->layer_count + n, true, QUANT_MTP);
    free(l);
}

/* Modules outside the text model are not in its layout. A list that leaves out the whole tower, by
 * the names that Kimi's checkpoints have, leaves out all of it. */
static void ask_tower(struct ask *a)
{
    static const char *const names[] = {"vision_tower.encoder.blocks.0.wqkv",
                                        "mm_projector.proj.0"};
    char why[QUANT_WHY_BYTES];
    bool plain = true;
    if (a->m->traits->layout == FAMILY_LAYOUT_UNKNOWN) {
        vote(a->t, QUANT_OTHER, a->s->method[0] || !a->dtype ? "unknown" : a->dtype, 1);
        snprintf(a->d->classes[QUANT_OTHER].why, QUANT_WHY_BYTES,
                 "the layout of the parameters of %s is not known", a->m->family);
        return;
    }
    if (!a->m->wrapped)
        return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        plain &= !*quant_scheme_format(a->s, names[i], 0, QUANT_OTHER, true, why);
    if (plain && a->dtype) {
        vote(a->t, QUANT_OTHER, a->dtype, 1);
        return;
    }
    vote(a->t, QUANT_OTHER, "unknown", 1);
    snprintf(a->d->classes[QUANT_OTHER].why, QUANT_WHY_BYTES,
             "the modules outside the text model are not in its layout");
}

/* --- joining the votes */

static int by_modules(const void *a, const void *b)
{
    const struct {
        char name[QUANT_NAME_BYTES];
        uint64_t modules;
    } *x = a, *y = b;
    if (x->modules != y->modules)
        return x->modules < y->modules ? 1 : -1;
    return strcmp(x->name, y->name);
}

static void join(struct votes *t, struct quant_declared *d)
{
    for (unsigned c = 0; c < QUANT_CLASSES; c++) {
        char *names = d->classes[c].names;
        size_t n = 0;
        qsort(t->formats[c], t->count[c], sizeof t->formats[c][0], by_modules);
        for (size_t i = 0; i < t->count[c]; i++)
            n += (size_t)snprintf(names + n, QUANT_NAMES_BYTES - n, "%s%s", i ? "+" : "",
                                  t->formats[c][i].name);
        /* Known in part is not known. */
        for (size_t i = 0; i < t->count[c]; i++)
            if (!strcmp(t->formats[c][i].name, "unknown"))
                strcpy(names, "unknown");
        if (strcmp(names, "unknown"))
            d->classes[c].why[0] = '\0';
    }
}

static const char *dtype_of(const struct cJSON *root, const struct cJSON *text)
{
    static const char *const names[][2] = {{"bfloat16", "bf16"}, {"torch.bfloat16", "bf16"},
                                           {"float16", "f16"},   {"torch.float16", "f16"},
                                           {"float32", "f32"},   {"torch.float32", "f32"}};
    static const char *const keys[] = {"dtype", "torch_dtype"};
    const struct cJSON *in[] = {text, root};
    for (size_t k = 0; k < 4; k++) {
        const char *s;
        if (!json_text(json_get(in[k / 2], keys[k % 2]), &s))
            continue;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (!strcmp(names[i][0], s))
                return names[i][1];
    }
    return NULL;
}

int quant_declared_of(const struct cJSON *config, const struct cJSON *hf_quant_config,
                      const struct model *m, struct quant_declared *ret, struct err *e)
{
    const struct cJSON *text = json_get(config, "text_config");
    size_t n = strlen(m->prefix);
    if (json_kind(text) != JSON_OBJECT)
        text = config;
    struct quant_scheme *s = mem_alloc(1, sizeof *s);
    if (quant_scheme_init(s, config, text, hf_quant_config, e)) {
        free(s);
        return e->code;
    }
    struct quant_declared *d = mem_alloc(1, sizeof *d);
    struct ask a = {
        .m = m, .s = s, .d = d, .t = mem_alloc(1, sizeof *a.t), .dtype = dtype_of(config, text)};
    /* Names in a block inside text_config start at the text model. */
    if (text != config && n >= 6 && !strcmp(m->prefix + n - 6, "model."))
        a.tower_bytes = n - 6;
    memcpy(d->method, s->method, sizeof d->method);
    d->where = s->where;
    ask_all(&a);
    ask_tower(&a);
    vote(a.t, QUANT_NORMS, a.dtype ? a.dtype : "unknown", 1);
    if (!a.dtype)
        snprintf(d->classes[QUANT_NORMS].why, QUANT_WHY_BYTES, "the config names no dtype");
    join(a.t, d);
    *ret = *d;
    free(a.t);
    free(d);
    quant_scheme_release(s);
    free(s);
    return 0;
}
