#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "probes/local.h"
#include "core/file.h"
#include "core/json.h"
#include "tests/unit/fixture_gguf.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Each test has a folder of its own below /tmp, where other users may look in. */
struct world {
    char dir[64];
    struct local l;
    struct err e;
    int rc;
};

static int make(void **state)
{
    struct world *w = calloc(1, sizeof(*w));

    if (!w)
        return -1;
    snprintf(w->dir, sizeof(w->dir), "/tmp/assay-local-XXXXXX");
    if (!mkdtemp(w->dir) || chmod(w->dir, 0755) != 0)
        return -1;
    *state = w;
    return 0;
}

static int drop(void **state)
{
    struct world *w = *state;
    char command[400];

    local_release(&w->l);
    snprintf(command, sizeof(command), "chmod -R u+rwx '%s'; rm -r '%s'", w->dir, w->dir);
    int rc = system(command);
    free(w);
    return rc;
}

static const char *at(const struct world *w, const char *name, char path[200])
{
    snprintf(path, 200, "%s/%s", w->dir, name);
    return path;
}

static void put(const struct world *w, const char *name, const void *bytes, size_t n)
{
    char path[200];
    FILE *f = fopen(at(w, name, path), "wb");

    if (!f)
        fail_msg("%s: %s", path, strerror(errno));
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void put_text(const struct world *w, const char *name, const char *text)
{
    put(w, name, text, strlen(text));
}

/* A shard with one tensor of 64 bytes, and `more` bytes behind the end, or missing before it. */
static void put_shard(const struct world *w, const char *name, const char *tensor, int more)
{
    unsigned char bytes[1000] = {0};
    int n =
        snprintf((char *)bytes + 8, 900,
                 "{\"%s\":{\"dtype\":\"F32\",\"shape\":[4,4],\"data_offsets\":[0,64]}}", tensor);

    bytes[0] = (unsigned char)n;
    memset(bytes + 8 + n, 1, 64);
    put(w, name, bytes, (size_t)(8 + n + 64 + more));
}

static void read_it(struct world *w)
{
    local_release(&w->l);
    w->rc = local_open(w->dir, 2, NULL, &w->l, &w->e);
}

static void read_well(struct world *w)
{
    read_it(w);
    if (w->rc)
        fail_msg("%s", w->e.msg);
}

static const struct local_file *file(const struct world *w, const char *path)
{
    for (size_t i = 0; i < w->l.file_count; i++)
        if (strcmp(w->l.files[i].path, path) == 0)
            return &w->l.files[i];
    fail_msg("%s is not in the list", path);
    return NULL;
}

static const struct finding *finding(const struct world *w, const char *code)
{
    for (size_t i = 0; i < w->l.findings.count; i++)
        if (strcmp(w->l.findings.items[i].code, code) == 0)
            return &w->l.findings.items[i];
    return NULL;
}

static void expect(const struct world *w, const char *path, enum local_state state,
                   const char *part)
{
    const struct local_file *f = file(w, path);

    if (f->state != state || !strstr(f->message, part))
        fail_msg("%s is %s: %s", path, local_state_name(f->state), f->message);
}

#define POINTER                                               \
    "version https://git-lfs.github.com/spec/v1\noid sha256:" \
    "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"

#define INDEX2                                                                                   \
    "{\"metadata\":{\"total_size\":128},\"weight_map\":{\"a\":\"m-00001-of-00002.safetensors\"," \
    "\"b\":\"m-00002-of-00002.safetensors\"}}"
#define S1 "m-00001-of-00002.safetensors"
#define S2 "m-00002-of-00002.safetensors"

static void put_two(const struct world *w)
{
    put_text(w, "config.json", "{\"model_type\":\"x\"}");
    put_text(w, "model.safetensors.index.json", INDEX2);
    put_shard(w, S1, "a", 0);
    put_shard(w, S2, "b", 0);
}

static void a_whole_folder_is_read_without_a_finding(void **state)
{
    struct world *w = *state;
    size_t whole;

    put_two(w);
    put_text(w, "generation_config.json", "{}");
    put_text(w, "hf_quant_config.json", "{\"q\":1}");
    put_text(w, "tokenizer.json", "{}");
    put_text(w, "training_args.bin", "x");
    put_text(w, "._m-00001-of-00002.safetensors", "what macOS leaves");
    read_well(w);
    if (w->l.findings.count)
        fail_msg("%s", w->l.findings.items[0].text);
    assert_string_equal(w->l.kind, "folder");
    assert_string_equal(w->l.config, "{\"model_type\":\"x\"}");
    assert_string_equal(w->l.quant, "{\"q\":1}");
    assert_string_equal(w->l.real_path, w->dir);
    assert_true(w->l.has_index);
    assert_true(w->l.inventory.complete);
    assert_int_equal(w->l.inventory.count, 2);
    assert_int_equal(w->l.inventory.stored_bytes, 128);
    assert_int_equal(w->l.file_count, 6);
    assert_string_equal(w->l.files[0].path, "config.json");
    assert_int_equal(file(w, S1)->role, LOCAL_SHARD);
    assert_true(file(w, S1)->size_bytes > 64);
    assert_int_equal(local_shards(&w->l, &whole), 2);
    assert_int_equal(whole, 2);
}

static void what_is_no_models_folder_is_refused_with_advice(void **state)
{
    struct world *w = *state;
    char path[200];

    read_it(w);
    assert_int_equal(w->rc, ERR_NOTFOUND);
    assert_non_null(strstr(w->e.msg, "no config.json"));
    put_text(w, "file", "");
    assert_int_equal(local_open(at(w, "file", path), 1, NULL, &w->l, &w->e), ERR_UNSUPPORTED);
    assert_non_null(strstr(w->e.msg, "name a folder"));
    assert_int_equal(local_open(at(w, "nowhere", path), 1, NULL, &w->l, &w->e), ERR_NOTFOUND);
    assert_int_equal(local_open("", 1, NULL, &w->l, &w->e), ERR_NOTFOUND);
    assert_int_equal(local_open(at(w, "file/y", path), 1, NULL, &w->l, &w->e), ERR_NOTFOUND);
}

/* Without weights a config that cannot be read ends the audit; with weights it is a finding. */
static void bad_config(struct world *w, int code, const char *part)
{
    char path[200];

    read_it(w);
    assert_int_equal(w->rc, code);
    assert_non_null(strstr(w->e.msg, part));
    put_shard(w, "model.safetensors", "a", 0);
    read_well(w);
    assert_null(w->l.config);
    assert_non_null(strstr(w->l.config_why, part));
    assert_int_equal(finding(w, "config-missing")->severity, FINDING_FAIL);
    assert_int_equal(w->l.inventory.count, 1);
    assert_int_equal(unlink(at(w, "model.safetensors", path)), 0);
}

static void a_config_that_cannot_be_read_is_named(void **state)
{
    struct world *w = *state;
    char path[200];

    bad_config(w, ERR_NOTFOUND, "no config.json");
    assert_int_equal(symlink("gone", at(w, "config.json", path)), 0);
    bad_config(w, ERR_NOTFOUND, "symbolic link to nothing");
    assert_int_equal(unlink(path), 0);
    put_text(w, "config.json", POINTER);
    bad_config(w, ERR_FORMAT, "run git lfs pull");
    assert_int_equal(truncate(path, (off_t)JSON_DOCUMENT_BYTES_MAX + 1), 0);
    bad_config(w, ERR_LIMIT, "67108865");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0644), 0); /* must not hang */
    bad_config(w, ERR_UNSUPPORTED, "a FIFO");
}

