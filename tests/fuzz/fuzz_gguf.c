/* A GGUF file as it may come from anywhere: header in windows of two sizes, set, model, formats. */
#include "core/text.h"
#include "model/container.h"
#include "model/cost.h"
#include "model/gguf_formats.h"
#include "model/gguf_model.h"
#include "model/gguf_pairs.h"
#include "model/gguf_set.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

/* What every header that was taken promises. */
static void check(const struct gguf *g)
{
    uint64_t end = g->data_offset;

    assert(g->alignment && (g->alignment & (g->alignment - 1)) == 0);
    assert(g->data_offset >= g->header_bytes && g->data_offset % g->alignment == 0);
    for (size_t i = 0; i < g->count; i++) {
        const struct tensor *t = &g->tensors[i];
        assert(t->offset >= end && t->offset % g->alignment == 0);
        assert(t->dims <= GGUF_DIMS_MAX && t->dtype_text);
        assert(text_utf8_valid(t->name, strlen(t->name)));
        end = t->offset + t->bytes;
        assert(end >= t->offset && end <= g->end_bytes);
    }
    for (size_t i = 1; i < g->pair_count; i++)
        assert(strcmp(g->pairs[i - 1].key, g->pairs[i].key) < 0);
}

static void use(struct gguf_part *part, size_t n, struct finding_list *findings)
{
    const struct gguf *g = &part->gguf;
    struct inventory inv = {0}, renamed = {0};
    struct inventory_shard shard = {.path = part->path,
                                    .file_bytes = g->end_bytes,
                                    .end_bytes = g->end_bytes,
                                    .data_offset = g->data_offset,
                                    .tensors = g->count};
    char value[GGUF_FORMATS_VALUE_BYTES];
    struct quant_observed *o = calloc(1, sizeof(*o));
    struct gguf_set set;
    struct model m;
    struct cost cost;
    struct err e = {0};

    assert(o);
    (void)gguf_check_size(g, n, &e);
    gguf_set_check(part, 1, findings, &set);
    for (size_t i = 0; i < g->pair_count; i++)
        (void)gguf_formats_value(&g->pairs[i], value);
    if (inventory_add_tensors(&inv, &shard, g->tensors, &e) == 0 &&
        inventory_finish(&inv, NULL, findings, &e) == 0) {
        assert(inv.count == g->count);
        gguf_formats_observed(&inv, o);
        if (gguf_model_build(g, &inv, findings, &m, &renamed, &e) == 0) {
            assert(renamed.stored_bytes == inv.stored_bytes);
            if (cost_of(&m, &cost, &e) == 0)
                cost_release(&cost);
            model_release(&m);
            inventory_release(&renamed);
        }
    }
    inventory_release(&inv);
    free(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    struct finding_list findings = {0};
    struct gguf_part part = {.path = "f-00001-of-00002.gguf"};
    struct gguf again;
    struct err e = {0}, other = {0};
    bool more = true, half_more = true;
    char *copy = malloc(n ? n : 1); /* of its own, so that a read past the end is seen */

    assert(copy);
    memcpy(copy, p, n);
    (void)container_of("f.bin", copy, n < CONTAINER_BYTES ? n : CONTAINER_BYTES, n);
    int rc = gguf_parse(part.path, copy, n, n, &findings, &more, &part.gguf, &e);
    assert(rc || !more);
    /* half of the file: more is asked for, or the same is said */
    char *half = malloc(n / 2 + 1);
    assert(half);
    memcpy(half, p, n / 2);
    int rc2 = gguf_parse(part.path, half, n / 2, n, &findings, &half_more, &again, &other);
    if (rc2 == 0 && !half_more) {
        assert(rc == 0 && again.count == part.gguf.count);
        gguf_release(&again);
    } else if (rc2) {
        assert(rc == rc2 && strcmp(e.msg, other.msg) == 0);
    }
    if (rc == 0) {
        check(&part.gguf);
        use(&part, n, &findings);
        gguf_release(&part.gguf);
    }
    free(half);
    free(copy);
    finding_list_release(&findings);
    return 0;
}
