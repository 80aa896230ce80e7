#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "model/gguf_set.h"
#include "tests/unit/fixture_gguf.h"

#define PARTS 4

static struct gguf_part parts[PARTS];
static size_t n;
static struct finding_list found;
static struct gguf_set set;

/* Adds a part: numbers of -1 leave the key out. It has `tensors` tensors of 4 bytes. */
static void part(const char *path, int no, int count, int total, const char *arch, int tensors)
{
    static struct made m;
    struct err e = {0};
    bool more = true;
    char name[20];

    made_start(&m, 3, (uint64_t)tensors,
               (uint64_t)((no >= 0) + (count >= 0) + (total >= 0) + (arch != NULL)));
    if (no >= 0)
        made_pair_u16(&m, "split.no", (uint32_t)no);
    if (count >= 0)
        made_pair_u16(&m, "split.count", (uint32_t)count);
    if (total >= 0) {
        made_key(&m, "split.tensors.count", 5);
        made_uint(&m, (uint64_t)total, 4);
    }
    if (arch)
        made_pair_text(&m, "general.architecture", arch);
    for (int i = 0; i < tensors; i++) {
        snprintf(name, sizeof(name), "t%d", i);
        made_tensor(&m, name, 1, (uint64_t[]){1}, 0, (uint64_t)i * 32);
    }
    made_pad(&m, 32);
    made_data(&m, (size_t)tensors * 32);
    parts[n].path = path;
    if (gguf_parse(path, m.b, m.n, m.n, &found, &more, &parts[n].gguf, &e))
        fail_msg("%s", e.msg);
    n++;
}

static void check(void)
{
    gguf_set_check(parts, n, &found, &set);
}

static int drop(void **state)
{
    (void)state;
    for (size_t i = 0; i < n; i++)
        gguf_release(&parts[i].gguf);
    n = 0;
    finding_list_release(&found);
    return 0;
}

static void expect(const char *code, enum finding_severity severity, const char *text)
{
    for (size_t i = 0; i < found.count; i++)
        if (strcmp(found.items[i].code, code) == 0) {
            assert_int_equal(found.items[i].severity, severity);
            if (!strstr(found.items[i].text, text))
                fail_msg("%s: %s", code, found.items[i].text);
            return;
        }
    fail_msg("no finding %s with \"%s\"", code, text);
}

static void a_whole_set_has_no_finding(void **state)
{
    (void)state;
    part("x-00002-of-00003.gguf", 1, 3, 6, NULL, 2);
    part("x-00001-of-00003.gguf", 0, 3, 6, "llama", 1);
    part("x-00003-of-00003.gguf", 2, 3, 6, NULL, 3);
    check();
    assert_int_equal(found.count, 0);
    assert_true(set.whole);
    assert_int_equal(set.count, 3);
    assert_int_equal(set.first, 1);
}

static void a_file_that_is_not_cut_is_a_set_of_one(void **state)
{
    (void)state;
    part("x.gguf", -1, -1, -1, "llama", 1);
    check();
    assert_int_equal(found.count, 0);
    assert_true(set.whole);
    assert_int_equal(set.count, 1);
}

static void a_missing_part_is_told_by_its_number(void **state)
{
    (void)state;
    part("x-00001-of-00004.gguf", 0, 4, 8, "llama", 2);
    part("x-00004-of-00004.gguf", 3, 4, 8, NULL, 2);
    check();
    expect("split-part-missing", FINDING_FAIL, "has 4 parts, and 2 are not there");
    expect("split-part-missing", FINDING_FAIL, ": 2, 3;");
    assert_int_equal(found.count, 1); /* the sum of tensors says nothing then */
    assert_false(set.whole);
}

static void a_part_that_is_there_twice_is_told(void **state)
{
    (void)state;
    part("a.gguf", 0, 2, 4, "llama", 2);
    part("b.gguf", 0, 2, 4, "llama", 2);
    check();
    expect("split-part-twice", FINDING_FAIL, "a.gguf and b.gguf are both part 1 of 2");
    expect("split-part-missing", FINDING_FAIL, ": 2;");
    assert_false(set.whole);
}

static void counts_that_differ_are_told(void **state)
{
    (void)state;
    part("a.gguf", 0, 2, 4, "llama", 2);
    part("b.gguf", 1, 3, 4, NULL, 2);
    check();
    expect("split-count-differs", FINDING_FAIL, "a.gguf says that the model has 2 parts, b.gguf");
    assert_false(set.whole);
}

