#include "audit/cmd_list.h"
#include "audit/place.h"
#include "core/json.h"
#include "core/log.h"
#include "core/text.h"
#include <stdio.h>

static void print_text(const struct manifest *m, int64_t snapshot, const struct options *o,
                       bool moved)
{
    char hex[SHA256_TEXT_BYTES], number[TEXT_NUMBER_BYTES], plain[512];

    for (size_t i = 0; i < m->count; i++) {
        const struct manifest_entry *f = &m->items[i];
        text_plain(f->path, plain, sizeof(plain));
        if (f->state == SHARD_OK)
            printf("%s  %15s  %s\n", sha256_text(f->sha256, hex), text_count(f->size_bytes, number),
                   plain);
        else
            printf("%-64s  %15s  %s\n", shard_state_name(f->state), "", plain);
    }
    printf("snapshot %lld: ", (long long)snapshot);
    if (m->complete)
        printf("sha256:%s over %zu files, %s bytes\n", sha256_text(m->digest, hex), m->count,
               text_count(m->ok_bytes, number));
    else
        printf("no digest: %zu of %zu files could not be hashed\n", m->count - m->ok_count,
               m->count);
    if (o->baseline)
        printf("baseline '%s' %s snapshot %lld\n", o->baseline, moved ? "moved to" : "is",
               (long long)snapshot);
}

static struct cJSON *json_of(const struct manifest *m, int64_t snapshot, const struct options *o)
{
    struct cJSON *doc = json_object();
    char hex[SHA256_TEXT_BYTES];

    json_add_i64(doc, "snapshot", snapshot);
    json_add_text(doc, "digest", m->complete ? sha256_text(m->digest, hex) : NULL);
    json_add_u64(doc, "bytes", m->ok_bytes);
    json_add_text(doc, "baseline", o->baseline);
    struct cJSON *files = json_add_array(doc, "files");
    for (size_t i = 0; i < m->count; i++) {
        const struct manifest_entry *f = &m->items[i];
        struct cJSON *row = json_add_object(files, NULL);
        json_add_text(row, "path", f->path);
        json_add_text(row, "state", shard_state_name(f->state));
        json_add_u64(row, "bytes", f->size_bytes);
        json_add_text(row, "sha256", f->state == SHARD_OK ? sha256_text(f->sha256, hex) : NULL);
        if (f->why[0])
            json_add_text(row, "why", f->why);
    }
    return doc;
}

static void report_problems(const struct manifest *m)
{
    char plain[256];

    for (size_t i = 0; i < m->count; i++)
        if (m->items[i].why[0])
            log_warn("%s: %s", text_plain(m->items[i].path, plain, sizeof(plain)), m->items[i].why);
}

int cmd_fingerprint(const struct options *o)
{
    struct progress progress = log_progress();
    struct local l = {0};
    struct manifest m = {0};
    struct db *db = NULL;
    struct err e = {0};
    int64_t snapshot = 0;
    bool moved = false;
    int status = CMD_UNKNOWN;

    /* the store first: a refusal is better known before a terabyte is read than after */
    if (place_open_db(o, DB_WRITE, &db, &e) ||
        local_open(o->args[0], o->threads, &progress, &l, &e) || place_hash(&l, o, &m, &e))
        goto out;
    if (m.count == 0) {
        char plain[256];
        err_set(&e, ERR_NOTFOUND, "%s holds no file to hash",
                text_plain(o->args[0], plain, sizeof(plain)));
        goto out;
    }
    report_problems(&m);
    if (place_record(db, &l, &m, &snapshot, &e))
        goto out;
    if (o->baseline && !m.complete) {
        err_set(&e, ERR_UNSUPPORTED,
                "a snapshot with files that could not be hashed is no "
                "baseline; see the files above");
        goto out;
    }
    if (o->baseline && snapshot_baseline_put(db, o->baseline, snapshot, &moved, &e))
        goto out;
    status = m.complete ? CMD_YES : CMD_UNKNOWN;
    if (o->json)
        status = cmd_print_json(o, json_of(&m, snapshot, o), status);
    else
        print_text(&m, snapshot, o, moved);
out:
    log_progress_done();
    db_close(db);
    manifest_release(&m);
    local_release(&l);
    return e.code ? cmd_fail(o, &e) : status;
}
