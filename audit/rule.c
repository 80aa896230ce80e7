#include "audit/rule.h"
#include "core/text.h"
#include "report/words.h"
#include <assert.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rule_start(struct rule *r)
{
    r->status = VERDICT_NOT_APPLICABLE;
    r->cited_count = 0;
    r->title = "";
    buf_init(&r->text, RULE_TEXT_BYTES_MAX);
    buf_init(&r->brief, RULE_TEXT_BYTES_MAX);
    buf_init(&r->advice, RULE_TEXT_BYTES_MAX);
}

void rule_judge(struct rule *r, enum verdict_status status)
{
    r->status = verdict_worse(r->status, status);
}

void rule_cite(struct rule *r, const struct fact *f)
{
    size_t i;

    if (!f)
        return;
    i = (size_t)(f - r->facts->items);
    assert(i < r->facts->count);
    for (size_t j = 0; j < r->cited_count; j++)
        if (r->cited[j] == i)
            return;
    r->cited = mem_grow(r->cited, &r->cited_cap, r->cited_count + 1, sizeof *r->cited);
    r->cited[r->cited_count++] = i;
}

static void __attribute__((format(printf, 2, 0))) add(struct buf *b, const char *fmt, va_list args)
{
    char line[2 * RULE_NAME_BYTES + 1024];
    int n = vsnprintf(line, sizeof line, fmt, args);

    /* each %s is a bounded name or number of ours */
    assert(n >= 0 && (size_t)n < sizeof line);
    buf_add(b, line, (size_t)n);
}

void rule_say(struct rule *r, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    add(&r->text, fmt, args);
    va_end(args);
}

void rule_brief(struct rule *r, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    add(&r->brief, fmt, args);
    va_end(args);
}

void rule_advise(struct rule *r, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    add(&r->advice, fmt, args);
    va_end(args);
}

/* The text of a buffer, in the set's arena; releases the buffer. */
static const char *keep(struct rule *r, struct buf *b)
{
    char *s;

    assert(!b->over);
    while (b->len && b->data[b->len - 1] == ' ')
        b->len--;
    s = mem_arena_strndup(&r->set->arena, b->len ? b->data : "", b->len);
    buf_release(b);
    return s;
}

void rule_end(struct rule *r)
{
    struct verdict_set *s = r->set;
    size_t bytes = r->cited_count * sizeof *r->cited;
    size_t *facts = mem_arena_alloc(&s->arena, bytes ? bytes : 1);
    struct verdict *v;

    if (bytes)
        memcpy(facts, r->cited, bytes);
    s->items = mem_grow(s->items, &s->cap, s->count + 1, sizeof *s->items);
    r->briefs = mem_grow(r->briefs, &r->brief_cap, s->count + 1, sizeof *r->briefs);
    r->briefs[s->count] = keep(r, &r->brief);
    v = &s->items[s->count++];
    *v = (struct verdict){.item = r->item,
                          .rule = r->id,
                          .status = r->status,
                          .title = r->title,
                          .text = keep(r, &r->text),
                          .advice = keep(r, &r->advice),
                          .facts = facts,
                          .fact_count = r->cited_count};
    v->required = (size_t)r->item < POLICY_ITEMS && r->policy->required[r->item];
}

void rule_drop(struct rule *r)
{
    buf_release(&r->text);
    buf_release(&r->brief);
    buf_release(&r->advice);
}

void rule_list_add(struct rule *r, struct rule_list *l, const char *fmt, ...)
{
    va_list args;

    if (l->count++ >= RULE_LIST_MAX)
        return;
    if (l->count > 1)
        buf_adds(&r->text, l->separator ? l->separator : ", ");
    va_start(args, fmt);
    add(&r->text, fmt, args);
    va_end(args);
}

void rule_list_end(struct rule *r, const struct rule_list *l)
{
    if (l->count > RULE_LIST_MAX)
        rule_say(r, " and %zu more", l->count - RULE_LIST_MAX);
}

const char *rule_plain(const char *s, char ret[RULE_NAME_BYTES])
{
    return text_plain(s, ret, RULE_NAME_BYTES);
}

const char *rule_kind(const char *kind, char ret[RULE_NAME_BYTES])
{
    char words[WORDS_BYTES];

    return rule_plain(words_kind(kind, words), ret);
}

const char *rule_backend(const char *name, char ret[RULE_NAME_BYTES])
{
    char words[WORDS_BYTES];

    return rule_plain(words_backend(name, words), ret);
}

const char *rule_count(uint64_t n, const char *noun, char ret[RULE_NAME_BYTES])
{
    char number[TEXT_NUMBER_BYTES];

    snprintf(ret, RULE_NAME_BYTES, "%s %s%s", text_count(n, number), noun,
             n == 1                 ? ""
             : text_ends(noun, "s") ? "es"
                                    : "s");
    return ret;
}

const char *rule_why(const struct fact *f, const char *otherwise, char ret[RULE_NAME_BYTES])
{
    if (f && f->state == FACT_UNKNOWN && f->why && f->why[0])
        return rule_plain(f->why, ret);
    return rule_plain(otherwise, ret);
}

const struct fact *rule_known(const struct rule *r, enum fact_key key, const char *scope)
{
    const struct fact *f = fact_list_find(r->facts, key, scope);

    return f && f->state == FACT_KNOWN ? f : NULL;
}

const struct fact *rule_next(const struct rule *r, enum fact_key key, const struct fact *after)
{
    size_t i = after ? (size_t)(after - r->facts->items) + 1 : 0;

    for (; i < r->facts->count; i++)
        if (r->facts->items[i].key == key)
            return &r->facts->items[i];
    return NULL;
}

bool rule_word(const char *s, const char *word)
{
    size_t n = strlen(word);

    return s && strncmp(s, word, n) == 0 && !isalpha((unsigned char)s[n]);
}

bool rule_broken(const struct fact *problem)
{
    static const char *const words[] = {"missing", "empty", "short", "long", "malformed"};

    if (problem->state == FACT_KNOWN)
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
            if (rule_word(problem->text, words[i]))
                return true;
    return false;
}
