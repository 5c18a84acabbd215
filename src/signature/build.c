/* Making signatures: copy the structs, fold the parameters' values into the dims, check. */
#include "signature/parse.h"
#include "signature/signature.h"

#include "types/substitute.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static fer_status copy_name(fer_pool *pool, const char *name, const char **out_copy,
                            fer_error *error)
{
    *out_copy = name == NULL ? NULL : fer_pool_string(pool, name);
    return name != NULL && *out_copy == NULL ? fer_fail_memory(error) : FER_OK;
}

static fer_status copy_dtype_vars(fer_pool *pool, const fer_signature_spec *spec,
                                  fer_signature_spec *out_spec, fer_error *error)
{
    fer_dtype_var *variables = fer_pool_array(pool, spec->num_dtype_vars, sizeof *variables);
    if (variables == NULL)
        return fer_fail_memory(error);
    for (size_t i = 0; i < spec->num_dtype_vars; i++) {
        variables[i].allowed = spec->dtype_vars[i].allowed;
        FER_TRY(copy_name(pool, spec->dtype_vars[i].name, &variables[i].name, error));
    }
    out_spec->dtype_vars = variables;
    out_spec->num_dtype_vars = spec->num_dtype_vars;
    return FER_OK;
}

static fer_status copy_param(fer_pool *pool, const fer_param *param, fer_param *out_param,
                             fer_error *error)
{
    *out_param = (fer_param){.kind = param->kind, .has_value = param->has_value};
    FER_TRY(copy_name(pool, param->name, &out_param->name, error));
    if (!param->has_value)
        return FER_OK;
    out_param->value = param->value;
    /* One NaN, so that equal texts are equal values. */
    if (param->kind == FER_PARAM_FLOAT && isnan(param->value.as_float))
        out_param->value.as_float = NAN;
    if (param->kind == FER_PARAM_STR) {
        fer_string string = param->value.as_str;
        out_param->value.as_str.data = fer_pool_bytes(pool, string.data, string.num_bytes);
        if (out_param->value.as_str.data == NULL)
            return fer_fail_memory(error);
    }
    return FER_OK;
}

/* The parameters that results name and the spec does not declare, each once. */
static size_t collect_undeclared(const fer_signature_spec *spec, const char **names, size_t limit)
{
    size_t num_names = 0;
    for (size_t i = 0; i < spec->num_results; i++) {
        const fer_template *type = &spec->results[i].type;
        for (size_t j = 0; j < type->num_axes; j++) {
            const fer_dim *dim = type->axes[j].dim;
            for (size_t k = 0; dim != NULL && k < fer_dim_num_symbols(dim); k++) {
                fer_namespace space;
                const char *name = fer_dim_symbol_at(dim, k, &space);
                bool is_known =
                    space != FER_NAMESPACE_PARAMETER || fer_spec_find_param(spec, name) != NULL;
                for (size_t n = 0; n < num_names && !is_known; n++)
                    is_known = strcmp(names[n], name) == 0;
                if (!is_known && num_names < limit)
                    names[num_names++] = name;
            }
        }
    }
    return num_names;
}

static fer_status copy_params(fer_pool *pool, const fer_signature_spec *spec,
                              fer_signature_spec *out_spec, fer_error *error)
{
    const char *undeclared[FER_MAX_GENERICS + 1];
    size_t num_undeclared = collect_undeclared(spec, undeclared, FER_MAX_GENERICS + 1);
    size_t num_params = spec->num_params + num_undeclared;
    if (num_params + spec->num_dtype_vars > FER_MAX_GENERICS)
        return fer_fail_at(error, FER_VALUE_ERROR, &(fer_place){.op = spec->name},
                           "%s: more than %d parameters and dtype variables", spec->name,
                           FER_MAX_GENERICS);
    fer_param *params = fer_pool_array(pool, num_params, sizeof *params);
    if (params == NULL)
        return fer_fail_memory(error);
    for (size_t i = 0; i < spec->num_params; i++)
        FER_TRY(copy_param(pool, &spec->params[i], &params[i], error));
    for (size_t i = 0; i < num_undeclared; i++) {
        params[spec->num_params + i].kind = FER_PARAM_INT;
        FER_TRY(copy_name(pool, undeclared[i], &params[spec->num_params + i].name, error));
    }
    out_spec->params = params;
    out_spec->num_params = num_params;
    return FER_OK;
}

