#include "model/index.h"
#include "probes/local.h"
#include <stdio.h>

int local_facts(const struct local *l, const struct fact_sink *sink, struct err *e)
{
    static const char source[] = "tensor headers";
    size_t whole;
    int rc;

    (void)local_shards(l, &whole);
    rc = fact_put_text(sink, FACT_SUBJECT_PATH, "", l->real_path, "file system", e);
    if (!rc)
        rc = fact_put_text(sink, FACT_SUBJECT_KIND, "", l->kind, "file system", e);
    if (!rc)
        rc = fact_put_int(sink, FACT_DISTRIBUTION_SHARDS, "", (int64_t)whole, source, e);
    if (!rc && l->has_index)
        rc = fact_put_int(sink, FACT_DISTRIBUTION_SHARDS_NAMED, "", (int64_t)l->index.shard_count,
                          INDEX_FILE, e);
    else if (!rc && l->has_gguf && l->gguf_parts > 1)
        rc = fact_put_int(sink, FACT_DISTRIBUTION_SHARDS_NAMED, "", (int64_t)l->gguf_parts,
                          "split.count of the GGUF metadata", e);
    else if (!rc)
        rc = fact_put_absent(sink, FACT_DISTRIBUTION_SHARDS_NAMED, "", "file system", e);
    for (size_t i = 0; i < l->file_count && !rc; i++) {
        const struct local_file *f = &l->files[i];
        char text[ERR_MSG_BYTES + 32];
        if (f->role != LOCAL_SHARD || f->state == LOCAL_OK)
            continue;
        snprintf(text, sizeof(text), "%s: %s", local_state_name(f->state), f->message);
        rc = fact_put_text(sink, FACT_DISTRIBUTION_PROBLEM, f->path, text, source, e);
    }
    return rc;
}
