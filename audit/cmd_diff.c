#include "audit/cmd_list.h"
#include "audit/difference.h"
#include "audit/place.h"

int cmd_diff(const struct options *o)
{
    struct place a = {0}, b = {0};
    struct db *db = NULL;
    struct err e = {0};
    int status = CMD_UNKNOWN;

    if (!place_resolve(o->args[0], o, &db, &a, &e) && !place_resolve(o->args[1], o, &db, &b, &e)) {
        struct diff d;
        diff_compare(&a.manifest, &b.manifest, &d);
        status = difference_print(o, &d, a.label, b.label);
        diff_release(&d);
    }
    place_release(&a);
    place_release(&b);
    db_close(db);
    return e.code ? cmd_fail(o, &e) : status;
}
