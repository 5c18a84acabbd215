#include "op/plan.h"

#include "base/arithmetic.h"
#include "signature/unify.h"
#include "types/form.h"

#include <stdlib.h>
#include <string.h>

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
    if (out.max_depth > FER_PROGRAM_DEPTH)
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

/* --- Making the plan -------------------------------------------------------------------------- */

/* What maps names to indices while the plan is made. */
typedef struct builder {
    const fer_signature *signature;
    const fer_signature_spec *spec;
    const fer_dtype *var_dtypes;
    fer_plan *plan;
    const char *run_names[FER_MAX_OPERANDS];
    fer_run_place runs[FER_MAX_OPERANDS]; /* of the first operand that has it */
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

static void plan_run(builder *b, const char *name, fer_run_place place)
{
    size_t run = find_run(b, name);
    if (run == b->num_runs) {
        b->run_names[run] = name;
        b->runs[b->num_runs++] = place;
    } else {
        b->plan->run_matches[b->plan->num_run_matches++] =
            (fer_run_match){.place = place, .other = b->runs[run]};
    }
    b->plan->has_runs = true;
}

/* A dim that is a number, `n`, or `n // 2^k`: extents are not negative, so a shift floors. */
static bool find_match(const fer_plan *plan, const fer_dim *dim, fer_match *out)
{
    *out = (fer_match){.is_static = fer_dim_is_static(dim)};
    if (out->is_static)
        return fer_dim_value(dim, &out->value, NULL) == FER_OK;
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
    size_t slot = find_slot(plan, name);
    if (slot == plan->num_slots)
        return false;
    out->other = plan->slots[slot];
    out->shift = (uint8_t)__builtin_ctzll((unsigned long long)divisor);
    return true;
}

/* Input dims are bare names and numbers. A name's first axis gives its extent, and every other one
 * must match it. */
static void plan_axis(fer_plan *plan, const fer_dim *dim, fer_axis_place place)
{
    fer_match match;
    if (find_match(plan, dim, &match)) {
        match.place = place;
        plan->matches[plan->num_matches++] = match;
    } else {
        plan->slot_names[plan->num_slots] = fer_dim_symbol_name(dim, NULL);
        plan->slots[plan->num_slots++] = place;
    }
}

static fer_axis_place place_axis(size_t tensor, const fer_template *type, size_t axis,
                                 bool is_behind_run)
{
    return (fer_axis_place){
        .tensor = (uint8_t)tensor,
        .axis = (int8_t)(is_behind_run ? (int)axis - (int)type->num_axes : (int)axis),
    };
}

static void plan_operand(builder *b, size_t index, fer_operand_plan *out)
{
    const fer_operand *operand = &b->spec->operands[index];
    const fer_template *type = &operand->type;
    *out = (fer_operand_plan){
        .dtype = (uint8_t)resolve_dtype(b, type),
        .is_inout = operand->is_inout,
    };
    uint8_t tensor = (uint8_t)(b->spec->num_results + index);
    for (size_t i = 0; i < type->num_axes; i++) {
        if (type->axes[i].run != NULL) {
            out->has_run = true;
            plan_run(b, type->axes[i].run,
                     (fer_run_place){tensor, (uint8_t)i, (uint8_t)(type->num_axes - 1)});
            continue;
        }
        plan_axis(b->plan, type->axes[i].dim, place_axis(tensor, type, i, out->has_run));
        out->rank++;
    }
    b->plan->num_inout += operand->is_inout;
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
        .is_plain = true,
    };
    size_t num_runs = 0;
    for (size_t i = 0; i < type->num_axes; i++) {
        const fer_axis *declared = &type->axes[i];
        fer_result_axis *axis = &out->axes[i];
        const char *open = fer_signature_open_symbol(b->signature, index, i);
        if (declared->run != NULL) {
            axis->kind = FER_EXTENT_RUN;
            axis->run = b->runs[find_run(b, declared->run)];
            num_runs++;
        } else if (open != NULL) {
            axis->kind = FER_EXTENT_OPEN;
            axis->slot = open_index(b->signature, open);
        } else if (find_match(b->plan, declared->dim, &axis->match) &&
                   (!axis->match.is_static || axis->match.value >= 0)) {
            axis->kind = FER_EXTENT_MATCH;
            axis->match.place = place_axis(index, type, i, num_runs > 0);
        } else {
            axis->kind = FER_EXTENT_PROGRAM;
            b->plan->has_programs = true;
            FER_TRY(compile_dim(b->plan, declared->dim, &axis->program, error));
        }
        out->is_plain &= axis->kind == FER_EXTENT_MATCH || axis->kind == FER_EXTENT_RUN;
    }
    out->is_plain &= num_runs <= 1;
    out->is_simple = out->is_plain && num_runs == 0;
    return FER_OK;
}

/* What given results must match. */
static void plan_given(fer_plan *plan)
{
    plan->num_given_matches = plan->num_matches;
    plan->num_given_run_matches = plan->num_run_matches;
    for (size_t i = 0; plan->is_plain && i < plan->num_results; i++) {
        const fer_result_plan *result = &plan->results[i];
        for (size_t axis = 0; axis < result->num_axes; axis++) {
            const fer_result_axis *extent = &result->axes[axis];
            if (extent->kind == FER_EXTENT_MATCH)
                plan->matches[plan->num_given_matches++] = extent->match;
            else
                plan->run_matches[plan->num_given_run_matches++] = (fer_run_match){
                    .place = {(uint8_t)i, (uint8_t)axis, (uint8_t)(result->num_axes - 1)},
                    .other = extent->run,
                };
        }
    }
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
        .has_programs = spec->num_conditions > 0,
        .operands = calloc(spec->num_operands + 1, sizeof *plan.operands),
        .matches = calloc(FER_MAX_SLOTS, sizeof *plan.matches),
        .results = calloc(spec->num_results + 1, sizeof *plan.results),
        .conditions = calloc(spec->num_conditions + 1, sizeof *plan.conditions),
    };
    *out_plan = (fer_plan){0};
    if (plan.operands == NULL || plan.matches == NULL || plan.results == NULL ||
        plan.conditions == NULL) {
        status = fer_fail_memory(error);
        goto done;
    }
    builder b = {.signature = signature, .spec = spec, .var_dtypes = var_dtypes, .plan = &plan};
    for (size_t i = 0; i < spec->num_operands; i++)
        plan_operand(&b, i, &plan.operands[i]);
    plan.is_plain = plan.num_inout == 0 && plan.num_conditions == 0;
    for (size_t i = 0; i < spec->num_results; i++) {
        FER_TRY_DONE(plan_result(&b, i, &plan.results[i], error));
        plan.is_plain &= plan.results[i].is_plain;
    }
    plan_given(&plan);
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
    free(plan->matches);
    free(plan->results);
    free(plan->conditions);
    *plan = (fer_plan){0};
}
