#include "model/inventory.h"
#include "core/text.h"
#include "model/index.h"
#include "model/safetensors.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void inventory_release(struct inventory *inv)
{
    free(inv->tensors);
    free(inv->shards);
    mem_arena_release(&inv->arena);
    *inv = (struct inventory){0};
}

static char *keep(struct inventory *inv, const char *s)
{
    return mem_arena_strndup(&inv->arena, s, strlen(s));
}

int inventory_add_tensors(struct inventory *inv, const struct inventory_shard *shard,
                          const struct tensor *tensors, struct err *e)
{
    for (size_t i = 0; i < inv->shard_count; i++)
        if (strcmp(inv->shards[i].path, shard->path) == 0)
            return err_set(e, ERR_USAGE, "the shard was added before");
    if (inv->shard_count == INVENTORY_SHARDS_MAX)
        return err_set(e, ERR_LIMIT, "more than %d shards", INVENTORY_SHARDS_MAX);
    if (shard->tensors > INVENTORY_TENSORS_MAX - inv->count)
        return err_set(e, ERR_LIMIT, "more than %d tensors in all", INVENTORY_TENSORS_MAX);
    inv->shards =
        mem_grow(inv->shards, &inv->shard_cap, inv->shard_count + 1, sizeof(*inv->shards));
    inv->shards[inv->shard_count] = *shard;
    inv->shards[inv->shard_count].path = keep(inv, shard->path);
    if (shard->tensors)
        inv->tensors =
            mem_grow(inv->tensors, &inv->cap, inv->count + shard->tensors, sizeof(*inv->tensors));
    for (size_t i = 0; i < shard->tensors; i++) {
        struct tensor t = tensors[i];
        t.name = keep(inv, t.name);
        if (t.dtype != DTYPE_UNKNOWN)
            t.dtype_text = dtype_name(t.dtype);
        else if (!t.format) /* those of a format are static */
            t.dtype_text = keep(inv, t.dtype_text);
        t.shard = (uint32_t)inv->shard_count;
        inv->tensors[inv->count++] = t;
    }
    inv->shard_count++;
    return 0;
}

int inventory_add_header(struct inventory *inv, const char *path, uint64_t file_bytes,
                         const struct safetensors *header, struct err *e)
{
    struct inventory_shard shard = {.path = path,
                                    .file_bytes = file_bytes,
                                    .end_bytes = header->end_bytes,
                                    .data_offset = header->data_offset,
                                    .tensors = header->count};

    return inventory_add_tensors(inv, &shard, header->tensors, e);
}

int inventory_add_safetensors(struct inventory *inv, const char *path, uint64_t file_bytes,
                              const char *header, size_t header_bytes,
                              struct finding_list *findings, struct err *e)
{
    struct safetensors s;
    int rc = safetensors_parse(path, header, header_bytes, findings, &s, e);

    if (rc)
        return rc;
    rc = safetensors_check_size(&s, file_bytes, e);
    if (!rc)
        rc = inventory_add_header(inv, path, file_bytes, &s, e);
    safetensors_release(&s);
    return rc;
}

/* --- comparing with the index ----------------------------------------------------------------- */

/* Names of one kind of trouble: all are counted, the first few kept. */
struct names {
    size_t count;
    char text[400];
};

#define NAMES_SHOWN 4

static void names_add(struct names *n, const char *name)
{
    char plain[90];
    size_t used = strlen(n->text);

    if (n->count++ < NAMES_SHOWN)
        snprintf(n->text + used, sizeof(n->text) - used, "%s%s", used ? ", " : "",
                 text_plain(name, plain, sizeof(plain)));
    else if (n->count == NAMES_SHOWN + 1)
        snprintf(n->text + used, sizeof(n->text) - used, ", ...");
}

struct compare {
    struct inventory *inv;
    const struct shard_index *index;
    long *to_shard; /* [index->shard_count] number in the inventory, or -1 if it was not added */
    size_t lost;    /* tensors of the index whose shard was not added */
    struct names twice, copies, missing, other, not_indexed;
};

static int compare_tensors(const void *pa, const void *pb)
{
    const struct tensor *a = pa, *b = pb;
    int c = strcmp(a->name, b->name);

    return c ? c : a->shard < b->shard ? -1 : a->shard > b->shard;
}

static bool alike(const struct tensor *a, const struct tensor *b)
{
    return a->dtype == b->dtype && strcmp(a->dtype_text, b->dtype_text) == 0 &&
           a->dims == b->dims && a->bytes == b->bytes &&
           memcmp(a->shape, b->shape, a->dims * sizeof(a->shape[0])) == 0;
}

/* Judges the n tensors of one name, whose entry in the index may be NULL, and returns the one that
 * stays. */
static const struct tensor *choose(struct compare *c, const struct tensor *t, size_t n,
                                   const struct shard_index_entry *entry)
{
    const struct tensor *chosen = NULL;
    bool same = true;

    for (size_t i = 0; i < n; i++) {
        if (entry && c->to_shard[entry->shard] == (long)t[i].shard)
            chosen = &t[i];
        same &= alike(&t[0], &t[i]);
    }
    if (n > 1)
        names_add(chosen && same ? &c->copies : &c->twice, t->name);
    if (c->index && !entry)
        names_add(&c->not_indexed, t->name);
    else if (entry && !chosen)
        names_add(&c->other, t->name);
    return chosen ? chosen : t;
}

