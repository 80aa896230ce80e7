#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "model/gguf.h"
#include "model/gguf_pairs.h"
#include "tests/unit/fixture_gguf.h"
#include <stdlib.h>

static struct made m;
static struct finding_list found;
static struct gguf g;
static struct err e;

static int release(void **state)
{
    (void)state;
    gguf_release(&g);
    finding_list_release(&found);
    e = (struct err){0};
    return 0;
}

/* Parses the first window bytes of the made file from an exact allocation. */
static int parse(size_t window, uint64_t file_bytes, bool *more)
{
    unsigned char *copy = malloc(window ? window : 1);

    assert_non_null(copy);
    memcpy(copy, m.b, window);
    gguf_release(&g);
    finding_list_release(&found);
    e = (struct err){0};
    int rc = gguf_parse("x.gguf", copy, window, file_bytes, &found, more, &g, &e);
    free(copy);
    return rc;
}

static void taken(void)
{
    bool more = true;

    if (parse(m.n, m.n, &more))
        fail_msg("%s", e.msg);
    assert_false(more);
}

static void refused(int code, const char *part)
{
    bool more = true;
    int rc = parse(m.n, m.n, &more);

    if (rc != code || !strstr(e.msg, part))
        fail_msg("gave %d (%s), wanted %d with \"%s\"", rc, e.msg, code, part);
}

static const struct finding *finding(const char *code)
{
    for (size_t i = 0; i < found.count; i++)
        if (strcmp(found.items[i].code, code) == 0)
            return &found.items[i];
    return NULL;
}

/* One pair, no tensors: the value is to follow. */
static void start_pair(uint32_t type)
{
    made_start(&m, 3, 0, 1);
    made_key(&m, "k", type);
}

/* "a" of 4 floats and "b" of 64 numbers in Q4_0, with metadata of several kinds. */
static void small(void)
{
    made_start(&m, 3, 2, 4);
    made_pair_text(&m, "general.architecture", "llama");
    made_pair_u32(&m, "llama.block_count", 7);
    made_key(&m, "tokenizer.ggml.tokens", 9);
    made_uint(&m, 8, 4);
    made_uint(&m, 2, 8);
    made_text(&m, "a");
    made_text(&m, "bc");
    made_pair_f32(&m, "llama.x", 0.5f);
    made_tensor(&m, "a", 1, (uint64_t[]){4}, 0, 0);
    made_tensor(&m, "b", 2, (uint64_t[]){32, 2}, 2, 32);
    made_pad(&m, 32);
    made_data(&m, 32 + 36 + 28);
}

static void a_header_is_read_whole(void **state)
{
    uint64_t n;
    double x;
    const char *s;

    (void)state;
    small();
    taken();
    assert_int_equal(g.version, 3);
    assert_int_equal(g.alignment, 32);
    assert_int_equal(g.pair_count, 4);
    assert_int_equal(g.count, 2);
    assert_string_equal(g.tensors[0].name, "a");
    assert_int_equal(g.tensors[0].dtype, DTYPE_F32);
    assert_null(g.tensors[0].format);
    assert_int_equal(g.tensors[0].bytes, 16);
    assert_string_equal(g.tensors[1].dtype_text, "Q4_0");
    assert_string_equal(g.tensors[1].format, "gguf-q4_0");
    assert_int_equal(g.tensors[1].bytes, 36);   /* two blocks of 18 */
    assert_int_equal(g.tensors[1].shape[0], 2); /* rows first */
    assert_int_equal(g.tensors[1].shape[1], 32);
    assert_int_equal(g.data_offset % 32, 0);
    assert_int_equal(g.tensors[1].offset, g.data_offset + 32);
    assert_int_equal(g.end_bytes, g.data_offset + 68);
    assert_int_equal(g.padded_bytes, m.n);
    assert_true(gguf_pairs_u64(&g, "*.block_count", &n) && n == 7);
    assert_true(gguf_pairs_real(&g, "llama.x", &x) && x == 0.5);
    assert_true(gguf_pairs_text(&g, "general.architecture", &s));
    assert_string_equal(s, "llama");
    assert_int_equal(gguf_pairs_find(&g, "tokenizer.ggml.tokens")->count, 2);
    assert_int_equal(gguf_pairs_find(&g, "tokenizer.ggml.tokens")->element, GGUF_TEXT);
    assert_null(gguf_pairs_find(&g, "*.nothing"));
    assert_false(gguf_pairs_u64(&g, "llama.x", &n));
    assert_int_equal(found.count, 0);
}

