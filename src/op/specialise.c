#include "base/log.h"
#include "op/check.h"
#include "op/op.h"
#include "op/threads.h"
#include "signature/unify.h"

#include <stdlib.h>
#include <string.h>

static void destroy(fer_specialisation *specialisation)
{
    if (specialisation == NULL)
        return;
    destroy(atomic_load(&specialisation->checked));
    fer_plan_clear(&specialisation->plan);
    fer_library_release(specialisation->library);
    free(specialisation->var_dtypes);
    free(specialisation);
}

static fer_status open_library(const fer_op *op, const fer_dtype *var_dtypes, bool is_checked,
                               fer_library **out_library, fer_error *error)
{
    const fer_signature_spec *spec = fer_signature_folded(op->signature);
    fer_dtype_choice *choices = calloc(spec->num_dtype_vars + 1, sizeof *choices);
    if (choices == NULL)
        return fer_fail_memory(error);
    for (size_t i = 0; i < spec->num_dtype_vars; i++)
        choices[i] = (fer_dtype_choice){.name = spec->dtype_vars[i].name, .dtype = var_dtypes[i]};
    fer_status status =
        is_checked
            ? fer_library_open_checked(op->home, op->name, spec->params, spec->num_params, choices,
                                       spec->num_dtype_vars, fer_tell_run, out_library, error)
            : fer_library_open(op->home, op->name, spec->params, spec->num_params, choices,
                               spec->num_dtype_vars, out_library, error);
    free(choices);
    return status;
}

/* Each function stands in for the next one in. */
static void set_functions(fer_specialisation *made)
{
    const fer_abi_entry *kernel = fer_library_kernel(made->library);
    bool has_openmp = fer_library_openmp(made->library) != NULL;
    bool is_watched = fer_crashes_are_reported();
    /* A MAP minds the number of threads by itself. */
    made->unobserved = has_openmp && kernel->kind != FER_ABI_MAP ? fer_run_limited : kernel->run;
    made->unlogged = fer_kernels_are_observed() ? fer_run_observed : made->unobserved;
    made->unwatched = fer_log_has(FER_LOG_CALL) ? fer_run_logged : made->unlogged;
    made->run = is_watched ? fer_run_watched : made->unwatched;
    if (made->plan.num_open == 0)
        return;
    made->unwatched_shape =
        has_openmp ? fer_measure_limited : fer_library_shape(made->library)->run;
    made->shape = is_watched ? fer_shape_watched : made->unwatched_shape;
}

static fer_status copy_dtypes(const fer_op *op, const fer_dtype *var_dtypes, fer_dtype **out_dtypes,
                              fer_error *error)
{
    const size_t num_vars = fer_signature_folded(op->signature)->num_dtype_vars;
    *out_dtypes = calloc(num_vars + 1, sizeof **out_dtypes);
    if (*out_dtypes == NULL)
        return fer_fail_memory(error);
    if (num_vars > 0)
        memcpy(*out_dtypes, var_dtypes, num_vars * sizeof **out_dtypes);
    return FER_OK;
}

static fer_status create(const fer_op *op, const fer_dtype *var_dtypes, bool is_checked,
                         fer_specialisation **out_specialisation, fer_error *error)
{
    fer_status status = FER_OK;
    FER_TRY(fer_check_environment(error));
    fer_specialisation *made = calloc(1, sizeof *made);
    if (made == NULL)
        return fer_fail_memory(error);
    made->op = op;
    FER_TRY_DONE(copy_dtypes(op, var_dtypes, &made->var_dtypes, error));
    FER_TRY_DONE(open_library(op, var_dtypes, is_checked, &made->library, error));
    FER_TRY_DONE(fer_conform(op->signature, var_dtypes, op->home, made->library, error));
    FER_TRY_DONE(fer_plan_create(op->signature, var_dtypes, &made->plan, error));
    fer_run_mode_prepare();
    set_functions(made);
    *out_specialisation = made;
    made = NULL;

done:
    destroy(made);
    return status;
}

/* A specialisation is told by its dtypes of the operands and results: two choices of the variables
 * that give the same ones are the same. */
static bool serves(const fer_specialisation *specialisation, const fer_dtype *var_dtypes)
{
    const fer_signature_spec *spec = fer_signature_folded(specialisation->op->signature);
    for (size_t var = 0; var < spec->num_dtype_vars; var++)
        for (size_t i = 0; i < spec->num_operands; i++) {
            const char *name = spec->operands[i].type.dtype_var;
            if (name != NULL && strcmp(name, spec->dtype_vars[var].name) == 0 &&
                specialisation->plan.operands[i].dtype != var_dtypes[var])
                return false;
        }
    return true;
}

static const fer_specialisation *find(const fer_specialisation *first, const fer_dtype *var_dtypes)
{
    while (first != NULL && !serves(first, var_dtypes))
        first = first->next;
    return first;
}

/* Puts it at the list's head, unless another thread was faster with one for the same dtypes. The
 * list is a cache inside an object that is immutable to everyone else. */
static const fer_specialisation *publish(const fer_op *op, const fer_dtype *var_dtypes,
                                         fer_specialisation *made)
{
    fer_op *cache = (fer_op *)op;
    fer_specialisation *head = atomic_load(&cache->specialisations);
    do {
        const fer_specialisation *other = find(head, var_dtypes);
        if (other != NULL) {
            destroy(made);
            return other;
        }
        made->next = head;
    } while (!atomic_compare_exchange_weak(&cache->specialisations, &head, made));
    return made;
}

fer_status fer_op_select(const fer_op *op, const fer_dtype *var_dtypes,
                         const fer_specialisation **out_specialisation, fer_error *error)
{
    *out_specialisation = NULL;
    if (op->home == NULL)
        return fer_fail_at(error, FER_VALUE_ERROR, &(fer_place){.op = op->name},
                           "%s: a signature without a kernel cannot run", op->name);
    *out_specialisation = find(atomic_load(&op->specialisations), var_dtypes);
    if (*out_specialisation != NULL)
        return FER_OK;
    fer_specialisation *made = NULL;
    FER_TRY(create(op, var_dtypes, false, &made, error));
    *out_specialisation = publish(op, var_dtypes, made);
    return FER_OK;
}

fer_status fer_specialisation_checked(const fer_specialisation *specialisation,
                                      const fer_specialisation **out_checked, fer_error *error)
{
    /* It is a cache inside what is immutable to everyone else. */
    fer_specialisation *cache = (fer_specialisation *)specialisation;
    fer_specialisation *checked = atomic_load(&cache->checked);
    *out_checked = checked;
    if (checked != NULL)
        return FER_OK;
    fer_specialisation *made = NULL;
    FER_TRY(create(specialisation->op, specialisation->var_dtypes, true, &made, error));
    if (!atomic_compare_exchange_strong(&cache->checked, &checked, made))
        destroy(made); /* another thread was faster */
    else
        checked = made;
    *out_checked = checked;
    return FER_OK;
}

void fer_op_release(fer_op *op)
{
    if (op == NULL || atomic_fetch_sub_explicit(&op->references, 1, memory_order_acq_rel) > 1)
        return;
    fer_specialisation *next = atomic_load(&op->specialisations);
    while (next != NULL) {
        fer_specialisation *gone = next;
        next = gone->next;
        destroy(gone);
    }
    for (size_t i = 0; i < op->num_packages; i++)
        fer_package_release(op->packages[i]);
    fer_signature_release(op->signature);
    free(op->token);
    free(op);
}
