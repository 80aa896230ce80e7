#include "model/census.h"
#include "model/expect.h"
#include "model/family.h"
#include "model/module.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool starts(const char *s, const char *start)
{
    return !strncmp(s, start, strlen(start));
}

/* --- the prefix */

bool census_prefix(struct model *m, const struct inventory *inv, const char **ret)
{
    static const char *const marks[] = {"embed_tokens.", "embeddings.", "layers.0."};
    char name[256];
    int n = snprintf(name, sizeof name, "%s%s.weight", m->prefix,
                     m->traits->layout == FAMILY_LAYOUT_NEMOTRON ? "embeddings" : "embed_tokens");
    if (n > 0 && (size_t)n < sizeof name && inventory_find(inv, name)) {
        *ret = m->prefix;
        return true;
    }
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++)
        for (size_t i = 0; i < inv->count; i++) {
            const char *at = strstr(inv->tensors[i].name, marks[k]);
            if (!at || at - inv->tensors[i].name > CENSUS_PREFIX_MAX ||
                (at != inv->tensors[i].name && at[-1] != '.'))
                continue;
            *ret = mem_arena_strndup(&m->arena, inv->tensors[i].name,
                                     (size_t)(at - inv->tensors[i].name));
            return true;
        }
    return false;
}

/* --- widths */

static void measure(const struct module *x, struct census_width *w)
{
    uint64_t shape[TENSOR_DIMS_MAX];
    uint8_t dims;
    const struct tensor *t = module_data(x), *scales = x->role[MODULE_SCALES];
    if (!t)
        return;
    w->seen = true;
    if (module_shape(x, &dims, shape)) {
        /* An early layout of A_log has [1, 1, heads, 1]. */
        uint8_t first = 0;
        while (first + 1 < dims && shape[first] == 1 && tensor_elements(t) > 1)
            first++;
        w->rows = dims ? shape[first] : 1;
        w->cols = dims > first + 1 ? shape[dims - 1] : 0;
    } else if (x->role[MODULE_PACKED] == t && t->dims == 2) {
        w->rows = t->shape[0];
    } else if (x->role[MODULE_QWEIGHT] == t && scales && scales->dims == 2) {
        w->rows = scales->shape[1];
    }
}

struct known {
    char name[EXPECT_NAME_BYTES];
    enum census_slot slot;
    bool fused;
};

#define KNOWN_MAX 32

/* The telling names below a layer, with the family's own folders. */
static size_t known_names(const struct family *f, struct known known[KNOWN_MAX])
{
    static const struct known fixed[] = {
        {"self_attn.q_proj", CENSUS_Q, false},
        {"self_attn.k_proj", CENSUS_K, false},
        {"self_attn.v_proj", CENSUS_V, false},
        {"self_attn.o_proj", CENSUS_O, false},
        {"self_attn.g_proj", CENSUS_GATE, false},
        {"self_attn.g_a_proj", CENSUS_GATE_A, false},
        {"self_attn.q_a_proj", CENSUS_Q_A, false},
        {"self_attn.q_b_proj", CENSUS_Q_B, false},
        {"self_attn.kv_a_proj_with_mqa", CENSUS_KV_A, false},
        {"self_attn.kv_a_layernorm", CENSUS_KV_A_NORM, false},
        {"self_attn.kv_b_proj", CENSUS_KV_B, false},
        {"self_attn.A_log", CENSUS_A_LOG, false},
        {"self_attn.f_a_proj", CENSUS_F_A, false},
        {"self_attn.dt_bias", CENSUS_DT, false},
        {"self_attn.q_conv1d", CENSUS_CONV, false},
        {"self_attn.forget_gate.A_log", CENSUS_A_LOG, true},
        {"self_attn.forget_gate.f_a_proj", CENSUS_F_A, true},
        {"self_attn.forget_gate.dt_bias", CENSUS_DT, true},
        {"self_attn.conv1d", CENSUS_CONV, true},
        {"self_attn.b_proj", CENSUS_B, false},
        {"mlp.up_proj", CENSUS_UP, false},
        {"self_attention_res_proj", CENSUS_RES, false},
    };
    size_t n = sizeof fixed / sizeof *fixed;
    memcpy(known, fixed, sizeof fixed);
    if (!f->moe_dir)
        return n;
    snprintf(known[n].name, sizeof known->name, "%s.%s", f->moe_dir,
             f->router ? f->router : "gate");
    known[n++].slot = CENSUS_ROUTER;
    if (f->latent_down) {
        snprintf(known[n].name, sizeof known->name, "%s.%s", f->moe_dir, f->latent_down);
        known[n++].slot = CENSUS_LATENT;
    }
    snprintf(known[n].name, sizeof known->name, "%s.experts.gate_up_proj", f->moe_dir);
    known[n++].slot = CENSUS_JOINT;
    if (f->shared_dir) {
        snprintf(known[n].name, sizeof known->name, "%s.%s.up_proj", f->moe_dir, f->shared_dir);
        known[n++].slot = CENSUS_SHARED;
    }
    return n;
}

/* An expert's module: counts the expert, and keeps the width of the first one's up matrix. */
static bool expert(const struct family *f, const struct module *x, const char *rest,
                   const char *end, struct census_layer *l)
{
    size_t n = f->moe_dir && f->up ? strlen(f->moe_dir) : 0;
    char *tail;
    if (!n || strncmp(rest, f->moe_dir, n) || !starts(rest + n, ".experts."))
        return false;
    const char *digits = rest + n + strlen(".experts.");
    if (*digits < '0' || *digits > '9')
        return false;
    unsigned long k = strtoul(digits, &tail, 10);
    if (*tail != '.' || k >= CENSUS_EXPERTS_MAX)
        return false;
    if (k + 1 > l->experts)
        l->experts = (uint32_t)k + 1;
    if (!l->slots[CENSUS_EXPERT].seen && (size_t)(end - tail - 1) == strlen(f->up) &&
        !memcmp(tail + 1, f->up, strlen(f->up)))
        measure(x, &l->slots[CENSUS_EXPERT]);
    return true;
}

void census_take(const struct model *m, const struct inventory *inv, struct census *ret)
{
    struct census c = {.layers = mem_alloc(m->layer_count, sizeof *c.layers)};
    struct known known[KNOWN_MAX] = {0};
    size_t names = known_names(m->traits, known), n = strlen(m->prefix);
    struct module x;
    for (size_t at = 0; module_next(inv, &at, &x);) {
        char *dot;
        const char *end = x.name + x.module_bytes;
        if (x.module_bytes < n || memcmp(x.name, m->prefix, n) || !starts(x.name + n, "layers.") ||
            x.name[n + 7] < '0' || x.name[n + 7] > '9')
            continue;
        unsigned long layer = strtoul(x.name + n + 7, &dot, 10);
        if (*dot != '.' || layer >= MODEL_LAYERS_MAX || dot >= end)
            continue;
        if (layer + 1 > c.layer_count)
            c.layer_count = (uint32_t)layer + 1;
        if (layer >= m->layer_count || expert(m->traits, &x, dot + 1, end, &c.layers[layer]))
            continue;
        size_t bytes = (size_t)(end - dot - 1);
        for (size_t i = 0; i < names; i++)
            if (strlen(known[i].name) == bytes && !memcmp(known[i].name, dot + 1, bytes)) {
                measure(&x, &c.layers[layer].slots[known[i].slot]);
                c.fused |= known[i].fused;
            }
    }
    *ret = c;
}

void census_release(struct census *c)
{
    free(c->layers);
    *c = (struct census){0};
}
