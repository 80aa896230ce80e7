#ifndef STRESS_DEQUANT_SYNTHETIC_H
#define STRESS_DEQUANT_SYNTHETIC_H
#include "stress/dequant.h"

/* A made-up quantized matrix, to measure on: random numbers, and scales of about 2^-7, so that
 * nothing is NaN and no result is subnormal, which some processors are slow with. */
struct dequant_synthetic {
    struct dequant_matrix m;
    uint64_t stored_bytes; /* of all its arrays */
    void *arrays[4];
};

/* Makes one of that shape; zero and g_idx are made where they are not NULL (what they point at is
 * not read), and g_idx puts each column in any group. Fails as dequant_check does, or with
 * ERR_LIMIT if there is no memory for it. */
int dequant_synthetic_open(const struct dequant_matrix *shape, uint64_t seed,
                           struct dequant_synthetic *ret, struct err *e);
void dequant_synthetic_close(struct dequant_synthetic *s);

#endif
