/* Calls of graphs: a graph is staged in another one as an op is. Its inputs' dims bind to those of
 * the arguments, and what it returns follows by substitution. */
#include "graph/graph.h"

#include "types/substitute.h"
#include <stdio.h>
#include <stdlib.h>

/* --- Binding ---------------------------------------------------------------------------------- */

typedef struct binder {
    const fer_graph *caller;
    const fer_graph *callee;
    fer_value *const *arguments;
    size_t ordinal;
    fer_call_binding *out;
} binder;

void fer_call_binding_clear(fer_call_binding *binding)
{
    for (size_t i = 0; i < binding->num_dims; i++)
        fer_dim_release(binding->dims[i].dim);
    for (size_t i = 0; i < binding->num_results; i++)
        fer_type_release(binding->results[i]);
    free(binding->dims);
    free(binding->results);
    fer_names_clear(&binding->names);
    *binding = (fer_call_binding){0};
}

static fer_bound_dim *find_dim(const fer_call_binding *binding, const char *name)
{
    uintptr_t found = (uintptr_t)fer_names_find(&binding->names, name);
    return found == 0 ? NULL : &binding->dims[found - 1];
}

/* Takes the dim only on success. */
static fer_status bind(fer_call_binding *binding, const fer_bound_dim *bound, fer_error *error)
{
    FER_TRY(fer_reserve(&binding->dims, binding->num_dims + 1, &binding->capacity,
                        sizeof *binding->dims, error));
    FER_TRY(fer_names_add(&binding->names, bound->name, (void *)(uintptr_t)(binding->num_dims + 1),
                          error));
    binding->dims[binding->num_dims++] = *bound;
    return FER_OK;
}

/* VALUE: `graph 'g': call of 'f': input 'x' axis 1 is 3, but WHY`. */
static fer_status fail_axis(const binder *b, size_t input, size_t axis, const char *why,
                            const char *expected, bool may_hold, fer_error *error)
{
    const char *name = b->callee->values[input]->name;
    const char *actual = fer_dim_text(fer_type_dim(b->arguments[input]->type, axis));
    fer_place place = {.operand = name,
                       .has_axis = true,
                       .axis = (int)axis,
                       .expected = expected,
                       .actual = actual};
    return fer_fail_at(error, FER_VALUE_ERROR, &place,
                       "graph '%s': call of '%s': input '%s' axis %zu is %s, but %s%s",
                       b->caller->name, b->callee->name, name, axis, actual, why,
                       may_hold ? "; if the two are equal, rebind the value to say so" : "");
}

static fer_status fail_static(const binder *b, size_t input, size_t axis, const fer_dim *wanted,
                              bool may_hold, fer_error *error)
{
    char why[64];
    snprintf(why, sizeof why, "the graph takes %.20s", fer_dim_text(wanted));
    return fail_axis(b, input, axis, why, fer_dim_text(wanted), may_hold, error);
}

static fer_status fail_repeated(const binder *b, size_t input, size_t axis,
                                const fer_bound_dim *bound, bool may_hold, fer_error *error)
{
    fer_text why = FER_TEXT_INIT;
    fer_text_printf(&why, "%s is %s, bound by input '%s' axis %zu", bound->name,
                    fer_dim_text(bound->dim), b->callee->values[bound->input]->name, bound->axis);
    fer_status status = why.has_failed ? fer_fail_memory(error)
                                       : fail_axis(b, input, axis, fer_text_string(&why),
                                                   fer_dim_text(bound->dim), may_hold, error);
    fer_text_free(&why);
    return status;
}

static fer_status bind_axis(const binder *b, size_t input, size_t axis, fer_error *error)
{
    const fer_dim *wanted = fer_type_dim(b->callee->values[input]->type, axis);
    const fer_dim *dim = fer_type_dim(b->arguments[input]->type, axis);
    const char *name = fer_dim_symbol_name(wanted, NULL);
    bool is_static = fer_dim_is_static(dim);
    if (name == NULL)
        return fer_dim_equal(dim, wanted) ? FER_OK
                                          : fail_static(b, input, axis, wanted, !is_static, error);
    const fer_bound_dim *bound = find_dim(b->out, name);
    if (bound != NULL)
        return fer_dim_equal(dim, bound->dim)
                   ? FER_OK
                   : fail_repeated(b, input, axis, bound,
                                   !is_static || !fer_dim_is_static(bound->dim), error);
    fer_bound_dim first = {.name = name, .dim = fer_dim_retain(dim), .input = input, .axis = axis};
    fer_status status = bind(b->out, &first, error);
    if (status != FER_OK)
        fer_dim_release(first.dim);
    return status;
}