static void version_2_is_read(void **state)
{
    (void)state;
    small();
    m.b[4] = 2;
    taken();
    assert_int_equal(g.version, 2);
}

/* The window grows: until the header is in it nothing is said, then the same as of the file. */
static void a_window_that_is_too_small_asks_for_more(void **state)
{
    bool more;

    (void)state;
    small();
    taken();
    size_t header = (size_t)g.header_bytes;
    for (size_t w = 0; w <= m.n; w++) {
        more = false;
        assert_int_equal(parse(w, m.n, &more), 0);
        if (more != (w < header))
            fail_msg("a window of %zu bytes, a header of %zu", w, header);
    }
    assert_int_equal(g.count, 2);
}

static void a_file_cut_at_any_byte_is_told(void **state)
{
    bool more;

    (void)state;
    small();
    taken();
    size_t header = (size_t)g.header_bytes, end = (size_t)g.end_bytes;
    for (size_t n = 0; n < end; n++) {
        int rc = parse(n, n, &more);
        if (n < header && (rc != ERR_FORMAT || strncmp(e.msg, "is short", 8) != 0))
            fail_msg("cut at %zu: %d %s", n, rc, e.msg);
        if (n >= header) {
            assert_int_equal(rc, 0);
            assert_int_equal(gguf_check_size(&g, n, &e), ERR_FORMAT);
            assert_int_equal(strncmp(e.msg, "is short", 8), 0);
        }
    }
    assert_non_null(strstr(e.msg, "\"b\""));
    for (size_t n = end; n <= m.n; n++) { /* padding may be left out */
        assert_int_equal(parse(n, n, &more), 0);
        assert_int_equal(gguf_check_size(&g, n, &e), 0);
        assert_int_equal(found.count, 0);
    }
}

static void bytes_behind_the_padding_are_a_finding(void **state)
{
    (void)state;
    small();
    made_data(&m, 5);
    taken();
    assert_int_equal(gguf_check_size(&g, m.n, &e), 0);
    assert_non_null(strstr(finding("gguf-trailing")->text, "5 bytes at the end"));
}

static void every_type_of_value_is_read(void **state)
{
    static const struct {
        uint32_t type;
        unsigned bytes;
        uint64_t value;
    } numbers[] = {
        {0, 1, 200},      {1, 1, 0xfe},       {2, 2, 60000},       {3, 2, 0xfffe},
        {4, 4, 1u << 31}, {5, 4, 0xfffffffe}, {10, 8, UINT64_MAX}, {11, 8, UINT64_MAX - 1},
        {7, 1, 1}};
    double half = 0.5;

    (void)state;
    made_start(&m, 3, 0, 10);
    for (size_t i = 0; i < 9; i++) {
        char key[2] = {(char)('a' + i), 0};
        made_key(&m, key, numbers[i].type);
        made_uint(&m, numbers[i].value, numbers[i].bytes);
    }
    made_key(&m, "z", 12);
    made_bytes(&m, &half, 8);
    taken();
    assert_int_equal(g.pairs[0].u64, 200);
    assert_int_equal(g.pairs[1].i64, -2);
    assert_int_equal(g.pairs[2].u64, 60000);
    assert_int_equal(g.pairs[3].i64, -2);
    assert_true(g.pairs[4].u64 == 1u << 31);
    assert_int_equal(g.pairs[5].i64, -2);
    assert_true(g.pairs[6].u64 == UINT64_MAX);
    assert_int_equal(g.pairs[7].i64, -2);
    assert_int_equal(g.pairs[8].u64, 1);
    assert_true(g.pairs[9].real == 0.5);
}

