#ifndef CORE_FILE_H
#define CORE_FILE_H
#include "core/buf.h"
#include "core/err.h"
#include <stddef.h>
#include <stdint.h>

#define FILE_PATH_BYTES 4096

/* What a path is. Symbolic links are followed. */
struct file_stat {
    uint64_t size_bytes;
    uint64_t device, inode;
    int64_t mtime_ns, ctime_ns;
};

/* Opens a regular file for reading: never blocks on a FIFO, never opens a directory or device.
 * ERR_NOTFOUND if it does not exist (a dangling link is named as one), ERR_UNSUPPORTED if it is not
 * a regular file (the message says what it is), ERR_IO otherwise. *ret_fd and *ret_stat (may be
 * NULL) are set on success only; close with close(). */
int file_open(const char *path, int *ret_fd, struct file_stat *ret_stat, struct err *e);

/* The stat of a descriptor. */
int file_fstat(int fd, struct file_stat *ret, struct err *e);

/* Reads exactly n bytes at offset. ERR_IO on a system error, ERR_FORMAT if the file ends before. */
int file_read_at(int fd, void *ret, size_t n, uint64_t offset, struct err *e);

/* Appends a whole regular file to b, whose own limit applies (ERR_LIMIT, with the size). On failure
 * b is as it was; other errors are those of file_open. */
int file_read(const char *path, struct buf *b, struct err *e);

/* Writes a file so that it is there whole or not at all: a temporary file beside it, fsync, rename,
 * fsync of the folder. A link is followed, and what it leads to is replaced. ERR_UNSUPPORTED if
 * path is a directory, a FIFO, a device or a link to nothing: such a thing is never replaced. On
 * failure the temporary is removed, whatever was at path is untouched, and the message says which
 * step failed (a full disk says so); ERR_NOTFOUND if the folder is not there, else ERR_IO,
 * ERR_LIMIT. */
int file_write(const char *path, const void *bytes, size_t n, struct err *e);

/* dir/name into ret, which may be dir itself; name alone if dir is empty. ERR_LIMIT if it does not
 * fit FILE_PATH_BYTES. No judgement of name: "../x" leads out of dir. */
int file_join(const char *dir, const char *name, char ret[FILE_PATH_BYTES], struct err *e);

/* Creates the directory and its missing parents, mode 0777 less umask. 0 if it is there. ERR_IO if
 * the system refuses or a file is in the way, ERR_USAGE if path is empty. */
int file_make_dirs(const char *path, struct err *e);

#endif
