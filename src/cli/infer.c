/* ferrule infer: the result types of a declaration for given operand types; needs no kernel. */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>

static int run(int argc, char **argv);

static const struct option OPTIONS[] = {
    {"package", required_argument, NULL, 'p'}, FER_HELP_OPTION, {0}};

const fer_subcommand fer_command_infer = {
    .name = "infer",
    .arguments = "[--package DIR]... [--] DECLARATION TYPE...",
    .summary = "print a declaration's result types for operand types",
    .help = "\nTYPE is like 'f32[2, w, 3]'. Each result type is one line; `?` stands for a dim "
            "that is\n"
            "known only when a kernel has run. With --package, DECLARATION may be the name of a\n"
            "kernel that the package declares; it is not compiled.\n",
    .letters = ":hp:",
    .options = OPTIONS,
    .run = run,
};

/* Declaring the op of a name that no package declares says what is wrong. */
static fer_status parse_declaration(const fer_given_declaration *given,
                                    fer_signature **out_signature, fer_error *error)
{
    fer_pool pool = {0};
    const char *text;
    fer_op *op = NULL;
    fer_status status = fer_given_text(given, &pool, &text, error);
    if (status == FER_OK && text == NULL)
        status = fer_given_declare(given, NULL, 0, &op, error);
    else if (status == FER_OK)
        status = fer_signature_parse(text, out_signature, error);
    fer_op_release(op);
    fer_pool_clear(&pool);
    return status;
}

static fer_status parse_types(char **texts, size_t num_types, fer_type **types, fer_error *error)
{
    for (size_t i = 0; i < num_types; i++) {
        fer_status status = fer_type_parse(texts[i], &types[i], error);
        if (status != FER_OK)
            return fer_error_prepend(error, status, "operand type '%s': ", texts[i]);
    }
    return FER_OK;
}

static fer_status print_results(const fer_signature *signature, char **texts, size_t num_types,
                                fer_error *error)
{
    fer_status status = FER_OK;
    size_t num_results = fer_signature_folded(signature)->num_results;
    fer_type **types = calloc(num_types + 1, sizeof *types);
    fer_type **results = calloc(num_results + 1, sizeof *results);
    if (types == NULL || results == NULL) {
        status = fer_fail_memory(error);
        goto done;
    }
    FER_TRY_DONE(parse_types(texts, num_types, types, error));
    FER_TRY_DONE(fer_signature_infer(signature, (const fer_type *const *)types, num_types, results,
                                     num_results, error));
    for (size_t i = 0; i < num_results; i++)
        puts(fer_type_text(results[i]));

done:
    for (size_t i = 0; types != NULL && i < num_types; i++)
        fer_type_release(types[i]);
    for (size_t i = 0; results != NULL && i < num_results; i++)
        fer_type_release(results[i]);
    free(types);
    free(results);
    return status;
}

static int run(int argc, char **argv)
{
    fer_given_declaration given = {0};
    int option = 0;
    while ((option = fer_next_option(&fer_command_infer, argc, argv)) == 'p')
        if (!fer_given_add_package(&given, optarg))
            return fer_misuse(&fer_command_infer, "more than %d packages", FER_MAX_PACKAGES);
    if (option != FER_OPTIONS_END)
        return fer_options_exit(option);
    if (optind == argc)
        return fer_misuse(&fer_command_infer, "DECLARATION is missing");
    given.text = argv[optind];
    fer_error error = FER_ERROR_INIT;
    fer_signature *signature = NULL;
    fer_status status = parse_declaration(&given, &signature, &error);
    if (status == FER_OK)
        status = print_results(signature, argv + optind + 1, (size_t)(argc - optind - 1), &error);
    fer_signature_release(signature);
    return fer_finish(status, &error);
}
