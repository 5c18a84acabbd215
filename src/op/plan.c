#include "op/plan.h"

#include "base/arithmetic.h"
#include "signature/unify.h"
#include "types/form.h"

#include <stdlib.h>
#include <string.h>

#define STACK_DEPTH 32

/* --- Compiling dims --------------------------------------------------------------------------- */

typedef struct emitter {
    const fer_plan *plan;
    fer_instruction *instructions; /* NULL: only count */
    size_t num_instructions;
    size_t depth;
    size_t max_depth;
} emitter;

static size_t find_slot(const fer_plan *plan, const char *name)
{
    size_t slot = 0;
    while (slot < plan->num_slots && strcmp(plan->slot_names[slot], name) != 0)
        slot++;
    return slot;
}

static void emit(emitter *out, fer_instruction instruction)
{
    bool is_push = instruction.code == FER_PUSH_VALUE || instruction.code == FER_PUSH_SLOT;
    out->depth = is_push ? out->depth + 1 : out->depth - 1;
    if (out->depth > out->max_depth)
        out->max_depth = out->depth;
    if (out->instructions != NULL)
        out->instructions[out->num_instructions] = instruction;
    out->num_instructions++;
}

static void emit_dim(emitter *out, const fer_dim *dim);

static void emit_atom(emitter *out, const fer_atom *atom)
{
    if (atom->name != NULL) {
        uint8_t slot = (uint8_t)find_slot(out->plan, atom->name);
        emit(out, (fer_instruction){.code = FER_PUSH_SLOT, .slot = slot});
        return;
    }
    emit_dim(out, atom->numerator);
    emit_dim(out, atom->denominator);
    emit(out, (fer_instruction){.code = FER_FLOOR_DIVIDE});
}

static void emit_term(emitter *out, const fer_term *term)
{
    size_t first = 0;
    if (term->coefficient == 1 && term->num_factors > 0)
        emit_atom(out, term->factors[first++]);
    else
        emit(out, (fer_instruction){.code = FER_PUSH_VALUE, .value = term->coefficient});
    for (size_t i = first; i < term->num_factors; i++) {
        emit_atom(out, term->factors[i]);
        emit(out, (fer_instruction){.code = FER_MULTIPLY});
    }
}

/* Recursion is as deep as divisions nest, which the dim's own construction bounds. */
static void emit_dim(emitter *out, const fer_dim *dim)
{
    if (dim->num_terms == 0)
        emit(out, (fer_instruction){.code = FER_PUSH_VALUE, .value = 0});
    for (size_t i = 0; i < dim->num_terms; i++) {
        emit_term(out, &dim->terms[i]);
        if (i > 0)
            emit(out, (fer_instruction){.code = FER_ADD});
    }
}

static fer_status compile_dim(const fer_plan *plan, const fer_dim *dim, fer_program *out_program,
                              fer_error *error)
{
    *out_program = (fer_program){.dim = dim};
    emitter out = {.plan = plan};
    emit_dim(&out, dim);
    if (out.max_depth > STACK_DEPTH)
        return FER_OK;
    fer_instruction *instructions = malloc(out.num_instructions * sizeof *instructions);
    if (instructions == NULL)
        return fer_fail_memory(error);
    out = (emitter){.plan = plan, .instructions = instructions};
    emit_dim(&out, dim);
    out_program->instructions = instructions;
    out_program->num_instructions = out.num_instructions;
    return FER_OK;
}

/* --- Evaluating dims -------------------------------------------------------------------------- */

