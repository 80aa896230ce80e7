#include "probes/folder.h"
#include "core/text.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool exists_in(const char *dir, const char *name)
{
    char full[FILE_PATH_BYTES];
    struct stat st;
    struct err e = {0};

    return file_join(dir, name, full, &e) == 0 && stat(full, &st) == 0;
}

/* True if s is n hex digits up to its end. */
static bool is_commit(const char *s)
{
    uint8_t bytes[20];

    return text_unhex(s, bytes, sizeof(bytes));
}

static int resolve_path(const char *path, char ret[FILE_PATH_BYTES], struct err *e)
{
    char plain[300];
    struct stat st;
    char *real = realpath(path, NULL);
    int code = errno;

    text_plain(path, plain, sizeof(plain));
    if (!real)
        return err_set(e, code == ENOENT || code == ENOTDIR ? ERR_NOTFOUND : ERR_IO,
                       "%s cannot be opened: %s; give the path of a folder that holds a model, or "
                       "of a weight file",
                       plain, strerror(code));
    size_t n = strlen(real);
    if (n >= FILE_PATH_BYTES) {
        free(real);
        return err_set(e, ERR_LIMIT, "%s leads to a path of %zu bytes, over %d", plain, n,
                       FILE_PATH_BYTES);
    }
    memcpy(ret, real, n + 1);
    free(real);
    if (stat(ret, &st) != 0)
        return err_set(e, ERR_IO, "%s cannot be opened: %s", plain, strerror(errno));
    if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
        return err_set(e, ERR_UNSUPPORTED, "%s is neither a folder nor a regular file", plain);
    return 0;
}

/* A file: its folder to f->real_path, its name to f->file, both as path has them. */
static int enter_parent(const char *path, struct folder *f, struct err *e)
{
    const char *slash = strrchr(path, '/');
    char parent[FILE_PATH_BYTES];
    int n = slash == path ? snprintf(parent, sizeof(parent), "/")
            : slash       ? snprintf(parent, sizeof(parent), "%.*s", (int)(slash - path), path)
                          : snprintf(parent, sizeof(parent), ".");

    if (n < 0 || (size_t)n >= sizeof(parent))
        return err_set(e, ERR_LIMIT, "a path of over %d bytes", FILE_PATH_BYTES);
    snprintf(f->file, sizeof(f->file), "%s", slash ? slash + 1 : path);
    return resolve_path(parent, f->real_path, e);
}

/* A cache entry: goes on to the snapshot that refs/main names. */
static int enter_snapshot(char path[FILE_PATH_BYTES], struct err *e)
{
    char ref[FILE_PATH_BYTES], plain[300], snapshots[FILE_PATH_BYTES], commit[64];
    struct buf b;
    int rc = file_join(path, "refs/main", ref, e);

    if (rc)
        return rc;
    text_plain(path, plain, sizeof(plain));
    buf_init(&b, 4096);
    rc = file_read(ref, &b, e);
    while (b.len && strchr(" \r\n\t", b.data[b.len - 1]))
        b.data[--b.len] = '\0';
    snprintf(commit, sizeof(commit), "%s", b.data);
    buf_release(&b);
    if (rc)
        return err_set(e, ERR_NOTFOUND,
                       "%s is a hub cache entry without refs/main: name one of the folders in its "
                       "snapshots folder",
                       plain);
    if (!is_commit(commit))
        return err_set(e, ERR_FORMAT, "%s: refs/main does not hold a commit of 40 hex digits",
                       plain);
    rc = file_join(path, "snapshots", snapshots, e);
    if (!rc)
        rc = file_join(snapshots, commit, ref, e);
    if (rc)
        return rc;
    if (!is_folder(ref))
        return err_set(e, ERR_NOTFOUND,
                       "%s: refs/main names the snapshot %s, which is not in the cache; download "
                       "it again",
                       plain, commit);
    return resolve_path(ref, path, e);
}

