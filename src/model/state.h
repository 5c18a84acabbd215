/* The inside of a run state, for the files of the interpreter. */
#ifndef FERRULE_MODEL_STATE_H
#define FERRULE_MODEL_STATE_H

#include "model/interpret.h"
#include "tensor/tensor.h"

typedef struct fer_block {
    void *data;
    size_t num_bytes;
} fer_block;

struct fer_run_state {
    const fer_schedule *schedule;
    /* One for each slot: its type and extents as they are in this run, and its data. They are no
     * tensors of the caller's and are never released. */
    fer_tensor *tensors;
    const fer_dl_tensor **arguments; /* of each step: results, then operands */
    fer_assignment *symbols;         /* the dims' values in this run, in the schedule's order */
    fer_block *blocks;
    fer_tensor **outputs; /* while a run makes them */
    fer_tensor **compact; /* copies of the inputs that are not, for this run */
    size_t num_compact;
    /* Extents, checks and blocks of every step that is not dynamic hold for the inputs' extents in
     * `tensors`. */
    bool is_planned;
};

/* Checks the number of inputs, and each one's dtype, rank, device and dims; takes their extents and
 * their data over. Forgets the plan when an extent is another one. After success and failure the
 * caller calls fer_state_drop_inputs when the run is over. */
fer_status fer_state_take_inputs(fer_run_state *state, fer_tensor *const *inputs, size_t num_inputs,
                                 fer_error *error);
void fer_state_drop_inputs(fer_run_state *state);

/* Applies the rules of one type to extents: binds symbols, compares the rest. `*out_axis` is the
 * first axis that does not hold, and `*out_wanted` what it should be; the rank when all do. */
fer_status fer_state_apply_rules(fer_run_state *state, const fer_axis_rule *rules, size_t rank,
                                 const int64_t *extents, size_t *out_axis, int64_t *out_wanted,
                                 fer_error *error);

/* Checks a step and works out its results' extents. An op with data-dependent results needs its
 * operands' elements: `may_measure` says that they are there. */
fer_status fer_state_plan_step(fer_run_state *state, const fer_step_plan *step, bool may_measure,
                               fer_error *error);
/* Plans every step that no kernel has to run for, and gives their results memory. */
fer_status fer_state_plan(fer_run_state *state, fer_error *error);
/* Memory for the results of a dynamic step, whose extents are there. */
fer_status fer_state_place_results(fer_run_state *state, const fer_step_plan *step,
                                   fer_error *error);
/* A new tensor like the slot's, or NULL without memory. */
fer_tensor *fer_state_allocate_like(const fer_tensor *tensor);

#endif
