#ifndef AUDIT_STRICT_H
#define AUDIT_STRICT_H
#include "core/err.h"

/* Reading of JSON that people write by hand: what is not known is an error, and the error says what
 * was probably meant. */

struct cJSON;

/* 0, or ERR_USAGE naming the first key of an object that is none of the known ones (a list that
 * ends in NULL). path stands in front of the key: "" or "target.". */
int strict_keys(const struct cJSON *object, const char *path, const char *const *known,
                struct err *e);

/* ERR_USAGE: a word that is none of the known ones. The message is path, the word, "no such " and
 * what it should have been, and the nearest of the known words if one is near. */
int strict_word(const char *path, const char *what, const char *word, const char *const *known,
                struct err *e);

/* ERR_USAGE: "path: must be (wanted), and is (what was found)". */
int strict_kind(const char *path, const char *wanted, const struct cJSON *found, struct err *e);

#endif
