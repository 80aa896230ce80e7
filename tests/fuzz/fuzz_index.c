/* A shard index as it may come from anywhere, compared with an inventory of one tensor. */
#include "core/text.h"
#include "model/index.h"
#include "model/inventory.h"
#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    static const char header[] = "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}";
    struct finding_list findings = {0};
    struct inventory inv = {0};
    struct shard_index x;
    struct err e = {0};

    if (index_parse((const char *)p, n, &findings, &x, &e) == 0) {
        for (size_t i = 0; i < x.count; i++) {
            assert(x.entries[i].shard < x.shard_count);
            assert(text_utf8_valid(x.entries[i].name, strlen(x.entries[i].name)));
            assert(i == 0 || strcmp(x.entries[i - 1].name, x.entries[i].name) < 0);
        }
        for (size_t i = 0; i < x.shard_count; i++) {
            assert(index_check_shard(x.shards[i], &e) == 0);
            assert(index_find_shard(&x, x.shards[i]) == (long)i);
        }
        int rc = inventory_add_safetensors(&inv, "s1", 8 + sizeof(header), header,
                                           sizeof(header) - 1, &findings, &e);
        assert(rc == 0 && inventory_finish(&inv, &x, &findings, &e) == 0 && inv.count == 1);
        (void)rc;
        index_release(&x);
    }
    inventory_release(&inv);
    finding_list_release(&findings);
    return 0;
}
