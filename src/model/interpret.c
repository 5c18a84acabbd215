#include "model/interpret.h"

#include "base/log.h"
#include "base/process.h"
#include "model/state.h"

#include <string.h>

/* New tensors for the outputs that steps write and whose extents are known. */
static fer_status allocate_outputs(fer_run_state *state, fer_error *error)
{
    const fer_schedule *s = state->schedule;
    for (size_t i = 0; i < s->graph->num_outputs; i++) {
        size_t slot = fer_slot_base(s, s->outputs[i].slot);
        if (!s->outputs[i].is_direct || fer_slot_is_late(&s->slots[slot]))
            continue;
        state->outputs[i] = fer_state_allocate_like(&state->tensors[slot]);
        if (state->outputs[i] == NULL)
            return fer_fail_memory(error);
        state->tensors[slot].dl.data = state->outputs[i]->dl.data;
    }
    return FER_OK;
}

/* An output that is an input, a constant or another output's value is a tensor of its own. One that
 * steps have written may be a view of what they took it for. */
static fer_status finish_outputs(fer_run_state *state, fer_error *error)
{
    const fer_schedule *s = state->schedule;
    for (size_t i = 0; i < s->graph->num_outputs; i++) {
        const fer_tensor *source = &state->tensors[s->outputs[i].slot];
        if (s->outputs[i].is_direct) {
            fer_tensor_set_shape(state->outputs[i], source->rank, source->extents);
            continue;
        }
        state->outputs[i] = fer_state_allocate_like(source);
        if (state->outputs[i] == NULL)
            return fer_fail_memory(error);
        if (source->num_bytes > 0)
            memcpy(state->outputs[i]->dl.data, source->dl.data, source->num_bytes);
    }
    return FER_OK;
}

static void copy_slot(fer_run_state *state, const fer_step_plan *step)
{
    const fer_tensor *from = &state->tensors[step->slots[1]];
    if (from->num_bytes > 0)
        memcpy(state->tensors[step->slots[0]].dl.data, from->dl.data, from->num_bytes);
}

/* A transfer is told of as an op is; copies that nobody wrote are not. */
static void run_copy(fer_run_state *state, const fer_step_plan *step)
{
    if (step->node->kind != FER_NODE_TRANSFER || !fer_kernels_are_observed()) {
        copy_slot(state, step);
        return;
    }
    const fer_dl_tensor *tensors[] = {&state->tensors[step->slots[0]].dl,
                                      &state->tensors[step->slots[1]].dl};
    fer_kernel_event event = {.name = "transfer",
                              .tensors = tensors,
                              .num_results = 1,
                              .num_operands = 1,
                              .start = fer_log_clock()};
    copy_slot(state, step);
    fer_tell_observer(&event);
}

/* Where to go on when a predicate is there. */
static const fer_step_plan *branch(fer_run_state *state, const fer_step_plan *step)
{
    const unsigned char *predicate = state->tensors[step->slots[0]].dl.data;
    if (*predicate != 0)
        return step + 1;
    if (step->counter != FER_NONE)
        state->turns[step->counter] = 0;
    return state->schedule->steps + step->target;
}

/* Between two turns a run may be ended from outside. What ops changed in their place stays. */
static fer_status turn(fer_run_state *state, const fer_step_plan *step, fer_error *error)
{
    state->turns[step->target]++;
    if (!fer_process_is_interrupted_now(&state->asked_ms))
        return FER_OK;
    return fer_state_locate(state, step, fer_fail(error, FER_RUNTIME_ERROR, "interrupted"), error);
}

/* A step that calls no kernel. Gives the next one. */
static fer_status run_step(fer_run_state *state, const fer_step_plan **step, fer_error *error)
{
    const fer_step_plan *current = *step;
    *step = current + 1;
    switch (current->kind) {
    case FER_STEP_COPY:
        run_copy(state, current);
        break;
    case FER_STEP_VIEW:
        state->tensors[current->slots[0]].dl.data = state->tensors[current->slots[1]].dl.data;
        break;
    case FER_STEP_TURN:
        return turn(state, current, error);
    case FER_STEP_BRANCH:
        *step = branch(state, current);
        break;
    case FER_STEP_JUMP:
        *step = state->schedule->steps + current->target;
        break;
    case FER_STEP_OP:
    case FER_STEP_CHECK: /* their work is planning */
    case FER_STEP_SIZE:
    case FER_STEP_SYMBOLS:
        break;
    }
    return FER_OK;
}

static fer_status run_steps(fer_run_state *state, fer_error *error)
{
    const fer_schedule *s = state->schedule;
    const fer_step_plan *end = s->steps + s->num_steps;
    for (const fer_step_plan *step = s->steps; step < end;) {
        if (step->is_late && state->prepared[step - s->steps] != state->generation)
            FER_TRY(fer_state_prepare(state, step, error));
        if (step->specialisation == NULL) {
            FER_TRY(run_step(state, &step, error));
            continue;
        }
        fer_status status = fer_specialisation_run(step->specialisation,
                                                   state->arguments + step->first_argument, error);
        if (status != FER_OK)
            return fer_state_locate(state, step, status, error);
        step++;
    }
    return FER_OK;
}

static fer_status run(fer_run_state *state, fer_error *error)
{
    if (!state->is_planned)
        FER_TRY(fer_state_plan(state, error));
    FER_TRY(allocate_outputs(state, error));
    for (size_t i = 0; i < state->schedule->num_loops; i++)
        state->turns[i] = 0;
    state->asked_ms = 0;
    FER_TRY(run_steps(state, error));
    return finish_outputs(state, error);
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
