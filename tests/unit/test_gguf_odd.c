/* What a GGUF file contradicts, and what is said of it: the bytes are built here by the format's
 * description (ggml docs/gguf.md), none comes from the code under test. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "model/gguf.h"
#include "model/gguf_model.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { F32 = 0, F16 = 1, NO_TYPE = 99, U32 = 4, I32 = 5, TEXT = 8 };

struct image {
    unsigned char bytes[8192];
    size_t n;
    uint64_t next; /* data offset of the next tensor */
};

static void put_uint(struct image *m, unsigned width, uint64_t v)
{
    for (unsigned i = 0; i < width; i++)
        m->bytes[m->n++] = (unsigned char)(v >> (8 * i));
}

static void put_text(struct image *m, const char *text)
{
    put_uint(m, 8, strlen(text));
    memcpy(m->bytes + m->n, text, strlen(text));
    m->n += strlen(text);
}

static void put_number(struct image *m, const char *key, unsigned type, uint32_t v)
{
    put_text(m, key);
    put_uint(m, 4, type);
    put_uint(m, 4, v);
}

/* Rows of 4 bytes or 2; each tensor takes whole blocks of 32 bytes. */
static void put_tensor(struct image *m, const char *name, uint64_t columns, uint64_t rows,
                       unsigned type)
{
    put_text(m, name);
    put_uint(m, 4, rows ? 2 : 1);
    put_uint(m, 8, columns);
    if (rows)
        put_uint(m, 8, rows);
    put_uint(m, 4, type);
    put_uint(m, 8, m->next);
    m->next += (columns * (rows ? rows : 1) * (type == F32 ? 4 : 2) + 31) / 32 * 32;
}

static void put_head(struct image *m, uint64_t tensors, uint64_t pairs)
{
    *m = (struct image){0};
    memcpy(m->bytes, "GGUF", 4);
    m->n = 4;
    put_uint(m, 4, 3);
    put_uint(m, 8, tensors);
    put_uint(m, 8, pairs);
}

static void put_layer(struct image *m, unsigned layer)
{
    static const struct {
        const char *name;
        uint64_t columns, rows;
        unsigned type;
    } of[] = {{"attn_norm", 8, 0, F32}, {"ffn_norm", 8, 0, F32}, {"attn_q", 8, 8, F16},
              {"attn_k", 8, 4, F16},    {"attn_v", 8, 4, F16},   {"attn_output", 8, 8, F16},
              {"ffn_gate", 8, 16, F16}, {"ffn_up", 8, 16, F16},  {"ffn_down", 16, 8, F16}};
    char name[64];

    for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
        snprintf(name, sizeof(name), "blk.%u.%s.weight", layer, of[i].name);
        put_tensor(m, name, of[i].columns, of[i].rows, of[i].type);
    }
}

/* A llama of two layers, eight channels, two heads and one of keys, whose metadata says otherwise.
 */
static void put_llama(struct image *m, unsigned type, uint32_t block_count)
{
    put_head(m, 21, 7);
    put_text(m, "general.architecture");
    put_uint(m, 4, TEXT);
    put_text(m, "llama");
    put_number(m, "llama.context_length", U32, 64);
    put_number(m, "llama.embedding_length", U32, 8);
    put_number(m, "llama.block_count", type, block_count);
    put_number(m, "llama.feed_forward_length", U32, 16);
    put_number(m, "llama.attention.head_count", U32, 2);
    put_number(m, "llama.attention.head_count_kv", U32, 1);
    put_tensor(m, "token_embd.weight", 8, 32, F16);
    put_tensor(m, "output_norm.weight", 8, 0, F32);
    put_tensor(m, "output.weight", 8, 32, F16);
    put_layer(m, 0);
    put_layer(m, 1);
}

/* Builds the model of the image; the code of the error, or 0. */
static int model_of(const struct image *m, struct err *e)
{
    struct finding_list findings = {0};
    struct inventory inv = {0}, renamed = {0};
    struct model model = {0};
    struct gguf g = {0};
    uint64_t size = (m->n + 31) / 32 * 32 + m->next;
    bool more;

    if (gguf_parse("m.gguf", m->bytes, m->n, size, &findings, &more, &g, e))
        fail_msg("%s", e->msg);
    assert_false(more);
    struct inventory_shard shard = {.path = "m.gguf",
                                    .file_bytes = size,
                                    .end_bytes = size,
                                    .data_offset = g.data_offset,
                                    .tensors = g.count};
    assert_int_equal(inventory_add_tensors(&inv, &shard, g.tensors, e), 0);
    assert_int_equal(inventory_finish(&inv, NULL, &findings, e), 0);
    inv.complete = true;
    int rc = gguf_model_build(&g, &inv, &findings, &model, &renamed, e);
    if (!rc) {
        model_release(&model);
        inventory_release(&renamed);
    }
    inventory_release(&inv);
    gguf_release(&g);
    finding_list_release(&findings);
    return rc;
}

static void layers_that_the_tensors_do_not_have_are_refused(void **state)
{
    static const uint32_t wrong[] = {1, 3, 4096};
    struct image m;
    struct err e = {0};

    (void)state;
    put_llama(&m, U32, 2);
    if (model_of(&m, &e))
        fail_msg("%s", e.msg);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        e = (struct err){0};
        put_llama(&m, U32, wrong[i]);
        assert_int_equal(model_of(&m, &e), ERR_FORMAT);
        assert_non_null(strstr(e.msg, "block_count"));
        assert_non_null(strstr(e.msg, "of 2 layers"));
    }
}

static void a_number_below_zero_is_named_as_such(void **state)
{
    struct image m;
    struct err e = {0};

    (void)state;
    put_llama(&m, I32, (uint32_t)-1);
    assert_int_equal(model_of(&m, &e), ERR_FORMAT);
    assert_non_null(strstr(e.msg, "llama.block_count is -1"));
}

static void the_last_tensor_of_an_unknown_type_takes_the_rest_of_the_file(void **state)
{
    struct finding_list findings = {0};
    struct gguf g = {0};
    struct err e = {0};
    struct image m;
    bool more;

    (void)state;
    put_head(&m, 2, 0);
    put_tensor(&m, "a", 8, 0, F32);
    put_tensor(&m, "b", 8, 0, NO_TYPE);
    uint64_t data = (m.n + 31) / 32 * 32;
    assert_int_equal(gguf_parse("m", m.bytes, m.n, data + 32 + 480, &findings, &more, &g, &e), 0);
    assert_int_equal(g.count, 2);
    assert_int_equal(g.tensors[0].bytes, 32);
    assert_int_equal(g.tensors[1].bytes, 480);
    assert_int_equal(gguf_check_size(&g, data + 32 + 480, &e), 0);
    assert_string_equal(findings.items[0].code, "gguf-type-unknown");
    gguf_release(&g);
    /* a file that ends before it begins is short, not smaller */
    assert_int_equal(gguf_parse("m", m.bytes, m.n, data + 16, &findings, &more, &g, &e), 0);
    assert_int_equal(g.tensors[1].bytes, 0);
    assert_int_not_equal(gguf_check_size(&g, data + 16, &e), 0);
    gguf_release(&g);
    finding_list_release(&findings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_that_the_tensors_do_not_have_are_refused),
        cmocka_unit_test(a_number_below_zero_is_named_as_such),
        cmocka_unit_test(the_last_tensor_of_an_unknown_type_takes_the_rest_of_the_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
