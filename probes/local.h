#ifndef PROBES_LOCAL_H
#define PROBES_LOCAL_H
#include "core/err.h"
#include "core/fact.h"
#include "core/log.h"
#include "core/mem.h"
#include "model/finding.h"
#include "model/index.h"
#include "model/inventory.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A subject that is a folder on this machine: its files, its config, and the tensors that the
 * headers of its weight files declare. Headers only; the data is never read here. Whatever is wrong
 * with one file is recorded with that file, and the rest goes on. */

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
                     an index model.safetensors, or else every *.safetensors of the folder */
    LOCAL_SPARE,  /* safetensors of the folder that are not part of the checkpoint */
    LOCAL_FOREIGN /* weights in another format (.gguf, pytorch_model*.bin): listed, not read */
};

struct local_file {
    const char *path;    /* relative to real_path, as the index names it; a name, never an escape */
    uint64_t size_bytes; /* 0 if it could not be told */
    enum local_role role;
    enum local_state state;
    const char *message; /* of a state that is not LOCAL_OK: a sentence; otherwise "" */
};

struct local {
    const char *path;      /* as given */
    const char *real_path; /* absolute, links resolved: what db/ knows the subject by */
    const char *kind;      /* "folder", "git clone", "git clone with LFS pointers",
                              "hub cache snapshot" */
    const char *revision;  /* of a hub cache snapshot: the commit, 40 hex digits; otherwise "" */
    const char *repo;      /* of a hub cache snapshot: "org/name"; otherwise "" */
    const char *config;    /* config.json, NUL-terminated; NULL if it could not be read */
    size_t config_bytes;
    const char *config_why; /* why config is NULL: a sentence; otherwise NULL */
    const char *quant;      /* hf_quant_config.json, or NULL */
    size_t quant_bytes;
    struct local_file *files; /* sorted by path */
    size_t file_count;
    bool has_index;
    struct shard_index index;   /* empty without one */
    struct inventory inventory; /* finished. Holds the tensors of every shard whose header could be
                                   read, short and long ones too; complete only if all were whole */
    struct finding_list findings; /* what is odd, in a fixed order; pass on to model_build */
    struct mem_arena arena;
};

/* Reads the folder at path; a cache entry ("models--org--name") stands for the snapshot that its
 * refs/main names. threads as for pool_run; tick may be NULL inside. ERR_NOTFOUND if the folder
 * does not exist, ERR_UNSUPPORTED if path is a file, ERR_IO if the folder cannot be read, ERR_LIMIT
 * if there are more than INVENTORY_SHARDS_MAX shards, or twice as many files; each says what to do.
 * A config.json
 * that is missing, unreadable or over JSON_DOCUMENT_BYTES_MAX is a finding ("config-missing") where
 * there are weight files; without any, that is the error. *ret is set on success only; release with
 * local_release. */
int local_open(const char *path, unsigned threads, const struct progress *progress,
               struct local *ret, struct err *e);
void local_release(struct local *l);

const char *local_state_name(enum local_state s); /* "ok", "missing", "unreadable", ... */

/* The number of shards, and how many of them are LOCAL_OK. */
size_t local_shards(const struct local *l, size_t *ret_whole);

/* SUBJECT_* and DISTRIBUTION_SHARDS* facts, and a DISTRIBUTION_PROBLEM for each shard that is not
 * LOCAL_OK. Without a shard index DISTRIBUTION_SHARDS_NAMED is absent. */
int local_facts(const struct local *l, const struct fact_sink *sink, struct err *e);

#endif
