#ifndef AUDIT_CMD_H
#define AUDIT_CMD_H
#include "audit/options.h"

/* Exit statuses, the same for every command. */
enum cmd_exit {
    CMD_YES = 0,    /* ready, equal, or done */
    CMD_NO = 1,     /* looked, and the answer is no */
    CMD_USAGE = 2,  /* the command line makes no sense */
    CMD_UNKNOWN = 3 /* could not find out */
};

struct cmd {
    const char *name;
    int (*run)(const struct options *o); /* returns an exit status; has printed its own errors */
    unsigned options;                    /* OPTION_* bits that it takes beside -h -v -q --json */
    int args_min, args_max;              /* words beside the options; args_max < 0: any number */
    const char *args;                    /* "SUBJECT", as usage shows it */
    const char *summary;                 /* one line */
    const char *help; /* paragraphs after the usage line: what it does, an example, statuses */
};

extern const struct cmd cmd_table[];
extern const size_t cmd_count;

/* Prints err's message with the command's name in front, and returns the exit status that fits its
 * code: CMD_USAGE for ERR_USAGE, else CMD_UNKNOWN. */
int cmd_fail(const struct options *o, const struct err *e);

/* Prints a JSON document on stdout and frees it. Returns status, or CMD_UNKNOWN if it cannot be
 * printed. */
struct cJSON;
int cmd_print_json(const struct options *o, struct cJSON *doc, int status);

#endif
