#ifndef FIXTURE_MODEL_H
#define FIXTURE_MODEL_H
/* Configs as text and tensors as lists, for the tests of model/. Shapes are written out by the
 * tests, from published layouts; nothing here asks the code under test what to expect. */
#include "core/buf.h"
#include "core/json.h"
#include "model/finding.h"
#include "model/inventory.h"
#include "model/model.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fixture_model {
    struct err e;
    struct cJSON *config;
    struct finding_list findings;
    struct model m;
    bool built;
};

/* A header in the making. */
struct fixture_tensors {
    struct buf json;
    uint64_t at;
    struct inventory inv;
};

/* Two layers of a llama: hidden 64, inner 160, 4 heads and 2 key heads of 16, vocabulary 100.
 * 99,136 parameters: 2 * 100 * 64 + 64 + 2 * (12,288 + 30,720 + 128). */
#define FIXTURE_LLAMA                                                                              \
    "\"architectures\":[\"LlamaForCausalLM\"],\"model_type\":\"llama\",\"hidden_size\":64,"        \
    "\"intermediate_size\":160,\"num_hidden_layers\":2,\"num_attention_heads\":4,"                 \
    "\"num_key_value_heads\":2,\"vocab_size\":100,\"hidden_act\":\"silu\",\"rms_norm_eps\":1e-05," \
    "\"torch_dtype\":\"bfloat16\",\"tie_word_embeddings\":false"

/* Without the lists: four layers, 2 heads of 8 in both mixers, 4 experts top-2, the first layer
 * dense. */
#define FIXTURE_KIMI                                                                           \
    "\"architectures\":[\"KimiLinearForCausalLM\"],\"model_type\":\"kimi_linear\","            \
    "\"hidden_size\":32,\"intermediate_size\":48,\"num_hidden_layers\":4,"                     \
    "\"num_attention_heads\":2,\"num_key_value_heads\":2,\"vocab_size\":64,\"head_dim\":72,"   \
    "\"hidden_act\":\"silu\",\"rms_norm_eps\":1e-05,\"kv_lora_rank\":12,\"q_lora_rank\":null," \
    "\"qk_nope_head_dim\":8,\"qk_rope_head_dim\":4,\"v_head_dim\":8,\"mla_use_nope\":true,"    \
    "\"num_experts\":4,\"num_experts_per_token\":2,\"num_shared_experts\":1,"                  \
    "\"moe_intermediate_size\":16,\"first_k_dense_replace\":1,\"moe_layer_freq\":1,"           \
    "\"moe_router_activation_func\":\"sigmoid\",\"dtype\":\"bfloat16\""

static inline void fixture_parse(struct fixture_model *f, const char *text)
{
    memset(f, 0, sizeof *f);
    if (json_parse(text, strlen(text), &f->config, NULL, &f->e))
        fail_msg("%s in %s", f->e.msg, text);
}

