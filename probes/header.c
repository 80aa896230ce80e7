#include "probes/header.h"
#include "core/file.h"
#include "model/pointer.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void set(struct header *h, enum local_state state, const char *message)
{
    h->state = state;
    snprintf(h->message, sizeof(h->message), "%s", message);
}

/* The file cannot be opened: is it not there, or not readable? */
static void refuse(const char *full, const struct err *e, struct header *h)
{
    struct stat st;

    if (e->code != ERR_NOTFOUND)
        set(h, LOCAL_UNREADABLE, e->msg);
    else if (lstat(full, &st) == 0 && S_ISLNK(st.st_mode))
        set(h, LOCAL_MISSING, "is a symbolic link to nothing; download it again");
    else
        set(h, LOCAL_MISSING, "is not in the folder; download it");
}

/* What starts in the file: a pointer, another format, or a header of *ret bytes (then true). */
static bool read_length(int fd, struct header *h, uint64_t *ret)
{
    char first[POINTER_BYTES_MAX];
    size_t n = h->size_bytes < sizeof(first) ? (size_t)h->size_bytes : sizeof(first);
    struct err e = {0};

    if (h->size_bytes == 0) {
        set(h, LOCAL_EMPTY, "is empty: it has 0 bytes; download it again");
        return false;
    }
    if (file_read_at(fd, first, n, 0, &e)) {
        set(h, LOCAL_UNREADABLE, e.msg);
        return false;
    }
    if (pointer_looks(first, n)) {
        h->state = LOCAL_POINTER;
        pointer_words(first, n, h->message, sizeof(h->message));
        return false;
    }
    if (safetensors_header_bytes(first, n, h->size_bytes, ret, &e) == 0)
        return true;
    bool cut =
        e.code == ERR_FORMAT && n >= SAFETENSORS_PREFIX_BYTES && !safetensors_sniff(first, n);
    set(h, cut ? LOCAL_SHORT : LOCAL_MALFORMED, e.msg);
    return false;
}

static void read_content(int fd, const char *path, uint64_t bytes, struct header *h)
{
    struct err e = {0};
    void *text = NULL;

    if (mem_try((size_t)bytes, 1, &text, &e) ||
        file_read_at(fd, text, (size_t)bytes, SAFETENSORS_PREFIX_BYTES, &e)) {
        set(h, LOCAL_UNREADABLE, e.msg);
    } else if (safetensors_parse(path, text, (size_t)bytes, &h->findings, &h->content, &e)) {
        set(h, LOCAL_MALFORMED, e.msg);
    } else {
        h->parsed = true;
        if (safetensors_check_size(&h->content, h->size_bytes, &e))
            set(h, h->size_bytes < h->content.end_bytes ? LOCAL_SHORT : LOCAL_LONG, e.msg);
    }
    free(text);
}

void header_read(const char *dir, const char *path, struct header *ret)
{
    char full[FILE_PATH_BYTES];
    struct file_stat st;
    struct err e = {0};
    uint64_t bytes;
    int fd;

    *ret = (struct header){.state = LOCAL_OK};
    if (file_join(dir, path, full, &e)) {
        set(ret, LOCAL_UNREADABLE, e.msg);
        return;
    }
    if (file_open(full, &fd, &st, &e)) {
        refuse(full, &e, ret);
        return;
    }
    ret->size_bytes = ret->hole_offset = st.size_bytes;
    if (read_length(fd, ret, &bytes))
        read_content(fd, path, bytes, ret);
    off_t hole = lseek(fd, 0, SEEK_HOLE);
    if (hole >= 0 && (uint64_t)hole < st.size_bytes)
        ret->hole_offset = (uint64_t)hole;
    close(fd);
}

void header_release(struct header *h)
{
    if (h->parsed)
        safetensors_release(&h->content);
    finding_list_release(&h->findings);
    *h = (struct header){0};
}
