#include "model/state.h"

#include <stdlib.h>
#include <string.h>

static void set_type(fer_tensor *tensor, const fer_type *type)
{
    tensor->dtype = (uint8_t)fer_type_dtype(type);
    tensor->call_dtype = tensor->dtype;
    tensor->rank = (uint8_t)fer_type_rank(type);
    tensor->dl.ndim = tensor->rank;
    tensor->dl.dtype = fer_dl_dtype_of(fer_type_dtype(type));
    tensor->dl.device = (fer_dl_device){.device_type = 1, .device_id = fer_type_device(type).id};
    tensor->dl.shape = tensor->extents;
    for (size_t axis = 0; axis < tensor->rank; axis++)
        tensor->extents[axis] = -1; /* what no input has */
}

static void set_extents(fer_tensor *tensor, const fer_tensor *like)
{
    memcpy(tensor->extents, like->extents, sizeof tensor->extents);
    tensor->num_elements = like->num_elements;
    tensor->num_bytes = like->num_bytes;
}

/* A tensor for each slot. The elements of a constant stay where they are. */
static void set_tensors(fer_run_state *state)
{
    const fer_schedule *s = state->schedule;
    for (size_t i = 0; i < s->num_slots; i++) {
        fer_tensor *tensor = &state->tensors[i];
        const fer_slot *slot = &s->slots[i];
        set_type(tensor, slot->value->type);
        if (slot->storage != FER_STORAGE_CONSTANT)
            continue;
        set_extents(tensor, slot->value->node->constant);
        tensor->dl.data = slot->value->node->constant->dl.data;
    }
}

static void set_arguments(fer_run_state *state)
{
    const fer_schedule *s = state->schedule;
    for (size_t i = 0; i < s->num_steps; i++) {
        const fer_step_plan *step = &s->steps[i];
        for (size_t j = 0; step->kind == FER_STEP_OP && j < step->num_slots; j++)
            state->arguments[step->first_argument + j] = &state->tensors[step->slots[j]].dl;
    }
}

fer_status fer_run_state_create(const fer_schedule *schedule, fer_run_state **out_state,
                                fer_error *error)
{
    fer_run_state *state = calloc(1, sizeof *state);
    if (state == NULL)
        return fer_fail_memory(error);
    state->schedule = schedule;
    state->tensors = calloc(schedule->num_slots + 1, sizeof *state->tensors);
    state->arguments = calloc(schedule->num_arguments + 1, sizeof *state->arguments);
    state->symbols = calloc(schedule->num_symbols + 1, sizeof *state->symbols);
    state->buffers = calloc(schedule->num_buffers + 1, sizeof *state->buffers);
    state->outputs = calloc(schedule->graph->num_outputs + 1, sizeof *state->outputs);
    state->compact = calloc(schedule->graph->num_inputs + 1, sizeof *state->compact);
    state->turns = calloc(schedule->num_loops + 1, sizeof *state->turns);
    state->prepared = calloc(schedule->num_steps + 1, sizeof *state->prepared);
    if (state->tensors == NULL || state->arguments == NULL || state->symbols == NULL ||
        state->buffers == NULL || state->outputs == NULL || state->compact == NULL ||
        state->turns == NULL || state->prepared == NULL) {
        fer_run_state_destroy(state);
        return fer_fail_memory(error);
    }
    set_tensors(state);
    set_arguments(state);
    for (size_t i = 0; i < schedule->num_symbols; i++)
        state->symbols[i] =
            (fer_assignment){.space = FER_NAMESPACE_CALLER, .name = schedule->symbols[i].name};
    *out_state = state;
    return FER_OK;
}

void fer_run_state_destroy(fer_run_state *state)
{
    if (state == NULL)
        return;
    for (size_t i = 0; state->buffers != NULL && i < state->schedule->num_buffers; i++)
        free(state->buffers[i].data);
    free(state->tensors);
    free(state->arguments);
    free(state->symbols);
    free(state->buffers);
    free(state->turns);
    free(state->prepared);
    free(state->outputs);
    free(state->compact);
    free(state);
}

fer_tensor *fer_state_allocate_like(const fer_tensor *tensor)
{
    return fer_tensor_allocate((fer_dtype)tensor->dtype, tensor->rank, tensor->extents,
                               tensor->dl.device.device_id, tensor->num_elements,
                               tensor->num_bytes);
}

fer_status fer_state_apply_rules(fer_run_state *state, size_t frame, const fer_axis_rule *rules,
                                 size_t rank, const int64_t *extents, size_t *out_axis,
                                 int64_t *out_wanted, fer_error *error)
{
    const fer_frame *names = &state->schedule->frames[frame];
    for (size_t axis = 0; axis < rank; axis++) {
        const fer_axis_rule *rule = &rules[axis];
        int64_t wanted = rule->value;
        if (rule->kind == FER_RULE_BIND)
            state->symbols[rule->symbol].value = extents[axis];
        if (rule->kind == FER_RULE_BIND || rule->kind == FER_RULE_MATCH)
            wanted = state->symbols[rule->symbol].value;
        else if (rule->kind == FER_RULE_EVALUATE)
            FER_TRY(fer_dim_evaluate(rule->dim, state->symbols + names->first_symbol,
                                     names->num_symbols, &wanted, error));
        if (wanted != extents[axis]) {
            *out_axis = axis;
            *out_wanted = wanted;
            return FER_OK;
        }
    }
    *out_axis = rank;
    return FER_OK;
}

/* --- Where a run is --------------------------------------------------------------------------- */

/* From the inside out: each part goes before those that are there. */
static fer_status add_place(const fer_run_state *state, size_t frame, size_t loop,
                            fer_status status, fer_error *error)
{
    const fer_schedule *s = state->schedule;
    for (;;) {
        const fer_frame *here = &s->frames[frame];
        for (; loop != FER_NONE && s->loops[loop].frame == frame; loop = s->loops[loop].parent)
            status =
                fer_error_prepend(error, status, "iteration %zu of while: ", state->turns[loop]);
        if (here->caller == FER_NONE)
            return fer_error_prepend(error, status, "graph '%s': ", here->graph->name);
        status = fer_error_prepend(error, status, "call of '%s': ", here->graph->name);
        loop = here->loop;
        frame = here->caller;
    }
}

fer_status fer_state_locate(const fer_run_state *state, const fer_step_plan *step,
                            fer_status status, fer_error *error)
{
    if (status == FER_OK)
        return FER_OK;
    status = add_place(state, step->frame, step->loop, status, error);
    return fer_node_locate(step->node, status, error);
}
