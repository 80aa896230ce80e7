#include "audit/threshold.h"
#include "audit/strict.h"
#include "core/json.h"
#include "core/text.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum kind {
    KIND_REAL,
    KIND_COUNT,
    KIND_BOUND, /* a real, or null for none */
    KIND_BOOL,
    KIND_EXTRAPOLATION /* "warn" or "unknown" */
};

/* Every threshold: where it stands in the file and in the struct, and its range. */
static const struct field {
    const char *section, *name;
    enum kind kind;
    size_t offset;
    double min, max;
} fields[] = {
    {"operators", "fallback_time_max_ratio", KIND_REAL,
     offsetof(struct policy, fallback_time_max_ratio), 1, 1e6},
    {"context", "cache_off_max_ratio", KIND_REAL, offsetof(struct policy, cache_off_max_ratio), 0,
     1},
    /* two lengths can only tell a line from a line */
    {"context", "constant_min_lengths", KIND_COUNT, offsetof(struct policy, constant_min_lengths),
     3, 1000},
    {"context", "extrapolation", KIND_EXTRAPOLATION, offsetof(struct policy, accept_extrapolation),
     0, 0},
    {"context", "decode_layer_max_ns", KIND_BOUND, offsetof(struct policy, decode_layer_max_ns), 1,
     1e15},
    {"experts", "accept_synthetic", KIND_BOOL, offsetof(struct policy, accept_synthetic), 0, 0},
    {"experts", "tokens_per_expert_min", KIND_REAL, offsetof(struct policy, tokens_per_expert_min),
     1, 1e9},
    {"experts", "max_mean_excess_warn_ratio", KIND_REAL,
     offsetof(struct policy, max_mean_excess_warn_ratio), 0, 1e6},
    {"experts", "max_mean_excess_fail_ratio", KIND_REAL,
     offsetof(struct policy, max_mean_excess_fail_ratio), 0, 1e6},
    {"experts", "cv_excess_warn_ratio", KIND_REAL, offsetof(struct policy, cv_excess_warn_ratio), 0,
     1e6},
    {"experts", "cv_excess_fail_ratio", KIND_REAL, offsetof(struct policy, cv_excess_fail_ratio), 0,
     1e6},
    {"experts", "unused_max_experts", KIND_COUNT, offsetof(struct policy, unused_max_experts), 0,
     1e6},
};
#define FIELDS (sizeof fields / sizeof fields[0])

static const char *const sections[THRESHOLD_SECTIONS] = {"operators", "context", "experts"};

const char *threshold_section(size_t i)
{
    return sections[i];
}

static int parse_number(const struct field *f, const struct cJSON *item, const char *path, void *at,
                        struct err *e)
{
    double x;
    uint64_t n;
    char lo[TEXT_NUMBER_BYTES], hi[TEXT_NUMBER_BYTES];

    if (!json_real(item, &x))
        return strict_kind(path, f->kind == KIND_BOUND ? "a number, or null for none" : "a number",
                           item, e);
    if (!isfinite(x) || x < f->min || x > f->max)
        return err_set(e, ERR_USAGE, "%s: must be from %s to %s", path, text_real(f->min, 6, lo),
                       text_real(f->max, 6, hi));
    if (f->kind != KIND_COUNT) {
        memcpy(at, &x, sizeof x);
        return 0;
    }
    if (!json_u64(item, &n))
        return err_set(e, ERR_USAGE, "%s: must be a whole number", path);
    memcpy(at, &n, sizeof n);
    return 0;
}

static int parse_field(const struct field *f, const struct cJSON *item, struct policy *p,
                       struct err *e)
{
    void *at = (char *)p + f->offset;
    char path[96];
    const char *s;

    snprintf(path, sizeof path, "%s.%s", f->section, f->name);
    switch (f->kind) {
    case KIND_BOOL:
        if (!json_bool(item, at))
            return strict_kind(path, "true or false", item, e);
        return 0;
    case KIND_EXTRAPOLATION:
        if (!json_text(item, &s))
            return strict_kind(path, "\"warn\" or \"unknown\"", item, e);
        if (strcmp(s, "warn") != 0 && strcmp(s, "unknown") != 0)
            return err_set(e, ERR_USAGE, "%s: must be \"warn\" or \"unknown\"", path);
        *(bool *)at = s[0] == 'w';
        return 0;
    case KIND_BOUND:
        if (json_kind(item) == JSON_NULL) {
            *(double *)at = 0;
            return 0;
        }
        return parse_number(f, item, path, at, e);
    case KIND_REAL:
    case KIND_COUNT: break;
    }
    return parse_number(f, item, path, at, e);
}

int threshold_parse(const char *section, const struct cJSON *object, struct policy *p,
                    struct err *e)
{
    const char *known[FIELDS + 1] = {NULL};
    char path[32];
    size_t n = 0;
    int rc;

    if (json_kind(object) != JSON_OBJECT)
        return strict_kind(section, "an object", object, e);
    for (size_t i = 0; i < FIELDS; i++)
        if (!strcmp(fields[i].section, section))
            known[n++] = fields[i].name;
    snprintf(path, sizeof path, "%s.", section);
    if ((rc = strict_keys(object, path, known, e)))
        return rc;
    for (size_t i = 0; i < FIELDS; i++) {
        const struct cJSON *k = NULL;
        if (!strcmp(fields[i].section, section))
            k = json_get(object, fields[i].name);
        if (k && (rc = parse_field(&fields[i], k, p, e)))
            return rc;
    }
    return 0;
}

int threshold_check(const struct policy *p, struct err *e)
{
    if (p->max_mean_excess_warn_ratio > p->max_mean_excess_fail_ratio)
        return err_set(e, ERR_USAGE,
                       "experts.max_mean_excess_warn_ratio: must not be above "
                       "experts.max_mean_excess_fail_ratio");
    if (p->cv_excess_warn_ratio > p->cv_excess_fail_ratio)
        return err_set(e, ERR_USAGE,
                       "experts.cv_excess_warn_ratio: must not be above "
                       "experts.cv_excess_fail_ratio");
    return 0;
}

static void write_field(const struct field *f, const struct policy *p, struct cJSON *section)
{
    const void *at = (const char *)p + f->offset;
    double x;
    uint64_t n;

    switch (f->kind) {
    case KIND_REAL:
    case KIND_BOUND:
        memcpy(&x, at, sizeof x);
        if (f->kind == KIND_BOUND && x == 0)
            json_add_null(section, f->name);
        else
            json_add_real(section, f->name, x);
        break;
    case KIND_COUNT:
        memcpy(&n, at, sizeof n);
        json_add_u64(section, f->name, n);
        break;
    case KIND_BOOL: json_add_bool(section, f->name, *(const bool *)at); break;
    case KIND_EXTRAPOLATION:
        json_add_text(section, f->name, *(const bool *)at ? "warn" : "unknown");
        break;
    }
}

void threshold_write(const char *section, const struct policy *p, struct cJSON *object)
{
    for (size_t i = 0; i < FIELDS; i++)
        if (!strcmp(fields[i].section, section))
            write_field(&fields[i], p, object);
}
