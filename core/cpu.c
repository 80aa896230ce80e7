#include "core/cpu.h"
#include <sched.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>

/* F16C has no name that both compilers' __builtin_cpu_supports know. Its registers are those of
 * AVX, which the system must have enabled where AVX2 is reported. */
static int has_f16c(void)
{
    unsigned a, b, c, d;

    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
#endif

unsigned cpu_features(void)
{
    unsigned f = 0;

#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c())
        f |= CPU_AVX2;
    if ((f & CPU_AVX2) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
        f |= CPU_AVX512;
#endif
    return f;
}

unsigned cpu_count(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
        return (unsigned)CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}

unsigned long cpu_last_cache_bytes(void)
{
    static const int names[] = {_SC_LEVEL4_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE,
                                _SC_LEVEL2_CACHE_SIZE};

    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        long n = sysconf(names[i]);
        if (n > 0)
            return (unsigned long)n;
    }
    return 0;
}
