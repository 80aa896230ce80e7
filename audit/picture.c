#include "audit/picture.h"
#include "core/mem.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define GROUP_MAX 16u

static const char *compressed_word(uint32_t ratio)
{
    return ratio == 0 ? "window" : ratio == 4 ? "compressed 4:1" : "compressed 128:1";
}

static const char *mixer_word(const struct mixer *x)
{
    switch (x->kind) {
    case MIXER_GQA:
        if (x->store == MIXER_ENCODES)
            return "bidirectional MHA";
        if (x->store == MIXER_SHARES)
            return x->window ? "windowed GQA of an earlier cache" : "GQA of an earlier cache";
        if (x->chunked)
            return "chunked GQA";
        if (x->window)
            return x->key_heads == x->heads ? "windowed MHA" : "windowed GQA";
        return x->key_heads == x->heads ? "MHA" : "GQA";
    case MIXER_MLA: return "MLA";
    case MIXER_KDA: return "KDA";
    case MIXER_KEY_DECOUPLED: return "key-decoupled";
    case MIXER_GATED_DELTA: return "Gated DeltaNet";
    case MIXER_LIGHTNING: return "lightning";
    case MIXER_MAMBA2: return "Mamba2";
    case MIXER_CONV: return "short convolution";
    case MIXER_DSA: return x->index_own ? "DSA" : "DSA by an earlier index";
    case MIXER_MSA: return "MSA";
    case MIXER_QSA: return "QSA";
    case MIXER_COMPRESSED: return compressed_word(x->ratio);
    case MIXER_RWKV: return "RWKV";
    default: return "unknown";
    }
}

static const char *ffn_word(const struct ffn *f)
{
    switch (f->kind) {
    case FFN_DENSE: return "dense";
    case FFN_MOE: return "MoE";
    case FFN_MOE_LATENT: return "latent MoE";
    case FFN_NONE: return "none";
    default: return "unknown";
    }
}

static bool same(const char *const *w, size_t a, size_t b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(w[a + i], w[b + i]) != 0)
            return false;
    return true;
}

/* Runs of equal words: "3 x KDA, MLA". */
static void add_runs(const char *const *w, size_t n, struct buf *b)
{
    for (size_t i = 0; i < n;) {
        size_t run = 1;
        while (i + run < n && !strcmp(w[i], w[i + run]))
            run++;
        if (i)
            buf_adds(b, ", ");
        if (run > 1)
            buf_addf(b, "%zu x ", run);
        buf_adds(b, w[i]);
        i += run;
    }
}

/* The group that, repeated from here on, covers the most; the shorter one of two that cover alike.
 */
static size_t best_group(const char *const *w, size_t at, size_t n, size_t *ret_times)
{
    size_t best = 1, best_cover = 0;

    *ret_times = 1;
    for (size_t g = 1; g <= GROUP_MAX && at + g <= n; g++) {
        size_t times = 1;
        while (at + (times + 1) * g <= n && same(w, at, at + times * g, g))
            times++;
        if (times > 1 && times * g > best_cover) {
            best = g;
            best_cover = times * g;
            *ret_times = times;
        }
    }
    return best;
}

static void add_picture(const char *const *w, size_t n, struct buf *b)
{
    for (size_t at = 0; at < n;) {
        size_t times, g = best_group(w, at, n, &times);
        if (at)
            buf_adds(b, ", ");
        if (g > 1)
            buf_addf(b, "%zu x (", times);
        add_runs(w + at, g > 1 ? g : times, b);
        if (g > 1)
            buf_addc(b, ')');
        at += g * times;
    }
}

void picture_mixers(const struct model *m, struct buf *b)
{
    const char **w = mem_alloc(m->layer_count, sizeof(*w));

    for (uint32_t i = 0; i < m->layer_count; i++)
        w[i] = m->layers[i].mixer.kind == MIXER_NONE ? ffn_word(&m->layers[i].ffn)
                                                     : mixer_word(&m->layers[i].mixer);
    add_picture(w, m->layer_count, b);
    free(w);
}

void picture_ffns(const struct model *m, struct buf *b)
{
    const char **w = mem_alloc(m->layer_count, sizeof(*w));
    size_t n = 0;

    for (uint32_t i = 0; i < m->layer_count; i++)
        if (m->layers[i].ffn.kind != FFN_NONE)
            w[n++] = ffn_word(&m->layers[i].ffn);
    add_picture(w, n, b);
    if (n == 0)
        buf_adds(b, "none");
    free(w);
}