static bool run_program(const fer_program *program, const int64_t *slots, int64_t *out_value)
{
    int64_t stack[STACK_DEPTH];
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

/* --- Making the plan -------------------------------------------------------------------------- */

/* What maps names to indices while the plan is made. */
typedef struct builder {
    const fer_signature *signature;
    const fer_signature_spec *spec;
    const fer_dtype *var_dtypes;
    fer_plan *plan;
    const char *run_names[FER_MAX_OPERANDS];
    size_t num_runs;
} builder;

static fer_dtype resolve_dtype(const builder *b, const fer_template *type)
{
    if (type->dtype_var == NULL)
        return type->dtype;
    for (size_t i = 0; i < b->spec->num_dtype_vars; i++)
        if (strcmp(b->spec->dtype_vars[i].name, type->dtype_var) == 0)
            return b->var_dtypes[i];
    return FER_DTYPE_INVALID;
}

static size_t find_run(const builder *b, const char *name)
{
    size_t run = 0;
    while (run < b->num_runs && strcmp(b->run_names[run], name) != 0)
        run++;
    return run;
}

static void plan_operand(builder *b, const fer_operand *operand, fer_operand_plan *out)
{
    fer_plan *plan = b->plan;
    const fer_template *type = &operand->type;
    *out = (fer_operand_plan){
        .dtype = (uint8_t)resolve_dtype(b, type),
        .is_inout = operand->is_inout,
    };
    for (size_t axis = 0; axis < type->num_axes; axis++) {
        const fer_axis *declared = &type->axes[axis];
        if (declared->run != NULL) {
            out->has_run = true;
            out->run_axis = (uint8_t)axis;
            out->run_slot = (uint8_t)find_run(b, declared->run);
            out->binds_run = out->run_slot == b->num_runs;
            if (out->binds_run)
                b->run_names[b->num_runs++] = declared->run;
            continue;
        }
        fer_step *step = &out->steps[out->num_steps++];
        step->axis = (int8_t)(out->has_run ? (int)axis - (int)type->num_axes : (int)axis);
        const char *name = fer_dim_symbol_name(declared->dim, NULL);
        if (name == NULL) {
            step->kind = FER_STEP_STATIC;
            /* An input dim is a bare name or a number: the signature was checked. */
            if (fer_dim_value(declared->dim, &step->value, NULL) != FER_OK)
                step->value = -1;
            continue;
        }
        size_t slot = find_slot(plan, name);
        step->kind = slot == plan->num_slots ? FER_STEP_BIND : FER_STEP_MATCH;
        step->slot = (uint8_t)slot;
        if (step->kind == FER_STEP_BIND)
            plan->slot_names[plan->num_slots++] = name;
    }
    plan->num_inout += operand->is_inout;
}

/* `n`, and `n // 2^k`: extents are not negative, so a shift floors. */
static bool plan_simple_axis(const fer_plan *plan, const fer_dim *dim, fer_result_axis *out)
{
    if (dim->num_terms != 1 || dim->terms[0].coefficient != 1 || dim->terms[0].num_factors != 1)
        return false;
    const fer_atom *atom = dim->terms[0].factors[0];
    const char *name = atom->name;
    int64_t divisor = 1;
    if (name == NULL) {
        name = fer_dim_symbol_name(atom->numerator, NULL);
        if (fer_dim_value(atom->denominator, &divisor, NULL) != FER_OK)
            return false;
    }
    if (name == NULL || divisor <= 0 || (divisor & (divisor - 1)) != 0)
        return false;
    out->kind = FER_EXTENT_SLOT;
    out->slot = (uint8_t)find_slot(plan, name);
    out->shift = (uint8_t)__builtin_ctzll((unsigned long long)divisor);
    return true;
}

static uint8_t open_index(const fer_signature *signature, const char *symbol)
{
    uint8_t index = 0;
    while (strcmp(fer_signature_open_at(signature, index), symbol) != 0)
        index++;
    return index;
}

static fer_status plan_result(const builder *b, size_t index, fer_result_plan *out,
                              fer_error *error)
{
    const fer_template *type = &b->spec->results[index].type;
    fer_dtype dtype = resolve_dtype(b, type);
    *out = (fer_result_plan){
        .dtype = (uint8_t)dtype,
        .num_axes = (uint8_t)type->num_axes,
        .element_bytes = (uint8_t)fer_dtype_bytes(dtype),
        .is_simple = true,
    };
    for (size_t i = 0; i < type->num_axes; i++) {
        const fer_axis *declared = &type->axes[i];
        fer_result_axis *axis = &out->axes[i];
        const char *open = fer_signature_open_symbol(b->signature, index, i);
        if (declared->run != NULL) {
            axis->kind = FER_EXTENT_RUN;
            axis->slot = (uint8_t)find_run(b, declared->run);
        } else if (open != NULL) {
            axis->kind = FER_EXTENT_OPEN;
            axis->slot = open_index(b->signature, open);
        } else if (fer_dim_is_static(declared->dim)) {
            axis->kind = FER_EXTENT_STATIC;
            FER_TRY(fer_dim_value(declared->dim, &axis->value, error));
        } else if (!plan_simple_axis(b->plan, declared->dim, axis)) {
            axis->kind = FER_EXTENT_PROGRAM;
            FER_TRY(compile_dim(b->plan, declared->dim, &axis->program, error));
        }
        out->is_simple &=
            axis->kind == FER_EXTENT_SLOT || (axis->kind == FER_EXTENT_STATIC && axis->value >= 0);
    }
    return FER_OK;
}

fer_status fer_plan_create(const fer_signature *signature, const fer_dtype *var_dtypes,
                           fer_plan *out_plan, fer_error *error)
{
    const fer_signature_spec *spec = fer_signature_folded(signature);
    fer_status status = FER_OK;
    fer_plan plan = {
        .num_operands = spec->num_operands,
        .num_results = spec->num_results,
        .num_conditions = spec->num_conditions,
        .num_open = fer_signature_num_open(signature),
        .operands = calloc(spec->num_operands + 1, sizeof *plan.operands),
        .results = calloc(spec->num_results + 1, sizeof *plan.results),
        .conditions = calloc(spec->num_conditions + 1, sizeof *plan.conditions),
    };
    *out_plan = (fer_plan){0};
    if (plan.operands == NULL || plan.results == NULL || plan.conditions == NULL) {
        status = fer_fail_memory(error);
        goto done;
    }
    builder b = {.signature = signature, .spec = spec, .var_dtypes = var_dtypes, .plan = &plan};
    for (size_t i = 0; i < spec->num_operands; i++)
        plan_operand(&b, &spec->operands[i], &plan.operands[i]);
    for (size_t i = 0; i < spec->num_results; i++)
        FER_TRY_DONE(plan_result(&b, i, &plan.results[i], error));
    for (size_t i = 0; i < spec->num_conditions; i++) {
        fer_condition_plan *condition = &plan.conditions[i];
        condition->comparison = spec->conditions[i].comparison;
        FER_TRY_DONE(compile_dim(&plan, spec->conditions[i].left, &condition->left, error));
        FER_TRY_DONE(compile_dim(&plan, spec->conditions[i].right, &condition->right, error));
    }
    *out_plan = plan;
    plan = (fer_plan){0};

done:
    fer_plan_clear(&plan);
    return status;
}

void fer_plan_clear(fer_plan *plan)
{
    for (size_t i = 0; plan->results != NULL && i < plan->num_results; i++)
        for (size_t axis = 0; axis < plan->results[i].num_axes; axis++)
            free(plan->results[i].axes[axis].program.instructions);
    for (size_t i = 0; plan->conditions != NULL && i < plan->num_conditions; i++) {
        free(plan->conditions[i].left.instructions);
        free(plan->conditions[i].right.instructions);
    }
    free(plan->operands);
    free(plan->results);
    free(plan->conditions);
    *plan = (fer_plan){0};
}

/* --- Binding ---------------------------------------------------------------------------------- */

static bool bind_run(const fer_operand_plan *plan, const fer_tensor *operand, fer_bound *bound)
{
    const int64_t *extents = operand->extents + plan->run_axis;
    size_t length = (size_t)operand->rank - plan->num_steps;
    if (plan->binds_run) {
        bound->runs[plan->run_slot].extents = extents;
        bound->runs[plan->run_slot].length = length;
        return true;
    }
    if (bound->runs[plan->run_slot].length != length)
        return false;
    return memcmp(bound->runs[plan->run_slot].extents, extents, length * sizeof *extents) == 0;
}

static inline bool fits(const fer_step *step, int64_t extent, int64_t *slots)
{
    if (step->kind == FER_STEP_BIND)
        slots[step->slot] = extent;
    else if (extent != (step->kind == FER_STEP_MATCH ? slots[step->slot] : step->value))
        return false;
    return true;
}

static bool bind_operand_with_run(const fer_operand_plan *plan, const fer_tensor *operand,
                                  fer_bound *bound)
{
    if (operand->rank < plan->num_steps)
        return false;
    for (size_t i = 0; i < plan->num_steps; i++) {
        const fer_step *step = &plan->steps[i];
        int axis = step->axis < 0 ? operand->rank + step->axis : step->axis;
        if (!fits(step, operand->extents[axis], bound->slots))
            return false;
    }
    return bind_run(plan, operand, bound);
}

static inline bool bind_operand(const fer_operand_plan *plan, const fer_tensor *operand,
                                fer_bound *bound)
{
    if (plan->has_run)
        return bind_operand_with_run(plan, operand, bound);
    if (operand->rank != plan->num_steps)
        return false;
    for (size_t i = 0; i < plan->num_steps; i++)
        if (!fits(&plan->steps[i], operand->extents[i], bound->slots))
            return false;
    return true;
}

static bool compare(int64_t left, fer_comparison comparison, int64_t right)
{
    switch (comparison) {
    case FER_EQ:
        return left == right;
    case FER_NE:
        return left != right;
    case FER_LT:
        return left < right;
    case FER_LE:
        return left <= right;
    case FER_GT:
        return left > right;
    case FER_GE:
        return left >= right;
    }
    return false;
}

static bool holds(const fer_plan *plan, const fer_condition_plan *condition, const int64_t *slots)
{
    int64_t left;
    int64_t right;
    return evaluate(plan, &condition->left, slots, &left) &&
           evaluate(plan, &condition->right, slots, &right) &&
           compare(left, condition->comparison, right);
}

/* --- Results ---------------------------------------------------------------------------------- */

/* The extents of any axis (several for a run); false when one is negative or there are too many. */
static bool extend(const fer_plan *plan, const fer_result_axis *axis, const int64_t *open,
                   const fer_bound *bound, fer_extents *out)
{
    const int64_t *extents = &axis->value;
    int64_t extent;
    size_t length = 1;
    if (axis->kind == FER_EXTENT_RUN) {
        extents = bound->runs[axis->slot].extents;
        length = bound->runs[axis->slot].length;
    } else if (axis->kind == FER_EXTENT_OPEN) {
        extents = &open[axis->slot];
    } else if (axis->kind == FER_EXTENT_SLOT) {
        extent = bound->slots[axis->slot] >> axis->shift;
        extents = &extent;
    } else if (axis->kind == FER_EXTENT_PROGRAM) {
        if (!evaluate(plan, &axis->program, bound->slots, &extent))
            return false;
        extents = &extent;
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

static bool measure_any(const fer_plan *plan, const fer_result_plan *result, const int64_t *open,
                        const fer_bound *bound, fer_extents *out)
{
    int64_t num_bytes;
    out->rank = 0;
    for (size_t axis = 0; axis < result->num_axes; axis++)
        if (!extend(plan, &result->axes[axis], open, bound, out))
            return false;
    if (!fer_count_elements(out->extents, out->rank, &out->num_elements) ||
        __builtin_mul_overflow(out->num_elements, (int64_t)result->element_bytes, &num_bytes))
        return false;
    out->num_bytes = (size_t)num_bytes;
    return true;
}

/* Results whose axes are all slots or numbers need no check but the last, of their size; where that
 * overflows, the general way finds out whether an extent of zero makes it good. */
static inline bool measure_simple(const fer_result_plan *result, const fer_bound *bound,
                                  fer_extents *out)
{
    int64_t num_elements = 1;
    int64_t num_bytes;
    bool has_overflowed = false;
    for (size_t i = 0; i < result->num_axes; i++) {
        const fer_result_axis *axis = &result->axes[i];
        int64_t extent =
            axis->kind == FER_EXTENT_SLOT ? bound->slots[axis->slot] >> axis->shift : axis->value;
        out->extents[i] = extent;
        has_overflowed |= __builtin_mul_overflow(num_elements, extent, &num_elements);
    }
    has_overflowed |=
        __builtin_mul_overflow(num_elements, (int64_t)result->element_bytes, &num_bytes);
    out->rank = result->num_axes;
    out->num_elements = num_elements;
    out->num_bytes = (size_t)num_bytes;
    return !has_overflowed;
}

static inline bool measure(const fer_plan *plan, const int64_t *open, fer_bound *bound)
{
    for (size_t i = 0; i < plan->num_results; i++) {
        const fer_result_plan *result = &plan->results[i];
        fer_extents *out = &bound->results[i];
        if (!(result->is_simple && measure_simple(result, bound, out)) &&
            !measure_any(plan, result, open, bound, out))
            return false;
    }
    return true;
}

bool fer_plan_results(const fer_plan *plan, const int64_t *open, fer_bound *bound)
{
    return measure(plan, open, bound);
}

bool fer_plan_bind(const fer_plan *plan, fer_tensor *const *operands, fer_bound *bound)
{
    bound->device = operands[0]->dl.device.device_id;
    for (size_t i = 0; i < plan->num_operands; i++)
        if (!bind_operand(&plan->operands[i], operands[i], bound) ||
            operands[i]->dl.device.device_id != bound->device)
            return false;
    for (size_t i = 0; i < plan->num_conditions; i++)
        if (!holds(plan, &plan->conditions[i], bound->slots))
            return false;
    static const int64_t NOT_KNOWN_YET[FER_MAX_SLOTS];
    return measure(plan, NOT_KNOWN_YET, bound);
}
