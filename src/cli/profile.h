/* Where a run spends its time: a table of its ops, and a trace of each call. */
#ifndef FERRULE_CLI_PROFILE_H
#define FERRULE_CLI_PROFILE_H

#include "base/error.h"

#include <stdio.h>

typedef struct fer_profile_row {
    char *op;
    size_t num_calls;
    double total_ms;
} fer_profile_row;

/* What is known of a run. All zero: nothing is asked for. */
typedef struct fer_profile {
    bool has_table;         /* --profile */
    const char *trace_path; /* --trace, or NULL */
    fer_profile_row *rows;
    size_t num_rows;
    size_t rows_capacity;
    FILE *trace; /* while the run lasts */
    size_t num_events;
    double start; /* of the run */
    bool is_running;
    bool has_failed; /* for want of memory */
} fer_profile;

/* Has kernels observed, if anything is asked for. Called before any op is declared; the profile
 * stays where it is. */
void fer_profile_prepare(fer_profile *profile);
/* The run begins: calls count from here on. IO: the trace's file cannot be written. */
fer_status fer_profile_start(fer_profile *profile, fer_error *error);
/* The run has ended, with `status`, which is given back unless it was FER_OK and the trace cannot
 * be written. Prints the table on the standard error. */
fer_status fer_profile_finish(fer_profile *profile, fer_status status, fer_error *error);
void fer_profile_clear(fer_profile *profile);

#endif
