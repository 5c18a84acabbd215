/* ferrule dim: the canonical form of a dim, or its value at a point. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int run(int argc, char **argv);

const fer_subcommand fer_command_dim = {
    .name = "dim",
    .arguments = "[--] EXPR [NAME=INT...]",
    .summary = "print a dim in canonical form, or its value",
    .help =
        "\nEXPR is integer arithmetic over names with + - * // % and parentheses, as in Python.\n"
        "With NAME=INT for its names, its value is printed instead of its form.\n",
    .letters = ":h",
    .options = FER_ONLY_HELP,
    .run = run,
};

/* Reads `name=integer` into an assignment. */
static fer_status read_assignment(const char *name, const char *value, const fer_assignment *others,
                                  size_t num_others, fer_assignment *out, fer_error *error)
{
    for (size_t i = 0; i < num_others; i++)
        if (strcmp(others[i].name, name) == 0)
            return fer_fail(error, FER_VALUE_ERROR, "'%s' is given twice", name);
    char *end = NULL;
    errno = 0;
    long long number = strtoll(value, &end, 10);
    bool starts_well = *value == '-' || (*value >= '0' && *value <= '9');
    if (!starts_well || end == value || *end != '\0')
        return fer_fail(error, FER_VALUE_ERROR, "'%s' is '%s', which is no integer", name, value);
    if (errno == ERANGE)
        return fer_fail(error, FER_OVERFLOW_ERROR, "'%s' is %s, which is outside int64", name,
                        value);
    *out = (fer_assignment){.space = FER_NAMESPACE_CALLER, .name = name, .value = number};
    return FER_OK;
}

static fer_status print_value(const fer_dim *dim, char **pairs, size_t num_pairs, fer_error *error)
{
    fer_assignment *assignments = calloc(num_pairs, sizeof *assignments);
    if (assignments == NULL)
        return fer_fail_memory(error);
    fer_status status = FER_OK;
    for (size_t i = 0; i < num_pairs; i++) {
        const char *name = NULL;
        const char *value = NULL;
        fer_split_pair(pairs[i], &name, &value);
        FER_TRY_DONE(read_assignment(name, value, assignments, i, &assignments[i], error));
    }
    int64_t value = 0;
    FER_TRY_DONE(fer_dim_evaluate(dim, assignments, num_pairs, &value, error));
    printf("%lld\n", (long long)value);

done:
    free(assignments);
    return status;
}

static int run(int argc, char **argv)
{
    int code = 0;
    if (!fer_has_no_options(&fer_command_dim, argc, argv, &code))
        return code;
    if (optind == argc)
        return fer_misuse(&fer_command_dim, "EXPR is missing");
    const char *text = argv[optind];
    char **pairs = argv + optind + 1;
    size_t num_pairs = (size_t)(argc - optind - 1);
    for (size_t i = 0; i < num_pairs; i++)
        if (!fer_is_pair(pairs[i]))
            return fer_misuse(&fer_command_dim, "'%s' is not of the form NAME=INT", pairs[i]);

    fer_error error = FER_ERROR_INIT;
    fer_dim *dim = NULL;
    fer_status status = fer_dim_parse(text, &dim, &error);
    if (status == FER_OK && num_pairs > 0)
        status = print_value(dim, pairs, num_pairs, &error);
    else if (status == FER_OK)
        puts(fer_dim_text(dim));
    fer_dim_release(dim);
    return fer_finish(status, &error);
}
