/* Filling a fer_error. Internal; every function is NULL-safe in its error and returns the status,
 * so that a failure is `return fer_fail(...)`. */
#ifndef FERRULE_BASE_ERROR_H
#define FERRULE_BASE_ERROR_H

#include <ferrule/status.h>
#include <stdarg.h>

/* Runs a fallible call and leaves the function with its status; for functions with nothing to
 * clean up. */
#define FER_TRY(call)                                                                              \
    do {                                                                                           \
        fer_status fer_try_status = (call);                                                        \
        if (fer_try_status != FER_OK)                                                              \
            return fer_try_status;                                                                 \
    } while (0)

/* The same for functions that clean up at `done:`, with a local `fer_status status`. */
#define FER_TRY_DONE(call)                                                                         \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != FER_OK)                                                                      \
            goto done;                                                                             \
    } while (0)

/* Where an error is. Members that do not apply stay NULL; `axis` counts only where has_axis. */
typedef struct fer_place {
    const char *op;
    const char *operand;
    bool has_axis;
    int axis;
    const char *expected;
    const char *actual;
    const char *excerpt; /* as fer_error_excerpt gives it */
} fer_place;

/* Where an error that is there is; its text is borrowed. */
fer_place fer_place_of(const fer_error *error);

/* Stores a message. The format's arguments may point into `error` itself. */
__attribute__((format(printf, 3, 4))) fer_status fer_fail(fer_error *error, fer_status kind,
                                                          const char *format, ...);
__attribute__((format(printf, 4, 5))) fer_status
fer_fail_at(fer_error *error, fer_status kind, const fer_place *place, const char *format, ...);
fer_status fer_fail_memory(fer_error *error);

/* A wrong number of operands, results, inputs or outputs. */
typedef struct fer_count {
    const char *op;   /* the message begins with it; or NULL */
    const char *what; /* one of them: "operand" */
    bool is_room;     /* what the caller has room for */
    size_t expected;
    size_t actual;
    const char *rest; /* ends the message; or NULL */
} fer_count;

/* TYPE: `OP: expected 2 operands, got 1`, `OP: expected room for 1 result, got 2`. */
fer_status fer_fail_count(fer_error *error, const fer_count *count);

/* Puts text before the message of an error that is already there (`softmax: `), keeping the rest.
 * Returns error's kind, or `kind` when error is NULL. */
__attribute__((format(printf, 3, 4))) fer_status
fer_error_prepend(fer_error *error, fer_status kind, const char *format, ...);

/* Gives an error that is there the excerpt of a line, which ends at its newline, with the column
 * (from 1, in bytes) marked. An error that has an excerpt keeps it: that one is nearer. */
void fer_error_mark(fer_error *error, const char *line, size_t column);
/* The same with an excerpt that is made already; NULL: none. */
void fer_error_set_excerpt(fer_error *error, const char *excerpt);

/* Moves what `source` holds to `target` (NULL-safe: then it is dropped) and returns the kind. */
fer_status fer_error_move(fer_error *target, fer_error *source);

#endif
