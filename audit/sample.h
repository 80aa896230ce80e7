#ifndef AUDIT_SAMPLE_H
#define AUDIT_SAMPLE_H
#include "core/err.h"
#include "core/log.h"
#include <stdbool.h>
#include <stdint.h>

/* A small, complete checkpoint of Kimi K3's shape: nine layers (six KDA, three MLA, the last two
 * both MLA), attention residuals in blocks of three layers, a dense first layer and eight LatentMoE
 * layers of 32 experts stored as MXFP4, in three shards with an index; about 40 MB. Tensor names,
 * dtypes and the padded A_log are those of the real checkpoint; config.json is sample_config.json,
 * byte for byte. The values are seeded noise in plausible ranges: it runs, and says nothing.
 *
 * The same seed gives the same bytes on every machine: the noise is made of integers and of sums
 * and products that IEEE 754 rounds in one way. */

struct sample_result {
    uint64_t bytes; /* of the three shards together */
    unsigned files;
};

/* Writes into dir, which is created and must be empty unless force. config.json comes last, so that
 * a checkpoint that was cut off is not taken for a whole one. ERR_USAGE if the folder is not empty,
 * ERR_IO with the file if one cannot be written. */
int sample_write(const char *dir, uint64_t seed, bool force, struct sample_result *ret,
                 struct err *e);

#endif