static fer_status copy_template(fer_pool *pool, const fer_template *type, fer_template *out_type,
                                fer_error *error)
{
    fer_axis *axes = fer_pool_array(pool, type->num_axes, sizeof *axes);
    if (axes == NULL)
        return fer_fail_memory(error);
    for (size_t i = 0; i < type->num_axes; i++) {
        FER_TRY(copy_name(pool, type->axes[i].run, &axes[i].run, error));
        if (type->axes[i].dim != NULL)
            FER_TRY(
                fer_pool_take_dim(pool, fer_dim_retain(type->axes[i].dim), &axes[i].dim, error));
    }
    *out_type = (fer_template){.dtype = type->dtype, .axes = axes, .num_axes = type->num_axes};
    return copy_name(pool, type->dtype_var, &out_type->dtype_var, error);
}

static fer_status copy_items(fer_pool *pool, const fer_operand *items, size_t num_items,
                             const fer_operand **out_items, fer_error *error)
{
    fer_operand *copies = fer_pool_array(pool, num_items, sizeof *copies);
    if (copies == NULL)
        return fer_fail_memory(error);
    for (size_t i = 0; i < num_items; i++) {
        copies[i].is_inout = items[i].is_inout;
        FER_TRY(copy_name(pool, items[i].name, &copies[i].name, error));
        FER_TRY(copy_template(pool, &items[i].type, &copies[i].type, error));
    }
    *out_items = copies;
    return FER_OK;
}

/* A condition's text is quoted and printed, so it has to say what its dims say. */
static fer_status copy_condition_text(fer_pool *pool, const fer_signature_spec *spec,
                                      const fer_condition *condition, const char **out_text,
                                      fer_error *error)
{
    fer_lexer lexer;
    fer_lexer_start(&lexer, condition->text, NULL, false);
    fer_condition parsed;
    fer_status status = fer_condition_parse(&lexer, spec, pool, &parsed, NULL);
    if (status == FER_MEMORY_ERROR)
        return fer_fail_memory(error);
    if (status != FER_OK || lexer.token.kind != FER_TOKEN_END ||
        parsed.comparison != condition->comparison ||
        !fer_dim_equal(parsed.left, condition->left) ||
        !fer_dim_equal(parsed.right, condition->right))
        return fer_fail_at(error, FER_VALUE_ERROR, &(fer_place){.op = spec->name},
                           "%s: the text '%s' of a condition does not say '%s %s %s'", spec->name,
                           condition->text, fer_dim_text(condition->left),
                           fer_comparison_text(condition->comparison),
                           fer_dim_text(condition->right));
    *out_text = parsed.text;
    return FER_OK;
}

/* `op: condition 'n <> 1': column 3: ...` */
static fer_status parse_condition(fer_pool *pool, const fer_signature_spec *spec, const char *text,
                                  fer_condition *out_condition, fer_error *error)
{
    fer_lexer lexer;
    fer_lexer_start(&lexer, text, NULL, false);
    fer_error cause = FER_ERROR_INIT;
    fer_status status = fer_condition_parse(&lexer, spec, pool, out_condition, &cause);
    if (status == FER_OK && lexer.token.kind != FER_TOKEN_END)
        status = fer_lexer_unexpected(&lexer, "the end of the condition", &cause);
    if (status == FER_MEMORY_ERROR)
        (void)fer_fail_memory(error);
    else if (status != FER_OK)
        (void)fer_fail_at(error, status, &(fer_place){.op = spec->name}, "%s: condition '%s': %s",
                          spec->name, text, cause.message);
    fer_error_clear(&cause);
    return status;
}

static fer_status copy_conditions(fer_pool *pool, const fer_signature_spec *spec,
                                  fer_signature_spec *out_spec, fer_error *error)
{
    fer_condition *copies = fer_pool_array(pool, spec->num_conditions, sizeof *copies);
    if (copies == NULL)
        return fer_fail_memory(error);
    for (size_t i = 0; i < spec->num_conditions; i++) {
        const fer_condition *condition = &spec->conditions[i];
        if (condition->left == NULL) { /* so the right one is NULL too, and there is a text */
            FER_TRY(parse_condition(pool, out_spec, condition->text, &copies[i], error));
            continue;
        }
        copies[i].comparison = condition->comparison;
        FER_TRY(fer_pool_take_dim(pool, fer_dim_retain(condition->left), &copies[i].left, error));
        FER_TRY(fer_pool_take_dim(pool, fer_dim_retain(condition->right), &copies[i].right, error));
        if (condition->text != NULL)
            FER_TRY(copy_condition_text(pool, out_spec, condition, &copies[i].text, error));
    }
    out_spec->conditions = copies;
    out_spec->num_conditions = spec->num_conditions;
    return FER_OK;
}

