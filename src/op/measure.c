/* What a plan does beyond comparing extents: runs, programs, conditions, and the results' sizes. */
#include "base/arithmetic.h"
#include "op/plan.h"
#include "signature/signature.h"
#include "types/form.h"

/* --- Programs --------------------------------------------------------------------------------- */

static bool run_program(const fer_program *program, const int64_t *slots, int64_t *out_value)
{
    int64_t stack[FER_PROGRAM_DEPTH];
    int64_t *top = stack - 1;
    for (size_t i = 0; i < program->num_instructions; i++) {
        const fer_instruction *instruction = &program->instructions[i];
        switch (instruction->code) {
        case FER_PUSH_VALUE:
            *++top = instruction->value;
            break;
        case FER_PUSH_SLOT:
            *++top = slots[instruction->slot];
            break;
        case FER_ADD:
            top--;
            if (__builtin_add_overflow(top[0], top[1], &top[0]))
                return false;
            break;
        case FER_MULTIPLY:
            top--;
            if (__builtin_mul_overflow(top[0], top[1], &top[0]))
                return false;
            break;
        case FER_FLOOR_DIVIDE:
            top--;
            if (top[1] == 0 || !fer_floor_divide(top[0], top[1], &top[0]))
                return false;
            break;
        }
    }
    *out_value = *top;
    return program->num_instructions > 0;
}

/* For what leaves int64 between the steps, which may come back. */
static bool evaluate_exactly(const fer_plan *plan, const fer_dim *dim, const int64_t *slots,
                             int64_t *out_value)
{
    fer_assignment assignments[FER_MAX_SLOTS];
    for (size_t i = 0; i < plan->num_slots; i++)
        assignments[i] = (fer_assignment){
            .space = FER_NAMESPACE_SIGNATURE, .name = plan->slot_names[i], .value = slots[i]};
    return fer_dim_evaluate(dim, assignments, plan->num_slots, out_value, NULL) == FER_OK;
}

static bool evaluate(const fer_plan *plan, const fer_program *program, const int64_t *slots,
                     int64_t *out_value)
{
    return run_program(program, slots, out_value) ||
           evaluate_exactly(plan, program->dim, slots, out_value);
}

/* --- Binding ---------------------------------------------------------------------------------- */

/* Gives the run's length; of a tensor that has too few dims, one that no run has. */
static size_t run_at(const fer_dl_tensor *const *tensors, fer_run_place place,
                     const int64_t **out_extents)
{
    const fer_tensor *tensor = fer_tensor_of(tensors[place.tensor]);
    *out_extents = tensor->extents + place.axis;
    return (size_t)tensor->rank - place.rank;
}

static bool runs_hold(const fer_run_match *matches, size_t num_matches,
                      const fer_dl_tensor *const *tensors)
{
    for (size_t i = 0; i < num_matches; i++) {
        const int64_t *extents, *other;
        size_t length = run_at(tensors, matches[i].place, &extents);
        if (length != run_at(tensors, matches[i].other, &other))
            return false;
        for (size_t j = 0; j < length; j++)
            if (extents[j] != other[j])
                return false;
    }
    return true;
}

bool fer_runs_and_matches_hold(const fer_plan *plan, size_t num_run_matches, size_t num_matches,
                               const fer_dl_tensor *const *tensors)
{
    return runs_hold(plan->run_matches, num_run_matches, tensors) &&
           fer_matches_hold(plan->matches, num_matches, tensors, true);
}

static bool holds(const fer_plan *plan, const fer_condition_plan *condition, const int64_t *slots)
{
    int64_t left;
    int64_t right;
    return evaluate(plan, &condition->left, slots, &left) &&
           evaluate(plan, &condition->right, slots, &right) &&
           fer_comparison_holds(condition->comparison, left, right);
}

bool fer_plan_bind_slots(const fer_plan *plan, const fer_dl_tensor *const *tensors,
                         fer_bound *bound)
{
    for (size_t i = 0; i < plan->num_slots; i++)
        bound->slots[i] = fer_extent_at(tensors, plan->slots[i], plan->has_runs);
    for (size_t i = 0; i < plan->num_conditions; i++)
        if (!holds(plan, &plan->conditions[i], bound->slots))
            return false;
    return true;
}

/* --- Results ---------------------------------------------------------------------------------- */

/* The extents of any axis (several for a run); false when one is negative or there are too many. */
static bool extend(const fer_plan *plan, const fer_result_axis *axis,
                   const fer_dl_tensor *const *tensors, const int64_t *open, const fer_bound *bound,
                   fer_extents *out)
{
    int64_t extent = 0;
    const int64_t *extents = &extent;
    size_t length = 1;
    switch (axis->kind) {
    case FER_EXTENT_MATCH:
        extent = fer_match_extent(&axis->match, tensors, plan->has_runs);
        break;
    case FER_EXTENT_PROGRAM:
        if (!evaluate(plan, &axis->program, bound->slots, &extent))
            return false;
        break;
    case FER_EXTENT_OPEN:
        extent = open != NULL ? open[axis->slot] : 0;
        break;
    case FER_EXTENT_RUN:
        length = run_at(tensors, axis->run, &extents);
        break;
    }
    if (out->rank + length > FER_MAX_RANK)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (extents[i] < 0)
            return false;
        out->extents[out->rank++] = extents[i];
    }
    return true;
}

bool fer_measure_any(const fer_plan *plan, const fer_result_plan *result,
                     const fer_dl_tensor *const *tensors, const int64_t *open,
                     const fer_bound *bound, fer_extents *out)
{
    int64_t num_bytes;
    out->rank = 0;
    for (size_t axis = 0; axis < result->num_axes; axis++)
        if (!extend(plan, &result->axes[axis], tensors, open, bound, out))
            return false;
    if (!fer_count_elements(out->extents, out->rank, &out->num_elements) ||
        __builtin_mul_overflow(out->num_elements, (int64_t)result->element_bytes, &num_bytes))
        return false;
    out->num_bytes = (size_t)num_bytes;
    return true;
}
