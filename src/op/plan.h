/* The flat plan of a call: what a signature asks of operands' extents and what it makes of them,
 * resolved for one set of dtypes to axes of the call's tensors, so that a call walks arrays and
 * knows no names.
 * The plan only says yes or no; why not is asked of the checker (signature/unify.h), on a cold
 * path. */
#ifndef FERRULE_OP_PLAN_H
#define FERRULE_OP_PLAN_H

#include "signature/unify.h"
#include "tensor/tensor.h"
#include <ferrule/signature.h>

#define FER_MAX_SLOTS (FER_MAX_OPERANDS * FER_MAX_RANK)

#define FER_PROGRAM_DEPTH 32

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

/* Where a call finds an extent: an axis of one of its tensors (results first, then operands),
 * counted from its end behind a run. */
typedef struct fer_axis_place {
    uint8_t tensor;
    int8_t axis;
} fer_axis_place;

/* An extent that must equal `other >> shift`, or a number. */
typedef struct fer_match {
    fer_axis_place place;
    fer_axis_place other;
    uint8_t shift;
    bool is_static;
    int64_t value;
} fer_match;

/* A run of dims: it begins at an axis, and is what the tensor's rank is beyond `rank`. */
typedef struct fer_run_place {
    uint8_t tensor;
    uint8_t axis;
    uint8_t rank;
} fer_run_place;

/* Two runs that must be equal. */
typedef struct fer_run_match {
    fer_run_place place;
    fer_run_place other;
} fer_run_match;

typedef struct fer_operand_plan {
    uint8_t dtype;
    uint8_t rank; /* without a run */
    bool has_run;
    bool is_inout;
} fer_operand_plan;

typedef struct fer_result_axis {
    enum {
        FER_EXTENT_MATCH, /* what `match` says */
        FER_EXTENT_PROGRAM,
        FER_EXTENT_RUN,
        FER_EXTENT_OPEN /* slot: which data-dependent dim */
    } kind;
    uint8_t slot;
    fer_match match;
    fer_run_place run;
    fer_program program;
} fer_result_axis;

typedef struct fer_result_plan {
    uint8_t dtype;
    uint8_t num_axes;
    uint8_t element_bytes;
    bool is_simple;                     /* every axis is a match */
    bool is_plain;                      /* every axis is a match, or the only run */
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
    size_t num_matches; /* the operands' own; behind them come those of given results */
    size_t num_given_matches;
    size_t num_run_matches; /* the same */
    size_t num_given_run_matches;
    size_t num_slots;
    bool is_plain; /* the matches say all there is to check, and nothing is changed in place */
    bool has_runs;
    bool has_programs; /* in conditions or results: they read slots */
    fer_operand_plan *operands;
    fer_match *matches;
    fer_result_plan *results;
    fer_condition_plan *conditions;
    fer_run_match run_matches[FER_MAX_OPERANDS];
    fer_axis_place slots[FER_MAX_SLOTS];
    const char *slot_names[FER_MAX_SLOTS]; /* borrowed from the signature */
} fer_plan;

/* A result's extents at one call. */
typedef struct fer_extents {
    size_t rank;
    int64_t extents[FER_MAX_RANK];
    int64_t num_elements;
    size_t num_bytes;
} fer_extents;

/* What a call's operands bound. Big and short-lived: on the stack, never cleared, and filled only
 * as far as the plan needs it. */
typedef struct fer_bound {
    int64_t slots[FER_MAX_SLOTS];
    fer_extents results[FER_MAX_OPERANDS];
} fer_bound;

/* Makes the plan of a complete signature for these dtypes of its dtype variables. */
fer_status fer_plan_create(const fer_signature *signature, const fer_dtype *var_dtypes,
                           fer_plan *out_plan, fer_error *error);
void fer_plan_clear(fer_plan *plan);

/* --- The steps of every call, in line there --------------------------------------------------- */

/* Whether operands are there, of these dtypes and ranks, compact, on one device. Lists them. */
static inline bool fer_plan_takes(const fer_plan *plan, fer_tensor *const *operands,
                                  const fer_dl_tensor **out_tensors)
{
    out_tensors += plan->num_results;
    for (size_t i = 0; i < plan->num_operands; i++) {
        const fer_tensor *operand = operands[i];
        const fer_operand_plan *wanted = &plan->operands[i];
        if (operand == NULL ||
            ((operand->call_dtype != wanted->dtype || operand->rank != wanted->rank) &&
             !(wanted->has_run && operand->call_dtype == wanted->dtype &&
               operand->rank > wanted->rank)) ||
            operand->dl.device.device_id != operands[0]->dl.device.device_id)
            return false;
        out_tensors[i] = &operand->dl;
    }
    return true;
}

