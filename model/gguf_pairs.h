#ifndef MODEL_GGUF_PAIRS_H
#define MODEL_GGUF_PAIRS_H
#include "model/gguf.h"
#include "model/gguf_bytes.h"

/* The metadata of a GGUF file. */

/* Reads `count` pairs from b into g, sorted by key, and sets g's alignment. Returns 0, an error as
 * gguf_parse says, or GGUF_BYTES_MORE. */
int gguf_pairs_read(struct gguf_bytes *b, uint64_t count, struct gguf *g, struct err *e);

/* The pair with that key, or NULL. In this and the next three a key that starts with "*." has the
 * value of general.architecture in place of the star: "*.block_count". */
const struct gguf_pair *gguf_pairs_find(const struct gguf *g, const char *key);
/* False if it is not there, or of another kind. */
bool gguf_pairs_u64(const struct gguf *g, const char *key, uint64_t *ret); /* any integer >= 0 */
bool gguf_pairs_real(const struct gguf *g, const char *key, double *ret);
bool gguf_pairs_bool(const struct gguf *g, const char *key, bool *ret);
bool gguf_pairs_text(const struct gguf *g, const char *key, const char **ret);

/* general.architecture, or NULL. */
const char *gguf_pairs_architecture(const struct gguf *g);

const char *gguf_pairs_type_name(enum gguf_value t); /* "u32", "text", "array" */

#endif
