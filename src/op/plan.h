/* The flat plan of a call: what a signature asks of operands' extents and what it makes of them,
 * resolved for one set of dtypes to array slots, so that a call walks arrays and knows no names.
 * The plan only says yes or no; why not is asked of the checker (signature/unify.h), on a cold
 * path. */
#ifndef FERRULE_OP_PLAN_H
#define FERRULE_OP_PLAN_H

#include "signature/unify.h"
#include "tensor/tensor.h"
#include <ferrule/signature.h>

#define FER_MAX_SLOTS (FER_MAX_OPERANDS * FER_MAX_RANK)

/* A dim as a stack program over slots, in int64. No instructions: the dim is too deep for the stack
 * and is evaluated exactly instead. */
typedef struct fer_instruction {
    enum { FER_PUSH_VALUE, FER_PUSH_SLOT, FER_ADD, FER_MULTIPLY, FER_FLOOR_DIVIDE } code;
    uint8_t slot;
    int64_t value;
} fer_instruction;

typedef struct fer_program {
    fer_instruction *instructions;
    size_t num_instructions;
    const fer_dim *dim; /* borrowed from the signature */
} fer_program;

/* What one axis of an operand is for: it binds a slot, must equal one, or must be a number. */
typedef struct fer_step {
    enum { FER_STEP_BIND, FER_STEP_MATCH, FER_STEP_STATIC } kind;
    int8_t axis; /* negative: from the end, behind a run */
    uint8_t slot;
    int64_t value;
} fer_step;

typedef struct fer_operand_plan {
    uint8_t dtype;
    uint8_t num_steps; /* axes that are no run */
    bool is_inout;
    bool has_run;
    bool binds_run; /* the first operand with that run */
    uint8_t run_axis;
    uint8_t run_slot;
    fer_step steps[FER_MAX_RANK];
} fer_operand_plan;

typedef struct fer_result_axis {
    enum {
        FER_EXTENT_STATIC,
        FER_EXTENT_SLOT, /* slot >> shift */
        FER_EXTENT_PROGRAM,
        FER_EXTENT_RUN,
        FER_EXTENT_OPEN /* slot: which data-dependent dim */
    } kind;
    uint8_t slot;
    uint8_t shift;
    int64_t value;
    fer_program program;
} fer_result_axis;

typedef struct fer_result_plan {
    uint8_t dtype;
    uint8_t num_axes;
    uint8_t element_bytes;
    bool is_simple;                     /* every axis is a slot, or a number that is not negative */
    fer_result_axis axes[FER_MAX_AXES]; /* runs among them, which may be empty */
} fer_result_plan;

typedef struct fer_condition_plan {
    fer_program left;
    fer_comparison comparison;
    fer_program right;
} fer_condition_plan;

typedef struct fer_plan {
    size_t num_operands;
    size_t num_results;
    size_t num_conditions;
    size_t num_inout;
    size_t num_open;
    size_t num_slots;
    fer_operand_plan *operands;
    fer_result_plan *results;
    fer_condition_plan *conditions;
    const char *slot_names[FER_MAX_SLOTS]; /* borrowed from the signature */
} fer_plan;

/* A result's extents at one call. */
typedef struct fer_extents {
    size_t rank;
    int64_t extents[FER_MAX_RANK];
    int64_t num_elements;
    size_t num_bytes;
} fer_extents;

/* What a call's operands bound. Big and short-lived: on the stack, never cleared. */
typedef struct fer_bound {
    int32_t device;
    int64_t slots[FER_MAX_SLOTS];
    struct {
        const int64_t *extents;
        size_t length;
    } runs[FER_MAX_OPERANDS];
    fer_extents results[FER_MAX_OPERANDS];
} fer_bound;

/* Makes the plan of a complete signature for these dtypes of its dtype variables. */
fer_status fer_plan_create(const fer_signature *signature, const fer_dtype *var_dtypes,
                           fer_plan *out_plan, fer_error *error);
void fer_plan_clear(fer_plan *plan);

/* Checks ranks, extents, devices and conditions, and fills `bound`, results included. A
 * data-dependent dim counts as 0 here; the results come again, with its extent, from
 * fer_plan_results. False: something does not hold, and the checker can say what. */
bool fer_plan_bind(const fer_plan *plan, fer_tensor *const *operands, fer_bound *bound);

/* Fills the results' extents; `open` are those of the data-dependent dims, in the order of
 * fer_signature_open_at. False: one is negative or too large. */
bool fer_plan_results(const fer_plan *plan, const int64_t *open, fer_bound *bound);

#endif
