/* ferrule show: a program as canonical text, or drawn by Graphviz. */
#include "base/path.h"
#include "base/process.h"
#include "cli/cli.h"
#include "graph/passes.h"
#include "graph/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int run(int argc, char **argv);

static const struct option OPTIONS[] = {{"after", required_argument, NULL, 'a'},
                                        {"dot", no_argument, NULL, 'd'},
                                        {"svg", no_argument, NULL, 's'},
                                        {"output", required_argument, NULL, 'o'},
                                        FER_HELP_OPTION,
                                        {0}};

const fer_subcommand fer_command_show = {
    .name = "show",
    .arguments = "[--after PASS] [--dot | --svg] [-o FILE] [--] PROGRAM.fer",
    .summary = "print a program in canonical form, or draw it",
    .help =
        "\nThe text has the types of all results and the tokens of the ops; it is a program\n"
        "again, in the same folder; constants stay in the files that it has them from. --after\n"
        "shows it after that pass and those before it: fold, common, dead. --dot prints the\n"
        "graphs in Graphviz's language, --svg runs Graphviz's `dot` on it. -o writes to a file,\n"
        "with paths that hold there.\n",
    .letters = ":ha:dso:",
    .options = OPTIONS,
    .run = run,
};

/* --- Graphviz --------------------------------------------------------------------------------- */

static fer_status run_dot(const char *folder, fer_error *error)
{
    static const char *const COMMAND[] = {"dot", "-Tsvg", "-o", "graph.svg", "graph.dot", NULL};
    fer_process_result result;
    int cause = 0;
    fer_status status = fer_process_run(COMMAND, folder, &result, &cause, error);
    if (cause == ENOENT)
        return fer_fail(error, FER_UNSUPPORTED_ERROR,
                        "--svg needs Graphviz's command `dot`, which is not installed; --dot "
                        "prints what it would draw");
    if (status == FER_OK && result.exit_code != 0)
        status = fer_fail(error, FER_RUNTIME_ERROR, "`dot` failed:\n%s", result.output);
    free(result.output);
    return status;
}

static fer_status make_svg(const char *dot, char **out_svg, fer_error *error)
{
    const char *parent = getenv("TMPDIR");
    char *folder = NULL;
    char *dot_path = NULL;
    char *svg_path = NULL;
    size_t size = 0;
    bool is_made = false;
    fer_status status = fer_path_join(parent == NULL || *parent == '\0' ? "/tmp" : parent,
                                      "ferrule-show-XXXXXX", &folder, error);
    if (status != FER_OK)
        goto done;
    is_made = mkdtemp(folder) != NULL;
    if (!is_made) {
        status = fer_fail(error, FER_IO_ERROR, "%s: a temporary folder cannot be made: %s", folder,
                          strerror(errno));
        goto done;
    }
    FER_TRY_DONE(fer_path_join(folder, "graph.dot", &dot_path, error));
    FER_TRY_DONE(fer_path_join(folder, "graph.svg", &svg_path, error));
    FER_TRY_DONE(fer_file_write(dot_path, dot, strlen(dot), error));
    FER_TRY_DONE(run_dot(folder, error));
    FER_TRY_DONE(fer_file_read(svg_path, out_svg, &size, error));

done:
    if (is_made)
        fer_folder_remove(folder);
    free(svg_path);
    free(dot_path);
    free(folder);
    return status;
}

/* --- The command ------------------------------------------------------------------------------ */

/* What the command line says. */
typedef struct arguments {
    const char *program;
    const char *pass; /* NULL: the program as it is */
    const char *path; /* NULL: the standard output */
    int form;         /* the option's letter; 0: text */
} arguments;

/* For the folder that it goes to; the standard output is as good as the program's own. */
static fer_status print(const fer_module *module, const arguments *arguments, char **out_text,
                        fer_error *error)
{
    char *folder = NULL;
    char *absolute = NULL;
    const char *target = arguments->path == NULL ? arguments->program : arguments->path;
    FER_TRY(fer_path_folder(target, &folder, error));
    fer_status status = fer_path_absolute(folder, &absolute, error);
    if (status == FER_OK)
        status = fer_module_print_as_read(module, absolute, out_text, error);
    free(absolute);
    free(folder);
    return status;
}

static fer_status render(const fer_module *module, const arguments *arguments, char **out_text,
                         fer_error *error)
{
    if (arguments->form == 0)
        return print(module, arguments, out_text, error);
    char *dot = NULL;
    FER_TRY(fer_module_draw(module, &dot, error));
    if (arguments->form == 'd') {
        *out_text = dot;
        return FER_OK;
    }
    fer_status status = make_svg(dot, out_text, error);
    free(dot);
    return status;
}

static fer_status read_module(const arguments *arguments, fer_module **out_module, fer_error *error)
{
    if (arguments->pass == NULL)
        return fer_module_read(arguments->program, out_module, error);
    const fer_pass *pass;
    fer_module *module = NULL;
    FER_TRY(fer_pass_find(arguments->pass, &pass, error));
    FER_TRY(fer_module_read(arguments->program, &module, error));
    fer_status status = fer_module_after(module, pass, out_module, error);
    fer_module_release(module);
    return status;
}

static fer_status show(const arguments *arguments, fer_error *error)
{
    fer_module *module = NULL;
    char *text = NULL;
    FER_TRY(read_module(arguments, &module, error));
    fer_status status = render(module, arguments, &text, error);
    fer_module_release(module);
    if (status != FER_OK)
        return status;
    if (arguments->path == NULL)
        fputs(text, stdout);
    else
        status = fer_file_write(arguments->path, text, strlen(text), error);
    free(text);
    return status;
}

static int run(int argc, char **argv)
{
    const fer_subcommand *command = &fer_command_show;
    arguments arguments = {0};
    int option = 0;
    while ((option = fer_next_option(command, argc, argv)) > 0) {
        if (option == 'a')
            arguments.pass = optarg;
        else if (option == 'o')
            arguments.path = optarg;
        else if (arguments.form != 0 && arguments.form != option)
            return fer_misuse(command, "--dot and --svg exclude each other");
        else
            arguments.form = option;
    }
    if (option != FER_OPTIONS_END)
        return fer_options_exit(option);
    if (optind == argc)
        return fer_misuse(command, "PROGRAM.fer is missing");
    if (optind + 1 < argc)
        return fer_misuse(command, "one PROGRAM.fer at a time; '%s' is too many", argv[optind + 1]);
    arguments.program = argv[optind];
    fer_progress_start();
    fer_error error = FER_ERROR_INIT;
    return fer_finish(show(&arguments, &error), &error);
}
