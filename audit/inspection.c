#include "audit/inspection.h"
#include "audit/inspection_gguf.h"
#include "audit/picture.h"
#include "core/text.h"
#include <stdio.h>
#include <string.h>

#define FINDINGS_SHOWN 20

size_t inspection_contexts(const struct options *o, const uint64_t **ret)
{
    static const uint64_t usual[] = {4096, 32768, 131072, 1048576};

    *ret = o->context_count ? o->contexts : usual;
    return o->context_count ? o->context_count : sizeof(usual) / sizeof(usual[0]);
}

static void print_count(const char *label, uint64_t n, const char *unit, const char *more)
{
    char number[TEXT_NUMBER_BYTES];

    printf("%-14s%20s %s%s\n", label, text_count(n, number), unit, more);
}

static void print_layers_picture(const struct model *m)
{
    struct buf b;

    buf_init(&b, PICTURE_BYTES_MAX);
    picture_mixers(m, &b);
    printf("%-14s%u: %s\n", "layers", m->layer_count, b.data);
    buf_release(&b);
    buf_init(&b, PICTURE_BYTES_MAX);
    picture_ffns(m, &b);
    printf("%-14s%s\n", "feed-forward", b.data);
    buf_release(&b);
    if (m->attnres_block)
        printf("%-14sattention residuals in blocks of %u layers, %u sources at the output\n",
               "residual", m->attnres_block, model_attnres_sources(m));
}

static const struct ffn *first_moe(const struct model *m)
{
    for (uint32_t i = 0; i < m->layer_count; i++)
        if (m->layers[i].ffn.kind == FFN_MOE || m->layers[i].ffn.kind == FFN_MOE_LATENT)
            return &m->layers[i].ffn;
    return NULL;
}

static void print_moe(const struct model *m)
{
    const struct ffn *f = first_moe(m);

    if (!f)
        return;
    printf("%-14s%u, top %u, %u shared, router %s", "experts", f->router.experts, f->router.top_k,
           f->shared, model_score_name(f->router.score));
    if (f->kind == FFN_MOE_LATENT)
        printf(", latent width %u of %u", f->latent, m->hidden);
    puts("");
}

static void print_parameters(const struct subject *s)
{
    char more[160] = "", padding[TEXT_NUMBER_BYTES];

    if (s->has_cost && !s->cost.params_known)
        printf("%-14s? unknown: %s\n", "parameters", s->cost.params_why);
    if (s->has_cost && s->cost.params_known) {
        print_count("parameters", s->cost.params_total, "by the config's shapes", "");
        print_count("  active", s->cost.params_active, "a token, input embedding left out", "");
    }
    if (!s->has_stored)
        return;
    if (s->stored.params_padding)
        snprintf(more, sizeof(more), ", of which %s are padding of %s",
                 text_count(s->stored.params_padding, padding), s->stored.padding_name);
    print_count("  as stored", s->stored.params, "in the tensors", more);
    if (s->stored.params_mtp)
        print_count("    drafts", s->stored.params_mtp, "of them in draft layers", "");
    if (s->stored.params_other)
        print_count("    other", s->stored.params_other,
                    "of them outside the text model (vision, audio, projector)", "");
}

static void print_growth(const struct cost *c)
{
    char more[120] = "", number[TEXT_NUMBER_BYTES];

    if (c->cache_step_tokens > 1)
        snprintf(more, sizeof(more), ", rounded down: %s bytes each %u tokens",
                 text_count(c->cache_step_bytes, number), c->cache_step_tokens);
    print_count("cache", c->cache_token_bytes, "bytes a token (BF16)", more);
    if (!c->fp8_known || c->fp8_step_bytes == c->cache_step_bytes)
        return;
    print_count("  in FP8", c->fp8_step_bytes / c->cache_step_tokens, "bytes a token",
                c->fp8_step_bytes % c->cache_step_tokens ? ", rounded down" : "");
}

static void print_cache(const struct subject *s, const struct options *o)
{
    char tokens[TEXT_NUMBER_BYTES], bytes[TEXT_NUMBER_BYTES], exact[TEXT_NUMBER_BYTES];
    char rule[200] = "";
    const uint64_t *contexts;
    size_t n = inspection_contexts(o, &contexts);

    if (s->model.state_rule)
        snprintf(rule, sizeof(rule), "; %s", s->model.state_rule);
    puts("");
    if (!s->has_cost) {
        printf("cache         ? unknown: %s\n", s->cost_why);
        return;
    }
    if (s->model.encoder) {
        puts("cache         none: an encoder sees all tokens at once and keeps nothing");
        return;
    }
    print_growth(&s->cost);
    if (s->cost.window_bytes)
        print_count("  windows", s->cost.window_bytes, "bytes a sequence, when full", "");
    print_count("  state", s->cost.state_bytes, "bytes a sequence, constant", rule);
    if (s->cost.attnres_in_flight_bytes)
        print_count("  in flight", s->cost.attnres_in_flight_bytes,
                    "bytes a token while it passes (residual blocks; no cache)", "");
    for (size_t i = 0; i < n; i++) {
        uint64_t b = cost_model_bytes(&s->model, contexts[i]);
        printf("  at %-9s%20s bytes  %s\n", text_tokens(contexts[i], tokens), text_count(b, exact),
               text_bytes(b, bytes));
    }
}

