#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "core/cpu.c"

/* The kernel's list of what programs may use is the independent witness. */
static int kernel_says(const char *flag)
{
    char line[8192], word[40];
    int found = 0;
    FILE *f = fopen("/proc/cpuinfo", "r");

    if (!f)
        return -1;
    (void)snprintf(word, sizeof(word), " %s ", flag);
    while (!found && fgets(line, sizeof(line), f)) {
        if (strncmp(line, "flags", 5) != 0)
            continue;
        line[strcspn(line, "\n")] = ' ';
        found = strstr(line, word) != NULL;
    }
    fclose(f);
    return found;
}

static void features_are_those_of_the_kernel(void **state)
{
    unsigned f = cpu_features();

    (void)state;
#if !defined(__x86_64__)
    assert_int_equal(f, 0);
    return;
#endif
    if (kernel_says("fpu") != 1) {
        puts("skip: no /proc/cpuinfo with flags");
        skip();
    }
    int avx2 = kernel_says("avx2") && kernel_says("fma") && kernel_says("f16c");
    int avx512 = avx2 && kernel_says("avx512f") && kernel_says("avx512bw") &&
                 kernel_says("avx512vl") && kernel_says("avx512dq");
    assert_int_equal((f & CPU_AVX2) != 0, avx2);
    assert_int_equal((f & CPU_AVX512) != 0, avx512);
}

static void count_respects_affinity(void **state)
{
    int status;

    (void)state;
    assert_true(cpu_count() >= 1);
    pid_t child = fork();
    if (child == 0) {
        cpu_set_t set;
        size_t first = 0;
        if (sched_getaffinity(0, sizeof(set), &set) != 0)
            _exit(77);
        while (!CPU_ISSET(first, &set))
            first++;
        CPU_ZERO(&set);
        CPU_SET(first, &set);
        if (sched_setaffinity(0, sizeof(set), &set) != 0)
            _exit(77);
        _exit(cpu_count() == 1 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) {
        puts("skip: the affinity cannot be set here");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void last_cache_is_one_that_the_kernel_lists(void **state)
{
    unsigned long n = cpu_last_cache_bytes(), kib;
    char path[80];
    int matches = 0, seen = 0;

    (void)state;
    for (int i = 0; i < 8; i++) {
        (void)snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
        FILE *f = fopen(path, "r");
        if (!f)
            continue;
        if (fscanf(f, "%luK", &kib) == 1) {
            seen++;
            matches += kib * 1024 == n;
        }
        fclose(f);
    }
    if (!seen || !n) {
        puts("skip: the system lists no caches");
        skip();
    }
    assert_true(matches > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_are_those_of_the_kernel),
        cmocka_unit_test(count_respects_affinity),
        cmocka_unit_test(last_cache_is_one_that_the_kernel_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
