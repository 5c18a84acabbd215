#include "package/object.h"

#include "base/path.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A package that is a shared object, in whatever language: its kernels, and which entry serves. */

/* --- Choosing an entry ------------------------------------------------------------------------ */

static const char *const KINDS[] = {
    [FER_ABI_INT] = "int", [FER_ABI_FLOAT] = "float", [FER_ABI_BOOL] = "bool",
    [FER_ABI_STR] = "str", [FER_ABI_DTYPE] = "dtype",
};

static fer_dtype dtype_of(const fer_abi_param *param)
{
    fer_dl_dtype dtype = param->value.as_dtype;
    return fer_dtype_from_dlpack(dtype.code, dtype.bits, dtype.lanes);
}

/* As in a token: 0.0 and -0.0 are two values, and any two NaNs are one. */
static bool same_float(double a, double b)
{
    return (a == b && signbit(a) == signbit(b)) || (isnan(a) && isnan(b));
}

static bool same_value(const fer_abi_param *listed, const fer_param *given)
{
    switch (given->kind) {
    case FER_PARAM_INT:
        return listed->kind == FER_ABI_INT && listed->value.as_int == given->value.as_int;
    case FER_PARAM_FLOAT:
        return listed->kind == FER_ABI_FLOAT &&
               same_float(listed->value.as_float, given->value.as_float);
    case FER_PARAM_BOOL:
        return listed->kind == FER_ABI_BOOL && (listed->value.as_int != 0) == given->value.as_bool;
    case FER_PARAM_STR:
        return listed->kind == FER_ABI_STR && listed->num_bytes == given->value.as_str.num_bytes &&
               (listed->num_bytes == 0 ||
                memcmp(listed->value.as_str, given->value.as_str.data, listed->num_bytes) == 0);
    case FER_PARAM_DTYPE:
        return listed->kind == FER_ABI_DTYPE && dtype_of(listed) == given->value.as_dtype;
    }
    return false;
}

static bool serves_param(const fer_abi_param *listed, const fer_request *request)
{
    for (size_t i = 0; i < request->num_params; i++)
        if (strcmp(request->params[i].name, listed->name) == 0)
            return same_value(listed, &request->params[i]);
    for (size_t i = 0; i < request->num_dtypes; i++)
        if (strcmp(request->dtypes[i].name, listed->name) == 0)
            return listed->kind == FER_ABI_DTYPE && dtype_of(listed) == request->dtypes[i].dtype;
    return false;
}

static bool serves(const fer_abi_entry *entry, const fer_request *request)
{
    for (size_t i = 0; i < entry->num_params; i++)
        if (!serves_param(&entry->params[i], request))
            return false;
    return true;
}

static bool is_of(const fer_abi_entry *entry, const char *kernel, bool is_shape)
{
    return entry != NULL && (entry->kind == FER_ABI_SHAPE) == is_shape &&
           strcmp(entry->name, kernel) == 0;
}

static const fer_abi_entry *choose(const fer_object *object, const fer_request *request,
                                   bool is_shape)
{
    const fer_abi_entry *chosen = NULL;
    for (const fer_abi_entry *const *p = object->table->begin; p < object->table->end; p++)
        if (is_of(*p, request->kernel, is_shape) && serves(*p, request) &&
            (chosen == NULL || (*p)->num_params > chosen->num_params))
            chosen = *p;
    return chosen;
}

/* --- Refusing --------------------------------------------------------------------------------- */

static void append_value(fer_text *text, const fer_abi_param *param)
{
    if (param->kind == FER_ABI_INT)
        fer_text_printf(text, "%lld", (long long)param->value.as_int);
    else if (param->kind == FER_ABI_FLOAT)
        fer_text_printf(text, "%g", param->value.as_float);
    else if (param->kind == FER_ABI_BOOL)
        fer_text_append(text, param->value.as_int != 0 ? "true" : "false");
    else if (param->kind == FER_ABI_STR)
        fer_text_append_quoted(text, param->num_bytes == 0 ? "" : param->value.as_str,
                               param->num_bytes);
    else
        fer_text_append(text, fer_dtype_name(dtype_of(param)));
}

