#include "core/file.h"
#include "core/mem.h"
#include "core/text.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_BYTES ((size_t)64 << 10)
#define TEMPORARY_TRIES 100
#define NAME_SHOWN_BYTES 256 /* of a path in a message, the end of a longer one shown as "..." */

static void from_stat(const struct stat *st, struct file_stat *ret)
{
    *ret = (struct file_stat){
        .size_bytes = (uint64_t)st->st_size,
        .device = (uint64_t)st->st_dev,
        .inode = (uint64_t)st->st_ino,
        .mtime_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec,
        .ctime_ns = (int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec,
    };
}

static const char *kind_name(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR: return "a directory";
    case S_IFIFO: return "a FIFO";
    case S_IFSOCK: return "a socket";
    case S_IFCHR:
    case S_IFBLK: return "a device";
    default: return "no regular file";
    }
}

/* The error of a failed call on path, by errno. */
static int refuse(const char *step, const char *path, struct err *e)
{
    char name[NAME_SHOWN_BYTES];
    int code = errno;

    return err_set(e, code == ENOENT || code == ENOTDIR ? ERR_NOTFOUND : ERR_IO, "cannot %s %s: %s",
                   step, text_plain(path, name, sizeof(name)), strerror(code));
}

/* True if something stands at path that is a symbolic link. */
static bool is_link(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

static int refuse_kind(const char *path, mode_t mode, struct err *e)
{
    char name[NAME_SHOWN_BYTES];

    return err_set(e, ERR_UNSUPPORTED, "%s is %s; a regular file is needed",
                   text_plain(path, name, sizeof(name)), kind_name(mode));
}

int file_open(const char *path, int *ret_fd, struct file_stat *ret_stat, struct err *e)
{
    char name[NAME_SHOWN_BYTES];
    struct stat st;

    /* Asked first, since opening a device or a FIFO is an act of its own. */
    if (stat(path, &st) != 0) {
        if (errno == ENOENT && is_link(path))
            return err_set(e, ERR_NOTFOUND, "%s is a symbolic link to nothing",
                           text_plain(path, name, sizeof(name)));
        return refuse("read", path, e);
    }
    if (!S_ISREG(st.st_mode))
        return refuse_kind(path, st.st_mode, e);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return refuse("read", path, e);
    /* Asked again, since something else may stand there by now. */
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return refuse_kind(path, st.st_mode, e);
    }
    *ret_fd = fd;
    if (ret_stat)
        from_stat(&st, ret_stat);
    return 0;
}

int file_fstat(int fd, struct file_stat *ret, struct err *e)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return err_set(e, ERR_IO, "cannot ask for the size: %s", strerror(errno));
    from_stat(&st, ret);
    return 0;
}

