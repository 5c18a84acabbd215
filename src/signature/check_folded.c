/* What can be said about a signature once its parameters are folded. */
#include "signature/signature.h"

#include <string.h>

/* The places of two corresponding dims: messages quote what was declared, decisions are about what
 * it folded to. */
static fer_dim_place declared_place(const fer_signature *signature, const fer_operand *folded,
                                    size_t axis)
{
    const fer_signature_spec *spec = &signature->folded;
    bool is_operand = folded >= spec->operands && folded < spec->operands + spec->num_operands;
    const fer_operand *declared = is_operand
                                      ? &signature->declared.operands[folded - spec->operands]
                                      : &signature->declared.results[folded - spec->results];
    return (fer_dim_place){.spec = &signature->declared, .item = declared, .axis = axis};
}

static fer_status check_not_negative(const fer_signature *signature, const fer_dim_place *place,
                                     const fer_dim *dim, fer_error *error)
{
    int64_t value;
    FER_TRY(fer_dim_value(dim, &value, error));
    if (value >= 0)
        return FER_OK;
    return fer_fail_negative(place, value, signature->constants, signature->num_constants, error);
}

static fer_status check_operand_dim(const fer_signature *signature, const fer_operand *operand,
                                    size_t axis, fer_error *error)
{
    const fer_dim *dim = operand->type.axes[axis].dim;
    fer_dim_place place = declared_place(signature, operand, axis);
    if (fer_dim_is_static(dim))
        return check_not_negative(signature, &place, dim, error);
    fer_namespace space;
    const char *name = fer_dim_symbol_name(dim, &space);
    if (name != NULL && space == FER_NAMESPACE_SIGNATURE)
        return FER_OK;
    for (size_t i = 0; i < fer_dim_num_symbols(dim); i++) {
        name = fer_dim_symbol_at(dim, i, &space);
        if (space == FER_NAMESPACE_PARAMETER)
            return fer_fail_dim(&place, FER_TYPE_ERROR, error,
                                "is not directly bindable: parameter '%s' has no value; give it "
                                "one, or use a symbol",
                                name);
    }
    return fer_fail_dim(&place, FER_TYPE_ERROR, error,
                        "is not directly bindable: an operand's dim is an integer, a symbol, or an "
                        "expression of parameters; use a symbol and say more in 'where'");
}

static size_t count_in_results(const fer_signature_spec *spec, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < spec->num_results; i++) {
        const fer_template *type = &spec->results[i].type;
        for (size_t j = 0; j < type->num_axes; j++) {
            const fer_dim *dim = type->axes[j].dim;
            for (size_t k = 0; dim != NULL && k < fer_dim_num_symbols(dim); k++)
                count += strcmp(fer_dim_symbol_at(dim, k, NULL), name) == 0;
        }
    }
    return count;
}

/* What ends a message about a symbol that no operand has. */
static const char *near_symbol(const fer_signature_spec *spec, const char *name, fer_hint *hint)
{
    return fer_did_you_mean(fer_spec_near_symbol(spec, name), hint);
}

static fer_status check_result_dim(const fer_signature *signature, const fer_operand *result,
                                   size_t axis, fer_error *error)
{
    const fer_signature_spec *spec = &signature->folded;
    const fer_dim *dim = result->type.axes[axis].dim;
    fer_dim_place place = declared_place(signature, result, axis);
    if (fer_dim_is_static(dim))
        return check_not_negative(signature, &place, dim, error);
    for (size_t i = 0; i < fer_dim_num_symbols(dim); i++) {
        fer_hint hint;
        fer_namespace space;
        const char *name = fer_dim_symbol_at(dim, i, &space);
        if (space != FER_NAMESPACE_SIGNATURE || fer_spec_binds_symbol(spec, name))
            continue;
        if (fer_dim_symbol_name(dim, NULL) == NULL)
            return fer_fail_dim(&place, FER_VALUE_ERROR, error,
                                "computes with '%s', which no operand binds: a data-dependent dim "
                                "stands alone; use a name of its own for this dim, and compute its "
                                "extent in the kernel's SHAPE function%s",
                                name, near_symbol(spec, name, &hint));
        if (count_in_results(spec, name) > 1)
            return fer_fail_dim(&place, FER_VALUE_ERROR, error,
                                "repeats '%s', which no operand binds: a data-dependent dim stands "
                                "in one place; use a name of its own for each dim, and compute "
                                "each extent in the kernel's SHAPE function%s",
                                name, near_symbol(spec, name, &hint));
    }
    return FER_OK;
}

