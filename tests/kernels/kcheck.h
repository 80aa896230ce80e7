#ifndef TESTS_KERNELS_KCHECK_H
#define TESTS_KERNELS_KCHECK_H
#include "core/cpu.h"
#include "stress/stored.h"
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What kcheck checks with: guarded arrays, numbers, and comparisons that count. */

static const unsigned masks[] = {CPU_AVX2, CPU_AVX2 | CPU_AVX512};
#define MASKS 2
#define EPS ((double)FLT_EPSILON)

static unsigned checks, failures;
static const char *what; /* the kernel, its variant, and the shape at hand */
static char label[160];

/* --- arrays that end where nothing may be read ------------------------------------------------ */

#define ARRAYS_MAX 64
static struct {
    void *map;
    size_t bytes;
} arrays[ARRAYS_MAX];
static unsigned array_count;

static void *guarded(uint64_t count, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = count * size;
    size_t whole = (bytes + page - 1) / page * page;
    char *map =
        mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (map == MAP_FAILED || mprotect(map + whole, page, PROT_NONE) || array_count == ARRAYS_MAX) {
        perror("kcheck: a guarded array");
        exit(1);
    }
    arrays[array_count].map = map;
    arrays[array_count++].bytes = whole + page;
    return map + whole - bytes;
}

static void release(void)
{
    while (array_count > 0) {
        array_count--;
        munmap(arrays[array_count].map, arrays[array_count].bytes);
    }
}

static float random_float(void) /* -1 to 1, from a fixed sequence */
{
    static uint64_t seed = 1;

    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (float)((int64_t)seed >> 40) * 0x1p-23f;
}

static float *floats(uint64_t n)
{
    float *x = guarded(n, sizeof(float));

    for (uint64_t i = 0; i < n; i++)
        x[i] = random_float();
    return x;
}

static void put(enum dtype store, void *array, uint64_t i, float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof(bits));
    if (store == DTYPE_BF16)
        ((uint16_t *)array)[i] = (uint16_t)(bits >> 16);
    else
        ((float *)array)[i] = x;
}

static void *stored(enum dtype store, uint64_t n)
{
    void *x = guarded(n, store == DTYPE_BF16 ? 2 : 4);

    for (uint64_t i = 0; i < n; i++)
        put(store, x, i, random_float());
    return x;
}

static void *scratch_of(size_t bytes)
{
    char *p = guarded(bytes, 1); /* a multiple of 64, so that the start is aligned too */

    memset(p, 0x7f, bytes); /* large finite numbers: what is not set must not be used */
    return p;
}

/* --- comparison ------------------------------------------------------------------------------- */

static void fail(uint64_t i, double got, double want, double bound)
{
    failures++;
    printf("%s %s: element %llu is %.9g, by the definition %.9g, bound %.3g\n", what, label,
           (unsigned long long)i, got, want, bound);
}

/* |got - want| <= bound[i], or NaN in both. */
static void same(const float *got, const float *want, const double *bound, uint64_t n)
{
    checks++;
    for (uint64_t i = 0; i < n; i++) {
        bool ok =
            isnan(want[i]) ? isnan(got[i]) : fabs((double)got[i] - (double)want[i]) <= bound[i];
        if (!ok) {
            fail(i, (double)got[i], (double)want[i], bound[i]);
            return;
        }
    }
}

static uint64_t nans(const float *x, uint64_t n)
{
    uint64_t count = 0;

    for (uint64_t i = 0; i < n; i++)
        count += isnan(x[i]) ? 1 : 0;
    return count;
}

static void want_count(uint64_t got, uint64_t want)
{
    checks++;
    if (got != want) {
        failures++;
        printf("%s %s: %llu outputs are NaN, not %llu\n", what, label, (unsigned long long)got,
               (unsigned long long)want);
    }
}

#endif
