#ifndef AUDIT_INSPECTION_GGUF_H
#define AUDIT_INSPECTION_GGUF_H
#include "audit/subject.h"

/* What `assay inspect` shows of GGUF files beside what it shows of every subject: what the metadata
 * says, and how many bits a weight takes by type. */

void inspection_gguf_print(const struct subject *s);

struct cJSON;

/* Adds the member "gguf" to the document. */
void inspection_gguf_json(struct cJSON *doc, const struct subject *s);

#endif
