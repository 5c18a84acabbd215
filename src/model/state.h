/* The inside of a run state, for the files of the interpreter. */
#ifndef FERRULE_MODEL_STATE_H
#define FERRULE_MODEL_STATE_H

#include "model/interpret.h"
#include "tensor/tensor.h"

typedef struct fer_buffer {
    void *data;
    size_t num_bytes;
} fer_buffer;

struct fer_run_state {
    const fer_schedule *schedule;
    /* One for each slot: its type and extents as they are in this run, and its data. They are no
     * tensors of the caller's and are never released. */
    fer_tensor *tensors;
    const fer_dl_tensor **arguments; /* of each step: results, then operands */
    fer_assignment *symbols;         /* the dims' values in this run, in the schedule's order */
    fer_buffer *buffers;
    fer_tensor **outputs; /* while a run makes them */
    fer_tensor **compact; /* copies of the inputs that are not, for this run */
    size_t num_compact;
    size_t *turns;    /* that each loop has begun; 0: it does not run */
    int64_t asked_ms; /* when it was asked whether this run is to end; 0: not yet */
    /* Extents, checks and buffers of every step that is not late hold for the inputs' extents in
     * `tensors`. */
    bool is_planned;
    /* A late op that is not dynamic need not be prepared again while its generation is the state's:
     * the extents are the same, and no buffer has moved. */
    size_t generation;
    size_t *prepared; /* of each step; 0: it is not */
};

/* Checks the number of inputs, and each one's dtype, rank, device and dims; takes their extents and
 * their data over. Forgets the plan when an extent is another one. After success and failure the
 * caller calls fer_state_drop_inputs when the run is over. */
fer_status fer_state_take_inputs(fer_run_state *state, fer_tensor *const *inputs, size_t num_inputs,
                                 fer_error *error);
void fer_state_drop_inputs(fer_run_state *state);

/* Applies the rules of one type to extents: binds symbols, compares the rest. `*out_axis` is the
 * first axis that does not hold, and `*out_wanted` what it should be; the rank when all do. */
fer_status fer_state_apply_rules(fer_run_state *state, size_t frame, const fer_axis_rule *rules,
                                 size_t rank, const int64_t *extents, size_t *out_axis,
                                 int64_t *out_wanted, fer_error *error);

/* Checks every step that is not late and works out its results' extents, and gives them memory. */
fer_status fer_state_plan(fer_run_state *state, fer_error *error);
/* The same for a late step, now that it is reached. */
fer_status fer_state_prepare(fer_run_state *state, const fer_step_plan *step, fer_error *error);
/* A new tensor like the slot's, or NULL without memory. */
fer_tensor *fer_state_allocate_like(const fer_tensor *tensor);

/* Puts before the message of an error where it came up, graph, calls and turns of loops, and the
 * place in the program. FER_OK stays. */
fer_status fer_state_locate(const fer_run_state *state, const fer_step_plan *step,
                            fer_status status, fer_error *error);

#endif
