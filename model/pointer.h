#ifndef MODEL_POINTER_H
#define MODEL_POINTER_H
#include "core/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Git-LFS pointer files: what a clone without LFS has in place of weights (git-lfs docs/spec.md).
 */

#define POINTER_BYTES_MAX 1024 /* a pointer is smaller; so the specification */

struct pointer {
    char sha256[65];     /* of the content, 64 lowercase hex digits */
    uint64_t size_bytes; /* of the content */
};

/* True if bytes start as a pointer does; the rest may still be damaged. */
bool pointer_looks(const void *bytes, size_t n);

/* Parses a whole pointer file: the lines version, perhaps ext-..., oid sha256:..., size, each with
 * its newline (CR LF is taken too: a Windows checkout makes it), in that order and nothing else.
 * ERR_FORMAT says what is wrong; ERR_LIMIT for POINTER_BYTES_MAX or more. */
int pointer_parse(const char *text, size_t bytes, struct pointer *ret, struct err *e);

/* A sentence for people: "is a Git-LFS pointer: the content was not fetched; expected sha256 X,
 * size N; run git lfs pull". With the reason in place of the figures if the text is damaged. */
const char *pointer_words(const char *text, size_t bytes, char *ret, size_t ret_bytes);

#endif
