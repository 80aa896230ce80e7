#include "audit/policy.h"
#include "audit/strict.h"
#include "audit/threshold.h"
#include "core/file.h"
#include "core/json.h"
#include "core/text.h"
#include "probes/support.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

static const unsigned char builtin_json[] = {
#include "audit/policy.json.inc"
};

static const char *const top_keys[] = {"name",      "version", "target",  "required", "fail_on",
                                       "operators", "context", "experts", NULL};
static const char *const target_keys[] = {"backends", "context_lengths", NULL};
static const char *const backend_keys[] = {"name", "hardware", NULL};

/* Names end up in the scopes of facts, where | parts them, and on terminals. */
static int parse_name(const struct cJSON *item, const char *path, struct policy *p,
                      const char **ret, struct err *e)
{
    const char *s;
    size_t n;

    if (!json_text(item, &s))
        return strict_kind(path, "a text", item, e);
    n = strlen(s);
    if (n == 0)
        return err_set(e, ERR_USAGE, "%s: must not be empty", path);
    if (n > POLICY_NAME_BYTES_MAX)
        return err_set(e, ERR_LIMIT, "%s: %zu bytes, at most %d are allowed", path, n,
                       POLICY_NAME_BYTES_MAX);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f || s[i] == '|')
            return err_set(e, ERR_USAGE, "%s: must not hold | or control characters", path);
    *ret = mem_arena_strndup(&p->arena, s, n);
    return 0;
}

static int parse_backends(const struct cJSON *list, struct policy *p, struct err *e)
{
    size_t n = json_count(list), i = 0;
    struct policy_backend *b;
    char path[64], shown[64];

    if (json_kind(list) != JSON_ARRAY)
        return strict_kind("target.backends", "an array", list, e);
    if (n == 0)
        return err_set(e, ERR_USAGE, "target.backends: must name at least one backend");
    if (n > POLICY_BACKENDS_MAX)
        return err_set(e, ERR_LIMIT, "target.backends: %zu entries, at most %d are allowed", n,
                       POLICY_BACKENDS_MAX);
    b = mem_arena_alloc(&p->arena, n * sizeof *b);
    for (const struct cJSON *k = json_first(list); k; k = json_next(k), i++) {
        int rc;
        snprintf(path, sizeof path, "target.backends[%zu]", i);
        if (json_kind(k) != JSON_OBJECT)
            return strict_kind(path, "an object with name and hardware", k, e);
        snprintf(path, sizeof path, "target.backends[%zu].", i);
        if ((rc = strict_keys(k, path, backend_keys, e)))
            return rc;
        snprintf(path, sizeof path, "target.backends[%zu].name", i);
        if ((rc = parse_name(json_get(k, "name"), path, p, &b[i].name, e)))
            return rc;
        snprintf(path, sizeof path, "target.backends[%zu].hardware", i);
        if ((rc = parse_name(json_get(k, "hardware"), path, p, &b[i].hardware, e)))
            return rc;
        if (!support_has_hardware(b[i].hardware))
            return err_set(e, ERR_USAGE,
                           "%s: no support table knows %s; write a word such as sm90, sm100, "
                           "mi300, cuda, amd, x86 or any",
                           path, text_plain(b[i].hardware, shown, sizeof shown));
        for (size_t j = 0; j < i; j++)
            if (!strcmp(b[i].name, b[j].name) && !strcmp(b[i].hardware, b[j].hardware))
                return err_set(e, ERR_USAGE, "target.backends[%zu]: the same as entry %zu", i, j);
    }
    p->backends = b;
    p->backend_count = n;
    return 0;
}

