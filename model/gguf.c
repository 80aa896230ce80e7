#include "model/gguf.h"
#include "core/text.h"
#include "model/gguf_pairs.h"
#include "model/gguf_type.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN_BYTES 200

/* Fewest bytes that each takes: the counts in front are checked against the file's size. */
#define PAIR_BYTES_MIN 13   /* length of the key, type, one byte */
#define TENSOR_BYTES_MIN 24 /* length of the name, dimensions, type, offset */

bool gguf_looks(const void *first, size_t n)
{
    return n >= 4 && memcmp(first, "GGUF", 4) == 0;
}

struct parse {
    struct gguf_bytes bytes;
    uint64_t pair_count, tensor_count; /* as the header states them */
    size_t tensor_cap;
    size_t long_names, misplaced;
    const char *first_long, *first_unknown, *first_misplaced;
    char first_type[40];
    struct gguf *out;
};

/* --- tensors ---------------------------------------------------------------------------------- */

/* Sets the size from shape and type. The columns are what is cut into blocks. */
static int measure(struct tensor *t, const struct gguf_type *type, struct err *e)
{
    uint64_t columns = t->dims ? t->shape[t->dims - 1] : 1, elements = 1;
    char shape[PLAIN_BYTES];
    bool over = false;

    for (unsigned i = t->dims; i-- > 0;)
        over |= __builtin_mul_overflow(elements, t->shape[i], &elements);
    if (over || elements > INT64_MAX)
        return err_set(e, ERR_FORMAT, "shape %s has more elements than 63 bits count",
                       tensor_shape_text(t, shape, sizeof(shape)));
    if (!type)
        return 0;
    if (columns % type->block_elements)
        return err_set(
            e, ERR_FORMAT,
            "shape %s has rows of %" PRIu64 ", no whole number of %s's blocks of %" PRIu32,
            tensor_shape_text(t, shape, sizeof(shape)), columns, type->name, type->block_elements);
    if (__builtin_mul_overflow(elements / type->block_elements, type->block_bytes, &t->bytes))
        return err_set(e, ERR_FORMAT, "shape %s with type %s is more than 64 bits can count",
                       tensor_shape_text(t, shape, sizeof(shape)), type->name);
    return 0;
}

static void set_type(struct parse *p, struct tensor *t, uint32_t id, const struct gguf_type *type)
{
    const char *removed = gguf_type_removed(id);
    char text[40];

    if (type) {
        t->dtype = type->dtype;
        t->dtype_text = type->name;
        t->format = type->dtype == DTYPE_UNKNOWN ? type->format : NULL;
        return;
    }
    snprintf(text, sizeof(text), "type %" PRIu32, id);
    t->dtype_text = mem_arena_strndup(&p->out->arena, text, strlen(text));
    if (p->out->unknown_types++ == 0) {
        p->first_unknown = t->name;
        snprintf(p->first_type, sizeof(p->first_type), "%" PRIu32 "%s%s", id,
                 removed ? ", once " : "", removed ? removed : "");
    }
}

static int take_name(struct parse *p, struct tensor *t, struct err *e)
{
    const unsigned char *name;
    uint64_t n;
    int rc = gguf_bytes_text(&p->bytes, "the name of a tensor", GGUF_NAME_BYTES_MAX, &name, &n, e);

    if (rc)
        return rc;
    t->name = gguf_bytes_keep(&p->out->arena, name, n);
    if (!t->name)
        return err_set(e, ERR_FORMAT, "tensor %zu has a name that is no UTF-8 text without a NUL",
                       p->out->count);
    if (n > GGUF_NAME_BYTES_USUAL && p->long_names++ == 0)
        p->first_long = t->name;
    return 0;
}