static fer_status copy_spec(fer_pool *pool, const fer_signature_spec *spec,
                            fer_signature_spec *out_spec, fer_error *error)
{
    out_spec->has_effect = spec->has_effect;
    FER_TRY(copy_name(pool, spec->name, &out_spec->name, error));
    FER_TRY(copy_dtype_vars(pool, spec, out_spec, error));
    FER_TRY(copy_params(pool, spec, out_spec, error));
    FER_TRY(copy_items(pool, spec->operands, spec->num_operands, &out_spec->operands, error));
    out_spec->num_operands = spec->num_operands;
    FER_TRY(copy_items(pool, spec->results, spec->num_results, &out_spec->results, error));
    out_spec->num_results = spec->num_results;
    return copy_conditions(pool, spec, out_spec, error);
}

static fer_status make_constants(fer_signature *signature, fer_error *error)
{
    const fer_signature_spec *spec = &signature->declared;
    signature->constants =
        fer_pool_array(&signature->pool, spec->num_params, sizeof *signature->constants);
    if (signature->constants == NULL)
        return fer_fail_memory(error);
    for (size_t i = 0; i < spec->num_params; i++) {
        const fer_param *param = &spec->params[i];
        if (param->kind != FER_PARAM_INT || !param->has_value)
            continue;
        fer_dim *value;
        FER_TRY(fer_dim_constant(param->value.as_int, &value, error));
        fer_substitution *constant = &signature->constants[signature->num_constants++];
        *constant = (fer_substitution){.space = FER_NAMESPACE_PARAMETER, .name = param->name};
        FER_TRY(fer_pool_take_dim(&signature->pool, value, &constant->dim, error));
    }
    return FER_OK;
}

static fer_status fold_dim(fer_signature *signature, const fer_dim_place *place, const fer_dim *dim,
                           const fer_dim **out_dim, fer_error *error)
{
    fer_dim *folded;
    fer_status status =
        fer_dim_fold(dim, signature->constants, signature->num_constants, &folded, error);
    if (status != FER_OK)
        return fer_fail_arithmetic(place, signature->constants, signature->num_constants, status,
                                   error);
    return fer_pool_take_dim(&signature->pool, folded, out_dim, error);
}

static fer_status fold_items(fer_signature *signature, const fer_operand *items, size_t num_items,
                             const fer_operand **out_items, fer_error *error)
{
    fer_pool *pool = &signature->pool;
    const fer_signature_spec *spec = &signature->declared;
    fer_operand *folded = fer_pool_array(pool, num_items, sizeof *folded);
    if (folded == NULL)
        return fer_fail_memory(error);
    for (size_t i = 0; i < num_items; i++) {
        const fer_template *type = &items[i].type;
        fer_axis *axes = fer_pool_array(pool, type->num_axes, sizeof *axes);
        if (axes == NULL)
            return fer_fail_memory(error);
        for (size_t j = 0; j < type->num_axes; j++) {
            axes[j].run = type->axes[j].run;
            fer_dim_place place = {.spec = spec, .item = &items[i], .axis = j};
            if (axes[j].run == NULL)
                FER_TRY(fold_dim(signature, &place, type->axes[j].dim, &axes[j].dim, error));
        }
        folded[i] = items[i];
        folded[i].type.axes = axes;
        const fer_param *param =
            type->dtype_var == NULL ? NULL : fer_spec_find_param(spec, type->dtype_var);
        if (param != NULL && param->has_value) {
            folded[i].type.dtype = param->value.as_dtype;
            folded[i].type.dtype_var = NULL;
        }
    }
    *out_items = folded;
    return FER_OK;
}

