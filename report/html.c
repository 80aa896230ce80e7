#include "report/html.h"
#include "core/clock.h"
#include "core/text.h"
#include "report/words.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A UTF-8 character at s: its bytes (1 for a stray byte) and code point. */
static size_t decode(const unsigned char *s, uint32_t *ret_code)
{
    size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc0 ? 2 : 1;
    uint32_t code = n == 1 ? s[0] : s[0] & (0xffu >> (n + 1));

    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            *ret_code = s[0];
            return 1;
        }
        code = code << 6 | (s[i] & 0x3f);
    }
    *ret_code = code;
    return n;
}

/* Characters that make one name look like another: zero width, direction controls, line
 * separators, invisible operators, language tags. */
static bool hidden(uint32_t c)
{
    return c == 0xad || c == 0x61c || c == 0x180e || (c >= 0x200b && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
           (c >= 0xe0000 && c <= 0xe007f);
}

void html_text(struct buf *b, const char *s)
{
    struct buf shown;
    bool any = false;

    if (!s)
        return;
    buf_init(&shown, SIZE_MAX / 2);
    for (size_t i = 0, n; s[i]; i += n) {
        uint32_t code;
        n = decode((const unsigned char *)s + i, &code);
        if (n > 1 && hidden(code)) {
            buf_addf(&shown, "[U+%04" PRIX32 "]", code);
            any = true;
        } else {
            buf_add(&shown, s + i, n);
        }
    }
    text_escape_html(b, any ? shown.data : s);
    buf_release(&shown);
}

void html_int(struct buf *b, int64_t n)
{
    buf_addf(b, "%" PRId64, n);
}

void html_coord(struct buf *b, double x)
{
    double tenths = round(x * 10);

    if (!isfinite(tenths) || fabs(tenths) > 1e9)
        tenths = 0;
    int64_t t = (int64_t)tenths;
    if (t % 10)
        buf_addf(b, "%s%" PRId64 ".%d", t < 0 ? "-" : "", (t < 0 ? -t : t) / 10,
                 (int)((t < 0 ? -t : t) % 10));
    else
        buf_addf(b, "%" PRId64, t / 10);
}

void html_count(struct buf *b, uint64_t n)
{
    char number[TEXT_NUMBER_BYTES];

    html_text(b, text_count(n, number));
}

void html_bytes(struct buf *b, uint64_t bytes)
{
    char number[TEXT_NUMBER_BYTES];

    if (bytes < 1000) {
        html_count(b, bytes);
        html_lit(b, " B");
        return;
    }
    html_text(b, text_bytes(bytes, number));
    html_lit(b, " <small>");
    html_count(b, bytes);
    html_lit(b, " B</small>");
}

void html_date(struct buf *b, int64_t unix_seconds)
{
    char text[CLOCK_TEXT_BYTES];

    clock_format(unix_seconds, text);
    if (strlen(text) == 20) { /* 2026-11-29T02:14:05Z */
        text[10] = ' ';
        text[16] = '\0';
        html_text(b, text);
        html_lit(b, " UTC");
    } else {
        html_lit(b, "date unknown");
    }
}

void html_prose(struct buf *b, const char *s)
{
    while (s && *s) {
        size_t plain = strcspn(s, "`");
        const char *end = s[plain] ? strchr(s + plain + 1, '`') : NULL;
        struct buf part;

        if (!end) { /* an odd backtick is text */
            html_text(b, s);
            return;
        }
        buf_init(&part, SIZE_MAX / 2);
        buf_add(&part, s, plain);
        html_text(b, part.data);
        buf_release(&part);
        buf_init(&part, SIZE_MAX / 2);
        buf_add(&part, s + plain + 1, (size_t)(end - s) - plain - 1);
        html_code(b, part.data);
        buf_release(&part);
        s = end + 1;
    }
}

void html_code(struct buf *b, const char *s)
{
    html_lit(b, "<code>");
    html_text(b, s);
    html_lit(b, "</code>");
}

void html_mark(struct buf *b, enum verdict_status s, const char *word)
{
    switch (s) {
    case VERDICT_PASS: html_lit(b, "<span class=\"st ok\">"); break;
    case VERDICT_WARN: html_lit(b, "<span class=\"st warn\">"); break;
    case VERDICT_FAIL: html_lit(b, "<span class=\"st no\">"); break;
    case VERDICT_NOT_APPLICABLE: html_lit(b, "<span class=\"st na\">"); break;
    case VERDICT_UNKNOWN:
    default: html_lit(b, "<span class=\"st unk\">"); break;
    }
    html_text(b, verdict_status_mark(s));
    html_lit(b, " ");
    html_text(b, word);
    html_lit(b, "</span>");
}

void html_status(struct buf *b, enum verdict_status s)
{
    html_mark(b, s, s == VERDICT_WARN ? "warning" : verdict_status_name(s));
}

/* The inside of html_fact for a value that is known: a text may hold what a line cannot. */
static void known(struct buf *b, const struct fact *f)
{
    char words[WORDS_BYTES];

    if (fact_type(f->key) == FACT_INT && !strcmp(fact_unit(f->key), "bytes") && f->i >= 0)
        html_bytes(b, (uint64_t)f->i);
    else
        html_text(b, words_fact(f, words));
}

void html_fact(struct buf *b, const struct fact *f)
{
    if (!f) {
        html_lit(b, "<span class=\"dim\">not recorded</span>");
    } else if (f->state == FACT_ABSENT) {
        html_lit(b, "none");
    } else if (f->state == FACT_UNKNOWN) {
        html_mark(b, VERDICT_UNKNOWN, "unknown");
        if (f->why && f->why[0]) {
            html_lit(b, " <small>");
            html_prose(b, f->why);
            html_lit(b, "</small>");
        }
    } else {
        known(b, f);
    }
}

void html_fact_short(struct buf *b, const struct fact *f)
{
    if (f && f->state == FACT_UNKNOWN)
        html_mark(b, VERDICT_UNKNOWN, "unknown");
    else
        html_fact(b, f);
}

#define LONG_TEXT 24 /* bytes from which a cell asks for room rather than break at each word */

void html_fact_cell(struct buf *b, const struct fact *f)
{
    const char *text = !f                         ? NULL
                       : f->state == FACT_UNKNOWN ? f->why
                       : f->state == FACT_KNOWN   ? f->text
                                                  : NULL;

    if (f && f->state == FACT_KNOWN && fact_type(f->key) != FACT_TEXT)
        html_lit(b, "<td class=\"n\">");
    else if (text && strlen(text) > LONG_TEXT)
        html_lit(b, "<td class=\"w\">");
    else
        html_lit(b, "<td>");
    html_fact(b, f);
    html_lit(b, "</td>");
}
