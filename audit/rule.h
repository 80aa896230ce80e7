#ifndef AUDIT_RULE_H
#define AUDIT_RULE_H
#include "audit/policy.h"
#include "audit/rules.h"
#include "core/buf.h"
#include "core/fact.h"
#include "core/verdict.h"
#include <stddef.h>

/* A rule at work: what it reads, and the verdict that it is writing. rules.c makes one for each row
 * of its table; a rule starts, fills and ends as many verdicts as it has things to judge. */
struct rule {
    const struct fact_list *facts;
    const struct policy *policy;
    struct verdict_set *set;
    enum verdict_item item;
    const char *id;
    const char **briefs; /* [set->count]: each verdict in a few words, for the sum of its item */
    size_t brief_cap;
    /* the verdict being written */
    enum verdict_status status;
    const char *title; /* a literal; "" at the start */
    struct buf text, brief, advice;
    size_t *cited, cited_count, cited_cap;
};

typedef void rule_fn(struct rule *r);

#define RULE_TEXT_BYTES_MAX \
    (64u << 10) /* names are cut to RULE_NAME_BYTES, lists to RULE_LIST_MAX */
#define RULE_NAME_BYTES 240
#define RULE_LIST_MAX 8

void rule_start(struct rule *r);
/* The verdict is at least this grave. A verdict that no call was made for is not applicable. */
void rule_judge(struct rule *r, enum verdict_status status);
/* Names a fact that decided; NULL and a second time are ignored. */
void rule_cite(struct rule *r, const struct fact *f);
void rule_say(struct rule *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void rule_brief(struct rule *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void rule_advise(struct rule *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void rule_end(struct rule *r);
/* Gives up the verdict that was started. */
void rule_drop(struct rule *r);

/* An enumeration in a sentence: "a, b, c and 4 more". Start with {0}. */
struct rule_list {
    size_t count;
    const char *separator; /* NULL: ", " */
};
void rule_list_add(struct rule *r, struct rule_list *l, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void rule_list_end(struct rule *r, const struct rule_list *l);

/* A text from outside, fit to print. Several in one call need several arrays. */
const char *rule_plain(const char *s, char ret[RULE_NAME_BYTES]);
/* A mixer kind or a backend as people write it (report/words.h), fit to print. */
const char *rule_kind(const char *kind, char ret[RULE_NAME_BYTES]);
const char *rule_backend(const char *name, char ret[RULE_NAME_BYTES]);
/* "1 layer", "2,048 layers": noun is the singular; one in s gets es. */
const char *rule_count(uint64_t n, const char *noun, char ret[RULE_NAME_BYTES]);
/* Why a fact is not known, fit to print: its reason, or `otherwise` where it gives none or is not
 * there. */
const char *rule_why(const struct fact *f, const char *otherwise, char ret[RULE_NAME_BYTES]);
/* The fact, if it is there and known; else NULL. */
const struct fact *rule_known(const struct rule *r, enum fact_key key, const char *scope);
/* The next fact of that key after `after` (NULL: the first), whatever its scope; NULL at the end.
 */
const struct fact *rule_next(const struct rule *r, enum fact_key key, const struct fact *after);
/* True if s is the word, or starts with it and goes on with something that is no letter. */
bool rule_word(const char *s, const char *word);

/* True if the text of a problem (rules.h) says that the file is not what it has to be; false if it
 * says that this could not be found out, or nothing that is known. */
bool rule_broken(const struct fact *problem);

/* rule_formats.c */
void rule_formats_headers(struct rule *r);
void rule_formats_findings(struct rule *r);
void rule_formats_declared(struct rule *r);
void rule_formats_support(struct rule *r);
/* rule_operators.c */
void rule_operators_known(struct rule *r);
void rule_operators_support(struct rule *r);
/* rule_context.c */
void rule_context_ladder(struct rule *r);
void rule_context_cache(struct rule *r);
void rule_context_reached(struct rule *r);
void rule_context_decode(struct rule *r);
void rule_context_latency(struct rule *r);
/* rule_experts.c */
void rule_experts_evidence(struct rule *r);
void rule_experts_tokens(struct rule *r);
void rule_experts_load(struct rule *r);
void rule_experts_spread(struct rule *r);
void rule_experts_unused(struct rule *r);
/* rule_fingerprint.c */
void rule_fingerprint_digest(struct rule *r);
void rule_fingerprint_files(struct rule *r);
void rule_fingerprint_baseline(struct rule *r);
/* rule_distribution.c: the headline, from DISTRIBUTION_* facts and no others */
void rule_distribution_headline(struct rule *r);

#endif
