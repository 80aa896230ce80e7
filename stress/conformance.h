#ifndef STRESS_CONFORMANCE_H
#define STRESS_CONFORMANCE_H
#include "core/err.h"
#include <stdbool.h>
#include <stddef.h>

/* Checks the kernels against numbers that were computed elsewhere: a conformance file is a
 * safetensors file with an operator's inputs, parameters and results, as tests/vectors/SPEC.md
 * defines it. */

enum conformance_state {
    CONFORMANCE_PASS,
    CONFORMANCE_FAIL,       /* an output differs by more than the file's tolerance */
    CONFORMANCE_MISSING,    /* a known operator that is not implemented */
    CONFORMANCE_UNKNOWN_OP, /* no operator of that name */
    CONFORMANCE_MALFORMED   /* not a conformance file: `reason` names the parameter or tensor */
};

/* One result of one implementation. error is max|got-want| / (max|want| + 1e-30); for integers the
 * number of elements that differ, which must be 0; NaN or infinity in got makes it infinite. */
struct conformance_output {
    const char *name;    /* "o", without "out." */
    const char *variant; /* "c", "avx2", "avx512" */
    double error, tolerance;
    bool ok;
};

#define CONFORMANCE_OUTPUTS_MAX 16
#define CONFORMANCE_OP_BYTES 64
#define CONFORMANCE_FILE_BYTES_MAX (256ul << 20)

struct conformance_result {
    enum conformance_state state;
    char op[CONFORMANCE_OP_BYTES];
    char reason[ERR_MSG_BYTES]; /* of missing, unknown and malformed; else "" */
    struct conformance_output outputs[CONFORMANCE_OUTPUTS_MAX];
    size_t output_count;
};

const char *conformance_state_name(enum conformance_state s); /* "pass", "fail", "missing" ... */

/* Checks one file's bytes: the definition, and each variant of the operator that cpu_mask (CPU_*)
 * allows. What is wrong with the file is a result, not an error; an error (ERR_LIMIT) means that
 * memory ran out or the file is over CONFORMANCE_FILE_BYTES_MAX. *ret on success only. */
int conformance_check(const void *bytes, size_t n, unsigned cpu_mask,
                      struct conformance_result *ret, struct err *e);

#endif
