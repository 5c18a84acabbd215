#include "base/hash.h"
#include "base/text.h"
#include "op/op.h"
#include "signature/unify.h"

#include <stdlib.h>
#include <string.h>

#define TOKEN_BYTES 8

static const char *const KIND_NAMES[] = {
    [FER_PARAM_INT] = "int", [FER_PARAM_FLOAT] = "float", [FER_PARAM_BOOL] = "bool",
    [FER_PARAM_STR] = "str", [FER_PARAM_DTYPE] = "dtype",
};

static int compare_params(const void *a, const void *b)
{
    const fer_param *const *left = a;
    const fer_param *const *right = b;
    return strcmp((*left)->name, (*right)->name);
}

/* Name, type name, and the value in a form that only this value has: a float by its bits, a string
 * by its bytes. A parameter without a value has the type name only. */
static void hash_param(fer_hasher *hasher, const fer_param *param)
{
    fer_hasher_string(hasher, param->name);
    fer_hasher_string(hasher, KIND_NAMES[param->kind]);
    fer_hasher_string(hasher, param->has_value ? "value" : "open");
    if (!param->has_value)
        return;
    switch (param->kind) {
    case FER_PARAM_INT:
        fer_hasher_field(hasher, &param->value.as_int, sizeof param->value.as_int);
        break;
    case FER_PARAM_FLOAT:
        fer_hasher_field(hasher, &param->value.as_float, sizeof param->value.as_float);
        break;
    case FER_PARAM_BOOL:
        fer_hasher_string(hasher, param->value.as_bool ? "true" : "false");
        break;
    case FER_PARAM_STR:
        fer_hasher_field(hasher, param->value.as_str.data, param->value.as_str.num_bytes);
        break;
    case FER_PARAM_DTYPE:
        fer_hasher_string(hasher, fer_dtype_name(param->value.as_dtype));
        break;
    }
}

static fer_status hash_params(fer_hasher *hasher, const fer_signature_spec *spec, fer_error *error)
{
    const fer_param **sorted = calloc(spec->num_params + 1, sizeof *sorted);
    if (sorted == NULL)
        return fer_fail_memory(error);
    for (size_t i = 0; i < spec->num_params; i++)
        sorted[i] = &spec->params[i];
    qsort(sorted, spec->num_params, sizeof *sorted, compare_params);
    fer_hasher_field(hasher, &(uint64_t){spec->num_params}, sizeof(uint64_t));
    for (size_t i = 0; i < spec->num_params; i++)
        hash_param(hasher, sorted[i]);
    free(sorted);
    return FER_OK;
}

fer_status fer_token_create(const fer_signature *signature, fer_package *const *packages,
                            size_t num_packages, char **out_token, fer_error *error)
{
    *out_token = NULL;
    const fer_signature_spec *spec = fer_signature_folded(signature);
    char *identity = NULL;
    FER_TRY(fer_signature_identity(signature, &identity, error));
    fer_hasher hasher;
    fer_hasher_start(&hasher, TOKEN_BYTES);
    fer_hasher_string(&hasher, spec->name);
    fer_status status = hash_params(&hasher, spec, error);
    fer_hasher_string(&hasher, identity);
    for (size_t i = 0; i < num_packages; i++)
        fer_hasher_string(&hasher, fer_package_path(packages[i]));
    free(identity);
    if (status != FER_OK)
        return status;
    char hex[2 * TOKEN_BYTES + 1];
    fer_hasher_finish_hex(&hasher, hex);
    fer_text token = FER_TEXT_INIT;
    fer_text_printf(&token, "%s#%s", spec->name, hex);
    return fer_text_take(&token, out_token, error);
}
