/* Running another program, without a shell. */
#ifndef FERRULE_BASE_PROCESS_H
#define FERRULE_BASE_PROCESS_H

#include "base/error.h"

#include <stdint.h>

typedef struct fer_process_result {
    /* -1 when a signal ended it; 0 also when another part of the process collected its exit, as one
     * that ignores SIGCHLD does: then only what it wrote tells. */
    int exit_code;
    int signal;   /* which, else 0 */
    char *output; /* stdout and stderr together, terminated; the caller frees it */
} fer_process_result;

/* Runs argv (found on PATH when it has no slash) in `folder` (NULL: the working directory) with no
 * input and in the C locale, and waits. IO: it cannot be started, with the system's reason; errno
 * is kept in `out_errno`, which may be NULL. COMPILE: interrupted, and ended with all that it
 * started. A program that ran and failed is FER_OK here. */
fer_status fer_process_run(const char *const *argv, const char *folder,
                           fer_process_result *out_result, int *out_errno, fer_error *error);

/* What fer_set_interrupt sets, and whether it ends a wait now. */
void fer_process_set_interrupt(bool (*is_interrupted)(void *context), void *context);
bool fer_process_is_interrupted(void);
/* The same for work that asks between its parts, however short they are: most times it only looks
 * at the clock. `*last_ms` is when it was asked; before the first part, 0. */
bool fer_process_is_interrupted_now(int64_t *last_ms);

#endif