static void append_params(fer_text *text, const fer_abi_entry *entry)
{
    for (size_t i = 0; i < entry->num_params; i++) {
        fer_text_printf(text, "%s%s = ", i == 0 ? "<" : ", ", entry->params[i].name);
        append_value(text, &entry->params[i]);
    }
    fer_text_append_char(text, '>');
}

/* A parameter that the entries list as another kind than the declaration has. */
static const fer_abi_param *find_other_kind(const fer_object *object, const fer_param *param,
                                            const char *kernel)
{
    for (const fer_abi_entry *const *p = object->table->begin; p < object->table->end; p++)
        for (size_t i = 0; is_of(*p, kernel, false) && i < (*p)->num_params; i++)
            if (strcmp((*p)->params[i].name, param->name) == 0 &&
                (*p)->params[i].kind != (int32_t)param->kind)
                return &(*p)->params[i];
    return NULL;
}

static fer_status fail_unserved(const fer_object *object, const fer_request *request,
                                fer_error *error)
{
    fer_place place = {.op = request->kernel};
    for (size_t i = 0; i < request->num_params; i++) {
        const fer_abi_param *other = find_other_kind(object, &request->params[i], request->kernel);
        if (other != NULL)
            return fer_fail_at(error, FER_TYPE_ERROR, &place,
                               "%s: parameter '%s' is declared %s, but %s has it as %s",
                               request->kernel, other->name, KINDS[request->params[i].kind],
                               object->name, KINDS[other->kind]);
    }
    fer_text text = FER_TEXT_INIT;
    fer_append_choices(&text, request);
    fer_text_printf(&text, ": %s has no entry for it, but ", object->name);
    const char *separator = "";
    for (const fer_abi_entry *const *p = object->table->begin; p < object->table->end; p++) {
        if (!is_of(*p, request->kernel, false))
            continue;
        fer_text_append(&text, separator);
        append_params(&text, *p);
        separator = ", ";
    }
    fer_status status = fer_fail_at(error, FER_VALUE_ERROR, &place, "%s%s", request->kernel,
                                    fer_text_string(&text));
    fer_text_free(&text);
    return status;
}

/* What kernel.h defines beside each PARAM that was compiled with its default. */
#define DEFAULT_MARK "ferrule_default_of_"

/* An object of C kernels knows its parameters' defaults alone, which are nobody's values. */
static fer_status check_defaults(const fer_object *object, const fer_request *request,
                                 fer_error *error)
{
    for (size_t i = 0; i < request->num_params; i++) {
        char symbol[256];
        snprintf(symbol, sizeof symbol, DEFAULT_MARK "%.200s", request->params[i].name);
        if (fer_object_symbol(object, symbol) != NULL)
            return fer_fail_at(error, FER_VALUE_ERROR, &(fer_place){.op = request->kernel},
                               "%s: %s was compiled with the default of PARAM '%s', and serves no "
                               "declaration of it; open the folder of its C files instead",
                               request->kernel, object->name, request->params[i].name);
    }
    return FER_OK;
}

fer_status fer_object_choose(const fer_object *object, const fer_request *request,
                             const fer_abi_entry **out_kernel, const fer_abi_entry **out_shape,
                             fer_error *error)
{
    FER_TRY(check_defaults(object, request, error));
    *out_kernel = choose(object, request, false);
    *out_shape = choose(object, request, true);
    return *out_kernel == NULL ? fail_unserved(object, request, error) : FER_OK;
}

/* --- Opening ---------------------------------------------------------------------------------- */

static bool same_listed(const fer_abi_param *a, const fer_abi_param *b)
{
    if (a->kind != b->kind || strcmp(a->name, b->name) != 0)
        return false;
    if (a->kind == FER_ABI_STR)
        return a->num_bytes == b->num_bytes &&
               (a->num_bytes == 0 || memcmp(a->value.as_str, b->value.as_str, a->num_bytes) == 0);
    if (a->kind == FER_ABI_DTYPE)
        return dtype_of(a) == dtype_of(b);
    return a->value.as_int == b->value.as_int; /* of a float: its bits */
}

