#include "probes/listing.h"
#include "core/file.h"
#include "core/text.h"
#include "probes/folder.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES_MAX (2 * INVENTORY_SHARDS_MAX)

static int add_file(struct listing *b, const char *path, enum local_role role,
                    enum container container, struct err *e)
{
    struct local *l = b->l;

    if (l->file_count == FILES_MAX)
        return err_set(e, ERR_LIMIT, "more than %d files", FILES_MAX);
    l->files = mem_grow(l->files, &b->cap, l->file_count + 1, sizeof(*l->files));
    l->files[l->file_count++] =
        (struct local_file){.path = mem_arena_strndup(&l->arena, path, strlen(path)),
                            .role = role,
                            .container = container,
                            .message = ""};
    return 0;
}

int listing_compare(const void *a, const void *b)
{
    return strcmp(((const struct local_file *)a)->path, ((const struct local_file *)b)->path);
}

struct local_file *listing_find(const struct listing *b, const char *path)
{
    struct local_file key = {.path = path};

    return b->listed ? bsearch(&key, b->l->files, b->listed, sizeof(key), listing_compare) : NULL;
}

/* What training leaves beside the weights: no part of the model. */
static bool skipped(const char *name)
{
    static const char *const names[] = {
        "training_args.bin", "optimizer.bin",         "scheduler.bin",           "optimizer.pt",
        "scheduler.pt",      "tokenizer_config.json", "preprocessor_config.json"};

    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
        if (strcmp(name, names[k]) == 0)
            return true;
    return text_starts(name, "rng_state");
}

int listing_read(struct listing *b, struct err *e)
{
    static const char *const suffixes[] = {
        ".safetensors", ".gguf", ".ggml",    ".bin",        ".pt",        ".pth",
        ".ckpt",        ".h5",   ".msgpack", ".onnx",       ".onnx_data", "openvino_model.xml",
        ".tflite",      ".pb",   ".pkl",     "config.json", INDEX_FILE,   NULL};
    const char **names;
    size_t count;
    int rc = folder_list(b->l->folder, suffixes, FILES_MAX, &b->l->arena, &names, &count, e);

    if (rc)
        return rc;
    for (size_t i = 0; i < count && !rc; i++) {
        enum local_role role = text_ends(names[i], ".safetensors") ? LOCAL_SPARE
                               : strcmp(names[i], INDEX_FILE) == 0 ? LOCAL_INDEX
                               : text_ends(names[i], ".json")      ? LOCAL_CONFIG
                                                                   : LOCAL_FOREIGN;
        if (!skipped(names[i]))
            rc = add_file(b, names[i], role,
                          role == LOCAL_SPARE ? CONTAINER_SAFETENSORS : CONTAINER_UNKNOWN, e);
    }
    b->listed = b->l->file_count;
    free(names);
    return rc;
}

/* The number in "model-00003-of-00096.safetensors": its place in the name, its digits, the total.
 */
static bool numbered(const char *path, size_t *ret_at, int *ret_digits, unsigned long *ret_number,
                     unsigned long *ret_total)
{
    const char *of = NULL;
    char *end;

    for (const char *p = path; (p = strstr(p, "-of-")); p++)
        of = p;
    if (!of)
        return false;
    const char *digits = of;
    while (digits > path && digits[-1] >= '0' && digits[-1] <= '9')
        digits--;
    if (digits == of || of - digits > 9 || digits == path || digits[-1] != '-' || of[4] < '0' ||
        of[4] > '9')
        return false;
    *ret_total = strtoul(of + 4, &end, 10);
    *ret_number = strtoul(digits, NULL, 10);
    *ret_at = (size_t)(digits - path);
    *ret_digits = (int)(of - digits);
    return (strcmp(end, ".safetensors") == 0 || strcmp(end, ".gguf") == 0) &&
           *ret_total <= INVENTORY_SHARDS_MAX;
}

static void number_name(const char *path, size_t at, int digits, unsigned long number,
                        char ret[FILE_PATH_BYTES])
{
    snprintf(ret, FILE_PATH_BYTES, "%.*s%0*lu%s", (int)at, path, digits, number,
             path + at + (size_t)digits);
}

