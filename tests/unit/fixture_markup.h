#ifndef FIXTURE_MARKUP_H
#define FIXTURE_MARKUP_H
/* A strict reader of the markup that report/ writes: each element closed in order, each attribute
 * in double quotes, every & one of five entities, and no element or attribute beyond the few that
 * the report uses. Whatever got through unescaped breaks one of these. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MARKUP_DEPTH 64

struct markup {
    const char *at;
    const char *open[MARKUP_DEPTH];
    size_t open_bytes[MARKUP_DEPTH];
    size_t depth;
    size_t elements;
    char fault[200]; /* "" while all is well */
};

static inline bool markup_word(const char *s, size_t n, const char *words)
{
    for (const char *w = words; *w; w += strcspn(w, " "), w += *w == ' ')
        if (strcspn(w, " ") == n && !strncmp(w, s, n))
            return true;
    return false;
}

static inline void markup_fail(struct markup *m, const char *what)
{
    if (!m->fault[0])
        (void)snprintf(m->fault, sizeof(m->fault), "%s at: %.100s", what, m->at);
}

static inline void markup_text(struct markup *m, const char *stop)
{
    while (*m->at && !strchr(stop, *m->at)) {
        if (*m->at == '&' && strncmp(m->at, "&amp;", 5) && strncmp(m->at, "&lt;", 4) &&
            strncmp(m->at, "&gt;", 4) && strncmp(m->at, "&quot;", 6) && strncmp(m->at, "&#39;", 5))
            markup_fail(m, "a stray &");
        if (*m->at == '>' || *m->at == '"' || *m->at == '\'')
            if (strchr(stop, '<') == NULL || *m->at == '>')
                markup_fail(m, "a stray > or quote");
        m->at++;
    }
}

static inline void markup_attributes(struct markup *m)
{
    while (*m->at == ' ') {
        m->at++;
        size_t n = strspn(m->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789");
        if (!markup_word(m->at, n,
                         "lang charset name content http-equiv class id href role aria-label scope "
                         "tabindex colspan rowspan viewBox x y x1 x2 y1 y2 dy d width height "
                         "text-anchor"))
            markup_fail(m, "an attribute that the report does not use");
        m->at += n;
        if (strncmp(m->at, "=\"", 2) != 0) {
            markup_fail(m, "an attribute without a quoted value");
            return;
        }
        m->at += 2;
        const char *start = m->at;
        while (*m->at && *m->at != '"') {
            if (*m->at == '<' || *m->at == '>')
                markup_fail(m, "< or > in an attribute");
            m->at++;
        }
        if (m->at == start + 0 && *m->at != '"')
            markup_fail(m, "an attribute that does not end");
        if (*m->at)
            m->at++;
    }
}

static inline void markup_tag(struct markup *m)
{
    bool closing = m->at[1] == '/';
    const char *name = m->at + 1 + closing;
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789");

    if (!markup_word(name, n,
                     "html head meta title style body main header nav p h1 h2 h3 a b i br small "
                     "code pre span div ol ul li table thead tbody tr th td details summary figure "
                     "figcaption svg path line rect text tspan"))
        markup_fail(m, "an element that the report does not use");
    if (closing) {
        if (!m->depth || m->open_bytes[m->depth - 1] != n ||
            strncmp(m->open[m->depth - 1], name, n) != 0)
            markup_fail(m, "an end without its start");
        else
            m->depth--;
        m->at = name + n;
    } else {
        m->elements++;
        m->at = name + n;
        markup_attributes(m);
        if (*m->at == '/') {
            m->at++;
        } else if (!markup_word(name, n, "meta br")) {
            if (m->depth == MARKUP_DEPTH) {
                markup_fail(m, "elements nested too deep");
                return;
            }
            m->open[m->depth] = name;
            m->open_bytes[m->depth++] = n;
        }
    }
    if (*m->at != '>')
        markup_fail(m, "a tag that does not end");
    else
        m->at++;
    if (!closing && markup_word(name, n, "style")) {
        const char *end = strstr(m->at, "</style>");
        m->at = end ? end : m->at;
    }
}

/* Reads a fragment or a page; the result's fault is "" if it is well-formed. */
static inline struct markup markup_read(const char *html)
{
    struct markup m = {.at = html};

    if (!strncmp(m.at, "<!doctype html>\n", 16))
        m.at += 16;
    while (*m.at && !m.fault[0]) {
        if (*m.at == '<')
            markup_tag(&m);
        else
            markup_text(&m, "<");
    }
    if (!m.fault[0] && m.depth)
        (void)snprintf(m.fault, sizeof(m.fault), "not closed: %.20s", m.open[m.depth - 1]);
    return m;
}

#endif
