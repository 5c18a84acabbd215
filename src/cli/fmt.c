/* ferrule fmt: gives program files their one layout. */
#include "base/path.h"
#include "cli/cli.h"
#include "cli/format.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int run(int argc, char **argv);

static const struct option OPTIONS[] = {{"check", no_argument, NULL, 'c'}, FER_HELP_OPTION, {0}};

const fer_subcommand fer_command_fmt = {
    .name = "fmt",
    .arguments = "[--check] [--] PROGRAM.fer...",
    .summary = "format program files",
    .help =
        "\nA file that is not in its layout is written anew, and its name is printed. With "
        "--check\n"
        "nothing is written, and the exit code is 1 when there is such a file.\n"
        "PROGRAM.fer may be `-`: the program comes from the standard input, and its layout goes\n"
        "to the standard output.\n",
    .letters = ":hc",
    .options = OPTIONS,
    .run = run,
};

static fer_status write_anew(const char *path, const fer_text *formatted, fer_error *error)
{
    /* A link stays one: what it points to is replaced. */
    char *target = realpath(path, NULL);
    if (target == NULL)
        return fer_fail(error, FER_IO_ERROR, "%s: cannot be resolved: %s", path, strerror(errno));
    fer_status status = fer_file_write(target, formatted->data, formatted->length, error);
    free(target);
    return status;
}

static fer_status format_file(const char *path, bool is_check, bool *out_changed, fer_error *error)
{
    bool is_input = strcmp(path, "-") == 0;
    char *text;
    size_t size;
    fer_text formatted = FER_TEXT_INIT;
    fer_status status = fer_file_read(is_input ? "/dev/stdin" : path, &text, &size, error);
    if (status != FER_OK)
        return status;
    if (strlen(text) != size)
        FER_TRY_DONE(fer_fail(error, FER_VALUE_ERROR, "%s: a program has no byte 0", path));
    FER_TRY_DONE(fer_format_program(text, path, &formatted, error));
    *out_changed =
        formatted.length != size || (size > 0 && memcmp(formatted.data, text, size) != 0);
    if (is_input && !is_check)
        fwrite(fer_text_string(&formatted), 1, formatted.length, stdout);
    else if (*out_changed && !is_check)
        FER_TRY_DONE(write_anew(path, &formatted, error));
    if (*out_changed && (is_check || !is_input))
        printf("%s\n", path);

done:
    fer_text_free(&formatted);
    free(text);
    return status;
}

static int run(int argc, char **argv)
{
    bool is_check = false;
    int option;
    while ((option = fer_next_option(&fer_command_fmt, argc, argv)) == 'c')
        is_check = true;
    if (option != FER_OPTIONS_END)
        return fer_options_exit(option);
    if (optind == argc)
        return fer_misuse(&fer_command_fmt, "PROGRAM.fer is missing");
    int code = 0;
    for (int i = optind; i < argc; i++) {
        fer_error error = FER_ERROR_INIT;
        bool is_changed = false;
        int failed = fer_finish(format_file(argv[i], is_check, &is_changed, &error), &error);
        if (failed != 0 || (is_check && is_changed))
            code = FER_EXIT_FAILED;
    }
    return code;
}