/* Whether two entries are for the same thing, so that nothing chooses between them. */
static bool is_twice(const fer_abi_entry *a, const fer_abi_entry *b)
{
    if (!is_of(b, a->name, a->kind == FER_ABI_SHAPE) || a->num_params != b->num_params)
        return false;
    for (size_t i = 0; i < a->num_params; i++) {
        bool is_listed = false;
        for (size_t j = 0; j < b->num_params; j++)
            is_listed |= same_listed(&a->params[i], &b->params[j]);
        if (!is_listed)
            return false;
    }
    return true;
}

static fer_status check_twice(const fer_object *object, fer_error *error)
{
    const fer_abi_table *table = object->table;
    for (const fer_abi_entry *const *p = table->begin; p < table->end; p++)
        for (const fer_abi_entry *const *q = p + 1; *p != NULL && q < table->end; q++)
            if (is_twice(*p, *q)) {
                fer_text text = FER_TEXT_INIT;
                if ((*p)->num_params > 0)
                    append_params(&text, *p);
                fer_status status = fer_fail_at(
                    error, FER_VALUE_ERROR, &(fer_place){.op = (*p)->name},
                    "%s%s: the kernel has two entries in %s; entries of one name list the "
                    "parameters and dtypes that each is for",
                    (*p)->name, fer_text_string(&text), object->name);
                fer_text_free(&text);
                return status;
            }
    return FER_OK;
}

static int compare_kernels(const void *a, const void *b)
{
    return strcmp(((const fer_kernel_info *)a)->name, ((const fer_kernel_info *)b)->name);
}

/* One for each name, with the first signature that one of its entries has. */
static fer_status add_kernel(fer_package *package, const fer_abi_entry *entry, fer_error *error)
{
    fer_kernel_info *kernel = NULL;
    for (size_t i = 0; i < package->num_kernels && kernel == NULL; i++)
        if (strcmp(package->kernels[i].name, entry->name) == 0)
            kernel = &package->kernels[i];
    if (kernel == NULL) {
        const char *slash = strrchr(package->path, '/');
        kernel = &package->kernels[package->num_kernels++];
        *kernel = (fer_kernel_info){
            .name = entry->name,
            .file = entry->file != NULL ? entry->file : slash + 1,
            .line = entry->file != NULL ? entry->line : 0,
        };
    }
    if (kernel->signature != NULL || entry->signature == NULL)
        return FER_OK;
    return fer_copy_string(entry->signature, (char **)&kernel->signature, error);
}

static fer_status list_kernels(fer_package *package, fer_error *error)
{
    const fer_abi_table *table = package->object->table;
    package->kernels = calloc((size_t)(table->end - table->begin) + 1, sizeof *package->kernels);
    if (package->kernels == NULL)
        return fer_fail_memory(error);
    for (const fer_abi_entry *const *p = table->begin; p < table->end; p++)
        if (*p != NULL && (*p)->kind != FER_ABI_SHAPE)
            FER_TRY(add_kernel(package, *p, error));
    qsort(package->kernels, package->num_kernels, sizeof *package->kernels, compare_kernels);
    return FER_OK;
}

fer_status fer_package_load_object(fer_package *package, fer_error *error)
{
    char *data = NULL;
    char *copy = NULL;
    size_t size;
    char digest[FER_DIGEST_HEX];
    FER_TRY(fer_file_read(package->path, &data, &size, error));
    fer_status status = fer_object_check_file(package->path, data, size, error);
    if (status != FER_OK)
        goto done;
    FER_TRY_DONE(fer_library_keep(data, size, digest, &copy, error));
    FER_TRY_DONE(fer_object_load(copy, package->path, digest, &package->object, error));
    FER_TRY_DONE(check_twice(package->object, error));
    FER_TRY_DONE(list_kernels(package, error));

done:
    free(data);
    free(copy);
    return status;
}
