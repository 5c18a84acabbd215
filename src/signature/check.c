/* What can be said about a spec before parameters fold into it: names, roles, numbers, kinds. */
#include "signature/literal.h"
#include "signature/signature.h"

#include "base/lexer.h"
#include <string.h>

#define ALL_DTYPES ((uint32_t)(FER_DTYPE_BIT(FER_NUM_DTYPES) - 1u) & ~FER_DTYPE_BIT(0))

static bool template_has_run(const fer_template *type, const char *run)
{
    for (size_t i = 0; i < type->num_axes; i++)
        if (type->axes[i].run != NULL && strcmp(type->axes[i].run, run) == 0)
            return true;
    return false;
}

static fer_status fail(const fer_signature_spec *spec, fer_status kind, fer_error *error,
                       const char *what, const char *name, const char *why)
{
    return fer_fail_at(error, kind, &(fer_place){.op = spec->name}, "%s: %s '%s' %s", spec->name,
                       what, name, why);
}

static fer_status check_name(const fer_signature_spec *spec, const char *what, const char *name,
                             fer_error *error)
{
    if (name != NULL && fer_is_name(name))
        return FER_OK;
    return fail(spec, FER_VALUE_ERROR, error, what, name == NULL ? "" : name,
                "is no name: a letter or '_', then letters, digits and '_'");
}

static fer_status check_counts(const fer_signature_spec *spec, fer_error *error)
{
    fer_place place = {.op = spec->name};
    if (spec->num_operands == 0)
        return fer_fail_at(error, FER_VALUE_ERROR, &place, "%s: an op has at least one operand",
                           spec->name);
    if (spec->num_operands > FER_MAX_OPERANDS || spec->num_results > FER_MAX_OPERANDS ||
        spec->num_operands + spec->num_results > FER_MAX_OPERANDS)
        return fer_fail_at(error, FER_VALUE_ERROR, &place,
                           "%s: %zu operand%s and %zu result%s; together they may be %d",
                           spec->name, spec->num_operands, spec->num_operands == 1 ? "" : "s",
                           spec->num_results, spec->num_results == 1 ? "" : "s", FER_MAX_OPERANDS);
    if (spec->num_dtype_vars > FER_MAX_GENERICS || spec->num_params > FER_MAX_GENERICS ||
        spec->num_dtype_vars + spec->num_params > FER_MAX_GENERICS)
        return fer_fail_at(error, FER_VALUE_ERROR, &place,
                           "%s: more than %d parameters and dtype variables", spec->name,
                           FER_MAX_GENERICS);
    if (spec->num_conditions > FER_MAX_CONDITIONS)
        return fer_fail_at(error, FER_VALUE_ERROR, &place, "%s: more than %d conditions",
                           spec->name, FER_MAX_CONDITIONS);
    bool does_something = spec->num_results > 0 || spec->has_effect;
    for (size_t i = 0; i < spec->num_operands; i++)
        does_something |= spec->operands[i].is_inout;
    if (!does_something)
        return fer_fail_at(error, FER_VALUE_ERROR, &place,
                           "%s: an op has a result, an inout operand or an effect, else a call of "
                           "it does nothing",
                           spec->name);
    return FER_OK;
}

static fer_status check_dtype_var(const fer_signature_spec *spec, size_t index, fer_error *error)
{
    const fer_dtype_var *variable = &spec->dtype_vars[index];
    FER_TRY(check_name(spec, "dtype variable", variable->name, error));
    for (size_t i = 0; i < index; i++)
        if (strcmp(spec->dtype_vars[i].name, variable->name) == 0)
            return fail(spec, FER_VALUE_ERROR, error, "dtype variable", variable->name,
                        "is declared twice");
    if ((variable->allowed & ~ALL_DTYPES) != 0)
        return fail(spec, FER_TYPE_ERROR, error, "dtype variable", variable->name,
                    "is constrained to what is no dtype");
    if (variable->allowed != 0 && (variable->allowed & (variable->allowed - 1)) == 0)
        return fail(spec, FER_VALUE_ERROR, error, "dtype variable", variable->name,
                    "can be one dtype only; write that dtype in its place");
    return FER_OK;
}

