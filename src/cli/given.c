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

static fer_status fail_bare_name(const char *name, fer_error *error)
{
    return fer_fail_at(error, FER_VALUE_ERROR, &(fer_place){.op = name},
                       "%s: a kernel's name alone needs --package, the package that declares it; "
                       "else give the whole declaration",
                       name);
}

fer_status fer_given_text(const fer_given_declaration *given, fer_pool *pool, const char **out_text,
                          fer_error *error)
{
    *out_text = fer_is_name(given->text) ? NULL : given->text;
    if (*out_text != NULL)
        return FER_OK;
    if (given->num_packages == 0)
        return fail_bare_name(given->text, error);
    bool is_found = false;
    for (size_t i = 0; i < given->num_packages && !is_found; i++) {
        fer_package *package = NULL;
        FER_TRY(fer_package_open(given->packages[i], &package, error));
        fer_kernel_info kernel = {0};
        is_found = fer_package_find(package, given->text, &kernel);
        bool has_text = is_found && kernel.signature != NULL;
        if (has_text)
            *out_text = fer_pool_string(pool, kernel.signature);
        fer_package_release(package);
        if (has_text && *out_text == NULL)
            return fer_fail_memory(error);
    }
    return FER_OK;
}

fer_status fer_given_declare(const fer_given_declaration *given, const fer_param *params,
                             size_t num_params, fer_op **out_op, fer_error *error)
{
    bool is_name = fer_is_name(given->text);
    fer_declaration declaration = {
        .signature = is_name ? NULL : given->text,
        .kernel = is_name ? given->text : NULL,
        .params = params,
        .num_params = num_params,
    };
    for (size_t i = 0; i < given->num_packages; i++)
        declaration.packages[i] = given->packages[i];
    return fer_declare(&declaration, out_op, error);
}
