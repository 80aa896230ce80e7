#include "stress/conformance_case.h"
#include "core/mem.h"
#include "core/text.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define DIMS_MAX 4

void conformance_case_open(struct conformance_case *c, const void *bytes, size_t n,
                           struct conformance_result *result)
{
    struct finding_list findings = {0};
    uint64_t header;

    *c = (struct conformance_case){.bytes = bytes, .result = result};
    if (safetensors_header_bytes(bytes, n, n, &header, &c->e) == 0 &&
        safetensors_parse("", c->bytes + SAFETENSORS_PREFIX_BYTES, (size_t)header, &findings,
                          &c->st, &c->e) == 0 &&
        safetensors_check_size(&c->st, n, &c->e) == 0 && c->st.count > CONFORMANCE_CASE_TENSORS_MAX)
        err_set(&c->e, ERR_FORMAT, "%zu tensors; no operator has more than %d", c->st.count,
                CONFORMANCE_CASE_TENSORS_MAX);
    finding_list_release(&findings);
    if (conformance_case_failed(c))
        c->e.code = ERR_FORMAT; /* whatever a reader of headers says is the file's fault */
}

void conformance_case_close(struct conformance_case *c)
{
    for (size_t i = 0; i < c->block_count; i++)
        free(c->blocks[i]);
    safetensors_release(&c->st);
}

const char *conformance_case_text(struct conformance_case *c, const char *name)
{
    if (conformance_case_failed(c))
        return NULL;
    for (size_t i = 0; i < c->st.metadata_count; i++) {
        if (strcmp(c->st.metadata[i].key, name) == 0)
            return c->st.metadata[i].value;
    }
    err_set(&c->e, ERR_FORMAT, "parameter %s is missing from __metadata__", name);
    return NULL;
}

double conformance_case_number(struct conformance_case *c, const char *name)
{
    const char *text = conformance_case_text(c, name);
    char *end, plain[64];

    if (!text)
        return 0;
    double x = strtod(text, &end);
    if (end == text || *end || !isfinite(x)) {
        err_set(&c->e, ERR_FORMAT, "parameter %s is \"%s\", which is not a finite number", name,
                text_plain(text, plain, sizeof(plain)));
        return 0;
    }
    return x;
}

uint64_t conformance_case_count(struct conformance_case *c, const char *name)
{
    double x = conformance_case_number(c, name);

    if (x >= 0 && x <= CONFORMANCE_CASE_DIM_MAX && x == floor(x))
        return (uint64_t)x;
    if (!conformance_case_failed(c))
        err_set(&c->e, ERR_FORMAT, "parameter %s is %g; a whole number from 0 to %u is wanted",
                name, x, CONFORMANCE_CASE_DIM_MAX);
    return 0;
}

unsigned conformance_case_word(struct conformance_case *c, const char *name,
                               const char *const *words)
{
    const char *text = conformance_case_text(c, name);
    char plain[64];

    for (unsigned i = 0; text && words[i]; i++) {
        if (strcmp(text, words[i]) == 0)
            return i;
    }
    if (text)
        err_set(&c->e, ERR_FORMAT, "parameter %s is \"%s\", which is not one of its words", name,
                text_plain(text, plain, sizeof(plain)));
    return 0;
}

static const struct tensor *find(const struct conformance_case *c, const char *name, size_t *at)
{
    for (size_t i = 0; i < c->st.count; i++) {
        if (strcmp(c->st.tensors[i].name, name) == 0) {
            *at = i;
            return &c->st.tensors[i];
        }
    }
    return NULL;
}

bool conformance_case_has(const struct conformance_case *c, const char *name)
{
    size_t at;

    return find(c, name, &at) != NULL;
}

/* Holds the shape against the dimensions wanted, and sets those that are 0. */
static void match_shape(struct conformance_case *c, const struct tensor *t, const char *name,
                        uint64_t *const *dims, unsigned count)
{
    char shape[96];

    tensor_shape_text(t, shape, sizeof(shape));
    if (t->dims != count) {
        err_set(&c->e, ERR_FORMAT, "tensor %s has shape %s; %u dimensions are wanted", name, shape,
                count);
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        if (t->shape[i] == 0 || t->shape[i] > CONFORMANCE_CASE_DIM_MAX) {
            err_set(&c->e, ERR_FORMAT, "tensor %s has shape %s; a dimension is from 1 to %u", name,
                    shape, CONFORMANCE_CASE_DIM_MAX);
            return;
        }
        if (*dims[i] && *dims[i] != t->shape[i]) {
            err_set(&c->e, ERR_FORMAT,
                    "tensor %s has shape %s; by what came before it dimension %u is %llu", name,
                    shape, i, (unsigned long long)*dims[i]);
            return;
        }
        *dims[i] = t->shape[i];
    }
}