static void a_missing_shard_is_a_failure_and_the_rest_is_read(void **state)
{
    struct world *w = *state;
    char path[200];

    put_two(w);
    assert_int_equal(unlink(at(w, S1, path)), 0);
    read_well(w);
    expect(w, S1, LOCAL_MISSING, "not in the folder");
    expect(w, S2, LOCAL_OK, "");
    assert_int_equal(w->l.inventory.count, 1);
    assert_false(w->l.inventory.complete);
    assert_int_equal(finding(w, "file-missing")->severity, FINDING_FAIL);
    assert_non_null(strstr(finding(w, "shards-not-read")->text, "1 of 2 shards"));
    assert_int_equal(symlink("blob-that-went", path), 0);
    read_well(w);
    expect(w, S1, LOCAL_MISSING, "symbolic link to nothing");
}

static void short_and_long_shards_still_tell_their_tensors(void **state)
{
    struct world *w = *state;

    put_two(w);
    put_shard(w, S1, "a", -1); /* the last byte is cut */
    put_shard(w, S2, "b", 5);
    read_well(w);
    expect(w, S1, LOCAL_SHORT, "1 bytes are missing, from tensor \"a\" on");
    expect(w, S2, LOCAL_LONG, "5 bytes at the end");
    assert_int_equal(w->l.inventory.count, 2);
    assert_false(w->l.inventory.complete);
    assert_non_null(finding(w, "file-short"));
    assert_non_null(finding(w, "file-long"));
    put_shard(w, S1, "a", -64);  /* the last tensor is cut */
    put_shard(w, S2, "b", -100); /* cut inside the header */
    read_well(w);
    expect(w, S1, LOCAL_SHORT, "64 bytes are missing");
    expect(w, S2, LOCAL_SHORT, "the header alone needs");
    assert_int_equal(w->l.inventory.count, 1);
}

