/* Which calls `ferrule verify` makes of a declaration. All is chosen by numbers that depend on
 * nothing else, so that a case can be made again. */
#include "cli/verify.h"

#include "signature/literal.h"
#include "signature/signature.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CHOICES = 64 };

/* --- Parameters and dtypes -------------------------------------------------------------------- */

static const int64_t INTS[] = {1, 2, 3, 4, 0};
static const double FLOATS[] = {0.5, 2.0, 0.0};

static const size_t NUM_CANDIDATES[] = {
    [FER_PARAM_INT] = sizeof INTS / sizeof *INTS,
    [FER_PARAM_FLOAT] = sizeof FLOATS / sizeof *FLOATS,
    [FER_PARAM_BOOL] = 2,
    [FER_PARAM_STR] = 1,
    [FER_PARAM_DTYPE] = FER_NUM_DTYPES - 1,
};

static fer_param candidate(const fer_param *param, size_t index)
{
    fer_param chosen = {.name = param->name, .kind = param->kind, .has_value = true};
    switch (param->kind) {
    case FER_PARAM_INT:
        chosen.value.as_int = INTS[index];
        break;
    case FER_PARAM_FLOAT:
        chosen.value.as_float = FLOATS[index];
        break;
    case FER_PARAM_BOOL:
        chosen.value.as_bool = index == 0;
        break;
    case FER_PARAM_STR:
        chosen.value.as_str = (fer_string){.data = "", .num_bytes = 0};
        break;
    case FER_PARAM_DTYPE:
        chosen.value.as_dtype = (fer_dtype)(index + 1);
        break;
    }
    return chosen;
}

static bool has_same_value(const fer_param *a, const fer_param *b)
{
    switch (a->kind) {
    case FER_PARAM_INT:
        return a->value.as_int == b->value.as_int;
    case FER_PARAM_FLOAT:
        return a->value.as_float == b->value.as_float;
    case FER_PARAM_BOOL:
        return a->value.as_bool == b->value.as_bool;
    case FER_PARAM_DTYPE:
        return a->value.as_dtype == b->value.as_dtype;
    case FER_PARAM_STR:
        break;
    }
    return false;
}

/* Gives a value to the parameters that have none: each the first that is taken. */
static fer_status complete(fer_op **op, fer_error *error)
{
    const fer_signature_spec *spec = fer_signature_declared(fer_op_signature(*op));
    if (fer_op_is_complete(*op))
        return FER_OK;
    fer_status status = FER_OK;
    for (size_t index = 0; index < FER_NUM_DTYPES; index++) {
        fer_param params[FER_MAX_GENERICS];
        size_t num_params = 0;
        fer_op *made = NULL;
        for (size_t i = 0; i < spec->num_params && num_params < FER_MAX_GENERICS; i++)
            if (!spec->params[i].has_value)
                params[num_params++] =
                    candidate(&spec->params[i], index % NUM_CANDIDATES[spec->params[i].kind]);
        status = fer_op_specialise(*op, params, num_params, &made, error);
        if (status == FER_OK) {
            fer_op_release(*op);
            *op = made;
            return FER_OK;
        }
        if (status == FER_COMPILE_ERROR || status == FER_MEMORY_ERROR)
            return status;
    }
    return status;
}

/* The dtypes of an op's operands, from those of its variables. */
static void set_dtypes(const fer_op *op, const fer_dtype *vars, fer_case_choice *choice)
{
    const fer_signature_spec *spec = fer_signature_folded(fer_op_signature(op));
    for (size_t i = 0; i < spec->num_operands; i++) {
        const fer_template *type = &spec->operands[i].type;
        choice->dtypes[i] = type->dtype;
        if (type->dtype_var != NULL)
            choice->dtypes[i] =
                vars[fer_spec_find_dtype_var(spec, type->dtype_var) - spec->dtype_vars];
    }
}

static fer_status refuse(fer_case_choice *choice, fer_status status, const fer_error *refusal,
                         fer_error *error)
{
    choice->refusal_kind = status;
    return fer_copy_string(refusal->message == NULL ? "" : refusal->message, &choice->refusal,
                           error);
}

static fer_status add_choice(fer_cases *cases, size_t op, const fer_dtype *vars, fer_error *error)
{
    if (cases->num_choices == MAX_CHOICES)
        return FER_OK;
    fer_case_choice *choice = &cases->choices[cases->num_choices++];
    fer_error refusal = FER_ERROR_INIT;
    choice->op = op;
    set_dtypes(cases->ops[op].op, vars, choice);
    fer_status status = fer_op_select(cases->ops[op].op, vars, &choice->specialisation, &refusal);
    if (status != FER_OK)
        status = refuse(choice, status, &refusal, error);
    fer_error_clear(&refusal);
    return status;
}

