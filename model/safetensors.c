#include "model/safetensors.h"
#include "core/text.h"
#include "model/jsontok.h"
#include "model/pointer.h"
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define METADATA_MAX 100000 /* pairs; real files have a handful */

/* --- the eight bytes in front ---------------------------------------------------------------- */

const char *safetensors_sniff(const void *first, size_t n)
{
    static const struct {
        const char *magic;
        size_t len;
        const char *name;
    } kinds[] = {
        {"PK\x03\x04", 4, "a ZIP archive (PyTorch's .bin and .pt files are)"},
        {"GGUF", 4, "a GGUF file"},
        {"\x93NUMPY", 6, "a NumPy array"},
        {"\x89HDF", 4, "an HDF5 file"},
        {"\x1f\x8b", 2, "a gzip archive"},
        {"\x28\xb5\x2f\xfd", 4, "a Zstandard archive"},
        {"{\"", 2, "a JSON text without the length in front (a server's error message?)"},
    };
    const unsigned char *p = first;

    if (n == 0)
        return "an empty file";
    if (pointer_looks(p, n))
        return "a Git-LFS pointer";
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (n >= kinds[i].len && memcmp(p, kinds[i].magic, kinds[i].len) == 0)
            return kinds[i].name;
    if (n >= 2 && p[0] == 0x80 && p[1] >= 2 && p[1] <= 5)
        return "a Python pickle";
    while (n > 0 && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++, n--;
    if (n >= 5 && strncasecmp((const char *)p, "<?xml", 5) == 0)
        return "an XML document (a server's error message?)";
    if (n >= 5 && (strncasecmp((const char *)p, "<html", 5) == 0 ||
                   strncasecmp((const char *)p, "<!doctype html", n < 14 ? n : 14) == 0))
        return "an HTML page (a server's error message?)";
    return NULL;
}

int safetensors_header_bytes(const void *first, size_t first_bytes, uint64_t file_bytes,
                             uint64_t *ret, struct err *e)
{
    const unsigned char *p = first;
    uint64_t n = 0;

    for (size_t i = 0; i < SAFETENSORS_PREFIX_BYTES && i < first_bytes; i++)
        n |= (uint64_t)p[i] << (8 * i);
    if (first_bytes >= SAFETENSORS_PREFIX_BYTES && file_bytes >= SAFETENSORS_PREFIX_BYTES &&
        n <= SAFETENSORS_HEADER_BYTES_MAX && n <= file_bytes - SAFETENSORS_PREFIX_BYTES) {
        *ret = n;
        return 0;
    }
    const char *other = safetensors_sniff(first, first_bytes);
    if (other)
        return err_set(e, ERR_FORMAT, "is not safetensors: it is %s", other);
    if (file_bytes < SAFETENSORS_PREFIX_BYTES || first_bytes < SAFETENSORS_PREFIX_BYTES)
        return err_set(e, ERR_FORMAT,
                       "is too small to be safetensors: %" PRIu64 " bytes, the header's length "
                       "alone takes %d",
                       file_bytes, SAFETENSORS_PREFIX_BYTES);
    if (n > SAFETENSORS_HEADER_BYTES_MAX)
        return err_set(e, ERR_LIMIT,
                       "claims a header of %" PRIu64 " bytes, over the format's limit of %d: it "
                       "is damaged or not safetensors",
                       n, SAFETENSORS_HEADER_BYTES_MAX);
    return err_set(e, ERR_FORMAT,
                   "is short: the header alone needs %" PRIu64 " bytes, the file has %" PRIu64
                   "; download it again",
                   n + SAFETENSORS_PREFIX_BYTES, file_bytes);
}

/* --- the header ------------------------------------------------------------------------------ */

struct parse {
    struct jsontok tok;
    struct safetensors *out;
    size_t cap, metadata_cap;
    size_t unknown_dtypes, unknown_members;
    const char *first_unknown_dtype;        /* tensor that has it */
    char first_member[JSONTOK_PLAIN_BYTES]; /* first member that the format does not have */
};

static char *keep(struct parse *p, const struct jsontok_token *t)
{
    return mem_arena_strndup(&p->out->arena, t->text, t->len);
}

/* The next token, which must be of that kind; what names it in the message. */
static int want(struct parse *p, enum jsontok_kind kind, const char *what, const char *must,
                struct jsontok_token *ret, struct err *e)
{
    int rc = jsontok_next(&p->tok, ret, e);

    if (!rc && ret->kind != kind)
        rc = err_set(e, ERR_FORMAT, "%s is %s, must be %s", what, jsontok_name(ret), must);
    return rc;
}

static int parse_shape(struct parse *p, struct tensor *t, struct err *e)
{
    struct jsontok_token v;
    int rc = want(p, JSONTOK_ARRAY, "shape", "an array", &v, e);

    for (t->dims = 0; !rc;) {
        rc = jsontok_next(&p->tok, &v, e);
        if (rc || v.kind == JSONTOK_ARRAY_END)
            return rc;
        if (v.kind != JSONTOK_UINT)
            return err_set(e, ERR_FORMAT, "shape holds %s, must hold whole numbers",
                           jsontok_name(&v));
        if (t->dims == TENSOR_DIMS_MAX)
            return err_set(e, ERR_LIMIT, "has more than %d dimensions", TENSOR_DIMS_MAX);
        t->shape[t->dims++] = v.u64;
    }
    return rc;
}

static int parse_offsets(struct parse *p, uint64_t ret[2], struct err *e)
{
    struct jsontok_token v;
    int rc = want(p, JSONTOK_ARRAY, "data_offsets", "an array of two whole numbers", &v, e);

    for (int i = 0; i < 2 && !rc; i++) {
        rc = want(p, JSONTOK_UINT, "an offset", "a whole number", &v, e);
        ret[i] = v.u64;
    }
    if (!rc)
        rc = want(p, JSONTOK_ARRAY_END, "a third offset", "the end of data_offsets", &v, e);
    return rc;
}

/* Sets t->bytes from shape and dtype and compares with the offsets. */
static int check_bytes(struct parse *p, struct tensor *t, const uint64_t offsets[2], struct err *e)
{
    uint64_t bits = dtype_bits(t->dtype);
    char shape[200];

    if (offsets[0] > offsets[1])
        return err_set(e, ERR_FORMAT, "begins at %" PRIu64 ", after its end at %" PRIu64,
                       offsets[0], offsets[1]);
    t->offset = offsets[0];
    t->bytes = offsets[1] - offsets[0];
    uint64_t elements = 1;
    bool over = false;
    /* In the shape's order, as the reference does: [2^63, 2, 0] overflows before its 0. */
    for (unsigned i = 0; i < t->dims; i++)
        over |= __builtin_mul_overflow(elements, t->shape[i], &elements);
    if (over || (bits && __builtin_mul_overflow(elements, bits, &bits)))
        return err_set(e, ERR_FORMAT, "shape %s with dtype %s is more than 64 bits can count",
                       tensor_shape_text(t, shape, sizeof(shape)), t->dtype_text);
    if (t->dtype == DTYPE_UNKNOWN) {
        if (!p->unknown_dtypes++)
            p->first_unknown_dtype = t->name;
        return 0;
    }
    if (bits % 8)
        return err_set(e, ERR_FORMAT, "shape %s with dtype %s ends inside a byte: %" PRIu64 " bits",
                       tensor_shape_text(t, shape, sizeof(shape)), t->dtype_text, bits);
    if (bits / 8 != t->bytes)
        return err_set(e, ERR_FORMAT,
                       "shape %s with dtype %s takes %" PRIu64 " bytes, its offsets span %" PRIu64,
                       tensor_shape_text(t, shape, sizeof(shape)), t->dtype_text, bits / 8,
                       t->bytes);
    return 0;
}

/* One member of a tensor's object, whose key was read. */
static int parse_member(struct parse *p, const struct jsontok_token *key, struct tensor *t,
                        uint64_t offsets[2], unsigned *seen, struct err *e)
{
    struct jsontok_token v;
    int rc;

    if (jsontok_is(key, "dtype")) {
        *seen |= 1;
        rc = want(p, JSONTOK_TEXT, "dtype", "text", &v, e);
        if (rc)
            return rc;
        t->dtype = dtype_parse(v.text, v.len);
        t->dtype_text = t->dtype == DTYPE_UNKNOWN ? keep(p, &v) : dtype_name(t->dtype);
        return 0;
    }
    if (jsontok_is(key, "shape")) {
        *seen |= 2;
        return parse_shape(p, t, e);
    }
    if (jsontok_is(key, "data_offsets")) {
        *seen |= 4;
        return parse_offsets(p, offsets, e);
    }
    if (!p->unknown_members++)
        jsontok_plain(key, p->first_member);
    rc = jsontok_next(&p->tok, &v, e);
    return rc ? rc : jsontok_skip(&p->tok, &v, e);
}

static int parse_tensor(struct parse *p, struct tensor *t, struct err *e)
{
    struct jsontok_token v;
    uint64_t offsets[2] = {0};
    unsigned seen = 0;
    int rc = want(p, JSONTOK_OBJECT, "its description", "an object", &v, e);

    while (!rc) {
        rc = jsontok_next(&p->tok, &v, e);
        if (rc || v.kind == JSONTOK_OBJECT_END)
            break;
        rc = parse_member(p, &v, t, offsets, &seen, e);
    }
    if (rc)
        return rc;
    if (seen != 7)
        return err_set(e, ERR_FORMAT, "has no %s",
                       !(seen & 1)   ? "dtype"
                       : !(seen & 2) ? "shape"
                                     : "data_offsets");
    return check_bytes(p, t, offsets, e);
}

static int parse_metadata(struct parse *p, struct err *e)
{
    struct safetensors *s = p->out;
    struct jsontok_token key, v;
    char plain[JSONTOK_PLAIN_BYTES];
    int rc = jsontok_next(&p->tok, &v, e);

    if (!rc && v.kind == JSONTOK_NULL)
        return 0; /* MLX writes it for adapters, and the reference reads it as none */
    if (!rc && v.kind != JSONTOK_OBJECT)
        rc = err_set(e, ERR_FORMAT, "__metadata__ is %s, must be an object of texts",
                     jsontok_name(&v));
    while (!rc) {
        rc = jsontok_next(&p->tok, &key, e);
        if (rc || key.kind == JSONTOK_OBJECT_END)
            return rc;
        rc = jsontok_next(&p->tok, &v, e);
        if (rc)
            return rc;
        if (v.kind != JSONTOK_TEXT)
            return err_set(e, ERR_FORMAT, "__metadata__ has \"%s\" with %s, must be text%s",
                           jsontok_plain(&key, plain), jsontok_name(&v),
                           jsontok_is(&key, "shape") || jsontok_is(&key, "data_offsets")
                               ? ": a tensor is named __metadata__, a name that the format keeps"
                               : "");
        if (s->metadata_count == METADATA_MAX)
            return err_set(e, ERR_LIMIT, "__metadata__ has more than %d members", METADATA_MAX);
        s->metadata =
            mem_grow(s->metadata, &p->metadata_cap, s->metadata_count + 1, sizeof(*s->metadata));
        s->metadata[s->metadata_count++] = (struct safetensors_pair){keep(p, &key), keep(p, &v)};
    }
    return rc;
}

static int parse_header(struct parse *p, struct err *e)
{
    struct safetensors *s = p->out;
    struct jsontok_token key;
    char plain[JSONTOK_PLAIN_BYTES];
    int rc = want(p, JSONTOK_OBJECT, "the header", "an object", &key, e);

    while (!rc) {
        rc = jsontok_next(&p->tok, &key, e);
        if (rc || key.kind == JSONTOK_OBJECT_END)
            break;
        if (jsontok_is(&key, "__metadata__")) {
            rc = parse_metadata(p, e);
            continue;
        }
        if (s->count == SAFETENSORS_TENSORS_MAX)
            return err_set(e, ERR_LIMIT, "more than %d tensors", SAFETENSORS_TENSORS_MAX);
        s->tensors = mem_grow(s->tensors, &p->cap, s->count + 1, sizeof(*s->tensors));
        s->tensors[s->count] = (struct tensor){.name = keep(p, &key)};
        rc = parse_tensor(p, &s->tensors[s->count], e);
        if (rc)
            return err_wrap(e, "tensor \"%s\"", jsontok_plain(&key, plain));
        s->count++;
    }
    return rc ? rc : jsontok_next(&p->tok, &key, e); /* nothing but white space after it */
}

/* --- the layout ------------------------------------------------------------------------------ */

static int compare_places(const void *pa, const void *pb)
{
    const struct tensor *a = pa, *b = pb;

    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Tensors must touch each other from 0 on; then turns places in the data into places in the file.
 */
static int check_layout(struct safetensors *s, struct err *e)
{
    char plain[JSONTOK_PLAIN_BYTES], before[JSONTOK_PLAIN_BYTES];
    uint64_t end = 0;

    if (s->count)
        qsort(s->tensors, s->count, sizeof(*s->tensors), compare_places);
    for (size_t i = 0; i < s->count; i++) {
        struct tensor *t = &s->tensors[i];
        if (t->offset > end)
            return err_set(e, ERR_FORMAT,
                           "tensor \"%s\" leaves a gap in front of it: data bytes %" PRIu64
                           " to %" PRIu64 " belong to no tensor",
                           text_plain(t->name, plain, sizeof(plain)), end, t->offset);
        if (t->offset < end)
            return err_set(e, ERR_FORMAT,
                           "tensor \"%s\" overlaps \"%s\": it begins at %" PRIu64
                           ", before %" PRIu64,
                           text_plain(t->name, plain, 150),
                           text_plain(s->tensors[i - 1].name, before, 150), t->offset, end);
        end = t->offset + t->bytes;
        if (__builtin_add_overflow(end, s->data_offset, &s->end_bytes))
            return err_set(e, ERR_FORMAT, "tensor \"%s\" ends past what 64 bits can count",
                           text_plain(t->name, plain, sizeof(plain)));
    }
    s->end_bytes = s->data_offset + end;
    for (size_t i = 0; i < s->count; i++)
        s->tensors[i].offset += s->data_offset;
    return 0;
}

int safetensors_parse(const char *path, const char *header, size_t header_bytes,
                      struct finding_list *findings, struct safetensors *ret, struct err *e)
{
    struct safetensors s = {.data_offset = SAFETENSORS_PREFIX_BYTES + (uint64_t)header_bytes};
    struct parse p = {.out = &s};
    char plain[JSONTOK_PLAIN_BYTES];
    int rc;

    if (header_bytes > SAFETENSORS_HEADER_BYTES_MAX)
        return err_set(e, ERR_LIMIT, "a header of %zu bytes is over the format's limit of %d",
                       header_bytes, SAFETENSORS_HEADER_BYTES_MAX);
    jsontok_init(&p.tok, header, header_bytes, &s.arena);
    rc = parse_header(&p, e);
    jsontok_release(&p.tok);
    if (!rc)
        rc = check_layout(&s, e);
    if (rc) {
        safetensors_release(&s);
        return err_wrap(e, "header");
    }
    if (p.unknown_dtypes)
        finding_add(findings, FINDING_WARN, "dtype-unknown",
                    "%s: %zu tensors have a dtype that is not known here, the first is \"%s\"; "
                    "their sizes are taken from their offsets",
                    path, p.unknown_dtypes,
                    text_plain(p.first_unknown_dtype, plain, sizeof(plain)));
    if (p.unknown_members)
        finding_add(findings, FINDING_WARN, "header-member-unknown",
                    "%s: %zu times a tensor has a member that the format does not have, the first "
                    "is \"%s\"",
                    path, p.unknown_members, p.first_member);
    *ret = s;
    return 0;
}

void safetensors_release(struct safetensors *s)
{
    free(s->tensors);
    free(s->metadata);
    mem_arena_release(&s->arena);
    *s = (struct safetensors){0};
}

int safetensors_check_size(const struct safetensors *s, uint64_t file_bytes, struct err *e)
{
    char plain[JSONTOK_PLAIN_BYTES];

    if (file_bytes > s->end_bytes)
        return err_set(e, ERR_FORMAT,
                       "is long: %" PRIu64 " bytes, the header accounts for %" PRIu64
                       ", so %" PRIu64 " bytes at the end belong to no tensor",
                       file_bytes, s->end_bytes, file_bytes - s->end_bytes);
    if (file_bytes == s->end_bytes)
        return 0;
    for (size_t i = 0; i < s->count; i++)
        if (s->tensors[i].offset + s->tensors[i].bytes > file_bytes)
            return err_set(e, ERR_FORMAT,
                           "is short: %" PRIu64 " bytes, the header asks for %" PRIu64
                           ", so %" PRIu64
                           " bytes are missing, from tensor \"%s\" on; download it again",
                           file_bytes, s->end_bytes, s->end_bytes - file_bytes,
                           text_plain(s->tensors[i].name, plain, sizeof(plain)));
    return err_set(e, ERR_FORMAT, "is short: it ends inside its header");
}
