#include "report/page.h"
#include "report/html.h"
#include "report/section.h"

static const char style[] = {
#include "report/style.css.inc"
};

/* The digest of style.css, which the page allows and nothing else: no other style, no script, no
 * image, no font, no connection, no form. It stands here as a literal because report/ links no
 * hash; test_page computes it anew and says the new value when style.css has changed. */
#define STYLE_SHA256 "QCy/U6PN7u0PoF+1VymsF/xjGJPVZLwio1IaoUZA94U="

static void head(const struct view *v, struct buf *b)
{
    html_lit(b, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                "<meta name=\"color-scheme\" content=\"light dark\">\n"
                "<meta name=\"referrer\" content=\"no-referrer\">\n"
                "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                "style-src 'sha256-" STYLE_SHA256 "'; base-uri 'none'; form-action 'none'\">\n"
                "<title>Readiness of ");
    html_text(b, v->subject);
    html_lit(b, "</title>\n<style>");
    buf_add(b, style,
            sizeof(style)); /* ours, and the digest above would stop the page if it were not */
    html_lit(b, "</style></head>\n<body><main>\n");
}

void page_write(const struct view *v, struct buf *b)
{
    struct lookup l;

    lookup_init(&l, v);
    head(v, b);
    section_header(&l, b);
    section_unknowns(&l, b);
    section_model(&l, b);
    section_formats(&l, b);
    section_operators(&l, b);
    section_context(&l, b);
    section_experts(&l, b);
    section_fingerprint(&l, b);
    section_distribution(&l, b);
    section_evidence(&l, b);
    html_lit(b, "</main></body></html>\n");
    lookup_release(&l);
}
