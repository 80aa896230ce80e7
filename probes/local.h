#ifndef PROBES_LOCAL_H
#define PROBES_LOCAL_H
#include "core/err.h"
#include "core/fact.h"
#include "core/log.h"
#include "core/mem.h"
#include "model/container.h"
#include "model/finding.h"
#include "model/gguf.h"
#include "model/index.h"
#include "model/inventory.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A subject on this machine, a folder or one weight file: its files, its config, and the tensors
 * that the headers of its weight files declare. Headers only; the data is never read here. Whatever
 * is wrong with one file is recorded with that file, and the rest goes on. */

enum local_state {
    LOCAL_OK,         /* there, and whole as far as header and size tell */
    LOCAL_MISSING,    /* the index (or the numbering of the names) has it, the folder has not; a
                         dangling link is one too */
    LOCAL_UNREADABLE, /* no permission, an I/O error, a folder, a FIFO */
    LOCAL_POINTER,    /* a Git-LFS pointer: the content was not fetched */
    LOCAL_EMPTY,      /* 0 bytes */
    LOCAL_SHORT,      /* ends before its header says: the download is not complete */
    LOCAL_LONG,       /* goes on after its header says */
    LOCAL_MALFORMED   /* a header that breaks the format, or another kind of file */
};

enum local_role {
    LOCAL_CONFIG, /* config.json, generation_config.json, hf_quant_config.json */
    LOCAL_INDEX,  /* model.safetensors.index.json */
    LOCAL_SHARD,  /* safetensors that make up the checkpoint: those that the index names; without
                     an index model.safetensors, or else every *.safetensors of the folder. In a
                     folder without any, the GGUF file or the parts of the one that is cut */
    LOCAL_SPARE,  /* safetensors of the folder that are not part of the checkpoint */
    LOCAL_FOREIGN /* weights in another format (pytorch_model*.bin, .onnx, and GGUF where it does
                     not make up the checkpoint): listed, not read */
};

struct local_file {
    const char *path; /* relative to the folder, as the index names it; a name, never an escape */
    uint64_t size_bytes; /* 0 if it could not be told */
    enum local_role role;
    enum local_state state;
    enum container container; /* of shards and spares what they are to be; else what it is */
    const char *message;      /* of a state that is not LOCAL_OK: a sentence; otherwise "" */
};

struct local {
    const char *path;      /* as given */
    const char *real_path; /* absolute, links resolved (of a file those in front of its name): what
                              db/ knows the subject by */
    const char *folder;    /* what the paths of files are relative to: real_path, or the folder that
                              the file is in */
    const char *kind;      /* "folder", "git clone", "git clone with LFS pointers",
                              "hub cache snapshot", "GGUF file", "safetensors file" */
    const char *revision;  /* of a hub cache snapshot: the commit, 40 hex digits; otherwise "" */
    const char *repo;      /* of a hub cache snapshot: "org/name"; otherwise "" */
    const char *config;    /* config.json, NUL-terminated; NULL if it could not be read */
    size_t config_bytes;
    const char *config_why; /* why config is NULL: a sentence; otherwise NULL */
    const char *quant;      /* hf_quant_config.json, or NULL */
    size_t quant_bytes;
    bool has_gguf;            /* the shards are GGUF, and a header could be read */
    struct gguf gguf;         /* the metadata: of the part that has it; without tensors */
    uint64_t gguf_parts;      /* files that it says it is cut into */
    struct local_file *files; /* sorted by path */
    size_t file_count;
    bool has_index;
    struct shard_index index;   /* empty without one */
    struct inventory inventory; /* finished. Holds the tensors of every shard whose header could be
                                   read, short and long ones too; complete only if all were whole */
    struct finding_list findings; /* what is odd, in a fixed order; pass on to model_build */
    struct mem_arena arena;
};

/* Reads the folder or the weight file at path. Of a GGUF file that is a part of a set
 * ("x-00002-of-00003.gguf") all parts are read. A cache entry ("models--org--name") stands for the
 * snapshot that its refs/main names. threads as for pool_run; tick may be NULL inside. ERR_NOTFOUND
 * if it does not exist, ERR_UNSUPPORTED for a file that is neither safetensors nor GGUF (the
 * message says what it is), ERR_IO if it cannot be read, ERR_LIMIT if there are more than
 * INVENTORY_SHARDS_MAX shards, or twice as many files; each says what to do. A config.json that is missing,
 * unreadable or over JSON_DOCUMENT_BYTES_MAX is a finding ("config-missing") where there are
 * safetensors; without any weight file, that is the error. *ret is set on success only; release
 * with local_release. */
int local_open(const char *path, unsigned threads, const struct progress *progress,
               struct local *ret, struct err *e);
void local_release(struct local *l);

const char *local_state_name(enum local_state s); /* "ok", "missing", "unreadable", ... */

/* The number of shards, and how many of them are LOCAL_OK. */
size_t local_shards(const struct local *l, size_t *ret_whole);

/* SUBJECT_* and DISTRIBUTION_SHARDS* facts, and a DISTRIBUTION_PROBLEM for each shard that is not
 * LOCAL_OK. Without a shard index DISTRIBUTION_SHARDS_NAMED is what a GGUF file says, otherwise
 * absent. */
int local_facts(const struct local *l, const struct fact_sink *sink, struct err *e);

#endif
