#include "model/gguf_set.h"
#include "core/text.h"
#include "model/gguf_pairs.h"
#include "model/gguf_type.h"
#include "model/inventory.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN_BYTES 160
#define NUMBERS_SHOWN 6

struct set {
    const struct gguf_part *parts;
    size_t n;
    struct finding_list *findings;
    bool agree; /* no two parts contradict each other */
};

static const char *plain_path(const struct gguf_part *p, char ret[PLAIN_BYTES])
{
    return text_plain(p->path, ret, PLAIN_BYTES);
}

static uint64_t count_of(const struct gguf_part *p)
{
    uint64_t n = 1;

    (void)gguf_pairs_u64(&p->gguf, "split.count", &n);
    return n ? n : 1;
}

static void check_counts(struct set *s, uint64_t *ret)
{
    char a[PLAIN_BYTES], b[PLAIN_BYTES];
    uint64_t count = count_of(&s->parts[0]);

    for (size_t i = 1; i < s->n; i++) {
        uint64_t other = count_of(&s->parts[i]);
        if (other == count)
            continue;
        finding_add(s->findings, FINDING_FAIL, "split-count-differs",
                    "%s says that the model has %" PRIu64 " %s, %s says %" PRIu64
                    ": the files are not of one set",
                    plain_path(&s->parts[0], a), count, count == 1 ? "part" : "parts",
                    plain_path(&s->parts[i], b), other);
        s->agree = false;
        break;
    }
    *ret = count;
}

/* Which numbers are there: seen[no] is the part that has it plus one. */
static size_t check_numbers(struct set *s, uint64_t count, size_t *seen)
{
    char a[PLAIN_BYTES], b[PLAIN_BYTES];
    size_t found = 0;

    for (size_t i = 0; i < s->n; i++) {
        uint64_t no = 0;
        if (!gguf_pairs_u64(&s->parts[i].gguf, "split.no", &no) && count > 1) {
            finding_add(s->findings, FINDING_FAIL, "split-count-differs",
                        "%s is one of %" PRIu64 " parts and has no split.no that says which",
                        plain_path(&s->parts[i], a), count);
            s->agree = false;
        } else if (no >= count) {
            finding_add(
                s->findings, FINDING_FAIL, "split-count-differs",
                "%s has split.no %" PRIu64 ", with %" PRIu64 " %s they go from 0 to %" PRIu64,
                plain_path(&s->parts[i], a), no, count, count == 1 ? "part" : "parts", count - 1);
            s->agree = false;
        } else if (seen[no]) {
            finding_add(s->findings, FINDING_FAIL, "split-part-twice",
                        "%s and %s are both part %" PRIu64 " of %" PRIu64 " (split.no %" PRIu64 ")",
                        plain_path(&s->parts[seen[no] - 1], a), plain_path(&s->parts[i], b), no + 1,
                        count, no);
            s->agree = false;
        } else {
            seen[no] = i + 1;
            found++;
        }
    }
    return found;
}

static void report_missing(const struct set *s, uint64_t count, const size_t *seen, size_t found)
{
    char numbers[NUMBERS_SHOWN * 24 + 8] = "";
    size_t shown = 0, used = 0;

    for (uint64_t no = 0; no < count && shown <= NUMBERS_SHOWN; no++)
        if (!seen[no]) {
            used +=
                (size_t)snprintf(numbers + used, sizeof(numbers) - used, "%s", shown ? ", " : "");
            if (shown++ == NUMBERS_SHOWN)
                snprintf(numbers + used, sizeof(numbers) - used, "...");
            else
                used +=
                    (size_t)snprintf(numbers + used, sizeof(numbers) - used, "%" PRIu64, no + 1);
        }
    finding_add(s->findings, FINDING_FAIL, "split-part-missing",
                "the model has %" PRIu64 " parts, and %" PRIu64
                " %s not there or could not be read: %s; download what is missing",
                count, count - found, count - found == 1 ? "is" : "are", numbers);
}

static void check_tensors(struct set *s)
{
    uint64_t sum = 0, want;
    char plain[PLAIN_BYTES];

    for (size_t i = 0; i < s->n; i++)
        sum += s->parts[i].gguf.count;
    for (size_t i = 0; i < s->n; i++) {
        if (!gguf_pairs_u64(&s->parts[i].gguf, "split.tensors.count", &want) || want == sum)
            continue;
        finding_add(s->findings, FINDING_FAIL, "split-tensors-differ",
                    "%s says that all parts together have %" PRIu64 " tensors, they have %" PRIu64,
                    plain_path(&s->parts[i], plain), want, sum);
        s->agree = false;
        return;
    }
}

