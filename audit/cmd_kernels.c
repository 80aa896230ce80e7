#include "audit/cmd_list.h"
#include "core/buf.h"
#include "core/file.h"
#include "core/json.h"
#include "core/log.h"
#include "core/text.h"
#include "stress/conformance.h"
#include "stress/kbench.h"
#include "stress/kernel.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BENCH_BUDGET_NS 20000000000ull

static int list(const struct options *o)
{
    struct cJSON *doc = json_object();
    struct cJSON *rows = json_add_array(doc, "kernels");

    for (size_t i = 0; i < kernel_count; i++) {
        const struct kernel *k = &kernel_table[i];
        struct cJSON *row = json_add_object(rows, NULL);
        json_add_text(row, "op", k->op);
        json_add_text(row, "summary", k->summary);
        json_add_text(row, "variants", k->variants);
        json_add_text(row, "cost", k->cost_words);
        json_add_real(row, "tolerance", k->tolerance);
        json_add_text(row, "missing", k->missing);
        if (o->json)
            continue;
        printf("%-26s %s\n", k->op, k->summary);
        if (k->missing)
            printf("%-26s not implemented: %s\n", "", k->missing);
        else
            printf("%-26s variants %s; tolerance %g; cost %s\n", "", k->variants, k->tolerance,
                   k->cost_words);
    }
    if (o->json)
        return cmd_print_json(o, doc, CMD_YES);
    json_free(doc);
    return CMD_YES;
}

static void print_bench_row(const struct kbench_row *r)
{
    char time[TEXT_NUMBER_BYTES];

    printf("%-24s %-36s %-9s %-7s %10s %6.2fx %8.2f GB/s %8.2f GFLOP/s  %u rounds%s\n", r->op,
           r->shape, r->path, r->variant, text_duration(r->median_ns, time), r->ratio,
           r->bytes / r->median_ns, r->flops / r->median_ns, r->rounds,
           r->state == METER_OK ? "" : ", unstable");
}

static int bench(const struct options *o)
{
    struct kbench_row *rows = NULL;
    struct err e = {0};
    size_t n = 0;

    if (kbench_run(o->cpu, o->budget_ns ? o->budget_ns : BENCH_BUDGET_NS, &rows, &n, &e))
        return cmd_fail(o, &e);
    struct cJSON *doc = json_object();
    struct cJSON *list_of = json_add_array(doc, "rows");
    for (size_t i = 0; i < n; i++) {
        struct cJSON *row = json_add_object(list_of, NULL);
        json_add_text(row, "op", rows[i].op);
        json_add_text(row, "shape", rows[i].shape);
        json_add_text(row, "path", rows[i].path);
        json_add_text(row, "variant", rows[i].variant);
        json_add_real(row, "median_ns", rows[i].median_ns);
        json_add_real(row, "ratio", rows[i].ratio);
        json_add_real(row, "bytes", rows[i].bytes);
        json_add_real(row, "flops", rows[i].flops);
        json_add_u64(row, "rounds", rows[i].rounds);
        json_add_text(row, "state", meter_state_name(rows[i].state));
        if (!o->json)
            print_bench_row(&rows[i]);
    }
    free(rows);
    if (o->json)
        return cmd_print_json(o, doc, CMD_YES);
    json_free(doc);
    puts("ratio: time of the definition in C over the row's, same run, interleaved, median");
    return CMD_YES;
}

static void print_check(const char *path, const struct conformance_result *r)
{
    char plain[512], reason[512];

    printf("%-8s %-24s %s\n", conformance_state_name(r->state), r->op[0] ? r->op : "-",
           text_plain(path, plain, sizeof(plain)));
    if (r->reason[0])
        printf("         %s\n", text_plain(r->reason, reason, sizeof(reason)));
    for (size_t i = 0; i < r->output_count; i++) {
        const struct conformance_output *x = &r->outputs[i];
        printf("         %-8s %-7s error %-10.3g tolerance %-8.3g %s\n", x->name, x->variant,
               x->error, x->tolerance, x->ok ? "ok" : "MISSED");
    }
}

static void add_check(struct cJSON *rows, const char *path, const struct conformance_result *r)
{
    struct cJSON *row = json_add_object(rows, NULL);

    json_add_text(row, "file", path);
    json_add_text(row, "op", r->op);
    json_add_text(row, "state", conformance_state_name(r->state));
    if (r->reason[0])
        json_add_text(row, "reason", r->reason);
    struct cJSON *outputs = json_add_array(row, "outputs");
    for (size_t i = 0; i < r->output_count; i++) {
        struct cJSON *out = json_add_object(outputs, NULL);
        json_add_text(out, "name", r->outputs[i].name);
        json_add_text(out, "variant", r->outputs[i].variant);
        json_add_real(out, "error", r->outputs[i].error);
        json_add_real(out, "tolerance", r->outputs[i].tolerance);
        json_add_bool(out, "ok", r->outputs[i].ok);
    }
}

/* A file that cannot be read is counted and the others are still checked. */
static int check_file(const struct options *o, const char *path, struct conformance_result *ret)
{
    struct err e = {0};
    struct buf b;

    buf_init(&b, CONFORMANCE_FILE_BYTES_MAX);
    if (!file_read(path, &b, &e))
        conformance_check(b.data, b.len, o->cpu, ret, &e);
    buf_release(&b);
    return e.code ? cmd_fail(o, &e) : 0;
}

static int check(const struct options *o)
{
    size_t counts[CONFORMANCE_MALFORMED + 1] = {0}, unread = 0;
    struct cJSON *doc = json_object();
    struct cJSON *rows = json_add_array(doc, "files");

    for (int i = 1; i < o->arg_count; i++) {
        struct conformance_result r = {0};
        if (check_file(o, o->args[i], &r)) {
            unread++;
            continue;
        }
        counts[r.state]++;
        add_check(rows, o->args[i], &r);
        if (!o->json)
            print_check(o->args[i], &r);
    }
    int status = unread                                                   ? CMD_UNKNOWN
                 : counts[CONFORMANCE_PASS] == (size_t)(o->arg_count - 1) ? CMD_YES
                                                                          : CMD_NO;
    if (o->json)
        return cmd_print_json(o, doc, status);
    json_free(doc);
    printf("%zu pass, %zu fail, %zu not implemented, %zu of an unknown operator, %zu malformed, "
           "%zu unread\n",
           counts[CONFORMANCE_PASS], counts[CONFORMANCE_FAIL], counts[CONFORMANCE_MISSING],
           counts[CONFORMANCE_UNKNOWN_OP], counts[CONFORMANCE_MALFORMED], unread);
    return status;
}

int cmd_kernels(const struct options *o)
{
    struct err e = {0};

    if (!strcmp(o->args[0], "check") && o->arg_count > 1)
        return check(o);
    if (!strcmp(o->args[0], "list") && o->arg_count == 1)
        return list(o);
    if (!strcmp(o->args[0], "bench") && o->arg_count == 1)
        return bench(o);
    err_set(&e, ERR_USAGE, "say list, bench, or check FILE...");
    return cmd_fail(o, &e);
}
