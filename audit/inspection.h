#ifndef AUDIT_INSPECTION_H
#define AUDIT_INSPECTION_H
#include "audit/options.h"
#include "audit/subject.h"

/* What `assay inspect` shows of a subject. */

/* One screen: name, sizes, layers as a picture, cache over context lengths, formats, operators,
 * findings; with --layers and --tensors a line for each of those. */
void inspection_print(const struct subject *s, const struct options *o);

struct cJSON;

/* The same as one JSON document, whose keys the README lists. What is not known is null, and
 * "unknown" says why. The caller owns it. */
struct cJSON *inspection_json(const struct subject *s, const struct options *o);

/* Context lengths of the table: those of --context, else 4K, 32K, 128K and 1M. */
size_t inspection_contexts(const struct options *o, const uint64_t **ret);

#endif