static fer_status fold_conditions(fer_signature *signature, fer_error *error)
{
    const fer_signature_spec *spec = &signature->declared;
    fer_condition *folded = fer_pool_array(&signature->pool, spec->num_conditions, sizeof *folded);
    if (folded == NULL)
        return fer_fail_memory(error);
    for (size_t i = 0; i < spec->num_conditions; i++) {
        const fer_condition *condition = &spec->conditions[i];
        fer_dim_place place = {.spec = spec, .condition = condition};
        folded[i] = *condition;
        FER_TRY(fold_dim(signature, &place, condition->left, &folded[i].left, error));
        FER_TRY(fold_dim(signature, &place, condition->right, &folded[i].right, error));
    }
    signature->folded.conditions = folded;
    return FER_OK;
}

static const char *pinning_param(const fer_axis *declared, const fer_axis *folded)
{
    if (declared->dim == NULL || !fer_dim_is_static(folded->dim))
        return NULL;
    fer_namespace space;
    const char *name = fer_dim_symbol_name(declared->dim, &space);
    return name != NULL && space == FER_NAMESPACE_PARAMETER ? name : NULL;
}

static fer_status find_pinned(fer_signature *signature, fer_error *error)
{
    const fer_signature_spec *spec = &signature->declared;
    signature->pinned = fer_pool_array(&signature->pool, spec->num_operands * FER_MAX_AXES,
                                       sizeof *signature->pinned);
    if (signature->pinned == NULL)
        return fer_fail_memory(error);
    for (size_t i = 0; i < spec->num_operands; i++)
        for (size_t j = 0; j < spec->operands[i].type.num_axes; j++)
            signature->pinned[i * FER_MAX_AXES + j] = pinning_param(
                &spec->operands[i].type.axes[j], &signature->folded.operands[i].type.axes[j]);
    return FER_OK;
}

static fer_status fold(fer_signature *signature, fer_error *error)
{
    fer_signature_spec *folded = &signature->folded;
    *folded = signature->declared;
    FER_TRY(make_constants(signature, error));
    FER_TRY(fold_items(signature, signature->declared.operands, folded->num_operands,
                       &folded->operands, error));
    FER_TRY(fold_items(signature, signature->declared.results, folded->num_results,
                       &folded->results, error));
    FER_TRY(fold_conditions(signature, error));
    return find_pinned(signature, error);
}

/* For a signature that was checked: what no operand binds stands bare and once. */
static fer_status find_open(fer_signature *signature, fer_error *error)
{
    const fer_signature_spec *spec = &signature->folded;
    signature->open_symbols = fer_pool_array(&signature->pool, FER_MAX_OPERANDS * FER_MAX_RANK,
                                             sizeof *signature->open_symbols);
    if (signature->open_symbols == NULL)
        return fer_fail_memory(error);
    for (size_t i = 0; i < spec->num_results; i++) {
        const fer_template *type = &spec->results[i].type;
        for (size_t j = 0; j < type->num_axes; j++) {
            fer_namespace space;
            const char *name =
                type->axes[j].dim == NULL ? NULL : fer_dim_symbol_name(type->axes[j].dim, &space);
            if (name != NULL && space == FER_NAMESPACE_SIGNATURE &&
                !fer_spec_binds_symbol(spec, name))
                signature->open_symbols[signature->num_open++] = name;
        }
    }
    return FER_OK;
}

static bool has_condition_texts(const fer_signature_spec *spec)
{
    for (size_t i = 0; i < spec->num_conditions; i++)
        if (spec->conditions[i].left == NULL)
            return true;
    return false;
}

fer_status fer_signature_create(const fer_signature_spec *spec, fer_signature **out_signature,
                                fer_error *error)
{
    *out_signature = NULL;
    FER_TRY(fer_spec_check(spec, error));
    fer_signature *signature = calloc(1, sizeof *signature);
    if (signature == NULL)
        return fer_fail_memory(error);
    atomic_init(&signature->references, 1);
    fer_status status = FER_OK;
    FER_TRY_DONE(copy_spec(&signature->pool, spec, &signature->declared, error));
    /* What entered can collide, and what was read of a condition's text was not judged yet. */
    if (signature->declared.num_params > spec->num_params || has_condition_texts(spec))
        FER_TRY_DONE(fer_spec_check(&signature->declared, error));
    FER_TRY_DONE(fold(signature, error));
    FER_TRY_DONE(fer_signature_check(signature, error));
    FER_TRY_DONE(find_open(signature, error));
    FER_TRY_DONE(fer_signature_describe(signature, error));
    *out_signature = signature;
    signature = NULL;

done:
    fer_signature_release(signature);
    return status;
}
