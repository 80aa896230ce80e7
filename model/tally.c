#include "model/tally.h"
#include "core/buf.h"
#include "core/text.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Keeps the lowest layers, in order: names come sorted by their bytes, 10 before 2. */
static void name_layer(uint32_t named[TALLY_NAMED], uint64_t count, uint32_t layer)
{
    size_t i = count < TALLY_NAMED ? (size_t)count : TALLY_NAMED;
    if (i == TALLY_NAMED && named[--i] < layer)
        return;
    for (; i > 0 && named[i - 1] > layer; i--)
        named[i] = named[i - 1];
    named[i] = layer;
}

void tally_add(struct tally *t, enum finding_severity severity, const char *code, uint32_t layer,
               const char *fmt, ...)
{
    char raw[TALLY_TEXT_BYTES], text[TALLY_TEXT_BYTES];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(raw, sizeof raw, fmt, ap);
    va_end(ap);
    text_plain(raw, text, sizeof text);
    size_t i = 0;
    while (i < t->count && (strcmp(t->entries[i].code, code) || strcmp(t->entries[i].text, text)))
        i++;
    if (i == TALLY_ENTRIES_MAX) {
        t->dropped++;
        return;
    }
    if (i == t->count) {
        t->count++;
        t->entries[i].severity = severity;
        t->entries[i].code = code;
        memcpy(t->entries[i].text, text, sizeof text);
        t->entries[i].count = 0;
    } else if (layer != TALLY_NO_LAYER && t->entries[i].last == layer) {
        return;
    }
    name_layer(t->entries[i].layers, t->entries[i].count, layer);
    t->entries[i].last = layer;
    t->entries[i].count++;
}

void tally_report(const struct tally *t, struct finding_list *findings)
{
    if (!findings)
        return;
    for (size_t i = 0; i < t->count; i++) {
        struct buf b;
        uint64_t n = t->entries[i].count;
        buf_init(&b, 256);
        if (t->entries[i].last != TALLY_NO_LAYER) {
            buf_adds(&b, n == 1 ? " in layer " : " in layers ");
            for (uint64_t k = 0; k < n && k < TALLY_NAMED; k++)
                buf_addf(&b, "%s%u", k ? ", " : "", t->entries[i].layers[k]);
            if (n > TALLY_NAMED)
                buf_addf(&b, " and %llu more", (unsigned long long)(n - TALLY_NAMED));
        }
        finding_add(findings, t->entries[i].severity, t->entries[i].code, "%s%s.",
                    t->entries[i].text, b.data ? b.data : "");
        buf_release(&b);
    }
    if (t->dropped)
        finding_add(findings, FINDING_WARN, "config-tensor-differs",
                    "%llu more differences between config and tensors, of other kinds.",
                    (unsigned long long)t->dropped);
}
