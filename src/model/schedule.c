#include "model/schedule.h"

#include <stdlib.h>

static fer_status allocate(fer_schedule *s, fer_error *error)
{
    s->input_rules = calloc(s->graph->num_inputs + 1, sizeof *s->input_rules);
    s->outputs = calloc(s->graph->num_outputs + 1, sizeof *s->outputs);
    return s->input_rules != NULL && s->outputs != NULL ? FER_OK : fer_fail_memory(error);
}

fer_status fer_schedule_create(const fer_graph *graph, fer_schedule *out_schedule, fer_error *error)
{
    fer_schedule s = {.graph = graph};
    fer_status status = FER_OK;
    FER_TRY_DONE(allocate(&s, error));
    FER_TRY_DONE(fer_schedule_emit(&s, error));
    FER_TRY_DONE(fer_schedule_place(&s, error));
    *out_schedule = s;
    s = (fer_schedule){0};

done:
    fer_schedule_clear(&s);
    return status;
}

void fer_schedule_clear(fer_schedule *schedule)
{
    for (size_t i = 0; i < schedule->num_steps; i++) {
        free(schedule->steps[i].slots);
        free(schedule->steps[i].rules);
        free(schedule->steps[i].pairs);
    }
    for (size_t i = 0; schedule->input_rules != NULL && i < schedule->graph->num_inputs; i++)
        free(schedule->input_rules[i]);
    free(schedule->slots);
    free(schedule->symbols);
    free(schedule->frames);
    free(schedule->loops);
    free(schedule->steps);
    free(schedule->input_rules);
    free(schedule->outputs);
    *schedule = (fer_schedule){0};
}
