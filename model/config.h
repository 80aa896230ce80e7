#ifndef MODEL_CONFIG_H
#define MODEL_CONFIG_H
#include "core/err.h"
#include "model/model.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Typed access to a config.json, and the list of what in it could not be explained. */

/* Largest values taken; the largest released model stays below a tenth of each. */
#define CONFIG_HIDDEN_MAX (1u << 20)
#define CONFIG_VOCAB_MAX (1u << 26)
#define CONFIG_HEADS_MAX (1u << 14)
#define CONFIG_HEAD_DIM_MAX (1u << 16)
#define CONFIG_INNER_MAX (1u << 24)
#define CONFIG_EXPERTS_MAX (1u << 16)
#define CONFIG_KERNEL_MAX 64u
#define CONFIG_POOL_MAX (1u << 16)
#define CONFIG_TOKENS_MAX (1ull << 40)
#define CONFIG_UNEXPLAINED_MAX 64 /* then one entry counts the rest */

struct config {
    const struct cJSON *root; /* the whole file */
    const struct cJSON *text; /* root, or its text_config */
    struct model *m;          /* receives unexplained entries, in its arena */
    size_t unexplained_cap, unexplained_dropped;
};

/* Finds the family, checks the architecture, descends into text_config; fills m's family,
 * architecture, traits and prefix. ERR_UNSUPPORTED names what is not known. */
int config_init(struct config *c, const struct cJSON *root, struct model *m, struct err *e);

/* A needed whole number within [min, max]. ERR_FORMAT if missing, of another kind or below min;
 * ERR_LIMIT above max. `in` is the object that holds it, NULL for the text config. */
int config_u32(const struct config *c, const struct cJSON *in, const char *key, uint32_t min,
               uint32_t max, uint32_t *ret, struct err *e);
/* The same, with a value for when it is missing or null. */
int config_u32_or(const struct config *c, const struct cJSON *in, const char *key, uint32_t min,
                  uint32_t max, uint32_t fallback, uint32_t *ret, struct err *e);
/* The first of the keys (a list that ends in NULL) that is there; needed. Aliases that are there
 * and contradict it are unexplained. */
int config_u32_of(struct config *c, const char *const *keys, uint32_t min, uint32_t max,
                  uint32_t *ret, struct err *e);
/* ERR_FORMAT if there and not null and of another kind. */
int config_bool_or(const struct config *c, const struct cJSON *in, const char *key, bool fallback,
                   bool *ret, struct err *e);
int config_real_or(const struct config *c, const struct cJSON *in, const char *key, double fallback,
                   double *ret, struct err *e);
/* *ret is NULL when missing or null. */
int config_text(const struct config *c, const char *key, const char **ret, struct err *e);
/* True if the key is there and not null. */
bool config_has(const struct config *c, const char *key);

/* Adds "what" to the model's unexplained list: a key, with its value or what is wrong with it. It
 * stands in the way of everything; config_hides says of what (MODEL_HIDES_*). */
void config_hides(struct config *c, unsigned what, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void config_unexplained(struct config *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds each key of the text config that names a mechanism which the family does not have. */
void config_scan(struct config *c);

#endif