static fer_status fail_input(const binder *b, size_t input, const char *what, const char *expected,
                             const char *actual, fer_error *error)
{
    const char *name = b->callee->values[input]->name;
    return fer_fail_at(error, FER_VALUE_ERROR,
                       &(fer_place){.operand = name, .expected = expected, .actual = actual},
                       "graph '%s': call of '%s': input '%s' has %s %s, but the graph takes %s %s",
                       b->caller->name, b->callee->name, name, what, actual, what, expected);
}

static fer_status fail_device(const binder *b, size_t input, int expected_id, int actual_id,
                              fer_error *error)
{
    const char *name = b->callee->values[input]->name;
    char expected[16], actual[16];
    snprintf(expected, sizeof expected, "%d", expected_id);
    snprintf(actual, sizeof actual, "%d", actual_id);
    return fer_fail_at(error, FER_VALUE_ERROR,
                       &(fer_place){.operand = name, .expected = expected, .actual = actual},
                       "graph '%s': call of '%s': input '%s' is on device %s, but the graph takes "
                       "it on device %s; insert an explicit transfer",
                       b->caller->name, b->callee->name, name, actual, expected);
}

static fer_status bind_input(const binder *b, size_t input, fer_error *error)
{
    const fer_type *wanted = b->callee->values[input]->type;
    const fer_type *type = b->arguments[input]->type;
    char numbers[2][16];
    if (fer_type_dtype(wanted) != fer_type_dtype(type))
        return fail_input(b, input, "dtype", fer_dtype_name(fer_type_dtype(wanted)),
                          fer_dtype_name(fer_type_dtype(type)), error);
    snprintf(numbers[0], sizeof numbers[0], "%zu", fer_type_rank(wanted));
    snprintf(numbers[1], sizeof numbers[1], "%zu", fer_type_rank(type));
    if (fer_type_rank(wanted) != fer_type_rank(type))
        return fail_input(b, input, "rank", numbers[0], numbers[1], error);
    if (fer_type_device(wanted).id != fer_type_device(type).id)
        return fail_device(b, input, (int)fer_type_device(wanted).id, (int)fer_type_device(type).id,
                           error);
    for (size_t axis = 0; axis < fer_type_rank(type); axis++)
        FER_TRY(bind_axis(b, input, axis, error));
    return FER_OK;
}

/* A dim that the callee finds when it runs gets a name of the caller's own. */
static fer_status bind_fresh(const binder *b, const char *name, fer_error *error)
{
    char *fresh = NULL;
    fer_bound_dim bound = {.name = name};
    FER_TRY(
        fer_dynamic_dim_name(b->caller->name, b->callee->name, b->ordinal, name, &fresh, error));
    fer_status status = fer_dim_symbol(FER_NAMESPACE_CALLER, fresh, &bound.dim, error);
    free(fresh);
    if (status == FER_OK)
        status = bind(b->out, &bound, error);
    if (status != FER_OK)
        fer_dim_release(bound.dim);
    return status;
}

/* --- Results ---------------------------------------------------------------------------------- */

static fer_status substitute(const binder *b, const fer_dim *dim, fer_dim **out_dim,
                             fer_error *error)
{
    size_t count = fer_dim_num_symbols(dim);
    fer_substitution *substitutions = calloc(count + 1, sizeof *substitutions);
    if (substitutions == NULL)
        return fer_fail_memory(error);
    fer_status status = FER_OK;
    for (size_t i = 0; status == FER_OK && i < count; i++) {
        const char *name = fer_dim_symbol_at(dim, i, NULL);
        if (find_dim(b->out, name) == NULL)
            status = bind_fresh(b, name, error);
        if (status == FER_OK)
            substitutions[i] = (fer_substitution){
                .space = FER_NAMESPACE_CALLER, .name = name, .dim = find_dim(b->out, name)->dim};
    }
    if (status == FER_OK)
        status = fer_dim_substitute(dim, substitutions, count, out_dim, error);
    free(substitutions);
    return status;
}

