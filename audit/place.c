#include "audit/place.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/mem.h"
#include "core/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int place_open_db(const struct options *o, enum db_mode mode, struct db **ret, struct err *e)
{
    char path[FILE_PATH_BYTES];

    if (o->db)
        return db_open(o->db, mode, ret, e);
    if (db_default_path(path, sizeof(path), e))
        return e->code;
    return db_open(path, mode, ret, e);
}

int place_hash(const struct local *l, const struct options *o, struct manifest *ret, struct err *e)
{
    const char **paths = mem_alloc(l->file_count, sizeof(*paths));
    struct progress progress = log_progress();
    uint64_t start = clock_ns();
    char time[TEXT_NUMBER_BYTES];

    for (size_t i = 0; i < l->file_count; i++)
        paths[i] = l->files[i].path;
    int rc = manifest_hash(l->folder, paths, l->file_count, o->threads, &progress, ret, e);
    log_progress_done();
    log_detail("hashing %zu files: %s", l->file_count,
               text_duration((double)(clock_ns() - start), time));
    free(paths);
    return rc;
}

int place_manifest(const struct snapshot *s, struct manifest *ret, struct err *e)
{
    static const enum shard_state states[] = {
        [SNAPSHOT_FILE_OK] = SHARD_OK,
        [SNAPSHOT_FILE_MISSING] = SHARD_MISSING,
        [SNAPSHOT_FILE_UNREADABLE] = SHARD_UNREADABLE,
        [SNAPSHOT_FILE_CHANGED] = SHARD_CHANGED,
        [SNAPSHOT_FILE_POINTER] = SHARD_POINTER,
    };
    struct manifest_entry *entries = mem_alloc(s->file_count, sizeof(*entries));
    int rc = 0;

    for (size_t i = 0; i < s->file_count && !rc; i++) {
        const struct snapshot_file *f = &s->files[i];
        entries[i] = (struct manifest_entry){
            .path = f->path, .size_bytes = f->size_bytes, .state = states[f->state], .why = f->why};
        if (f->state == SNAPSHOT_FILE_OK &&
            (!f->sha256 || !text_unhex(f->sha256, entries[i].sha256, SHA256_BYTES)))
            rc = err_set(e, ERR_DB, "snapshot %lld has a digest that is none for a file",
                         (long long)s->id);
    }
    if (!rc)
        rc = manifest_of(entries, s->file_count, ret, e);
    free(entries);
    return rc;
}

static enum snapshot_file_state state_of(enum shard_state s)
{
    switch (s) {
    case SHARD_OK: return SNAPSHOT_FILE_OK;
    case SHARD_MISSING: return SNAPSHOT_FILE_MISSING;
    case SHARD_CHANGED: return SNAPSHOT_FILE_CHANGED;
    case SHARD_POINTER: return SNAPSHOT_FILE_POINTER;
    default: return SNAPSHOT_FILE_UNREADABLE;
    }
}

static bool is_weight(const struct local *l, const char *path)
{
    for (size_t i = 0; i < l->file_count; i++)
        if (!strcmp(l->files[i].path, path))
            return l->files[i].role >= LOCAL_SHARD;
    return false;
}

int place_record(struct db *db, const struct local *l, const struct manifest *m,
                 int64_t *ret_snapshot, struct err *e)
{
    struct snapshot_file *files = mem_alloc(m->count, sizeof(*files));
    char(*hex)[SHA256_TEXT_BYTES] = mem_alloc(m->count, sizeof(*hex));
    char digest[SHA256_TEXT_BYTES];
    int64_t subject;
    int rc;

    for (size_t i = 0; i < m->count; i++) {
        const struct manifest_entry *f = &m->items[i];
        bool ok = f->state == SHARD_OK;
        files[i] = (struct snapshot_file){.path = f->path,
                                          .size_bytes = f->size_bytes,
                                          .sha256 = ok ? sha256_text(f->sha256, hex[i]) : NULL,
                                          .state = state_of(f->state),
                                          .why = f->why,
                                          .weight = is_weight(l, f->path)};
    }
    rc = db_begin(db, e);
    if (!rc) {
        rc = snapshot_subject_put(db, l->real_path, l->kind, &subject, e);
        if (!rc)
            rc = snapshot_put(db, subject, m->complete ? sha256_text(m->digest, digest) : NULL,
                              files, m->count, ret_snapshot, e);
        if (rc)
            db_rollback(db);
        else
            rc = db_commit(db, e);
    }
    free(hex);
    free(files);
    return rc;
}

static int from_folder(const char *word, const struct options *o, struct place *ret, struct err *e)
{
    struct progress progress = log_progress();
    struct local l = {0};
    char plain[128];
    int rc = local_open(word, o->threads, &progress, &l, e);

    log_progress_done();
    if (!rc)
        rc = place_hash(&l, o, &ret->manifest, e);
    if (!rc)
        snprintf(ret->label, sizeof(ret->label), "%s %s, now",
                 strcmp(l.folder, l.real_path) == 0 ? "folder" : "file",
                 text_plain(word, plain, sizeof(plain)));
    local_release(&l);
    return rc;
}

/* Finds the snapshot that a word names; the order is that of the header's comment. */
static int find(struct db *db, const char *word, struct snapshot *ret, struct err *e)
{
    struct err why = {0};
    uint64_t n = 0;
    const char *digits = text_starts(word, "snapshot:") ? word + 9
                         : text_starts(word, "run:")    ? word + 4
                                                        : word;

    if (text_starts(word, "baseline:"))
        return snapshot_baseline_get(db, word + 9, ret, e);
    if (digits == word) {
        int rc = snapshot_baseline_get(db, word, ret, &why);
        if (rc != ERR_NOTFOUND)
            return rc ? err_set(e, why.code, "%s", why.msg) : 0;
    }
    if (text_parse_u64(digits, &n, &why) || n > INT64_MAX)
        return err_set(e, ERR_NOTFOUND,
                       "it is no folder, no baseline, and no number of a snapshot");
    return text_starts(word, "run:") ? snapshot_of_run(db, (int64_t)n, ret, e)
                                     : snapshot_get(db, (int64_t)n, ret, e);
}

static int from_store(const char *word, struct db *db, struct place *ret, struct err *e)
{
    struct snapshot s = {0};
    char when[CLOCK_TEXT_BYTES], plain[96];
    int rc = find(db, word, &s, e);

    if (rc)
        return rc;
    rc = place_manifest(&s, &ret->manifest, e);
    clock_format(s.first_seen, when);
    snprintf(ret->label, sizeof(ret->label), "snapshot %lld of %s, first seen %s", (long long)s.id,
             text_plain(s.subject, plain, sizeof(plain)), when);
    snapshot_release(&s);
    return rc;
}

int place_resolve(const char *word, const struct options *o, struct db **db, struct place *ret,
                  struct err *e)
{
    char plain[128];
    struct stat st;
    int rc = 0;

    *ret = (struct place){0};
    if (stat(word, &st) == 0) {
        rc = from_folder(word, o, ret, e);
    } else {
        if (!*db)
            rc = place_open_db(o, DB_READ, db, e);
        if (!rc)
            rc = from_store(word, *db, ret, e);
    }
    if (rc)
        return err_wrap(e, "%s", text_plain(word, plain, sizeof(plain)));
    return 0;
}

void place_release(struct place *p)
{
    manifest_release(&p->manifest);
}
