#include "base/text.h"
#include "graph/passes.h"
#include "model/interpret.h"

#include <ferrule/model.h>
#include <stdlib.h>
#include <string.h>

/* Run states that wait for the next run, so many at most; a run that finds none makes its own. */
#define MAX_IDLE_STATES 16

struct fer_model {
    atomic_size_t references;
    fer_module *module; /* keeps the graph as it is after the passes */
    fer_schedule schedule;
    _Atomic(fer_run_state *) idle[MAX_IDLE_STATES];
};

/* --- Executors -------------------------------------------------------------------------------- */

static const char *const EXECUTORS[] = {"interpret"};
#define NUM_EXECUTORS (sizeof EXECUTORS / sizeof *EXECUTORS)

/* Whether there is an executor of that name; `where` says in the message who asked for it. */
static fer_status check_executor(const char *name, const char *where, fer_error *error)
{
    for (size_t i = 0; i < NUM_EXECUTORS; i++)
        if (strcmp(EXECUTORS[i], name) == 0)
            return FER_OK;
    fer_text choices = FER_TEXT_INIT;
    for (size_t i = 0; i < NUM_EXECUTORS; i++)
        fer_text_printf(&choices, "%s'%s'", i == 0 ? "" : ", ", EXECUTORS[i]);
    fer_status status =
        fer_fail(error, FER_VALUE_ERROR, "%sthere is no executor '%s'; the choices are %s", where,
                 name, fer_text_string(&choices));
    fer_text_free(&choices);
    return status;
}

static fer_status choose_executor(const char *name, fer_error *error)
{
    if (name != NULL)
        return check_executor(name, "", error);
    const char *wanted = getenv("FERRULE_EXECUTOR");
    if (wanted == NULL || *wanted == '\0')
        return FER_OK;
    return check_executor(wanted, "FERRULE_EXECUTOR: ", error);
}

/* --- Models ----------------------------------------------------------------------------------- */

/* A graph without outputs is worth running only for what its ops change. */
static fer_status check_graph(const fer_graph *graph, fer_error *error)
{
    if (graph == NULL)
        return fer_fail(error, FER_TYPE_ERROR,
                        "the graph is NULL: fer_module_find found none of that name");
    FER_TRY(fer_graph_require_finished(graph, "", error));
    if (graph->num_outputs > 0 || graph->body.has_effect)
        return FER_OK;
    return fer_fail(error, FER_VALUE_ERROR, "graph '%s' has no outputs and changes nothing",
                    graph->name);
}

fer_status fer_model_create(const fer_graph *graph, const char *executor, fer_model **out_model,
                            fer_error *error)
{
    *out_model = NULL;
    FER_TRY(choose_executor(executor, error));
    FER_TRY(check_graph(graph, error));
    fer_model *model = calloc(1, sizeof *model);
    if (model == NULL)
        return fer_fail_memory(error);
    atomic_init(&model->references, 1);
    const fer_graph *ready = NULL;
    fer_status status = fer_graph_optimise(graph, &ready, error);
    if (status == FER_OK) {
        model->module = ready->module;
        status = fer_schedule_create(ready, &model->schedule, error);
    }
    if (status != FER_OK) {
        fer_module_release(model->module);
        free(model);
        return status;
    }
    *out_model = model;
    return FER_OK;
}

fer_model *fer_model_retain(const fer_model *model)
{
    fer_model *retained = (fer_model *)model;
    atomic_fetch_add_explicit(&retained->references, 1, memory_order_relaxed);
    return retained;
}

void fer_model_release(fer_model *model)
{
    if (model == NULL ||
        atomic_fetch_sub_explicit(&model->references, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < MAX_IDLE_STATES; i++)
        fer_run_state_destroy(atomic_load(&model->idle[i]));
    fer_schedule_clear(&model->schedule);
    fer_module_release(model->module);
    free(model);
}

/* --- Runs ------------------------------------------------------------------------------------- */

static fer_status take_state(fer_model *model, fer_run_state **out_state, fer_error *error)
{
    for (size_t i = 0; i < MAX_IDLE_STATES; i++) {
        if (atomic_load_explicit(&model->idle[i], memory_order_relaxed) == NULL)
            continue;
        *out_state = atomic_exchange_explicit(&model->idle[i], NULL, memory_order_acquire);
        if (*out_state != NULL)
            return FER_OK;
    }
    return fer_run_state_create(&model->schedule, out_state, error);
}

static void return_state(fer_model *model, fer_run_state *state)
{
    for (size_t i = 0; i < MAX_IDLE_STATES; i++) {
        fer_run_state *none = NULL;
        if (atomic_compare_exchange_strong_explicit(&model->idle[i], &none, state,
                                                    memory_order_release, memory_order_relaxed))
            return;
    }
    fer_run_state_destroy(state);
}

fer_status fer_model_run(const fer_model *model, fer_tensor *const *inputs, size_t num_inputs,
                         fer_tensor **out_outputs, size_t num_outputs, fer_error *error)
{
    for (size_t i = 0; i < num_outputs; i++)
        out_outputs[i] = NULL;
    fer_model *pool = (fer_model *)model; /* its states are a cache inside what is immutable */
    fer_run_state *state = NULL;
    FER_TRY(take_state(pool, &state, error));
    fer_status status = fer_interpret(state, inputs, num_inputs, out_outputs, num_outputs, error);
    return_state(pool, state);
    return status;
}
