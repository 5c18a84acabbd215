/* DECLARATION and --package, as `call` and `check` take them. */
#include "base/lexer.h"
#include "cli/cli.h"
#include "package/library.h"

bool fer_given_add_package(fer_given_declaration *given, const char *path)
{
    if (given->num_packages == FER_MAX_PACKAGES)
        return false;
    given->packages[given->num_packages++] = path;
    return true;
}

fer_status fer_given_signature(const fer_given_declaration *given, fer_signature **out_signature,
                               fer_error *error)
{
    *out_signature = NULL;
    bool is_name = fer_is_name(given->text);
    if (is_name && given->num_packages == 0)
        return fer_fail_at(error, FER_VALUE_ERROR, &(fer_place){.op = given->text},
                           "%s: a kernel's name alone needs --package, the package that declares "
                           "it; else give the whole declaration",
                           given->text);
    if (!is_name)
        return fer_signature_parse(given->text, out_signature, error);
    for (size_t i = 0; i < given->num_packages; i++) {
        fer_package *package = NULL;
        FER_TRY(fer_package_open(given->packages[i], &package, error));
        fer_kernel_info kernel = {0};
        fer_status status = FER_OK;
        bool is_found = fer_package_find(package, given->text, &kernel);
        if (is_found && kernel.signature != NULL)
            status = fer_signature_parse(kernel.signature, out_signature, error);
        if (status != FER_OK)
            status = fer_error_prepend(error, status, "%s:%d: ", kernel.file, kernel.line);
        fer_package_release(package);
        if (is_found)
            return status;
    }
    return FER_OK;
}

fer_status fer_given_declare(const fer_given_declaration *given, const fer_signature *signature,
                             const fer_param *params, size_t num_params, fer_op **out_op,
                             fer_error *error)
{
    fer_declaration declaration = {
        .parsed = signature,
        .kernel = signature == NULL ? given->text : NULL,
        .params = params,
        .num_params = num_params,
    };
    for (size_t i = 0; i < given->num_packages; i++)
        declaration.packages[i] = given->packages[i];
    return fer_declare(&declaration, out_op, error);
}
