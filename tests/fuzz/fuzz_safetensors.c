/* A safetensors file as it may come from anywhere: length, header, sizes, other formats. */
#include "core/text.h"
#include "model/inventory.h"
#include "model/pointer.h"
#include "model/safetensors.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

/* What every header that was taken promises. */
static void check(const struct safetensors *s)
{
    uint64_t end = s->data_offset;

    for (size_t i = 0; i < s->count; i++) {
        const struct tensor *t = &s->tensors[i];
        assert(t->offset == end && text_utf8_valid(t->name, strlen(t->name)));
        assert(t->dims <= TENSOR_DIMS_MAX && t->dtype_text);
        if (t->dtype != DTYPE_UNKNOWN)
            assert(tensor_elements(t) * dtype_bits(t->dtype) == t->bytes * 8);
        end += t->bytes;
    }
    assert(end == s->end_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    struct finding_list findings = {0};
    struct inventory inv = {0};
    struct safetensors s;
    struct pointer pointer;
    struct err e = {0};
    uint64_t length;

    (void)safetensors_sniff(p, n);
    (void)pointer_parse((const char *)p, n, &pointer, &e);
    if (safetensors_header_bytes(p, n, n, &length, &e) == 0) {
        /* an allocation of its own, so that a read past the header is seen */
        char *header = malloc(length ? (size_t)length : 1);
        assert(header && length <= n - SAFETENSORS_PREFIX_BYTES);
        memcpy(header, p + SAFETENSORS_PREFIX_BYTES, (size_t)length);
        if (safetensors_parse("f", header, (size_t)length, &findings, &s, &e) == 0) {
            check(&s);
            (void)safetensors_check_size(&s, n, &e);
            if (inventory_add_header(&inv, "f", n, &s, &e) == 0 &&
                inventory_finish(&inv, NULL, &findings, &e) == 0)
                assert(inv.count == s.count && inv.stored_bytes == s.end_bytes - s.data_offset);
            safetensors_release(&s);
        }
        free(header);
    }
    inventory_release(&inv);
    finding_list_release(&findings);
    return 0;
}
