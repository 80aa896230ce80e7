#ifndef MODEL_QUANT_SCHEME_H
#define MODEL_QUANT_SCHEME_H
#include "core/err.h"
#include "model/quant.h"
#include "model/quant_pattern.h"
#include <stdbool.h>
#include <stddef.h>

/* A quantization block of a config as rules on module names. */

#define QUANT_SCHEME_RULES_MAX 64
#define QUANT_SCHEME_ENTRIES_MAX 100000 /* per-module entries; a released file has 22,422 */

struct quant_scheme_rule {
    bool linear;                   /* every Linear module */
    struct quant_pattern *targets; /* or these; NULL: none */
    char format[QUANT_NAME_BYTES]; /* "" plain, "unknown" with why */
    char why[QUANT_WHY_BYTES];
};

/* An entry that names a module, or a folder of modules. */
struct quant_scheme_entry {
    const char *name;
    char format[QUANT_NAME_BYTES];
};

struct quant_scheme {
    char method[64]; /* "" : nothing is declared */
    const char *where;
    char unknown[QUANT_WHY_BYTES]; /* not "": nothing can be said of any module, and why */
    struct quant_scheme_rule rules[QUANT_SCHEME_RULES_MAX]; /* the first that fits decides */
    size_t rule_count;
    struct quant_pattern *ignore;
    struct quant_scheme_entry *entries; /* sorted by name; they go before the rules */
    size_t entry_count;
    bool entries_only;     /* modules without an entry are plain (MIXED_PRECISION) */
    bool head_plain;       /* the head is left out unless named */
    bool embedding_linear; /* embeddings count as Linear (MLX) */
    bool experts_only;     /* only routed experts (gpt-oss) */
    bool router_unsure;    /* whether the router counts as Linear is not written anywhere */
};

/* Finds and reads the block. root is config.json, text its text_config or root, hf_quant may be
 * NULL. ERR_FORMAT if a block is there and is no object. Always release. */
int quant_scheme_init(struct quant_scheme *s, const struct cJSON *root, const struct cJSON *text,
                      const struct cJSON *hf_quant, struct err *e);
void quant_scheme_release(struct quant_scheme *s);

/* The format of one module: "" plain, "unknown", or a name; why says what is unknown. linear: it
 * is a Linear module. tower_bytes: the first bytes of the name that text_config leaves out. */
const char *quant_scheme_format(const struct quant_scheme *s, const char *module,
                                size_t tower_bytes, enum quant_class class, bool linear,
                                char why[QUANT_WHY_BYTES]);

#endif
