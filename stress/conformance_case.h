#ifndef STRESS_CONFORMANCE_CASE_H
#define STRESS_CONFORMANCE_CASE_H
#include "core/err.h"
#include "model/safetensors.h"
#include "stress/conformance.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A conformance file while it is checked: what it holds, what was asked of it, what came out. The
 * first failure stays in `e` and turns every later call into nothing, so that an operator asks for
 * all it needs and looks once: ERR_FORMAT is the file's fault, anything else ours. */

#define CONFORMANCE_CASE_TENSORS_MAX 64
#define CONFORMANCE_CASE_BLOCKS_MAX 64         /* allocations of one case */
#define CONFORMANCE_CASE_BYTES_MAX (1ul << 30) /* of one of them */
#define CONFORMANCE_CASE_DIM_MAX (1u << 24)    /* of a dimension, and of a whole-number parameter */

struct conformance_case {
    const char *bytes;
    struct safetensors st;
    struct err e;
    bool used[CONFORMANCE_CASE_TENSORS_MAX]; /* asked for */
    void *blocks[CONFORMANCE_CASE_BLOCKS_MAX];
    size_t block_count;
    double tolerance;
    struct conformance_result *result;
};

/* Parses bytes[0..n). The case is to be closed also after a failure, which e tells. */
void conformance_case_open(struct conformance_case *c, const void *bytes, size_t n,
                           struct conformance_result *result);
void conformance_case_close(struct conformance_case *c);

static inline bool conformance_case_failed(const struct conformance_case *c)
{
    return c->e.code != ERR_OK;
}

/* The parameter as text; NULL, and a failure, if it is missing. */
const char *conformance_case_text(struct conformance_case *c, const char *name);
/* As a finite number; as a whole number from 0 to CONFORMANCE_CASE_DIM_MAX; the place of its word
 * in a NULL-terminated list. 0 after a failure. */
double conformance_case_number(struct conformance_case *c, const char *name);
uint64_t conformance_case_count(struct conformance_case *c, const char *name);
unsigned conformance_case_word(struct conformance_case *c, const char *name,
                               const char *const *words);

bool conformance_case_has(const struct conformance_case *c, const char *name);

/* The data of tensor `name` ("in.q"), aligned, alive until close. Then its dimensions, outermost
 * first, as uint64_t pointers up to a NULL: one that holds 0 is set, another must be equal. NULL
 * after a failure: absent, another dtype, another shape, NaN or infinite. */
const float *conformance_case_f32(struct conformance_case *c, const char *name, ...)
    __attribute__((sentinel));
const int64_t *conformance_case_i64(struct conformance_case *c, const char *name, ...)
    __attribute__((sentinel));
/* The same for a dtype of the caller's choice; the numbers are not looked at. */
const void *conformance_case_stored(struct conformance_case *c, const char *name, enum dtype dtype,
                                    ...) __attribute__((sentinel));
/* The dtype and the number of dimensions of a tensor; DTYPE_UNKNOWN and 0 if it is absent. */
enum dtype conformance_case_dtype(const struct conformance_case *c, const char *name);
unsigned conformance_case_dims(const struct conformance_case *c, const char *name);

/* Fails if the file has an in.* or out.* tensor that was not asked for: it would mean something
 * that the check does not see. */
void conformance_case_all_used(struct conformance_case *c);

/* count * size zeroed bytes, aligned to 64, alive until close; NULL after a failure. */
void *conformance_case_alloc(struct conformance_case *c, uint64_t count, size_t size);

/* Adds the comparison of one output of one variant to the result. */
void conformance_case_compare(struct conformance_case *c, const char *name, const char *variant,
                              const float *got, const float *want, uint64_t n);
void conformance_case_compare_i64(struct conformance_case *c, const char *name, const char *variant,
                                  const int64_t *got, const int64_t *want, uint64_t n);

#endif