static int parse_contexts(const struct cJSON *list, struct policy *p, struct err *e)
{
    static const char path[] = "target.context_lengths";
    size_t n = json_count(list), count = 0;
    uint64_t *c;

    if (json_kind(list) != JSON_ARRAY)
        return strict_kind(path, "an array such as [\"128K\", \"1M\"]", list, e);
    if (n == 0)
        return err_set(e, ERR_USAGE, "%s: must hold at least one length", path);
    if (n > POLICY_CONTEXTS_MAX)
        return err_set(e, ERR_LIMIT, "%s: %zu entries, at most %d are allowed", path, n,
                       POLICY_CONTEXTS_MAX);
    c = mem_arena_alloc(&p->arena, n * sizeof *c);
    for (const struct cJSON *k = json_first(list); k; k = json_next(k), count++) {
        const char *s;
        size_t at = count;
        uint64_t tokens;
        if (!json_text(k, &s))
            return strict_kind(path, "an array of texts such as \"128K\"", k, e);
        if (text_parse_tokens(s, &tokens, e)) {
            err_wrap(e, "%s[%zu]", path, count);
            return e->code = ERR_USAGE;
        }
        if (tokens == 0 || tokens > POLICY_CONTEXT_TOKENS_MAX)
            return err_set(e, ERR_USAGE, "%s[%zu]: must be from 1 to %u tokens", path, count,
                           POLICY_CONTEXT_TOKENS_MAX);
        for (; at > 0 && c[at - 1] >= tokens; at--) {
            if (c[at - 1] == tokens)
                return err_set(e, ERR_USAGE, "%s[%zu]: this length is there already", path, count);
            c[at] = c[at - 1];
        }
        c[at] = tokens;
    }
    p->contexts_tokens = c;
    p->context_count = n;
    return 0;
}

static int parse_target(const struct cJSON *target, struct policy *p, struct err *e)
{
    const struct cJSON *k;
    int rc;

    if (json_kind(target) != JSON_OBJECT)
        return strict_kind("target", "an object", target, e);
    if ((rc = strict_keys(target, "target.", target_keys, e)))
        return rc;
    if ((k = json_get(target, "backends")) && (rc = parse_backends(k, p, e)))
        return rc;
    if ((k = json_get(target, "context_lengths")) && (rc = parse_contexts(k, p, e)))
        return rc;
    return 0;
}

static int parse_required(const struct cJSON *list, struct policy *p, struct err *e)
{
    bool required[POLICY_ITEMS] = {false};
    const char *names[POLICY_ITEMS + 1] = {NULL};

    for (size_t i = 0; i < POLICY_ITEMS; i++)
        names[i] = verdict_item_name((enum verdict_item)i);
    if (json_kind(list) != JSON_ARRAY)
        return strict_kind("required", "an array of items", list, e);
    if (json_count(list) == 0)
        return err_set(e, ERR_USAGE,
                       "required: must name at least one item; a model that nothing "
                       "is asked of would always be ready");
    for (const struct cJSON *k = json_first(list); k; k = json_next(k)) {
        enum verdict_item item;
        const char *s;
        if (!json_text(k, &s))
            return strict_kind("required", "an array of texts", k, e);
        if (!verdict_item_find(s, &item) || item >= POLICY_ITEMS)
            return strict_word("required: ", "item", s, names, e);
        if (required[item])
            return err_set(e, ERR_USAGE, "required: %s is there twice", s);
        required[item] = true;
    }
    memcpy(p->required, required, sizeof required);
    return 0;
}

static int parse_fail_on(const struct cJSON *item, struct policy *p, struct err *e)
{
    static const char *const words[] = {"fail", "unknown", "warn", NULL};
    const char *s;

    if (!json_text(item, &s))
        return strict_kind("fail_on", "a text", item, e);
    if (!strcmp(s, "fail"))
        p->fail_on = VERDICT_FAIL;
    else if (!strcmp(s, "unknown"))
        p->fail_on = VERDICT_UNKNOWN;
    else if (!strcmp(s, "warn"))
        p->fail_on = VERDICT_WARN;
    else
        return strict_word("fail_on: ", "status here (fail, unknown, warn)", s, words, e);
    return 0;
}