static const void *take(struct conformance_case *c, const char *name, enum dtype dtype, va_list ap)
{
    uint64_t *dims[DIMS_MAX];
    unsigned count = 0;
    size_t at = 0;

    if (conformance_case_failed(c))
        return NULL;
    for (uint64_t *d = va_arg(ap, uint64_t *); d && count < DIMS_MAX; d = va_arg(ap, uint64_t *))
        dims[count++] = d;
    const struct tensor *t = find(c, name, &at);
    if (!t) {
        err_set(&c->e, ERR_FORMAT, "tensor %s is missing", name);
        return NULL;
    }
    if (t->dtype != dtype) {
        err_set(&c->e, ERR_FORMAT, "tensor %s is %s; %s is wanted", name, dtype_name(t->dtype),
                dtype_name(dtype));
        return NULL;
    }
    match_shape(c, t, name, dims, count);
    void *copy = conformance_case_alloc(c, t->bytes, 1);
    if (!copy)
        return NULL;
    memcpy(copy, c->bytes + t->offset, t->bytes);
    c->used[at] = true;
    return copy;
}

const float *conformance_case_f32(struct conformance_case *c, const char *name, ...)
{
    va_list ap;

    va_start(ap, name);
    const float *x = take(c, name, DTYPE_F32, ap);
    va_end(ap);
    size_t at = 0;
    const struct tensor *t = find(c, name, &at);
    for (uint64_t i = 0; x && i < t->bytes / sizeof(float); i++) {
        if (!isfinite(x[i])) {
            err_set(&c->e, ERR_FORMAT, "tensor %s holds %g at element %llu", name, (double)x[i],
                    (unsigned long long)i);
            return NULL;
        }
    }
    return x;
}

const int64_t *conformance_case_i64(struct conformance_case *c, const char *name, ...)
{
    va_list ap;

    va_start(ap, name);
    const int64_t *x = take(c, name, DTYPE_I64, ap);
    va_end(ap);
    return x;
}

const void *conformance_case_stored(struct conformance_case *c, const char *name, enum dtype dtype,
                                    ...)
{
    va_list ap;

    va_start(ap, dtype);
    const void *x = take(c, name, dtype, ap);
    va_end(ap);
    return x;
}

enum dtype conformance_case_dtype(const struct conformance_case *c, const char *name)
{
    size_t at;
    const struct tensor *t = find(c, name, &at);

    return t ? t->dtype : DTYPE_UNKNOWN;
}

unsigned conformance_case_dims(const struct conformance_case *c, const char *name)
{
    size_t at;
    const struct tensor *t = find(c, name, &at);

    return t ? t->dims : 0;
}

void conformance_case_all_used(struct conformance_case *c)
{
    char plain[96];

    for (size_t i = 0; i < c->st.count && !conformance_case_failed(c); i++) {
        const char *name = c->st.tensors[i].name;
        if (!c->used[i] && (text_starts(name, "in.") || text_starts(name, "out.")))
            err_set(&c->e, ERR_FORMAT, "tensor %s is none of this operator's",
                    text_plain(name, plain, sizeof(plain)));
    }
}

void *conformance_case_alloc(struct conformance_case *c, uint64_t count, size_t size)
{
    void *block;

    if (conformance_case_failed(c))
        return NULL;
    if (c->block_count == CONFORMANCE_CASE_BLOCKS_MAX) {
        err_set(&c->e, ERR_LIMIT, "more than %d arrays in one conformance case",
                CONFORMANCE_CASE_BLOCKS_MAX);
        return NULL;
    }
    if (count > CONFORMANCE_CASE_BYTES_MAX / size) {
        err_set(&c->e, ERR_LIMIT, "an array of %llu x %zu bytes; at most %lu are allowed",
                (unsigned long long)count, size, CONFORMANCE_CASE_BYTES_MAX);
        return NULL;
    }
    if (mem_try(count, size, &block, &c->e) != 0)
        return NULL;
    c->blocks[c->block_count++] = block;
    return block;
}

static void record(struct conformance_case *c, const char *name, const char *variant, double error,
                   double tolerance)
{
    struct conformance_result *r = c->result;

    if (r->output_count == CONFORMANCE_OUTPUTS_MAX) {
        err_set(&c->e, ERR_LIMIT, "more than %d outputs to compare", CONFORMANCE_OUTPUTS_MAX);
        return;
    }
    r->outputs[r->output_count++] = (struct conformance_output){.name = name,
                                                                .variant = variant,
                                                                .error = error,
                                                                .tolerance = tolerance,
                                                                .ok = error <= tolerance};
}

void conformance_case_compare(struct conformance_case *c, const char *name, const char *variant,
                              const float *got, const float *want, uint64_t n)
{
    double far = 0, top = 0;

    if (conformance_case_failed(c))
        return;
    for (uint64_t i = 0; i < n; i++) {
        double away = fabs((double)got[i] - (double)want[i]);
        if (!isfinite(got[i])) /* a maximum would pass over NaN */
            away = INFINITY;
        if (away > far)
            far = away;
        if (fabs((double)want[i]) > top)
            top = fabs((double)want[i]);
    }
    record(c, name, variant, far / (top + 1e-30), c->tolerance);
}

void conformance_case_compare_i64(struct conformance_case *c, const char *name, const char *variant,
                                  const int64_t *got, const int64_t *want, uint64_t n)
{
    uint64_t wrong = 0;

    if (conformance_case_failed(c))
        return;
    for (uint64_t i = 0; i < n; i++)
        wrong += got[i] != want[i];
    record(c, name, variant, (double)wrong, 0);
}
