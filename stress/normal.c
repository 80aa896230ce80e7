#include "stress/normal.h"
#include "core/pool.h"
#include "stress/seed.h"
#include <math.h>

#define BLOCK 64 /* rows of a job */

struct drawing {
    float *x;
    uint64_t rows;
    uint32_t width;
    uint64_t seed;
};

/* Marsaglia's polar method: two normals from a point in the unit disc. */
static void draw_row(const struct drawing *d, uint64_t row)
{
    float *x = d->x + row * d->width;
    uint64_t s = d->seed ^ ((row + 1) * 0xD1342543DE82EF95ull);
    double square = 0;

    for (uint32_t i = 0; i < d->width; i += 2) {
        double u, v, r;
        do {
            u = 2 * seed_unit(&s) - 1;
            v = 2 * seed_unit(&s) - 1;
            r = u * u + v * v;
        } while (r >= 1 || r <= 0);
        r = sqrt(-2 * log(r) / r);
        x[i] = (float)(u * r);
        if (i + 1 < d->width)
            x[i + 1] = (float)(v * r);
    }
    for (uint32_t i = 0; i < d->width; i++)
        square += (double)x[i] * (double)x[i];
    float scale = (float)sqrt(d->width / square);
    for (uint32_t i = 0; i < d->width; i++)
        x[i] *= scale;
}

static void draw_block(void *ctx, size_t index, unsigned worker)
{
    const struct drawing *d = ctx;
    uint64_t first = index * (uint64_t)BLOCK;

    (void)worker;
    for (uint64_t row = first; row < d->rows && row < first + BLOCK; row++)
        draw_row(d, row);
}

int normal_draw(float *ret_x, uint64_t rows, uint32_t width, uint64_t seed, unsigned threads,
                struct err *e)
{
    struct drawing d = {ret_x, rows, width, seed};

    return pool_run(threads, (size_t)((rows + BLOCK - 1) / BLOCK), draw_block, &d, e);
}