static void texts_that_are_no_texts_keep_their_length(void **state)
{
    static char big[GGUF_TEXT_BYTES_KEPT + 2];

    (void)state;
    memset(big, 'x', sizeof(big) - 1);
    made_start(&m, 3, 0, 3);
    made_pair_text(&m, "a", "\xff\xfe");
    made_pair_text(&m, "b", big);
    made_key(&m, "c", 8);
    made_uint(&m, 3, 8);
    made_bytes(&m, "x\0y", 3);
    taken();
    for (size_t i = 0; i < 3; i++)
        assert_null(g.pairs[i].text);
    assert_int_equal(g.pairs[0].count, 2);
    assert_int_equal(g.pairs[1].count, GGUF_TEXT_BYTES_KEPT + 1);
    assert_int_equal(g.pairs[2].count, 3);
}

static void arrays_within_arrays_end_at_a_limit(void **state)
{
    (void)state;
    for (int depth = 1; depth <= GGUF_ARRAY_DEPTH_MAX + 1; depth++) {
        start_pair(9);
        for (int i = 1; i < depth; i++) {
            made_uint(&m, 9, 4);
            made_uint(&m, 1, 8);
        }
        made_uint(&m, 0, 4);
        made_uint(&m, 3, 8);
        made_bytes(&m, "abc", 3);
        if (depth <= GGUF_ARRAY_DEPTH_MAX)
            taken();
        else
            refused(ERR_LIMIT, "over the limit of 4 deep");
    }
    /* two arrays of texts, the first one empty */
    start_pair(9);
    made_uint(&m, 9, 4);
    made_uint(&m, 2, 8);
    made_uint(&m, 8, 4);
    made_uint(&m, 0, 8);
    made_uint(&m, 8, 4);
    made_uint(&m, 1, 8);
    made_text(&m, "x");
    taken();
    assert_int_equal(g.pairs[0].element, GGUF_ARRAY);
    assert_int_equal(g.pairs[0].count, 2);
    assert_int_equal(g.header_bytes, m.n);
}

static void counts_that_no_file_can_hold_are_refused_at_once(void **state)
{
    (void)state;
    made_start(&m, 3, 0, 1ull << 60);
    refused(ERR_LIMIT, "claims 1152921504606846976 keys");
    made_start(&m, 3, 1ull << 60, 0);
    refused(ERR_LIMIT, "claims 1152921504606846976 tensors");
    made_start(&m, 3, 0, 1000);
    refused(ERR_FORMAT, "1000 keys take at least 13000 bytes");
    made_start(&m, 3, 1000, 0);
    refused(ERR_FORMAT, "1000 tensors take at least 24000 bytes");
    start_pair(9);
    made_uint(&m, 0, 4);
    made_uint(&m, UINT64_MAX, 8);
    refused(ERR_LIMIT, "an array of 18446744073709551615 elements");
    start_pair(9);
    made_uint(&m, 9, 4);
    made_uint(&m, 1000000, 8);
    refused(ERR_FORMAT, "takes at least 12000000 bytes");
}

static void lengths_past_the_end_are_refused(void **state)
{
    (void)state;
    made_start(&m, 3, 0, 1);
    made_uint(&m, UINT64_MAX, 8);
    made_data(&m, 20);
    refused(ERR_FORMAT, "a key takes 18446744073709551615 bytes");
    start_pair(8);
    made_uint(&m, 100, 8);
    refused(ERR_FORMAT, "a text takes 100 bytes");
    made_start(&m, 3, 1, 0);
    made_uint(&m, 1ull << 63, 8);
    made_data(&m, 40);
    refused(ERR_FORMAT, "the name of a tensor takes");
}