static fer_status check_param(const fer_signature_spec *spec, size_t index, fer_error *error)
{
    const fer_param *param = &spec->params[index];
    FER_TRY(check_name(spec, "parameter", param->name, error));
    for (size_t i = 0; i < index; i++)
        if (strcmp(spec->params[i].name, param->name) == 0)
            return fail(spec, FER_VALUE_ERROR, error, "parameter", param->name,
                        "is declared twice");
    if (fer_spec_find_dtype_var(spec, param->name) != NULL)
        return fail(spec, FER_VALUE_ERROR, error, "parameter", param->name,
                    "is a dtype variable too; a name has one role");
    if (fer_param_kind_name(param->kind) == NULL)
        return fail(spec, FER_TYPE_ERROR, error, "parameter", param->name, "is of no known kind");
    if (param->has_value && param->kind == FER_PARAM_DTYPE &&
        fer_dtype_name(param->value.as_dtype) == NULL)
        return fail(spec, FER_TYPE_ERROR, error, "parameter", param->name,
                    "has what is no dtype as its value");
    return FER_OK;
}

static fer_status fail_item(const fer_signature_spec *spec, const fer_operand *item,
                            bool is_operand, fer_status kind, fer_error *error, const char *why)
{
    fer_place place = {.op = spec->name, .operand = is_operand ? item->name : NULL};
    if (item->name != NULL)
        return fer_fail_at(error, kind, &place, "%s: %s '%s' %s", spec->name,
                           is_operand ? "operand" : "result", item->name, why);
    return fer_fail_at(error, kind, &place, "%s: result %zu %s", spec->name,
                       (size_t)(item - spec->results), why);
}

static fer_status check_dtype(const fer_signature_spec *spec, const fer_operand *item,
                              bool is_operand, fer_error *error)
{
    const fer_template *type = &item->type;
    if (type->dtype_var == NULL) {
        const char *name = fer_dtype_name(type->dtype);
        if (name == NULL)
            return fail_item(spec, item, is_operand, FER_TYPE_ERROR, error, "has no dtype");
        /* The text would name the variable. */
        if (fer_spec_find_dtype_var(spec, name) != NULL || fer_spec_find_param(spec, name) != NULL)
            return fail(spec, FER_VALUE_ERROR, error, "the dtype", name,
                        "cannot be used beside a parameter or dtype variable of that name");
        return FER_OK;
    }
    if (type->dtype != FER_DTYPE_INVALID)
        return fail_item(spec, item, is_operand, FER_TYPE_ERROR, error,
                         "has both a dtype and a dtype variable");
    if (fer_spec_find_dtype_var(spec, type->dtype_var) != NULL)
        return FER_OK;
    const fer_param *param = fer_spec_find_param(spec, type->dtype_var);
    if (param == NULL)
        return fail(spec, FER_TYPE_ERROR, error, "dtype variable", type->dtype_var,
                    "is not declared");
    if (param->kind == FER_PARAM_FLOAT || param->kind == FER_PARAM_INT)
        return fail(spec, FER_TYPE_ERROR, error, "parameter", type->dtype_var,
                    param->kind == FER_PARAM_FLOAT
                        ? "stands for a dtype, but is a float; for any float dtype write any_float"
                        : "stands for a dtype, but is an int; for any integer dtype write any_int");
    if (param->kind != FER_PARAM_DTYPE)
        return fail(spec, FER_TYPE_ERROR, error, "parameter", type->dtype_var,
                    "stands for a dtype, but is not of kind dtype");
    return FER_OK;
}

