#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "model/inventory.h"
#include "model/index.h"
#include <stdio.h>
#include <string.h>

/* A shard of one-byte-a-piece tensors: names, separated by spaces, each of `bytes` bytes. */
static int add(struct inventory *inv, const char *path, const char *names, unsigned bytes,
               struct finding_list *f, struct err *e)
{
    char header[4000], copy[1000];
    size_t n = 0, at = 0;

    snprintf(copy, sizeof(copy), "%s", names);
    n += (size_t)snprintf(header, sizeof(header), "{");
    for (char *name = strtok(copy, " "); name; name = strtok(NULL, " "), at += bytes)
        n += (size_t)snprintf(
            header + n, sizeof(header) - n,
            "%s\"%s\":{\"dtype\":\"U8\",\"shape\":[%u],\"data_offsets\":[%zu,%zu]}", at ? "," : "",
            name, bytes, at, at + bytes);
    n += (size_t)snprintf(header + n, sizeof(header) - n, "}");
    return inventory_add_safetensors(inv, path, 8 + n + at, header, n, f, e);
}

static const struct finding *find(const struct finding_list *f, const char *code)
{
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->items[i].code, code) == 0)
            return &f->items[i];
    return NULL;
}

struct world {
    struct inventory inv;
    struct shard_index index;
    struct finding_list f;
    struct err e;
};

static void read_index(struct world *w, const char *text)
{
    if (index_parse(text, strlen(text), &w->f, &w->index, &w->e))
        fail_msg("%s", w->e.msg);
}

static void finish(struct world *w)
{
    const struct shard_index *index = w->index.count ? &w->index : NULL;

    if (inventory_finish(&w->inv, index, &w->f, &w->e))
        fail_msg("%s", w->e.msg);
}

static void release(struct world *w)
{
    inventory_release(&w->inv);
    index_release(&w->index);
    finding_list_release(&w->f);
}

static void tensors_are_sorted_and_found(void **state)
{
    struct world w = {0};

    (void)state;
    assert_int_equal(add(&w.inv, "s1", "m z", 3, &w.f, &w.e), 0);
    assert_int_equal(add(&w.inv, "s2", "a n", 5, &w.f, &w.e), 0);
    read_index(&w, "{\"metadata\":{\"total_size\":16},\"weight_map\":{\"m\":\"s1\",\"z\":\"s1\","
                   "\"a\":\"s2\",\"n\":\"s2\"}}");
    finish(&w);
    assert_int_equal(w.f.count, 0);
    assert_true(w.inv.complete);
    assert_int_equal(w.inv.count, 4);
    assert_int_equal(w.inv.stored_bytes, 16);
    assert_string_equal(w.inv.tensors[0].name, "a");
    assert_string_equal(w.inv.tensors[3].name, "z");
    const struct tensor *n = inventory_find(&w.inv, "n");
    assert_non_null(n);
    assert_string_equal(w.inv.shards[n->shard].path, "s2");
    assert_true(n->offset == w.inv.shards[1].data_offset + 5);
    assert_int_equal(w.inv.shards[1].tensors, 2);
    assert_null(inventory_find(&w.inv, "b"));
    release(&w);
}

static void an_empty_inventory_is_not_complete(void **state)
{
    struct world w = {0};

    (void)state;
    finish(&w);
    assert_false(w.inv.complete);
    assert_null(inventory_find(&w.inv, "a"));
    release(&w);
}

static void a_failed_add_leaves_no_trace(void **state)
{
    struct world w = {0};
    static const char gap[] = "{\"g\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}";

    (void)state;
    assert_int_equal(add(&w.inv, "s1", "a", 1, &w.f, &w.e), 0);
    assert_int_equal(
        inventory_add_safetensors(&w.inv, "s2", 8 + strlen(gap) + 2, gap, strlen(gap), &w.f, &w.e),
        ERR_FORMAT);
    assert_int_equal(inventory_add_safetensors(&w.inv, "s2", 11, "{}", 2, &w.f, &w.e), ERR_FORMAT);
    assert_int_equal(add(&w.inv, "s1", "b", 1, &w.f, &w.e), ERR_USAGE);
    assert_int_equal(w.inv.count, 1);
    assert_int_equal(w.inv.shard_count, 1);
    release(&w);
}

