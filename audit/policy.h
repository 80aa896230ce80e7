#ifndef AUDIT_POLICY_H
#define AUDIT_POLICY_H
#include "core/buf.h"
#include "core/err.h"
#include "core/mem.h"
#include "core/verdict.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a team asks of a model: the target, the required items, and every threshold. One JSON file;
 * the built-in one is audit/policy.json. A file may leave keys out, and the built-in values hold
 * for these; it can never have a key that is not known. */

#define POLICY_VERSION 1
#define POLICY_BYTES_MAX (1u << 20) /* a policy is written by hand: a page, not a megabyte */
#define POLICY_BACKENDS_MAX 32
#define POLICY_CONTEXTS_MAX 32
#define POLICY_NAME_BYTES_MAX 100
#define POLICY_CONTEXT_TOKENS_MAX (1u << 30)

/* The five items of the checklist; the headlines after them are never required of anybody. */
#define POLICY_ITEMS ((size_t)VERDICT_DISTRIBUTION)

struct policy_backend {
    const char *name;     /* as support tables and scans name it: "vllm" */
    const char *hardware; /* as support tables name it: "sm90" */
};

struct policy {
    const char *name;
    /* target */
    struct policy_backend *backends; /* [backend_count], at least one, no pair twice */
    size_t backend_count;
    uint64_t *contexts_tokens; /* [context_count], at least one, ascending, none twice */
    size_t context_count;
    bool required[POLICY_ITEMS];       /* by enum verdict_item; at least one is set */
    enum verdict_status fail_on;       /* VERDICT_FAIL, VERDICT_UNKNOWN or VERDICT_WARN */
    double fallback_time_max_ratio;    /* composed over fused: slower fails the operator */
    double cache_off_max_ratio;        /* measured cache against predicted, relative */
    uint64_t constant_min_lengths;     /* lengths that show that a cache does not grow */
    bool accept_extrapolation;         /* context.extrapolation: "warn", else "unknown" */
    double decode_layer_max_ns;        /* latency bound of one layer and token on the host that was
                                          measured; 0: none (JSON null) */
    bool accept_synthetic;             /* synthetic expert load is a warning, else unknown */
    double tokens_per_expert_min;      /* with fewer, chance decides: unknown */
    double max_mean_excess_warn_ratio; /* largest over mean load, less what chance gives */
    double max_mean_excess_fail_ratio;
    double cv_excess_warn_ratio; /* coefficient of variation, less what chance gives */
    double cv_excess_fail_ratio;
    uint64_t unused_max_experts; /* experts without a token that are no warning yet */
    struct mem_arena arena;      /* owns the strings and arrays */
};

/* Reads a policy. Missing keys take the built-in value. ERR_USAGE, naming the key with its path and
 * where one is near the key that was meant ("target.backend: no such key; did you mean backends?"),
 * for an unknown key, a wrong type, a value out of range, an unknown item, hardware that no support
 * table names (support_has_hardware), an item, backend or context length that is doubled, warn
 * thresholds above their fail thresholds, and a version that is not POLICY_VERSION; ERR_FORMAT for
 * text that is not JSON; ERR_LIMIT past the limits above. *ret is set on success only; release with
 * policy_release. */
int policy_parse(const char *text, size_t bytes, struct policy *ret, struct err *e);

/* Reads and parses a file; the path stands in front of the message. ERR_IO if it cannot be read. */
int policy_read(const char *path, struct policy *ret, struct err *e);

/* The policy in audit/policy.json. */
void policy_builtin(struct policy *ret);

/* Appends the policy as used, complete, as JSON that policy_parse takes back to the same policy. */
void policy_json(const struct policy *p, struct buf *b);

/* The longest context length that is asked for. */
uint64_t policy_context_max(const struct policy *p);

void policy_release(struct policy *p);

#endif
