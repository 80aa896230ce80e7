#ifndef MODEL_COST_CACHE_H
#define MODEL_COST_CACHE_H
#include "model/cost.h"
#include "model/model.h"
#include <stdbool.h>
#include <stdint.h>

/* What one layer keeps of a sequence, in parts that grow by different rules. At T tokens:
 *   token x T  +  entry x (T / entry_tokens)  +  index x (T / index_tokens)
 *   + window x min(T, window_tokens)  +  state
 * with whole divisions: a latent or a pooled key is kept when its tokens are complete. What an
 * engine buffers of incomplete ones is left out: each has another layout for it. */
struct cost_cache {
    uint64_t token;
    uint64_t entry, index;
    uint32_t entry_tokens, index_tokens; /* at least 1 */
    uint64_t window;
    uint32_t window_tokens;
    uint64_t state;
};

/* False if the layer has no layout in that store. */
bool cost_cache_of(const struct mixer *x, enum cost_store store, struct cost_cache *ret);

/* UINT64_MAX where the sum leaves 64 bits. */
uint64_t cost_cache_bytes(const struct cost_cache *c, uint64_t tokens);

#endif
