/* ferrule check: judges a declaration, and with a package also its kernel. */
#include "cli/cli.h"
#include "op/op.h"

#include <stdio.h>
#include <stdlib.h>

static int run(int argc, char **argv);

static const struct option OPTIONS[] = {
    {"package", required_argument, NULL, 'p'}, FER_HELP_OPTION, {0}};

const fer_subcommand fer_command_check = {
    .name = "check",
    .arguments = "[--package DIR]... [--] DECLARATION",
    .summary = "print a declaration in canonical form, and its token",
    .help =
        "\nWith --package, the declaration is also checked against its kernel, which is compiled;\n"
        "then DECLARATION may be the name of a kernel that the package declares.\n",
    .letters = ":hp:",
    .options = OPTIONS,
    .run = run,
};

static fer_status check_signature(const fer_given_declaration *given, fer_error *error)
{
    fer_pool pool = {0};
    const char *text;
    fer_signature *signature = NULL;
    char *token = NULL;
    fer_status status = fer_given_text(given, &pool, &text, error);
    if (status == FER_OK)
        status = fer_signature_parse(text, &signature, error);
    if (status == FER_OK)
        status = fer_token_create(signature, NULL, 0, &token, error);
    if (status == FER_OK)
        printf("%s\n%s\n", fer_signature_text(signature), token);
    free(token);
    fer_signature_release(signature);
    fer_pool_clear(&pool);
    return status;
}

static fer_status check_op(const fer_given_declaration *given, fer_error *error)
{
    fer_op *op = NULL;
    FER_TRY(fer_given_declare(given, NULL, 0, &op, error));
    printf("%s\n%s\n", fer_op_text(op), fer_op_token(op));
    fer_op_release(op);
    return FER_OK;
}

static int run(int argc, char **argv)
{
    fer_given_declaration given = {0};
    int option = 0;
    while ((option = fer_next_option(&fer_command_check, argc, argv)) == 'p')
        if (!fer_given_add_package(&given, optarg))
            return fer_misuse(&fer_command_check, "more than %d packages", FER_MAX_PACKAGES);
    if (option != FER_OPTIONS_END)
        return fer_options_exit(option);
    if (optind == argc)
        return fer_misuse(&fer_command_check, "DECLARATION is missing");
    if (optind + 1 < argc)
        return fer_misuse(&fer_command_check, "one DECLARATION at a time; '%s' is too many",
                          argv[optind + 1]);
    given.text = argv[optind];
    fer_progress_start();

    fer_error error = FER_ERROR_INIT;
    fer_status status =
        given.num_packages == 0 ? check_signature(&given, &error) : check_op(&given, &error);
    return fer_finish(status, &error);
}
