/* The inside of an op, and what the call path shares with the interpreter. */
#ifndef FERRULE_OP_OP_H
#define FERRULE_OP_OP_H

#include "base/text.h"
#include "op/plan.h"
#include "package/library.h"
#include <ferrule/op.h>
#include <stdatomic.h>

/* An op for one choice of operand dtypes: the loaded kernel and the plan. It lives as long as its
 * op and never changes. */
typedef struct fer_specialisation {
    struct fer_specialisation *next;
    const fer_op *op;
    fer_dtype *var_dtypes; /* that it was selected for */
    fer_library *library;
    fer_kernel_function run;        /* what a call runs; fer_run_watched stands in for... */
    fer_kernel_function unwatched;  /* ...this, and fer_run_logged for... */
    fer_kernel_function unlogged;   /* ...this, and fer_run_observed for... */
    fer_kernel_function unobserved; /* ...this, which is the kernel's, or limits its threads */
    fer_kernel_function shape;      /* NULL: no data-dependent results */
    fer_kernel_function unwatched_shape;
    /* The same, built checked; NULL until a call needs it. Has none of its own. */
    _Atomic(struct fer_specialisation *) checked;
    fer_plan plan;
} fer_specialisation;

struct fer_op {
    atomic_size_t references;
    fer_signature *signature;
    const char *name; /* the signature's */
    char *token;
    size_t num_operands;
    size_t num_results;
    bool is_complete;
    size_t num_packages;
    fer_package *packages[FER_MAX_PACKAGES];
    const fer_package *home; /* the package that has the kernel; NULL: signature only */
    /* Only grows, at its head, and needs no lock. Bounded by the choices of dtypes. */
    _Atomic(fer_specialisation *) specialisations;
};

/* An op that can be staged but not run: a signature without a kernel. */
fer_status fer_op_from_signature(const fer_signature *signature, fer_op **out_op, fer_error *error);

/* The dtypes that an op is compiled for at its declaration: of each of the signature's dtype
 * variables the first that it allows. */
void fer_op_first_dtypes(const fer_op *op, fer_dtype *out_dtypes);

/* The specialisation for these dtypes of the signature's dtype variables; compiles it if need be.
 */
fer_status fer_op_select(const fer_op *op, const fer_dtype *var_dtypes,
                         const fer_specialisation **out_specialisation, fer_error *error);

/* The checked one of a specialisation, which lives as long; compiles it if need be. */
fer_status fer_specialisation_checked(const fer_specialisation *specialisation,
                                      const fer_specialisation **out_checked, fer_error *error);

/* Checks compact operands as a call does, everything but overlap: number, dtypes, dims, conditions,
 * devices, inout operands writable. Gives the specialisation and fills `bound`; with data-dependent
 * results (plan.num_open > 0) bound->results is filled by fer_specialisation_measure. */
fer_status fer_op_bind(const fer_op *op, fer_tensor *const *operands, size_t num_operands,
                       const fer_specialisation **out_specialisation, fer_bound *bound,
                       fer_error *error);

/* Runs the SHAPE function on operands whose elements are there, and fills bound->results. RUNTIME:
 * it failed, or an extent is negative or too large. */
fer_status fer_specialisation_measure(const fer_specialisation *specialisation,
                                      fer_tensor *const *operands, fer_bound *bound,
                                      fer_error *error);

/* Runs the kernel: tensors are results, then operands, as bound. RUNTIME with its message. */
fer_status fer_specialisation_run(const fer_specialisation *specialisation,
                                  const fer_dl_tensor *const *tensors, fer_error *error);

/* Stands in for the kernel's own function where calls are logged, so that a call that is not logged
 * asks nothing. Only for a context of fer_specialisation_run and the calls. */
int fer_run_logged(fer_context *context, const fer_dl_tensor *const *tensors);

/* A call of a kernel, or a transfer, that has just ended. */
typedef struct fer_kernel_event {
    const char *name;                    /* the op's, or `transfer` */
    const fer_dl_tensor *const *tensors; /* results, then operands */
    size_t num_results;
    size_t num_operands;
    double start; /* by fer_log_clock */
    double took;  /* milliseconds, filled by fer_tell_observer */
} fer_kernel_event;

/* Called in the thread of each call, where several may be at once. */
typedef void (*fer_observer)(void *context, const fer_kernel_event *event);

/* For a process's only thread, before the first kernel is selected: the calls of all that are from
 * now on are observed. */
void fer_observe_kernels(fer_observer observer, void *context);
bool fer_kernels_are_observed(void);
/* Tells of what began at the event's start and ends now; only where calls are observed. */
void fer_tell_observer(fer_kernel_event *event);
/* Stands in for the kernel's function where calls are observed, in the same way. */
int fer_run_observed(fer_context *context, const fer_dl_tensor *const *tensors);

/* `f32[2, 3]` */
void fer_append_extents(fer_text *text, fer_dtype dtype, size_t rank, const int64_t *extents);

/* Whose kernel a context of those is for. */
static inline const fer_specialisation *fer_context_specialisation(const fer_context *context)
{
    return context->runtime;
}

/* Stand in for the kernel's functions where crashes are reported, in the same way. */
bool fer_crashes_are_reported(void);
int fer_run_watched(fer_context *context, const fer_dl_tensor *const *tensors);
int fer_shape_watched(fer_context *context, const fer_dl_tensor *const *tensors);

/* Writes the token of a signature with these packages, for the caller to free. */
fer_status fer_token_create(const fer_signature *signature, fer_package *const *packages,
                            size_t num_packages, char **out_token, fer_error *error);

/* TYPE, or VALUE for a SHAPE function that is not there, when the kernel's own line disagrees with
 * the declaration. `fer_conform` judges what was compiled for these dtypes; `fer_conform_text`, for
 * all that the declaration allows, what the text of the kernel's file shows without a compiler. */
fer_status fer_conform(const fer_signature *signature, const fer_dtype *var_dtypes,
                       const fer_package *home, const fer_library *library, fer_error *error);
fer_status fer_conform_text(const fer_signature *signature, const fer_package *home,
                            fer_error *error);

#endif