static fer_status check_axes(const fer_signature_spec *spec, const fer_operand *item,
                             bool is_operand, fer_error *error)
{
    size_t num_runs = 0;
    const fer_template *type = &item->type;
    if (type->num_axes > FER_MAX_AXES)
        return fail_item(spec, item, is_operand, FER_VALUE_ERROR, error, "has too many axes");
    for (size_t i = 0; i < type->num_axes; i++) {
        const fer_axis *axis = &type->axes[i];
        if ((axis->dim == NULL) == (axis->run == NULL))
            return fail_item(spec, item, is_operand, FER_TYPE_ERROR, error,
                             "has an axis that is not either a dim or a run");
        if (axis->run == NULL)
            continue;
        num_runs++;
        FER_TRY(check_name(spec, "run", axis->run, error));
    }
    if (type->num_axes - num_runs > FER_MAX_RANK)
        return fail_item(spec, item, is_operand, FER_VALUE_ERROR, error,
                         "has more than 8 dims, the highest rank");
    if (is_operand && num_runs > 1)
        return fail_item(
            spec, item, is_operand, FER_VALUE_ERROR, error,
            "has more than one run of dims ('*'), so that nothing says where one ends");
    return FER_OK;
}

static fer_status check_item(const fer_signature_spec *spec, const fer_operand *items, size_t index,
                             bool is_operand, fer_error *error)
{
    const fer_operand *item = &items[index];
    const char *what = is_operand ? "operand" : "result";
    if (is_operand || item->name != NULL)
        FER_TRY(check_name(spec, what, item->name, error));
    for (size_t i = 0; i < index; i++)
        if (item->name != NULL && items[i].name != NULL && strcmp(items[i].name, item->name) == 0)
            return fail_item(spec, item, is_operand, FER_VALUE_ERROR, error, "is declared twice");
    if (!is_operand && item->is_inout)
        return fail_item(spec, item, is_operand, FER_VALUE_ERROR, error,
                         "is inout, which only an operand can be");
    FER_TRY(check_dtype(spec, item, is_operand, error));
    return check_axes(spec, item, is_operand, error);
}

static bool is_run(const fer_signature_spec *spec, const char *name)
{
    if (fer_spec_find_run(spec, name) != NULL)
        return true;
    for (size_t i = 0; i < spec->num_results; i++)
        if (template_has_run(&spec->results[i].type, name))
            return true;
    return false;
}

static fer_status check_symbol(const fer_dim_place *place, const char *name, fer_error *error)
{
    const char *role = fer_spec_find_param(place->spec, name) != NULL       ? "a parameter"
                       : fer_spec_find_dtype_var(place->spec, name) != NULL ? "a dtype variable"
                       : is_run(place->spec, name)                          ? "a run of dims"
                                                                            : NULL;
    if (role == NULL)
        return FER_OK;
    return fer_fail_dim(place, FER_VALUE_ERROR, error,
                        "has '%s' as a symbol, but '%s' is %s; a name has one role", name, name,
                        role);
}

/* A parameter that nobody declared enters as an int where a result names it. */
static bool may_enter(const fer_dim_place *place)
{
    const fer_signature_spec *spec = place->spec;
    return place->item != NULL && place->item >= spec->results &&
           place->item < spec->results + spec->num_results;
}

static fer_status check_dim_names(const fer_dim_place *place, const fer_dim *dim, fer_error *error)
{
    for (size_t i = 0; i < fer_dim_num_symbols(dim); i++) {
        fer_namespace space;
        const char *name = fer_dim_symbol_at(dim, i, &space);
        if (space == FER_NAMESPACE_CALLER)
            return fer_fail_dim(place, FER_TYPE_ERROR, error,
                                "names '%s', which is neither a symbol nor a parameter of the op",
                                name);
        if (space == FER_NAMESPACE_SIGNATURE) {
            FER_TRY(check_symbol(place, name, error));
            continue;
        }
        const fer_param *param = fer_spec_find_param(place->spec, name);
        if (param == NULL && may_enter(place))
            continue;
        if (param == NULL)
            return fer_fail_dim(place, FER_TYPE_ERROR, error,
                                "names '%s', which is neither a symbol nor a parameter of the op",
                                name);
        if (param->kind != FER_PARAM_INT)
            return fer_fail_dim(place, FER_TYPE_ERROR, error,
                                "names '%s', a parameter of kind %s; only int parameters are "
                                "dims",
                                name, fer_param_kind_name(param->kind));
    }
    return FER_OK;
}