static void other_things_named_as_shards_are_each_named(void **state)
{
    struct world *w = *state;
    char path[200];
    size_t whole;

    put_text(w, "config.json", "{}");
    put(w, "a.safetensors", "", 0);
    put_text(w, "b.safetensors", "PK\x03\x04zzzzzzzz");
    put_text(w, "c.safetensors", "GGUFzzzzzzzzz");
    put_text(w, "d.safetensors", "\x80\x02}q\x01zzzzzzz");
    put_text(w, "e.safetensors", "<html><body>Not found");
    assert_int_equal(mkdir(at(w, "f.safetensors", path), 0755), 0);
    assert_int_equal(mkfifo(at(w, "g.safetensors", path), 0644), 0);
    put_text(w, "h.safetensors", "abc");
    put(w, "i.safetensors", "\x02\0\0\0\0\0\0\0[]", 10);
    put_shard(w, "j.safetensors", "good", 0);
    read_well(w);
    expect(w, "a.safetensors", LOCAL_EMPTY, "0 bytes");
    expect(w, "b.safetensors", LOCAL_MALFORMED, "ZIP");
    expect(w, "c.safetensors", LOCAL_MALFORMED, "GGUF");
    expect(w, "d.safetensors", LOCAL_MALFORMED, "pickle");
    expect(w, "e.safetensors", LOCAL_MALFORMED, "HTML");
    expect(w, "f.safetensors", LOCAL_UNREADABLE, "a directory");
    expect(w, "g.safetensors", LOCAL_UNREADABLE, "a FIFO");
    expect(w, "h.safetensors", LOCAL_MALFORMED, "too small");
    expect(w, "i.safetensors", LOCAL_MALFORMED, "the header is an array");
    expect(w, "j.safetensors", LOCAL_OK, "");
    assert_int_equal(local_shards(&w->l, &whole), 10);
    assert_int_equal(whole, 1);
    assert_int_equal(w->l.inventory.count, 1);
    assert_false(w->l.inventory.complete);
    assert_int_equal(finding_worst(&w->l.findings), FINDING_FAIL);
}

static void a_file_without_permission_is_unreadable(void **state)
{
    struct world *w = *state;
    char path[200];

    put_two(w);
    assert_int_equal(chmod(at(w, S1, path), 0), 0);
    if (geteuid() == 0 && seteuid(65534) != 0)
        skip();
    read_it(w);
    if (geteuid() == 65534)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(w->rc, 0);
    expect(w, S1, LOCAL_UNREADABLE, "Permission denied");
    expect(w, S2, LOCAL_OK, "");
    assert_int_equal(chmod(w->dir, 0), 0);
    if (geteuid() == 0 && seteuid(65534) != 0)
        skip();
    read_it(w);
    if (geteuid() == 65534)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(w->rc, ERR_IO);
    assert_non_null(strstr(w->e.msg, "Permission denied"));
}

static void a_clone_without_lfs_is_recognised(void **state)
{
    struct world *w = *state;
    char path[200];

    put_two(w);
    assert_int_equal(mkdir(at(w, ".git", path), 0755), 0);
    read_well(w);
    assert_string_equal(w->l.kind, "git clone");
    put_text(w, S1, POINTER);
    put_text(w, S2, POINTER);
    read_well(w);
    assert_string_equal(w->l.kind, "git clone with LFS pointers");
    expect(w, S1, LOCAL_POINTER,
           "expected sha256 4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393, size "
           "12345; run git lfs pull");
    assert_int_equal(w->l.inventory.count, 0);
    assert_non_null(
        strstr(finding(w, "file-pointer")->text, "2 files are Git-LFS pointers: " S1 " is a"));
}

static void an_index_that_cannot_be_used_is_its_own_trouble(void **state)
{
    struct world *w = *state;

    put_two(w);
    put_text(w, "model.safetensors.index.json",
             "{\"weight_map\":{\"a\":\"../" S1 "\",\"b\":\"" S2 "\"}}");
    read_well(w);
    expect(w, "model.safetensors.index.json", LOCAL_MALFORMED, "has a \"..\" part");
    assert_false(w->l.has_index);
    assert_int_equal(w->l.inventory.count, 2); /* the folder's shards are read all the same */
    put_text(w, "model.safetensors.index.json", POINTER);
    read_well(w);
    expect(w, "model.safetensors.index.json", LOCAL_POINTER, "git lfs pull");
}

