#ifndef MODEL_TALLY_H
#define MODEL_TALLY_H
#include "model/finding.h"
#include <stdint.h>

/* Findings that many layers share, said once: the same sentence about layers 3, 7, 11 and 21 more.
 */

#define TALLY_ENTRIES_MAX 64 /* different sentences; the rest are counted in one */
#define TALLY_TEXT_BYTES 320
#define TALLY_NAMED 3 /* layers named before counting */
#define TALLY_NO_LAYER UINT32_MAX

struct tally {
    struct {
        enum finding_severity severity;
        const char *code;
        char text[TALLY_TEXT_BYTES];
        uint32_t layers[TALLY_NAMED];
        uint32_t last;  /* layer counted last */
        uint64_t count; /* layers; times, where there is no layer */
    } entries[TALLY_ENTRIES_MAX];
    size_t count;
    uint64_t dropped;
};

/* Notes it for a layer, or TALLY_NO_LAYER. A layer that comes twice in a row counts once. The text
 * is a clause without its end: "self_attn.q_proj.weight is [64, 32], the config gives [32, 32]". */
void tally_add(struct tally *t, enum finding_severity severity, const char *code, uint32_t layer,
               const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Adds everything to the list, which may be NULL. */
void tally_report(const struct tally *t, struct finding_list *findings);

#endif
