/* ferrule infer: the result types of a declaration for given operand types; needs no kernel. */
#include "base/lexer.h"
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>

static int run(int argc, char **argv);

const fer_subcommand fer_command_infer = {
    .name = "infer",
    .arguments = "[--] DECLARATION TYPE...",
    .summary = "print a declaration's result types for operand types",
    .help = "\nTYPE is like 'f32[2, w, 3]'. Each result type is one line; `?` stands for a dim "
            "that is\n"
            "known only when a kernel has run.\n",
    .letters = ":h",
    .options = FER_ONLY_HELP,
    .run = run,
};

static fer_status parse_declaration(const char *text, fer_signature **out_signature,
                                    fer_error *error)
{
    if (!fer_is_name(text))
        return fer_signature_parse(text, out_signature, error);
    return fer_fail_at(error, FER_VALUE_ERROR, &(fer_place){.op = text},
                       "%s: a kernel's name alone says nothing of its types; give the whole "
                       "declaration, as `ferrule list PACKAGE` prints it",
                       text);
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
    int code = 0;
    if (!fer_has_no_options(&fer_command_infer, argc, argv, &code))
        return code;
    if (optind == argc)
        return fer_misuse(&fer_command_infer, "DECLARATION is missing");
    fer_error error = FER_ERROR_INIT;
    fer_signature *signature = NULL;
    fer_status status = parse_declaration(argv[optind], &signature, &error);
    if (status == FER_OK)
        status = print_results(signature, argv + optind + 1, (size_t)(argc - optind - 1), &error);
    fer_signature_release(signature);
    return fer_finish(status, &error);
}
