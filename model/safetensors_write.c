#include "model/safetensors_write.h"
#include "core/text.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int compare_names(const void *pa, const void *pb)
{
    const struct safetensors_write_tensor *a = pa, *b = pb;

    return strcmp(a->name, b->name);
}

/* A JSON string. Only quotes, backslashes and control characters need an escape. */
static void add_text(struct buf *b, const char *s)
{
    buf_addc(b, '"');
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            buf_addf(b, "\\%c", *s);
        else if ((unsigned char)*s < 0x20)
            buf_addf(b, "\\u%04x", (unsigned)(unsigned char)*s);
        else
            buf_addc(b, *s);
    }
    buf_addc(b, '"');
}

static int check_text(const char *s, const char *what, struct err *e)
{
    char plain[200];

    if (text_utf8_valid(s, strlen(s)))
        return 0;
    return err_set(e, ERR_FORMAT, "%s \"%s\" is not UTF-8", what,
                   text_plain(s, plain, sizeof(plain)));
}

static int place(struct safetensors_write_tensor *t, uint64_t begin, struct err *e)
{
    uint64_t bits = dtype_bits(t->dtype), end;

    if (bits == 0)
        return err_set(e, ERR_UNSUPPORTED, "a format of unknown width cannot be written");
    if (t->dims > TENSOR_DIMS_MAX)
        return err_set(e, ERR_LIMIT, "has %u dimensions, over %d", t->dims, TENSOR_DIMS_MAX);
    for (unsigned i = 0; i < t->dims; i++)
        if (__builtin_mul_overflow(bits, t->shape[i], &bits))
            return err_set(e, ERR_LIMIT, "is larger than 64 bits can count");
    if (bits % 8)
        return err_set(e, ERR_UNSUPPORTED, "ends inside a byte: %" PRIu64 " bits", bits);
    if (__builtin_add_overflow(begin, bits / 8, &end))
        return err_set(e, ERR_LIMIT, "ends past what 64 bits can count");
    t->begin = begin;
    t->bytes = bits / 8;
    return 0;
}

static int place_all(struct safetensors_write_tensor *tensors, size_t count, struct err *e)
{
    uint64_t begin = 0;
    char plain[200];

    if (count)
        qsort(tensors, count, sizeof(*tensors), compare_names);
    for (size_t i = 0; i < count; i++) {
        struct safetensors_write_tensor *t = &tensors[i];
        if (i > 0 && strcmp(t->name, tensors[i - 1].name) == 0)
            return err_set(e, ERR_FORMAT, "two tensors are named \"%s\"",
                           text_plain(t->name, plain, sizeof(plain)));
        if (!*t->name || strcmp(t->name, "__metadata__") == 0)
            return err_set(e, ERR_FORMAT, "a tensor cannot be named \"%s\"", t->name);
        int rc = check_text(t->name, "the name", e);
        if (rc)
            return rc;
        rc = place(t, begin, e);
        if (rc)
            return err_wrap(e, "tensor \"%s\"", text_plain(t->name, plain, sizeof(plain)));
        begin = t->begin + t->bytes;
    }
    return 0;
}

static void add_tensor(struct buf *b, const struct safetensors_write_tensor *t)
{
    add_text(b, t->name);
    buf_addf(b, ":{\"dtype\":\"%s\",\"shape\":[", dtype_name(t->dtype));
    for (unsigned i = 0; i < t->dims; i++)
        buf_addf(b, "%s%" PRIu64, i ? "," : "", t->shape[i]);
    buf_addf(b, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", t->begin, t->begin + t->bytes);
}

int safetensors_write_header(struct safetensors_write_tensor *tensors, size_t count,
                             const struct safetensors_pair *metadata, size_t metadata_count,
                             struct buf *b, struct err *e)
{
    size_t start = b->len;
    int rc = place_all(tensors, count, e);

    for (size_t i = 0; i < metadata_count && !rc; i++) {
        rc = check_text(metadata[i].key, "the metadata key", e);
        if (!rc)
            rc = check_text(metadata[i].value, "the metadata value", e);
        for (size_t j = 0; j < i && !rc; j++)
            if (strcmp(metadata[i].key, metadata[j].key) == 0)
                rc =
                    err_set(e, ERR_FORMAT, "the metadata key \"%s\" stands twice", metadata[i].key);
    }
    if (rc)
        return rc;
    buf_add(b, "\0\0\0\0\0\0\0\0", SAFETENSORS_PREFIX_BYTES);
    buf_addc(b, '{');
    for (size_t i = 0; i < metadata_count; i++) {
        buf_adds(b, i ? "," : "\"__metadata__\":{");
        add_text(b, metadata[i].key);
        buf_addc(b, ':');
        add_text(b, metadata[i].value);
    }
    if (metadata_count)
        buf_addc(b, '}');
    for (size_t i = 0; i < count; i++) {
        if (i || metadata_count)
            buf_addc(b, ',');
        add_tensor(b, &tensors[i]);
    }
    buf_addc(b, '}');
    while ((b->len - start) % 8 && !b->over)
        buf_addc(b, ' ');
    rc = buf_check(b, "the safetensors header", e);
    if (rc)
        return rc;
    uint64_t n = b->len - start - SAFETENSORS_PREFIX_BYTES;
    if (n > SAFETENSORS_HEADER_BYTES_MAX)
        return err_set(e, ERR_LIMIT, "a header of %" PRIu64 " bytes is over the format's %d", n,
                       SAFETENSORS_HEADER_BYTES_MAX);
    for (int i = 0; i < SAFETENSORS_PREFIX_BYTES; i++)
        b->data[start + (size_t)i] = (char)(n >> (8 * i));
    return 0;
}
