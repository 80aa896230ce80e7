#include "report/summary.h"
#include "core/text.h"
#include <string.h>

#define INDENT_ITEM 29 /* columns before an item's sentence */
#define INDENT_UNKNOWN 4

/* Columns that UTF-8 text takes: its characters, which is right for the scripts that reports use.
 */
static size_t columns(const char *s, size_t bytes)
{
    size_t n = 0;

    for (size_t i = 0; i < bytes; i++)
        n += ((unsigned char)s[i] & 0xc0) != 0x80;
    return n;
}

static void pad(struct buf *b, size_t n)
{
    while (n--)
        buf_addc(b, ' ');
}

/* Words of s, escaped, from column `at` on, broken at SUMMARY_WIDTH and indented. A word that is
 * longer than a line stands alone: a path or a command must stay whole to be copied. */
static size_t wrap(struct buf *b, const char *s, size_t at, size_t indent)
{
    struct buf plain;
    const char *word;

    buf_init(&plain, SIZE_MAX / 2);
    text_escape_plain(&plain, s);
    for (word = plain.data; *word;) {
        size_t n = strcspn(word, " "), wide = columns(word, n);
        if (at > indent && at + wide + 1 > SUMMARY_WIDTH) {
            buf_addc(b, '\n');
            pad(b, indent);
            at = indent;
        } else if (at > indent) {
            buf_addc(b, ' ');
            at++;
        }
        buf_add(b, word, n);
        at += wide;
        word += n + (word[n] == ' ');
    }
    buf_release(&plain);
    return at;
}

static void line_end(struct buf *b)
{
    buf_addc(b, '\n');
}

/* Text to a column, so that a table stands straight. */
static void cell(struct buf *b, const char *s, size_t width)
{
    size_t n = columns(s, strlen(s));

    buf_adds(b, s);
    pad(b, n < width ? width - n : 1);
}

static void headline(const struct view *v, enum verdict_item item, struct buf *b)
{
    const struct verdict *s = view_sum(v, item);

    cell(b, verdict_item_title(item), 15);
    cell(b, verdict_status_mark(s ? s->status : VERDICT_UNKNOWN), 2);
    if (!s) {
        buf_adds(b, "Unknown. This run did not judge it.\n");
        return;
    }
    size_t at = wrap(b, s->title[0] ? s->title : verdict_status_name(s->status), 17, 17);
    buf_addc(b, '.');
    wrap(b, s->text, at + 1, 17);
    line_end(b);
}

static void item_line(const struct view *v, enum verdict_item item, struct buf *b)
{
    const struct verdict *s = view_sum(v, item);
    enum verdict_status status = s ? s->status : VERDICT_UNKNOWN;

    buf_addf(b, "  %d ", (int)item + 1);
    cell(b, verdict_item_title(item), 15);
    cell(b, verdict_status_mark(status), 2);
    cell(b, status == VERDICT_NOT_APPLICABLE ? "n/a" : verdict_status_name(status), 8);
    wrap(b, s ? s->text : "This run did not judge it.", INDENT_ITEM, INDENT_ITEM);
    line_end(b);
}

static void unknown(const char *title, const struct verdict *r, struct buf *b)
{
    buf_adds(b, "  ? ");
    size_t at = wrap(b, title, INDENT_UNKNOWN, INDENT_UNKNOWN);
    buf_addc(b, ':');
    at = wrap(b, r->text, at + 1, INDENT_UNKNOWN);
    if (r->advice[0])
        wrap(b, r->advice, at, INDENT_UNKNOWN);
    line_end(b);
}

/* Unknown rules of an item; its sum if no rule says more. */
static void item_unknowns(const struct view *v, enum verdict_item item, bool *heading,
                          struct buf *b)
{
    const struct verdict *sum = view_sum(v, item);
    bool any = false;

    for (size_t pass = 0; pass < 2 && !any; pass++)
        for (size_t i = 0; i < v->verdict_count; i++) {
            const struct verdict *r = &v->verdicts[i];
            if (r->item != item || r->status != VERDICT_UNKNOWN || (pass ? r != sum : r->sum))
                continue;
            if (!*heading)
                buf_adds(b, "\nNot known\n");
            *heading = any = true;
            unknown(verdict_item_title(item), r, b);
        }
}

void summary_write(const struct view *v, const char *report_path, struct buf *b)
{
    bool heading = false;

    text_escape_plain(b, v->subject);
    if (v->run > 0)
        buf_addf(b, "\nrun %lld, policy ", (long long)v->run);
    else
        buf_adds(b, "\nrun not recorded, policy ");
    text_escape_plain(b, v->policy_name ? v->policy_name : "");
    buf_adds(b, "\nsnapshot ");
    text_escape_plain(b, v->digest ? v->digest : "? no digest: a weight file could not be read");
    buf_adds(b, "\n\n");
    headline(v, VERDICT_DISTRIBUTION, b);
    headline(v, VERDICT_READINESS, b);
    line_end(b);
    for (enum verdict_item i = VERDICT_FORMATS; i < VERDICT_DISTRIBUTION; i++)
        item_line(v, i, b);
    for (enum verdict_item i = VERDICT_FORMATS; i <= VERDICT_DISTRIBUTION; i++)
        item_unknowns(v, i, &heading, b);
    if (report_path) {
        buf_adds(b, "\nreport: ");
        text_escape_plain(b, report_path);
        line_end(b);
    }
}
