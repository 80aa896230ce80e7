#include "stress/residual.h"
#include "core/cpu.h"
#include "stress/scratch.h"
#include "stress/stored.h"
#include <math.h>
#include <string.h>

static double logit(const struct residual_shape *s, const void *v, const float *w,
                    const float *norm)
{
    double squares = 0, sum = 0;

    for (uint64_t i = 0; i < s->hidden; i++) {
        double x = stored_at(s->store, v, i);
        squares += x * x;
        sum += (double)w[i] * x * (double)norm[i];
    }
    return sum / sqrt(squares / (double)s->hidden + s->eps);
}

/* The definition. */
static void mix(const struct residual_shape *s, const void *const *v, const float *w,
                const float *norm, float *ret_h, float *ret_p, void *scratch)
{
    double *p = scratch_take(&scratch, s->sources, sizeof(double));
    double top = -INFINITY, weight = 0;

    for (uint64_t n = 0; n < s->sources; n++) {
        p[n] = logit(s, v[n], w, norm);
        if (p[n] > top)
            top = p[n];
    }
    for (uint64_t n = 0; n < s->sources; n++) {
        p[n] = exp(p[n] - top);
        weight += p[n];
    }
    for (uint64_t i = 0; i < s->hidden; i++) {
        double sum = 0;
        for (uint64_t n = 0; n < s->sources; n++)
            sum += p[n] * stored_at(s->store, v[n], i);
        ret_h[i] = s->sources ? (float)(sum / weight) : 0;
    }
    for (uint64_t n = 0; ret_p && n < s->sources; n++)
        ret_p[n] = (float)(p[n] / weight);
}

void residual_init(struct residual_ops *ops, unsigned cpu_mask)
{
    ops->mix = mix;
    ops->variant = "c";
#if defined(__x86_64__)
    if (cpu_mask & CPU_AVX2)
        residual_avx2(ops);
    if (cpu_mask & CPU_AVX512)
        residual_avx512(ops);
#else
    (void)cpu_mask;
#endif
}

size_t residual_scratch_bytes(const struct residual_shape *s)
{
    size_t total = 0;

    scratch_need(&total, s->sources, sizeof(double));
    return total;
}

static struct residual_shape widest(const struct residual_block *b)
{
    /* embed, every finished block and the running sum */
    return (struct residual_shape){.sources = b->layers / b->block + 2,
                                   .hidden = b->hidden,
                                   .eps = b->eps,
                                   .store = DTYPE_F32};
}

size_t residual_block_scratch_bytes(const struct residual_block *b)
{
    struct residual_shape s = widest(b);
    size_t total = residual_scratch_bytes(&s);
    uint64_t sums;

    if (total == SIZE_MAX || __builtin_mul_overflow(s.sources, b->hidden, &sums))
        return SIZE_MAX;
    scratch_need(&total, sums, sizeof(float));
    scratch_need(&total, b->hidden, sizeof(double));
    scratch_need(&total, s.sources, sizeof(void *));
    return total;
}

/* One token through all rows. Source 0 is embed; source n from 1 on is the sum of block n-1, kept
 * in sums[n], of which the last is the running one, whose sum is kept in double beside it. */
static void block_token(const struct residual_ops *ops, const struct residual_block *b, uint64_t t,
                        const float *embed, const float *f, const float *w, const float *norm,
                        float *ret_h, void *scratch)
{
    struct residual_shape s = widest(b);
    uint64_t d = b->hidden, stride = b->tokens * d;
    float *sums = scratch_take(&scratch, s.sources * d, sizeof(float));
    double *running = scratch_take(&scratch, d, sizeof(double));
    const void **v = scratch_take(&scratch, s.sources, sizeof(void *));

    v[0] = embed + t * d;
    s.sources = 1;
    for (uint64_t l = 0; l <= b->layers; l++) {
        ops->mix(&s, v, w + l * d, norm + l * d, ret_h + l * stride + t * d, NULL, scratch);
        if (l == b->layers)
            break;
        if (l % b->block == 0) { /* sub-layer l opens a block: one source more from now on */
            memset(running, 0, d * sizeof(double));
            v[s.sources] = sums + s.sources * d;
            s.sources++;
        }
        float *sum = sums + (s.sources - 1) * d;
        for (uint64_t i = 0; i < d; i++) {
            running[i] += (double)f[l * stride + t * d + i];
            sum[i] = (float)running[i];
        }
    }
}

void residual_block(const struct residual_ops *ops, const struct residual_block *b,
                    const float *embed, const float *f, const float *w, const float *norm,
                    float *ret_h, void *scratch)
{
    for (uint64_t t = 0; t < b->tokens; t++)
        block_token(ops, b, t, embed, f, w, norm, ret_h, scratch);
}