static void check_architectures(struct set *s)
{
    const struct gguf_part *first = NULL;
    char a[PLAIN_BYTES], b[PLAIN_BYTES], x[80], y[80];

    for (size_t i = 0; i < s->n; i++) {
        const char *arch = gguf_pairs_architecture(&s->parts[i].gguf);
        if (!arch)
            continue;
        if (!first) {
            first = &s->parts[i];
            continue;
        }
        const char *other = gguf_pairs_architecture(&first->gguf);
        if (strcmp(other, arch) == 0)
            continue;
        finding_add(s->findings, FINDING_FAIL, "split-architecture-differs",
                    "%s is of architecture %s, %s of %s: the files are not of one set",
                    plain_path(first, a), text_plain(other, x, sizeof(x)),
                    plain_path(&s->parts[i], b), text_plain(arch, y, sizeof(y)));
        s->agree = false;
        return;
    }
    if (!first)
        finding_add(s->findings, FINDING_WARN, "gguf-architecture-missing",
                    "%s: the metadata does not name an architecture (general.architecture)",
                    plain_path(&s->parts[0], a));
}

/* The number in "x-00002-of-00003.gguf", or 0. */
static uint64_t number_in_name(const char *path)
{
    const char *of = NULL;

    for (const char *p = path; (p = strstr(p, "-of-")); p++)
        of = p;
    const char *digits = of;
    while (digits && digits > path && digits[-1] >= '0' && digits[-1] <= '9')
        digits--;
    return !of || digits == of || of - digits > 9 ? 0 : strtoull(digits, NULL, 10);
}

static void check_names(const struct set *s)
{
    char plain[PLAIN_BYTES];

    for (size_t i = 0; i < s->n; i++) {
        uint64_t number = number_in_name(s->parts[i].path), no = 0;
        bool has = gguf_pairs_u64(&s->parts[i].gguf, "split.no", &no);
        if (number == 0 || (has && no + 1 == number))
            continue;
        if (has)
            finding_add(s->findings, FINDING_WARN, "split-name-differs",
                        "%s is part %" PRIu64 " by its metadata (split.no %" PRIu64
                        "): the file was renamed",
                        plain_path(&s->parts[i], plain), no + 1, no);
        else
            finding_add(s->findings, FINDING_WARN, "split-name-differs",
                        "%s is named as a part of a set and has no split.no in its metadata",
                        plain_path(&s->parts[i], plain));
        return;
    }
}

/* What the file says most of its weights have, which no tensor has. */
static void check_file_type(const struct set *s, const struct gguf *main)
{
    const char *name, *format;
    uint64_t type;
    bool any = false;

    if (!gguf_pairs_u64(main, "general.file_type", &type) ||
        gguf_type_of_file(type, &name, &format) != 0)
        return;
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < s->parts[i].gguf.count; k++) {
            const struct tensor *t = &s->parts[i].gguf.tensors[k];
            const struct gguf_type *of = gguf_type_named(format);
            any = true;
            if (of && strcmp(of->name, t->dtype_text) == 0)
                return;
        }
    if (any)
        finding_add(s->findings, FINDING_WARN, "gguf-file-type-differs",
                    "general.file_type is %" PRIu64 " (%s), and no tensor has that format", type,
                    name);
}

void gguf_set_check(const struct gguf_part *parts, size_t n, struct finding_list *findings,
                    struct gguf_set *ret)
{
    struct set s = {.parts = parts, .n = n, .findings = findings, .agree = true};
    struct gguf_set r = {0};

    check_counts(&s, &r.count);
    if (r.count > INVENTORY_SHARDS_MAX) {
        finding_add(findings, FINDING_FAIL, "split-part-missing",
                    "split.count is %" PRIu64 ", over the limit of %d parts", r.count,
                    INVENTORY_SHARDS_MAX);
        s.agree = false;
    } else {
        size_t *seen = mem_alloc((size_t)r.count, sizeof(*seen));
        size_t found = check_numbers(&s, r.count, seen);
        if (found < r.count)
            report_missing(&s, r.count, seen, found);
        else
            check_tensors(&s);
        if (seen[0])
            r.first = seen[0] - 1;
        s.agree &= found == r.count;
        free(seen);
    }
    check_architectures(&s);
    check_names(&s);
    for (size_t i = 0; i < n && !gguf_pairs_architecture(&parts[r.first].gguf); i++)
        if (gguf_pairs_architecture(&parts[i].gguf))
            r.first = i;
    if (s.agree)
        check_file_type(&s, &parts[r.first].gguf);
    r.whole = s.agree;
    *ret = r;
}
