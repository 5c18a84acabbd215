/* Planning a run: the extents of every value, with all checks, and memory for it. */
#include "model/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64

static const char *graph_name(const fer_run_state *state)
{
    return state->schedule->graph->name;
}

/* --- Extents ---------------------------------------------------------------------------------- */

/* What the kernel's plan found must be what the graph was staged with. */
static fer_status check_result(fer_run_state *state, const fer_step_plan *step, size_t result,
                               const fer_axis_rule *rules, const fer_extents *found,
                               fer_error *error)
{
    const fer_type *type = step->node->results[result]->type;
    size_t axis = 0;
    int64_t wanted = 0;
    if (found->rank == fer_type_rank(type))
        FER_TRY(fer_state_apply_rules(state, rules, found->rank, found->extents, &axis, &wanted,
                                      error));
    if (found->rank == fer_type_rank(type) && axis == found->rank)
        return FER_OK;
    const char *op = step->node->op->name;
    return fer_fail_at(error, FER_RUNTIME_ERROR, &(fer_place){.op = op},
                       "graph '%s': %s: result %zu is not what the graph was staged with, %s",
                       graph_name(state), op, result, fer_type_text(type));
}

static fer_status take_results(fer_run_state *state, const fer_step_plan *step,
                               const fer_bound *bound, fer_error *error)
{
    const fer_axis_rule *rules = step->rules;
    for (size_t i = 0; i < step->node->num_results; i++) {
        const fer_extents *found = &bound->results[i];
        FER_TRY(check_result(state, step, i, rules, found, error));
        rules += found->rank;
        fer_tensor *tensor = &state->tensors[step->slots[i]];
        memcpy(tensor->extents, found->extents, found->rank * sizeof *found->extents);
        tensor->num_elements = found->num_elements;
        tensor->num_bytes = found->num_bytes;
    }
    return FER_OK;
}

static fer_status plan_op(fer_run_state *state, const fer_step_plan *step, bool may_measure,
                          fer_error *error)
{
    const fer_node *node = step->node;
    fer_tensor *operands[FER_MAX_OPERANDS];
    for (size_t i = 0; i < node->num_operands; i++)
        operands[i] = &state->tensors[step->slots[node->num_results + i]];
    const fer_specialisation *specialisation;
    fer_bound bound;
    fer_status status =
        fer_op_bind(node->op, operands, node->num_operands, &specialisation, &bound, error);
    if (status == FER_OK && step->is_open && may_measure)
        status = fer_specialisation_measure(step->specialisation, operands, &bound, error);
    if (status != FER_OK)
        return fer_error_prepend(error, status, "graph '%s': ", graph_name(state));
    return step->is_open && !may_measure ? FER_OK : take_results(state, step, &bound, error);
}

static fer_status plan_rebind(fer_run_state *state, const fer_step_plan *step, fer_error *error)
{
    const fer_tensor *tensor = &state->tensors[step->slots[0]];
    size_t axis;
    int64_t wanted;
    fer_status status = fer_state_apply_rules(state, step->rules, tensor->rank, tensor->extents,
                                              &axis, &wanted, error);
    if (status != FER_OK)
        return fer_error_prepend(error, status, "graph '%s': rebind: ", graph_name(state));
    if (axis == tensor->rank)
        return FER_OK;
    char expected[24], actual[24];
    snprintf(expected, sizeof expected, "%lld", (long long)wanted);
    snprintf(actual, sizeof actual, "%lld", (long long)tensor->extents[axis]);
    const fer_type *type = step->node->results[0]->type;
    const char *dim = fer_dim_text(fer_type_dim(type, axis));
    fer_place place = {.has_axis = true, .axis = (int)axis, .expected = expected, .actual = actual};
    if (step->rules[axis].kind == FER_RULE_STATIC)
        return fer_fail_at(error, FER_RUNTIME_ERROR, &place,
                           "graph '%s': rebind to %s: axis %zu is %s", graph_name(state),
                           fer_type_text(type), axis, actual);
    return fer_fail_at(error, FER_RUNTIME_ERROR, &place,
                       "graph '%s': rebind to %s: axis %zu is %s, but %s is %s", graph_name(state),
                       fer_type_text(type), axis, actual, dim, expected);
}

fer_status fer_state_plan_step(fer_run_state *state, const fer_step_plan *step, bool may_measure,
                               fer_error *error)
{
    fer_status status = step->node->kind == FER_NODE_OP ? plan_op(state, step, may_measure, error)
                                                        : plan_rebind(state, step, error);
    return fer_node_locate(step->node, status, error);
}

/* --- Memory ----------------------------------------------------------------------------------- */

/* Makes a block at least so large; what it held is lost. */
static fer_status grow_block(fer_block *block, size_t num_bytes, fer_error *error)
{
    if (block->data != NULL && block->num_bytes >= num_bytes)
        return FER_OK;
    size_t size;
    if (__builtin_add_overflow(num_bytes, 2 * ALIGNMENT - 1, &size))
        return fer_fail_memory(error);
    size -= size % ALIGNMENT;
    free(block->data);
    *block = (fer_block){.data = aligned_alloc(ALIGNMENT, size), .num_bytes = size};
    if (block->data != NULL)
        return FER_OK;
    block->num_bytes = 0;
    return fer_fail_memory(error);
}

static bool has_static_block(const fer_slot *slot)
{
    return slot->storage == FER_STORAGE_COPY ||
           (slot->storage == FER_STORAGE_BLOCK && !slot->is_dynamic);
}

/* Blocks grow while slots are looked at, so data is taken only when all have their size. */
static fer_status place_static(fer_run_state *state, fer_error *error)
{
    const fer_schedule *s = state->schedule;
    for (size_t i = 0; i < s->num_slots; i++)
        if (has_static_block(&s->slots[i]))
            FER_TRY(
                grow_block(&state->blocks[s->slots[i].index], state->tensors[i].num_bytes, error));
    for (size_t i = 0; i < s->num_slots; i++)
        if (has_static_block(&s->slots[i]))
            state->tensors[i].dl.data = state->blocks[s->slots[i].index].data;
    return FER_OK;
}

fer_status fer_state_plan(fer_run_state *state, fer_error *error)
{
    const fer_schedule *s = state->schedule;
    for (size_t i = 0; i < s->num_steps; i++)
        if (!s->steps[i].is_dynamic)
            FER_TRY(fer_state_plan_step(state, &s->steps[i], false, error));
    FER_TRY(place_static(state, error));
    state->is_planned = true;
    return FER_OK;
}

fer_status fer_state_place_results(fer_run_state *state, const fer_step_plan *step,
                                   fer_error *error)
{
    for (size_t i = 0; i < step->node->num_results; i++) {
        const fer_slot *slot = &state->schedule->slots[step->slots[i]];
        fer_tensor *tensor = &state->tensors[step->slots[i]];
        if (slot->storage == FER_STORAGE_BLOCK) {
            FER_TRY(grow_block(&state->blocks[slot->index], tensor->num_bytes, error));
            tensor->dl.data = state->blocks[slot->index].data;
            continue;
        }
        fer_tensor *output = fer_state_allocate_like(tensor);
        if (output == NULL)
            return fer_fail_memory(error);
        state->outputs[slot->index] = output;
        tensor->dl.data = output->dl.data;
    }
    return FER_OK;
}
