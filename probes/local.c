#include "probes/local.h"
#include "core/buf.h"
#include "core/file.h"
#include "core/json.h"
#include "core/pool.h"
#include "core/text.h"
#include "model/gguf_set.h"
#include "model/pointer.h"
#include "probes/folder.h"
#include "probes/foreign.h"
#include "probes/header.h"
#include "probes/listing.h"
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *local_state_name(enum local_state s)
{
    static const char *const names[] = {[LOCAL_OK] = "ok",
                                        [LOCAL_MISSING] = "missing",
                                        [LOCAL_UNREADABLE] = "unreadable",
                                        [LOCAL_POINTER] = "pointer",
                                        [LOCAL_EMPTY] = "empty",
                                        [LOCAL_SHORT] = "short",
                                        [LOCAL_LONG] = "long",
                                        [LOCAL_MALFORMED] = "malformed"};

    return (unsigned)s < sizeof(names) / sizeof(names[0]) ? names[s] : "?";
}

/* A file of the list is not as it should be. report_troubles makes findings of it. */
static void trouble(struct local *l, struct local_file *f, enum local_state state,
                    const char *message)
{
    f->state = state;
    f->message = mem_arena_strndup(&l->arena, message, strlen(message));
}

/* One finding for all files that share a state, so that a clone of a hundred pointers reads as one
 * trouble; the files' own messages stay with them. */
static void report_state(struct local *l, bool shards, enum local_state state, const char *code,
                         const char *plural)
{
    const struct local_file *first = NULL;
    size_t count = 0;
    char plain[300], more[40] = "";

    for (size_t i = 0; i < l->file_count; i++) {
        const struct local_file *f = &l->files[i];
        if (f->state == state && (f->role == LOCAL_SHARD) == shards && count++ == 0)
            first = f;
    }
    if (count == 0)
        return;
    if (count > 1)
        snprintf(more, sizeof(more), "%zu files are %s: ", count, plural);
    bool predicate = text_starts(first->message, "is ") || text_starts(first->message, "claims ") ||
                     text_starts(first->message, "starts ");
    finding_add(&l->findings, shards ? FINDING_FAIL : FINDING_WARN, code, "%s%s%s %s", more,
                text_plain(first->path, plain, sizeof(plain)), predicate ? "" : ":",
                first->message);
}

static void report_troubles(struct local *l)
{
    static const struct {
        const char *code, *plural;
    } words[] = {[LOCAL_MISSING] = {"file-missing", "missing"},
                 [LOCAL_UNREADABLE] = {"file-unreadable", "unreadable"},
                 [LOCAL_POINTER] = {"file-pointer", "Git-LFS pointers"},
                 [LOCAL_EMPTY] = {"file-empty", "empty"},
                 [LOCAL_SHORT] = {"file-short", "short"},
                 [LOCAL_LONG] = {"file-long", "long"},
                 [LOCAL_MALFORMED] = {"file-malformed", "malformed"}};

    for (enum local_state s = LOCAL_MISSING; s <= LOCAL_MALFORMED; s++) {
        report_state(l, true, s, words[s].code, words[s].plural);
        report_state(l, false, s, words[s].code, words[s].plural);
    }
}

/* --- small files ------------------------------------------------------------------------------ */

/* A small file's text into the arena. */
static int read_text(struct local *l, const char *name, size_t max, const char **ret,
                     size_t *ret_bytes, struct err *e)
{
    char full[FILE_PATH_BYTES];
    struct buf b;
    int rc = file_join(l->folder, name, full, e);

    if (rc)
        return rc;
    buf_init(&b, max);
    rc = file_read(full, &b, e);
    if (!rc && pointer_looks(b.data, b.len)) {
        char words[ERR_MSG_BYTES];
        rc = err_set(e, ERR_FORMAT, "%s %s", name, pointer_words(b.data, b.len, words, 400));
    }
    if (!rc) {
        *ret = mem_arena_strndup(&l->arena, b.data, b.len);
        *ret_bytes = b.len;
    }
    buf_release(&b);
    return rc;
}

/* A subject without a config still has tensors, so the reason is kept and the rest goes on. */
static int read_config(struct local *l, bool listed, struct err *e)
{
    int rc = read_text(l, "config.json", JSON_DOCUMENT_BYTES_MAX, &l->config, &l->config_bytes, e);
    char plain[300];

    if (rc == ERR_NOTFOUND && !listed) /* listed: a dangling link, and the message says so */
        return err_set(e, ERR_NOTFOUND,
                       "%s has no config.json: name the folder that a model was downloaded to, "
                       "with config.json beside the weights",
                       text_plain(l->path, plain, sizeof(plain)));
    return rc;
}

