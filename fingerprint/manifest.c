#include "fingerprint/manifest.h"
#include "core/file.h"
#include "core/pool.h"
#include "core/text.h"
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int by_path(const void *x, const void *y)
{
    const struct manifest_entry *a = x, *b = y;

    return strcmp(a->path, b->path); /* strcmp compares unsigned bytes */
}

/* One line of the text that the header describes, into the digest. */
static void add_line(struct sha256 *sum, const struct manifest_entry *x)
{
    char hex[SHA256_TEXT_BYTES], line[SHA256_TEXT_BYTES + 32];

    int n =
        snprintf(line, sizeof(line), "%s %" PRIu64 " ", sha256_text(x->sha256, hex), x->size_bytes);
    sha256_update(sum, line, (size_t)n);
    sha256_update(sum, x->path, strlen(x->path) + 1);
}

static int summarise(struct manifest *m, struct err *e)
{
    struct sha256 sum;

    m->complete = m->count > 0;
    for (size_t i = 0; i < m->count; i++) {
        bool ok = m->items[i].state == SHARD_OK;
        m->complete &= ok;
        m->ok_count += ok;
        if (ok && __builtin_add_overflow(m->ok_bytes, m->items[i].size_bytes, &m->ok_bytes))
            return err_set(e, ERR_LIMIT, "the sizes of the files add up to more than 64 bits");
    }
    if (!m->complete)
        return 0;
    sha256_init(&sum);
    for (size_t i = 0; i < m->count; i++)
        add_line(&sum, &m->items[i]);
    return sha256_final(&sum, m->digest, e);
}

int manifest_of(const struct manifest_entry *entries, size_t n, struct manifest *ret, struct err *e)
{
    struct manifest m = {0};
    char name[128];

    if (n > MANIFEST_FILES_MAX)
        return err_set(e, ERR_LIMIT, "%zu files are over the limit of %d in one manifest", n,
                       MANIFEST_FILES_MAX);
    m.count = n;
    m.items = mem_arena_alloc(&m.arena, (n > 0 ? n : 1) * sizeof(*m.items));
    for (size_t i = 0; i < n; i++) {
        const char *why = entries[i].why ? entries[i].why : "";
        m.items[i] = entries[i];
        m.items[i].path = mem_arena_strndup(&m.arena, entries[i].path, strlen(entries[i].path));
        m.items[i].why = mem_arena_strndup(&m.arena, why, strlen(why));
        if (entries[i].state != SHARD_OK)
            memset(m.items[i].sha256, 0, SHA256_BYTES);
    }
    qsort(m.items, n, sizeof(*m.items), by_path);
    for (size_t i = 1; i < n; i++)
        if (by_path(&m.items[i - 1], &m.items[i]) == 0) {
            err_set(e, ERR_USAGE, "%s: named twice in one manifest",
                    text_plain(m.items[i].path, name, sizeof(name)));
            manifest_release(&m);
            return e->code;
        }
    int rc = summarise(&m, e);
    if (rc) {
        manifest_release(&m);
        return rc;
    }
    *ret = m;
    return 0;
}

void manifest_release(struct manifest *m)
{
    mem_arena_release(&m->arena);
    *m = (struct manifest){0};
}

const struct manifest_entry *manifest_find(const struct manifest *m, const char *path)
{
    struct manifest_entry key = {.path = path};

    return m->count > 0 ? bsearch(&key, m->items, m->count, sizeof(key), by_path) : NULL;
}

/* --- hashing ------------------------------------------------------------------------------- */

struct job {
    size_t index;        /* in the caller's order */
    uint64_t size_bytes; /* by stat, for the order of work and the progress only */
};

struct work {
    const char *folder;
    const char *const *paths;
    const struct job *jobs;
    struct shard *shards; /* in the caller's order */
    const struct progress *progress;
    _Atomic uint64_t done_bytes;
    uint64_t total_bytes;
};

/* A name from a repository must not lead out of its folder. */
static bool stays_inside(const char *path)
{
    if (path[0] == 0 || path[0] == '/')
        return false;
    for (const char *p = path; *p;) {
        size_t n = strcspn(p, "/");
        if (n == 2 && p[0] == '.' && p[1] == '.')
            return false;
        p += n + (p[n] == '/');
    }
    return true;
}

static void on_read(void *ctx, size_t bytes)
{
    struct work *w = ctx;
    uint64_t done = atomic_fetch_add(&w->done_bytes, bytes) + bytes;

    if (w->progress && w->progress->tick)
        w->progress->tick(w->progress->ctx, "hashing", done, w->total_bytes, "B");
}

static void hash_one(void *ctx, size_t index, unsigned worker)
{
    struct work *w = ctx;
    size_t i = w->jobs[index].index;
    struct shard *s = &w->shards[i];
    char path[FILE_PATH_BYTES];
    struct err e = {0};

    (void)worker;
    *s = (struct shard){.state = SHARD_UNREADABLE};
    if (!stays_inside(w->paths[i]))
        snprintf(s->why, sizeof(s->why), "not opened: the name leads out of the subject's folder");
    else if (file_join(w->folder, w->paths[i], path, &e))
        snprintf(s->why, sizeof(s->why), "%s", e.msg);
    else
        shard_hash(path, on_read, w, s);
}

