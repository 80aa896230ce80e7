#include "audit/cmd_list.h"
#include "audit/sample.h"
#include "core/json.h"
#include "core/text.h"
#include <stdio.h>

int cmd_sample(const struct options *o)
{
    char size[TEXT_NUMBER_BYTES], plain[512];
    struct sample_result r = {0};
    struct err e = {0};

    if (sample_write(o->args[0], o->seed, o->force, &r, &e))
        return cmd_fail(o, &e);
    if (!o->json) {
        printf("%s: %u files, %s of weights, seed %llu\n",
               text_plain(o->args[0], plain, sizeof(plain)), r.files, text_bytes(r.bytes, size),
               (unsigned long long)o->seed);
        return CMD_YES;
    }
    struct cJSON *doc = json_object();
    json_add_text(doc, "folder", o->args[0]);
    json_add_u64(doc, "files", r.files);
    json_add_u64(doc, "bytes", r.bytes);
    json_add_u64(doc, "seed", o->seed);
    return cmd_print_json(o, doc, CMD_YES);
}