static void a_number_past_the_count_is_told(void **state)
{
    (void)state;
    part("a.gguf", 0, 2, 4, "llama", 2);
    part("b.gguf", 2, 2, 4, NULL, 2);
    check();
    expect("split-count-differs", FINDING_FAIL, "b.gguf has split.no 2");
    assert_false(set.whole);
}

static void a_part_without_a_number_is_told(void **state)
{
    (void)state;
    part("a.gguf", 0, 2, 4, "llama", 2);
    part("b.gguf", -1, 2, 4, NULL, 2);
    check();
    expect("split-count-differs", FINDING_FAIL, "has no split.no");
    assert_false(set.whole);
}

static void tensors_that_do_not_add_up_are_told(void **state)
{
    (void)state;
    part("a.gguf", 0, 2, 5, "llama", 2);
    part("b.gguf", 1, 2, 5, NULL, 2);
    check();
    expect("split-tensors-differ", FINDING_FAIL, "have 5 tensors, they have 4");
    assert_false(set.whole);
}

static void parts_of_two_architectures_are_told(void **state)
{
    (void)state;
    part("a.gguf", 0, 2, 4, "llama", 2);
    part("b.gguf", 1, 2, 4, "qwen2", 2);
    check();
    expect("split-architecture-differs", FINDING_FAIL, "a.gguf is of architecture llama");
    assert_false(set.whole);
}

static void a_renamed_part_is_a_warning(void **state)
{
    (void)state;
    part("x-00002-of-00002.gguf", 0, 2, 4, "llama", 2);
    part("x-00001-of-00002.gguf", 1, 2, 4, NULL, 2);
    check();
    expect("split-name-differs", FINDING_WARN, "is part 1 by its metadata");
    assert_true(set.whole);
    assert_int_equal(set.first, 0);
    drop(state);
    part("x-00001-of-00001.gguf", -1, -1, -1, "llama", 2);
    check();
    expect("split-name-differs", FINDING_WARN, "has no split.no");
}

static void a_count_past_the_limit_is_not_walked(void **state)
{
    (void)state;
    part("a.gguf", 0, 65535, 4, "llama", 2);
    check();
    expect("split-part-missing", FINDING_FAIL, "split.count is 65535, over the limit of 10000");
    assert_false(set.whole);
}

static void metadata_without_an_architecture_is_a_warning(void **state)
{
    (void)state;
    part("a.gguf", -1, -1, -1, NULL, 1);
    check();
    expect("gguf-architecture-missing", FINDING_WARN, "a.gguf");
    assert_true(set.whole);
}

static void a_file_type_that_no_tensor_has_is_a_warning(void **state)
{
    static struct made m;
    struct err e = {0};
    bool more;

    (void)state;
    for (uint32_t type = 0; type <= 15; type += 15) {
        made_start(&m, 3, 1, 2);
        made_pair_text(&m, "general.architecture", "llama");
        made_pair_u32(&m, "general.file_type", type);
        made_tensor(&m, "t", 1, (uint64_t[]){1}, 0, 0);
        made_pad(&m, 32);
        made_data(&m, 32);
        parts[0].path = "a.gguf";
        assert_int_equal(gguf_parse("a", m.b, m.n, m.n, &found, &more, &parts[0].gguf, &e), 0);
        n = 1;
        check();
        if (type == 0)
            assert_int_equal(found.count, 0);
        else
            expect("gguf-file-type-differs", FINDING_WARN, "15 (Q4_K_M)");
        drop(state);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_whole_set_has_no_finding, drop),
        cmocka_unit_test_teardown(a_file_that_is_not_cut_is_a_set_of_one, drop),
        cmocka_unit_test_teardown(a_missing_part_is_told_by_its_number, drop),
        cmocka_unit_test_teardown(a_part_that_is_there_twice_is_told, drop),
        cmocka_unit_test_teardown(counts_that_differ_are_told, drop),
        cmocka_unit_test_teardown(a_number_past_the_count_is_told, drop),
        cmocka_unit_test_teardown(a_part_without_a_number_is_told, drop),
        cmocka_unit_test_teardown(tensors_that_do_not_add_up_are_told, drop),
        cmocka_unit_test_teardown(parts_of_two_architectures_are_told, drop),
        cmocka_unit_test_teardown(a_renamed_part_is_a_warning, drop),
        cmocka_unit_test_teardown(a_count_past_the_limit_is_not_walked, drop),
        cmocka_unit_test_teardown(metadata_without_an_architecture_is_a_warning, drop),
        cmocka_unit_test_teardown(a_file_type_that_no_tensor_has_is_a_warning, drop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
