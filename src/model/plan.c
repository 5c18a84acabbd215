/* Planning a run: the extents of every value, with all checks, and memory for it. */
#include "base/arithmetic.h"
#include "model/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64

static size_t rank_of(const fer_run_state *state, size_t slot)
{
    return fer_type_rank(state->schedule->slots[slot].value->type);
}

static void set_extents(fer_tensor *tensor, const fer_extents *extents)
{
    memcpy(tensor->extents, extents->extents, extents->rank * sizeof *extents->extents);
    tensor->num_elements = extents->num_elements;
    tensor->num_bytes = extents->num_bytes;
}

/* --- Ops -------------------------------------------------------------------------------------- */

/* What the kernel's plan found must be what the graph was staged with. */
static fer_status check_result(fer_run_state *state, const fer_step_plan *step, size_t result,
                               const fer_axis_rule *rules, const fer_extents *found,
                               fer_error *error)
{
    const fer_type *type = step->node->results[result]->type;
    size_t axis = 0;
    int64_t wanted = 0;
    if (found->rank == fer_type_rank(type))
        FER_TRY(fer_state_apply_rules(state, step->frame, rules, found->rank, found->extents, &axis,
                                      &wanted, error));
    if (found->rank == fer_type_rank(type) && axis == found->rank)
        return FER_OK;
    const char *op = step->node->op->name;
    return fer_fail_at(error, FER_RUNTIME_ERROR, &(fer_place){.op = op},
                       "%s: result %zu is not what the graph was staged with, %s", op, result,
                       fer_type_text(type));
}

static fer_status take_results(fer_run_state *state, const fer_step_plan *step,
                               const fer_bound *bound, fer_error *error)
{
    const fer_axis_rule *rules = step->rules;
    for (size_t i = 0; i < step->num_results; i++) {
        const fer_extents *found = &bound->results[i];
        FER_TRY(check_result(state, step, i, rules, found, error));
        rules += found->rank;
        set_extents(&state->tensors[step->slots[i]], found);
    }
    return FER_OK;
}

/* An op with data-dependent results needs its operands' elements: `may_measure` says that they are
 * there. */
static fer_status plan_op(fer_run_state *state, const fer_step_plan *step, bool may_measure,
                          fer_error *error)
{
    const fer_node *node = step->node;
    fer_tensor *operands[FER_MAX_OPERANDS];
    for (size_t i = 0; i < node->num_operands; i++)
        operands[i] = &state->tensors[step->slots[node->num_results + i]];
    const fer_specialisation *specialisation;
    fer_bound bound;
    FER_TRY(fer_op_bind(node->op, operands, node->num_operands, &specialisation, &bound, error));
    if (step->is_open && !may_measure)
        return FER_OK;
    if (step->is_open)
        FER_TRY(fer_specialisation_measure(step->specialisation, operands, &bound, error));
    return take_results(state, step, &bound, error);
}

/* --- Other steps ------------------------------------------------------------------------------ */

static fer_status fail_check(const fer_step_plan *step, size_t index, size_t axis, int64_t wanted,
                             int64_t found, const fer_axis_rule *rule, fer_error *error)
{
    char expected[24], actual[24];
    snprintf(expected, sizeof expected, "%lld", (long long)wanted);
    snprintf(actual, sizeof actual, "%lld", (long long)found);
    fer_place place = {.has_axis = true, .axis = (int)axis, .expected = expected, .actual = actual};
    if (step->node->kind != FER_NODE_REBIND)
        return fer_fail_at(error, FER_RUNTIME_ERROR, &place,
                           "value %zu axis %zu is %s, not %s, as the graph was staged", index, axis,
                           actual, expected);
    const fer_type *type = step->node->results[0]->type;
    if (rule->kind == FER_RULE_STATIC)
        return fer_fail_at(error, FER_RUNTIME_ERROR, &place, "rebind to %s: axis %zu is %s",
                           fer_type_text(type), axis, actual);
    return fer_fail_at(error, FER_RUNTIME_ERROR, &place,
                       "rebind to %s: axis %zu is %s, but %s is %s", fer_type_text(type), axis,
                       actual, fer_dim_text(fer_type_dim(type, axis)), expected);
}

