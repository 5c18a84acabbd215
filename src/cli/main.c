/* The command. `ferrule --help` lists what it does; each subcommand is a file of its own here. */
#include "base/log.h"
#include "base/text.h"
#include "cli/cli.h"
#include "op/threads.h"
#include "package/prune.h"
#include "types/device.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const fer_subcommand *const COMMANDS[] = {
    &fer_command_run,   &fer_command_call,   &fer_command_infer, &fer_command_dim,
    &fer_command_check, &fer_command_list,   &fer_command_show,  &fer_command_fmt,
    &fer_command_cache, &fer_command_verify,
};
enum { NUM_COMMANDS = sizeof COMMANDS / sizeof *COMMANDS };

static const char USAGE[] = "usage: ferrule COMMAND [ARGUMENT...]\n";

static int print_help(void)
{
    printf("%s\n", USAGE);
    for (size_t i = 0; i < NUM_COMMANDS; i++)
        printf("  %-6s  %s\n", COMMANDS[i]->name, COMMANDS[i]->summary);
    printf("\n"
           "`ferrule COMMAND --help` says more about one; `ferrule --version` prints the version.\n"
           "Errors are printed as `ferrule: KIND: message` with exit code 1; wrong usage is 2.\n");
    return 0;
}

static int misuse(const char *name)
{
    if (name == NULL) {
        fputs(USAGE, stderr);
        return FER_EXIT_MISUSE;
    }
    const char *names[NUM_COMMANDS];
    for (size_t i = 0; i < NUM_COMMANDS; i++)
        names[i] = COMMANDS[i]->name;
    const char *near = fer_near_name(name, names, NUM_COMMANDS);
    fprintf(stderr, "ferrule: there is no command '%s'", name);
    if (near != NULL)
        fprintf(stderr, "; did you mean '%s'?", near);
    fprintf(stderr, "\n%s", USAGE);
    return FER_EXIT_MISUSE;
}

/* What the environment says wrongly would otherwise be taken as not said. */
static int run_command(const fer_subcommand *command, int argc, char **argv)
{
    fer_error error = FER_ERROR_INIT;
    fer_status status = fer_device_check_environment(&error);
    if (status == FER_OK)
        status = fer_store_check_environment(&error);
    if (status == FER_OK)
        status = fer_log_check_environment(&error);
    if (status == FER_OK)
        status = fer_threads_check_environment(&error);
    if (status == FER_OK)
        status = fer_check_environment(&error);
    if (status != FER_OK)
        return fer_finish(status, &error);
    fer_report_crashes();
    return command->run(argc, argv);
}

static int dispatch(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : NULL;
    if (name == NULL)
        return misuse(NULL);
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return print_help();
    if (strcmp(name, "--version") == 0) {
        printf("ferrule %s\n", fer_version());
        return 0;
    }
    for (size_t i = 0; i < NUM_COMMANDS; i++)
        if (strcmp(name, COMMANDS[i]->name) == 0)
            return run_command(COMMANDS[i], argc - 1, argv + 1);
    return misuse(name);
}

int main(int argc, char **argv)
{
    int code = dispatch(argc, argv);
    /* A full disk shows only when what was printed leaves the buffer. */
    errno = 0;
    bool is_written = !ferror(stdout) && fflush(stdout) == 0;
    if (is_written || code != 0)
        return code;
    fprintf(stderr, "ferrule: IO: the standard output cannot be written: %s\n",
            errno == 0 ? "an earlier write failed" : strerror(errno));
    return FER_EXIT_FAILED;
}
