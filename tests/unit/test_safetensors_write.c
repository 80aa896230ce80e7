#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "model/safetensors_write.h"
#include <string.h>

static void a_header_is_the_formats_to_the_byte(void **state)
{
    struct safetensors_write_tensor t[] = {
        {.name = "b", .dtype = DTYPE_BF16, .dims = 2, .shape = {2, 3}},
        {.name = "a\"\n", .dtype = DTYPE_F32, .dims = 0},
    };
    const struct safetensors_pair meta[] = {{"format", "pt"}};
    static const char json[] =
        "{\"__metadata__\":{\"format\":\"pt\"},"
        "\"a\\\"\\u000a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]},"
        "\"b\":{\"dtype\":\"BF16\",\"shape\":[2,3],\"data_offsets\":[4,16]}}";
    struct buf b;
    struct err e = {0};

    (void)state;
    buf_init(&b, 4096);
    assert_int_equal(safetensors_write_header(t, 2, meta, 1, &b, &e), 0);
    assert_int_equal(b.len % 8, 0);
    assert_int_equal((unsigned char)b.data[0], b.len - 8);
    assert_memory_equal(b.data + 1, "\0\0\0\0\0\0\0", 7);
    assert_memory_equal(b.data + 8, json, strlen(json));
    for (size_t i = 8 + strlen(json); i < b.len; i++)
        assert_int_equal(b.data[i], ' ');
    assert_string_equal(t[0].name, "a\"\n");
    assert_int_equal(t[1].begin, 4);
    assert_int_equal(t[1].bytes, 12);
    /* and the reader agrees */
    struct safetensors s;
    struct finding_list f = {0};
    assert_int_equal(safetensors_parse("x", b.data + 8, b.len - 8, &f, &s, &e), 0);
    assert_int_equal(s.count, 2);
    assert_string_equal(s.tensors[0].name, "a\"\n");
    assert_int_equal(s.end_bytes, b.len + 16);
    safetensors_release(&s);
    buf_release(&b);
}

static int write_one(struct safetensors_write_tensor t, struct err *e)
{
    struct buf b;

    buf_init(&b, 4096);
    int rc = safetensors_write_header(&t, 1, NULL, 0, &b, e);
    buf_release(&b);
    return rc;
}

static void what_cannot_be_written_is_refused(void **state)
{
    struct safetensors_write_tensor twice[] = {{.name = "a", .dtype = DTYPE_U8},
                                               {.name = "a", .dtype = DTYPE_U8}};
    const struct safetensors_pair meta[] = {{"k", "1"}, {"k", "2"}};
    struct err e = {0};
    struct buf b;

    (void)state;
    buf_init(&b, 64);
    assert_int_equal(safetensors_write_header(twice, 2, NULL, 0, &b, &e), ERR_FORMAT);
    assert_int_equal(safetensors_write_header(NULL, 0, meta, 2, &b, &e), ERR_FORMAT);
    assert_int_equal(b.len, 0);
    assert_int_equal(safetensors_write_header(NULL, 0, NULL, 0, &b, &e), 0);
    assert_memory_equal(b.data, "\x08\0\0\0\0\0\0\0{}      ", 16);
    twice[0].name = "one with a name that is too long for the buffer of this test, so it seems";
    assert_int_equal(safetensors_write_header(twice, 2, NULL, 0, &b, &e), ERR_LIMIT);
    buf_release(&b);
    assert_int_equal(
        write_one((struct safetensors_write_tensor){.name = "", .dtype = DTYPE_U8}, &e),
        ERR_FORMAT);
    assert_int_equal(
        write_one((struct safetensors_write_tensor){.name = "\xff", .dtype = DTYPE_U8}, &e),
        ERR_FORMAT);
    assert_int_equal(
        write_one((struct safetensors_write_tensor){.name = "__metadata__", .dtype = DTYPE_U8}, &e),
        ERR_FORMAT);
    assert_int_equal(write_one((struct safetensors_write_tensor){.name = "a"}, &e),
                     ERR_UNSUPPORTED);
    assert_int_equal(write_one(
                         (struct safetensors_write_tensor){
                             .name = "a", .dtype = DTYPE_F4, .dims = 1, .shape = {3}},
                         &e),
                     ERR_UNSUPPORTED);
    assert_int_equal(write_one(
                         (struct safetensors_write_tensor){
                             .name = "a", .dtype = DTYPE_U8, .dims = 2, .shape = {UINT64_MAX, 2}},
                         &e),
                     ERR_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_header_is_the_formats_to_the_byte),
        cmocka_unit_test(what_cannot_be_written_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
