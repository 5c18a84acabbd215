/* Models: a finished graph made ready to run.
 *
 * A fer_model is immutable and reference-counted; any number of threads may run one model at once.
 */
#ifndef FERRULE_MODEL_H
#define FERRULE_MODEL_H

#include <ferrule/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fer_model fer_model;

/* `executor` is "interpret", or NULL for $FERRULE_EXECUTOR, else the default. VALUE: an unknown
 * name (lists the choices); a graph that is not finished, or gives and changes nothing. COMPILE: a
 * kernel for the staged dtypes. UNSUPPORTED: calls in calls that are too many steps. TYPE: NULL, as
 * fer_module_find gives for an unknown name. */
FER_API FER_MUST_USE fer_status fer_model_create(const fer_graph *graph, const char *executor,
                                                 fer_model **out_model, fer_error *error);
FER_API fer_model *fer_model_retain(const fer_model *model);
FER_API void fer_model_release(fer_model *model); /* NULL-safe */

/* Runs the graph. Inputs are borrowed; outputs are new tensors that the caller releases, one for
 * each output of the graph. Before anything runs: TYPE, the number of inputs or outputs; VALUE, an
 * input's dtype, rank, device, static dims, repeated symbols (the message names graph, input and
 * axis); an inout input that is read-only, not compact or overlaps another input. Other inputs that
 * are not compact are copied, for this run.
 * While it runs: RUNTIME, a kernel that failed (names graph and op), a rebind that is false; VALUE,
 * OVERFLOW, ZERO_DIVISION, a dim or condition that only sizes decide; MEMORY. In a loop also
 * RUNTIME, "interrupted", when what fer_set_interrupt set says so. After an error no output is
 * published. */
FER_API FER_MUST_USE fer_status fer_model_run(const fer_model *model, fer_tensor *const *inputs,
                                              size_t num_inputs, fer_tensor **out_outputs,
                                              size_t num_outputs, fer_error *error);

#ifdef __cplusplus
}
#endif
#endif