/* Recognises .../models--org--name/snapshots/<commit>. */
static void look_for_cache(struct folder *f)
{
    char path[FILE_PATH_BYTES];
    char *commit, *parent, *entry;

    memcpy(path, f->real_path, sizeof(path));
    commit = strrchr(path, '/');
    if (!commit || !is_commit(commit + 1))
        return;
    *commit++ = '\0';
    parent = strrchr(path, '/');
    if (!parent || strcmp(parent + 1, "snapshots") != 0)
        return;
    *parent = '\0';
    entry = strrchr(path, '/');
    if (!entry || !text_starts(entry + 1, "models--") || strlen(entry + 1) - 8 >= sizeof(f->repo))
        return;
    snprintf(f->blobs, sizeof(f->blobs), "%.*s/blobs", FILE_PATH_BYTES - 8, path);
    snprintf(f->repo, sizeof(f->repo), "%.*s", (int)sizeof(f->repo) - 1, entry + 1 + 8);
    char *dashes = strstr(f->repo, "--");
    if (dashes) {
        *dashes = '/';
        memmove(dashes + 1, dashes + 2, strlen(dashes + 2) + 1);
    }
    memcpy(f->revision, commit, sizeof(f->revision));
    f->kind = "hub cache snapshot";
}

int folder_resolve(const char *path, struct folder *ret, struct err *e)
{
    struct folder *f = mem_alloc(1, sizeof(*f));
    int rc = resolve_path(path, f->real_path, e);

    if (!rc && !is_folder(f->real_path))
        rc = enter_parent(path, f, e);
    if (!rc && !f->file[0]) {
        const char *name = strrchr(f->real_path, '/') + 1;
        if (text_starts(name, "models--") && exists_in(f->real_path, "snapshots") &&
            !exists_in(f->real_path, "config.json"))
            rc = enter_snapshot(f->real_path, e);
    }
    if (!rc) {
        f->kind = exists_in(f->real_path, ".git") ? "git clone" : "folder";
        look_for_cache(f);
        *ret = *f;
    }
    free(f);
    return rc;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool wanted(const char *name, const char *const *suffixes)
{
    if (name[0] == '.')
        return false;
    for (; *suffixes; suffixes++)
        if (text_ends(name, *suffixes))
            return true;
    return false;
}

int folder_list(const char *dir, const char *const *suffixes, size_t max, struct mem_arena *arena,
                const char ***ret_names, size_t *ret_count, struct err *e)
{
    char plain[300];
    const char **names = NULL;
    size_t count = 0, cap = 0;
    struct dirent *d;
    DIR *list = opendir(dir);
    int rc = 0;

    text_plain(dir, plain, sizeof(plain));
    if (!list)
        return err_set(e, ERR_IO, "%s cannot be read: %s", plain, strerror(errno));
    for (errno = 0; !rc && (d = readdir(list)); errno = 0) {
        if (!wanted(d->d_name, suffixes))
            continue;
        if (count == max)
            rc = err_set(
                e, ERR_LIMIT,
                "%s has more than %zu files that weights, index and config are looked for in",
                plain, max);
        names = mem_grow(names, &cap, count + 1, sizeof(*names));
        names[count++] = mem_arena_strndup(arena, d->d_name, strlen(d->d_name));
    }
    if (!rc && errno)
        rc = err_set(e, ERR_IO, "%s cannot be read to its end: %s", plain, strerror(errno));
    closedir(list);
    if (rc) {
        free(names);
        return rc;
    }
    if (count)
        qsort(names, count, sizeof(*names), compare_names);
    *ret_names = names;
    *ret_count = count;
    return 0;
}

static bool is_below(const char *path, const char *dir)
{
    size_t n = strlen(dir);

    if (n == 1)
        return true; /* the root has everything below it */
    return n > 0 && strncmp(path, dir, n) == 0 && path[n] == '/';
}

bool folder_leaves(const struct folder *f, const char *name, char ret_target[FILE_PATH_BYTES])
{
    char full[FILE_PATH_BYTES];
    struct err e = {0};
    char *real;

    if (file_join(f->real_path, name, full, &e) || !(real = realpath(full, NULL)))
        return false; /* nothing is there, which is noticed elsewhere */
    bool leaves = !is_below(real, f->real_path) && !is_below(real, f->blobs);
    if (leaves)
        snprintf(ret_target, FILE_PATH_BYTES, "%s", real);
    free(real);
    return leaves;
}