static int take_tensor(struct parse *p, struct tensor *t, struct err *e)
{
    uint64_t dims, id;
    int rc = gguf_bytes_uint(&p->bytes, 4, "the number of dimensions of a tensor", &dims, e);

    if (rc)
        return rc;
    if (dims > GGUF_DIMS_MAX)
        return err_set(e, ERR_LIMIT, "has %" PRIu64 " dimensions, over the limit of %d", dims,
                       GGUF_DIMS_MAX);
    t->dims = (uint8_t)dims;
    for (unsigned i = t->dims; i-- > 0 && !rc;)
        rc = gguf_bytes_uint(&p->bytes, 8, "a dimension of a tensor", &t->shape[i], e);
    if (!rc)
        rc = gguf_bytes_uint(&p->bytes, 4, "the type of a tensor", &id, e);
    if (!rc)
        rc = gguf_bytes_uint(&p->bytes, 8, "the offset of a tensor", &t->offset, e);
    if (rc)
        return rc;
    const struct gguf_type *type = gguf_type_find((uint32_t)id);
    set_type(p, t, (uint32_t)id, type);
    if (t->offset % p->out->alignment)
        return err_set(e, ERR_FORMAT,
                       "begins at data byte %" PRIu64 ", no multiple of the alignment %" PRIu64,
                       t->offset, p->out->alignment);
    return measure(t, type, e);
}

static int take_tensors(struct parse *p, struct err *e)
{
    struct gguf *g = p->out;
    char plain[PLAIN_BYTES];

    for (uint64_t i = 0; i < p->tensor_count; i++) {
        struct tensor t = {0};
        int rc = take_name(p, &t, e);
        if (rc)
            return rc;
        rc = take_tensor(p, &t, e);
        if (rc < 0 && !text_starts(e->msg, "is short"))
            err_wrap(e, "tensor \"%s\"", text_plain(t.name, plain, sizeof(plain)));
        if (rc)
            return rc;
        g->tensors = mem_grow(g->tensors, &p->tensor_cap, g->count + 1, sizeof(*g->tensors));
        g->tensors[g->count++] = t;
    }
    return 0;
}

/* --- the layout ------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int check_names(const struct gguf *g, struct err *e)
{
    const char **names = mem_alloc(g->count, sizeof(*names));
    char plain[PLAIN_BYTES];
    int rc = 0;

    for (size_t i = 0; i < g->count; i++)
        names[i] = g->tensors[i].name;
    if (g->count)
        qsort(names, g->count, sizeof(*names), compare_names);
    for (size_t i = 1; i < g->count && !rc; i++)
        if (strcmp(names[i - 1], names[i]) == 0)
            rc = err_set(e, ERR_FORMAT, "two tensors have the name \"%s\"",
                         text_plain(names[i], plain, sizeof(plain)));
    free(names);
    return rc;
}

/* n rounded up to the alignment; false if that leaves 64 bits. */
static bool pad(const struct gguf *g, uint64_t n, uint64_t *ret)
{
    if (__builtin_add_overflow(n, g->alignment - 1, ret))
        return false;
    *ret &= ~(g->alignment - 1);
    return true;
}

/* llama.cpp asks more than the specification: in the order of the header, each tensor begins where
 * the one before it ends, padded. */
static void note_misplaced(struct parse *p)
{
    const struct gguf *g = p->out;
    uint64_t next = 0;

    for (size_t i = 0; i < g->count && g->unknown_types == 0; i++) {
        const struct tensor *t = &g->tensors[i];
        uint64_t end;
        if (t->offset != next && p->misplaced++ == 0)
            p->first_misplaced = t->name;
        if (__builtin_add_overflow(t->offset, t->bytes, &end) || !pad(g, end, &next))
            return; /* check_layout says so */
    }
}

static int compare_places(const void *pa, const void *pb)
{
    const struct tensor *a = pa, *b = pb;

    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? -1 : 1;
    return strcmp(a->name, b->name);
}

static bool sized(const struct tensor *t)
{
    return t->dtype != DTYPE_UNKNOWN || t->format;
}

