#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "model/cost.h"
#include "model/gguf_formats.h"
#include "model/gguf_model.h"
#include "tests/unit/fixture_gguf.h"
#include <stdlib.h>

/* A small model of each kind, as llama.cpp's converter would write it. All have 2 layers, a hidden
 * width of 64, 4 query heads and 2 key heads, and 100 tokens. */
#define HIDDEN 64u
#define VOCAB 100u
#define LAYERS 2u

struct plan {
    const char *arch;
    uint32_t head_dim; /* 0: not stored, hidden / heads */
    uint32_t inner, experts, expert_inner, shared_inner;
    bool head, qkv_bias, qk_norm, rope_freqs;
    const char *extra_key; /* u32 1 */
    const char *extra_tensor;
    uint32_t type; /* of the matrices */
    bool kv_array;
};

static struct made m, pairs, infos;
static uint64_t pair_count, tensor_count, offset;
static struct inventory inv, renamed;
static struct finding_list found;
static struct gguf g;
static struct model model;
static struct err e;
static bool has_model;

static void key_u32(const char *arch, const char *key, uint32_t v)
{
    char name[80];

    snprintf(name, sizeof(name), "%s.%s", arch, key);
    made_pair_u32(&pairs, name, v);
    pair_count++;
}

static void tensor(const char *name, uint32_t type, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t ne[3] = {a, b, c};
    uint64_t bytes = a * (b ? b : 1) * (c ? c : 1);

    made_tensor(&infos, name, c ? 3 : b ? 2 : 1, ne, type, offset);
    tensor_count++;
    bytes = type == 0 ? bytes * 4 : type == 1 ? bytes * 2 : bytes / 32 * 34; /* F32, F16, Q8_0 */
    offset += (bytes + 31) / 32 * 32;
}

static void layer_tensor(uint32_t layer, const char *part, uint32_t type, uint64_t a, uint64_t b,
                         uint64_t c)
{
    char name[80];

    snprintf(name, sizeof(name), "blk.%u.%s", layer, part);
    tensor(name, type, a, b, c);
}

static void layer(const struct plan *p, uint32_t i)
{
    uint32_t d = p->head_dim ? p->head_dim : HIDDEN / 4, t = p->type;

    layer_tensor(i, "attn_norm.weight", 0, HIDDEN, 0, 0);
    layer_tensor(i, "ffn_norm.weight", 0, HIDDEN, 0, 0);
    layer_tensor(i, "attn_q.weight", t, HIDDEN, 4 * d, 0);
    layer_tensor(i, "attn_k.weight", t, HIDDEN, 2 * d, 0);
    layer_tensor(i, "attn_v.weight", t, HIDDEN, 2 * d, 0);
    layer_tensor(i, "attn_output.weight", t, 4 * d, HIDDEN, 0);
    if (p->qkv_bias) {
        layer_tensor(i, "attn_q.bias", 0, 4 * d, 0, 0);
        layer_tensor(i, "attn_k.bias", 0, 2 * d, 0, 0);
        layer_tensor(i, "attn_v.bias", 0, 2 * d, 0, 0);
    }
    if (p->qk_norm) {
        layer_tensor(i, "attn_q_norm.weight", 0, d, 0, 0);
        layer_tensor(i, "attn_k_norm.weight", 0, d, 0, 0);
    }
    if (!p->experts) {
        layer_tensor(i, "ffn_gate.weight", t, HIDDEN, p->inner, 0);
        layer_tensor(i, "ffn_up.weight", t, HIDDEN, p->inner, 0);
        layer_tensor(i, "ffn_down.weight", t, p->inner, HIDDEN, 0);
        return;
    }
    layer_tensor(i, "ffn_gate_inp.weight", 0, HIDDEN, p->experts, 0);
    layer_tensor(i, "ffn_gate_exps.weight", t, HIDDEN, p->expert_inner, p->experts);
    layer_tensor(i, "ffn_up_exps.weight", t, HIDDEN, p->expert_inner, p->experts);
    layer_tensor(i, "ffn_down_exps.weight", t, p->expert_inner, HIDDEN, p->experts);
    if (p->shared_inner) {
        layer_tensor(i, "ffn_gate_inp_shexp.weight", 0, HIDDEN, 0, 0);
        layer_tensor(i, "ffn_gate_shexp.weight", t, HIDDEN, p->shared_inner, 0);
        layer_tensor(i, "ffn_up_shexp.weight", t, HIDDEN, p->shared_inner, 0);
        layer_tensor(i, "ffn_down_shexp.weight", t, p->shared_inner, HIDDEN, 0);
    }
}

