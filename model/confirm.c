#include "model/confirm.h"
#include "core/text.h"
#include "model/census.h"
#include "model/expect.h"
#include "model/family.h"
#include "model/follow.h"
#include "model/tally.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIFFERS "config-tensor-differs"

struct confirm {
    struct config *c;
    const struct inventory *inv;
    struct tally *t;
    uint32_t (*seen)[EXPECT_ITEMS_MAX]; /* [layer_count + 1]: modules found; last: outside layers */
    uint32_t mtp_highest;               /* highest draft layer seen + 1 */
    size_t foreign;                     /* modules outside the text model, */
    struct module first;                /* and the first of them */
};

/* What a parameter that is not understood stands in the way of: one of a feed-forward or a norm
 * changes no cache. */
static unsigned hides_of(const char *name)
{
    static const char *const words[] = {"mlp.", "moe", "expert", "feed_forward", "layernorm"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(name, words[i]))
            return MODEL_HIDES_PARAMS | MODEL_HIDES_OPERATORS;
    return MODEL_HIDES_ALL;
}

/* --- one module against what is expected of its name */

static const char *shape_text(uint8_t dims, const uint64_t *shape, char ret[96])
{
    struct tensor t = {.dims = dims};
    memcpy(t.shape, shape, dims * sizeof *shape);
    return tensor_shape_text(&t, ret, 96);
}

/* A_log may be longer than there are heads: Kimi K3 pads 96 to 128. */
static bool padded(struct confirm *k, const struct module *x, const struct expect_hit *hit)
{
    const struct tensor *t = module_data(x);
    uint64_t have = t ? tensor_elements(t) : 0;
    if (!text_ends(hit->item->name, "A_log") || have <= hit->item->elements || t->dims != 1)
        return false;
    tally_add(k->t, FINDING_NOTE, "padding", hit->layer,
              "self_attn.A_log has %llu values for %llu heads, %llu are padding",
              (unsigned long long)have, (unsigned long long)hit->item->elements,
              (unsigned long long)(have - hit->item->elements));
    return true;
}

/* Some files hold the experts' matrices turned around. */
static bool joint_holds(const struct module *x, const struct expect *item)
{
    const uint64_t turned[] = {item->shape[0], item->shape[2], item->shape[1]};
    return item->dims == 3 && module_holds(x, 3, turned);
}

static void check_shape(struct confirm *k, const struct module *x, const struct expect_hit *hit)
{
    char want[96], have[96];
    uint64_t shape[TENSOR_DIMS_MAX];
    uint8_t dims;
    uint32_t layer = hit->place == EXPECT_LAYER ? hit->layer : TALLY_NO_LAYER;
    const struct tensor *t = hit->item->role == MODULE_BIAS ? x->role[MODULE_BIAS] : NULL;
    struct module alone = {.name = x->name, .module_bytes = x->module_bytes};
    if (t) { /* a bias beside a weight */
        alone.role[MODULE_BIAS] = t;
        x = &alone;
    }
    if (module_holds(x, hit->item->dims, hit->item->shape) || padded(k, x, hit) ||
        (hit->item->joint && joint_holds(x, hit->item)))
        return;
    t = module_data(x);
    tally_add(k->t, FINDING_WARN, DIFFERS, layer, "%s is %s %s in the headers, the config gives %s",
              hit->item->name, t ? t->dtype_text : "",
              t ? tensor_shape_text(t, have, sizeof have) : "without data",
              shape_text(hit->item->dims, hit->item->shape, want));
    /* A shape that is plain to see and fits no width makes every figure doubtful. One that is
     * hidden in words may be packed in a way that we do not know. */
    if (module_shape(x, &dims, shape))
        config_hides(k->c, hides_of(hit->item->name), "shape of %s", hit->item->name);
}

/* A name in the text model that nothing accounts for: the model has something that the config did
 * not tell, so its costs are not known. */