/* The index, if it is there. One that cannot be read is that file's trouble, not the end. */
static void read_index(struct local *l, struct local_file *f)
{
    char full[FILE_PATH_BYTES];
    struct err e = {0};
    struct buf b;

    buf_init(&b, INDEX_BYTES_MAX);
    int rc = file_join(l->folder, f->path, full, &e);
    if (!rc)
        rc = file_read(full, &b, &e);
    enum local_state state = rc == ERR_NOTFOUND ? LOCAL_MISSING : LOCAL_UNREADABLE;
    if (!rc) {
        char words[ERR_MSG_BYTES];
        state = LOCAL_MALFORMED;
        f->size_bytes = b.len;
        if (pointer_looks(b.data, b.len)) {
            state = LOCAL_POINTER;
            rc = err_set(&e, ERR_FORMAT, "%s", pointer_words(b.data, b.len, words, 400));
        } else {
            rc = index_parse(b.data, b.len, &l->findings, &l->index, &e);
        }
    }
    buf_release(&b);
    l->has_index = rc == 0;
    if (rc)
        trouble(l, f, state, e.msg);
}

/* Files that are listed and not read. */
static void check_other(struct local *l, struct local_file *f)
{
    char message[ERR_MSG_BYTES];
    enum local_state state;

    foreign_look(l->folder, f, message, &state);
    if (state != LOCAL_OK)
        trouble(l, f, state, message);
}

/* --- headers ---------------------------------------------------------------------------------- */

struct reading {
    const struct local *local;
    const size_t *files; /* [count] numbers of the files to read */
    size_t count;
    struct header *headers;  /* [count] */
    struct gguf_part *parts; /* [part_count] of the headers that are GGUF, as they are taken */
    size_t part_count;
    const struct progress *progress;
    atomic_size_t done;
};

static void read_one(void *ctx, size_t i, unsigned worker)
{
    struct reading *r = ctx;

    (void)worker;
    const struct local_file *f = &r->local->files[r->files[i]];
    header_read(r->local->folder, f->path, f->container, &r->headers[i]);
    size_t done = atomic_fetch_add(&r->done, 1) + 1;
    if (r->progress && r->progress->tick)
        r->progress->tick(r->progress->ctx, "reading headers", done, r->count, "files");
}

/* A GGUF header leaves its place to the list of parts. Padding behind the last tensor is there or
 * not, so a file that is long enough has the size that it must have. */
static int take_gguf(struct local *l, const struct local_file *f, struct reading *r,
                     struct header *h, struct err *e)
{
    const struct gguf *g = &h->gguf;
    uint64_t end = h->size_bytes > g->end_bytes ? h->size_bytes : g->end_bytes;
    struct inventory_shard shard = {.path = f->path,
                                    .file_bytes = h->size_bytes,
                                    .end_bytes = end,
                                    .data_offset = g->data_offset,
                                    .tensors = g->count};
    int rc = inventory_add_tensors(&l->inventory, &shard, g->tensors, e);

    r->parts[r->part_count++] = (struct gguf_part){.path = f->path, .gguf = h->gguf};
    h->parsed = false;
    return rc;
}

/* Takes one file's header into the subject. */
static int take(struct local *l, struct local_file *f, struct reading *r, struct header *h,
                struct err *e)
{
    f->size_bytes = h->size_bytes;
    for (size_t i = 0; i < h->findings.count; i++)
        finding_add(&l->findings, h->findings.items[i].severity, h->findings.items[i].code, "%s",
                    h->findings.items[i].text);
    if (h->state != LOCAL_OK)
        trouble(l, f, h->state, h->message);
    if (!h->parsed || f->role != LOCAL_SHARD)
        return 0;
    if (h->is_gguf)
        return take_gguf(l, f, r, h, e);
    return inventory_add_header(&l->inventory, f->path, h->size_bytes, &h->content, e);
}

static void report_holes(struct local *l, const struct reading *r)
{
    const struct local_file *first = NULL;
    uint64_t offset = 0;
    size_t count = 0;
    char plain[300];

    for (size_t i = 0; i < r->count; i++)
        if (r->headers[i].hole_offset < r->headers[i].size_bytes && count++ == 0) {
            first = &l->files[r->files[i]];
            offset = r->headers[i].hole_offset;
        }
    if (count)
        finding_add(
            &l->findings, FINDING_WARN, "file-holes",
            "%zu weight %s parts that were never written and read as zeros: a download that "
            "was cut short, unless the weights are zeros; the first is %s, from byte "
            "%" PRIu64 " on",
            count, count == 1 ? "file has" : "files have",
            text_plain(first->path, plain, sizeof(plain)), offset);
}

