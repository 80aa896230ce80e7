#include "probes/foreign.h"
#include "core/file.h"
#include "core/text.h"
#include "model/pointer.h"
#include <stdio.h>
#include <unistd.h>

/* What has to be done before anything can be said of pickles; the steps are those of the
 * safetensors documentation (convert weights, shared tensors). */
#define CONVERT                                                                                   \
    "where nothing is at stake, load the weights with torch.load(weights_only=True), store them " \
    "with safetensors.torch.save_model (it takes care of tensors that share memory), with an "    \
    "index if there are several files; or take a revision that has safetensors"

void foreign_look(const char *dir, struct local_file *f, char message[ERR_MSG_BYTES],
                  enum local_state *ret_state)
{
    char full[FILE_PATH_BYTES], first[CONTAINER_BYTES];
    struct file_stat st;
    struct err e = {0};
    int fd, rc = file_join(dir, f->path, full, &e);

    *ret_state = LOCAL_OK;
    if (!rc)
        rc = file_open(full, &fd, &st, &e);
    if (rc) {
        *ret_state = rc == ERR_NOTFOUND ? LOCAL_MISSING : LOCAL_UNREADABLE;
        snprintf(message, ERR_MSG_BYTES, "%s", e.msg);
        return;
    }
    f->size_bytes = st.size_bytes;
    size_t n = st.size_bytes < sizeof(first) ? (size_t)st.size_bytes : sizeof(first);
    if (file_read_at(fd, first, n, 0, &e)) {
        *ret_state = LOCAL_UNREADABLE;
        snprintf(message, ERR_MSG_BYTES, "%s", e.msg);
    } else {
        f->container = container_of(f->path, first, n, st.size_bytes);
        if (f->container == CONTAINER_POINTER) {
            *ret_state = LOCAL_POINTER;
            pointer_words(first, n, message, ERR_MSG_BYTES);
        } else if (f->container == CONTAINER_EMPTY) {
            *ret_state = LOCAL_EMPTY;
            snprintf(message, ERR_MSG_BYTES, "is empty: it has 0 bytes");
        }
    }
    close(fd);
}

struct count {
    size_t files;
    const char *first;
};

static void count(struct count *c, const struct local_file *f)
{
    if (c->files++ == 0)
        c->first = f->path;
}

static void report_unsafe(struct local *l, const struct count *c, bool read)
{
    char plain[200];

    text_plain(c->first, plain, sizeof(plain));
    if (read)
        finding_add(&l->findings, FINDING_NOTE, "unsafe-format",
                    "%zu weight %s beside the ones that are read %s pickles, which can run code "
                    "when they are loaded; the first is %s",
                    c->files, c->files == 1 ? "file" : "files", c->files == 1 ? "holds" : "hold",
                    plain);
    else
        finding_add(&l->findings, FINDING_WARN, "unsafe-format",
                    "the weights are pickles (%zu %s, the first is %s): loading them can run code "
                    "that they bring, so they are never read here and tensors are unknown. To have "
                    "them audited: " CONVERT,
                    c->files, c->files == 1 ? "file" : "files", plain);
}

/* "2 ONNX models, 1 HDF5 file" */
static void report_foreign(struct local *l, const struct count *counts)
{
    char plain[200];
    struct buf b;
    size_t files = 0;
    const char *first = NULL;

    buf_init(&b, 2000);
    for (int c = 0; c < CONTAINERS; c++) {
        if (counts[c].files == 0)
            continue;
        if (counts[c].files == 1)
            buf_addf(&b, "%s%s", files ? ", " : "", container_name((enum container)c));
        else
            buf_addf(&b, "%s%zu %s", files ? ", " : "", counts[c].files,
                     container_names((enum container)c));
        files += counts[c].files;
        if (!first)
            first = counts[c].first;
    }
    if (files)
        finding_add(&l->findings, FINDING_WARN, "weights-foreign",
                    "there are no safetensors and no GGUF; what is there is not read, so tensors "
                    "are unknown: %s (the first is %s)",
                    b.data, text_plain(first, plain, sizeof(plain)));
    buf_release(&b);
}

void foreign_report(struct local *l)
{
    struct count counts[CONTAINERS] = {0}, unsafe = {0}, unknown = {0};
    bool read = local_shards(l, NULL) > 0;
    size_t foreign = 0;
    char plain[200];

    for (size_t i = 0; i < l->file_count; i++) {
        const struct local_file *f = &l->files[i];
        if (f->role != LOCAL_FOREIGN)
            continue;
        foreign++;
        if (container_unsafe(f->container))
            count(&unsafe, f);
        else if (f->container == CONTAINER_UNKNOWN && f->state == LOCAL_OK)
            count(&unknown, f);
        else if (f->container != CONTAINER_UNKNOWN && f->container != CONTAINER_EMPTY &&
                 f->container != CONTAINER_POINTER && f->container != CONTAINER_GGUF)
            count(&counts[f->container], f);
    }
    if (unsafe.files)
        report_unsafe(l, &unsafe, read);
    if (!read)
        report_foreign(l, counts);
    if (unknown.files)
        finding_add(&l->findings, FINDING_WARN, "weights-misnamed",
                    "%zu %s named as weights and %s of no format that is known here: %s",
                    unknown.files, unknown.files == 1 ? "file is" : "files are",
                    unknown.files == 1 ? "is" : "are", text_plain(unknown.first, plain, 200));
    if (!read && foreign == 0)
        finding_add(&l->findings, FINDING_WARN, "weights-missing",
                    "the folder has no weight files: only the config speaks");
}

int foreign_refuse(const char *path, enum container container, struct err *e)
{
    char plain[200];

    text_plain(path, plain, sizeof(plain));
    if (container_unsafe(container))
        return err_set(
            e, ERR_UNSUPPORTED,
            "%s is %s, which can run code when it is loaded and is never read here: " CONVERT,
            plain, container_name(container));
    return err_set(e, ERR_UNSUPPORTED,
                   "%s is %s: name a folder with a model, a safetensors file or a GGUF file", plain,
                   container == CONTAINER_UNKNOWN ? "a file of no format that is known here"
                                                  : container_name(container));
}
