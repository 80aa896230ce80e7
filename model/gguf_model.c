#include "model/gguf_model.h"
#include "core/json.h"
#include "core/text.h"
#include "model/config.h"
#include "model/confirm.h"
#include "model/gguf_names.h"
#include "model/gguf_pairs.h"
#include "model/layers.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN_BYTES 160

/* An architecture of llama.cpp and the family of transformers that it was converted from. Sources:
 * llama.cpp llama-arch.cpp and llama-model.cpp (what each graph does that no key says: SiLU
 * everywhere; the weights of the chosen experts are normalised in llama and qwen3moe). */
struct known {
    const char *architecture, *family;
    const char *experts; /* folder of routed experts; NULL: none */
    bool short_names, renormalize, shared;
};

static const struct known dense_llama = {.architecture = "llama", .family = "llama"};
static const struct known moe_llama = {.architecture = "llama",
                                       .family = "mixtral",
                                       .experts = "block_sparse_moe",
                                       .short_names = true,
                                       .renormalize = true};
static const struct known others[] = {
    {.architecture = "qwen2", .family = "qwen2"},
    {.architecture = "qwen2moe", .family = "qwen2_moe", .experts = "mlp", .shared = true},
    {.architecture = "qwen3", .family = "qwen3"},
    {.architecture = "qwen3moe", .family = "qwen3_moe", .experts = "mlp", .renormalize = true},
};

/* --- the metadata as a config ----------------------------------------------------------------- */

/* Keys below the architecture's name that are read here, or that change no shape and no cost:
 * rotary frequencies, their scaling, and how the converter laid out what it read. */