/* Compares the parts of a GGUF model, and keeps the metadata. False if they do not make it up. */
static bool judge_parts(struct local *l, struct reading *r)
{
    struct gguf_set set = {.whole = true};

    if (r->part_count == 0)
        return true;
    gguf_set_check(r->parts, r->part_count, &l->findings, &set);
    l->gguf = r->parts[set.first].gguf;
    r->parts[set.first].gguf = (struct gguf){0};
    l->has_gguf = true;
    l->gguf_parts = set.count;
    return set.whole;
}

static int read_headers(struct local *l, unsigned threads, const struct progress *progress,
                        bool *ret_whole, struct err *e)
{
    size_t *files = mem_alloc(l->file_count, sizeof(*files));
    struct reading r = {.local = l, .files = files, .progress = progress};

    for (size_t i = 0; i < l->file_count; i++)
        if (l->files[i].role == LOCAL_SHARD || l->files[i].role == LOCAL_SPARE)
            files[r.count++] = i;
    r.headers = mem_alloc(r.count, sizeof(*r.headers));
    r.parts = mem_alloc(r.count, sizeof(*r.parts));
    atomic_init(&r.done, 0);
    int rc = pool_run(threads, r.count, read_one, &r, e);
    if (!rc)
        report_holes(l, &r);
    for (size_t i = 0; i < r.count; i++) {
        struct local_file *f = &l->files[files[i]];
        char plain[300];
        if (!rc) {
            rc = take(l, f, &r, &r.headers[i], e);
            if (rc)
                err_wrap(e, "%s", text_plain(f->path, plain, sizeof(plain)));
        }
        header_release(&r.headers[i]);
    }
    *ret_whole = judge_parts(l, &r);
    for (size_t i = 0; i < r.part_count; i++)
        gguf_release(&r.parts[i].gguf);
    free(r.parts);
    free(r.headers);
    free(files);
    return rc;
}

/* --- the whole -------------------------------------------------------------------------------- */

static void report_links(struct local *l, const struct folder *folder)
{
    char target[FILE_PATH_BYTES], kept[FILE_PATH_BYTES] = "", from[200], to[200];
    const char *first = "";
    size_t count = 0;

    for (size_t i = 0; i < l->file_count; i++)
        if (folder_leaves(folder, l->files[i].path, target) && count++ == 0) {
            first = l->files[i].path;
            memcpy(kept, target, sizeof(kept));
        }
    if (count)
        finding_add(&l->findings, FINDING_WARN, "link-leaves-folder",
                    "%zu %s by a symbolic link to outside the folder; the first is %s, to %s",
                    count, count == 1 ? "file leads" : "files lead",
                    text_plain(first, from, sizeof(from)), text_plain(kept, to, sizeof(to)));
}

static bool has_gguf_shards(const struct local *l)
{
    for (size_t i = 0; i < l->file_count; i++)
        if (l->files[i].role == LOCAL_SHARD && l->files[i].container == CONTAINER_GGUF)
            return true;
    return false;
}

static bool has_gguf(const struct local *l)
{
    for (size_t i = 0; i < l->file_count; i++)
        if (l->files[i].container == CONTAINER_GGUF || text_ends(l->files[i].path, ".gguf"))
            return true;
    return false;
}

static bool has_safetensors(const struct local *l)
{
    for (size_t i = 0; i < l->file_count; i++)
        if (l->files[i].role >= LOCAL_SHARD && l->files[i].container == CONTAINER_SAFETENSORS)
            return true;
    return false;
}

static bool has_weights(const struct local *l)
{
    for (size_t i = 0; i < l->file_count; i++)
        if (l->files[i].role >= LOCAL_SHARD)
            return true;
    return false;
}

/* Lists what the folder has, and decides what of it makes up the checkpoint. */
static int list_folder(struct local *l, struct err *e)
{
    struct listing b = {.l = l};
    struct err no_config = {0}, why = {0};
    int rc = listing_read(&b, e);

    if (rc)
        return rc;
    if (read_config(l, listing_find(&b, "config.json") != NULL, &no_config))
        l->config_why = mem_arena_strndup(&l->arena, no_config.msg, strlen(no_config.msg));
    for (size_t i = 0; i < b.listed; i++) {
        if (l->files[i].role == LOCAL_INDEX)
            read_index(l, &l->files[i]);
        else if (l->files[i].role != LOCAL_SPARE)
            check_other(l, &l->files[i]);
    }
    rc = listing_choose(&b, e);
    if (rc)
        return rc;
    if (!l->config && !has_weights(l))
        return err_set(e, no_config.code, "%s", no_config.msg);
    if (!l->config && !has_safetensors(l) && has_gguf(l)) /* they say themselves what they are */
        l->config_why = has_gguf_shards(l)
                            ? "the GGUF file could not be read, and no config.json beside it tells "
                              "what model it is"
                            : "none of the GGUF files is read, since they are several models: name "
                              "one of the files in place of the folder";
    else if (!l->config)
        finding_add(&l->findings, FINDING_FAIL, "config-missing", "%s", l->config_why);
    struct local_file *quant = bsearch(&(struct local_file){.path = "hf_quant_config.json"},
                                       l->files, l->file_count, sizeof(*l->files), listing_compare);
    if (quant && quant->state == LOCAL_OK &&
        read_text(l, quant->path, JSON_DOCUMENT_BYTES_MAX, &l->quant, &l->quant_bytes, &why))
        trouble(l, quant, LOCAL_UNREADABLE, why.msg);
    return 0;
}