int file_read_at(int fd, void *ret, size_t n, uint64_t offset, struct err *e)
{
    unsigned char *to = ret;
    size_t done = 0;

    if (offset > INT64_MAX || n > (uint64_t)INT64_MAX - offset)
        return err_set(e, ERR_FORMAT, "offset %llu and %zu bytes are past the end of any file",
                       (unsigned long long)offset, n);
    while (done < n) {
        ssize_t got = pread(fd, to + done, n - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_set(e, ERR_IO, "cannot read %zu bytes at offset %llu: %s", n - done,
                           (unsigned long long)(offset + done), strerror(errno));
        if (got == 0)
            return err_set(e, ERR_FORMAT, "the file ends at byte %llu, %zu bytes early",
                           (unsigned long long)(offset + done), n - done);
        done += (size_t)got;
    }
    return 0;
}

int file_read(const char *path, struct buf *b, struct err *e)
{
    char name[NAME_SHOWN_BYTES];
    struct file_stat st;
    size_t before = b->len;
    int fd = -1, rc;

    rc = file_open(path, &fd, &st, e);
    if (rc)
        return rc;
    text_plain(path, name, sizeof(name));
    char *chunk = mem_alloc(READ_BYTES, 1);
    if (b->over || st.size_bytes > b->max - b->len)
        rc = err_set(e, ERR_LIMIT, "%s has %llu bytes, over the limit of %zu", name,
                     (unsigned long long)st.size_bytes, b->max - b->len);
    /* To the end and not to the size: files of /proc have size 0, and a file may grow. */
    while (!rc) {
        ssize_t got = read(fd, chunk, READ_BYTES);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            rc = refuse("read", path, e);
        if (got <= 0)
            break;
        buf_add(b, chunk, (size_t)got);
        if (b->over) {
            b->over = false;
            rc = err_set(e, ERR_LIMIT, "%s is over the limit of %zu bytes", name, b->max - before);
        }
    }
    if (rc) {
        b->len = before;
        b->data[before] = '\0';
    }
    free(chunk);
    close(fd);
    return rc;
}

/* The length of the folder part of path with its slash: 0 for "name", 1 for "/name", 4 for
 * "a/b/name". */
static size_t folder_bytes(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Creates an empty file of a new name in the folder of path. */
static int open_temporary(const char *path, char ret_name[FILE_PATH_BYTES], int *ret_fd,
                          struct err *e)
{
    size_t folder = folder_bytes(path);

    for (unsigned i = 0; i < TEMPORARY_TRIES; i++) {
        int n = snprintf(ret_name, FILE_PATH_BYTES, "%.*s.assay-%ld-%u.tmp", (int)folder, path,
                         (long)getpid(), i);
        if (n >= FILE_PATH_BYTES)
            return err_set(e, ERR_LIMIT, "the path has over %d bytes", FILE_PATH_BYTES - 1);
        int fd = open(ret_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (fd >= 0) {
            *ret_fd = fd;
            return 0;
        }
        if (errno != EEXIST)
            return refuse("create a file beside", path, e);
    }
    return err_set(e, ERR_IO, "%d temporary files are in the way: remove .assay-*.tmp",
                   TEMPORARY_TRIES);
}

static int write_all(int fd, const char *path, const void *bytes, size_t n, struct err *e)
{
    const unsigned char *from = bytes;
    size_t done = 0;

    while (done < n) {
        ssize_t put = write(fd, from + done, n - done);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return refuse("write", path, e);
        done += (size_t)put;
    }
    if (fsync(fd) != 0)
        return refuse("bring to disk", path, e);
    return 0;
}

/* Makes the new name itself survive a loss of power. Some file systems cannot, and say EINVAL. */
static int sync_folder(const char *path, struct err *e)
{
    char folder[FILE_PATH_BYTES] = ".";
    size_t n = folder_bytes(path);
    int rc = 0;

    if (n) {
        memcpy(folder, path, n);
        folder[n] = '\0';
    }
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* A folder that may be written but not read cannot be synchronised; the file is whole in it. */
    if (fd < 0)
        return errno == EACCES ? 0 : refuse("open", folder, e);
    if (fsync(fd) != 0 && errno != EINVAL && errno != EROFS)
        rc = refuse("bring to disk the folder", folder, e);
    close(fd);
    return rc;
}

/* Where to write: path itself, or what it links to. Devices are refused: a rename would replace
 * /dev/null. */
static int resolve_target(const char *path, char ret[FILE_PATH_BYTES], struct err *e)
{
    char name[NAME_SHOWN_BYTES];
    struct stat st;

    if (strnlen(path, FILE_PATH_BYTES) == FILE_PATH_BYTES)
        return err_set(e, ERR_LIMIT, "a path has over %d bytes", FILE_PATH_BYTES - 1);
    if (stat(path, &st) == 0) {
        if (!S_ISREG(st.st_mode))
            return refuse_kind(path, st.st_mode, e);
        if (!is_link(path)) {
            strcpy(ret, path);
            return 0;
        }
        char *real = realpath(path, NULL);
        if (!real)
            return refuse("follow", path, e);
        bool fits = strlen(real) < FILE_PATH_BYTES;
        if (fits)
            strcpy(ret, real);
        free(real);
        return fits ? 0 : err_set(e, ERR_LIMIT, "a path has over %d bytes", FILE_PATH_BYTES - 1);
    }
    if (errno != ENOENT)
        return refuse("write", path, e);
    if (is_link(path))
        return err_set(e, ERR_UNSUPPORTED, "%s is a symbolic link to nothing: remove it first",
                       text_plain(path, name, sizeof(name)));
    strcpy(ret, path);
    return 0;
}

static int write_target(const char *path, const char *target, const void *bytes, size_t n,
                        struct err *e)
{
    char temporary[FILE_PATH_BYTES];
    int fd = -1;
    int rc = open_temporary(target, temporary, &fd, e);

    if (rc)
        return rc;
    rc = write_all(fd, path, bytes, n, e);
    /* Network file systems report a full disk as late as here. */
    if (close(fd) != 0 && !rc)
        rc = refuse("write", path, e);
    if (!rc && rename(temporary, target) != 0)
        rc = refuse("rename the written file to", path, e);
    if (rc) {
        (void)unlink(temporary);
        return rc;
    }
    return sync_folder(target, e);
}

int file_write(const char *path, const void *bytes, size_t n, struct err *e)
{
    static const int ends[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    char target[FILE_PATH_BYTES];
    sigset_t set, was;
    int rc = resolve_target(path, target, e);

    if (rc)
        return rc;
    /* Whoever ends the program now gets the whole file first, and no temporary one beside it. */
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        sigaddset(&set, ends[i]);
    (void)pthread_sigmask(SIG_BLOCK, &set, &was);
    rc = write_target(path, target, bytes, n, e);
    (void)pthread_sigmask(SIG_SETMASK, &was, NULL);
    return rc;
}

int file_join(const char *dir, const char *name, char ret[FILE_PATH_BYTES], struct err *e)
{
    char joined[FILE_PATH_BYTES], shown[NAME_SHOWN_BYTES];
    size_t n = strlen(dir);
    const char *between = n == 0 || dir[n - 1] == '/' ? "" : "/";

    int len = snprintf(joined, sizeof(joined), "%s%s%s", dir, between, name);
    if (len < 0 || len >= FILE_PATH_BYTES)
        return err_set(e, ERR_LIMIT, "the path of %s has over %d bytes",
                       text_plain(name, shown, sizeof(shown)), FILE_PATH_BYTES - 1);
    memcpy(ret, joined, (size_t)len + 1);
    return 0;
}

int file_make_dirs(const char *path, struct err *e)
{
    char part[FILE_PATH_BYTES];
    char name[NAME_SHOWN_BYTES];
    size_t n = strlen(path);
    struct stat st;

    if (n == 0)
        return err_set(e, ERR_USAGE, "the name of a folder is empty");
    if (n >= sizeof(part))
        return err_set(e, ERR_LIMIT, "the path of a folder has over %d bytes", FILE_PATH_BYTES - 1);
    memcpy(part, path, n + 1);
    for (size_t i = 1; i <= n; i++) {
        if (part[i] != '/' && part[i] != '\0')
            continue;
        char was = part[i];
        part[i] = '\0';
        /* Looked at first: mkdir of a folder that is there may say EROFS or EACCES. */
        if (stat(part, &st) != 0 && mkdir(part, 0777) != 0 && errno != EEXIST)
            return err_set(e, ERR_IO, "cannot create the folder %s: %s",
                           text_plain(part, name, sizeof(name)), strerror(errno));
        part[i] = was;
    }
    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
        return err_set(e, ERR_IO, "cannot create the folder %s: a file of that name is in the way",
                       text_plain(path, name, sizeof(name)));
    return 0;
}