/* Tensors must not overlap; then turns places in the data into places in the file. */
static int check_layout(struct gguf *g, uint64_t file_bytes, struct err *e)
{
    char plain[PLAIN_BYTES], before[PLAIN_BYTES];
    uint64_t end = 0, file_end;

    if (g->count)
        qsort(g->tensors, g->count, sizeof(*g->tensors), compare_places);
    for (size_t i = 0; i < g->count; i++) {
        struct tensor *t = &g->tensors[i];
        if (t->offset < end)
            return err_set(e, ERR_FORMAT,
                           "tensor \"%s\" overlaps \"%s\": it begins at data byte %" PRIu64
                           ", before %" PRIu64,
                           text_plain(t->name, plain, 150),
                           text_plain(g->tensors[i - 1].name, before, 150), t->offset, end);
        if (!sized(t) && i + 1 < g->count)
            t->bytes = g->tensors[i + 1].offset - t->offset;
        else if (!sized(t) && file_bytes > g->data_offset &&
                 file_bytes - g->data_offset > t->offset)
            t->bytes = file_bytes - g->data_offset - t->offset;
        if (__builtin_add_overflow(t->offset, t->bytes, &end) ||
            __builtin_add_overflow(end, g->data_offset, &file_end) ||
            !pad(g, file_end, &g->padded_bytes))
            return err_set(e, ERR_FORMAT, "tensor \"%s\" ends past what 64 bits can count",
                           text_plain(t->name, plain, sizeof(plain)));
        g->end_bytes = file_end;
    }
    if (g->count == 0) {
        g->end_bytes = g->header_bytes;
        g->padded_bytes = g->data_offset;
    } else if (!sized(&g->tensors[g->count - 1]))
        g->padded_bytes = UINT64_MAX;
    for (size_t i = 0; i < g->count; i++)
        g->tensors[i].offset += g->data_offset;
    return 0;
}

/* --- the whole -------------------------------------------------------------------------------- */

static int take_version(struct parse *p, struct err *e)
{
    uint64_t v;
    int rc = gguf_bytes_uint(&p->bytes, 4, "the version", &v, e);

    if (rc)
        return rc;
    if (v > 0 && (v & 0xffff) == 0)
        return err_set(e, ERR_UNSUPPORTED,
                       "is a big-endian GGUF file (version %" PRIu64
                       "): only little-endian files are read",
                       v >> 24 | (v >> 8 & 0xff00));
    if (v != 2 && v != 3)
        return err_set(e, ERR_UNSUPPORTED,
                       "is a GGUF file of version %" PRIu64 ": versions 2 and 3 are read%s", v,
                       v == 1 ? "; convert it again" : "");
    p->out->version = (uint32_t)v;
    return 0;
}

static int check_count(const struct parse *p, const char *what, uint64_t n, uint64_t max,
                       uint64_t bytes_min, struct err *e)
{
    if (n > max)
        return err_set(e, ERR_LIMIT, "claims %" PRIu64 " %s, over the limit of %" PRIu64, n, what,
                       max);
    if (n * bytes_min > p->bytes.file_bytes)
        return err_set(e, ERR_FORMAT,
                       "is short: %" PRIu64 " %s take at least %" PRIu64
                       " bytes, the file has %" PRIu64,
                       n, what, n * bytes_min, p->bytes.file_bytes);
    return 0;
}

static int take_header(struct parse *p, struct err *e)
{
    struct gguf *g = p->out;
    const unsigned char *magic;
    int rc = gguf_bytes_take(&p->bytes, 4, "the magic", &magic, e);

    if (!rc && !gguf_looks(magic, 4))
        rc = err_set(e, ERR_FORMAT, "does not start with \"GGUF\"");
    if (!rc)
        rc = take_version(p, e);
    if (!rc)
        rc = gguf_bytes_uint(&p->bytes, 8, "the number of tensors", &p->tensor_count, e);
    if (!rc)
        rc = gguf_bytes_uint(&p->bytes, 8, "the number of keys", &p->pair_count, e);
    if (!rc)
        rc = check_count(p, "tensors", p->tensor_count, GGUF_TENSORS_MAX, TENSOR_BYTES_MIN, e);
    if (!rc)
        rc = check_count(p, "keys", p->pair_count, GGUF_PAIRS_MAX, PAIR_BYTES_MIN, e);
    if (!rc)
        rc = gguf_pairs_read(&p->bytes, p->pair_count, g, e);
    if (!rc)
        rc = take_tensors(p, e);
    if (rc)
        return rc;
    g->header_bytes = p->bytes.at;
    if (!pad(g, p->bytes.at, &g->data_offset))
        return err_set(e, ERR_FORMAT, "the data begins past what 64 bits can count");
    rc = check_names(g, e);
    if (rc)
        return rc;
    note_misplaced(p);
    return check_layout(g, p->bytes.file_bytes, e);
}