static bool binds_dtype_var(const fer_signature_spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->num_operands; i++) {
        const char *variable = spec->operands[i].type.dtype_var;
        if (variable != NULL && strcmp(variable, name) == 0)
            return true;
    }
    return false;
}

static fer_status check_result_runs(const fer_signature *signature, const fer_operand *result,
                                    fer_error *error)
{
    for (size_t i = 0; i < result->type.num_axes; i++) {
        const char *run = result->type.axes[i].run;
        if (run != NULL && fer_spec_find_run(&signature->folded, run) == NULL) {
            fer_dim_place place = declared_place(signature, result, i);
            return fer_fail_dim(&place, FER_VALUE_ERROR, error,
                                "is the run '*%s', which no operand has", run);
        }
    }
    return FER_OK;
}

static fer_status check_condition_symbols(const fer_signature *signature,
                                          const fer_dim_place *place, const fer_dim *dim,
                                          fer_error *error)
{
    for (size_t i = 0; i < fer_dim_num_symbols(dim); i++) {
        fer_hint hint;
        fer_namespace space;
        const char *name = fer_dim_symbol_at(dim, i, &space);
        if (space == FER_NAMESPACE_SIGNATURE && !fer_spec_binds_symbol(&signature->folded, name))
            return fer_fail_dim(place, FER_VALUE_ERROR, error,
                                "names '%s', which no operand binds; a condition is decided "
                                "before the kernel runs%s",
                                name, near_symbol(&signature->folded, name, &hint));
    }
    return FER_OK;
}

static fer_status check_condition(const fer_signature *signature, size_t index, fer_error *error)
{
    const fer_condition *condition = &signature->folded.conditions[index];
    fer_dim_place place = {.spec = &signature->declared,
                           .condition = &signature->declared.conditions[index]};
    FER_TRY(check_condition_symbols(signature, &place, condition->left, error));
    FER_TRY(check_condition_symbols(signature, &place, condition->right, error));
    fer_decision decision;
    FER_TRY(fer_comparison_decide(condition->comparison, condition->left, condition->right,
                                  &decision, error));
    if (decision != FER_IS_FALSE)
        return FER_OK;
    return fer_fail_condition(&place, "is always false", signature->constants,
                              signature->num_constants, error);
}

static fer_status check_dtype_vars(const fer_signature_spec *spec, fer_error *error)
{
    for (size_t i = 0; i < spec->num_dtype_vars; i++) {
        const char *name = spec->dtype_vars[i].name;
        if (!binds_dtype_var(spec, name))
            return fer_fail_at(error, FER_TYPE_ERROR, &(fer_place){.op = spec->name},
                               "%s: dtype variable '%s' is the dtype of no operand, so that "
                               "nothing binds it; for a choice of the caller declare '%s: dtype'",
                               spec->name, name, name);
    }
    return FER_OK;
}

fer_status fer_signature_check(const fer_signature *signature, fer_error *error)
{
    const fer_signature_spec *spec = &signature->folded;
    FER_TRY(check_dtype_vars(spec, error));
    for (size_t i = 0; i < spec->num_operands; i++)
        for (size_t j = 0; j < spec->operands[i].type.num_axes; j++)
            if (spec->operands[i].type.axes[j].dim != NULL)
                FER_TRY(check_operand_dim(signature, &spec->operands[i], j, error));
    for (size_t i = 0; i < spec->num_results; i++) {
        FER_TRY(check_result_runs(signature, &spec->results[i], error));
        for (size_t j = 0; j < spec->results[i].type.num_axes; j++)
            if (spec->results[i].type.axes[j].dim != NULL)
                FER_TRY(check_result_dim(signature, &spec->results[i], j, error));
    }
    for (size_t i = 0; i < spec->num_conditions; i++)
        FER_TRY(check_condition(signature, i, error));
    return FER_OK;
}