static void shards_in_subfolders_are_followed(void **state)
{
    struct world *w = *state;
    char path[200];

    put_text(w, "config.json", "{}");
    put_text(w, "model.safetensors.index.json", "{\"weight_map\":{\"a\":\"sub/x.safetensors\"}}");
    assert_int_equal(mkdir(at(w, "sub", path), 0755), 0);
    put_shard(w, "sub/x.safetensors", "a", 0);
    read_well(w);
    expect(w, "sub/x.safetensors", LOCAL_OK, "");
    assert_true(w->l.inventory.complete);
    assert_int_equal(w->l.findings.count, 0);
}

static void stale_shards_beside_the_index_are_left_out(void **state)
{
    struct world *w = *state;

    put_two(w);
    put_shard(w, "m-00007-of-00030.safetensors", "stale", 0);
    put_text(w, "pytorch_model.bin", "PK\x03\x04zzzz");
    read_well(w);
    assert_int_equal(file(w, "m-00007-of-00030.safetensors")->role, LOCAL_SPARE);
    assert_int_equal(file(w, "pytorch_model.bin")->role, LOCAL_FOREIGN);
    assert_int_equal(w->l.inventory.count, 2);
    assert_true(w->l.inventory.complete);
    assert_int_equal(finding(w, "file-spare")->severity, FINDING_WARN);
    assert_int_equal(w->l.findings.count, 1);
}

static void without_an_index_the_numbers_in_the_names_count(void **state)
{
    struct world *w = *state;

    put_text(w, "config.json", "{}");
    put_shard(w, "m-00002-of-00005.safetensors", "a", 0);
    put_shard(w, "m-00003-of-00005.safetensors", "b", 0);
    read_well(w);
    expect(w, "m-00001-of-00005.safetensors", LOCAL_MISSING, "");
    expect(w, "m-00004-of-00005.safetensors", LOCAL_MISSING, "");
    expect(w, "m-00005-of-00005.safetensors", LOCAL_MISSING, "");
    assert_int_equal(local_shards(&w->l, NULL), 5);
    assert_int_equal(w->l.file_count, 6);
    assert_int_equal(w->l.inventory.count, 2);
    assert_false(w->l.inventory.complete);
    assert_non_null(finding(w, "index-missing"));
    put_shard(w, "m-00005-of-00005.safetensors", "c", 0);
    read_well(w);
    assert_int_equal(w->l.file_count, 6);
    expect(w, "m-00004-of-00005.safetensors", LOCAL_MISSING, "");
    /* model.safetensors is the whole checkpoint when it is there */
    put_shard(w, "model.safetensors", "all", 0);
    read_well(w);
    assert_int_equal(local_shards(&w->l, NULL), 1);
    assert_string_equal(w->l.inventory.tensors[0].name, "all");
    assert_true(w->l.inventory.complete);
    assert_non_null(strstr(finding(w, "file-spare")->text, "3 safetensors files"));
}

static void a_folder_without_safetensors_says_so(void **state)
{
    struct world *w = *state;

    put_text(w, "config.json", "{}");
    read_well(w);
    assert_int_equal(finding(w, "weights-missing")->severity, FINDING_WARN);
    assert_false(w->l.inventory.complete);
    put_text(w, "x.h5", "\x89HDF\r\n\x1a\nxxxx");
    read_well(w);
    assert_null(finding(w, "weights-missing"));
    assert_non_null(strstr(finding(w, "weights-foreign")->text, "an HDF5 file"));
    assert_int_equal(file(w, "x.h5")->role, LOCAL_FOREIGN);
    assert_int_equal(file(w, "x.h5")->size_bytes, 12);
}

/* A GGUF file of version 3 without keys and tensors. */
static void put_bare_gguf(const struct world *w, const char *name)
{
    static const unsigned char bytes[32] = {'G', 'G', 'U', 'F', 3};

    put(w, name, bytes, sizeof(bytes));
}