static void a_tensor_that_only_the_index_knows_is_a_failure(void **state)
{
    struct world w = {0};

    (void)state;
    assert_int_equal(add(&w.inv, "s1", "a b", 1, &w.f, &w.e), 0);
    read_index(&w, "{\"weight_map\":{\"a\":\"s1\",\"b\":\"s1\",\"mtp.fc.weight\":\"s1\"}}");
    finish(&w);
    const struct finding *f = find(&w.f, "index-tensor-missing");
    assert_non_null(f);
    assert_int_equal(f->severity, FINDING_FAIL);
    assert_non_null(strstr(f->text, "1 tensor "));
    assert_non_null(strstr(f->text, "mtp.fc.weight"));
    assert_int_equal(w.f.count, 1);
    assert_false(w.inv.complete);
    release(&w);
}

static void a_tensor_that_no_index_names_is_a_warning(void **state)
{
    struct world w = {0};

    (void)state;
    assert_int_equal(add(&w.inv, "s1", "a b c", 1, &w.f, &w.e), 0);
    read_index(&w, "{\"weight_map\":{\"b\":\"s1\"}}");
    finish(&w);
    const struct finding *f = find(&w.f, "tensor-not-indexed");
    assert_non_null(f);
    assert_int_equal(f->severity, FINDING_WARN);
    assert_non_null(strstr(f->text, "2 tensors"));
    assert_non_null(strstr(f->text, ": a, c"));
    assert_false(w.inv.complete);
    assert_int_equal(w.inv.count, 3);
    release(&w);
}

static void a_tensor_in_another_shard_is_a_failure(void **state)
{
    struct world w = {0};

    (void)state;
    assert_int_equal(add(&w.inv, "s1", "a", 1, &w.f, &w.e), 0);
    assert_int_equal(add(&w.inv, "s2", "b", 1, &w.f, &w.e), 0);
    read_index(&w, "{\"weight_map\":{\"a\":\"s2\",\"b\":\"s2\"}}");
    finish(&w);
    const struct finding *f = find(&w.f, "tensor-other-shard");
    assert_non_null(f);
    assert_int_equal(f->severity, FINDING_FAIL);
    assert_non_null(strstr(f->text, ": a"));
    assert_non_null(find(&w.f, "shard-not-indexed"));
    assert_false(w.inv.complete);
    release(&w);
}

static void a_tensor_in_two_shards_stays_once(void **state)
{
    struct world w = {0};

    (void)state;
    /* no index: nobody says which one counts */
    assert_int_equal(add(&w.inv, "s1", "a x", 2, &w.f, &w.e), 0);
    assert_int_equal(add(&w.inv, "s2", "b x", 2, &w.f, &w.e), 0);
    finish(&w);
    assert_int_equal(w.inv.count, 3);
    assert_int_equal(w.inv.stored_bytes, 6);
    assert_non_null(find(&w.f, "tensor-twice"));
    assert_int_equal(find(&w.f, "tensor-twice")->severity, FINDING_FAIL);
    assert_int_equal(inventory_find(&w.inv, "x")->shard, 0);
    assert_false(w.inv.complete);
    release(&w);
    /* the index chooses, and the copies look alike */
    assert_int_equal(add(&w.inv, "s1", "a x", 2, &w.f, &w.e), 0);
    assert_int_equal(add(&w.inv, "s2", "b x", 2, &w.f, &w.e), 0);
    read_index(&w, "{\"weight_map\":{\"a\":\"s1\",\"b\":\"s2\",\"x\":\"s2\"}}");
    finish(&w);
    assert_null(find(&w.f, "tensor-twice"));
    assert_non_null(find(&w.f, "tensor-copies"));
    assert_int_equal(find(&w.f, "tensor-copies")->severity, FINDING_WARN);
    assert_int_equal(inventory_find(&w.inv, "x")->shard, 1);
    assert_int_equal(w.inv.count, 3);
    assert_true(w.inv.complete);
    release(&w);
    /* the index chooses, and the copies differ */
    assert_int_equal(add(&w.inv, "s1", "a x", 2, &w.f, &w.e), 0);
    assert_int_equal(add(&w.inv, "s2", "b x", 4, &w.f, &w.e), 0);
    read_index(&w, "{\"weight_map\":{\"a\":\"s1\",\"b\":\"s2\",\"x\":\"s2\"}}");
    finish(&w);
    assert_non_null(find(&w.f, "tensor-twice"));
    assert_int_equal(inventory_find(&w.inv, "x")->bytes, 4);
    release(&w);
}