/* A subject that is one file: what its first bytes say it is; where they say nothing, its name. */
static int list_file(struct local *l, const char *name, struct err *e)
{
    struct local_file f = {.path = name};
    struct listing b = {.l = l};
    char message[ERR_MSG_BYTES], plain[200];
    enum local_state state;

    foreign_look(l->folder, &f, message, &state);
    if (state == LOCAL_MISSING || state == LOCAL_UNREADABLE)
        return err_set(e, ERR_IO, "%s: %s", text_plain(name, plain, sizeof(plain)), message);
    bool mute = f.container == CONTAINER_UNKNOWN || state != LOCAL_OK;
    if (mute && text_ends(name, ".gguf"))
        f.container = CONTAINER_GGUF;
    else if (mute && text_ends(name, ".safetensors"))
        f.container = CONTAINER_SAFETENSORS;
    if (f.container != CONTAINER_GGUF && f.container != CONTAINER_SAFETENSORS)
        return foreign_refuse(name, f.container, e);
    l->kind = f.container == CONTAINER_GGUF ? "GGUF file" : "safetensors file";
    l->config_why = "the subject is one file, without a config.json that tells what model it is: "
                    "name the folder to have that read";
    return listing_read_file(&b, name, f.container, e);
}

static int read_subject(struct local *l, const struct folder *folder, unsigned threads,
                        const struct progress *progress, struct err *e)
{
    bool whole;
    int rc = folder->file[0] ? list_file(l, folder->file, e) : list_folder(l, e);

    if (!rc)
        rc = read_headers(l, threads, progress, &whole, e);
    if (rc)
        return rc;
    report_troubles(l);
    report_links(l, folder);
    foreign_report(l);
    rc = inventory_finish(&l->inventory, l->has_index ? &l->index : NULL, &l->findings, e);
    l->inventory.complete &= whole;
    for (size_t i = 0; i < l->file_count; i++) {
        if (l->files[i].role == LOCAL_SHARD && l->files[i].state != LOCAL_OK)
            l->inventory.complete = false;
        if (l->files[i].state == LOCAL_POINTER && strcmp(l->kind, "git clone") == 0)
            l->kind = "git clone with LFS pointers";
    }
    return rc;
}

/* The absolute path of the subject. */
static const char *real_path(struct local *l, const struct folder *folder, struct err *e)
{
    char full[FILE_PATH_BYTES];

    if (!folder->file[0])
        return l->folder;
    if (file_join(folder->real_path, folder->file, full, e))
        return NULL;
    return mem_arena_strndup(&l->arena, full, strlen(full));
}

int local_open(const char *path, unsigned threads, const struct progress *progress,
               struct local *ret, struct err *e)
{
    struct folder *folder = mem_alloc(1, sizeof(*folder));
    struct local l = {0};
    int rc = folder_resolve(path, folder, e);

    if (!rc) {
        l.path = mem_arena_strndup(&l.arena, path, strlen(path));
        l.folder = mem_arena_strndup(&l.arena, folder->real_path, strlen(folder->real_path));
        l.real_path = real_path(&l, folder, e);
        l.repo = mem_arena_strndup(&l.arena, folder->repo, strlen(folder->repo));
        l.revision = mem_arena_strndup(&l.arena, folder->revision, strlen(folder->revision));
        l.kind = folder->kind;
        rc = l.real_path ? read_subject(&l, folder, threads, progress, e) : e->code;
    }
    free(folder);
    if (rc)
        local_release(&l);
    else
        *ret = l;
    return rc;
}

void local_release(struct local *l)
{
    free(l->files);
    index_release(&l->index);
    inventory_release(&l->inventory);
    gguf_release(&l->gguf);
    finding_list_release(&l->findings);
    mem_arena_release(&l->arena);
    *l = (struct local){0};
}

size_t local_shards(const struct local *l, size_t *ret_whole)
{
    size_t shards = 0, whole = 0;

    for (size_t i = 0; i < l->file_count; i++)
        if (l->files[i].role == LOCAL_SHARD) {
            shards++;
            whole += l->files[i].state == LOCAL_OK;
        }
    if (ret_whole)
        *ret_whole = whole;
    return shards;
}
