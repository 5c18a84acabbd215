/* Calls as languages write them: arguments by position and by name become operands, plain numbers
 * become rank-0 operands, and what the operands are decides between calling and staging. */
#include "graph/graph.h"
#include "signature/signature.h"
#include "signature/unify.h"

#include <string.h>

static const fer_signature_spec *spec_of(const fer_op *op)
{
    return fer_signature_folded(op->signature);
}

/* --- Binding ---------------------------------------------------------------------------------- */

/* `missing` ends the message. */
static fer_status fail_count(const fer_op *op, size_t num_arguments, const char *missing,
                             fer_error *error)
{
    return fer_fail_count(error, &(fer_count){.op = op->name,
                                              .what = "operand",
                                              .expected = spec_of(op)->num_operands,
                                              .actual = num_arguments,
                                              .rest = missing});
}

/* Which operand an argument with a name is for. */
static fer_status find_operand(const fer_op *op, const fer_argument *argument, size_t *out_index,
                               fer_error *error)
{
    const fer_signature_spec *spec = spec_of(op);
    fer_place place = {.op = op->name, .actual = argument->keyword};
    const char *names[FER_MAX_OPERANDS];
    for (size_t i = 0; i < spec->num_operands; i++) {
        names[i] = spec->operands[i].name;
        *out_index = i;
        if (strcmp(names[i], argument->keyword) == 0)
            return FER_OK;
    }
    const char *near = fer_near_name(argument->keyword, names, spec->num_operands);
    return fer_fail_at(error, FER_TYPE_ERROR, &place, "%s: unexpected operand name '%s'%s%s%s (%s)",
                       op->name, argument->keyword, near == NULL ? "" : "; did you mean '",
                       near == NULL ? "" : near, near == NULL ? "" : "'?", fer_op_text(op));
}

/* What an argument is, in words. */
static const char *describe(const fer_argument *argument)
{
    switch (argument->kind) {
    case FER_ARGUMENT_TENSOR:
        return argument->as.tensor == NULL ? "NULL" : "a tensor";
    case FER_ARGUMENT_VALUE:
        return argument->as.value == NULL ? "NULL" : "a graph value";
    case FER_ARGUMENT_NUMBER:
        return "a number";
    case FER_ARGUMENT_OTHER:
        return argument->as.type_name == NULL ? "NULL" : argument->as.type_name;
    }
    return "an unknown kind of argument";
}

static bool is_operand(const fer_op *op, size_t index, const fer_argument *argument)
{
    switch (argument->kind) {
    case FER_ARGUMENT_TENSOR:
        return argument->as.tensor != NULL;
    case FER_ARGUMENT_VALUE:
        return argument->as.value != NULL;
    case FER_ARGUMENT_NUMBER:
        return spec_of(op)->operands[index].type.num_axes == 0;
    case FER_ARGUMENT_OTHER:
        return false;
    }
    return false;
}

/* A number beside other operands, as broadcasting takes it, is what most such calls want. */
static fer_status fail_plain_number(const fer_op *op, const fer_operand *operand, fer_error *error)
{
    const fer_template *type = &operand->type;
    bool is_any_shape = type->num_axes == 1 && type->axes[0].run != NULL;
    const char *dtype =
        type->dtype_var != NULL ? type->dtype_var : fer_dtype_name((fer_dtype)type->dtype);
    fer_place place = {
        .op = op->name, .operand = operand->name, .expected = "a tensor", .actual = "a number"};
    fer_text text = FER_TEXT_INIT;
    fer_template_append(&text, type);
    fer_text_append(&text, ": give a tensor of that shape");
    if (is_any_shape)
        fer_text_printf(&text,
                        ", or declare the op with %s: %s[], which in a MAP is one number for all "
                        "elements",
                        operand->name, dtype);
    fer_status status = fer_fail_at(error, FER_TYPE_ERROR, &place,
                                    "%s: operand '%s' is a plain number, which only a rank-0 "
                                    "operand takes, but it is declared %s",
                                    op->name, operand->name, fer_text_string(&text));
    fer_text_free(&text);
    return status;
}

