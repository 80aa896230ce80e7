#include "audit/options.h"
#include "audit/cmd.h"
#include "core/cpu.h"
#include "core/log.h"
#include "core/pool.h"
#include "core/text.h"
#include <getopt.h>
#include <stdio.h>
#include <string.h>

/* Bits of options that every command takes. */
enum { ALWAYS_HELP = 1 << 28, ALWAYS_VERBOSE = 1 << 29, ALWAYS_QUIET = 1 << 30, JSON = 1 << 27 };

static const struct row {
    unsigned bit;
    const char *name;
    char letter;
    const char *value; /* NULL: takes none */
    const char *help;
} rows[] = {
    {OPTION_CONTEXT, "context", 0, "TOKENS", "context lengths, such as 128K or 128K,1M"},
    {OPTION_BUDGET, "budget", 0, "TIME", "time for measuring; 60s otherwise (kernels: 20s)"},
    {OPTION_MEMORY, "memory", 0, "BYTES", "memory that measuring may take; 4G otherwise"},
    {OPTION_TOKENS, "tokens", 0, "N", "tokens to route in each layer; 64 an expert otherwise"},
    {OPTION_THREADS, "threads", 0, "N", "threads for hashing; one a processor otherwise"},
    {OPTION_SEED, "seed", 0, "N", "seed of everything that is made up; 1 otherwise"},
    {OPTION_CPU, "cpu", 0, "c|avx2|avx512", "kernel variants to use at the most"},
    {OPTION_LAYERS, "layers", 0, NULL, "one line a layer"},
    {OPTION_TENSORS, "tensors", 0, NULL, "one line a tensor"},
    {OPTION_BASELINE, "baseline", 0, "NAME", "the baseline: fingerprint names it, others compare"},
    {OPTION_POLICY, "policy", 0, "FILE", "the policy to judge by; the built-in one otherwise"},
    {OPTION_SUPPORT, "support", 0, "FILE", "support rows that go before the shipped ones"},
    {OPTION_FAIL_ON, "fail-on", 0, "fail|unknown|warn", "the mildest result that exits with 1"},
    {OPTION_REPORT, "report", 0, "FILE", "where the HTML report goes"},
    {OPTION_DB, "db", 0, "FILE", "the database; $XDG_STATE_HOME/assay/assay.db otherwise"},
    {OPTION_FORCE, "force", 0, NULL, "write into a folder that is not empty"},
    {JSON, "json", 0, NULL, "one JSON document on stdout"},
    {ALWAYS_VERBOSE, "verbose", 'v', NULL, "say on stderr what the time went into"},
    {ALWAYS_QUIET, "quiet", 'q', NULL, "only errors and warnings on stderr"},
    {ALWAYS_HELP, "help", 'h', NULL, "this text"},
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]), FIRST_VALUE = 256 };

static bool takes(const struct cmd *cmd, unsigned bit)
{
    return bit >= JSON || (cmd->options & bit);
}

void options_print_help(const struct cmd *cmd)
{
    char left[64];

    puts("\nOptions:");
    for (int i = 0; i < ROWS; i++) {
        if (!takes(cmd, rows[i].bit))
            continue;
        snprintf(left, sizeof(left), "%s%c%s--%s%s%s", rows[i].letter ? "-" : "  ",
                 rows[i].letter ? rows[i].letter : ' ', rows[i].letter ? ", " : " ", rows[i].name,
                 rows[i].value ? " " : "", rows[i].value ? rows[i].value : "");
        printf("  %-34s %s\n", left, rows[i].help);
    }
}

static int parse_contexts(const char *s, struct options *o, struct err *e)
{
    char word[32];

    for (;;) {
        size_t n = strcspn(s, ",");
        if (n >= sizeof(word) || o->context_count == OPTIONS_CONTEXTS_MAX)
            return err_set(e, ERR_USAGE, "up to %d lengths such as 128K,1M are taken",
                           OPTIONS_CONTEXTS_MAX);
        memcpy(word, s, n);
        word[n] = '\0';
        if (text_parse_tokens(word, &o->contexts[o->context_count], e))
            return e->code;
        if (o->contexts[o->context_count++] == 0)
            return err_set(e, ERR_USAGE, "a length of 0 tokens makes no sense");
        if (!s[n])
            return 0;
        s += n + 1;
    }
}

static int parse_word(const char *s, const char *const *words, int count, int *ret, struct err *e)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(s, words[i])) {
            *ret = i;
            return 0;
        }
    return err_set(e, ERR_USAGE, "'%s' is none of %s, %s, %s", s, words[0], words[1], words[2]);
}

static int parse_threads(const char *v, struct options *o, struct err *e)
{
    uint64_t n = 0;

    if (text_parse_u64(v, &n, e))
        return e->code;
    if (n == 0 || n > POOL_THREADS_MAX)
        return err_set(e, ERR_USAGE, "%s is not between 1 and %u", v, POOL_THREADS_MAX);
    o->threads = (unsigned)n;
    return 0;
}

static int parse_number(unsigned bit, const char *v, struct options *o, struct err *e)
{
    uint64_t n = 0;
    int rc;

    switch (bit) {
    case OPTION_BUDGET:
        rc = text_parse_duration_ns(v, &n, e);
        o->budget_ns = n;
        break;
    case OPTION_MEMORY:
        rc = text_parse_bytes(v, &n, e);
        o->memory_bytes = n;
        break;
    case OPTION_TOKENS:
        rc = text_parse_tokens(v, &n, e);
        o->tokens = n;
        break;
    case OPTION_SEED: return text_parse_u64(v, &o->seed, e);
    default: return parse_threads(v, o, e);
    }
    /* 0 stands for "not given": nobody gets the default who asked for nothing */
    if (!rc && n == 0)
        return err_set(e, ERR_USAGE, "0 is too little to measure with");
    return rc;
}