/* Walks the two sorted lists side by side, and leaves each name once. */
static void merge(struct compare *c)
{
    struct inventory *inv = c->inv;
    const struct shard_index_entry *entry = c->index ? c->index->entries : NULL;
    const struct shard_index_entry *end = c->index && entry ? entry + c->index->count : NULL;
    size_t kept = 0, i = 0, run;

    while (i < inv->count || entry < end) {
        int order = entry == end      ? -1
                    : i == inv->count ? 1
                                      : strcmp(inv->tensors[i].name, entry->name);
        if (order > 0) {
            if (c->to_shard[entry->shard] < 0)
                c->lost++;
            else
                names_add(&c->missing, entry->name);
            entry++;
            continue;
        }
        for (run = 1; i + run < inv->count; run++)
            if (strcmp(inv->tensors[i].name, inv->tensors[i + run].name) != 0)
                break;
        inv->tensors[kept++] = *choose(c, &inv->tensors[i], run, order == 0 ? entry : NULL);
        i += run;
        if (order == 0)
            entry++;
    }
    inv->count = kept;
}

static void report(const struct names *n, enum finding_severity severity, const char *code,
                   const char *what, struct finding_list *findings)
{
    if (n->count)
        finding_add(findings, severity, code, "%zu %s %s: %s", n->count,
                    n->count == 1 ? "tensor" : "tensors", what, n->text);
}

static void report_tensors(const struct compare *c, struct finding_list *findings)
{
    report(&c->missing, FINDING_FAIL, "index-tensor-missing",
           "named by the index, and not in the shard that it names", findings);
    report(&c->other, FINDING_FAIL, "tensor-other-shard", "in another shard than the index names",
           findings);
    report(&c->twice, FINDING_FAIL, "tensor-twice",
           c->index ? "in more than one shard, with copies that differ or none where the index says"
                    : "in more than one shard, and no index says which one counts",
           findings);
    report(&c->copies, FINDING_WARN, "tensor-copies",
           "in more than one shard, alike by the headers; the index chooses one, the data was not "
           "compared",
           findings);
    report(&c->not_indexed, FINDING_WARN, "tensor-not-indexed",
           "in the shards, and not named by the index", findings);
}

/* True if every shard that the index names was added. */
static bool report_shards(const struct compare *c, struct finding_list *findings)
{
    struct names missing = {0}, extra = {0};

    for (size_t i = 0; i < c->index->shard_count; i++)
        if (c->to_shard[i] < 0)
            names_add(&missing, c->index->shards[i]);
    for (size_t i = 0; i < c->inv->shard_count; i++)
        if (index_find_shard(c->index, c->inv->shards[i].path) < 0)
            names_add(&extra, c->inv->shards[i].path);
    if (missing.count)
        finding_add(findings, FINDING_FAIL, "shards-not-read",
                    "%zu of %zu shards that the index names could not be read, and with them "
                    "%zu of %zu tensors: %s",
                    missing.count, c->index->shard_count, c->lost, c->index->count, missing.text);
    if (extra.count)
        finding_add(findings, FINDING_WARN, "shard-not-indexed",
                    "%zu %s not named by the index: %s", extra.count,
                    extra.count == 1 ? "shard is" : "shards are", extra.text);
    return missing.count == 0;
}

static int sum_bytes(struct inventory *inv, struct err *e)
{
    inv->stored_bytes = 0;
    for (size_t i = 0; i < inv->count; i++)
        if (__builtin_add_overflow(inv->stored_bytes, inv->tensors[i].bytes, &inv->stored_bytes))
            return err_set(e, ERR_LIMIT, "the tensors together have more bytes than 64 bits count");
    return 0;
}

int inventory_finish(struct inventory *inv, const struct shard_index *index,
                     struct finding_list *findings, struct err *e)
{
    struct compare c = {.inv = inv, .index = index};
    bool all = inv->shard_count > 0;

    if (inv->count)
        qsort(inv->tensors, inv->count, sizeof(*inv->tensors), compare_tensors);
    if (index) {
        c.to_shard = mem_alloc(index->shard_count, sizeof(*c.to_shard));
        for (size_t i = 0; i < index->shard_count; i++)
            c.to_shard[i] = -1;
        for (size_t i = 0; i < inv->shard_count; i++) {
            long at = index_find_shard(index, inv->shards[i].path);
            if (at >= 0)
                c.to_shard[at] = (long)i;
        }
    }
    merge(&c);
    int rc = sum_bytes(inv, e);
    if (!rc) {
        if (index)
            all &= report_shards(&c, findings);
        report_tensors(&c, findings);
        if (index && all && index->has_total_size && index->total_size != inv->stored_bytes)
            finding_add(findings, FINDING_WARN, "index-total-size-differs",
                        "the index says %" PRIu64 " bytes in all, the headers say %" PRIu64
                        " (weights that are tied may be counted twice)",
                        index->total_size, inv->stored_bytes);
        for (size_t i = 0; i < inv->shard_count; i++)
            all &= inv->shards[i].file_bytes == inv->shards[i].end_bytes;
        inv->complete =
            all && !c.twice.count && !c.missing.count && !c.other.count && !c.not_indexed.count;
    }
    free(c.to_shard);
    return rc;
}

static int compare_name(const void *key, const void *item)
{
    return strcmp(key, ((const struct tensor *)item)->name);
}

const struct tensor *inventory_find(const struct inventory *inv, const char *name)
{
    if (inv->count == 0)
        return NULL;
    return bsearch(name, inv->tensors, inv->count, sizeof(*inv->tensors), compare_name);
}
