/* The interpreter: calls the compiled kernels of a schedule one after the other. */
#ifndef FERRULE_MODEL_INTERPRET_H
#define FERRULE_MODEL_INTERPRET_H

#include "model/schedule.h"

/* What one run at a time needs: every value's extents and memory, and the kernels' arguments. It
 * keeps them for the next run, which costs little when the inputs' sizes are the same. */
typedef struct fer_run_state fer_run_state;

fer_status fer_run_state_create(const fer_schedule *schedule, fer_run_state **out_state,
                                fer_error *error);
void fer_run_state_destroy(fer_run_state *state); /* NULL-safe */

/* Runs the schedule that the state was made for. Outputs are new references, all or none. */
fer_status fer_interpret(fer_run_state *state, fer_tensor *const *inputs, size_t num_inputs,
                         fer_tensor **out_outputs, size_t num_outputs, fer_error *error);

#endif
