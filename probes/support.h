#ifndef PROBES_SUPPORT_H
#define PROBES_SUPPORT_H
#include "core/err.h"
#include "core/mem.h"
#include "probes/csv.h"
#include <stdbool.h>
#include <stddef.h>

/* What backends say they support: two dated tables, shipped as CSV inside the program, and a file
 * of the same shape from the user before them. Data, never code: each row is one statement of one
 * source, and the answer carries the row. What no row speaks of is unknown, never rejected: a table
 * is older than the backend that it speaks of. */

enum support_kind {
    SUPPORT_FORMATS,   /* probes/format_support.csv */
    SUPPORT_OPERATORS, /* probes/operator_support.csv */
    SUPPORT_KINDS
};

enum support_status {
    SUPPORT_UNKNOWN, /* not in the table; of a row: looked for and not found, or not verified */
    /* formats */
    SUPPORT_NATIVE,      /* the matrix product runs in the stored number format */
    SUPPORT_SUPPORTED,   /* the source says supported and not by which path: less than native */
    SUPPORT_WEIGHT_ONLY, /* unpacked inside the product's kernel: memory saved, no fast maths */
    SUPPORT_CONVERT,     /* packed or quantised anew once, at load */
    SUPPORT_EXPAND,      /* dequantised at load: memory grows by 16 over the stored bits */
    SUPPORT_REJECT,      /* the source says that it does not run */
    /* operators */
    SUPPORT_FUSED,    /* one kernel, merged */
    SUPPORT_PARTIAL,  /* one kernel, for a part of the hardware, shapes or settings */
    SUPPORT_COMPOSED, /* runs as a sequence of general operations */
    SUPPORT_NONE,     /* the source says that there is none */
    SUPPORT_STATUSES
};

#define SUPPORT_TEXT_BYTES_MAX ((size_t)4 << 20) /* the shipped tables are under 80 KiB */
#define SUPPORT_ROWS_MAX 20000
#define SUPPORT_FIELD_BYTES_MAX CSV_FIELD_BYTES_MAX /* of any string of a row */

/* The header lines, which tell the kinds apart. */
#define SUPPORT_FORMATS_HEADER "backend,format,hardware,verdict,condition,source,as_of"
#define SUPPORT_OPERATORS_HEADER "backend,operator,hardware,status,condition,source,as_of"

/* One statement. The fields are those of the CSV.
 *
 * entry is a format as model/quant.h spells it or an operator as model/operators.h does; a last "*"
 * stands for any ending ("fp8-block-*"). GGUF types are spelled "gguf-q4_k"; a method of whose
 * tensors no format name tells ("torchao") stands under its own name.
 * hardware is one word: sm70 ... sm121 (CUDA capability without the dot), mi300, mi355x, x86, arm,
 * tpu, metal, vulkan, ascend, intel_gpu, opencl, hexagon, webgpu; a group, cuda (every sm) or amd
 * (every mi); or any.
 * condition is free text, before which may stand words that narrow the row, then "; " or the end:
 *     class=C    speaks of that module class only (quant_class_name: routed_experts ...)
 *     act=A      speaks of feed-forwards with that activation only (model_act_name: situ ...)
 *     option=O   holds only in a setting that the format does not tell: a start option, or
 *                quantised activations. Such a row is listed, and decides only where no row
 *                without option speaks */
struct support_row {
    const char *backend, *entry, *hardware;
    enum support_status status;
    const char *condition;            /* the whole field; "" for none */
    const char *source, *as_of;       /* as_of: YYYY, YYYY-MM or YYYY-MM-DD */
    const char *class, *act, *option; /* from the condition; NULL where it does not say */
    const char *origin;               /* name of the file that it came from */
    unsigned layer;                   /* 0 is the shipped table, 1 the first file put before it */
};

struct support_table {
    struct support_row *rows; /* the newest layer first, in order of lines */
    size_t count;
    unsigned layers;
};

struct support {
    struct support_table tables[SUPPORT_KINDS];
    struct mem_arena arena;
};

/* The shipped tables. An error would be a mistake of ours, which the tests exclude. */
int support_init(struct support *s, struct err *e);

/* Puts the rows of a CSV text (probes/csv.h says how strict) before those of the table that its
 * header line names. ERR_FORMAT, with origin and line: no known header, no CSV, a word for hardware
 * or status that the kind does not know, a condition word that is not known, an empty backend,
 * entry or source, or a date that is none. ERR_LIMIT names the limit. On failure the tables are as
 * before. */
int support_add(struct support *s, const char *text, size_t bytes, const char *origin,
                struct err *e);

void support_release(struct support *s);

struct support_answer {
    enum support_status status;
    const struct support_row *decisive; /* the row that gave status; NULL if no row did */
    const struct support_row **rows;    /* all rows that match: newest layer first, in a layer the
                                           most specific hardware first, "any" last */
    size_t row_count;
    char why[240]; /* of an unknown: "not in the table: ..."; "" otherwise */
};

/* What backend does with a format on hardware. class (quant_class_name) and act (model_act_name)
 * narrow the rows that name one. NULL is "not known": then such rows are listed, and can only make
 * the answer worse; where no other row speaks it is unknown. Of the rows that match, the newest
 * layer decides; in it those without option= before those with; of these those that name the
 * activation asked for, then the class asked for, before general ones; of these the most specific
 * hardware; of these a definite path before "supported"; of these the worst. A class that holds
 * several formats, "mxfp4-pack-quantized+bf16", gets the worst of its parts. From worst to best:
 * reject, unknown, expand, convert, weight_only, supported, native. Never fails. The rows belong to
 * s and live until it is added to or released. */
void support_format(const struct support *s, const char *backend, const char *format,
                    const char *hardware, const char *class, const char *act,
                    struct support_answer *ret);

/* The same for an operator. From worst to best: none, unknown, composed, partial, fused. */
void support_operator(const struct support *s, const char *backend, const char *op,
                      const char *hardware, struct support_answer *ret);

void support_answer_release(struct support_answer *a);

/* True if the word may stand in the hardware column, so a policy may ask for it. */
bool support_has_hardware(const char *hardware);

const char *support_status_name(enum support_status s); /* "weight_only", "fused" ... "unknown" */
const char *support_kind_name(enum support_kind k);     /* "format", "operator" */

#endif