static inline int64_t fer_extent_at(const fer_dl_tensor *const *tensors, fer_axis_place place,
                                    bool has_runs)
{
    const fer_tensor *tensor = fer_tensor_of(tensors[place.tensor]);
    return tensor->extents[has_runs && place.axis < 0 ? tensor->rank + place.axis : place.axis];
}

static inline int64_t fer_match_extent(const fer_match *match, const fer_dl_tensor *const *tensors,
                                       bool has_runs)
{
    return __builtin_expect(match->is_static, 0)
               ? match->value
               : fer_extent_at(tensors, match->other, has_runs) >> match->shift;
}

static inline bool fer_matches_hold(const fer_match *matches, size_t num_matches,
                                    const fer_dl_tensor *const *tensors, bool has_runs)
{
    for (const fer_match *match = matches; match < matches + num_matches; match++)
        if (fer_extent_at(tensors, match->place, has_runs) !=
            fer_match_extent(match, tensors, has_runs))
            return false;
    return true;
}

/* The matches behind runs that hold: those say that the tensors have dims enough. */
bool fer_runs_and_matches_hold(const fer_plan *plan, size_t num_run_matches, size_t num_matches,
                               const fer_dl_tensor *const *tensors);

static inline bool fer_extents_hold(const fer_plan *plan, size_t num_run_matches,
                                    size_t num_matches, const fer_dl_tensor *const *tensors)
{
    return plan->has_runs ? fer_runs_and_matches_hold(plan, num_run_matches, num_matches, tensors)
                          : fer_matches_hold(plan->matches, num_matches, tensors, false);
}

/* The same of a plain plan's tensors, given results among them. */
static inline bool fer_given_hold(const fer_plan *plan, const fer_dl_tensor *const *tensors)
{
    return fer_extents_hold(plan, plan->num_given_run_matches, plan->num_given_matches, tensors);
}

/* Reads the symbols' extents and checks the conditions. */
bool fer_plan_bind_slots(const fer_plan *plan, const fer_dl_tensor *const *tensors,
                         fer_bound *bound);

/* Checks extents and conditions of tensors that the plan takes (of which only the operands need be
 * there), and fills what the results need of `bound`. False: something does not hold, and the
 * checker can say what. */
static inline bool fer_plan_bind(const fer_plan *plan, const fer_dl_tensor *const *tensors,
                                 fer_bound *bound)
{
    return fer_extents_hold(plan, plan->num_run_matches, plan->num_matches, tensors) &&
           (!plan->has_programs || fer_plan_bind_slots(plan, tensors, bound));
}

/* A result of which every axis is a match. False: its size overflows, and only the general way
 * finds out whether an extent of zero makes it good. */
static inline bool fer_measure_simple(const fer_result_plan *result, bool has_runs,
                                      const fer_dl_tensor *const *tensors, fer_extents *out)
{
    int64_t num_elements = 1;
    int64_t num_bytes;
    for (size_t i = 0; i < result->num_axes; i++) {
        out->extents[i] = fer_match_extent(&result->axes[i].match, tensors, has_runs);
        if (__builtin_mul_overflow(num_elements, out->extents[i], &num_elements))
            return false;
    }
    if (__builtin_mul_overflow(num_elements, (int64_t)result->element_bytes, &num_bytes))
        return false;
    out->rank = result->num_axes;
    out->num_elements = num_elements;
    out->num_bytes = (size_t)num_bytes;
    return true;
}

/* Any result; see fer_plan_results. */
bool fer_measure_any(const fer_plan *plan, const fer_result_plan *result,
                     const fer_dl_tensor *const *tensors, const int64_t *open,
                     const fer_bound *bound, fer_extents *out);

/* Fills the extents of the results of bound operands; `open` are those of the data-dependent dims,
 * in the order of fer_signature_open_at, or NULL while they are not known and count as 0. False:
 * one is negative or too large. */
static inline bool fer_plan_results(const fer_plan *plan, const fer_dl_tensor *const *tensors,
                                    const int64_t *open, fer_bound *bound)
{
    for (size_t i = 0; i < plan->num_results; i++) {
        const fer_result_plan *result = &plan->results[i];
        fer_extents *out = &bound->results[i];
        if (!(result->is_simple && !plan->has_runs &&
              fer_measure_simple(result, false, tensors, out)) &&
            !fer_measure_any(plan, result, tensors, open, bound, out))
            return false;
    }
    return true;
}

#endif