static fer_status make_result(const binder *b, const fer_type *type, fer_type **out_type,
                              fer_error *error)
{
    fer_dim *dims[FER_MAX_RANK];
    size_t rank = 0;
    fer_status status = FER_OK;
    while (status == FER_OK && rank < fer_type_rank(type)) {
        status = substitute(b, fer_type_dim(type, rank), &dims[rank], error);
        rank += status == FER_OK;
    }
    if (status == FER_OK)
        status = fer_type_create(fer_type_dtype(type), rank, (const fer_dim *const *)dims,
                                 fer_type_device(type), out_type, error);
    while (rank > 0)
        fer_dim_release(dims[--rank]);
    return status;
}

static fer_status make_results(const binder *b, fer_error *error)
{
    fer_call_binding *out = b->out;
    for (size_t i = 0; i < b->callee->num_outputs; i++) {
        fer_status status = make_result(b, b->callee->outputs[i]->type, &out->results[i], error);
        if (status != FER_OK)
            return fer_error_prepend(error, status,
                                     "graph '%s': call of '%s': result %zu: ", b->caller->name,
                                     b->callee->name, i);
        out->num_results++;
    }
    return FER_OK;
}

fer_status fer_call_bind(const fer_graph *caller, const fer_graph *callee,
                         fer_value *const *arguments, size_t ordinal, fer_call_binding *out_binding,
                         fer_error *error)
{
    fer_call_binding binding = {.num_results = 0};
    binder b = {.caller = caller,
                .callee = callee,
                .arguments = arguments,
                .ordinal = ordinal,
                .out = &binding};
    fer_status status = FER_OK;
    *out_binding = binding;
    binding.results = calloc(callee->num_outputs + 1, sizeof *binding.results);
    if (binding.results == NULL)
        return fer_fail_memory(error);
    for (size_t i = 0; i < callee->num_inputs; i++)
        FER_TRY_DONE(bind_input(&b, i, error));
    binding.num_bound = binding.num_dims;
    FER_TRY_DONE(make_results(&b, error));
    *out_binding = binding;
    return FER_OK;

done:
    fer_call_binding_clear(&binding);
    return status;
}

/* --- Staging ---------------------------------------------------------------------------------- */

static fer_status check_callee(const fer_graph *graph, const fer_graph *callee, fer_error *error)
{
    FER_TRY(fer_graph_require_open(graph, error));
    if (callee == NULL)
        return fer_fail(error, FER_TYPE_ERROR, "graph '%s': the graph to call is NULL",
                        graph->name);
    if (callee == graph)
        return fer_fail(error, FER_VALUE_ERROR,
                        "graph '%s' cannot call itself: graphs have no recursion, use while",
                        graph->name);
    if (callee->module != graph->module)
        return fer_fail(error, FER_VALUE_ERROR,
                        "graph '%s': graph '%s' is of another module; copy it into this one to "
                        "call it",
                        graph->name, callee->name);
    fer_status status =
        fer_graph_require_finished(callee, ", and a graph calls finished ones", error);
    if (status != FER_OK)
        return fer_error_prepend(error, status, "graph '%s': ", graph->name);
    if (graph->current->depth + 1 + callee->depth > FER_MAX_DEPTH)
        return fer_fail(error, FER_VALUE_ERROR,
                        "graph '%s': with the call of '%s', blocks and calls lie deeper than %d in "
                        "each other",
                        graph->name, callee->name, FER_MAX_DEPTH);
    return FER_OK;
}

static fer_status check_arguments(const fer_graph *graph, const fer_graph *callee,
                                  fer_value *const *arguments, size_t num_arguments,
                                  fer_error *error)
{
    if (num_arguments != callee->num_inputs) {
        fer_status status = fer_fail_count(
            error,
            &(fer_count){.what = "input", .expected = callee->num_inputs, .actual = num_arguments});
        return fer_error_prepend(error, status, "graph '%s': call of '%s': ", graph->name,
                                 callee->name);
    }
    for (size_t i = 0; i < num_arguments; i++)
        FER_TRY(fer_graph_require_value(graph, arguments[i], "an argument of a call", error));
    return FER_OK;
}

/* What the callee may change in its place may change here, and is no other argument. */
static fer_status check_inout(const fer_graph *graph, const fer_graph *callee,
                              fer_value *const *arguments, size_t index, fer_error *error)
{
    fer_place place = {.operand = callee->values[index]->name};
    fer_status status = fer_value_require_changeable(arguments[index], NULL, place.operand, error);
    if (status != FER_OK)
        return fer_error_prepend(error, status, "graph '%s': call of '%s': ", graph->name,
                                 callee->name);
    for (size_t i = 0; i < callee->num_inputs; i++)
        if (i != index && arguments[i]->root == arguments[index]->root)
            return fer_fail_at(error, FER_VALUE_ERROR, &place,
                               "graph '%s': call of '%s': input '%s' is inout, but input '%s' "
                               "shares its memory",
                               graph->name, callee->name, place.operand, callee->values[i]->name);
    return FER_OK;
}

