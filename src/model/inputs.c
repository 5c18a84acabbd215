/* Checking a run's inputs: quickly when they are as in the last run, else with all words. */
#include "base/text.h"
#include "model/state.h"

#include <stdio.h>

static const fer_value *input_value(const fer_run_state *state, size_t index)
{
    return state->schedule->graph->values[index];
}

/* VALUE: `graph 'g': input 'x' WHY`, with what was expected and what came. */
__attribute__((format(printf, 6, 7))) static fer_status
fail_input(const fer_run_state *state, size_t index, const char *expected, const char *actual,
           fer_error *error, const char *format, ...)
{
    const char *name = input_value(state, index)->name;
    fer_place place = {.operand = name, .expected = expected, .actual = actual};
    va_list arguments;
    fer_text why = FER_TEXT_INIT;
    va_start(arguments, format);
    fer_text_vprintf(&why, format, arguments);
    va_end(arguments);
    fer_status status =
        why.has_failed ? fer_fail_memory(error)
                       : fer_fail_at(error, FER_VALUE_ERROR, &place, "graph '%s': input '%s' %s",
                                     state->schedule->graph->name, name, fer_text_string(&why));
    fer_text_free(&why);
    return status;
}

static fer_status check_kind(const fer_run_state *state, size_t index, const fer_tensor *tensor,
                             fer_error *error)
{
    const fer_tensor *wanted = &state->tensors[index];
    const char *expected = fer_dtype_name((fer_dtype)wanted->dtype);
    const char *actual = fer_dtype_name((fer_dtype)tensor->dtype);
    if (tensor->dtype != wanted->dtype)
        return fail_input(state, index, expected, actual, error,
                          "has dtype %s, but the graph takes dtype %s", actual, expected);
    char numbers[2][16];
    if (tensor->rank != wanted->rank) {
        snprintf(numbers[0], sizeof numbers[0], "%d", wanted->rank);
        snprintf(numbers[1], sizeof numbers[1], "%d", tensor->rank);
        return fail_input(state, index, numbers[0], numbers[1], error,
                          "has rank %s, but the graph takes rank %s, %s", numbers[1], numbers[0],
                          fer_type_text(input_value(state, index)->type));
    }
    if (tensor->dl.device.device_id != wanted->dl.device.device_id) {
        snprintf(numbers[0], sizeof numbers[0], "%d", (int)wanted->dl.device.device_id);
        snprintf(numbers[1], sizeof numbers[1], "%d", (int)tensor->dl.device.device_id);
        return fail_input(state, index, numbers[0], numbers[1], error,
                          "is on device %s, but the graph takes it on device %s; insert an "
                          "explicit transfer",
                          numbers[1], numbers[0]);
    }
    return FER_OK;
}

static fer_status fail_extent(const fer_run_state *state, size_t index, size_t axis, int64_t actual,
                              int64_t wanted, fer_error *error)
{
    const fer_schedule *s = state->schedule;
    const fer_value *input = input_value(state, index);
    const fer_axis_rule *rule = &s->input_rules[index][axis];
    char expected[24], got[24];
    snprintf(expected, sizeof expected, "%lld", (long long)wanted);
    snprintf(got, sizeof got, "%lld", (long long)actual);
    fer_place place = {.operand = input->name,
                       .has_axis = true,
                       .axis = (int)axis,
                       .expected = expected,
                       .actual = got};
    if (rule->kind == FER_RULE_STATIC)
        return fer_fail_at(error, FER_VALUE_ERROR, &place,
                           "graph '%s': input '%s' axis %zu is %s, but the graph takes %s",
                           s->graph->name, input->name, axis, got, expected);
    const fer_symbol *symbol = &s->symbols[rule->symbol];
    return fer_fail_at(error, FER_VALUE_ERROR, &place,
                       "graph '%s': input '%s' axis %zu is %s, but %s is %s, bound by input '%s' "
                       "axis %zu",
                       s->graph->name, input->name, axis, got, symbol->name, expected,
                       input_value(state, symbol->input)->name, symbol->axis);
}

/* Takes over the extents of an input that is what the graph asks for. */
static fer_status take_extents(fer_run_state *state, size_t index, const fer_tensor *tensor,
                               fer_error *error)
{
    size_t axis;
    int64_t wanted;
    FER_TRY(check_kind(state, index, tensor, error));
    FER_TRY(fer_state_apply_rules(state, 0, state->schedule->input_rules[index], tensor->rank,
                                  tensor->extents, &axis, &wanted, error));
    if (axis < tensor->rank)
        return fail_extent(state, index, axis, tensor->extents[axis], wanted, error);
    fer_tensor *taken = &state->tensors[index];
    for (size_t i = 0; i < tensor->rank; i++)
        taken->extents[i] = tensor->extents[i];
    taken->num_elements = tensor->num_elements;
    taken->num_bytes = tensor->num_bytes;
    return FER_OK;
}

