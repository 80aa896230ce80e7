#ifndef AUDIT_CMD_LIST_H
#define AUDIT_CMD_LIST_H
#include "audit/cmd.h"

/* One function a command, each in cmd_<name>.c; the table in cmd.c says what each does. */
int cmd_audit(const struct options *o);
int cmd_balance(const struct options *o);
int cmd_coverage(const struct options *o);
int cmd_diff(const struct options *o);
int cmd_fingerprint(const struct options *o);
int cmd_inspect(const struct options *o);
int cmd_kernels(const struct options *o);
int cmd_policy(const struct options *o);
int cmd_report(const struct options *o);
int cmd_sample(const struct options *o);
int cmd_stress(const struct options *o);
int cmd_verify(const struct options *o);

#endif
