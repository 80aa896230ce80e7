#include "audit/cmd_list.h"
#include "audit/stage.h"
#include <stdio.h>

/* Always JSON: that is what a policy is. With --policy FILE the file is checked and printed as it
 * will be used, with the values that it leaves to the built-in policy. */
int cmd_policy(const struct options *o)
{
    struct policy p;
    struct err e = {0};
    struct buf b;

    if (stage_policy(o, &p, &e))
        return cmd_fail(o, &e);
    buf_init(&b, POLICY_BYTES_MAX * 4);
    policy_json(&p, &b);
    if (!buf_check(&b, "the policy", &e))
        fwrite(b.data, 1, b.len, stdout);
    buf_release(&b);
    policy_release(&p);
    return e.code ? cmd_fail(o, &e) : CMD_YES;
}
