#ifndef PROBES_FOREIGN_H
#define PROBES_FOREIGN_H
#include "core/err.h"
#include "probes/local.h"

/* Weights in formats that are recognised and not read. */

/* Looks at a listed file's size and first bytes: sets size, container, and a state if something is
 * wrong: *ret_message is then a sentence, otherwise NULL. */
void foreign_look(const char *dir, struct local_file *f, char message[ERR_MSG_BYTES],
                  enum local_state *ret_state);

/* Findings about weight files that are not read. "unsafe-format": pickles, never read, with what a
 * conversion needs (a note where there are safetensors or GGUF beside them, otherwise a warning);
 * "weights-foreign": other formats, where nothing else is there; "weights-missing": no weight file
 * at all; "weights-misnamed": files named as weights whose first bytes are of no known format. */
void foreign_report(struct local *l);

/* Refuses a subject that is one file of a format that is not read: what it is and what to do. */
int foreign_refuse(const char *path, enum container container, struct err *e);

#endif