static void unexpected(struct confirm *k, const struct module *x, const struct expect_hit *hit)
{
    char name[160];
    size_t n = x->module_bytes - (size_t)(hit->rest - x->name);
    const char *star = strstr(hit->rest, ".experts.");
    if (text_ends(x->name, "inv_freq"))
        return;
    if (hit->place == EXPECT_OUTER && k->c->m->tied_embeddings &&
        text_ends(module_data(x)->name, "lm_head.weight")) {
        tally_add(k->t, FINDING_NOTE, "head-stored-twice", TALLY_NO_LAYER,
                  "lm_head.weight is stored though the config ties it to the embedding");
        return;
    }
    if (star && (size_t)(star - hit->rest) < n) { /* one entry for all experts */
        const char *digits = star + strlen(".experts.");
        size_t d = strspn(digits, "0123456789");
        snprintf(name, sizeof name, "%.*s*%.*s", (int)(digits - hit->rest), hit->rest,
                 (int)(n - (size_t)(digits - hit->rest) - d), digits + d);
    } else {
        snprintf(name, sizeof name, "%.*s", (int)n, hit->rest);
    }
    tally_add(k->t, FINDING_WARN, "tensor-unexpected",
              hit->place == EXPECT_LAYER ? hit->layer : TALLY_NO_LAYER,
              "%s is in the tensors and has no place in a %s model", name, k->c->m->family);
    config_hides(k->c, hides_of(name), "tensor %s", name);
}

static void look_up(struct confirm *k, struct expect_finder *f, const struct module *x,
                    const struct tensor *t)
{
    struct expect_hit hit;
    const struct model *m = k->c->m;
    expect_find(f, x->name, x->module_bytes,
                x->role[MODULE_PLAIN] == t  ? MODULE_PLAIN
                : x->role[MODULE_BIAS] == t ? MODULE_BIAS
                                            : MODULE_WEIGHT,
                &hit);
    switch (hit.place) {
    case EXPECT_FOREIGN:
        if (k->foreign++ == 0)
            k->first = *x;
        break;
    case EXPECT_MTP:
        if (hit.layer - m->layer_count + 1 > k->mtp_highest)
            k->mtp_highest = hit.layer - m->layer_count + 1;
        break;
    case EXPECT_BEYOND:
        tally_add(k->t, FINDING_WARN, "layer-extra", hit.layer,
                  "the tensors have more layers than the %u and %u draft layers of the config",
                  m->layer_count, m->mtp_layers);
        break;
    case EXPECT_OUTER:
    case EXPECT_LAYER:
        if (!hit.item) {
            unexpected(k, x, &hit);
            break;
        }
        const struct expect_list *l = hit.place == EXPECT_OUTER ? &f->outer : &f->layer;
        k->seen[hit.place == EXPECT_OUTER ? m->layer_count : hit.layer][hit.item - l->items]++;
        check_shape(k, x, &hit);
        break;
    }
}

/* --- what is not there */

static void missing_of(struct confirm *k, const struct expect_list *l, uint32_t row, uint32_t layer)
{
    for (size_t i = 0; i < l->count; i++) {
        const struct expect *x = &l->items[i];
        uint32_t n = k->seen[row][i], copies = x->star ? x->copies : 1;
        if (n < copies && x->star)
            tally_add(k->t, FINDING_WARN, "tensor-missing", layer, "%s is there for %u of %u",
                      x->name, n, copies);
        else if (n < copies)
            tally_add(k->t, FINDING_WARN, "tensor-missing", layer, "%s is not in the tensors",
                      x->name);
    }
}

/* Only a whole set of headers can show that something is not there. */
static void missing(struct confirm *k, struct expect_finder *f)
{
    const struct model *m = k->c->m;
    if (!k->inv->complete)
        return;
    missing_of(k, &f->outer, m->layer_count, TALLY_NO_LAYER);
    for (uint32_t i = 0; i < m->layer_count; i++) {
        expect_layer(m, i, &f->layer);
        missing_of(k, &f->layer, i, i);
    }
    if (k->mtp_highest < m->mtp_layers)
        tally_add(k->t, FINDING_NOTE, "draft-layers-missing", TALLY_NO_LAYER,
                  "num_nextn_predict_layers is %u, the tensors have %u draft layers", m->mtp_layers,
                  k->mtp_highest);
}

