#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <sys/wait.h>
#include "core/mem.c"

static void alloc_gives_zeros(void **state)
{
    (void)state;
    unsigned char *p = mem_alloc(1000, 3);
    for (int i = 0; i < 3000; i++)
        assert_int_equal(p[i], 0);
    free(p);
    p = mem_alloc(0, 0);
    assert_non_null(p);
    free(p);
}

static void grow_keeps_and_doubles(void **state)
{
    size_t cap = 0;
    uint64_t *a = NULL;

    (void)state;
    for (size_t n = 0; n < 1000; n++) {
        size_t before = cap;
        a = mem_grow(a, &cap, n + 1, sizeof(*a));
        assert_true(cap >= n + 1);
        assert_true(cap == before || cap >= 2 * before);
        a[n] = n * 7;
    }
    for (size_t n = 0; n < 1000; n++)
        assert_int_equal(a[n], n * 7);
    free(a);
}

static void strdup_copies(void **state)
{
    char s[] = "abc";

    (void)state;
    char *t = mem_strdup(s);
    s[0] = 'x';
    assert_string_equal(t, "abc");
    free(t);
}

static void try_is_aligned_and_zeroed(void **state)
{
    static const size_t sizes[] = {0, 1, 63, 64, 65, 4097, 17u << 20};
    struct err e = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        void *p = NULL;
        assert_int_equal(mem_try(sizes[i], 1, &p, &e), 0);
        assert_int_equal((uintptr_t)p % 64, 0);
        for (size_t b = 0; b < sizes[i]; b += 61)
            assert_int_equal(((unsigned char *)p)[b], 0);
        free(p);
    }
}

static void try_refuses_overflow(void **state)
{
    struct err e = {0};
    void *p = &e;

    (void)state;
    assert_int_equal(mem_try(SIZE_MAX / 2, 3, &p, &e), ERR_LIMIT);
    assert_int_equal(mem_try(SIZE_MAX, 1, &p, &e), ERR_LIMIT);
    assert_ptr_equal(p, &e);
}

/* A grant that is touched later would have the process killed: it must be refused before. */
static void try_refuses_more_than_the_host_has(void **state)
{
    struct err e = {0};
    void *p = &e;

    (void)state;
    assert_int_equal(mem_try((size_t)1 << 46, 1, &p, &e), ERR_LIMIT);
    assert_non_null(strstr(e.msg, "70368744177664"));
    assert_ptr_equal(p, &e);
    /* A little more than is free, which Linux grants by its default rule when there is swap or
     * cache, is refused too. */
    uint64_t left = memory_left();
    if (left < UINT64_MAX / 4)
        assert_int_equal(mem_try(left + left / 8, 1, &p, &e), ERR_LIMIT);
}

static void exhausted_ends_with_could_not_find_out(void **state)
{
    int status;

    (void)state;
    pid_t child = fork();
    if (child == 0) {
        (void)!freopen("/dev/null", "w", stderr);
        mem_exhausted(5);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 3);
}

static void arena_is_aligned_zeroed_and_apart(void **state)
{
    struct mem_arena a = {0};
    unsigned char *p[300];

    (void)state;
    for (size_t i = 0; i < 300; i++) {
        p[i] = mem_arena_alloc(&a, i * 7);
        assert_int_equal((uintptr_t)p[i] % 16, 0);
        for (size_t b = 0; b < i * 7; b++)
            assert_int_equal(p[i][b], 0);
        memset(p[i], (int)(i & 0xff), i * 7);
    }
    for (size_t i = 0; i < 300; i++) {
        for (size_t b = 0; b < i * 7; b++)
            assert_int_equal(p[i][b], i & 0xff);
    }
    mem_arena_release(&a);
    assert_null(a.chunks);
}

static void arena_takes_more_than_a_chunk(void **state)
{
    struct mem_arena a = {0};

    (void)state;
    char *big = mem_arena_alloc(&a, 10 * CHUNK_BYTES);
    memset(big, 1, 10 * CHUNK_BYTES);
    char *s = mem_arena_strndup(&a, "hello world", 5);
    assert_string_equal(s, "hello");
    mem_arena_release(&a);
    s = mem_arena_strndup(&a, "", 0);
    assert_string_equal(s, "");
    mem_arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alloc_gives_zeros),
        cmocka_unit_test(grow_keeps_and_doubles),
        cmocka_unit_test(strdup_copies),
        cmocka_unit_test(try_is_aligned_and_zeroed),
        cmocka_unit_test(try_refuses_overflow),
        cmocka_unit_test(try_refuses_more_than_the_host_has),
        cmocka_unit_test(exhausted_ends_with_could_not_find_out),
        cmocka_unit_test(arena_is_aligned_zeroed_and_apart),
        cmocka_unit_test(arena_takes_more_than_a_chunk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