static fer_status check_run_role(const fer_signature_spec *spec, const char *run, fer_error *error)
{
    if (fer_spec_find_param(spec, run) != NULL)
        return fail(spec, FER_VALUE_ERROR, error, "run", run,
                    "is a parameter too; a name has one role");
    if (fer_spec_find_dtype_var(spec, run) != NULL)
        return fail(spec, FER_VALUE_ERROR, error, "run", run,
                    "is a dtype variable too; a name has one role");
    return FER_OK;
}

static fer_status check_item_names(const fer_signature_spec *spec, const fer_operand *item,
                                   fer_error *error)
{
    for (size_t i = 0; i < item->type.num_axes; i++) {
        const fer_axis *axis = &item->type.axes[i];
        if (axis->run != NULL)
            FER_TRY(check_run_role(spec, axis->run, error));
        else
            FER_TRY(check_dim_names(&(fer_dim_place){.spec = spec, .item = item, .axis = i},
                                    axis->dim, error));
    }
    return FER_OK;
}

/* Its dims come of the text, and are judged when they have. */
static bool is_text_alone(const fer_condition *condition)
{
    return condition->left == NULL && condition->right == NULL && condition->text != NULL;
}

static fer_status check_condition(const fer_signature_spec *spec, const fer_condition *condition,
                                  fer_error *error)
{
    if (is_text_alone(condition))
        return FER_OK;
    if (condition->left == NULL || condition->right == NULL ||
        fer_comparison_text(condition->comparison) == NULL)
        return fer_fail_at(error, FER_TYPE_ERROR, &(fer_place){.op = spec->name},
                           "%s: a condition compares two dims", spec->name);
    return FER_OK;
}

static fer_status check_condition_names(const fer_signature_spec *spec,
                                        const fer_condition *condition, fer_error *error)
{
    fer_dim_place place = {.spec = spec, .condition = condition};
    if (is_text_alone(condition))
        return FER_OK;
    FER_TRY(check_dim_names(&place, condition->left, error));
    return check_dim_names(&place, condition->right, error);
}

fer_status fer_spec_check(const fer_signature_spec *spec, fer_error *error)
{
    if (spec->name == NULL || !fer_is_name(spec->name))
        return fer_fail(error, FER_VALUE_ERROR,
                        "'%s' is no name for an op: a letter or '_', then letters, digits and '_'",
                        spec->name == NULL ? "" : spec->name);
    FER_TRY(check_counts(spec, error));
    for (size_t i = 0; i < spec->num_dtype_vars; i++)
        FER_TRY(check_dtype_var(spec, i, error));
    for (size_t i = 0; i < spec->num_params; i++)
        FER_TRY(check_param(spec, i, error));
    for (size_t i = 0; i < spec->num_operands; i++)
        FER_TRY(check_item(spec, spec->operands, i, true, error));
    for (size_t i = 0; i < spec->num_results; i++)
        FER_TRY(check_item(spec, spec->results, i, false, error));
    for (size_t i = 0; i < spec->num_conditions; i++)
        FER_TRY(check_condition(spec, &spec->conditions[i], error));
    for (size_t i = 0; i < spec->num_operands; i++)
        FER_TRY(check_item_names(spec, &spec->operands[i], error));
    for (size_t i = 0; i < spec->num_results; i++)
        FER_TRY(check_item_names(spec, &spec->results[i], error));
    for (size_t i = 0; i < spec->num_conditions; i++)
        FER_TRY(check_condition_names(spec, &spec->conditions[i], error));
    return FER_OK;
}