static void metadata(const struct plan *p)
{
    char name[80];

    made_pair_text(&pairs, "general.architecture", p->arch);
    snprintf(name, sizeof(name), "%s.attention.layer_norm_rms_epsilon", p->arch);
    made_pair_f32(&pairs, name, 1e-5f);
    pair_count += 2;
    key_u32(p->arch, "embedding_length", HIDDEN);
    key_u32(p->arch, "block_count", LAYERS);
    key_u32(p->arch, "context_length", 4096);
    key_u32(p->arch, "vocab_size", VOCAB);
    key_u32(p->arch, "attention.head_count", 4);
    snprintf(name, sizeof(name), "%s.attention.head_count_kv", p->arch);
    if (p->kv_array) {
        made_key(&pairs, name, 9);
        made_uint(&pairs, 4, 4);
        made_uint(&pairs, 0, 8);
        pair_count++;
    } else {
        key_u32(p->arch, "attention.head_count_kv", 2);
    }
    if (p->inner)
        key_u32(p->arch, "feed_forward_length", p->inner);
    if (p->head_dim) {
        key_u32(p->arch, "attention.key_length", p->head_dim);
        key_u32(p->arch, "attention.value_length", p->head_dim);
    }
    if (p->experts) {
        key_u32(p->arch, "expert_count", p->experts);
        key_u32(p->arch, "expert_used_count", 2);
        if (strcmp(p->arch, "llama") != 0)
            key_u32(p->arch, "expert_feed_forward_length", p->expert_inner);
    }
    if (p->shared_inner)
        key_u32(p->arch, "expert_shared_feed_forward_length", p->shared_inner);
    if (p->extra_key)
        key_u32(p->arch, p->extra_key, 1);
}

static int drop(void **state)
{
    (void)state;
    gguf_release(&g);
    inventory_release(&inv);
    inventory_release(&renamed);
    finding_list_release(&found);
    if (has_model)
        model_release(&model);
    has_model = false;
    e = (struct err){0};
    return 0;
}

/* Writes the header, reads it, and asks for the model. */
static int build(const struct plan *p, bool complete)
{
    bool more = true;

    drop(NULL);
    pairs.n = infos.n = 0;
    pair_count = tensor_count = offset = 0;
    metadata(p);
    tensor("token_embd.weight", p->type, HIDDEN, VOCAB, 0);
    tensor("output_norm.weight", 0, HIDDEN, 0, 0);
    if (p->head)
        tensor("output.weight", p->type, HIDDEN, VOCAB, 0);
    if (p->rope_freqs)
        tensor("rope_freqs.weight", 0, 8, 0, 0);
    if (p->extra_tensor)
        tensor(p->extra_tensor, 0, 8, 0, 0);
    for (uint32_t i = 0; i < LAYERS; i++)
        layer(p, i);
    made_start(&m, 3, tensor_count, pair_count);
    made_bytes(&m, pairs.b, pairs.n);
    made_bytes(&m, infos.b, infos.n);
    if (gguf_parse("x.gguf", m.b, m.n, 1u << 30, &found, &more, &g, &e))
        fail_msg("%s", e.msg);
    finding_list_release(&found); /* the file is made longer than its data */
    struct inventory_shard shard = {.path = "x.gguf",
                                    .file_bytes = g.end_bytes,
                                    .end_bytes = g.end_bytes,
                                    .data_offset = g.data_offset,
                                    .tensors = g.count};
    assert_int_equal(inventory_add_tensors(&inv, &shard, g.tensors, &e), 0);
    assert_int_equal(inventory_finish(&inv, NULL, &found, &e), 0);
    inv.complete = complete;
    int rc = gguf_model_build(&g, &inv, &found, &model, &renamed, &e);
    has_model = rc == 0;
    return rc;
}

static void refused(const struct plan *p, int code, const char *part)
{
    int rc = build(p, true);

    if (rc != code || !strstr(e.msg, part))
        fail_msg("gave %d (%s), wanted %d with \"%s\"", rc, e.msg, code, part);
}

