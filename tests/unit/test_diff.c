#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "fingerprint/diff.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A side as text: "path=content" words; content "-" is missing, "!" is unreadable. Two files have
 * one digest when their content has one first letter, and one size when the whole is as long. */
static void side(const char *text, struct manifest *ret)
{
    struct manifest_entry x[64] = {0};
    char copy[1024];
    size_t n = 0;
    struct err e = {0};

    snprintf(copy, sizeof(copy), "%s", text);
    for (char *save, *p = strtok_r(copy, " ", &save); p; p = strtok_r(NULL, " ", &save)) {
        char *eq = strchr(p, '=');
        *eq = 0;
        x[n].path = p;
        x[n].state = eq[1] == '-' ? SHARD_MISSING : eq[1] == '!' ? SHARD_UNREADABLE : SHARD_OK;
        x[n].sha256[5] = (uint8_t)eq[1];
        x[n].size_bytes = strlen(eq + 1);
        n++;
    }
    assert_int_equal(manifest_of(x, n, ret, &e), 0);
}

/* The difference as text: "class:a>b" words, "." for a side that has none. */
static void words(const struct diff *d, char *ret, size_t ret_bytes)
{
    size_t used = 0;

    ret[0] = 0;
    for (size_t i = 0; i < d->count; i++) {
        const struct diff_entry *x = &d->items[i];
        used += (size_t)snprintf(ret + used, ret_bytes - used, "%s%s:%s>%s", i > 0 ? " " : "",
                                 diff_class_name(x->class), x->a ? x->a->path : ".",
                                 x->b ? x->b->path : ".");
    }
}