static void shards_that_were_not_added_are_counted_with_their_tensors(void **state)
{
    struct world w = {0};

    (void)state;
    assert_int_equal(add(&w.inv, "s1", "a", 1, &w.f, &w.e), 0);
    read_index(&w, "{\"metadata\":{\"total_size\":77},\"weight_map\":{\"a\":\"s1\",\"b\":\"s2\","
                   "\"c\":\"s2\",\"d\":\"s3\"}}");
    finish(&w);
    const struct finding *f = find(&w.f, "shards-not-read");
    assert_non_null(f);
    assert_int_equal(f->severity, FINDING_FAIL);
    assert_non_null(strstr(f->text, "2 of 3 shards"));
    assert_non_null(strstr(f->text, "3 of 4 tensors: s2, s3"));
    /* what is not there is not held against the tensors that are, nor against the total */
    assert_int_equal(w.f.count, 1);
    assert_false(w.inv.complete);
    release(&w);
}

static void a_total_that_differs_is_a_warning_and_hinders_nothing(void **state)
{
    struct world w = {0};

    (void)state;
    assert_int_equal(add(&w.inv, "s1", "a", 8, &w.f, &w.e), 0);
    read_index(&w, "{\"metadata\":{\"total_size\":16},\"weight_map\":{\"a\":\"s1\"}}");
    finish(&w);
    assert_int_equal(w.f.count, 1);
    assert_string_equal(w.f.items[0].code, "index-total-size-differs");
    assert_int_equal(w.f.items[0].severity, FINDING_WARN);
    assert_non_null(strstr(w.f.items[0].text, "16"));
    assert_non_null(strstr(w.f.items[0].text, " 8 "));
    assert_true(w.inv.complete);
    release(&w);
}

static void many_of_a_kind_are_counted_and_four_named(void **state)
{
    struct world w = {0};

    (void)state;
    assert_int_equal(add(&w.inv, "s1", "a b c d e f g", 1, &w.f, &w.e), 0);
    assert_int_equal(add(&w.inv, "s2", "h", 1, &w.f, &w.e), 0);
    read_index(&w, "{\"weight_map\":{\"h\":\"s2\"}}");
    finish(&w);
    const struct finding *f = find(&w.f, "tensor-not-indexed");
    assert_non_null(f);
    assert_non_null(strstr(f->text, "7 tensors"));
    assert_non_null(strstr(f->text, ": a, b, c, d, ..."));
    release(&w);
}

static void sizes_past_64_bits_are_a_limit(void **state)
{
    struct world w = {0};
    char header[200];

    (void)state;
    for (int i = 0; i < 2; i++) {
        snprintf(header, sizeof(header),
                 "{\"t%d\":{\"dtype\":\"X\",\"shape\":[1],"
                 "\"data_offsets\":[0,18446744073709551000]}}",
                 i);
        char path[2] = {(char)('a' + i), 0};
        assert_int_equal(inventory_add_safetensors(&w.inv, path,
                                                   18446744073709551000u + 8 + strlen(header),
                                                   header, strlen(header), &w.f, &w.e),
                         0);
    }
    assert_int_equal(inventory_finish(&w.inv, NULL, &w.f, &w.e), ERR_LIMIT);
    release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_are_sorted_and_found),
        cmocka_unit_test(an_empty_inventory_is_not_complete),
        cmocka_unit_test(a_failed_add_leaves_no_trace),
        cmocka_unit_test(a_tensor_that_only_the_index_knows_is_a_failure),
        cmocka_unit_test(a_tensor_that_no_index_names_is_a_warning),
        cmocka_unit_test(a_tensor_in_another_shard_is_a_failure),
        cmocka_unit_test(a_tensor_in_two_shards_stays_once),
        cmocka_unit_test(shards_that_were_not_added_are_counted_with_their_tensors),
        cmocka_unit_test(a_total_that_differs_is_a_warning_and_hinders_nothing),
        cmocka_unit_test(many_of_a_kind_are_counted_and_four_named),
        cmocka_unit_test(sizes_past_64_bits_are_a_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