static fer_status check_argument(const fer_op *op, size_t index, const fer_argument *argument,
                                 fer_error *error)
{
    if (is_operand(op, index, argument))
        return FER_OK;
    const char *name = spec_of(op)->operands[index].name;
    if (argument->kind == FER_ARGUMENT_NUMBER)
        return fail_plain_number(op, &spec_of(op)->operands[index], error);
    fer_place place = {
        .op = op->name, .operand = name, .expected = "a tensor", .actual = describe(argument)};
    return fer_fail_at(error, FER_TYPE_ERROR, &place, "%s: operand '%s' is %s, not a tensor",
                       op->name, name, place.actual);
}

static fer_status check_complete(const fer_op *op, const bool *is_given, size_t num_arguments,
                                 fer_error *error)
{
    const fer_signature_spec *spec = spec_of(op);
    fer_text missing = FER_TEXT_INIT;
    size_t num_missing = 0;
    for (size_t i = 0; i < spec->num_operands; i++)
        if (!is_given[i])
            fer_text_printf(&missing, "%s'%s'", num_missing++ == 0 ? "; missing " : ", ",
                            spec->operands[i].name);
    fer_status status = FER_OK;
    if (num_missing > 0)
        status = fail_count(op, num_arguments, fer_text_string(&missing), error);
    fer_text_free(&missing);
    return status;
}

fer_status fer_arguments_bind(const fer_op *op, const fer_argument *arguments, size_t num_arguments,
                              fer_argument *bound, fer_error *error)
{
    bool is_given[FER_MAX_OPERANDS] = {false};
    bool has_keywords = false;
    for (size_t i = 0; i < num_arguments; i++) {
        has_keywords |= arguments[i].keyword != NULL;
        if (has_keywords && arguments[i].keyword == NULL)
            return fer_fail_at(error, FER_TYPE_ERROR, &(fer_place){.op = op->name},
                               "%s: an operand without a name follows one with a name", op->name);
        size_t index = i;
        if (has_keywords)
            FER_TRY(find_operand(op, &arguments[i], &index, error));
        else if (index >= spec_of(op)->num_operands)
            return fail_count(op, num_arguments, "", error);
        const char *name = spec_of(op)->operands[index].name;
        if (is_given[index])
            return fer_fail_at(error, FER_TYPE_ERROR, &(fer_place){.op = op->name, .operand = name},
                               "%s: operand '%s' is given twice", op->name, name);
        FER_TRY(check_argument(op, index, &arguments[i], error));
        is_given[index] = true;
        bound[index] = arguments[i];
    }
    return check_complete(op, is_given, num_arguments, error);
}

/* --- Numbers ---------------------------------------------------------------------------------- */

/* The dtype of another operand that shares the variable; FER_DTYPE_INVALID when only numbers do. */
static fer_dtype dtype_of_others(const fer_op *op, const fer_argument *bound, const char *variable)
{
    const fer_signature_spec *spec = spec_of(op);
    for (size_t i = 0; i < spec->num_operands; i++) {
        const char *name = spec->operands[i].type.dtype_var;
        if (name == NULL || strcmp(name, variable) != 0)
            continue;
        if (bound[i].kind == FER_ARGUMENT_TENSOR)
            return fer_tensor_dtype(bound[i].as.tensor);
        if (bound[i].kind == FER_ARGUMENT_VALUE)
            return fer_type_dtype(fer_value_type(bound[i].as.value));
    }
    return FER_DTYPE_INVALID;
}

/* The dtype parameter of that name, when it has a value. */
static fer_dtype dtype_of_param(const fer_op *op, const char *name)
{
    const fer_signature_spec *spec = spec_of(op);
    for (size_t i = 0; i < spec->num_params; i++)
        if (spec->params[i].kind == FER_PARAM_DTYPE && spec->params[i].has_value &&
            strcmp(spec->params[i].name, name) == 0)
            return spec->params[i].value.as_dtype;
    return FER_DTYPE_INVALID;
}

/* `op: operand 'x': 1.5 is no whole number, ...` */
static fer_status fail_number(const fer_place *operand, const fer_error *cause, fer_error *error)
{
    fer_place place = *operand;
    place.expected = cause->expected;
    place.actual = cause->actual;
    return fer_fail_at(error, cause->kind, &place, "%s: operand '%s': %s", place.op, place.operand,
                       cause->message);
}