static void each_class_is_told(void **state)
{
    static const struct {
        const char *a, *b, *expected;
    } cases[] = {
        {"x=1", "x=1", "identical:x>x"},
        {"x=1", "x=2", "changed:x>x"},
        {"x=1", "x=11", "changed:x>x"},
        {"", "x=1", "added:.>x"},
        {"x=1", "", "removed:x>."},
        {"x=1", "y=1", "renamed:x>y"},
        {"x=1", "y=11", "removed:x>. added:.>y"},
        {"x=1", "y=2", "removed:x>. added:.>y"},
        {"x=1", "X=1", "renamed:x>X"},
        {"x=1", "x=!", "unverifiable:x>x"},
        {"x=!", "x=1", "unverifiable:x>x"},
        {"x=!", "", "unverifiable:x>."},
        {"", "x=!", "unverifiable:.>x"},
        {"x=!", "x=!", "unverifiable:x>x"},
        /* known to be missing is not there */
        {"x=1", "x=-", "removed:x>x"},
        {"x=-", "x=1", "added:x>x"},
        {"x=-", "x=-", "unverifiable:x>x"},
        {"x=-", "", "unverifiable:x>."},
        {"x=1", "x=- y=1", "renamed:x>y"},
        /* a swap is two changes, since both paths stayed */
        {"x=1 y=2", "x=2 y=1", "changed:x>x changed:y>y"},
        /* copies of one content pair in order of path, each at most once */
        {"a=1 b=1", "c=1 d=1", "renamed:a>c renamed:b>d"},
        {"a=1 b=1 c=1", "d=1", "renamed:a>d removed:b>. removed:c>."},
        {"d=1", "a=1 b=1 c=1", "added:.>b added:.>c renamed:d>a"},
        {"a=1 keep=1", "b=1 keep=1", "renamed:a>b identical:keep>keep"},
        {"a=1", "a=1 copy=1", "identical:a>a added:.>copy"},
        {"a=2 b=1", "c=1 d=2", "renamed:a>d renamed:b>c"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char got[512];
        struct manifest a, b;
        struct diff d;
        side(cases[i].a, &a);
        side(cases[i].b, &b);
        diff_compare(&a, &b, &d);
        words(&d, got, sizeof(got));
        assert_string_equal(got, cases[i].expected);
        diff_release(&d);
        manifest_release(&a);
        manifest_release(&b);
    }
}

static void assert_answers(const char *ta, const char *tb, bool equal, bool differs)
{
    struct manifest a, b;
    struct diff d;

    side(ta, &a);
    side(tb, &b);
    diff_compare(&a, &b, &d);
    assert_int_equal(diff_equal(&d), equal);
    assert_int_equal(diff_differs(&d), differs);
    diff_release(&d);
    manifest_release(&a);
    manifest_release(&b);
}

static void unknown_is_neither_equal_nor_different(void **state)
{
    (void)state;
    assert_answers("x=1 y=2", "x=1 y=2", true, false);
    assert_answers("x=1 y=2", "x=1 y=3", false, true);
    assert_answers("x=1 y=2", "x=1 y=!", false, false);
    assert_answers("x=1 y=2", "x=2 y=!", false, true);
    assert_answers("x=1", "x=1 y=1", false, true);
    assert_answers("x=1", "", false, true);
    assert_answers("x=1", "y=1", false, true);
    assert_answers("", "", false, false);
}

/* Up to 40 files with few names and contents, so that renames and copies abound. */
static void random_side(struct manifest *ret)
{
    struct manifest_entry x[40] = {0};
    char names[40][16];
    size_t n = 0;
    struct err e = {0};

    for (int i = 0; i < 40; i++) {
        if (rand() % 2)
            continue;
        snprintf(names[n], sizeof(names[n]), "f%d", i);
        x[n].path = names[n];
        x[n].state = rand() % 8 ? SHARD_OK : (enum shard_state)(rand() % SHARD_STATES);
        x[n].sha256[31] = (uint8_t)(rand() % 6);
        x[n].size_bytes = (uint64_t)(rand() % 2);
        n++;
    }
    assert_int_equal(manifest_of(x, n, ret, &e), 0);
}

static void assert_each_file_once(const struct diff *d, const struct manifest *a,
                                  const struct manifest *b)
{
    size_t in_a = 0, in_b = 0, sum = 0;
    uint8_t seen_a[64] = {0}, seen_b[64] = {0};

    for (size_t i = 0; i < d->count; i++) {
        const struct diff_entry *x = &d->items[i];
        if (x->a && x->a->state != SHARD_MISSING) {
            in_a++;
            assert_int_equal(seen_a[x->a - a->items]++, 0);
        }
        if (x->b && x->b->state != SHARD_MISSING) {
            in_b++;
            assert_int_equal(seen_b[x->b - b->items]++, 0);
        }
        if (x->class == DIFF_RENAMED) {
            assert_string_not_equal(x->a->path, x->b->path);
            assert_memory_equal(x->a->sha256, x->b->sha256, SHA256_BYTES);
            assert_int_equal(x->a->size_bytes, x->b->size_bytes);
        }
    }
    for (size_t i = 0; i < a->count; i++)
        in_a -= a->items[i].state != SHARD_MISSING;
    for (size_t i = 0; i < b->count; i++)
        in_b -= b->items[i].state != SHARD_MISSING;
    assert_int_equal(in_a, 0);
    assert_int_equal(in_b, 0);
    for (int c = 0; c < DIFF_CLASSES; c++)
        sum += d->counts[c];
    assert_int_equal(sum, d->count);
}

static void swapped_sides_swap_added_and_removed(void **state)
{
    (void)state;
    srand(7);
    for (int round = 0; round < 500; round++) {
        struct manifest a, b;
        struct diff ab, ba;
        random_side(&a);
        random_side(&b);
        diff_compare(&a, &b, &ab);
        diff_compare(&b, &a, &ba);
        assert_each_file_once(&ab, &a, &b);
        assert_int_equal(ab.counts[DIFF_ADDED], ba.counts[DIFF_REMOVED]);
        assert_int_equal(ab.counts[DIFF_REMOVED], ba.counts[DIFF_ADDED]);
        assert_int_equal(ab.counts[DIFF_IDENTICAL], ba.counts[DIFF_IDENTICAL]);
        assert_int_equal(ab.counts[DIFF_CHANGED], ba.counts[DIFF_CHANGED]);
        assert_int_equal(ab.counts[DIFF_RENAMED], ba.counts[DIFF_RENAMED]);
        assert_int_equal(ab.counts[DIFF_UNVERIFIABLE], ba.counts[DIFF_UNVERIFIABLE]);
        for (size_t i = 0; i < ab.count; i++) { /* the same pairs, the other way round */
            size_t j = 0;
            while (j < ba.count &&
                   (ba.items[j].a != ab.items[i].b || ba.items[j].b != ab.items[i].a))
                j++;
            assert_true(j < ba.count);
        }
        diff_release(&ab);
        diff_release(&ba);
        manifest_release(&a);
        manifest_release(&b);
    }
}

static void a_set_does_not_differ_from_itself(void **state)
{
    (void)state;
    srand(8);
    for (int round = 0; round < 200; round++) {
        struct manifest a;
        struct diff d;
        random_side(&a);
        diff_compare(&a, &a, &d);
        assert_false(diff_differs(&d));
        assert_int_equal(d.counts[DIFF_IDENTICAL], a.ok_count);
        assert_int_equal(diff_equal(&d), a.complete);
        diff_release(&d);
        manifest_release(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_class_is_told),
        cmocka_unit_test(unknown_is_neither_equal_nor_different),
        cmocka_unit_test(swapped_sides_swap_added_and_removed),
        cmocka_unit_test(a_set_does_not_differ_from_itself),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
