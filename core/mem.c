#include "core/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK_BYTES (64u << 10)

struct mem_chunk {
    struct mem_chunk *next;
    size_t used, cap;
    _Alignas(16) unsigned char data[];
};

/* 3 is the exit status for "could not find out". */
static _Noreturn void out_of_memory(size_t count, size_t size)
{
    fprintf(stderr, "assay: out of memory (%zu x %zu bytes)\n", count, size);
    _exit(3);
}

void mem_exhausted(size_t bytes)
{
    out_of_memory(1, bytes);
}

void *mem_alloc(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size ? size : 1);

    if (!p)
        out_of_memory(count, size);
    return p;
}

char *mem_strdup(const char *s)
{
    size_t n = strlen(s) + 1;

    return memcpy(mem_alloc(n, 1), s, n);
}

void *mem_grow(void *p, size_t *cap, size_t need, size_t size)
{
    size_t want = *cap * 2 > need ? *cap * 2 : need;
    size_t bytes;

    if (need <= *cap)
        return p;
    if (want < 16)
        want = 16;
    if (__builtin_mul_overflow(want, size, &bytes))
        out_of_memory(want, size);
    void *q = realloc(p, bytes);
    if (!q)
        out_of_memory(want, size);
    *cap = want;
    return q;
}

int mem_try(size_t count, size_t size, void **ret, struct err *e)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - 64)
        return err_set(e, ERR_LIMIT, "%zu x %zu bytes of memory are more than can be counted",
                       count, size);
    size_t rounded = (bytes + 63) & ~(size_t)63;
    void *p = aligned_alloc(64, rounded ? rounded : 64);
    if (!p)
        return err_set(e, ERR_LIMIT, "no memory for %zu bytes", bytes);
    memset(p, 0, rounded ? rounded : 64);
    *ret = p;
    return 0;
}

void *mem_arena_alloc(struct mem_arena *a, size_t bytes)
{
    size_t want = (bytes + 15) & ~(size_t)15;
    struct mem_chunk *c = a->chunks;

    if (want < bytes)
        out_of_memory(1, bytes);
    if (!c || c->cap - c->used < want) {
        size_t cap = want > CHUNK_BYTES ? want : CHUNK_BYTES;
        c = mem_alloc(1, sizeof(*c) + cap);
        c->cap = cap;
        c->next = a->chunks;
        a->chunks = c;
    }
    void *p = c->data + c->used;
    c->used += want;
    return p;
}

char *mem_arena_strndup(struct mem_arena *a, const char *s, size_t n)
{
    char *p = mem_arena_alloc(a, n + 1);

    memcpy(p, s, n);
    return p;
}

void mem_arena_release(struct mem_arena *a)
{
    while (a->chunks) {
        struct mem_chunk *next = a->chunks->next;
        free(a->chunks);
        a->chunks = next;
    }
}