static void gguf_that_is_not_read_says_so_and_asks_for_no_config(void **state)
{
    struct world *w = *state;

    put_text(w, "m.gguf", "GGUF\x03");
    read_well(w);
    assert_false(w->l.has_gguf);
    assert_null(finding(w, "config-missing"));
    assert_non_null(strstr(w->l.config_why, "GGUF file could not be read"));
    put_bare_gguf(w, "m.gguf");
    put_bare_gguf(w, "n.gguf");
    read_well(w);
    assert_non_null(strstr(finding(w, "gguf-several")->text, "2 models"));
    assert_non_null(strstr(w->l.config_why, "several models"));
    assert_null(finding(w, "config-missing"));
    assert_null(finding(w, "weights-foreign"));
}

static void gguf_beside_what_is_read_is_a_note(void **state)
{
    struct world *w = *state;

    put_bare_gguf(w, "m.gguf");
    read_well(w);
    assert_true(w->l.has_gguf);
    assert_null(finding(w, "gguf-spare"));
    put_bare_gguf(w, "mmproj-m.gguf");
    read_well(w);
    assert_true(w->l.has_gguf);
    assert_int_equal(finding(w, "gguf-spare")->severity, FINDING_NOTE);
    assert_non_null(strstr(finding(w, "gguf-spare")->text, "mmproj-m.gguf"));
    put_text(w, "config.json", "{}");
    put_shard(w, "model.safetensors", "a", 0);
    read_well(w);
    assert_false(w->l.has_gguf);
    assert_non_null(strstr(finding(w, "gguf-spare")->text, "2 GGUF files"));
}

static void a_hub_cache_is_followed_without_alarm(void **state)
{
    struct world *w = *state;
    struct world cache = {0};
    char path[300], target[400];
    static const char commit[] = "0123456789abcdef0123456789abcdef01234567";
    static const char *const dirs[] = {"models--org--some--name", "models--org--some--name/blobs",
                                       "models--org--some--name/refs",
                                       "models--org--some--name/snapshots"};

    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof(path), "%s/%s", w->dir, dirs[i]);
        assert_int_equal(mkdir(path, 0755), 0);
    }
    snprintf(cache.dir, sizeof(cache.dir), "%.30s/%s", w->dir, dirs[0]);
    snprintf(path, sizeof(path), "%s/snapshots/%s", cache.dir, commit);
    assert_int_equal(mkdir(path, 0755), 0);
    put_text(&cache, "blobs/c", "{}");
    put_shard(&cache, "blobs/w", "a", 0);
    snprintf(target, sizeof(target), "%s/config.json", path);
    assert_int_equal(symlink("../../blobs/c", target), 0);
    snprintf(target, sizeof(target), "%s/model.safetensors", path);
    assert_int_equal(symlink("../../blobs/w", target), 0);
    /* refs/main is missing, then dangling, then right with a newline behind it */
    assert_int_equal(local_open(cache.dir, 1, NULL, &w->l, &w->e), ERR_NOTFOUND);
    assert_non_null(strstr(w->e.msg, "snapshots"));
    put_text(&cache, "refs/main", "ffffffffffffffffffffffffffffffffffffffff");
    assert_int_equal(local_open(cache.dir, 1, NULL, &w->l, &w->e), ERR_NOTFOUND);
    put_text(&cache, "refs/main", "../../../../etc");
    assert_int_equal(local_open(cache.dir, 1, NULL, &w->l, &w->e), ERR_FORMAT);
    snprintf(target, sizeof(target), "%s\n", commit);
    put_text(&cache, "refs/main", target);
    for (int i = 0; i < 2; i++) {
        local_release(&w->l);
        if (local_open(i ? path : cache.dir, 1, NULL, &w->l, &w->e))
            fail_msg("%s", w->e.msg);
        assert_string_equal(w->l.kind, "hub cache snapshot");
        assert_string_equal(w->l.revision, commit);
        assert_string_equal(w->l.repo, "org/some--name");
        assert_int_equal(w->l.findings.count, 0);
        assert_true(w->l.inventory.complete);
    }
}

static void a_link_out_of_the_folder_is_a_finding_and_followed(void **state)
{
    struct world *w = *state;
    char path[200];

    put_two(w);
    put_shard(w, "elsewhere", "a", 0);
    assert_int_equal(mkdir(at(w, "inner", path), 0755), 0);
    put_text(w, "inner/config.json", "{}");
    assert_int_equal(symlink("../elsewhere", at(w, "inner/model.safetensors", path)), 0);
    assert_int_equal(symlink("loop.safetensors", at(w, "inner/loop.safetensors", path)), 0);
    assert_int_equal(local_open(at(w, "inner", path), 1, NULL, &w->l, &w->e), 0);
    assert_int_equal(w->l.inventory.count, 1);
    assert_int_equal(finding(w, "link-leaves-folder")->severity, FINDING_WARN);
    assert_non_null(strstr(finding(w, "link-leaves-folder")->text, "model.safetensors, to "));
    assert_int_equal(file(w, "loop.safetensors")->state, LOCAL_UNREADABLE);
}

