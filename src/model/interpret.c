#include "model/interpret.h"

#include "model/state.h"

#include <string.h>

/* New tensors for the outputs that kernels write and whose extents are known. */
static fer_status allocate_outputs(fer_run_state *state, fer_error *error)
{
    const fer_schedule *s = state->schedule;
    for (size_t i = 0; i < s->graph->num_outputs; i++) {
        size_t slot = s->outputs[i].slot;
        if (!s->outputs[i].is_direct || s->slots[slot].is_dynamic)
            continue;
        state->outputs[i] = fer_state_allocate_like(&state->tensors[slot]);
        if (state->outputs[i] == NULL)
            return fer_fail_memory(error);
        state->tensors[slot].dl.data = state->outputs[i]->dl.data;
    }
    return FER_OK;
}

/* An output that is an input, a constant or another output's value is a tensor of its own. */
static fer_status copy_outputs(fer_run_state *state, fer_error *error)
{
    const fer_schedule *s = state->schedule;
    for (size_t i = 0; i < s->graph->num_outputs; i++) {
        if (s->outputs[i].is_direct)
            continue;
        const fer_tensor *source = &state->tensors[s->outputs[i].slot];
        state->outputs[i] = fer_state_allocate_like(source);
        if (state->outputs[i] == NULL)
            return fer_fail_memory(error);
        if (source->num_bytes > 0)
            memcpy(state->outputs[i]->dl.data, source->dl.data, source->num_bytes);
    }
    return FER_OK;
}

/* Constants that ops change start each run as they are in the graph. */
static void copy_constants(fer_run_state *state)
{
    const fer_schedule *s = state->schedule;
    for (size_t i = 0; i < s->num_slots; i++) {
        if (s->slots[i].storage != FER_STORAGE_COPY)
            continue;
        const fer_tensor *constant = s->slots[i].value->node->constant;
        if (constant->num_bytes > 0)
            memcpy(state->tensors[i].dl.data, constant->dl.data, constant->num_bytes);
    }
}

/* A step whose results' extents were not known before the run. */
static fer_status prepare_step(fer_run_state *state, const fer_step_plan *step, fer_error *error)
{
    FER_TRY(fer_state_plan_step(state, step, true, error));
    return step->node->kind == FER_NODE_OP ? fer_state_place_results(state, step, error) : FER_OK;
}

static fer_status fail_step(const fer_run_state *state, const fer_step_plan *step,
                            fer_status status, fer_error *error)
{
    status = fer_error_prepend(error, status, "graph '%s': ", state->schedule->graph->name);
    return fer_node_locate(step->node, status, error);
}

static fer_status run_steps(fer_run_state *state, fer_error *error)
{
    const fer_schedule *s = state->schedule;
    const fer_step_plan *end = s->steps + s->num_steps;
    for (const fer_step_plan *step = s->steps; step < end; step++) {
        if (step->is_dynamic || step->is_open)
            FER_TRY(prepare_step(state, step, error));
        if (step->specialisation == NULL)
            continue;
        fer_status status = fer_specialisation_run(step->specialisation,
                                                   state->arguments + step->first_argument, error);
        if (status != FER_OK)
            return fail_step(state, step, status, error);
    }
    return FER_OK;
}

static fer_status run(fer_run_state *state, fer_error *error)
{
    if (!state->is_planned)
        FER_TRY(fer_state_plan(state, error));
    FER_TRY(allocate_outputs(state, error));
    if (state->schedule->num_copies > 0)
        copy_constants(state);
    FER_TRY(run_steps(state, error));
    return copy_outputs(state, error);
}

static fer_status fail_num_outputs(const fer_graph *graph, size_t num_outputs, fer_error *error)
{
    fer_status status = fer_fail_count(error, &(fer_count){.what = "output",
                                                           .is_room = true,
                                                           .expected = graph->num_outputs,
                                                           .actual = num_outputs});
    return fer_error_prepend(error, status, "graph '%s': ", graph->name);
}

fer_status fer_interpret(fer_run_state *state, fer_tensor *const *inputs, size_t num_inputs,
                         fer_tensor **out_outputs, size_t num_outputs, fer_error *error)
{
    const fer_graph *graph = state->schedule->graph;
    if (num_outputs != graph->num_outputs)
        return fail_num_outputs(graph, num_outputs, error);
    fer_status status = fer_state_take_inputs(state, inputs, num_inputs, error);
    if (status == FER_OK)
        status = run(state, error);
    fer_state_drop_inputs(state);
    for (size_t i = 0; i < num_outputs; i++) {
        if (status == FER_OK)
            out_outputs[i] = state->outputs[i];
        else
            fer_tensor_release(state->outputs[i]);
        state->outputs[i] = NULL;
    }
    return status;
}
