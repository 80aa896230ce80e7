#include "audit/cmd.h"
#include "core/log.h"
#include "core/version.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void print_usage(FILE *to)
{
    fputs("usage: assay COMMAND [OPTIONS] ...\n"
          "Tells whether an open-weight model that can be downloaded can also be run.\n\n",
          to);
    for (size_t i = 0; i < cmd_count; i++)
        fprintf(to, "  %-12s %s\n", cmd_table[i].name, cmd_table[i].summary);
    fputs("\nassay COMMAND --help says more; assay --version names the version.\n"
          "Exit status: 0 yes or done, 1 no, 2 usage, 3 could not find out.\n",
          to);
}

static void print_help(const struct cmd *cmd)
{
    printf("usage: assay %s [OPTIONS]%s%s\n%s.\n", cmd->name, cmd->args[0] ? " " : "", cmd->args,
           cmd->summary);
    if (cmd->help[0])
        printf("\n%s\n", cmd->help);
    options_print_help(cmd);
}

static int run(const struct cmd *cmd, int argc, char **argv)
{
    struct options o;
    struct err e = {0};
    bool help = false;

    if (options_parse(cmd, argc, argv, &o, &help, &e)) {
        log_error("%s: %s", cmd->name, e.msg);
        log_error("see assay %s --help", cmd->name);
        return CMD_USAGE;
    }
    if (help) {
        print_help(cmd);
        return CMD_YES;
    }
    return cmd->run(&o);
}

/* Results that did not reach their reader are no results: a full disk must not look like a yes. */
static int close_stdout(int status)
{
    int failed = ferror(stdout); /* its reason is gone by now */

    errno = 0;
    if (fclose(stdout) || failed) {
        log_error("cannot write the results: %s",
                  errno ? strerror(errno) : "their reader is gone, or the disk is full");
        return CMD_UNKNOWN;
    }
    return status;
}

/* A caller may start the program with its standard streams closed. The next file opened would then
 * take the number of one, and what is printed would go into that file. Nothing can be written to
 * what is put there instead, so that results which reach nobody still end in an error. */
static void keep_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", O_RDONLY);
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";

    keep_standard_streams();

    /* both then come back as errors of write, which have a message and a status */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help")) {
        print_usage(stdout);
        return close_stdout(CMD_YES);
    }
    if (!strcmp(word, "--version")) {
        puts("assay " VERSION);
        return close_stdout(CMD_YES);
    }
    for (size_t i = 0; i < cmd_count; i++)
        if (!strcmp(word, cmd_table[i].name))
            return close_stdout(run(&cmd_table[i], argc - 1, argv + 1));
    if (word[0])
        log_error("'%s' is no command of assay", word);
    print_usage(stderr);
    return CMD_USAGE;
}
