#include "probes/csv.h"
#include "core/text.h"
#include <string.h>

void csv_init(struct csv *c, const char *text, size_t bytes, const char *origin)
{
    *c = (struct csv){
        .p = text, .end = text + bytes, .line_start = text, .line = 1, .origin = origin};
}

bool csv_ended(const struct csv *c)
{
    return c->p == c->end;
}

static int refuse(const struct csv *c, const char *what, struct err *e)
{
    return err_set(e, ERR_FORMAT, "%s, line %zu, column %zu: %s", c->origin, c->line,
                   (size_t)(c->p - c->line_start) + 1, what);
}

/* Takes a line end if one is here. */
static bool line_end(struct csv *c)
{
    const char *p = c->p;

    if (p < c->end && *p == '\r' && c->end - p > 1 && p[1] == '\n')
        p++;
    if (p == c->end || *p != '\n')
        return false;
    c->p = p + 1;
    return true;
}

/* Adds the character here to the field and steps over it. */
static int take(struct csv *c, char *ret, size_t *n, struct err *e)
{
    unsigned char ch = (unsigned char)*c->p;

    if (ch < 0x20 || ch == 0x7f)
        return refuse(c, "a control character or line break inside a field", e);
    if (*n == CSV_FIELD_BYTES_MAX)
        return err_set(e, ERR_LIMIT,
                       "%s, line %zu: a field is longer than the limit of %d bytes; is a quote "
                       "not closed?",
                       c->origin, c->line, CSV_FIELD_BYTES_MAX);
    ret[(*n)++] = *c->p++;
    return 0;
}

/* The inside of a quoted field, the first quote taken already, up to and with the last quote. */
static int quoted(struct csv *c, char *ret, size_t *n, struct err *e)
{
    for (;;) {
        if (c->p == c->end)
            return refuse(c, "a quote is not closed", e);
        if (*c->p == '"') {
            c->p++;
            if (c->p == c->end || *c->p != '"')
                return 0;
        }
        int rc = take(c, ret, n, e);
        if (rc)
            return rc;
    }
}

/* One field with the comma or line end behind it. *ret_last tells that the line ended. */
static int field(struct csv *c, char *ret, bool *ret_last, struct err *e)
{
    size_t n = 0;
    bool was_quoted = c->p < c->end && *c->p == '"';
    int rc = 0;

    if (was_quoted) {
        c->p++;
        rc = quoted(c, ret, &n, e);
    }
    while (!rc) {
        *ret_last = c->p == c->end || line_end(c);
        if (*ret_last || *c->p == ',') {
            c->p += !*ret_last;
            break;
        }
        if (was_quoted)
            rc = refuse(c, "text after a closing quote", e);
        else if (*c->p == '"')
            rc = refuse(c, "a quote inside a field that does not begin with one", e);
        else
            rc = take(c, ret, &n, e);
    }
    ret[n] = 0;
    if (!rc && !text_utf8_valid(ret, n))
        rc = refuse(c, "the field before this is no UTF-8", e);
    return rc;
}

int csv_read(struct csv *c, char (*fields)[CSV_FIELD_BYTES_MAX + 1], int n, struct err *e)
{
    bool last = false;

    c->line_start = c->p;
    for (int i = 0; i < n; i++) {
        int rc = field(c, fields[i], &last, e);
        if (rc)
            return rc;
        if (last != (i == n - 1))
            return err_set(e, ERR_FORMAT, "%s, line %zu: %s than the %d fields of the header",
                           c->origin, c->line, last ? "fewer" : "more", n);
    }
    c->line++;
    return 0;
}

bool csv_take_line(struct csv *c, const char *text)
{
    struct csv after = *c;
    size_t n = strlen(text);

    if ((size_t)(c->end - c->p) < n || memcmp(c->p, text, n) != 0)
        return false;
    after.p += n;
    if (after.p != after.end && !line_end(&after))
        return false;
    after.line++;
    *c = after;
    return true;
}