/* Lays a document over the values that are there. */
static int apply(const struct cJSON *doc, struct policy *p, struct err *e)
{
    const struct cJSON *k;
    uint64_t version;
    int rc;

    if (json_kind(doc) != JSON_OBJECT)
        return strict_kind("policy", "an object", doc, e);
    if ((rc = strict_keys(doc, "", top_keys, e)))
        return rc;
    if ((k = json_get(doc, "version"))) {
        if (!json_u64(k, &version))
            return strict_kind("version", "a whole number", k, e);
        if (version != POLICY_VERSION)
            return err_set(e, ERR_USAGE, "version: must be %d, the only one that there is",
                           POLICY_VERSION);
    }
    p->name = "unnamed";
    if ((k = json_get(doc, "name")) && (rc = parse_name(k, "name", p, &p->name, e)))
        return rc;
    if ((k = json_get(doc, "target")) && (rc = parse_target(k, p, e)))
        return rc;
    if ((k = json_get(doc, "required")) && (rc = parse_required(k, p, e)))
        return rc;
    if ((k = json_get(doc, "fail_on")) && (rc = parse_fail_on(k, p, e)))
        return rc;
    for (size_t i = 0; i < THRESHOLD_SECTIONS; i++)
        if ((k = json_get(doc, threshold_section(i))) &&
            (rc = threshold_parse(threshold_section(i), k, p, e)))
            return rc;
    return threshold_check(p, e);
}

void policy_builtin(struct policy *ret)
{
    struct policy p = {0};
    struct cJSON *doc;
    struct err e = {0};
    int rc = json_parse((const char *)builtin_json, sizeof builtin_json, &doc, NULL, &e);

    assert(rc == 0);
    rc = apply(doc, &p, &e);
    assert(rc == 0);
    (void)rc;
    json_free(doc);
    *ret = p;
}

int policy_parse(const char *text, size_t bytes, struct policy *ret, struct err *e)
{
    struct policy p;
    struct cJSON *doc;
    int rc;

    if (bytes > POLICY_BYTES_MAX)
        return err_set(e, ERR_LIMIT, "%zu bytes, and a policy has at most %u", bytes,
                       POLICY_BYTES_MAX);
    if ((rc = json_parse(text, bytes, &doc, NULL, e)))
        return rc;
    policy_builtin(&p);
    rc = apply(doc, &p, e);
    json_free(doc);
    if (rc) {
        policy_release(&p);
        return rc;
    }
    *ret = p;
    return 0;
}

int policy_read(const char *path, struct policy *ret, struct err *e)
{
    struct buf b;
    int rc;

    buf_init(&b, POLICY_BYTES_MAX);
    if (!(rc = file_read(path, &b, e)) && (rc = policy_parse(b.data, b.len, ret, e)))
        err_wrap(e, "policy %s", path);
    buf_release(&b);
    return rc;
}

void policy_json(const struct policy *p, struct buf *b)
{
    struct cJSON *doc = json_object(), *target, *list;
    char number[TEXT_NUMBER_BYTES];

    json_add_text(doc, "name", p->name);
    json_add_u64(doc, "version", POLICY_VERSION);
    target = json_add_object(doc, "target");
    list = json_add_array(target, "backends");
    for (size_t i = 0; i < p->backend_count; i++) {
        struct cJSON *backend = json_add_object(list, NULL);
        json_add_text(backend, "name", p->backends[i].name);
        json_add_text(backend, "hardware", p->backends[i].hardware);
    }
    list = json_add_array(target, "context_lengths");
    for (size_t i = 0; i < p->context_count; i++)
        json_add_text(list, NULL, text_tokens(p->contexts_tokens[i], number));
    list = json_add_array(doc, "required");
    for (size_t i = 0; i < POLICY_ITEMS; i++)
        if (p->required[i])
            json_add_text(list, NULL, verdict_item_name((enum verdict_item)i));
    json_add_text(doc, "fail_on", verdict_status_name(p->fail_on));
    for (size_t i = 0; i < THRESHOLD_SECTIONS; i++) {
        const char *section = threshold_section(i);
        threshold_write(section, p, json_add_object(doc, section));
    }
    json_print(doc, false, b);
    json_free(doc);
}

uint64_t policy_context_max(const struct policy *p)
{
    return p->contexts_tokens[p->context_count - 1];
}

void policy_release(struct policy *p)
{
    mem_arena_release(&p->arena);
    *p = (struct policy){0};
}
