#ifndef MODEL_JSONTOK_H
#define MODEL_JSONTOK_H
#include "core/err.h"
#include "core/mem.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A strict JSON reader for documents that decide about bytes: safetensors headers and shard
 * indexes. It hands out one token at a time, builds no tree, does not recurse, and keeps integers
 * exact. It refuses whatever RFC 8259 forbids (a byte order mark, raw control characters, 01, bad
 * UTF-8, text after the value ...), and beyond it: \u0000 and lone surrogates, and a key twice in
 * one object at any level, also when equal only after unescaping. */

#define JSONTOK_DEPTH_MAX 64 /* one bit of a uint64_t a level; real files nest 3 deep */

enum jsontok_kind {
    JSONTOK_END, /* the document is over, and only white space followed */
    JSONTOK_OBJECT,
    JSONTOK_OBJECT_END,
    JSONTOK_ARRAY,
    JSONTOK_ARRAY_END,
    JSONTOK_KEY,
    JSONTOK_TEXT,
    JSONTOK_UINT,   /* digits only, and it fits 64 bits: exact in u64 */
    JSONTOK_NUMBER, /* every other number: jsontok_name says which kind */
    JSONTOK_TRUE,
    JSONTOK_FALSE,
    JSONTOK_NULL
};

struct jsontok_token {
    enum jsontok_kind kind;
    const char *text; /* key or text, unescaped, and spelling of a number; UTF-8, no NUL at its end.
                         In the document, or in the arena if it had escapes */
    size_t len;
    uint64_t u64; /* of JSONTOK_UINT */
};

struct jsontok_key; /* a key of an object that is still open */

/* The reader. Its document must outlive it and its tokens. */
struct jsontok {
    const char *doc, *at, *end;
    struct mem_arena *arena;
    int state; /* what may come next */
    unsigned depth;
    uint64_t objects; /* bit i: level i is an object, not an array */
    struct jsontok_key *keys;
    size_t key_count, key_cap;
    size_t level_keys[JSONTOK_DEPTH_MAX]; /* where the keys of each open level start */
};

/* Starts reading doc[0..bytes). Unescaped strings go to arena. */
void jsontok_init(struct jsontok *t, const char *doc, size_t bytes, struct mem_arena *arena);
void jsontok_release(struct jsontok *t);

/* The next token. ERR_FORMAT, with byte and line, for what is not strict JSON; ERR_LIMIT past
 * JSONTOK_DEPTH_MAX. A twice-used key is noticed where its object ends. After a failure the reader
 * must not be asked again. */
int jsontok_next(struct jsontok *t, struct jsontok_token *ret, struct err *e);

/* Reads on to the end of the value whose first token was *first; its strictness is checked. */
int jsontok_skip(struct jsontok *t, const struct jsontok_token *first, struct err *e);

/* True if the token is a key or text equal to s. */
bool jsontok_is(const struct jsontok_token *token, const char *s);

#define JSONTOK_PLAIN_BYTES 304

/* The text of a token fit for a message (text_plain), cut with "..." where it is long. */
const char *jsontok_plain(const struct jsontok_token *token, char ret[JSONTOK_PLAIN_BYTES]);

/* "an object", "text", "a fraction": what a token is, for messages. */
const char *jsontok_name(const struct jsontok_token *token);

#endif
