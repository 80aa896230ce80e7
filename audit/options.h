#ifndef AUDIT_OPTIONS_H
#define AUDIT_OPTIONS_H
#include "core/err.h"
#include "core/verdict.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The words of the command line. One table of long options serves all commands; each command says
 * which of them it takes. */

enum {
    OPTION_DB = 1 << 0,
    OPTION_POLICY = 1 << 1,
    OPTION_REPORT = 1 << 2,
    OPTION_BASELINE = 1 << 3,
    OPTION_CONTEXT = 1 << 4,
    OPTION_BUDGET = 1 << 5,
    OPTION_MEMORY = 1 << 6,
    OPTION_THREADS = 1 << 7,
    OPTION_SEED = 1 << 8,
    OPTION_LAYERS = 1 << 9,
    OPTION_TENSORS = 1 << 10,
    OPTION_FAIL_ON = 1 << 11,
    OPTION_TOKENS = 1 << 12,
    OPTION_SUPPORT = 1 << 13,
    OPTION_CPU = 1 << 14,
    OPTION_FORCE = 1 << 15
};

#define OPTIONS_CONTEXTS_MAX 16
#define OPTIONS_BASELINE_BYTES_MAX 200

struct options {
    const struct cmd *cmd;
    bool json;
    const char *db, *policy, *report, *baseline, *support; /* NULL: not given */
    uint64_t contexts[OPTIONS_CONTEXTS_MAX];               /* tokens */
    size_t context_count;
    uint64_t budget_ns;    /* 0: not given */
    uint64_t memory_bytes; /* 0: not given */
    uint64_t tokens;       /* 0: not given */
    unsigned threads;      /* 0: one a processor */
    uint64_t seed;
    bool layers, tensors, force;
    unsigned cpu; /* CPU_* features to use; all that there are unless --cpu says less */
    bool fail_on_given;
    enum verdict_status fail_on; /* VERDICT_FAIL, VERDICT_UNKNOWN or VERDICT_WARN, if given */
    const char *const *args;     /* the other words */
    int arg_count;
};

struct cmd;

/* Parses argv[1..argc) for cmd; argv[0] is the command's name. ERR_USAGE, fit to print, for an
 * option that is unknown or not the command's, given twice, without its value or with one that
 * cannot be read, and for too few or too many words. Sets *ret_help on -h or --help. */
int options_parse(const struct cmd *cmd, int argc, char **argv, struct options *ret, bool *ret_help,
                  struct err *e);

/* The lines of `assay CMD --help` for the options that cmd takes, on stdout. */
void options_print_help(const struct cmd *cmd);

#endif