static bool is_as_before(const fer_tensor *before, const fer_tensor *now)
{
    bool is_same = before->dtype == now->dtype && before->rank == now->rank &&
                   before->dl.device.device_id == now->dl.device.device_id;
    for (size_t axis = 0; is_same && axis < now->rank; axis++)
        is_same = before->extents[axis] == now->extents[axis];
    return is_same;
}

/* An inout input must be the caller's to change, and no other input's. */
static fer_status check_inout(const fer_run_state *state, fer_tensor *const *inputs,
                              size_t num_inputs, size_t index, fer_error *error)
{
    const char *graph = state->schedule->graph->name;
    const char *name = input_value(state, index)->name;
    fer_place place = {.operand = name};
    if (inputs[index]->is_read_only)
        return fer_fail_at(error, FER_VALUE_ERROR, &place,
                           "graph '%s': input '%s' is inout, but the tensor is read-only", graph,
                           name);
    if (!fer_tensor_is_compact(inputs[index]))
        return fer_fail_at(error, FER_VALUE_ERROR, &place,
                           "graph '%s': input '%s' is inout, but the tensor is not compact; give a "
                           "compact copy, and copy its elements back (in Python x.numpy()[...] = "
                           "copy.numpy())",
                           graph, name);
    for (size_t i = 0; i < num_inputs; i++)
        if (i != index && fer_tensors_overlap(inputs[index], inputs[i]))
            return fer_fail_at(
                error, FER_VALUE_ERROR, &place,
                "graph '%s': input '%s' is inout, but its memory overlaps input '%s'", graph, name,
                input_value(state, i)->name);
    return FER_OK;
}

static fer_status check_all_inout(const fer_run_state *state, fer_tensor *const *inputs,
                                  size_t num_inputs, fer_error *error)
{
    for (size_t i = 0; i < num_inputs; i++)
        if (fer_value_is_inout(input_value(state, i)))
            FER_TRY(check_inout(state, inputs, num_inputs, i, error));
    return FER_OK;
}

/* Kernels get compact copies of what is not, as it is now. */
static fer_status compact_inputs(fer_run_state *state, fer_tensor *const *inputs, size_t num_inputs,
                                 fer_error *error)
{
    for (size_t i = 0; i < num_inputs; i++) {
        if (fer_tensor_is_compact(inputs[i]))
            continue;
        fer_tensor **copy = &state->compact[state->num_compact];
        FER_TRY(fer_tensor_compact(inputs[i], copy, error));
        state->num_compact++;
        state->tensors[i].dl.data = (*copy)->dl.data;
    }
    return FER_OK;
}

static fer_status fail_count(const fer_graph *graph, size_t num_inputs, fer_error *error)
{
    fer_status status = fer_fail_count(
        error, &(fer_count){.what = "input", .expected = graph->num_inputs, .actual = num_inputs});
    return fer_error_prepend(error, status, "graph '%s': ", graph->name);
}

fer_status fer_state_take_inputs(fer_run_state *state, fer_tensor *const *inputs, size_t num_inputs,
                                 fer_error *error)
{
    const fer_schedule *s = state->schedule;
    bool is_compact = true;
    if (num_inputs != s->graph->num_inputs)
        return fail_count(s->graph, num_inputs, error);
    for (size_t i = 0; i < num_inputs; i++) {
        if (inputs[i] == NULL)
            return fer_fail_at(error, FER_TYPE_ERROR,
                               &(fer_place){.operand = input_value(state, i)->name},
                               "graph '%s': input '%s' is NULL, not a tensor", s->graph->name,
                               input_value(state, i)->name);
        state->is_planned = state->is_planned && is_as_before(&state->tensors[i], inputs[i]);
        state->tensors[i].dl.data = inputs[i]->dl.data;
        is_compact &= inputs[i]->dl.strides == NULL;
    }
    for (size_t i = 0; i < num_inputs && !state->is_planned; i++)
        FER_TRY(take_extents(state, i, inputs[i], error));
    if (s->num_inout_inputs > 0)
        FER_TRY(check_all_inout(state, inputs, num_inputs, error));
    return is_compact ? FER_OK : compact_inputs(state, inputs, num_inputs, error);
}

void fer_state_drop_inputs(fer_run_state *state)
{
    while (state->num_compact > 0)
        fer_tensor_release(state->compact[--state->num_compact]);
}