/* The number as the rank-0 tensor that the operand wants. */
static fer_status make_scalar(const fer_op *op, const fer_argument *bound, size_t index,
                              fer_device device, fer_tensor **out_tensor, fer_error *error)
{
    const fer_operand *operand = &spec_of(op)->operands[index];
    fer_place place = {.op = op->name, .operand = operand->name};
    fer_dtype dtype = operand->type.dtype;
    const char *variable = operand->type.dtype_var;
    if (variable != NULL)
        dtype = dtype_of_param(op, variable);
    if (variable != NULL && dtype == FER_DTYPE_INVALID)
        dtype = dtype_of_others(op, bound, variable);
    if (dtype == FER_DTYPE_INVALID)
        return fer_fail_at(error, FER_TYPE_ERROR, &place,
                           "%s: operand '%s' is a plain number, and no tensor says what dtype %s "
                           "is; give a rank-0 tensor",
                           op->name, operand->name, variable);
    fer_error cause = FER_ERROR_INIT;
    fer_status status =
        fer_tensor_scalar(dtype, device, bound[index].as.number, out_tensor, &cause);
    if (status == FER_VALUE_ERROR)
        status = fail_number(&place, &cause, error);
    else if (status != FER_OK)
        return fer_error_move(error, &cause);
    fer_error_clear(&cause);
    return status;
}

/* --- Calling and staging ---------------------------------------------------------------------- */

static size_t count_kind(const fer_op *op, const fer_argument *bound, fer_argument_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < op->num_operands; i++)
        count += bound[i].kind == kind;
    return count;
}

static fer_status fail_mixed(const fer_op *op, const fer_argument *bound, fer_error *error)
{
    fer_text list = FER_TEXT_INIT;
    for (size_t i = 0; i < op->num_operands; i++)
        fer_text_printf(&list, "%s'%s' is %s", i == 0 ? "" : ", ", spec_of(op)->operands[i].name,
                        describe(&bound[i]));
    fer_status status = fer_fail_at(
        error, FER_TYPE_ERROR, &(fer_place){.op = op->name},
        "%s: operands must be all tensors or all graph values, but %s; make the tensors constants "
        "of the graph to stage the op (in Python graph.constant(tensor))",
        op->name, fer_text_string(&list));
    fer_text_free(&list);
    return status;
}

fer_status fer_arguments_stage(fer_graph *graph, const fer_op *op, const fer_argument *bound,
                               fer_value **out_results, size_t num_results, fer_error *error)
{
    fer_value *operands[FER_MAX_OPERANDS];
    fer_tensor *scalars[FER_MAX_OPERANDS] = {NULL};
    fer_device device = {0};
    size_t num_nodes = graph->num_nodes;
    fer_status status = FER_OK;
    if (count_kind(op, bound, FER_ARGUMENT_TENSOR) > 0)
        return fail_mixed(op, bound, error);
    for (size_t i = op->num_operands; i-- > 0;)
        if (bound[i].kind == FER_ARGUMENT_VALUE)
            device = fer_type_device(bound[i].as.value->type);
    for (size_t i = 0; i < op->num_operands; i++)
        if (bound[i].kind == FER_ARGUMENT_NUMBER)
            FER_TRY_DONE(make_scalar(op, bound, i, device, &scalars[i], error));
    for (size_t i = 0; i < op->num_operands; i++) {
        operands[i] = bound[i].as.value;
        if (bound[i].kind == FER_ARGUMENT_NUMBER)
            FER_TRY_DONE(fer_graph_constant(graph, scalars[i], &operands[i], error));
    }
    status =
        fer_graph_stage(graph, op, operands, op->num_operands, out_results, num_results, error);

done:
    while (status != FER_OK && graph->num_nodes > num_nodes)
        fer_graph_drop_constant(graph);
    for (size_t i = 0; i < op->num_operands; i++)
        fer_tensor_release(scalars[i]);
    return status;
}

/* Makes tensors of the numbers among arguments that are no values. The caller releases `scalars`,
 * which are NULL where there was no number. */
static fer_status take_operands(const fer_op *op, const fer_argument *bound, fer_tensor **operands,
                                fer_tensor **scalars, fer_error *error)
{
    fer_device device = {0};
    for (size_t i = op->num_operands; i-- > 0;)
        if (bound[i].kind == FER_ARGUMENT_TENSOR)
            device = fer_tensor_device(bound[i].as.tensor);
    for (size_t i = 0; i < op->num_operands; i++) {
        operands[i] = bound[i].as.tensor;
        if (bound[i].kind != FER_ARGUMENT_NUMBER)
            continue;
        FER_TRY(make_scalar(op, bound, i, device, &scalars[i], error));
        operands[i] = scalars[i];
    }
    return FER_OK;
}