static int by_size_down(const void *x, const void *y)
{
    const struct job *a = x, *b = y;

    if (a->size_bytes != b->size_bytes)
        return a->size_bytes < b->size_bytes ? 1 : -1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* The largest file goes first: begun last, it would keep one thread busy while the others idle. */
static void plan(struct work *w, struct job *jobs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char path[FILE_PATH_BYTES];
        struct err e = {0};
        struct stat st;

        jobs[i].index = i;
        if (stays_inside(w->paths[i]) && !file_join(w->folder, w->paths[i], path, &e) &&
            stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
            jobs[i].size_bytes = (uint64_t)st.st_size;
        w->total_bytes += jobs[i].size_bytes; /* at worst it wraps, and a progress bar is odd */
    }
    qsort(jobs, n, sizeof(*jobs), by_size_down);
    w->jobs = jobs;
}

int manifest_hash(const char *folder, const char *const *paths, size_t n, unsigned threads,
                  const struct progress *progress, struct manifest *ret, struct err *e)
{
    if (n > MANIFEST_FILES_MAX)
        return err_set(e, ERR_LIMIT, "%zu files are over the limit of %d in one manifest", n,
                       MANIFEST_FILES_MAX);
    struct job *jobs = mem_alloc(n > 0 ? n : 1, sizeof(*jobs));
    struct work w = {.folder = folder, .paths = paths, .progress = progress};
    struct manifest_entry *entries = mem_alloc(n > 0 ? n : 1, sizeof(*entries));

    w.shards = mem_alloc(n > 0 ? n : 1, sizeof(*w.shards));
    plan(&w, jobs, n);
    int rc = n > 0 ? pool_run(threads, n, hash_one, &w, e) : 0;
    for (size_t i = 0; i < n; i++) {
        const struct shard *s = &w.shards[i];
        entries[i] = (struct manifest_entry){
            .path = paths[i], .size_bytes = s->size_bytes, .state = s->state, .why = s->why};
        memcpy(entries[i].sha256, s->sha256, SHA256_BYTES);
    }
    if (!rc)
        rc = manifest_of(entries, n, ret, e);
    free(entries);
    free(w.shards);
    free(jobs);
    return rc;
}

/* --- facts --------------------------------------------------------------------------------- */

#define FACT_SOURCE "sha256 of the files"
#define NAMED_FILES 3

/* Why there is no snapshot digest: how many files stand in the way, and the first few by name. */
static void missing_digest(const struct manifest *m, struct buf *b)
{
    size_t bad = m->count - m->ok_count, named = 0;

    if (m->count == 0) {
        buf_adds(b, "there are no files to hash");
        return;
    }
    buf_addf(b, "%zu of %zu files have no digest:", bad, m->count);
    for (size_t i = 0; i < m->count && named < NAMED_FILES; i++) {
        const struct manifest_entry *x = &m->items[i];
        if (x->state == SHARD_OK)
            continue;
        buf_adds(b, named++ > 0 ? ", " : " ");
        text_escape_plain(b, x->path);
        buf_addf(b, " (%s)", shard_state_name(x->state));
    }
    if (bad > named)
        buf_addf(b, " and %zu more", bad - named);
}

static int put_digest(const struct manifest *m, const struct fact_sink *sink, struct err *e)
{
    char hex[SHA256_TEXT_BYTES];
    struct buf b;

    if (m->complete)
        return fact_put_text(sink, FACT_FINGERPRINT_DIGEST, "", sha256_text(m->digest, hex),
                             FACT_SOURCE, e);
    buf_init(&b, (size_t)(NAMED_FILES + 1) * 4 * FILE_PATH_BYTES);
    missing_digest(m, &b);
    int rc = buf_check(&b, "reason for a missing digest", e);
    if (!rc)
        rc = fact_put_unknown(sink, FACT_FINGERPRINT_DIGEST, "", b.data, e);
    buf_release(&b);
    return rc;
}

static int put_problem(const struct manifest_entry *x, const struct fact_sink *sink, struct err *e)
{
    struct buf scope, text;

    buf_init(&scope, (size_t)4 * FILE_PATH_BYTES);
    buf_init(&text, (size_t)4 * FILE_PATH_BYTES);
    text_escape_plain(&scope, x->path);
    buf_addf(&text, "%s: ", x->state == SHARD_OK ? "empty" : shard_state_name(x->state));
    text_escape_plain(&text, x->why);
    int rc = buf_check(&scope, "path of a file with a problem", e);
    if (!rc)
        rc = buf_check(&text, "problem of a file", e);
    if (!rc)
        rc = fact_put_text(sink, FACT_FINGERPRINT_PROBLEM, scope.data, text.data, FACT_SOURCE, e);
    buf_release(&text);
    buf_release(&scope);
    return rc;
}

int manifest_facts(const struct manifest *m, const struct fact_sink *sink, struct err *e)
{
    int rc = put_digest(m, sink, e);

    if (!rc && m->ok_bytes > INT64_MAX)
        rc = err_set(e, ERR_LIMIT, "the files hold more bytes than a fact can count");
    if (!rc)
        rc = fact_put_int(sink, FACT_FINGERPRINT_FILES, "", (int64_t)m->ok_count, FACT_SOURCE, e);
    if (!rc)
        rc = fact_put_int(sink, FACT_FINGERPRINT_BYTES, "", (int64_t)m->ok_bytes, FACT_SOURCE, e);
    for (size_t i = 0; !rc && i < m->count; i++)
        if (m->items[i].state != SHARD_OK || m->items[i].size_bytes == 0)
            rc = put_problem(&m->items[i], sink, e);
    return rc;
}
