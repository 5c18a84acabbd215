/* One run of one function of a kernel: what the kernel may ask of its caller, and how it ended. */
#ifndef FERRULE_OP_RUN_H
#define FERRULE_OP_RUN_H

#include "op/op.h"

typedef struct fer_kernel_run {
    fer_context context; /* first: kernels are given its address */
    fer_error *error;
    bool has_failed;
    struct fer_scratch *scratch;
    int64_t *open;   /* extents that SHAPE stores, or NULL */
    int64_t unknown; /* where an extent goes that the declaration does not have */
} fer_kernel_run;

/* What the context offers. */
int fer_kernel_run_fail(fer_context *context, const char *file, int line, const char *format, ...);
void *fer_kernel_run_scratch(fer_context *context, uint64_t num_bytes);
int64_t *fer_kernel_run_extent(fer_context *context, const char *name);

/* Records a failure as `fail` does, at that place; the first one is the one that is told. */
void fer_kernel_run_note(fer_kernel_run *run, const fer_place *place, const char *file, int line,
                         const char *message);

/* Member by member: this is on the path of every call. */
static inline void fer_kernel_run_begin(fer_kernel_run *run,
                                        const fer_specialisation *specialisation,
                                        uint32_t num_threads, int64_t *open, fer_error *error)
{
    run->context.struct_bytes = sizeof run->context;
    run->context.num_threads = num_threads;
    run->context.runtime = (void *)specialisation;
    run->context.fail = fer_kernel_run_fail;
    run->context.scratch = fer_kernel_run_scratch;
    run->context.extent = fer_kernel_run_extent;
    run->error = error;
    run->has_failed = false;
    run->scratch = NULL;
    run->open = open;
}

/* For the next function. */
fer_status fer_kernel_run_finish(fer_kernel_run *run, int code);

/* `code` is what the function returned. */
static inline fer_status fer_kernel_run_end(fer_kernel_run *run, int code)
{
    return __builtin_expect(code == 0 && !run->has_failed && run->scratch == NULL, 1)
               ? FER_OK
               : fer_kernel_run_finish(run, code);
}

#endif
