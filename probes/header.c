#include "probes/header.h"
#include "core/file.h"
#include "core/text.h"
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

/* The first bytes: nothing, or a pointer? False if there is nothing more to read. */
static bool read_first(int fd, struct header *h, char first[POINTER_BYTES_MAX], size_t *ret)
{
    size_t n = h->size_bytes < POINTER_BYTES_MAX ? (size_t)h->size_bytes : POINTER_BYTES_MAX;
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
    *ret = n;
    return true;
}

/* Another format, or a header of *ret bytes (then true). */
static bool read_length(const char *first, size_t n, struct header *h, uint64_t *ret)
{
    struct err e = {0};

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

/* A GGUF header tells its length only at its end, so the window grows until it is all there. */
static void read_gguf(int fd, const char *path, struct header *h)
{
    struct err e = {0};
    bool more = true;
    int rc = 0;

    for (uint64_t bytes = GGUF_WINDOW_BYTES; more && !rc; bytes *= 2) {
        void *window = NULL;
        size_t n = (size_t)(bytes < h->size_bytes ? bytes : h->size_bytes);
        if (mem_try(n, 1, &window, &e) || file_read_at(fd, window, n, 0, &e)) {
            set(h, LOCAL_UNREADABLE, e.msg);
            free(window);
            return;
        }
        rc = gguf_parse(path, window, n, h->size_bytes, &h->findings, &more, &h->gguf, &e);
        free(window);
    }
    if (!rc) {
        h->parsed = h->is_gguf = true;
        rc = gguf_check_size(&h->gguf, h->size_bytes, &e);
    }
    if (rc)
        set(h, text_starts(e.msg, "is short") ? LOCAL_SHORT : LOCAL_MALFORMED, e.msg);
}

static void read_container(int fd, const char *path, enum container container, struct header *h)
{
    char first[POINTER_BYTES_MAX];
    uint64_t bytes;
    size_t n;

    if (!read_first(fd, h, first, &n))
        return;
    if (container == CONTAINER_SAFETENSORS) {
        if (read_length(first, n, h, &bytes))
            read_content(fd, path, bytes, h);
    } else if (gguf_looks(first, n)) {
        read_gguf(fd, path, h);
    } else {
        snprintf(h->message, sizeof(h->message), "is not GGUF: it is %s",
                 container_name(container_of(path, first, n, h->size_bytes)));
        h->state = LOCAL_MALFORMED;
    }
}

void header_read(const char *dir, const char *path, enum container container, struct header *ret)
{
    char full[FILE_PATH_BYTES];
    struct file_stat st;
    struct err e = {0};
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
    read_container(fd, path, container, ret);
    off_t hole = lseek(fd, 0, SEEK_HOLE);
    if (hole >= 0 && (uint64_t)hole < st.size_bytes)
        ret->hole_offset = (uint64_t)hole;
    close(fd);
}

void header_release(struct header *h)
{
    if (h->parsed && h->is_gguf)
        gguf_release(&h->gguf);
    else if (h->parsed)
        safetensors_release(&h->content);
    finding_list_release(&h->findings);
    *h = (struct header){0};
}