static void report(const struct parse *p, const char *path, struct finding_list *findings)
{
    uint64_t file_bytes = p->bytes.file_bytes;
    char plain[PLAIN_BYTES];

    if (p->out->unknown_types)
        finding_add(findings, FINDING_WARN, "gguf-type-unknown",
                    "%s: %zu tensors have a type that is not known here, the first is \"%s\" (type "
                    "%s); their sizes are not known, and what is said of stored bytes counts the "
                    "room up to the next tensor or the end of the file",
                    path, p->out->unknown_types, text_plain(p->first_unknown, plain, sizeof(plain)),
                    p->first_type);
    if (p->misplaced)
        finding_add(findings, FINDING_WARN, "gguf-layout",
                    "%s: %zu tensors do not begin where the one before them in the header ends, "
                    "which llama.cpp refuses; the first is \"%s\"",
                    path, p->misplaced, text_plain(p->first_misplaced, plain, sizeof(plain)));
    if (file_bytes > p->out->padded_bytes)
        finding_add(findings, FINDING_WARN, "gguf-trailing",
                    "%s has %" PRIu64 " bytes, the header accounts for %" PRIu64 ": %" PRIu64
                    " bytes at the end belong to no tensor",
                    path, file_bytes, p->out->padded_bytes, file_bytes - p->out->padded_bytes);
    if (p->long_names)
        finding_add(findings, FINDING_WARN, "gguf-name-long",
                    "%s: %zu tensors have names of more than %d bytes, which llama.cpp refuses; "
                    "the first is \"%s\"",
                    path, p->long_names, GGUF_NAME_BYTES_USUAL,
                    text_plain(p->first_long, plain, sizeof(plain)));
}

int gguf_parse(const char *path, const void *window, size_t window_bytes, uint64_t file_bytes,
               struct finding_list *findings, bool *ret_more, struct gguf *ret, struct err *e)
{
    struct gguf g = {0};
    struct parse p = {
        .bytes = {.window = window,
                  .window_bytes = window_bytes < file_bytes ? window_bytes : file_bytes,
                  .file_bytes = file_bytes},
        .out = &g};
    int rc = take_header(&p, e);

    if (rc == GGUF_BYTES_MORE && window_bytes >= GGUF_HEADER_BYTES_MAX)
        rc = err_set(e, ERR_LIMIT, "has a header of more than %d bytes", GGUF_HEADER_BYTES_MAX);
    if (rc) {
        gguf_release(&g);
        if (rc != GGUF_BYTES_MORE)
            return rc;
        *ret_more = true;
        return 0;
    }
    report(&p, path, findings);
    *ret_more = false;
    *ret = g;
    return 0;
}

void gguf_release(struct gguf *g)
{
    free(g->pairs);
    free(g->tensors);
    mem_arena_release(&g->arena);
    *g = (struct gguf){0};
}

int gguf_check_size(const struct gguf *g, uint64_t file_bytes, struct err *e)
{
    char plain[PLAIN_BYTES];

    if (file_bytes >= g->end_bytes)
        return 0;
    for (size_t i = 0; i < g->count; i++)
        if (g->tensors[i].offset + g->tensors[i].bytes > file_bytes)
            return err_set(e, ERR_FORMAT,
                           "is short: %" PRIu64 " bytes, the header asks for %" PRIu64
                           ", so %" PRIu64
                           " bytes are missing, from tensor \"%s\" on; download it again",
                           file_bytes, g->end_bytes, g->end_bytes - file_bytes,
                           text_plain(g->tensors[i].name, plain, sizeof(plain)));
    return err_set(e, ERR_FORMAT, "is short: it ends inside its header");
}