/* A name that can be typed again, and that no message has to cut. */
static int parse_baseline(const char *v, struct options *o, struct err *e)
{
    size_t n = strlen(v);

    for (size_t i = 0, len; i < n; i += len) {
        uint32_t c;
        len = text_utf8_next(v + i, n - i, &c);
        if (len == 0 || !text_is_plain(c))
            return err_set(e, ERR_USAGE, "a name takes no control characters, and is UTF-8");
    }
    if (n > OPTIONS_BASELINE_BYTES_MAX)
        return err_set(e, ERR_USAGE, "a name has up to %d bytes", OPTIONS_BASELINE_BYTES_MAX);
    o->baseline = v;
    return 0;
}

static int parse_value(unsigned bit, const char *v, struct options *o, struct err *e)
{
    static const char *const levels[] = {"c", "avx2", "avx512"};
    static const unsigned masks[] = {0, CPU_AVX2, CPU_AVX2 | CPU_AVX512};
    static const char *const fail_words[] = {"fail", "unknown", "warn"};
    static const enum verdict_status fail_on[] = {VERDICT_FAIL, VERDICT_UNKNOWN, VERDICT_WARN};
    int i = 0;

    switch (bit) {
    case OPTION_DB: o->db = v; return 0;
    case OPTION_POLICY: o->policy = v; return 0;
    case OPTION_REPORT: o->report = v; return 0;
    case OPTION_BASELINE: return parse_baseline(v, o, e);
    case OPTION_SUPPORT: o->support = v; return 0;
    case OPTION_LAYERS: o->layers = true; return 0;
    case OPTION_TENSORS: o->tensors = true; return 0;
    case OPTION_FORCE: o->force = true; return 0;
    case OPTION_CONTEXT: return parse_contexts(v, o, e);
    case JSON: o->json = true; return 0;
    case ALWAYS_VERBOSE: log_set_level(LOG_VERBOSE); return 0;
    case ALWAYS_QUIET: log_set_level(LOG_QUIET); return 0;
    case OPTION_CPU:
        if (parse_word(v, levels, 3, &i, e))
            return e->code;
        o->cpu = cpu_features() & masks[i];
        return 0;
    case OPTION_FAIL_ON:
        if (parse_word(v, fail_words, 3, &i, e))
            return e->code;
        o->fail_on = fail_on[i];
        o->fail_on_given = true;
        return 0;
    default: return parse_number(bit, v, o, e);
    }
}

static const struct row *row_of(int c)
{
    if (c >= FIRST_VALUE && c < FIRST_VALUE + ROWS)
        return &rows[c - FIRST_VALUE];
    for (int i = 0; i < ROWS; i++)
        if (rows[i].letter && rows[i].letter == c)
            return &rows[i];
    return NULL;
}

static int check_words(const struct cmd *cmd, const struct options *o, struct err *e)
{
    if (o->arg_count < cmd->args_min)
        return err_set(e, ERR_USAGE, "missing: %s", cmd->args);
    if (cmd->args_max >= 0 && o->arg_count > cmd->args_max)
        return err_set(e, ERR_USAGE, "'%s' is one word too many", o->args[cmd->args_max]);
    for (int i = 0; i < o->arg_count; i++)
        if (!o->args[i][0])
            return err_set(e, ERR_USAGE, "an empty word is no %s", cmd->args);
    return 0;
}

int options_parse(const struct cmd *cmd, int argc, char **argv, struct options *ret, bool *ret_help,
                  struct err *e)
{
    struct options o = {.cmd = cmd, .seed = 1, .cpu = cpu_features()};
    struct option longs[ROWS + 1] = {{0}};
    unsigned seen = 0;
    int c;

    for (int i = 0; i < ROWS; i++)
        longs[i] = (struct option){.name = rows[i].name,
                                   .has_arg = rows[i].value ? required_argument : no_argument,
                                   .val = FIRST_VALUE + i};
    optind = 1;
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":hvq", longs, NULL)) != -1) {
        const struct row *r = row_of(c);
        const char *word = argv[optind - 1];
        if (c == ':')
            return err_set(e, ERR_USAGE, "%s needs a value", word);
        if (!r)
            return err_set(e, ERR_USAGE, "'%s' is no option of assay %s", word, cmd->name);
        if (!takes(cmd, r->bit))
            return err_set(e, ERR_USAGE, "assay %s takes no --%s", cmd->name, r->name);
        if (r->bit == ALWAYS_HELP) {
            *ret_help = true;
            return 0;
        }
        if ((seen & r->bit) && r->value)
            return err_set(e, ERR_USAGE, "--%s is given twice", r->name);
        seen |= r->bit;
        if (r->value && !optarg[0])
            return err_set(e, ERR_USAGE, "--%s is empty", r->name);
        if (parse_value(r->bit, optarg, &o, e))
            return err_wrap(e, "--%s", r->name);
    }
    o.args = (const char *const *)argv + optind;
    o.arg_count = argc - optind;
    if (check_words(cmd, &o, e))
        return e->code;
    *ret = o;
    return 0;
}