/* Without an index the numbers in the names tell which shards there must be. Adds those that are
 * missing between the shard f and its neighbours: below it down to the next that is there, and
 * above it if none is there. */
static int add_gaps(struct listing *b, const char *path, enum container container, struct err *e)
{
    unsigned long number, total, n;
    char name[FILE_PATH_BYTES];
    size_t at;
    int digits, rc = 0;

    if (!numbered(path, &at, &digits, &number, &total))
        return 0;
    for (n = number; n > 1 && !rc; n--) {
        number_name(path, at, digits, n - 1, name);
        if (listing_find(b, name))
            break;
        rc = add_file(b, name, LOCAL_SHARD, container, e);
    }
    for (n = number + 1; n <= total; n++) {
        number_name(path, at, digits, n, name);
        if (listing_find(b, name))
            return rc;
    }
    for (n = number + 1; n <= total && !rc; n++) {
        number_name(path, at, digits, n, name);
        rc = add_file(b, name, LOCAL_SHARD, container, e);
    }
    return rc;
}

/* Without an index: model.safetensors, or else all of them. */
static int choose_without_index(struct listing *b, struct err *e)
{
    struct local *l = b->l;
    struct local_file *only = listing_find(b, "model.safetensors");
    size_t shards = 0;
    int rc = 0;

    if (only) {
        only->role = LOCAL_SHARD;
        return 0;
    }
    for (size_t i = 0; i < b->listed; i++)
        if (l->files[i].role == LOCAL_SPARE) {
            l->files[i].role = LOCAL_SHARD;
            shards++;
        }
    for (size_t i = 0; i < b->listed && !rc; i++)
        if (l->files[i].role == LOCAL_SHARD)
            rc = add_gaps(b, l->files[i].path, CONTAINER_SAFETENSORS, e);
    if (shards > 1)
        finding_add(&l->findings, FINDING_WARN, "index-missing",
                    "there are %zu safetensors files and no " INDEX_FILE
                    " that says which of them make up the model: all are taken",
                    shards);
    return rc;
}

/* --- GGUF ------------------------------------------------------------------------------------- */

/* A projector of images is stored beside the model that it serves, and is none of its own. */
static bool is_gguf(const struct local_file *f, bool projectors)
{
    bool gguf = f->container == CONTAINER_GGUF || text_ends(f->path, ".gguf");

    return f->role == LOCAL_FOREIGN && gguf && (strstr(f->path, "mmproj") != NULL) == projectors;
}

/* A name that all parts of one model share. */
static void set_name(const char *path, char ret[FILE_PATH_BYTES])
{
    unsigned long number, total;
    size_t at;
    int digits;

    if (numbered(path, &at, &digits, &number, &total))
        number_name(path, at, digits, 0, ret);
    else
        snprintf(ret, FILE_PATH_BYTES, "%s", path);
}

#define SETS_NAMED 4

/* Models in GGUF among the listed files: counts them, and names the first few. */
static size_t count_sets(const struct listing *b, bool projectors, struct buf *names)
{
    char name[FILE_PATH_BYTES], last[FILE_PATH_BYTES] = "", plain[200];
    size_t sets = 0;

    for (size_t i = 0; i < b->listed; i++) {
        const struct local_file *f = &b->l->files[i];
        if (!is_gguf(f, projectors))
            continue;
        set_name(f->path, name);
        if (strcmp(name, last) == 0)
            continue;
        memcpy(last, name, sizeof(last));
        if (sets++ < SETS_NAMED)
            buf_addf(names, "%s%s", sets > 1 ? ", " : "",
                     text_plain(f->path, plain, sizeof(plain)));
    }
    if (sets > SETS_NAMED)
        buf_adds(names, ", ...");
    return sets;
}

