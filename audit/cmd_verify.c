#include "audit/cmd_list.h"
#include "audit/difference.h"
#include "audit/place.h"
#include "core/log.h"
#include "core/text.h"
#include <stdio.h>
#include <string.h>

/* The snapshot to verify against: the named baseline, else the last one recorded of the folder. */
static int find_reference(struct db *db, const struct options *o, const char *folder,
                          struct snapshot *ret, struct err *e)
{
    int rc = o->baseline ? snapshot_baseline_get(db, o->baseline, ret, e)
                         : snapshot_latest(db, folder, ret, e);

    if (rc == ERR_NOTFOUND && !o->baseline)
        return err_set(e, ERR_NOTFOUND,
                       "%s has no snapshot to verify against; record one with assay fingerprint",
                       folder);
    return rc;
}

int cmd_verify(const struct options *o)
{
    struct place now = {0}, then = {0};
    struct snapshot s = {0};
    struct local l = {0};
    struct db *db = NULL;
    struct diff d = {0};
    struct err e = {0};
    int status = CMD_UNKNOWN;

    if (place_open_db(o, DB_READ, &db, &e) || local_open(o->args[0], o->threads, NULL, &l, &e) ||
        find_reference(db, o, l.real_path, &s, &e) || place_manifest(&s, &then.manifest, &e) ||
        place_hash(&l, o, &now.manifest, &e))
        goto out;
    snprintf(then.label, sizeof(then.label), "%s%ssnapshot %lld", o->baseline ? o->baseline : "",
             o->baseline ? ", " : "", (long long)s.id);
    snprintf(now.label, sizeof(now.label), "the %s, now",
             strcmp(l.folder, l.real_path) == 0 ? "folder" : "file");
    diff_compare(&then.manifest, &now.manifest, &d);
    status = difference_print(o, &d, then.label, now.label);
out:
    diff_release(&d);
    snapshot_release(&s);
    place_release(&now);
    place_release(&then);
    local_release(&l);
    db_close(db);
    return e.code ? cmd_fail(o, &e) : status;
}
