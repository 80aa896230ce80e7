#ifndef PROBES_HEADER_H
#define PROBES_HEADER_H
#include "core/err.h"
#include "model/gguf.h"
#include "model/safetensors.h"
#include "probes/local.h"
#include <stdbool.h>

/* The header of one weight file on disk, and what is wrong with the file. */
struct header {
    uint64_t size_bytes; /* 0 if it could not be told */
    enum local_state state;
    char message[ERR_MSG_BYTES]; /* of a state that is not LOCAL_OK: "is short: ...". Else "" */
    bool parsed;                 /* content is there: always with LOCAL_OK, LOCAL_SHORT (if only the
                                    data is cut) and LOCAL_LONG */
    bool is_gguf;                /* which of the two it is */
    struct safetensors content;
    struct gguf gguf;
    uint64_t hole_offset;         /* first byte that was never written (a hole reads as zeros);
                                     size_bytes if there is none or the system cannot tell */
    struct finding_list findings; /* of the parser */
};

/* Reads dir/path, which is to be of that container (CONTAINER_SAFETENSORS or CONTAINER_GGUF): the
 * header, nothing of the data. Never fails: trouble is a state. May run in any thread. Release with
 * header_release. */
void header_read(const char *dir, const char *path, enum container container, struct header *ret);
void header_release(struct header *h);

#endif