static void parts_that_were_never_written_are_a_finding(void **state)
{
    struct world *w = *state;
    char path[200], header[300];
    int n = snprintf(header, sizeof(header),
                     "        {\"a\":{\"dtype\":\"U8\",\"shape\":[8000000],"
                     "\"data_offsets\":[0,8000000]}}");

    header[0] = (char)(n - 8);
    memset(header + 1, 0, 7);
    put_text(w, "config.json", "{}");
    put(w, "model.safetensors", header, (size_t)n);
    assert_int_equal(truncate(at(w, "model.safetensors", path), n + 8000000), 0);
    read_well(w);
    expect(w, "model.safetensors", LOCAL_OK, ""); /* by header and size it is whole */
    if (!finding(w, "file-holes")) {
        print_message("skip: this file system does not tell where holes are\n");
        skip();
    }
    assert_int_equal(finding(w, "file-holes")->severity, FINDING_WARN);
}

/* Two reads of one broken folder, with one thread and with many, say the same in the same order. */
static void what_is_found_does_not_depend_on_threads(void **state)
{
    struct world *w = *state;
    struct local one, many;
    char name[60];

    put_text(w, "config.json", "{}");
    for (int i = 1; i <= 40; i++) {
        snprintf(name, sizeof(name), "m-%05d-of-00041.safetensors", i);
        put_shard(w, name, i % 3 ? name : "same", i % 5 ? 0 : i % 2 ? 1 : -1);
    }
    assert_int_equal(local_open(w->dir, 1, NULL, &one, &w->e), 0);
    assert_int_equal(local_open(w->dir, 16, NULL, &many, &w->e), 0);
    assert_int_equal(one.findings.count, many.findings.count);
    assert_int_equal(one.findings.count, 5); /* missing, short, long, no index, a name twice */
    assert_int_equal(one.file_count, many.file_count);
    for (size_t i = 0; i < one.file_count; i++)
        assert_string_equal(one.files[i].message, many.files[i].message);
    for (size_t i = 0; i < one.findings.count; i++)
        assert_string_equal(one.findings.items[i].text, many.findings.items[i].text);
    assert_int_equal(one.inventory.count, many.inventory.count);
    for (size_t i = 0; i < one.inventory.count; i++)
        assert_int_equal(one.inventory.tensors[i].shard, many.inventory.tensors[i].shard);
    local_release(&one);
    local_release(&many);
}

static void facts_tell_shards_and_problems(void **state)
{
    struct world *w = *state;
    struct fact_list l;
    char path[200];

    put_two(w);
    assert_int_equal(unlink(at(w, S2, path)), 0);
    read_well(w);
    fact_list_init(&l);
    struct fact_sink sink = fact_list_sink(&l);
    assert_int_equal(local_facts(&w->l, &sink, &w->e), 0);
    assert_int_equal(fact_list_find(&l, FACT_DISTRIBUTION_SHARDS, "")->i, 1);
    assert_int_equal(fact_list_find(&l, FACT_DISTRIBUTION_SHARDS_NAMED, "")->i, 2);
    const struct fact *f = fact_list_find(&l, FACT_DISTRIBUTION_PROBLEM, S2);
    assert_non_null(f);
    assert_non_null(strstr(f->text, "missing: "));
    assert_string_equal(fact_list_find(&l, FACT_SUBJECT_PATH, "")->text, w->dir);
    fact_list_release(&l);
    assert_int_equal(unlink(at(w, "model.safetensors.index.json", path)), 0);
    read_well(w);
    fact_list_init(&l);
    sink = fact_list_sink(&l);
    assert_int_equal(local_facts(&w->l, &sink, &w->e), 0);
    assert_int_equal(fact_list_find(&l, FACT_DISTRIBUTION_SHARDS_NAMED, "")->state, FACT_ABSENT);
    fact_list_release(&l);
}

/* --- one file as a subject, GGUF, and formats that are not read ------------------------------- */

