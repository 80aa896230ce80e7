#ifndef CORE_MEM_H
#define CORE_MEM_H
#include "core/err.h"
#include <stddef.h>
#include <stdint.h>

/* Memory in two moods. Sizes that we choose (a row, a path) come from mem_alloc and mem_grow, which
 * end the process when there is none: nothing sensible could follow. Sizes that come from an input
 * or an option (a header, a KV cache) come from mem_try, whose refusal is a result to report. */

/* count * size bytes, zeroed. Never NULL; ends the process on overflow or when out of memory. */
void *mem_alloc(size_t count, size_t size);

/* Ends the process for want of `bytes` bytes: for libraries that return NULL. */
_Noreturn void mem_exhausted(size_t bytes);

/* A copy of s. Never NULL. Free with free(). */
char *mem_strdup(const char *s);

/* Makes room for `need` elements of `size` bytes in the array at p, whose capacity is *cap
 * elements; at least doubles. Returns the array, perhaps moved; new elements are not initialised.
 * Never NULL for need > 0. */
void *mem_grow(void *p, size_t *cap, size_t need, size_t size);

/* count * size bytes, zeroed, aligned to 64. ERR_LIMIT on overflow, when there is no memory, and
 * when the memory that is free (of the host, or under the container's limit) is less, since Linux
 * would grant it and kill the process later; the message carries the bytes wanted and free. *ret is
 * set on success only. Free with free(). */
int mem_try(size_t count, size_t size, void **ret, struct err *e);

/* An arena: many small things with one end. Zero-initialised is empty and ready. */
struct mem_arena {
    struct mem_chunk *chunks; /* newest first */
};

/* bytes zeroed bytes, aligned to 16, alive until mem_arena_release. Never NULL. */
void *mem_arena_alloc(struct mem_arena *a, size_t bytes);

/* The first n bytes of s as a string with its own NUL, in the arena. */
char *mem_arena_strndup(struct mem_arena *a, const char *s, size_t n);

/* Frees everything; the arena is empty and ready again. */
void mem_arena_release(struct mem_arena *a);

#endif
