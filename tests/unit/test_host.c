#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "probes/host.c"
#include <sys/stat.h>
#include <unistd.h>

static void the_cpu_is_named_with_its_extensions(void **state)
{
    char text[160];

    (void)state;
    describe_cpu("processor\t: 0\nmodel\t\t: 85\nmodel name\t: Some CPU @ 2.00GHz\nflags\t: x\n",
                 CPU_AVX2 | CPU_AVX512, text, sizeof(text));
    assert_string_equal(text, "Some CPU @ 2.00GHz; AVX2, AVX-512");
    describe_cpu("cpu\t\t: POWER9\n", CPU_AVX2, text, sizeof(text));
    assert_string_equal(text, "POWER9; AVX2");
    describe_cpu("model name\t:", 0, text, sizeof(text));
    assert_string_equal(text, "unknown; no vector extensions in use");
    describe_cpu(NULL, 0, text, sizeof(text));
    assert_string_equal(text, "unknown; no vector extensions in use");
}

static void memory_is_in_bytes(void **state)
{
    (void)state;
    assert_true(total_memory("MemTotal:       24684092 kB\nMemFree: 1 kB\n") == 24684092ull * 1024);
    assert_true(total_memory("MemFree: 1 kB\nMemTotal: 8 kB") == 8192);
    assert_true(total_memory("MemTotal: 8 MB\n") == 0);
    assert_true(total_memory("MemTotal: 99999999999999999999 kB\n") == 0);
    assert_true(total_memory("") == 0);
    assert_true(total_memory(NULL) == 0);
}

static void put(const char *dir, const char *name, const char *text)
{
    char path[200];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    fclose(f);
}

/* The least limit counts, wherever in the tree of groups it is set; "max" is no limit. */
static void a_control_groups_limit_is_found(void **state)
{
    char dir[] = "/tmp/assay-host-XXXXXX", path[200];
    static const char *const dirs[] = {"", "/a", "/a/b", "/memory", "/memory/c"};

    (void)state;
    assert_non_null(mkdtemp(dir));
    for (size_t i = 1; i < 5; i++) {
        snprintf(path, sizeof(path), "%s%s", dir, dirs[i]);
        assert_int_equal(mkdir(path, 0755), 0);
    }
    assert_true(group_limit("0::/a/b\n", dir) == UINT64_MAX);
    put(dir, "a/b/memory.max", "max\n");
    assert_true(group_limit("0::/a/b\n", dir) == UINT64_MAX);
    put(dir, "a/memory.max", "1048576\n");
    assert_true(group_limit("0::/a/b\n", dir) == 1048576);
    put(dir, "memory.max", "4096\n");
    assert_true(group_limit("3:cpu:/\n0::/\n", dir) == 4096);
    put(dir, "memory/c/memory.limit_in_bytes", "2048\n");
    put(dir, "memory/memory.limit_in_bytes", "9223372036854771712\n");
    assert_true(group_limit("9:cpu:/c\n4:memory:/c\n", dir) == 2048);
    assert_true(group_limit("4:memory:/elsewhere", dir) == 9223372036854771712u);
    assert_true(group_limit("", dir) == UINT64_MAX);
    assert_true(group_limit(NULL, dir) == UINT64_MAX);
    assert_true(group_limit("nonsense\n:\n::\n", dir) == UINT64_MAX);
    snprintf(path, sizeof(path), "rm -r '%s'", dir);
    assert_int_equal(system(path), 0);
}

static void this_host_gives_its_facts(void **state)
{
    struct host h;
    struct fact_list l;
    struct err e = {0};

    (void)state;
    host_read(&h);
    assert_true(h.threads >= 1);
    assert_true(strchr(h.cpu, ';') != NULL);
    fact_list_init(&l);
    struct fact_sink sink = fact_list_sink(&l);
    assert_int_equal(host_facts(&h, &sink, &e), 0);
    assert_int_equal(l.count, 5);
    assert_string_equal(fact_list_find(&l, FACT_HOST_VERSION, "")->text, VERSION);
    assert_int_equal(fact_list_find(&l, FACT_HOST_MEMORY, "")->state, FACT_KNOWN);
    fact_list_release(&l);
    /* what is not known is said to be unknown */
    h.memory_bytes = 0;
    fact_list_init(&l);
    sink = fact_list_sink(&l);
    assert_int_equal(host_facts(&h, &sink, &e), 0);
    assert_int_equal(fact_list_find(&l, FACT_HOST_MEMORY, "")->state, FACT_UNKNOWN);
    fact_list_release(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cpu_is_named_with_its_extensions),
        cmocka_unit_test(memory_is_in_bytes),
        cmocka_unit_test(a_control_groups_limit_is_found),
        cmocka_unit_test(this_host_gives_its_facts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