/* Builds from a config; 0 or the error's code. inv may be NULL. */
static inline int fixture_build(struct fixture_model *f, const struct inventory *inv,
                                const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static inline int fixture_build(struct fixture_model *f, const struct inventory *inv,
                                const char *fmt, ...)
{
    char text[16384];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    assert_in_range(n, 1, sizeof text - 1);
    fixture_parse(f, text);
    int rc = model_build(f->config, inv, &f->findings, &f->m, &f->e);
    f->built = rc == 0;
    return rc;
}

static inline void fixture_end(struct fixture_model *f)
{
    if (f->built)
        model_release(&f->m);
    finding_list_release(&f->findings);
    json_free(f->config);
    memset(f, 0, sizeof *f);
}

static inline bool fixture_unexplained(const struct fixture_model *f, const char *what)
{
    for (size_t i = 0; i < f->m.unexplained_count; i++)
        if (strstr(f->m.unexplained[i], what))
            return true;
    return false;
}

/* The first finding of that code whose text has the words; NULL if there is none. */
static inline const struct finding *fixture_finding(const struct fixture_model *f, const char *code,
                                                    const char *words)
{
    for (size_t i = 0; i < f->findings.count; i++)
        if (!strcmp(f->findings.items[i].code, code) && strstr(f->findings.items[i].text, words))
            return &f->findings.items[i];
    return NULL;
}

static inline size_t fixture_findings(const struct fixture_model *f, enum finding_severity s)
{
    size_t n = 0;
    for (size_t i = 0; i < f->findings.count; i++)
        n += f->findings.items[i].severity >= s;
    return n;
}

static inline void fixture_tensors_start(struct fixture_tensors *t)
{
    memset(t, 0, sizeof *t);
    buf_init(&t->json, 100u << 20);
    buf_addc(&t->json, '{');
}

/* One tensor: bits of an element, dimensions (a 0 ends the list), a name as printf writes it. */
static inline void fixture_tensor(struct fixture_tensors *t, const char *dtype, unsigned bits,
                                  const uint64_t dims[4], const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
static inline void fixture_tensor(struct fixture_tensors *t, const char *dtype, unsigned bits,
                                  const uint64_t dims[4], const char *fmt, ...)
{
    char name[256];
    uint64_t bytes = bits;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(name, sizeof name, fmt, ap);
    va_end(ap);
    buf_addf(&t->json, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[", t->at ? "," : "", name, dtype);
    for (int i = 0; i < 4 && dims[i]; i++) {
        buf_addf(&t->json, "%s%llu", i ? "," : "", (unsigned long long)dims[i]);
        bytes *= dims[i];
    }
    bytes /= 8;
    buf_addf(&t->json, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)t->at,
             (unsigned long long)(t->at + bytes));
    t->at += bytes;
}

#define FIXTURE_DIMS(...) ((const uint64_t[4]){__VA_ARGS__})
#define FIXTURE_BF16(t, ...) fixture_tensor(t, "BF16", 16, __VA_ARGS__)
#define FIXTURE_F32(t, ...) fixture_tensor(t, "F32", 32, __VA_ARGS__)

static inline void fixture_tensors_finish(struct fixture_tensors *t)
{
    struct err e = {0};
    struct finding_list findings = {0};
    buf_addc(&t->json, '}');
    assert_int_equal(buf_check(&t->json, "header", &e), 0);
    if (inventory_add_safetensors(&t->inv, "model.safetensors", 8 + t->json.len + t->at,
                                  t->json.data, t->json.len, &findings, &e) ||
        inventory_finish(&t->inv, NULL, &findings, &e))
        fail_msg("%s", e.msg);
    finding_list_release(&findings);
    buf_release(&t->json);
}

static inline void fixture_tensors_end(struct fixture_tensors *t)
{
    inventory_release(&t->inv);
}

/* The tensors of FIXTURE_LLAMA. */
static inline void fixture_llama_layer(struct fixture_tensors *t, const char *prefix, unsigned i,
                                       uint64_t k_rows, uint64_t v_rows, uint64_t inner)
{
    FIXTURE_BF16(t, FIXTURE_DIMS(64, 64), "%slayers.%u.self_attn.q_proj.weight", prefix, i);
    FIXTURE_BF16(t, FIXTURE_DIMS(k_rows, 64), "%slayers.%u.self_attn.k_proj.weight", prefix, i);
    FIXTURE_BF16(t, FIXTURE_DIMS(v_rows, 64), "%slayers.%u.self_attn.v_proj.weight", prefix, i);
    FIXTURE_BF16(t, FIXTURE_DIMS(64, 64), "%slayers.%u.self_attn.o_proj.weight", prefix, i);
    FIXTURE_BF16(t, FIXTURE_DIMS(inner, 64), "%slayers.%u.mlp.gate_proj.weight", prefix, i);
    FIXTURE_BF16(t, FIXTURE_DIMS(inner, 64), "%slayers.%u.mlp.up_proj.weight", prefix, i);
    FIXTURE_BF16(t, FIXTURE_DIMS(64, inner), "%slayers.%u.mlp.down_proj.weight", prefix, i);
    FIXTURE_BF16(t, FIXTURE_DIMS(64), "%slayers.%u.input_layernorm.weight", prefix, i);
    FIXTURE_BF16(t, FIXTURE_DIMS(64), "%slayers.%u.post_attention_layernorm.weight", prefix, i);
}

static inline void fixture_llama_outer(struct fixture_tensors *t, const char *prefix,
                                       const char *head)
{
    FIXTURE_BF16(t, FIXTURE_DIMS(100, 64), "%sembed_tokens.weight", prefix);
    FIXTURE_BF16(t, FIXTURE_DIMS(64), "%snorm.weight", prefix);
    if (head)
        FIXTURE_BF16(t, FIXTURE_DIMS(100, 64), "%s", head);
}

/* A file of the corpus, or NULL with the reason printed. Free with free(). */
static inline char *fixture_corpus(const char *slug, const char *file, size_t *ret_bytes)
{
    const char *corpus = getenv("CORPUS");
    char path[1024];
    snprintf(path, sizeof path, "%s/%s/%s", corpus ? corpus : "../shared/corpus", slug, file);
    FILE *f = fopen(path, "rb");
    if (!f) {
        printf("skip: %s is not there\n", path);
        return NULL;
    }
    char *text = malloc(64u << 20);
    assert_non_null(text);
    *ret_bytes = fread(text, 1, 64u << 20, f);
    fclose(f);
    return text;
}

/* Builds from a config of the corpus. False, with the reason printed, if it is not there. */
static inline bool fixture_real(struct fixture_model *f, const struct inventory *inv,
                                const char *slug)
{
    size_t n;
    unsigned odd;
    char *text = fixture_corpus(slug, "config.json", &n);
    memset(f, 0, sizeof *f);
    if (!text)
        return false;
    if (json_parse(text, n, &f->config, &odd, &f->e) ||
        model_build(f->config, inv, &f->findings, &f->m, &f->e))
        fail_msg("%s: %s", slug, f->e.msg);
    f->built = true;
    free(text);
    return true;
}

#endif