/* A part with one tensor of 16 bytes; number from 1, 0 for a file that is not cut. */
static void put_gguf(const struct world *w, const char *name, unsigned number, unsigned count)
{
    static struct made m;
    char path[200], tensor[20];

    snprintf(tensor, sizeof(tensor), "t%u", number);
    made_start(&m, 3, 1, number ? 4 : 1);
    made_pair_text(&m, "general.architecture", "mamba");
    if (number) {
        made_pair_u16(&m, "split.no", number - 1);
        made_pair_u16(&m, "split.count", count);
        made_key(&m, "split.tensors.count", 5);
        made_uint(&m, count, 4);
    }
    made_tensor(&m, tensor, 1, (uint64_t[]){4}, 0, 0);
    made_pad(&m, 32);
    made_data(&m, 32);
    assert_int_equal(made_write(&m, at(w, name, path)), 0);
}

static void move(const struct world *w, const char *from, const char *to)
{
    char a[200], b[200];

    assert_int_equal(rename(at(w, from, a), at(w, to, b)), 0);
}

static void open_file(struct world *w, const char *name)
{
    char path[200];

    local_release(&w->l);
    w->e = (struct err){0};
    w->rc = local_open(at(w, name, path), 2, NULL, &w->l, &w->e);
}

static void one_file_is_a_subject(void **state)
{
    struct world *w = *state;
    char path[200];

    put_text(w, "config.json", "{}");
    put_shard(w, "other.safetensors", "b", 0);
    put_shard(w, "x.safetensors", "a", 0);
    open_file(w, "x.safetensors");
    assert_int_equal(w->rc, 0);
    assert_string_equal(w->l.kind, "safetensors file");
    assert_int_equal(w->l.file_count, 1);
    assert_int_equal(w->l.inventory.count, 1);
    assert_true(w->l.inventory.complete);
    assert_null(w->l.config);
    assert_int_equal(w->l.findings.count, 0);
    assert_string_equal(w->l.real_path, at(w, "x.safetensors", path));
    assert_string_equal(w->l.folder, w->dir);
    put_gguf(w, "x.gguf", 0, 0);
    open_file(w, "x.gguf");
    assert_string_equal(w->l.kind, "GGUF file");
    assert_true(w->l.has_gguf);
    assert_int_equal(w->l.inventory.count, 1);
    assert_int_equal(w->l.findings.count, 0);
    /* its name does not make it what it is */
    move(w, "x.gguf", "weights");
    open_file(w, "weights");
    assert_string_equal(w->l.kind, "GGUF file");
}

static void a_file_of_another_format_is_refused_by_its_name(void **state)
{
    struct world *w = *state;

    put(w, "x.bin", "\x80\2}q\0.", 6);
    open_file(w, "x.bin");
    assert_int_equal(w->rc, ERR_UNSUPPORTED);
    assert_non_null(strstr(w->e.msg, "a Python pickle"));
    assert_non_null(strstr(w->e.msg, "safetensors.torch.save_model"));
    put(w, "x.h5", "\x89HDF\r\n\x1a\n", 8);
    open_file(w, "x.h5");
    assert_int_equal(w->rc, ERR_UNSUPPORTED);
    assert_non_null(strstr(w->e.msg, "an HDF5 file"));
}

static void a_file_that_is_broken_is_a_subject_with_a_trouble(void **state)
{
    struct world *w = *state;

    put_text(w, "x.gguf", POINTER);
    open_file(w, "x.gguf");
    assert_int_equal(w->rc, 0);
    expect(w, "x.gguf", LOCAL_POINTER, "size 12345");
    put_text(w, "x.gguf", "GGUF\3");
    open_file(w, "x.gguf");
    expect(w, "x.gguf", LOCAL_SHORT, "is short");
    put_text(w, "x.gguf", "");
    open_file(w, "x.gguf");
    expect(w, "x.gguf", LOCAL_EMPTY, "0 bytes");
    put(w, "x.gguf", "PK\3\4", 4);
    open_file(w, "x.gguf");
    assert_int_equal(w->rc, ERR_UNSUPPORTED);
    put_text(w, "x.safetensors", "random bytes, and more of them");
    open_file(w, "x.safetensors");
    expect(w, "x.safetensors", LOCAL_MALFORMED, "");
    assert_false(w->l.inventory.complete);
}