/* Adds an op, which it takes, with its first dtypes, or with all. */
static fer_status add_op(fer_cases *cases, fer_op *op, bool has_all_dtypes, fer_error *error)
{
    const fer_signature_spec *spec = fer_signature_folded(fer_op_signature(op));
    size_t index = cases->num_ops++;
    cases->ops[index].op = op;
    fer_dtype vars[FER_MAX_GENERICS] = {FER_DTYPE_INVALID};
    fer_op_first_dtypes(op, vars);
    FER_TRY(add_choice(cases, index, vars, error));
    FER_TRY(fer_case_shapes_make(&cases->ops[index], cases->choices[cases->num_choices - 1].dtypes,
                                 error));
    for (size_t i = 0; i < spec->num_dtype_vars && has_all_dtypes; i++) {
        const fer_dtype first = vars[i];
        const uint32_t allowed = spec->dtype_vars[i].allowed;
        for (int dtype = FER_BOOL; dtype < FER_NUM_DTYPES; dtype++) {
            vars[i] = (fer_dtype)dtype;
            if (vars[i] != first && (allowed == 0 || (allowed & FER_DTYPE_BIT(dtype)) != 0))
                FER_TRY(add_choice(cases, index, vars, error));
        }
        vars[i] = first;
    }
    return FER_OK;
}

/* The op with one parameter changed. One that the declaration refuses is no case; a kernel that
 * does not compile for it is. */
static fer_status add_param(fer_cases *cases, const fer_param *param, fer_error *error)
{
    fer_op *made = NULL;
    fer_error refusal = FER_ERROR_INIT;
    fer_status status = fer_op_specialise(cases->ops[0].op, param, 1, &made, &refusal);
    if (status == FER_OK) {
        status = add_op(cases, made, false, error);
    } else if (status == FER_COMPILE_ERROR && cases->num_choices < MAX_CHOICES) {
        status = refuse(&cases->choices[cases->num_choices++], status, &refusal, error);
    } else if (status != FER_MEMORY_ERROR) {
        status = FER_OK;
    }
    fer_error_clear(&refusal);
    return status;
}

fer_status fer_cases_make(fer_op *op, bool is_quick, fer_cases *out_cases, fer_error *error)
{
    *out_cases = (fer_cases){0};
    fer_cases cases = {.ops = calloc(MAX_CHOICES, sizeof *cases.ops),
                       .choices = calloc(MAX_CHOICES, sizeof *cases.choices)};
    fer_status status = FER_OK;
    if (cases.ops == NULL || cases.choices == NULL)
        status = fer_fail_memory(error);
    if (status == FER_OK)
        status = complete(&op, error);
    if (status != FER_OK) {
        fer_op_release(op);
        goto done;
    }
    FER_TRY_DONE(add_op(&cases, op, !is_quick, error));
    const fer_signature_spec *spec = fer_signature_declared(fer_op_signature(op));
    for (size_t i = 0; i < spec->num_params && !is_quick; i++)
        for (size_t j = 0; j < NUM_CANDIDATES[spec->params[i].kind]; j++) {
            const fer_param other = candidate(&spec->params[i], j);
            if (!has_same_value(&other, &spec->params[i]) && cases.num_ops < MAX_CHOICES)
                FER_TRY_DONE(add_param(&cases, &other, error));
        }
    *out_cases = cases;
    cases = (fer_cases){0};

done:
    fer_cases_clear(&cases);
    return status;
}

void fer_cases_clear(fer_cases *cases)
{
    for (size_t i = 0; i < cases->num_ops; i++) {
        fer_op_release(cases->ops[i].op);
        free(cases->ops[i].shapes);
    }
    for (size_t i = 0; i < cases->num_choices; i++)
        free(cases->choices[i].refusal);
    free(cases->ops);
    free(cases->choices);
    *cases = (fer_cases){0};
}

/* --- Cases ------------------------------------------------------------------------------------ */

static size_t count_of(const fer_cases *cases, const fer_case_choice *choice)
{
    return cases->ops[choice->op].num_shapes * FER_NUM_VALUES;
}

size_t fer_cases_count(const fer_cases *cases)
{
    size_t count = 0;
    for (size_t i = 0; i < cases->num_choices; i++)
        count += count_of(cases, &cases->choices[i]);
    return count;
}

fer_case fer_cases_at(const fer_cases *cases, size_t index)
{
    const fer_case_choice *choice = cases->choices;
    size_t rest = index;
    for (; rest >= count_of(cases, choice); choice++)
        rest -= count_of(cases, choice);
    const fer_case_op *op = &cases->ops[choice->op];
    return (fer_case){.index = index,
                      .op = op->op,
                      .choice = choice,
                      .shapes = &op->shapes[rest / FER_NUM_VALUES * op->op->num_operands],
                      .values = (fer_case_values)(rest % FER_NUM_VALUES)};
}

void fer_case_append(fer_text *text, const fer_case *a_case)
{
    static const char *const VALUES[] = {"small", "plain", "special"};
    const fer_signature_spec *spec = fer_signature_folded(fer_op_signature(a_case->op));
    for (size_t i = 0; i < spec->num_params; i++) {
        fer_text_printf(text, "%s = ", spec->params[i].name);
        fer_literal_append(text, &spec->params[i]);
        fer_text_append(text, i + 1 < spec->num_params ? ", " : "; ");
    }
    for (size_t i = 0; i < spec->num_operands; i++) {
        fer_text_printf(text, "%s%s: %s[", i == 0 ? "" : ", ", spec->operands[i].name,
                        fer_dtype_name(a_case->choice->dtypes[i]));
        for (size_t j = 0; j < a_case->shapes[i].rank; j++)
            fer_text_printf(text, "%s%lld", j == 0 ? "" : ", ",
                            (long long)a_case->shapes[i].extents[j]);
        fer_text_append_char(text, ']');
    }
    fer_text_printf(text, "; %s values", VALUES[a_case->values]);
}
