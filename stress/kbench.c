#include "stress/kbench.h"
#include "core/cpu.h"
#include "core/mem.h"
#include "stress/kbench_case.h"
#include <stdlib.h>
#include <string.h>

static const unsigned masks[] = {0, CPU_AVX2, CPU_AVX2 | CPU_AVX512};
#define MASKS (sizeof(masks) / sizeof(masks[0]))
#define ROWS_MAX (2 * MASKS) /* of a case */

/* One case: its rows, of which row 0 is the definition. */
struct series {
    const struct kbench_case *k;
    struct kbench_row *rows;
    size_t count;
    uint64_t budget_ns; /* of a row */
};

static void compare(struct series *s, meter_fn *fn, const char *path, kernel_cost_fn *cost,
                    struct kbench_case_call *call, struct kbench_case_call *definition)
{
    struct kernel_cost c = cost(&s->k->shape);
    struct kbench_row *row = &s->rows[s->count++];
    struct meter_opts o = {.budget_ns = s->budget_ns};
    struct meter_result m;
    enum meter_state state;
    double ratio = 1;

    if (call == definition && fn == s->k->fused) {
        meter_measure(fn, call, &o, &m);
        state = m.state;
    } else {
        struct meter_pair pair;
        meter_compare(fn, call, s->k->fused, definition, &o, &pair);
        m = pair.a;
        ratio = pair.ratio;
        state = pair.state;
    }
    *row = (struct kbench_row){.op = s->k->op,
                               .shape = s->k->words,
                               .path = path,
                               .variant = call->variant,
                               .median_ns = m.median_ns,
                               .ratio = ratio,
                               .bytes = c.bytes,
                               .flops = c.flops,
                               .rounds = m.epochs,
                               .state = state};
}

static void run_case(struct series *s, struct kbench_case_data *d, unsigned cpu_mask)
{
    struct kbench_case_call definition = {.data = d};
    const struct kernel *kernel = kernel_find(s->k->op);
    const char *last = NULL;

    for (unsigned i = 0; i < MASKS; i++) {
        struct kbench_case_call call = {.data = d};
        if ((masks[i] & cpu_mask) != masks[i])
            continue;
        s->k->init(&call, masks[i]);
        prim_init(&call.prim, masks[i]);
        if (last && strcmp(last, call.variant) == 0)
            continue;
        last = call.variant;
        if (i == 0)
            definition = call;
        compare(s, s->k->fused, "fused", kernel->fused, i == 0 ? &definition : &call, &definition);
        if (s->k->composed)
            compare(s, s->k->composed, "composed", kernel->composed, i == 0 ? &definition : &call,
                    &definition);
    }
}

int kbench_run(unsigned cpu_mask, uint64_t budget_ns, struct kbench_row **ret_rows,
               size_t *ret_count, struct err *e)
{
    struct kbench_row *rows = mem_alloc(kbench_case_count * ROWS_MAX, sizeof(*rows));
    struct kbench_case_data *d = mem_alloc(1, sizeof(*d));
    size_t count = 0;
    int rc = 0;

    for (size_t i = 0; i < kbench_case_count && rc == 0; i++) {
        struct series s = {.k = &kbench_case_table[i],
                           .rows = rows + count,
                           .budget_ns = budget_ns / (kbench_case_count * ROWS_MAX)};
        rc = kbench_case_open(s.k, d, e);
        if (rc == 0)
            run_case(&s, d, cpu_mask);
        kbench_case_close(d);
        count += s.count;
    }
    free(d);
    if (rc != 0) {
        free(rows);
        return rc;
    }
    *ret_rows = rows;
    *ret_count = count;
    return 0;
}