static void parts_of_a_gguf_model_belong_together(void **state)
{
    static const char *const subjects[] = {"", "m-00001-of-00003.gguf", "m-00003-of-00003.gguf"};
    struct world *w = *state;
    char path[200];
    size_t whole;

    put_gguf(w, "m-00001-of-00003.gguf", 1, 3);
    put_gguf(w, "m-00002-of-00003.gguf", 2, 3);
    put_gguf(w, "m-00003-of-00003.gguf", 3, 3);
    for (size_t i = 0; i < 3; i++) {
        open_file(w, subjects[i]);
        assert_int_equal(w->rc, 0);
        assert_int_equal(local_shards(&w->l, &whole), 3);
        assert_int_equal(whole, 3);
        assert_int_equal(w->l.inventory.count, 3);
        assert_true(w->l.inventory.complete);
        assert_int_equal(w->l.gguf_parts, 3);
        assert_int_equal(w->l.findings.count, 0);
    }
    assert_int_equal(unlink(at(w, "m-00003-of-00003.gguf", path)), 0);
    for (size_t i = 0; i < 2; i++) {
        open_file(w, subjects[i]);
        expect(w, "m-00003-of-00003.gguf", LOCAL_MISSING, "");
        assert_int_equal(finding(w, "split-part-missing")->severity, FINDING_FAIL);
        assert_false(w->l.inventory.complete);
        assert_int_equal(w->l.inventory.count, 2);
    }
}

static void of_several_gguf_models_none_is_taken(void **state)
{
    struct world *w = *state;

    put_gguf(w, "a-Q4_K_M.gguf", 0, 0);
    put_gguf(w, "a-Q8_0.gguf", 0, 0);
    read_well(w);
    assert_non_null(strstr(finding(w, "gguf-several")->text, "2 models"));
    assert_non_null(strstr(finding(w, "gguf-several")->text, "a-Q4_K_M.gguf, a-Q8_0.gguf"));
    assert_int_equal(local_shards(&w->l, NULL), 0);
    /* a projector of images is no model of its own */
    move(w, "a-Q8_0.gguf", "mmproj-a.gguf");
    read_well(w);
    assert_null(finding(w, "gguf-several"));
    assert_int_equal(local_shards(&w->l, NULL), 1);
    assert_int_equal(file(w, "mmproj-a.gguf")->role, LOCAL_FOREIGN);
    /* safetensors come first */
    put_shard(w, "model.safetensors", "a", 0);
    read_well(w);
    assert_int_equal(file(w, "a-Q4_K_M.gguf")->role, LOCAL_FOREIGN);
    assert_false(w->l.has_gguf);
}

static void pickles_are_never_read_and_told(void **state)
{
    struct world *w = *state;

    put_text(w, "config.json", "{}");
    put(w, "pytorch_model.bin", "\x80\2}q\0.", 6);
    put(w, "more.pt", "\x80\2}q\0.", 6);
    put(w, "odd.ckpt", "what is this", 12);
    read_well(w);
    assert_int_equal(finding(w, "unsafe-format")->severity, FINDING_WARN);
    assert_non_null(strstr(finding(w, "unsafe-format")->text, "2 files, the first is more.pt"));
    assert_non_null(strstr(finding(w, "weights-misnamed")->text, "odd.ckpt"));
    assert_null(finding(w, "weights-missing"));
    put_shard(w, "model.safetensors", "a", 0);
    read_well(w);
    assert_int_equal(finding(w, "unsafe-format")->severity, FINDING_NOTE);
    assert_int_equal(w->l.inventory.count, 1);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, make, drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_whole_folder_is_read_without_a_finding),
        CASE(what_is_no_models_folder_is_refused_with_advice),
        CASE(a_config_that_cannot_be_read_is_named),
        CASE(a_missing_shard_is_a_failure_and_the_rest_is_read),
        CASE(short_and_long_shards_still_tell_their_tensors),
        CASE(other_things_named_as_shards_are_each_named),
        CASE(a_file_without_permission_is_unreadable),
        CASE(a_clone_without_lfs_is_recognised),
        CASE(an_index_that_cannot_be_used_is_its_own_trouble),
        CASE(shards_in_subfolders_are_followed),
        CASE(stale_shards_beside_the_index_are_left_out),
        CASE(without_an_index_the_numbers_in_the_names_count),
        CASE(a_folder_without_safetensors_says_so),
        CASE(gguf_that_is_not_read_says_so_and_asks_for_no_config),
        CASE(gguf_beside_what_is_read_is_a_note),
        CASE(a_hub_cache_is_followed_without_alarm),
        CASE(a_link_out_of_the_folder_is_a_finding_and_followed),
        CASE(parts_that_were_never_written_are_a_finding),
        CASE(what_is_found_does_not_depend_on_threads),
        CASE(facts_tell_shards_and_problems),
        CASE(one_file_is_a_subject),
        CASE(a_file_of_another_format_is_refused_by_its_name),
        CASE(a_file_that_is_broken_is_a_subject_with_a_trouble),
        CASE(parts_of_a_gguf_model_belong_together),
        CASE(of_several_gguf_models_none_is_taken),
        CASE(pickles_are_never_read_and_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