static int choose_gguf(struct listing *b, struct err *e)
{
    struct local *l = b->l;
    bool projectors = false;
    struct buf names;
    int rc = 0;

    buf_init(&names, 2048);
    size_t sets = count_sets(b, false, &names);
    if (sets == 0) {
        projectors = true;
        sets = count_sets(b, true, &names);
    }
    if (sets > 1)
        finding_add(&l->findings, FINDING_WARN, "gguf-several",
                    "there are %zu models in GGUF files, each of its own, so none is read: name "
                    "one of the files in place of the folder: %s",
                    sets, names.data);
    for (size_t i = 0; i < b->listed && sets == 1; i++)
        if (is_gguf(&l->files[i], projectors)) {
            l->files[i].role = LOCAL_SHARD;
            l->files[i].container = CONTAINER_GGUF;
        }
    for (size_t i = 0; i < b->listed && sets == 1 && !rc; i++)
        if (l->files[i].role == LOCAL_SHARD)
            rc = add_gaps(b, l->files[i].path, CONTAINER_GGUF, e);
    buf_release(&names);
    return rc;
}

int listing_read_file(struct listing *b, const char *name, enum container container, struct err *e)
{
    unsigned long number, total;
    char other[FILE_PATH_BYTES];
    size_t at;
    int digits, rc = add_file(b, name, LOCAL_SHARD, container, e);

    if (container == CONTAINER_GGUF && numbered(name, &at, &digits, &number, &total))
        for (unsigned long n = 1; n <= total && !rc; n++) {
            number_name(name, at, digits, n, other);
            if (n != number)
                rc = add_file(b, other, LOCAL_SHARD, container, e);
        }
    if (!rc)
        qsort(b->l->files, b->l->file_count, sizeof(*b->l->files), listing_compare);
    return rc;
}

static bool has_safetensors(const struct local *l)
{
    for (size_t i = 0; i < l->file_count; i++)
        if (l->files[i].role == LOCAL_SPARE || l->files[i].role == LOCAL_INDEX)
            return true;
    return false;
}

/* GGUF beside what is read: safetensors go first, and a projector is no part of the model. */
static void report_gguf_spare(const struct listing *b)
{
    const char *first = NULL;
    size_t spare = 0;
    bool read = false;
    char plain[300];

    for (size_t i = 0; i < b->l->file_count; i++)
        read |= b->l->files[i].role == LOCAL_SHARD;
    for (size_t i = 0; i < b->listed && read; i++) {
        const struct local_file *f = &b->l->files[i];
        if ((is_gguf(f, false) || is_gguf(f, true)) && spare++ == 0)
            first = f->path;
    }
    if (spare)
        finding_add(&b->l->findings, FINDING_NOTE, "gguf-spare",
                    "%zu GGUF %s beside the weights that are read %s not looked into: to have one "
                    "audited, name it in place of the folder; the first is %s",
                    spare, spare == 1 ? "file" : "files", spare == 1 ? "is" : "are",
                    text_plain(first, plain, sizeof(plain)));
}

/* --- the whole -------------------------------------------------------------------------------- */

int listing_choose(struct listing *b, struct err *e)
{
    struct local *l = b->l;
    const char *first = NULL;
    size_t spare = 0;
    char plain[300];
    int rc = 0;

    if (!has_safetensors(l))
        rc = choose_gguf(b, e);
    else if (!l->has_index)
        rc = choose_without_index(b, e);
    for (size_t i = 0; i < l->index.shard_count && !rc; i++) {
        struct local_file *f = listing_find(b, l->index.shards[i]);
        if (f)
            f->role = LOCAL_SHARD;
        else
            rc = add_file(b, l->index.shards[i], LOCAL_SHARD, CONTAINER_SAFETENSORS, e);
    }
    for (size_t i = 0; i < b->listed; i++)
        if (l->files[i].role == LOCAL_SPARE && spare++ == 0)
            first = l->files[i].path;
    if (spare)
        finding_add(&l->findings, FINDING_WARN, "file-spare",
                    "%zu safetensors %s not part of the checkpoint, since %s; the first is %s",
                    spare, spare == 1 ? "file is" : "files are",
                    l->has_index ? "the index does not name them" : "there is model.safetensors",
                    text_plain(first, plain, sizeof(plain)));
    report_gguf_spare(b);
    if (!rc && l->file_count)
        qsort(l->files, l->file_count, sizeof(*l->files), listing_compare);
    return rc;
}