/* What stands beside the text model is a tower of another kind in some families, and in the others
 * nothing that the config told of: a second head, an adapter, a draft model. */
static void foreign(struct confirm *k)
{
    bool towers = k->c->text != k->c->root; /* a model around the text model */

    if (k->foreign)
        tally_add(k->t, towers ? FINDING_NOTE : FINDING_WARN,
                  towers ? "tensors-beside" : "tensor-unexpected", TALLY_NO_LAYER,
                  "%zu %s outside the text model and in none of its figures but the stored ones; "
                  "the first is %.*s",
                  k->foreign, k->foreign == 1 ? "module is" : "modules are",
                  (int)(k->first.module_bytes < 160 ? k->first.module_bytes : 160), k->first.name);
}

/* --- embeddings */

static const struct tensor *embedding(const struct confirm *k)
{
    bool other = k->c->m->traits->layout == FAMILY_LAYOUT_NEMOTRON;
    char name[EXPECT_HEAD_BYTES];
    int n = snprintf(name, sizeof name, "%s%s.weight", k->c->m->prefix,
                     other ? "embeddings" : "embed_tokens");
    return n > 0 && (size_t)n < sizeof name ? inventory_find(k->inv, name) : NULL;
}

static const struct tensor *head_of(const struct confirm *k)
{
    char name[EXPECT_HEAD_BYTES];
    expect_head(k->c->m, name);
    return inventory_find(k->inv, name);
}

static void embeddings(struct confirm *k)
{
    struct model *m = k->c->m;
    const struct tensor *embed = embedding(k);
    const struct tensor *head = head_of(k);
    if (embed && embed->dims == 2 && embed->shape[0] != m->vocab &&
        embed->shape[0] <= CONFIG_VOCAB_MAX && embed->shape[0]) {
        tally_add(k->t, FINDING_WARN, DIFFERS, TALLY_NO_LAYER,
                  "vocabulary: %llu rows of embed_tokens, %u by the config",
                  (unsigned long long)embed->shape[0], m->vocab);
        m->vocab = (uint32_t)embed->shape[0];
    }
    if (embed && !head && !m->tied_embeddings && k->inv->complete) {
        tally_add(k->t, FINDING_WARN, DIFFERS, TALLY_NO_LAYER,
                  "lm_head.weight is not in the tensors, the config does not tie it to the "
                  "embedding");
        m->tied_embeddings = true;
    }
}

static void check_names(struct confirm *k)
{
    struct expect_finder *f = mem_alloc(1, sizeof *f);
    struct module x;
    expect_finder_init(f, k->c->m);
    for (size_t at = 0; module_next(k->inv, &at, &x);) {
        const struct tensor *t = module_data(&x), *bias = x.role[MODULE_BIAS];
        if (t)
            look_up(k, f, &x, t);
        if (bias && bias != t)
            look_up(k, f, &x, bias);
    }
    missing(k, f);
    foreign(k);
    free(f);
}

int confirm_tensors(struct config *c, const struct inventory *inv, const struct layers_known *known,
                    struct finding_list *findings, struct err *e)
{
    struct census cs;
    struct tally *t = mem_alloc(1, sizeof *t);
    struct confirm k = {.c = c, .inv = inv, .t = t};
    (void)e;
    if (c->m->traits->layout == FAMILY_LAYOUT_UNKNOWN) {
        tally_add(t, FINDING_NOTE, "layout-unknown", TALLY_NO_LAYER,
                  "the names and shapes of the parameters of %s are not known here, so the "
                  "tensors are counted and not compared with the config",
                  c->m->family);
    } else if (!census_prefix(c->m, inv, &c->m->prefix)) {
        tally_add(t, FINDING_WARN, DIFFERS, TALLY_NO_LAYER,
                  "no tensor is named embed_tokens or layers.0: the text model of the config is "
                  "not in these files");
    } else {
        census_take(c->m, inv, &cs);
        follow_census(c, &cs, known, t);
        embeddings(&k);
        k.seen = mem_alloc(c->m->layer_count + 1, sizeof *k.seen);
        check_names(&k);
        free(k.seen);
        census_release(&cs);
    }
    tally_report(t, findings);
    free(t);
    return 0;
}