static fer_status check_all_inout(const fer_graph *graph, const fer_graph *callee,
                                  fer_value *const *arguments, fer_error *error)
{
    for (size_t i = 0; i < callee->num_inputs; i++)
        if (fer_value_is_inout(callee->values[i]))
            FER_TRY(check_inout(graph, callee, arguments, i, error));
    return FER_OK;
}

/* TYPE: the graph has a dim of the name that one of the callee's would get. */
static fer_status check_fresh(const fer_graph *graph, const fer_graph *callee,
                              const fer_call_binding *binding, fer_error *error)
{
    for (size_t i = binding->num_bound; i < binding->num_dims; i++) {
        const char *name = fer_dim_symbol_name(binding->dims[i].dim, NULL);
        if (fer_names_find(&graph->dims, name) != NULL)
            return fer_fail(error, FER_TYPE_ERROR,
                            "graph '%s': call of '%s': the graph has a dim '%s' already, which is "
                            "the name of this call's data-dependent dim",
                            graph->name, callee->name, name);
    }
    return FER_OK;
}

static fer_status create_call(fer_graph *graph, const fer_graph *callee,
                              fer_value *const *arguments, const fer_call_binding *binding,
                              fer_node **out_node, fer_error *error)
{
    fer_node *node = NULL;
    FER_TRY(fer_node_create(graph, FER_NODE_CALL, arguments, callee->num_inputs,
                            binding->num_results, &node, error));
    node->callee = callee;
    node->ordinal = graph->num_ops;
    fer_status status = FER_OK;
    for (size_t i = 0; status == FER_OK && i < binding->num_results; i++)
        status = fer_node_add_result(node, fer_type_retain(binding->results[i]), error);
    if (status == FER_OK)
        status = fer_node_append(node, error);
    if (status != FER_OK) {
        fer_node_destroy(node);
        return status;
    }
    *out_node = node;
    return FER_OK;
}

static fer_status call(fer_graph *graph, const fer_graph *callee, fer_value *const *arguments,
                       size_t num_arguments, fer_value **out_results, size_t num_results,
                       fer_error *error)
{
    FER_TRY(check_callee(graph, callee, error));
    FER_TRY(check_arguments(graph, callee, arguments, num_arguments, error));
    if (num_results != callee->num_outputs) {
        fer_status status = fer_fail_count(error, &(fer_count){.what = "result",
                                                               .is_room = true,
                                                               .expected = callee->num_outputs,
                                                               .actual = num_results});
        return fer_error_prepend(error, status, "graph '%s': call of '%s': ", graph->name,
                                 callee->name);
    }
    FER_TRY(check_all_inout(graph, callee, arguments, error));
    fer_call_binding binding;
    FER_TRY(fer_call_bind(graph, callee, arguments, graph->num_ops, &binding, error));
    fer_node *node = NULL;
    fer_status status = check_fresh(graph, callee, &binding, error);
    if (status == FER_OK)
        status = create_call(graph, callee, arguments, &binding, &node, error);
    graph->has_dynamic_dims |= status == FER_OK && binding.num_dims > binding.num_bound;
    fer_call_binding_clear(&binding);
    if (status != FER_OK)
        return status;
    for (size_t i = 0; i < num_arguments; i++)
        if (fer_value_is_inout(callee->values[i]))
            fer_node_changes(node, i);
    size_t depth = node->block->depth + 1 + callee->depth;
    if (depth > graph->depth)
        graph->depth = depth;
    for (size_t i = 0; i < num_results; i++)
        out_results[i] = node->results[i];
    return FER_OK;
}

fer_status fer_graph_call(fer_graph *graph, const fer_graph *callee, fer_value *const *arguments,
                          size_t num_arguments, fer_value **out_results, size_t num_results,
                          fer_error *error)
{
    fer_status status =
        call(graph, callee, arguments, num_arguments, out_results, num_results, error);
    for (size_t i = 0; status != FER_OK && i < num_results; i++)
        out_results[i] = NULL;
    return status;
}
