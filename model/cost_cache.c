#include "model/cost_cache.h"

#define BF16_BYTES 2u
#define F32_BYTES 4u

/* FP8 layouts: a latent has one F32 scale for each 128 values and its rope slice in BF16 (656 bytes
 * of 512 + 64, FlashMLA); DeepSeek V4's has one E8M0 scale for each 64 and is padded to 8 bytes
 * (584 of 448 + 64); an index key has one F32 scale for each 128 (132 of 128). Keys and values of
 * softmax attention have one scale a tensor, which is no cache. */
#define LATENT_SCALED 128u
#define ENTRY_SCALED 64u
#define INDEX_SCALED 128u
#define ENTRY_ALIGN 8u

static uint64_t keys_values(const struct mixer *x, enum cost_store store)
{
    uint64_t n = (uint64_t)x->key_heads * x->key_dim + (uint64_t)x->value_heads * x->value_dim;
    return store == COST_FP8 ? n : n * BF16_BYTES;
}

/* The published FP8 layouts are of one width: 512 with 64 rotated, which MLA keeps beside it and
 * DeepSeek V4 within. What an engine would do with another width is not known. */
#define FP8_DIM 512u
#define FP8_ROPE_DIM 64u

static bool latent(const struct mixer *x, enum cost_store store, uint64_t *ret)
{
    uint64_t rope = (uint64_t)x->rope_dim * BF16_BYTES;
    if (store == COST_FP8 && (x->kv_rank != FP8_DIM || x->rope_dim != FP8_ROPE_DIM))
        return false;
    *ret = store == COST_FP8 ? x->kv_rank + x->kv_rank / LATENT_SCALED * (uint64_t)F32_BYTES + rope
                             : (uint64_t)x->kv_rank * BF16_BYTES + rope;
    return true;
}

static bool index_key(const struct mixer *x, enum cost_store store, uint64_t *ret)
{
    if (store == COST_FP8 && x->index_dim % INDEX_SCALED)
        return false;
    *ret = store == COST_FP8 ? x->index_dim + x->index_dim / INDEX_SCALED * (uint64_t)F32_BYTES
                             : (uint64_t)x->index_dim * BF16_BYTES;
    return true;
}

/* One latent that is key and value at once. */
static bool entry(const struct mixer *x, enum cost_store store, uint64_t *ret)
{
    uint64_t nope = x->key_dim - x->rope_dim, n;
    if (store != COST_FP8) {
        *ret = (uint64_t)x->key_dim * BF16_BYTES;
        return true;
    }
    if (x->key_dim != FP8_DIM || x->rope_dim != FP8_ROPE_DIM)
        return false;
    n = nope + nope / ENTRY_SCALED + (uint64_t)x->rope_dim * BF16_BYTES;
    *ret = (n + ENTRY_ALIGN - 1) / ENTRY_ALIGN * ENTRY_ALIGN;
    return true;
}

/* The matrices, and the inputs that the short convolutions look back at, in BF16. Every engine
 * keeps the matrices of KDA in F32, and its heads are one number. */
static uint64_t state(const struct mixer *x)
{
    bool kda = x->kind == MIXER_KDA;
    uint64_t k = (uint64_t)(kda ? x->heads : x->key_heads) * x->key_dim;
    uint64_t v = (uint64_t)(kda ? x->heads : x->value_heads) * x->value_dim;
    return v * x->key_dim * (kda ? F32_BYTES : x->state_element_bytes) +
           (2 * k + v) * (x->conv_kernel ? x->conv_kernel - 1 : 0) * BF16_BYTES;
}

static bool indexed(const struct mixer *x, enum cost_store store, struct cost_cache *c)
{
    if (!x->index_own)
        return true;
    c->index_tokens = x->index_pool ? x->index_pool : 1;
    return index_key(x, store, &c->index);
}

static bool softmax(const struct mixer *x, enum cost_store store, struct cost_cache *c)
{
    uint64_t n = 0;
    bool ok = true;
    if (x->kind == MIXER_MLA || x->kind == MIXER_DSA)
        ok = latent(x, store, &n);
    else
        n = keys_values(x, store);
    c->state = n * x->cross_tokens;
    if (!ok)
        return false;
    if (x->window) {
        c->window = n;
        c->window_tokens = x->window;
    } else {
        c->token = n;
    }
    /* No engine is known to keep these two indexes in FP8. */
    if (store == COST_FP8 && (x->kind == MIXER_MSA || x->kind == MIXER_QSA) && x->index_own)
        return false;
    return indexed(x, store, c);
}

static bool compressed(const struct mixer *x, enum cost_store store, struct cost_cache *c)
{
    uint64_t n;
    if (!entry(x, store, &n))
        return false;
    c->window = n;
    c->window_tokens = x->window;
    if (!x->ratio)
        return true;
    c->entry = n;
    c->entry_tokens = x->ratio;
    return indexed(x, store, c);
}

bool cost_cache_of(const struct mixer *x, enum cost_store store, struct cost_cache *ret)
{
    struct cost_cache c = {.entry_tokens = 1, .index_tokens = 1};
    bool ok = true;
    switch (x->kind) {
    case MIXER_GQA:
    case MIXER_KEY_DECOUPLED:
    case MIXER_MLA:
    case MIXER_DSA:
    case MIXER_MSA:
    case MIXER_QSA: ok = x->store != MIXER_KEEPS || softmax(x, store, &c); break;
    case MIXER_COMPRESSED: ok = compressed(x, store, &c); break;
    case MIXER_KDA:
    case MIXER_GATED_DELTA:
    case MIXER_LIGHTNING:
    case MIXER_MAMBA2: c.state = state(x); break;
    /* The gated inputs of the last taps. */
    case MIXER_CONV:
        c.state = (uint64_t)x->value_heads * x->value_dim * (x->conv_kernel - 1) * BF16_BYTES;
        break;
    /* One matrix a head, and the last token's input of the mixer and of the feed-forward. */
    case MIXER_RWKV:
        c.state = state(x) + 2 * (uint64_t)x->value_heads * x->value_dim * BF16_BYTES;
        break;
    case MIXER_NONE:
    case MIXER_UNKNOWN:
    case MIXERS: break;
    }
    *ret = c;
    return ok;
}

/* *sum += a * b. False if that leaves 64 bits. */
static bool add_product(uint64_t *sum, uint64_t a, uint64_t b)
{
    uint64_t p;
    return !__builtin_mul_overflow(a, b, &p) && !__builtin_add_overflow(*sum, p, sum);
}

uint64_t cost_cache_bytes(const struct cost_cache *c, uint64_t tokens)
{
    uint64_t sum = c->state, kept = tokens < c->window_tokens ? tokens : c->window_tokens;
    return add_product(&sum, c->token, tokens) &&
                   add_product(&sum, c->entry, tokens / c->entry_tokens) &&
                   add_product(&sum, c->index, tokens / c->index_tokens) &&
                   add_product(&sum, c->window, kept)
               ? sum
               : UINT64_MAX;
}
