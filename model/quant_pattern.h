#ifndef MODEL_QUANT_PATTERN_H
#define MODEL_QUANT_PATTERN_H
#include <stdbool.h>
#include <stddef.h>

/* Lists of module names as quantization configs write them. */

struct cJSON;

#define QUANT_PATTERN_EXPRESSIONS_MAX                                                       \
    256                             /* patterns that need a matcher; literals have no limit \
                                     */
#define QUANT_PATTERN_BYTES_MAX 256 /* of one expression */

enum quant_pattern_style {
    /* compressed-tensors: the whole module name, or "re:" and a Python expression that matches from
     * the start of the name on */
    QUANT_PATTERN_EXACT,
    /* fp8, AWQ, bitsandbytes, ModelOpt: a module name, of which the first or the last parts may be
     * left out, or a shell pattern for the whole name */
    QUANT_PATTERN_PARTS
};

enum quant_pattern_answer {
    QUANT_PATTERN_NO,
    QUANT_PATTERN_YES,
    QUANT_PATTERN_UNSURE /* one of the patterns could not be read exactly */
};

struct quant_pattern;

/* The texts of a JSON array; NULL, null or no array is an empty list. Never fails: what cannot be
 * read makes answers unsure, and quant_pattern_why names it. */
struct quant_pattern *quant_pattern_open(const struct cJSON *list, enum quant_pattern_style style);
void quant_pattern_close(struct quant_pattern *p);

enum quant_pattern_answer quant_pattern_match(const struct quant_pattern *p, const char *name);
/* The first pattern that could not be read; "" if there is none. */
const char *quant_pattern_why(const struct quant_pattern *p);

#endif
