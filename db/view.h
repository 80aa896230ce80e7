#ifndef DB_VIEW_H
#define DB_VIEW_H
#include "core/fact.h"
#include "core/mem.h"
#include "core/verdict.h"
#include "db/db.h"
#include "db/run.h"
#include "db/snapshot.h"

/* Everything that a report prints of one run, read in one transaction. */
struct view {
    int64_t run; /* 0: of a run that could not be recorded */
    const char *subject, *subject_kind;
    const char *digest;               /* snapshot digest, or NULL */
    int64_t started, finished;        /* seconds since 1970; finished 0 while it is not */
    int64_t snapshot_first_seen;      /* when this digest was first recorded; 0 if there is none */
    const char *policy_name, *policy; /* JSON */
    struct fact_list facts;           /* in the order they were put; points and loads too */
    struct verdict *verdicts;         /* in the order they were put */
    size_t verdict_count;
    struct snapshot_file *files; /* sorted by path */
    size_t file_count;
    struct run_support *supports; /* rows that the coverage verdicts were read from */
    size_t support_count;
    struct mem_arena arena;
};

/* ERR_NOTFOUND if there is no such run. *ret is set on success only. */
int view_load(struct db *db, int64_t run, struct view *ret, struct err *e);
void view_release(struct view *v);

/* The first verdict of that item with `sum` set, or NULL. */
const struct verdict *view_sum(const struct view *v, enum verdict_item item);

#endif
