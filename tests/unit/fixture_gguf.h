#ifndef TESTS_FIXTURE_GGUF_H
#define TESTS_FIXTURE_GGUF_H
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Writes GGUF files into an array, value by value, right or wrong as the test wants it. */

struct made {
    unsigned char b[1 << 20];
    size_t n;
};

static inline void made_bytes(struct made *m, const void *bytes, size_t n)
{
    memcpy(m->b + m->n, bytes, n);
    m->n += n;
}

static inline void made_uint(struct made *m, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        m->b[m->n++] = (unsigned char)(v >> (8 * i));
}

static inline void made_text(struct made *m, const char *s)
{
    made_uint(m, strlen(s), 8);
    made_bytes(m, s, strlen(s));
}

static inline void made_start(struct made *m, uint32_t version, uint64_t tensors, uint64_t pairs)
{
    m->n = 0;
    made_bytes(m, "GGUF", 4);
    made_uint(m, version, 4);
    made_uint(m, tensors, 8);
    made_uint(m, pairs, 8);
}

/* Key and type; the value is to follow. */
static inline void made_key(struct made *m, const char *key, uint32_t type)
{
    made_text(m, key);
    made_uint(m, type, 4);
}

static inline void made_pair_text(struct made *m, const char *key, const char *value)
{
    made_key(m, key, 8);
    made_text(m, value);
}

static inline void made_pair_u32(struct made *m, const char *key, uint32_t value)
{
    made_key(m, key, 4);
    made_uint(m, value, 4);
}

static inline void made_pair_u16(struct made *m, const char *key, uint32_t value)
{
    made_key(m, key, 2);
    made_uint(m, value, 2);
}

static inline void made_pair_f32(struct made *m, const char *key, float value)
{
    made_key(m, key, 6);
    made_bytes(m, &value, 4);
}

/* ne in the order of the file: columns first. */
static inline void made_tensor(struct made *m, const char *name, uint32_t dims, const uint64_t *ne,
                               uint32_t type, uint64_t offset)
{
    made_text(m, name);
    made_uint(m, dims, 4);
    for (uint32_t i = 0; i < dims; i++)
        made_uint(m, ne[i], 8);
    made_uint(m, type, 4);
    made_uint(m, offset, 8);
}

static inline void made_pad(struct made *m, size_t alignment)
{
    while (m->n % alignment)
        m->b[m->n++] = 0;
}

/* Zeros: data. */
static inline void made_data(struct made *m, size_t n)
{
    memset(m->b + m->n, 0, n);
    m->n += n;
}

static inline int made_write(const struct made *m, const char *path)
{
    FILE *f = fopen(path, "wb");

    if (!f)
        return -1;
    size_t n = fwrite(m->b, 1, m->n, f);
    return fclose(f) == 0 && n == m->n ? 0 : -1;
}

#endif
