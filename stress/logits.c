#include "stress/logits.h"
#include "core/cpu.h"

/* The definition. */
static void multiply(size_t tokens, size_t rows, size_t width, const float *x, const float *w,
                     float *ret)
{
    for (size_t t = 0; t < tokens; t++) {
        for (size_t r = 0; r < rows; r++) {
            double sum = 0;
            for (size_t i = 0; i < width; i++)
                sum += (double)x[t * width + i] * w[r * width + i];
            ret[t * rows + r] = (float)sum;
        }
    }
}

void logits_init(struct logits_ops *ops, unsigned cpu_mask)
{
    *ops = (struct logits_ops){multiply, "c"};
#if defined(__x86_64__)
    if (cpu_mask & CPU_AVX2)
        *ops = (struct logits_ops){logits_avx2, "avx2"};
    if (cpu_mask & CPU_AVX512)
        *ops = (struct logits_ops){logits_avx512, "avx512"};
#else
    (void)cpu_mask;
#endif
}
