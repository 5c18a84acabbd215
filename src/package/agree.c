#include "package/compile.h"

#include "base/text.h"

#include <string.h>

/* Where a declaration and its kernel's file meet apart from the KERNEL line: what the file calls
 * its parameters and dtype variables. */

static const fer_found *find_in(const fer_scan *scan, fer_found_kind kind, const char *name)
{
    for (size_t i = 0; i < scan->num_items; i++)
        if (scan->items[i].kind == kind && strcmp(scan->items[i].name, name) == 0)
            return &scan->items[i];
    return NULL;
}

static const fer_found *find_in_headers(const fer_sources *files, fer_found_kind kind,
                                        const char *name, const char **out_file)
{
    for (size_t i = 0; i < files->count; i++) {
        const fer_found *found =
            fer_is_c_file(files->items[i].name) ? NULL : find_in(&files->items[i].scan, kind, name);
        *out_file = files->items[i].name;
        if (found != NULL)
            return found;
    }
    return NULL;
}

/* In the kernel's own file, or in what it may include. */
static const fer_found *find(const fer_request *request, fer_found_kind kind, const char *name,
                             const char **out_file)
{
    const fer_package *package = request->package;
    const fer_found *found = find_in(&request->main->scan, kind, name);
    *out_file = request->main->name;
    if (found == NULL)
        found = find_in_headers(&package->files, kind, name, out_file);
    const fer_outside *outside = atomic_load(&((fer_package *)package)->outside);
    for (; found == NULL && outside != NULL; outside = outside->older)
        found = find_in_headers(&outside->files, kind, name, out_file);
    return found;
}

static fer_status check_param(const fer_request *request, const fer_param *param, fer_error *error)
{
    static const char *const KINDS[] = {
        [FER_PARAM_INT] = "int", [FER_PARAM_FLOAT] = "float", [FER_PARAM_BOOL] = "bool",
        [FER_PARAM_STR] = "str", [FER_PARAM_DTYPE] = "dtype",
    };
    const char *file;
    const fer_found *found = find(request, FER_FOUND_PARAM, param->name, &file);
    if (found == NULL || strcmp(found->text, KINDS[param->kind]) == 0)
        return FER_OK;
    fer_place place = {
        .op = request->kernel, .expected = KINDS[param->kind], .actual = found->text};
    return fer_fail_at(error, FER_TYPE_ERROR, &place,
                       "%s: parameter '%s' is declared %s, but %s:%d has PARAM(%s, %s, ...)",
                       request->kernel, param->name, KINDS[param->kind], file, found->line,
                       found->text, param->name);
}

void fer_append_choices(fer_text *text, const fer_request *request)
{
    const char *separator = "<";
    for (size_t i = 0; i < request->num_dtypes; i++, separator = ", ")
        fer_text_printf(text, "%s%s = %s", separator, request->dtypes[i].name,
                        fer_dtype_name(request->dtypes[i].dtype));
    for (size_t i = 0; i < request->num_params; i++, separator = ", ") {
        const fer_param *param = &request->params[i];
        fer_text_printf(text, "%s%s = ", separator, param->name);
        if (param->kind == FER_PARAM_INT)
            fer_text_printf(text, "%lld", (long long)param->value.as_int);
        else if (param->kind == FER_PARAM_FLOAT)
            fer_text_printf(text, "%g", param->value.as_float);
        else if (param->kind == FER_PARAM_BOOL)
            fer_text_append(text, param->value.as_bool ? "true" : "false");
        else if (param->kind == FER_PARAM_STR)
            fer_text_append_quoted(text, param->value.as_str.data, param->value.as_str.num_bytes);
        else
            fer_text_append(text, fer_dtype_name(param->value.as_dtype));
    }
    if (request->num_dtypes + request->num_params > 0)
        fer_text_append_char(text, '>');
}

static bool any_hides_dtype_vars(const fer_sources *files)
{
    for (size_t i = 0; i < files->count; i++)
        if (files->items[i].scan.hides_dtype_vars)
            return true;
    return false;
}

/* Whether a dtype variable may be declared where only the preprocessor sees it. */
static bool may_be_hidden(const fer_package *package)
{
    bool is_hidden = any_hides_dtype_vars(&package->files);
    const fer_outside *outside = atomic_load(&((fer_package *)package)->outside);
    for (; !is_hidden && outside != NULL; outside = outside->older)
        is_hidden = any_hides_dtype_vars(&outside->files);
    return is_hidden;
}

fer_status fer_request_agrees(const fer_request *request, fer_error *error)
{
    const char *file;
    for (size_t i = 0; i < request->num_params; i++)
        FER_TRY(check_param(request, &request->params[i], error));
    for (size_t i = 0; i < request->num_dtypes; i++)
        if (find(request, FER_FOUND_DTYPE_VAR, request->dtypes[i].name, &file) == NULL &&
            !may_be_hidden(request->package))
            return fer_fail_at(error, FER_TYPE_ERROR, &(fer_place){.op = request->kernel},
                               "%s: '%s' is declared a dtype variable, but %s has no "
                               "DTYPE_VAR(%s, ...)",
                               request->kernel, request->dtypes[i].name, request->main->name,
                               request->dtypes[i].name);
    return FER_OK;
}