static bool understood(const struct known *k, const char *key)
{
    static const char *const all[] = {"vocab_size",
                                      "context_length",
                                      "embedding_length",
                                      "block_count",
                                      "feed_forward_length",
                                      "attention.head_count",
                                      "attention.head_count_kv",
                                      "attention.layer_norm_rms_epsilon",
                                      "attention.key_length",
                                      "attention.value_length",
                                      "rope.dimension_count",
                                      "rope.freq_base",
                                      "rope.scale_linear",
                                      "tensor_data_layout"};
    static const char *const moe[] = {"expert_count", "expert_used_count",
                                      "expert_feed_forward_length",
                                      "expert_shared_feed_forward_length"};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (strcmp(key, all[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof(moe) / sizeof(moe[0]) && k->experts; i++)
        if (strcmp(key, moe[i]) == 0)
            return true;
    return text_starts(key, "rope.scaling.");
}

/* A key whose zero says that the thing is not there. */
static bool zero(const struct gguf_pair *p)
{
    return p->type != GGUF_TEXT && p->type != GGUF_ARRAY && p->u64 == 0 && p->i64 == 0 &&
           !(p->real < 0) && !(p->real > 0);
}

static int check_keys(const struct gguf *g, const struct known *k, struct err *e)
{
    size_t n = strlen(k->architecture);
    char plain[PLAIN_BYTES];

    for (size_t i = 0; i < g->pair_count; i++) {
        const struct gguf_pair *p = &g->pairs[i];
        if (strncmp(p->key, k->architecture, n) != 0 || p->key[n] != '.')
            continue;
        if (!understood(k, p->key + n + 1) && !zero(p))
            return err_set(e, ERR_UNSUPPORTED,
                           "the metadata has %s, which is not understood: layers and costs are not "
                           "worked out",
                           text_plain(p->key, plain, sizeof(plain)));
    }
    return 0;
}

static int need(const struct gguf *g, const char *key, uint64_t *ret, struct err *e)
{
    const struct gguf_pair *p = gguf_pairs_find(g, key);
    const char *arch = gguf_pairs_architecture(g);

    if (gguf_pairs_u64(g, key, ret))
        return 0;
    if (p && p->i64 < 0)
        return err_set(e, ERR_FORMAT, "%s%s is %" PRId64 ", less than 0", arch, key + 1, p->i64);
    if (p)
        return err_set(e, p->type == GGUF_ARRAY ? ERR_UNSUPPORTED : ERR_FORMAT,
                       "%s%s is of type %s, not a whole number", arch, key + 1,
                       gguf_pairs_type_name(p->type));
    return err_set(e, ERR_FORMAT, "%s%s is missing", arch, key + 1);
}

/* Widths of a head: what is left out is the embedding divided by the heads. One width for keys and
 * values, rotated as a whole: nothing else is known of these families. */
static int put_heads(const struct gguf *g, uint64_t hidden, struct cJSON *c, struct err *e)
{
    uint64_t heads, kv, key, value, rotated;

    if (need(g, "*.attention.head_count", &heads, e))
        return e->code;
    kv = heads;
    if (gguf_pairs_find(g, "*.attention.head_count_kv") &&
        need(g, "*.attention.head_count_kv", &kv, e))
        return e->code;
    if (heads == 0 || hidden % heads)
        key = 0;
    else
        key = hidden / heads;
    value = key;
    if ((gguf_pairs_find(g, "*.attention.key_length") &&
         need(g, "*.attention.key_length", &key, e)) ||
        (gguf_pairs_find(g, "*.attention.value_length") &&
         need(g, "*.attention.value_length", &value, e)))
        return e->code;
    rotated = key;
    if (gguf_pairs_find(g, "*.rope.dimension_count") &&
        need(g, "*.rope.dimension_count", &rotated, e))
        return e->code;
    if (key == 0)
        return err_set(e, ERR_FORMAT,
                       "attention.key_length is missing, and %" PRIu64
                       " channels are not divided by %" PRIu64 " heads",
                       hidden, heads);
    if (key != value || rotated != key)
        return err_set(e, ERR_UNSUPPORTED,
                       "keys have %" PRIu64 " channels, values %" PRIu64 ", %" PRIu64
                       " are rotated: only one width for all three is understood",
                       key, value, rotated);
    json_add_u64(c, "num_attention_heads", heads);
    json_add_u64(c, "num_key_value_heads", kv);
    json_add_u64(c, "head_dim", key);
    return 0;
}

static int put_experts(const struct gguf *g, const struct known *k, struct cJSON *c, struct err *e)
{
    uint64_t experts, used, inner, shared;

    if (!k->experts)
        return 0;
    if (need(g, "*.expert_count", &experts, e) || need(g, "*.expert_used_count", &used, e))
        return e->code;
    json_add_u64(c, k->short_names ? "num_local_experts" : "num_experts", experts);
    json_add_u64(c, "num_experts_per_tok", used);
    if (k->short_names)
        return 0;
    json_add_bool(c, "norm_topk_prob", k->renormalize);
    if (need(g, "*.expert_feed_forward_length", &inner, e))
        return e->code;
    json_add_u64(c, "moe_intermediate_size", inner);
    if (!k->shared)
        return 0;
    if (need(g, "*.expert_shared_feed_forward_length", &shared, e))
        return e->code;
    json_add_u64(c, "shared_expert_intermediate_size", shared);
    return 0;
}

/* The vocabulary is a key, or the length of the token list, or the rows of the embedding. */
static int vocabulary(const struct gguf *g, const struct inventory *inv, uint64_t *ret,
                      struct err *e)
{
    const struct gguf_pair *tokens = gguf_pairs_find(g, "tokenizer.ggml.tokens");
    const struct tensor *embedding = inventory_find(inv, "token_embd.weight");

    if (gguf_pairs_find(g, "*.vocab_size"))
        return need(g, "*.vocab_size", ret, e);
    if (tokens && tokens->type == GGUF_ARRAY)
        *ret = tokens->count;
    else if (embedding && embedding->dims == 2)
        *ret = embedding->shape[0];
    else
        return err_set(e, ERR_FORMAT, "no vocabulary: neither a token list nor an embedding");
    return 0;
}

static int put_config(const struct gguf *g, const struct inventory *inv, const struct known *k,
                      struct cJSON *c, struct err *e)
{
    uint64_t hidden, layers, vocab, inner = 0, positions;
    double eps;

    if (need(g, "*.embedding_length", &hidden, e) || need(g, "*.block_count", &layers, e) ||
        vocabulary(g, inv, &vocab, e))
        return e->code;
    /* a Qwen model all of whose layers have experts may leave out the dense width */
    if ((!k->experts || k->short_names || gguf_pairs_find(g, "*.feed_forward_length")) &&
        need(g, "*.feed_forward_length", &inner, e))
        return e->code;
    json_add_text(c, "model_type", k->family);
    json_add_u64(c, "hidden_size", hidden);
    json_add_u64(c, "num_hidden_layers", layers);
    json_add_u64(c, "vocab_size", vocab);
    if (inner)
        json_add_u64(c, "intermediate_size", inner);
    if (gguf_pairs_u64(g, "*.context_length", &positions))
        json_add_u64(c, "max_position_embeddings", positions);
    if (gguf_pairs_real(g, "*.attention.layer_norm_rms_epsilon", &eps))
        json_add_real(c, "rms_norm_eps", eps);
    json_add_text(c, "hidden_act", "silu");
    json_add_bool(c, "tie_word_embeddings", !inventory_find(inv, "output.weight"));
    if (strcmp(k->family, "llama") == 0 || strncmp(k->family, "qwen3", 5) == 0)
        json_add_bool(c, "attention_bias",
                      inventory_find(inv, "blk.0.attn_q.bias") &&
                          inventory_find(inv, "blk.0.attn_output.bias"));
    if (put_heads(g, hidden, c, e))
        return e->code;
    return put_experts(g, k, c, e);
}

/* --- the tensors under other names ------------------------------------------------------------ */

struct renamed {
    struct mem_arena arena;
    struct tensor *tensors;
    size_t count, cap;
};

static void put_tensor(struct renamed *r, const struct tensor *t, const char *name)
{
    r->tensors = mem_grow(r->tensors, &r->cap, r->count + 1, sizeof(*r->tensors));
    r->tensors[r->count] = *t;
    r->tensors[r->count++].name = mem_arena_strndup(&r->arena, name, strlen(name));
}

/* A stack [experts, rows, columns] holds its experts one behind the other. The number in the name
 * is what `pattern` has in place of "%u". */
static int put_stack(struct renamed *r, const struct tensor *t, const char *pattern,
                     uint64_t experts, struct err *e)
{
    const char *star = strstr(pattern, "%u");
    char name[GGUF_NAMES_BYTES + 24], shape[PLAIN_BYTES];

    if (t->dims != 3 || t->shape[0] != experts || experts == 0 || t->bytes % experts)
        return err_set(e, ERR_FORMAT, "%s is %s, and there are %" PRIu64 " experts by the metadata",
                       t->name, tensor_shape_text(t, shape, sizeof(shape)), experts);
    if (experts > INVENTORY_TENSORS_MAX - r->count)
        return err_set(e, ERR_LIMIT, "more than %d tensors of experts", INVENTORY_TENSORS_MAX);
    for (uint64_t i = 0; i < experts; i++) {
        struct tensor one = *t;
        one.dims = 2;
        one.shape[0] = t->shape[1];
        one.shape[1] = t->shape[2];
        one.shape[2] = 0;
        one.bytes = t->bytes / experts;
        one.offset = t->offset + i * one.bytes;
        snprintf(name, sizeof(name), "%.*s%" PRIu64 "%s", (int)(star - pattern), pattern, i,
                 star + 2);
        put_tensor(r, &one, name);
    }
    return 0;
}

static int rename_tensor(const struct tensor *t, const struct known *k, uint64_t experts,
                         struct renamed *r, struct err *e)
{
    char name[GGUF_NAMES_BYTES], plain[PLAIN_BYTES];
    bool stack;

    if (t->dtype == DTYPE_UNKNOWN && !t->format)
        return err_set(e, ERR_UNSUPPORTED, "tensor %s is of %s, which is not known",
                       text_plain(t->name, plain, sizeof(plain)), t->dtype_text);
    if (!gguf_names_translate(t->name, k->experts, k->short_names, name, &stack))
        return err_set(e, ERR_UNSUPPORTED,
                       "tensor %s has no place in a %s model: layers and costs are not worked out",
                       text_plain(t->name, plain, sizeof(plain)), k->architecture);
    if (stack)
        return put_stack(r, t, name, experts, e);
    put_tensor(r, t, name);
    return 0;
}

static int compare_shards(const void *pa, const void *pb)
{
    const struct tensor *a = *(const struct tensor *const *)pa;
    const struct tensor *b = *(const struct tensor *const *)pb;

    return a->shard != b->shard ? (a->shard < b->shard ? -1 : 1) : a < b ? -1 : a > b;
}

/* One shard after the other, each with its tensors. */
static int rename_into(const struct inventory *inv, const struct known *k, uint64_t experts,
                       const struct tensor **order, struct renamed *r, struct inventory *out,
                       struct err *e)
{
    size_t at = 0;

    for (size_t i = 0; i < inv->count; i++)
        order[i] = &inv->tensors[i];
    qsort(order, inv->count, sizeof(*order), compare_shards);
    for (size_t i = 0; i < inv->shard_count; i++) {
        struct inventory_shard shard = inv->shards[i];
        for (r->count = 0; at < inv->count && order[at]->shard == i; at++)
            if (rename_tensor(order[at], k, experts, r, e))
                return e->code;
        shard.tensors = r->count;
        if (inventory_add_tensors(out, &shard, r->tensors, e))
            return e->code;
    }
    return 0;
}

static int rename_all(const struct gguf *g, const struct inventory *inv, const struct known *k,
                      struct inventory *ret, struct err *e)
{
    const struct tensor **order = mem_alloc(inv->count, sizeof(*order));
    struct renamed r = {0};
    struct inventory out = {0};
    struct finding_list said = {0}; /* of the same tensors, before */
    uint64_t experts = 0;

    (void)gguf_pairs_u64(g, "*.expert_count", &experts);
    int rc = rename_into(inv, k, experts, order, &r, &out, e);
    if (!rc)
        rc = inventory_finish(&out, NULL, &said, e);
    out.complete = inv->complete;
    finding_list_release(&said);
    mem_arena_release(&r.arena);
    free(r.tensors);
    free(order);
    if (rc)
        inventory_release(&out);
    else
        *ret = out;
    return rc;
}

/* Layers by the names; llama.cpp refuses a file with more or fewer than the metadata says. */
static int check_layers(const struct gguf *g, const struct inventory *inv, struct err *e)
{
    uint64_t said, there = 0;
    int rc = need(g, "*.block_count", &said, e);

    for (size_t i = 0; i < inv->count && !rc; i++)
        if (text_starts(inv->tensors[i].name, "blk.")) {
            uint64_t n = strtoull(inv->tensors[i].name + 4, NULL, 10);
            there = n + 1 > there ? n + 1 : there;
        }
    if (!rc && there != said)
        rc = err_set(e, ERR_FORMAT,
                     "block_count is %" PRIu64 ", and the tensors are of %" PRIu64
                     " layers: the file contradicts itself",
                     said, there);
    return rc;
}

/* --- the whole -------------------------------------------------------------------------------- */

static const struct known *find_known(const struct gguf *g)
{
    const char *arch = gguf_pairs_architecture(g);
    uint64_t experts = 0;

    if (!arch)
        return NULL;
    (void)gguf_pairs_u64(g, "*.expert_count", &experts);
    if (strcmp(arch, "llama") == 0)
        return experts ? &moe_llama : &dense_llama;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strcmp(arch, others[i].architecture) == 0)
            return &others[i];
    return NULL;
}

static int refuse(const struct gguf *g, struct err *e)
{
    const char *arch = gguf_pairs_architecture(g);
    char plain[PLAIN_BYTES];

    if (!arch)
        return err_set(e, ERR_UNSUPPORTED,
                       "the GGUF metadata names no architecture (general.architecture)");
    return err_set(e, ERR_UNSUPPORTED,
                   "the GGUF metadata names the architecture %s; layers and costs are worked out "
                   "from GGUF metadata for llama, qwen2, qwen2moe, qwen3 and qwen3moe",
                   text_plain(arch, plain, sizeof(plain)));
}

/* As model_build does. */
static int build(const struct cJSON *config, const struct inventory *inv,
                 struct finding_list *findings, struct model *ret, struct err *e)
{
    struct model m = {.family = ""};
    struct config c;
    struct layers_known known;
    int rc = config_init(&c, config, &m, e);

    if (!rc)
        rc = layers_build(&c, &known, e);
    if (!rc)
        rc = confirm_tensors(&c, inv, &known, findings, e);
    if (rc)
        model_release(&m);
    else
        *ret = m;
    return rc;
}

int gguf_model_build(const struct gguf *g, const struct inventory *inv,
                     struct finding_list *findings, struct model *ret, struct inventory *ret_inv,
                     struct err *e)
{
    const struct known *k = find_known(g);
    struct inventory renamed = {0};
    struct model m;
    char name[PLAIN_BYTES];

    if (!k)
        return refuse(g, e);
    if (inv->count == 0)
        return err_set(e, ERR_UNSUPPORTED, "the GGUF files have metadata and no tensors");
    if (!inv->complete)
        return err_set(e, ERR_UNSUPPORTED,
                       "the GGUF files are not complete, so what their tensors leave open (the "
                       "head, biases) is not known");
    struct cJSON *config = json_object();
    int rc = check_keys(g, k, e);
    if (!rc)
        rc = put_config(g, inv, k, config, e);
    if (!rc)
        rc = rename_all(g, inv, k, &renamed, e);
    if (!rc)
        rc = check_layers(g, inv, e);
    if (!rc)
        rc = build(config, &renamed, findings, &m, e);
    json_free(config);
    if (rc) {
        inventory_release(&renamed);
        return err_wrap(e, "GGUF metadata");
    }
    snprintf(name, sizeof(name), "%s (GGUF)", k->architecture);
    m.architecture = mem_arena_strndup(&m.arena, name, strlen(name));
    *ret = m;
    *ret_inv = renamed;
    return 0;
}
