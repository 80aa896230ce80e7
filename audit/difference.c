#include "audit/difference.h"
#include "core/json.h"
#include "core/text.h"
#include <stdio.h>

static const char *digest_or_state(const struct manifest_entry *f, char hex[SHA256_TEXT_BYTES])
{
    if (!f)
        return "not there";
    return f->state == SHARD_OK ? sha256_text(f->sha256, hex) : shard_state_name(f->state);
}

static void print_side(const char *mark, const struct manifest_entry *f, bool with_path)
{
    char hex[SHA256_TEXT_BYTES], number[TEXT_NUMBER_BYTES], plain[512];

    printf("            %s %s, %s bytes%s%s\n", mark, digest_or_state(f, hex),
           text_count(f->size_bytes, number), with_path ? ", " : "",
           with_path ? text_plain(f->path, plain, sizeof(plain)) : "");
    if (f->why[0])
        printf("              %s\n", f->why);
}

static void print_entry(const struct diff_entry *x)
{
    const struct manifest_entry *f = x->a ? x->a : x->b;
    char plain[512];

    printf("%-11s %s\n", diff_class_name(x->class), text_plain(f->path, plain, sizeof(plain)));
    if (x->a)
        print_side("-", x->a, x->class == DIFF_RENAMED);
    if (x->b)
        print_side("+", x->b, x->class == DIFF_RENAMED);
}

static void print_text(const struct diff *d, const char *a, const char *b)
{
    printf("- %s\n+ %s\n", a, b);
    for (size_t i = 0; i < d->count; i++)
        if (d->items[i].class != DIFF_IDENTICAL)
            print_entry(&d->items[i]);
    for (int c = 0; c < DIFF_CLASSES; c++)
        printf("%s%zu %s", c ? ", " : "", d->counts[c], diff_class_name((enum diff_class)c));
    puts("");
}

static void add_side(struct cJSON *row, const char *key, const struct manifest_entry *f)
{
    char hex[SHA256_TEXT_BYTES];

    if (!f) {
        json_add_null(row, key);
        return;
    }
    struct cJSON *side = json_add_object(row, key);
    json_add_text(side, "path", f->path);
    json_add_text(side, "state", shard_state_name(f->state));
    json_add_u64(side, "bytes", f->size_bytes);
    json_add_text(side, "sha256", f->state == SHARD_OK ? sha256_text(f->sha256, hex) : NULL);
    if (f->why[0])
        json_add_text(side, "why", f->why);
}

static struct cJSON *json_of(const struct diff *d, const char *a, const char *b)
{
    struct cJSON *doc = json_object();

    json_add_text(doc, "a", a);
    json_add_text(doc, "b", b);
    json_add_text(doc, "result",
                  diff_differs(d) ? "different"
                  : diff_equal(d) ? "identical"
                                  : "unknown");
    struct cJSON *counts = json_add_object(doc, "counts");
    for (int c = 0; c < DIFF_CLASSES; c++)
        json_add_u64(counts, diff_class_name((enum diff_class)c), d->counts[c]);
    struct cJSON *files = json_add_array(doc, "files");
    for (size_t i = 0; i < d->count; i++) {
        struct cJSON *row = json_add_object(files, NULL);
        json_add_text(row, "class", diff_class_name(d->items[i].class));
        add_side(row, "a", d->items[i].a);
        add_side(row, "b", d->items[i].b);
    }
    return doc;
}

int difference_print(const struct options *o, const struct diff *d, const char *label_a,
                     const char *label_b)
{
    int status = diff_differs(d) ? CMD_NO : diff_equal(d) ? CMD_YES : CMD_UNKNOWN;

    if (o->json)
        return cmd_print_json(o, json_of(d, label_a, label_b), status);
    print_text(d, label_a, label_b);
    puts(status == CMD_YES  ? "identical"
         : status == CMD_NO ? "different"
                            : "could not be checked: a side has files without a digest");
    return status;
}