/* Parameters by hand: both layers, embedding, final norm, head. */
static void expect_exact(const struct plan *p, uint64_t layer_params, uint64_t token_bytes)
{
    struct cost cost;
    struct cost_stored stored;
    uint64_t total = LAYERS * layer_params + (p->head ? 2 : 1) * (uint64_t)HIDDEN * VOCAB + HIDDEN;

    if (build(p, true))
        fail_msg("%s: %s", p->arch, e.msg);
    for (size_t i = 0; i < found.count; i++)
        fail_msg("%s: %s", found.items[i].code, found.items[i].text);
    assert_int_equal(model.unexplained_count, 0);
    if (cost_of(&model, &cost, &e))
        fail_msg("%s", e.msg);
    assert_int_equal(cost.params_total, total);
    assert_int_equal(cost.cache_token_bytes, token_bytes);
    cost_release(&cost);
    assert_int_equal(cost_stored_of(&model, &renamed, &stored, &e), 0);
    assert_int_equal(stored.params, total);
    assert_int_equal(stored.bytes, inv.stored_bytes);
    assert_int_equal(model.tied_embeddings, !p->head);
    assert_int_equal(model.max_positions, 4096);
}

#define NORMS (2 * 64)
#define ATTENTION(d) (64 * 4 * (d) + 2 * 64 * 2 * (d) + 4 * (d)*64)
#define CACHE(d) (2 * 2 * 2 * (d)*2) /* layers, k and v, heads, width, bytes */

static void llama_is_exact(void **state)
{
    struct plan p = {.arch = "llama", .inner = 96, .head = true, .rope_freqs = true, .type = 1};

    (void)state;
    expect_exact(&p, NORMS + ATTENTION(16) + 3 * 64 * 96, CACHE(16));
    assert_string_equal(model.family, "llama");
    assert_string_equal(model.architecture, "llama (GGUF)");
    p.head = false;
    p.type = 8;
    expect_exact(&p, NORMS + ATTENTION(16) + 3 * 64 * 96, CACHE(16));
}

static void qwen2_has_biases(void **state)
{
    struct plan p = {.arch = "qwen2", .inner = 96, .head = true, .qkv_bias = true, .type = 1};

    (void)state;
    expect_exact(&p, NORMS + ATTENTION(16) + 8 * 16 + 3 * 64 * 96, CACHE(16));
    assert_true(model.layers[0].mixer.qkv_bias);
}

static void qwen3_has_wide_heads_and_their_norms(void **state)
{
    struct plan p = {.arch = "qwen3", .head_dim = 32, .inner = 96, .qk_norm = true, .type = 8};

    (void)state;
    expect_exact(&p, NORMS + ATTENTION(32) + 2 * 32 + 3 * 64 * 96, CACHE(32));
}

static void stacks_of_experts_are_cut(void **state)
{
    struct plan p = {.arch = "qwen3moe",
                     .head_dim = 32,
                     .inner = 96,
                     .experts = 4,
                     .expert_inner = 32,
                     .qk_norm = true,
                     .type = 8};

    (void)state;
    expect_exact(&p, NORMS + ATTENTION(32) + 2 * 32 + 64 * 4 + 4 * 3 * 64 * 32, CACHE(32));
    assert_int_equal(model.layers[1].ffn.router.experts, 4);
    assert_int_equal(model.layers[1].ffn.router.top_k, 2);
    assert_true(model.layers[1].ffn.router.renormalize);
    /* the third expert lies behind two of 32 rows of 64 in Q8_0 */
    const struct tensor *stack = inventory_find(&inv, "blk.1.ffn_up_exps.weight");
    const struct tensor *one =
        inventory_find(&renamed, "model.layers.1.mlp.experts.2.up_proj.weight");
    assert_non_null(one);
    assert_int_equal(one->bytes, 32 * 64 / 32 * 34);
    assert_int_equal(one->offset, stack->offset + 2 * one->bytes);
    assert_int_equal(one->shape[0], 32);
    assert_int_equal(one->shape[1], 64);
    p.arch = "qwen2moe";
    p.head_dim = 0;
    p.qk_norm = false;
    p.qkv_bias = true;
    p.shared_inner = 64;
    expect_exact(&p, NORMS + ATTENTION(16) + 8 * 16 + 64 * 4 + 4 * 3 * 64 * 32 + 64 + 3 * 64 * 64,
                 CACHE(16));
    assert_false(model.layers[1].ffn.router.renormalize);
    assert_true(model.layers[1].ffn.shared_gate);
}

static void llama_with_experts_is_mixtral(void **state)
{
    struct plan p = {
        .arch = "llama", .inner = 96, .experts = 4, .expert_inner = 96, .head = true, .type = 1};

    (void)state;
    expect_exact(&p, NORMS + ATTENTION(16) + 64 * 4 + 4 * 3 * 64 * 96, CACHE(16));
    assert_string_equal(model.family, "mixtral");
    assert_non_null(
        inventory_find(&renamed, "model.layers.0.block_sparse_moe.experts.3.w2.weight"));
}

