#include "core/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK_BYTES (64u << 10)
#define ASK_BYTES (16u << 20) /* mem_try asks the system what is free from this size on */

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

/* The number behind a word of a file of the kernel, 0 where there is none. */
static uint64_t kernel_number(const char *path, const char *word)
{
    char line[256];
    unsigned long long n = 0;
    FILE *f = fopen(path, "re");

    if (!f)
        return 0;
    while (fgets(line, sizeof(line), f)) {
        if (strncmp(line, word, strlen(word)) == 0 && sscanf(line + strlen(word), "%llu", &n) == 1)
            break;
        n = 0;
    }
    fclose(f);
    return n;
}

/* Memory that can be had without swapping; in a container, what its limit leaves (cgroup version 2,
 * whose file cache can be taken back). UINT64_MAX if the system does not say. Linux grants what it
 * does not have and kills who uses it, so a grant alone says nothing. */
static uint64_t memory_left(void)
{
    uint64_t kib = kernel_number("/proc/meminfo", "MemAvailable:");
    uint64_t left = kib ? kib * 1024 : UINT64_MAX;
    uint64_t limit = kernel_number("/sys/fs/cgroup/memory.max", "");

    if (limit) {
        uint64_t used = kernel_number("/sys/fs/cgroup/memory.current", "");
        uint64_t cache = kernel_number("/sys/fs/cgroup/memory.stat", "inactive_file ");
        used -= cache < used ? cache : used;
        uint64_t room = used < limit ? limit - used : 0;
        if (left > room)
            left = room;
    }
    return left;
}

int mem_try(size_t count, size_t size, void **ret, struct err *e)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - 64)
        return err_set(e, ERR_LIMIT, "%zu x %zu bytes of memory are more than can be counted",
                       count, size);
    if (bytes >= ASK_BYTES) {
        uint64_t left = memory_left();
        if (bytes > left)
            return err_set(e, ERR_LIMIT, "%zu bytes of memory are needed and %llu are free", bytes,
                           (unsigned long long)left);
    }
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

    if (bytes > PTRDIFF_MAX)
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
