#include "model/quant_pattern.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/text.h"
#include <fnmatch.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct quant_pattern {
    enum quant_pattern_style style;
    const char **literals; /* sorted; the strings belong to the JSON document */
    size_t literal_count, literal_cap;
    const char *globs[QUANT_PATTERN_EXPRESSIONS_MAX];
    size_t glob_count;
    regex_t expressions[QUANT_PATTERN_EXPRESSIONS_MAX];
    size_t expression_count;
    char why[160]; /* "" while everything could be read */
};

static void unsure(struct quant_pattern *p, const char *what, const char *pattern)
{
    char safe[96];
    if (!p->why[0])
        snprintf(p->why, sizeof p->why, "%s: %s", what, text_plain(pattern, safe, sizeof safe));
}

/* True if Python and POSIX read the expression alike: literals, dots, groups, choices, plain
 * brackets, greedy * + ? and escaped punctuation. Matching the start of a name does not depend on
 * which of several matches is preferred. */
static bool common(const char *s)
{
    bool repeated = false;
    for (; *s; s++) {
        bool repeats = *s == '*' || *s == '+' || *s == '?';
        if ((unsigned char)*s < 0x20 || (unsigned char)*s > 0x7e || *s == '{' || *s == '}')
            return false;
        if (repeats && repeated) /* lazy and possessive forms */
            return false;
        if (*s == '(' && s[1] == '?')
            return false;
        if (*s == '\\') {
            s++;
            if (!*s || !strchr(".*+?|()[]{}^$\\/-_", *s) || *s == '_')
                return false;
        } else if (*s == '[') {
            const char *end = strchr(s + 1, ']');
            if (!end || end == s + 1 || (s[1] == '^' && end == s + 2))
                return false;
            for (const char *q = s + 1; q < end; q++)
                if (*q == '\\' || *q == '[')
                    return false;
            s = end;
        }
        repeated = repeats;
    }
    return true;
}

static void add_expression(struct quant_pattern *p, const char *python)
{
    char anchored[QUANT_PATTERN_BYTES_MAX + 8];
    if (strlen(python) > QUANT_PATTERN_BYTES_MAX ||
        p->expression_count == QUANT_PATTERN_EXPRESSIONS_MAX) {
        unsure(p, "over the limit of 256 expressions of 256 bytes", python);
        return;
    }
    snprintf(anchored, sizeof anchored, "^(%s)", python);
    if (!*python || !common(python) ||
        regcomp(&p->expressions[p->expression_count], anchored, REG_EXTENDED | REG_NOSUB))
        unsure(p, "an expression that cannot be read exactly", python);
    else
        p->expression_count++;
}

static void add(struct quant_pattern *p, const char *text)
{
    if (p->style == QUANT_PATTERN_EXACT && text_starts(text, "re:")) {
        add_expression(p, text + strlen("re:"));
    } else if (p->style == QUANT_PATTERN_PARTS && strpbrk(text, "*?[")) {
        if (p->glob_count == QUANT_PATTERN_EXPRESSIONS_MAX)
            unsure(p, "over the limit of 256 shell patterns", text);
        else
            p->globs[p->glob_count++] = text;
    } else {
        p->literals =
            mem_grow(p->literals, &p->literal_cap, p->literal_count + 1, sizeof *p->literals);
        p->literals[p->literal_count++] = text;
    }
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct quant_pattern *quant_pattern_open(const struct cJSON *list, enum quant_pattern_style style)
{
    struct quant_pattern *p = mem_alloc(1, sizeof *p);
    p->style = style;
    enum json_kind kind = json_kind(list);
    if (kind != JSON_ARRAY && kind != JSON_NULL && kind != JSON_MISSING)
        unsure(p, "a list of modules is", json_kind_name(kind));
    for (const struct cJSON *v = json_first(kind == JSON_ARRAY ? list : NULL); v;
         v = json_next(v)) {
        const char *text;
        if (json_text(v, &text))
            add(p, text);
        else
            unsure(p, "a list of modules has", json_kind_name(json_kind(v)));
    }
    if (p->literal_count)
        qsort(p->literals, p->literal_count, sizeof *p->literals, by_text);
    return p;
}

void quant_pattern_close(struct quant_pattern *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->expression_count; i++)
        regfree(&p->expressions[i]);
    free(p->literals);
    free(p);
}

static bool literal(const struct quant_pattern *p, const char *name)
{
    return p->literal_count &&
           bsearch(&name, p->literals, p->literal_count, sizeof *p->literals, by_text);
}

/* The name itself, with its last parts left out, with its first parts left out. */
static bool parts(const struct quant_pattern *p, const char *name)
{
    char cut[512];
    size_t n = strlen(name);
    if (n >= sizeof cut)
        return false;
    memcpy(cut, name, n + 1);
    for (char *dot; (dot = strrchr(cut, '.'));) {
        *dot = '\0';
        if (literal(p, cut))
            return true;
    }
    for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.'))
        if (literal(p, dot + 1))
            return true;
    return false;
}

enum quant_pattern_answer quant_pattern_match(const struct quant_pattern *p, const char *name)
{
    if (literal(p, name) || (p->style == QUANT_PATTERN_PARTS && parts(p, name)))
        return QUANT_PATTERN_YES;
    for (size_t i = 0; i < p->glob_count; i++)
        if (!fnmatch(p->globs[i], name, 0))
            return QUANT_PATTERN_YES;
    for (size_t i = 0; i < p->expression_count; i++)
        if (!regexec(&p->expressions[i], name, 0, NULL, 0))
            return QUANT_PATTERN_YES;
    return p->why[0] ? QUANT_PATTERN_UNSURE : QUANT_PATTERN_NO;
}

const char *quant_pattern_why(const struct quant_pattern *p)
{
    return p->why;
}