static void what_is_not_understood_is_named(void **state)
{
    struct plan p = {.arch = "llama", .inner = 96, .head = true, .type = 1};

    (void)state;
    p.extra_key = "attention.sliding_window";
    refused(&p, ERR_UNSUPPORTED, "llama.attention.sliding_window");
    p.extra_key = "rope.dimension_count"; /* 1 of 16 channels */
    refused(&p, ERR_UNSUPPORTED, "16 channels, values 16, 1 are rotated");
    p.extra_key = NULL;
    p.extra_tensor = "blk.0.attn_sinks.weight";
    refused(&p, ERR_UNSUPPORTED, "blk.0.attn_sinks.weight has no place in a llama model");
    p.extra_tensor = NULL;
    p.kv_array = true;
    refused(&p, ERR_UNSUPPORTED, "llama.attention.head_count_kv is of type array");
    p.kv_array = false;
    p.arch = "mamba";
    refused(&p, ERR_UNSUPPORTED, "architecture mamba");
    p.arch = "llama";
    p.inner = 0;
    refused(&p, ERR_FORMAT, "llama.feed_forward_length is missing");
    p.inner = 96;
    assert_int_equal(build(&p, false), ERR_UNSUPPORTED);
    assert_non_null(strstr(e.msg, "not complete"));
}

/* The metadata say one thing and a tensor another: found, and the costs are not known. */
static void tensors_that_contradict_the_metadata_are_found(void **state)
{
    struct plan p = {.arch = "qwen2", .inner = 96, .head = true, .type = 1}; /* without biases */
    struct cost cost;

    (void)state;
    assert_int_equal(build(&p, true), 0);
    assert_true(found.count > 0);
    p = (struct plan){.arch = "llama", .inner = 96, .head = true, .qk_norm = true, .type = 1};
    assert_int_equal(build(&p, true), 0);
    assert_true(model.unexplained_count > 0);
    assert_int_not_equal(cost_of(&model, &cost, &e), 0);
}

static void formats_are_counted_by_class_and_type(void **state)
{
    struct plan p = {
        .arch = "qwen3moe", .inner = 96, .experts = 4, .expert_inner = 32, .head = true, .type = 8};
    struct quant_observed o;
    struct gguf_formats f;
    uint64_t experts = 4ull * 3 * 64 * 32 * LAYERS;

    (void)state;
    (void)build(&p, true);
    gguf_formats_observed(&inv, &o);
    assert_int_equal(o.classes[QUANT_ROUTED_EXPERTS].tensors, 3 * LAYERS);
    assert_int_equal(o.classes[QUANT_ROUTED_EXPERTS].bytes, experts / 32 * 34);
    assert_string_equal(o.classes[QUANT_ROUTED_EXPERTS].formats[0].name, "gguf-q8_0");
    assert_int_equal(o.classes[QUANT_ROUTER].tensors, LAYERS);
    assert_string_equal(o.classes[QUANT_ROUTER].formats[0].name, "f32");
    assert_int_equal(o.classes[QUANT_ATTENTION].tensors, 4 * LAYERS);
    assert_int_equal(o.classes[QUANT_NORMS].tensors, 2 * LAYERS + 1);
    assert_int_equal(o.classes[QUANT_EMBEDDING].tensors, 1);
    assert_int_equal(o.classes[QUANT_HEAD].tensors, 1);
    assert_int_equal(o.classes[QUANT_OTHER].tensors, 0);
    gguf_formats_of(&inv, &f);
    assert_int_equal(f.count, 2);
    assert_string_equal(f.items[0].name, "Q8_0");
    assert_true(f.items[0].bits_per_weight == 8.5);
    assert_int_equal(f.items[0].bytes + f.items[1].bytes, inv.stored_bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(llama_is_exact, drop),
        cmocka_unit_test_teardown(qwen2_has_biases, drop),
        cmocka_unit_test_teardown(qwen3_has_wide_heads_and_their_norms, drop),
        cmocka_unit_test_teardown(stacks_of_experts_are_cut, drop),
        cmocka_unit_test_teardown(llama_with_experts_is_mixtral, drop),
        cmocka_unit_test_teardown(what_is_not_understood_is_named, drop),
        cmocka_unit_test_teardown(tensors_that_contradict_the_metadata_are_found, drop),
        cmocka_unit_test_teardown(formats_are_counted_by_class_and_type, drop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