static void release_all(fer_tensor *const *tensors, size_t num_tensors)
{
    for (size_t i = 0; i < num_tensors; i++)
        fer_tensor_release(tensors[i]);
}

static fer_status call(const fer_op *op, const fer_argument *bound, fer_tensor **out_results,
                       size_t num_results, fer_error *error)
{
    fer_tensor *operands[FER_MAX_OPERANDS];
    fer_tensor *scalars[FER_MAX_OPERANDS] = {NULL};
    fer_status status = take_operands(op, bound, operands, scalars, error);
    if (status == FER_OK)
        status = fer_call(op, operands, op->num_operands, out_results, num_results, error);
    release_all(scalars, op->num_operands);
    return status;
}

static fer_status check_call(const fer_op *op, size_t num_results, fer_error *error)
{
    if (num_results != op->num_results)
        return fer_fail_count(error, &(fer_count){.op = op->name,
                                                  .what = "result",
                                                  .is_room = true,
                                                  .expected = op->num_results,
                                                  .actual = num_results});
    return fer_signature_require_complete(op->signature, error);
}

static fer_status apply(const fer_op *op, const fer_argument *arguments, size_t num_arguments,
                        fer_argument *out_results, size_t num_results, fer_error *error)
{
    FER_TRY(check_call(op, num_results, error));
    fer_argument bound[FER_MAX_OPERANDS];
    FER_TRY(fer_arguments_bind(op, arguments, num_arguments, bound, error));
    fer_graph *graph = NULL;
    for (size_t i = op->num_operands; i-- > 0;)
        if (bound[i].kind == FER_ARGUMENT_VALUE)
            graph = bound[i].as.value->graph;
    if (graph == NULL) {
        fer_tensor *tensors[FER_MAX_OPERANDS];
        FER_TRY(call(op, bound, tensors, num_results, error));
        for (size_t i = 0; i < num_results; i++)
            out_results[i] = (fer_argument){.kind = FER_ARGUMENT_TENSOR, .as.tensor = tensors[i]};
        return FER_OK;
    }
    fer_value *values[FER_MAX_OPERANDS];
    FER_TRY(fer_arguments_stage(graph, op, bound, values, num_results, error));
    for (size_t i = 0; i < num_results; i++)
        out_results[i] = (fer_argument){.kind = FER_ARGUMENT_VALUE, .as.value = values[i]};
    return FER_OK;
}

/* Results are cleared last: a chain of calls may use one variable for both. */
fer_status fer_apply(const fer_op *op, const fer_argument *arguments, size_t num_arguments,
                     fer_argument *out_results, size_t num_results, fer_error *error)
{
    fer_status status = apply(op, arguments, num_arguments, out_results, num_results, error);
    for (size_t i = 0; status != FER_OK && i < num_results; i++)
        out_results[i] = (fer_argument){.kind = FER_ARGUMENT_OTHER};
    return status;
}

fer_status fer_apply_into(const fer_op *op, const fer_argument *arguments, size_t num_arguments,
                          fer_tensor *const *results, size_t num_results, fer_error *error)
{
    FER_TRY(check_call(op, num_results, error));
    fer_argument bound[FER_MAX_OPERANDS];
    FER_TRY(fer_arguments_bind(op, arguments, num_arguments, bound, error));
    for (size_t i = 0; i < op->num_operands; i++) {
        const char *name = spec_of(op)->operands[i].name;
        if (bound[i].kind == FER_ARGUMENT_VALUE)
            return fer_fail_at(error, FER_TYPE_ERROR, &(fer_place){.op = op->name, .operand = name},
                               "%s: operand '%s' is a graph value, whose results cannot be given",
                               op->name, name);
    }
    fer_tensor *operands[FER_MAX_OPERANDS];
    fer_tensor *scalars[FER_MAX_OPERANDS] = {NULL};
    fer_status status = take_operands(op, bound, operands, scalars, error);
    if (status == FER_OK)
        status = fer_call_into(op, operands, op->num_operands, results, num_results, error);
    release_all(scalars, op->num_operands);
    return status;
}