static void long_names_and_keys_meet_their_limits(void **state)
{
    static char name[70000];

    (void)state;
    memset(name, 'n', sizeof(name) - 1);
    made_start(&m, 3, 0, 1);
    made_pair_u32(&m, name, 1);
    refused(ERR_LIMIT, "a key has 69999 bytes, over the limit of 65535");
    name[65535] = '\0';
    made_start(&m, 3, 0, 1);
    made_pair_u32(&m, name, 1);
    taken();
    name[256] = '\0';
    made_start(&m, 3, 1, 0);
    made_tensor(&m, name, 0, NULL, 0, 0);
    made_pad(&m, 32);
    made_data(&m, 4);
    refused(ERR_LIMIT, "256 bytes, over the limit of 255");
    for (size_t n = 64; n >= 63; n--) {
        name[n] = '\0';
        made_start(&m, 3, 1, 0);
        made_tensor(&m, name, 0, NULL, 0, 0);
        made_pad(&m, 32);
        made_data(&m, 4);
        taken();
        assert_int_equal(finding("gguf-name-long") != NULL, n == 64);
    }
}

static void other_versions_and_byte_orders_are_named(void **state)
{
    (void)state;
    made_start(&m, 1, 0, 0);
    refused(ERR_UNSUPPORTED, "version 1");
    made_start(&m, 4, 0, 0);
    refused(ERR_UNSUPPORTED, "version 4");
    made_start(&m, 0, 0, 0);
    refused(ERR_UNSUPPORTED, "version 0");
    made_start(&m, 3u << 24, 0, 0);
    refused(ERR_UNSUPPORTED, "big-endian GGUF file (version 3)");
    m.n = 0;
    refused(ERR_FORMAT, "is short");
    made_bytes(&m, "GGML\3\0\0\0", 8);
    refused(ERR_FORMAT, "does not start with");
}

static void what_is_there_twice_is_refused(void **state)
{
    (void)state;
    made_start(&m, 3, 0, 2);
    made_pair_u32(&m, "k", 1);
    made_pair_u32(&m, "k", 1);
    refused(ERR_FORMAT, "the key \"k\" is there twice");
    made_start(&m, 3, 3, 0);
    made_tensor(&m, "t", 1, (uint64_t[]){4}, 0, 0);
    made_tensor(&m, "u", 1, (uint64_t[]){4}, 0, 32);
    made_tensor(&m, "t", 1, (uint64_t[]){4}, 0, 64);
    made_pad(&m, 32);
    made_data(&m, 96);
    refused(ERR_FORMAT, "two tensors have the name \"t\"");
}

static void alignment_must_be_a_power_of_two(void **state)
{
    static const uint32_t bad[] = {0, 3, 48};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        made_start(&m, 3, 0, 1);
        made_pair_u32(&m, "general.alignment", bad[i]);
        refused(ERR_FORMAT, "must be a power of two");
    }
    made_start(&m, 3, 0, 1);
    made_pair_u32(&m, "general.alignment", 1u << 31);
    refused(ERR_LIMIT, "general.alignment");
    made_start(&m, 3, 0, 1);
    made_pair_u16(&m, "general.alignment", 32);
    refused(ERR_FORMAT, "is of type u16");
    made_start(&m, 3, 2, 1);
    made_pair_u32(&m, "general.alignment", 128);
    made_tensor(&m, "a", 1, (uint64_t[]){4}, 0, 0);
    made_tensor(&m, "b", 1, (uint64_t[]){4}, 0, 128);
    made_pad(&m, 128);
    made_data(&m, 256);
    taken();
    assert_int_equal(g.data_offset % 128, 0);
    assert_int_equal(g.end_bytes, g.data_offset + 144);
}

/* One tensor of that shape and type at that place, with data behind it. */
static void one_tensor(uint32_t dims, const uint64_t *ne, uint32_t type, uint64_t offset)
{
    made_start(&m, 3, 1, 0);
    made_tensor(&m, "t", dims, ne, type, offset);
    made_pad(&m, 32);
    made_data(&m, 4096);
}

