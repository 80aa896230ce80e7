#ifndef AUDIT_THRESHOLD_H
#define AUDIT_THRESHOLD_H
#include "audit/policy.h"
#include "core/err.h"

/* The thresholds of a policy, as one table of names, kinds and ranges: read, checked and printed
 * from the same rows. They stand in sections of the file: operators, context, experts. */

struct cJSON;

#define THRESHOLD_SECTIONS 3

const char *threshold_section(size_t i); /* i < THRESHOLD_SECTIONS */

/* Reads one section of the file into p; keys that are not there leave the value alone. ERR_USAGE,
 * naming the key with its path. */
int threshold_parse(const char *section, const struct cJSON *object, struct policy *p,
                    struct err *e);

/* ERR_USAGE if a warn threshold is above its fail threshold. */
int threshold_check(const struct policy *p, struct err *e);

/* Adds one section's values to an object. */
void threshold_write(const char *section, const struct policy *p, struct cJSON *object);

#endif