static fer_status check(fer_run_state *state, const fer_step_plan *step, fer_error *error)
{
    const fer_axis_rule *rules = step->rules;
    for (size_t i = 0; i < step->num_slots; i++) {
        const fer_tensor *tensor = &state->tensors[step->slots[i]];
        size_t rank = rank_of(state, step->slots[i]);
        size_t axis;
        int64_t wanted;
        fer_status status = fer_state_apply_rules(state, step->frame, rules, rank, tensor->extents,
                                                  &axis, &wanted, error);
        if (status != FER_OK)
            return fer_error_prepend(error, status, "%s: ",
                                     step->node->kind == FER_NODE_REBIND ? "rebind" : "its sizes");
        if (axis < rank)
            return fail_check(step, i, axis, wanted, tensor->extents[axis], &rules[axis], error);
        rules += rank;
    }
    return FER_OK;
}

/* What a type's dims are in this run. */
static fer_status evaluate(fer_run_state *state, const fer_step_plan *step, const fer_type *type,
                           fer_extents *out_extents, fer_error *error)
{
    const fer_frame *frame = &state->schedule->frames[step->frame];
    fer_extents extents = {.rank = fer_type_rank(type)};
    for (size_t axis = 0; axis < extents.rank; axis++) {
        const fer_dim *dim = fer_type_dim(type, axis);
        FER_TRY(fer_dim_evaluate(dim, state->symbols + frame->first_symbol, frame->num_symbols,
                                 &extents.extents[axis], error));
        if (extents.extents[axis] < 0)
            return fer_fail(error, FER_VALUE_ERROR, "axis %zu, %s, is %lld, below 0", axis,
                            fer_dim_text(dim), (long long)extents.extents[axis]);
    }
    int64_t num_bytes;
    if (!fer_count_elements(extents.extents, extents.rank, &extents.num_elements) ||
        __builtin_mul_overflow(extents.num_elements, (int64_t)fer_dtype_bytes(fer_type_dtype(type)),
                               &num_bytes))
        return fer_fail(error, FER_OVERFLOW_ERROR, "%s has too many elements", fer_type_text(type));
    extents.num_bytes = (size_t)num_bytes;
    *out_extents = extents;
    return FER_OK;
}

/* The type says how large the slot will be. */
static fer_status size(fer_run_state *state, const fer_step_plan *step, fer_error *error)
{
    fer_extents extents;
    const fer_type *type = state->schedule->slots[step->slots[0]].value->type;
    fer_status status = evaluate(state, step, type, &extents, error);
    if (status != FER_OK)
        return fer_error_prepend(error, status, "result: ");
    set_extents(&state->tensors[step->slots[0]], &extents);
    return FER_OK;
}

/* A reshape has as many elements as what it is of. */
static fer_status plan_view(fer_run_state *state, const fer_step_plan *step, fer_error *error)
{
    fer_extents extents;
    const fer_type *from = step->node->operands[0]->type;
    const fer_type *to = step->node->results[0]->type;
    int64_t num_elements = state->tensors[step->slots[1]].num_elements;
    fer_status status = evaluate(state, step, to, &extents, error);
    if (status == FER_OK && extents.num_elements != num_elements)
        status = fer_fail(error, FER_RUNTIME_ERROR, "there are %lld elements, not %lld",
                          (long long)num_elements, (long long)extents.num_elements);
    if (status != FER_OK)
        return fer_error_prepend(error, status, "reshape of %s to %s: ", fer_type_text(from),
                                 fer_type_text(to));
    set_extents(&state->tensors[step->slots[0]], &extents);
    return FER_OK;
}

/* A copy is as large as what is copied. Where the target has its memory already, a type says that
 * it is as large. */
static fer_status plan_copy(fer_run_state *state, const fer_step_plan *step, bool is_reached,
                            fer_error *error)
{
    const fer_tensor *from = &state->tensors[step->slots[1]];
    fer_tensor *to = &state->tensors[step->slots[0]];
    bool has_memory = is_reached && !fer_slot_is_late(&state->schedule->slots[step->slots[0]]);
    if (has_memory && to->num_bytes != from->num_bytes)
        return fer_fail(error, FER_RUNTIME_ERROR,
                        "a value of %zu bytes was staged with a type of %zu bytes", from->num_bytes,
                        to->num_bytes);
    memcpy(to->extents, from->extents, sizeof to->extents);
    to->num_elements = from->num_elements;
    to->num_bytes = from->num_bytes;
    return FER_OK;
}

static void take_symbols(fer_run_state *state, const fer_step_plan *step)
{
    for (size_t i = 0; i < step->num_pairs; i++)
        state->symbols[step->pairs[i].to].value = state->symbols[step->pairs[i].from].value;
}