static void shapes_are_checked(void **state)
{
    (void)state;
    one_tensor(5, (uint64_t[]){1, 1, 1, 1, 1}, 0, 0);
    refused(ERR_LIMIT, "has 5 dimensions, over the limit of 4");
    one_tensor(2, (uint64_t[]){1ull << 32, 1ull << 32}, 0, 0);
    refused(ERR_FORMAT, "more elements than 63 bits count");
    one_tensor(1, (uint64_t[]){1ull << 63}, 24, 0);
    refused(ERR_FORMAT, "more elements than 63 bits count");
    one_tensor(1, (uint64_t[]){1ull << 62}, 0, 0);
    refused(ERR_FORMAT, "more than 64 bits can count");
    one_tensor(2, (uint64_t[]){33, 2}, 2, 0);
    refused(ERR_FORMAT, "rows of 33, no whole number of Q4_0's blocks of 32");
    one_tensor(1, (uint64_t[]){128}, 12, 0);
    refused(ERR_FORMAT, "Q4_K's blocks of 256");
    one_tensor(0, NULL, 0, 0);
    taken();
    assert_int_equal(g.tensors[0].bytes, 4); /* one number */
    one_tensor(0, NULL, 8, 0);
    refused(ERR_FORMAT, "rows of 1");
    one_tensor(3, (uint64_t[]){32, 0, 7}, 8, 0);
    taken();
    assert_int_equal(g.tensors[0].bytes, 0); /* a tensor of nothing is one */
    one_tensor(4, (uint64_t[]){1, 2, 3, 4}, 1, 0);
    taken();
    assert_int_equal(g.tensors[0].shape[0], 4);
    assert_int_equal(g.tensors[0].bytes, 48);
}

static void places_are_checked(void **state)
{
    (void)state;
    one_tensor(1, (uint64_t[]){4}, 0, 8);
    refused(ERR_FORMAT, "no multiple of the alignment 32");
    one_tensor(1, (uint64_t[]){4}, 0, UINT64_MAX - 31);
    refused(ERR_FORMAT, "ends past what 64 bits can count");
    one_tensor(1, (uint64_t[]){2048}, 0, 0);
    taken();
    assert_int_equal(gguf_check_size(&g, m.n, &e), ERR_FORMAT);
    assert_non_null(strstr(e.msg, "4096 bytes are missing, from tensor \"t\" on"));
    made_start(&m, 3, 2, 0);
    made_tensor(&m, "a", 1, (uint64_t[]){9}, 0, 0);
    made_tensor(&m, "b", 1, (uint64_t[]){4}, 0, 32);
    made_pad(&m, 32);
    made_data(&m, 64);
    refused(ERR_FORMAT, "\"b\" overlaps \"a\"");
}

/* What the specification lets pass and llama.cpp does not. */
static void gaps_and_another_order_are_findings(void **state)
{
    (void)state;
    one_tensor(1, (uint64_t[]){4}, 0, 32);
    taken();
    assert_non_null(strstr(finding("gguf-layout")->text, "\"t\""));
    made_start(&m, 3, 2, 0);
    made_tensor(&m, "a", 1, (uint64_t[]){4}, 0, 32);
    made_tensor(&m, "b", 1, (uint64_t[]){4}, 0, 0);
    made_pad(&m, 32);
    made_data(&m, 64);
    taken();
    assert_string_equal(g.tensors[0].name, "b"); /* by place */
    assert_non_null(strstr(finding("gguf-layout")->text, "2 tensors"));
}

