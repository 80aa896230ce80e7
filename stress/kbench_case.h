#ifndef STRESS_KBENCH_CASE_H
#define STRESS_KBENCH_CASE_H
#include "core/err.h"
#include "stress/attn.h"
#include "stress/delta.h"
#include "stress/dequant_synthetic.h"
#include "stress/kernel.h"
#include "stress/meter.h"
#include "stress/mla.h"
#include "stress/moe.h"
#include "stress/residual.h"

/* The shapes that the bench runs, and the data for them. */

#define KBENCH_CASE_BLOCKS_MAX 24
#define KBENCH_CASE_SOURCES_MAX 16
#define KBENCH_CASE_EXPERTS_MAX 1024

/* One shape with its inputs; which members are in use depends on the case. */
struct kbench_case_data {
    const char *op; /* of the case */
    struct attn_shape attn;
    struct mla_shape mla;
    struct delta_shape delta;
    struct delta_in delta_in;
    struct residual_shape residual;
    struct moe_shape moe;
    struct moe_weights weights;
    struct dequant_synthetic packed;
    const void *sources[KBENCH_CASE_SOURCES_MAX];
    const void *experts[3][KBENCH_CASE_EXPERTS_MAX];
    const float *x, *w, *norm; /* a token's input; a query and a norm's weight */
    const void *k, *v;         /* caches */
    const void *w_uk, *w_uv;
    float *state, *out;
    uint32_t *idx;
    void *scratch, *composed_scratch;
    void *blocks[KBENCH_CASE_BLOCKS_MAX];
    unsigned block_count;
    uint64_t seed;
};

/* The data as one variant sees it: what the meter calls with. */
struct kbench_case_call {
    struct kbench_case_data *data;
    struct attn_ops attn;
    struct mla_ops mla;
    struct delta_ops delta;
    struct residual_ops residual;
    struct moe_ops moe;
    struct dequant_ops dequant;
    struct prim_ops prim;
    const char *variant;
};

struct kbench_case {
    const char *op;
    const char *words; /* the shape, for a reader */
    struct kernel_shape shape;
    int (*open)(const struct kernel_shape *s, struct kbench_case_data *d, struct err *e);
    void (*init)(struct kbench_case_call *c, unsigned cpu_mask); /* sets ops and variant */
    meter_fn *fused;                                             /* of a struct kbench_case_call */
    meter_fn *composed;                                          /* NULL if there is none */
};

extern const struct kbench_case kbench_case_table[];
extern const size_t kbench_case_count;

/* Allocates and fills the data of a case; close it in any case. ERR_LIMIT if memory is refused. */
int kbench_case_open(const struct kbench_case *k, struct kbench_case_data *d, struct err *e);
void kbench_case_close(struct kbench_case_data *d);

#endif
