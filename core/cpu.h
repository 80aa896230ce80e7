#ifndef CORE_CPU_H
#define CORE_CPU_H

/* Features that choose kernel variants. CPU_AVX2 stands for AVX2, FMA and F16C together, CPU_AVX512
 * for F, BW, VL and DQ together: the sets that the files *_avx2.c and *_avx512.c are built for. */
enum { CPU_AVX2 = 1 << 0, CPU_AVX512 = 1 << 1 };

/* The features that this CPU and this system let us use. */
unsigned cpu_features(void);

/* Processors this process may run on (affinity respected), at least 1. */
unsigned cpu_count(void);

/* Bytes of the largest cache the system reports for CPU 0, or 0 when it reports none. */
unsigned long cpu_last_cache_bytes(void);

#endif