static void types_that_are_not_known_leave_the_rest_checked(void **state)
{
    static const struct {
        uint32_t id;
        const char *part;
    } t[] = {{999, "(type 999)"}, {4, "(type 4, once Q4_2)"}, {36, "(type 36, once IQ4_NL_4_4)"}};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        made_start(&m, 3, 2, 0);
        made_tensor(&m, "a", 1, (uint64_t[]){4}, t[i].id, 0);
        made_tensor(&m, "b", 1, (uint64_t[]){4}, 0, 64);
        made_pad(&m, 32);
        made_data(&m, 96);
        taken();
        assert_non_null(strstr(finding("gguf-type-unknown")->text, t[i].part));
        assert_int_equal(g.unknown_types, 1);
        assert_null(g.tensors[0].format);
        assert_int_equal(g.tensors[0].bytes, 64);
        assert_int_equal(g.tensors[1].bytes, 16);
    }
    /* the last one: its size is open, and no byte behind it is too much */
    one_tensor(1, (uint64_t[]){4}, 999, 0);
    taken();
    assert_null(finding("gguf-trailing"));
    assert_int_equal(gguf_check_size(&g, m.n, &e), 0);
    one_tensor(1, (uint64_t[]){4}, 999, 7);
    refused(ERR_FORMAT, "alignment");
}

static void odd_values_are_refused(void **state)
{
    (void)state;
    start_pair(13);
    made_data(&m, 8);
    refused(ERR_FORMAT, "a value of type 13");
    start_pair(7);
    made_uint(&m, 2, 1);
    refused(ERR_FORMAT, "a truth value of 2");
    start_pair(9);
    made_uint(&m, 7, 4);
    made_uint(&m, 2, 8);
    made_bytes(&m, "\1\3", 2);
    refused(ERR_FORMAT, "a truth value of 3");
    made_start(&m, 3, 0, 1);
    made_uint(&m, 3, 8);
    made_bytes(&m, "a\0b", 3);
    made_uint(&m, 0, 4);
    made_uint(&m, 0, 1);
    refused(ERR_FORMAT, "is no UTF-8 text without a NUL");
    made_start(&m, 3, 1, 0);
    made_tensor(&m, "\xc3", 0, NULL, 0, 0);
    refused(ERR_FORMAT, "tensor 0 has a name that is no UTF-8");
}

static void a_vocabulary_has_no_tensors(void **state)
{
    (void)state;
    made_start(&m, 3, 0, 1);
    made_pair_text(&m, "general.architecture", "llama");
    taken();
    assert_int_equal(g.count, 0);
    assert_int_equal(g.end_bytes, m.n); /* padding may be missing */
    assert_int_equal(gguf_check_size(&g, m.n, &e), 0);
    made_pad(&m, 32);
    taken();
    assert_int_equal(found.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_header_is_read_whole, release),
        cmocka_unit_test_teardown(version_2_is_read, release),
        cmocka_unit_test_teardown(a_window_that_is_too_small_asks_for_more, release),
        cmocka_unit_test_teardown(a_file_cut_at_any_byte_is_told, release),
        cmocka_unit_test_teardown(bytes_behind_the_padding_are_a_finding, release),
        cmocka_unit_test_teardown(every_type_of_value_is_read, release),
        cmocka_unit_test_teardown(texts_that_are_no_texts_keep_their_length, release),
        cmocka_unit_test_teardown(arrays_within_arrays_end_at_a_limit, release),
        cmocka_unit_test_teardown(counts_that_no_file_can_hold_are_refused_at_once, release),
        cmocka_unit_test_teardown(lengths_past_the_end_are_refused, release),
        cmocka_unit_test_teardown(long_names_and_keys_meet_their_limits, release),
        cmocka_unit_test_teardown(other_versions_and_byte_orders_are_named, release),
        cmocka_unit_test_teardown(what_is_there_twice_is_refused, release),
        cmocka_unit_test_teardown(alignment_must_be_a_power_of_two, release),
        cmocka_unit_test_teardown(shapes_are_checked, release),
        cmocka_unit_test_teardown(places_are_checked, release),
        cmocka_unit_test_teardown(gaps_and_another_order_are_findings, release),
        cmocka_unit_test_teardown(types_that_are_not_known_leave_the_rest_checked, release),
        cmocka_unit_test_teardown(odd_values_are_refused, release),
        cmocka_unit_test_teardown(a_vocabulary_has_no_tensors, release),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
