#ifndef AUDIT_DIFFERENCE_H
#define AUDIT_DIFFERENCE_H
#include "audit/cmd.h"
#include "fingerprint/diff.h"

/* Differences for people and for programs: what verify and diff print. */

/* Prints the comparison of two snapshots (labels are fit to print) as text or JSON by o->json, and
 * returns the exit status: CMD_YES if all is identical, CMD_NO if a difference was seen, else
 * CMD_UNKNOWN. */
int difference_print(const struct options *o, const struct diff *d, const char *label_a,
                     const char *label_b);

#endif
