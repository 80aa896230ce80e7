/* core/json: whatever the bytes, parsing ends in a document or in an error with words. A document
 * prints, and what was printed is read again and prints the same. */
#include "core/json.h"
#include "core/text.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void try_once(const char *text, size_t n, unsigned *odd)
{
    struct cJSON *doc = NULL, *again = NULL;
    struct err e = {0};
    struct buf one, two;

    int rc = json_parse(text, n, &doc, odd, &e);
    if (rc) {
        must(rc == (int)e.code && (rc == ERR_FORMAT || rc == ERR_LIMIT));
        must(!doc && e.msg[0] && text_utf8_valid(e.msg, strlen(e.msg)));
        return;
    }
    buf_init(&one, 256u << 20);
    buf_init(&two, 256u << 20);
    json_print(doc, n % 2, &one);
    must(text_utf8_valid(one.data, one.len));
    must(json_parse(one.data, one.len, &again, NULL, &e) == 0);
    json_print(again, n % 2, &two);
    must(one.len == two.len && memcmp(one.data, two.data, one.len) == 0);
    buf_release(&one);
    buf_release(&two);
    json_free(doc);
    json_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    unsigned odd;

    try_once((const char *)p, n, NULL);
    try_once((const char *)p, n, &odd);
    return 0;
}
