#ifndef STRESS_NORMAL_H
#define STRESS_NORMAL_H
#include "core/err.h"
#include <stdint.h>

/* Synthetic hidden vectors: x [rows][width], each element standard normal, each row then scaled to
 * a mean square of one, as an RMS norm leaves it. A row depends on the seed and its number only,
 * whatever the threads (0: one a processor). Fails as pool_run does. */
int normal_draw(float *ret_x, uint64_t rows, uint32_t width, uint64_t seed, unsigned threads,
                struct err *e);

#endif
