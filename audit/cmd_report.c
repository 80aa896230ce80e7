#include "audit/cmd_list.h"
#include "audit/place.h"
#include "core/file.h"
#include "core/text.h"
#include "db/run.h"
#include "db/view.h"
#include "report/document.h"
#include "report/page.h"
#include <stdio.h>

#define REPORT_BYTES_MAX (256u << 20)

static int find_run(struct db *db, const struct options *o, int64_t *ret, struct err *e)
{
    uint64_t n = 0;

    if (o->arg_count == 0)
        return run_latest(db, NULL, ret, e);
    if (text_parse_u64(o->args[0], &n, e) || n > INT64_MAX)
        return err_set(e, ERR_USAGE, "'%s' is no number of a run", o->args[0]);
    *ret = (int64_t)n;
    return 0;
}

static int write_view(const struct options *o, const struct view *view, struct err *e)
{
    struct buf b;
    int rc;

    buf_init(&b, REPORT_BYTES_MAX);
    if (o->json)
        document_write(view, false, &b);
    else
        page_write(view, &b);
    rc = buf_check(&b, "the report", e);
    if (!rc && o->report && !o->json)
        rc = file_write(o->report, b.data, b.len, e);
    else if (!rc)
        fwrite(b.data, 1, b.len, stdout);
    buf_release(&b);
    return rc;
}

/* The page goes to --report FILE, or to stdout. */
int cmd_report(const struct options *o)
{
    struct db *db = NULL;
    struct view view;
    struct err e = {0};
    int64_t run = 0;

    if (!place_open_db(o, DB_READ, &db, &e) && !find_run(db, o, &run, &e) &&
        !view_load(db, run, &view, &e)) {
        if (!write_view(o, &view, &e) && o->report && !o->json)
            printf("report of run %lld: %s\n", (long long)run, o->report);
        view_release(&view);
    }
    db_close(db);
    return e.code ? cmd_fail(o, &e) : CMD_YES;
}