/* Checks a step and works out the extents of what it gives, before a run or when it is reached. */
static fer_status plan_step(fer_run_state *state, const fer_step_plan *step, bool is_reached,
                            fer_error *error)
{
    switch (step->kind) {
    case FER_STEP_OP:
        return plan_op(state, step, is_reached, error);
    case FER_STEP_CHECK:
        return check(state, step, error);
    case FER_STEP_SIZE:
        return size(state, step, error);
    case FER_STEP_COPY:
        return plan_copy(state, step, is_reached, error);
    case FER_STEP_VIEW:
        return plan_view(state, step, error);
    case FER_STEP_SYMBOLS:
        take_symbols(state, step);
        break;
    case FER_STEP_TURN:
    case FER_STEP_BRANCH:
    case FER_STEP_JUMP:
        break;
    }
    return FER_OK;
}

/* --- Memory ----------------------------------------------------------------------------------- */

/* Makes a buffer at least so large; what it held is lost, and what was prepared points nowhere. */
static fer_status grow_buffer(fer_run_state *state, size_t index, size_t num_bytes,
                              fer_error *error)
{
    fer_buffer *buffer = &state->buffers[index];
    if (buffer->data != NULL && buffer->num_bytes >= num_bytes)
        return FER_OK;
    size_t size;
    if (__builtin_add_overflow(num_bytes, 2 * ALIGNMENT - 1, &size))
        return fer_fail_memory(error);
    size -= size % ALIGNMENT;
    state->generation++;
    free(buffer->data);
    *buffer = (fer_buffer){.data = aligned_alloc(ALIGNMENT, size), .num_bytes = size};
    if (buffer->data != NULL)
        return FER_OK;
    buffer->num_bytes = 0;
    return fer_fail_memory(error);
}

static bool has_static_buffer(const fer_slot *slot)
{
    return slot->storage == FER_STORAGE_BUFFER && !fer_slot_is_late(slot) &&
           slot->index != FER_NONE;
}

/* Buffers grow while slots are looked at, so data is taken only when all have their size. */
static fer_status place_static(fer_run_state *state, fer_error *error)
{
    const fer_schedule *s = state->schedule;
    for (size_t i = 0; i < s->num_slots; i++)
        if (has_static_buffer(&s->slots[i]))
            FER_TRY(grow_buffer(state, s->slots[i].index, state->tensors[i].num_bytes, error));
    for (size_t i = 0; i < s->num_slots; i++)
        if (has_static_buffer(&s->slots[i]))
            state->tensors[i].dl.data = state->buffers[s->slots[i].index].data;
    return FER_OK;
}

/* Whether a step can be planned before the run. One that is repeated is; one with a SHAPE function
 * is late, but its operands may be known. */
static bool is_plannable(const fer_run_state *state, const fer_step_plan *step)
{
    return !step->is_late || step->is_repeated ||
           (step->is_open && !step->is_dynamic &&
            !state->schedule->slots[step->slots[0]].is_nested);
}

fer_status fer_state_plan(fer_run_state *state, fer_error *error)
{
    const fer_schedule *s = state->schedule;
    state->generation++;
    for (size_t i = 0; i < s->num_steps; i++) {
        const fer_step_plan *step = &s->steps[i];
        if (is_plannable(state, step))
            FER_TRY(fer_state_locate(state, step, plan_step(state, step, false, error), error));
    }
    FER_TRY(place_static(state, error));
    state->is_planned = true;
    return FER_OK;
}

/* Memory for what a late step gives. */
static fer_status place_late(fer_run_state *state, size_t index, fer_error *error)
{
    const fer_slot *slot = &state->schedule->slots[index];
    fer_tensor *tensor = &state->tensors[index];
    if (!fer_slot_is_late(slot))
        return FER_OK;
    if (slot->storage == FER_STORAGE_BUFFER) {
        FER_TRY(grow_buffer(state, slot->index, tensor->num_bytes, error));
        tensor->dl.data = state->buffers[slot->index].data;
        return FER_OK;
    }
    if (state->outputs[slot->index] == NULL)
        state->outputs[slot->index] = fer_state_allocate_like(tensor);
    if (state->outputs[slot->index] == NULL)
        return fer_fail_memory(error);
    tensor->dl.data = state->outputs[slot->index]->dl.data;
    return FER_OK;
}

fer_status fer_state_prepare(fer_run_state *state, const fer_step_plan *step, fer_error *error)
{
    FER_TRY(fer_state_locate(state, step, plan_step(state, step, true, error), error));
    for (size_t i = 0; i < step->num_results; i++)
        FER_TRY(place_late(state, step->slots[i], error));
    bool stays = (step->kind == FER_STEP_OP || step->kind == FER_STEP_VIEW) && !step->is_dynamic &&
                 !step->is_open;
    state->prepared[step - state->schedule->steps] = stays ? state->generation : 0;
    return FER_OK;
}