static void print_formats(const struct subject *s)
{
    char names[QUANT_NAMES_BYTES], bytes[TEXT_NUMBER_BYTES], count[TEXT_NUMBER_BYTES];

    printf("\n%-16s%12s %10s  %-28s declared\n", "formats", "tensors", "stored", "observed");
    for (int c = 0; c < QUANT_CLASSES; c++) {
        enum quant_class k = (enum quant_class)c;
        bool seen = s->has_observed && s->observed.classes[c].tensors;
        const char *declared = s->has_declared ? s->declared.classes[c].names : "?";
        if (s->has_observed ? !seen : !declared[0])
            continue;
        printf("  %-14s%12s %10s  %-28s %s%s\n", quant_class_name(k),
               seen ? text_count(s->observed.classes[c].tensors, count) : "?",
               seen ? text_bytes(s->observed.classes[c].bytes, bytes) : "?",
               seen ? quant_observed_names(&s->observed, k, names) : "?", declared,
               s->has_declared && s->has_observed && quant_disagrees(&s->declared, &s->observed, k)
                   ? "  (disagree)"
                   : "");
    }
}

static void print_operators(const struct subject *s)
{
    if (!s->has_operators) {
        printf("\noperators     ? unknown: %s\n", s->operators_why);
        return;
    }
    puts("\noperators");
    for (int k = 0; k < OPERATORS_KINDS; k++)
        if (s->operators.items[k].layers)
            printf("  %-26s%5u layers  %s\n", operators_name((enum operators_kind)k),
                   s->operators.items[k].layers, operators_meaning((enum operators_kind)k));
}

static void print_findings(const struct finding_list *l)
{
    struct buf b;

    puts(l->count ? "\nfindings" : "\nno findings");
    for (size_t i = 0; i < l->count && i < FINDINGS_SHOWN; i++) {
        buf_init(&b, PICTURE_BYTES_MAX);
        text_escape_plain(&b, l->items[i].text);
        printf("  %-8s %s: %s\n", finding_severity_name(l->items[i].severity), l->items[i].code,
               b.data);
        buf_release(&b);
    }
    if (l->count > FINDINGS_SHOWN || l->dropped)
        printf("  and %zu more; --json has them all%s\n",
               l->count > FINDINGS_SHOWN ? l->count - FINDINGS_SHOWN : 0,
               l->dropped ? " but those over the limit" : "");
}

static void print_layers(const struct subject *s)
{
    char cache[TEXT_NUMBER_BYTES], state[TEXT_NUMBER_BYTES], params[TEXT_NUMBER_BYTES];

    printf("\n%5s  %-14s %-14s %-12s %18s %14s %14s\n", "layer", "mixer", "residual",
           "feed-forward", "parameters", "cache B/token", "state B");
    for (uint32_t i = 0; i < s->model.layer_count; i++) {
        const struct layer *l = &s->model.layers[i];
        const struct cost_layer *c = s->has_cost ? &s->cost.layers[i] : NULL;
        printf("%5u  %-14s %-14s %-12s %18s %14s %14s\n", i, model_mixer_name(l->mixer.kind),
               model_residual_name(l->residual), model_ffn_name(l->ffn.kind),
               c && s->cost.params_known ? text_count(c->params, params) : "?",
               c ? text_count(c->cache_token_bytes, cache) : "?",
               c ? text_count(c->state_bytes + c->window_bytes, state) : "?");
    }
}

static void print_tensors(const struct inventory *inv)
{
    char shape[96], name[512], dtype[32];

    puts("");
    for (size_t i = 0; i < inv->count; i++) {
        const struct tensor *t = &inv->tensors[i];
        printf("%-8s %-20s %s\n", text_plain(t->dtype_text, dtype, sizeof(dtype)),
               tensor_shape_text(t, shape, sizeof(shape)), text_plain(t->name, name, sizeof(name)));
    }
}

void inspection_print(const struct subject *s, const struct options *o)
{
    const struct inventory *inv = &s->local.inventory;
    char plain[512], bytes[TEXT_NUMBER_BYTES], shards[64];

    printf("%s (%s)\n", text_plain(s->local.real_path, plain, sizeof(plain)), s->local.kind);
    if (s->has_model) {
        printf("%-14s%s", "model", text_plain(s->model.family, plain, sizeof(plain)));
        printf(", %s\n", text_plain(s->model.architecture, plain, sizeof(plain)));
        print_layers_picture(&s->model);
        print_moe(&s->model);
    } else {
        printf("%-14s? unknown: %s\n", "model", s->model_why);
    }
    puts("");
    if (inv->shard_count) {
        snprintf(shards, sizeof(shards), " in %zu %s", inv->shard_count,
                 inv->shard_count == 1 ? "shard" : "shards");
        print_count("tensors", inv->count, "tensors", shards);
        snprintf(shards, sizeof(shards), " (%s)", text_bytes(inv->stored_bytes, bytes));
        print_count("stored", inv->stored_bytes, "bytes", shards);
    } else {
        puts("tensors       ? no tensor headers were read");
    }
    print_parameters(s);
    if (s->local.has_gguf)
        inspection_gguf_print(s);
    if (s->has_model)
        print_cache(s, o);
    if (s->has_model || s->has_observed)
        print_formats(s);
    if (s->has_model)
        print_operators(s);
    if (o->layers && s->has_model)
        print_layers(s);
    if (o->tensors)
        print_tensors(inv);
    print_findings(&s->local.findings);
}
