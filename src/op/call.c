#include "base/log.h"
#include "base/text.h"
#include "op/check.h"
#include "op/op.h"
#include "op/run.h"
#include "op/threads.h"
#include "signature/unify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fer_append_extents(fer_text *text, fer_dtype dtype, size_t rank, const int64_t *extents)
{
    fer_text_printf(text, "%s[", fer_dtype_name(dtype));
    for (size_t i = 0; i < rank; i++)
        fer_text_printf(text, "%s%lld", i == 0 ? "" : ", ", (long long)extents[i]);
    fer_text_append_char(text, ']');
}

int fer_run_logged(fer_context *context, const fer_dl_tensor *const *tensors)
{
    const fer_specialisation *specialisation = fer_context_specialisation(context);
    const fer_plan *plan = &specialisation->plan;
    double start = fer_log_clock();
    int code = specialisation->unlogged(context, tensors);
    double took = fer_log_clock() - start;
    fer_text types = FER_TEXT_INIT;
    for (size_t i = 0; i < plan->num_operands; i++) {
        const fer_dl_tensor *operand = tensors[plan->num_results + i];
        fer_text_append(&types, i == 0 ? "" : ", ");
        fer_append_extents(&types, (fer_dtype)plan->operands[i].dtype, (size_t)operand->ndim,
                           operand->shape);
    }
    fer_text_append(&types, ") -> (");
    for (size_t i = 0; i < plan->num_results; i++) {
        fer_text_append(&types, i == 0 ? "" : ", ");
        fer_append_extents(&types, (fer_dtype)plan->results[i].dtype, (size_t)tensors[i]->ndim,
                           tensors[i]->shape);
    }
    fer_log(FER_LOG_CALL, "%s(%s) %s %.4f ms", specialisation->op->name, fer_text_string(&types),
            code == 0 ? "in" : "failed after", took);
    fer_text_free(&types);
    return code;
}

static inline fer_status run(const fer_specialisation *specialisation, fer_kernel_function function,
                             const fer_dl_tensor *const *tensors, int64_t *open, fer_error *error)
{
    const uint32_t mode = fer_run_mode_now();
    if (__builtin_expect((mode & FER_MODE_CHECKS) != 0, 0))
        return fer_run_checked(specialisation, tensors, open, error);
    fer_kernel_run state;
    fer_kernel_run_begin(&state, specialisation, mode, open, error);
    return fer_kernel_run_end(&state, function(&state.context, tensors));
}

fer_status fer_specialisation_run(const fer_specialisation *specialisation,
                                  const fer_dl_tensor *const *tensors, fer_error *error)
{
    return run(specialisation, specialisation->run, tensors, NULL, error);
}

#define NOT_STORED INT64_MIN

/* The other dims of the results were judged before: it is what SHAPE stored. */
static __attribute__((noinline, cold)) fer_status
fail_extents(const fer_op *op, const int64_t *open, fer_error *error)
{
    size_t num_open = fer_signature_num_open(op->signature);
    fer_place place = {.op = op->name};
    for (size_t i = 0; i < num_open; i++) {
        const char *symbol = fer_signature_open_at(op->signature, i);
        if (open[i] == NOT_STORED)
            return fer_fail_at(error, FER_RUNTIME_ERROR, &place,
                               "%s: SHAPE did not store EXTENT(%s)", op->name, symbol);
        if (open[i] < 0)
            return fer_fail_at(error, FER_RUNTIME_ERROR, &place,
                               "%s: SHAPE gave %lld for '%s', which must not be negative", op->name,
                               (long long)open[i], symbol);
    }
    fer_text given = FER_TEXT_INIT;
    for (size_t i = 0; i < num_open; i++)
        fer_text_printf(&given, "%s%lld for '%s'", i == 0 ? "" : ", ", (long long)open[i],
                        fer_signature_open_at(op->signature, i));
    fer_status status = fer_fail_at(error, FER_RUNTIME_ERROR, &place,
                                    "%s: SHAPE gave %s, which makes a result too large", op->name,
                                    fer_text_string(&given));
    fer_text_free(&given);
    return status;
}

static fer_status measure(const fer_specialisation *specialisation,
                          const fer_dl_tensor *const *tensors, fer_bound *bound, fer_error *error)
{
    const fer_plan *plan = &specialisation->plan;
    const fer_op *op = specialisation->op;
    int64_t open[FER_MAX_SLOTS];
    for (size_t i = 0; i < plan->num_open; i++)
        open[i] = NOT_STORED;
    FER_TRY(run(specialisation, specialisation->shape, tensors + plan->num_results, open, error));
    return fer_plan_results(plan, tensors, open, bound) ? FER_OK : fail_extents(op, open, error);
}

fer_status fer_specialisation_measure(const fer_specialisation *specialisation,
                                      fer_tensor *const *operands, fer_bound *bound,
                                      fer_error *error)
{
    const fer_dl_tensor *tensors[FER_MAX_OPERANDS];
    for (size_t i = 0; i < specialisation->plan.num_operands; i++)
        tensors[specialisation->plan.num_results + i] = &operands[i]->dl;
    return measure(specialisation, tensors, bound, error);
}

/* --- Checking operands ------------------------------------------------------------------------ */

/* The types of operands that are all there. */
static fer_status read_types(fer_tensor *const *operands, size_t num_operands, fer_type **types,
                             fer_error *error)
{
    for (size_t i = 0; i < num_operands; i++)
        FER_TRY(fer_tensor_type(operands[i], &types[i], error));
    return FER_OK;
}

/* Asks the checker. On success `out_dtypes` has the dtypes of the variables. */
static fer_status explain(const fer_op *op, fer_tensor *const *operands, fer_dtype *out_dtypes,
                          fer_error *error)
{
    fer_type *types[FER_MAX_OPERANDS] = {NULL};
    fer_unification unification = {0};
    fer_status status = read_types(operands, op->num_operands, types, error);
    if (status == FER_OK)
        status = fer_unify(op->signature, (const fer_type *const *)types, op->num_operands,
                           &unification, error);
    if (status == FER_OK)
        memcpy(out_dtypes, unification.dtypes,
               fer_signature_folded(op->signature)->num_dtype_vars * sizeof *out_dtypes);
    fer_unification_clear(&unification);
    for (size_t i = 0; i < op->num_operands; i++)
        fer_type_release(types[i]);
    return status;
}

static const char *operand_name(const fer_op *op, size_t index)
{
    return fer_signature_folded(op->signature)->operands[index].name;
}

static fer_status check_count(const fer_op *op, fer_tensor *const *operands, size_t num_operands,
                              fer_error *error)
{
    fer_place place = {.op = op->name};
    FER_TRY(fer_signature_require_complete(op->signature, error));
    if (num_operands != op->num_operands)
        return fer_fail_at(error, FER_TYPE_ERROR, &place, "%s: expected %zu operand%s, got %zu",
                           op->name, op->num_operands, op->num_operands == 1 ? "" : "s",
                           num_operands);
    for (size_t i = 0; i < num_operands; i++) {
        place.operand = operand_name(op, i);
        if (operands[i] == NULL)
            return fer_fail_at(error, FER_TYPE_ERROR, &place, "%s: operand '%s' is no tensor",
                               op->name, place.operand);
    }
    return FER_OK;
}

/* Lists the operands, too. */
static inline const fer_specialisation *find(const fer_op *op, fer_tensor *const *operands,
                                             size_t num_operands, const fer_dl_tensor **out_tensors)
{
    if (num_operands != op->num_operands)
        return NULL;
    const fer_specialisation *found =
        atomic_load_explicit(&op->specialisations, memory_order_acquire);
    while (found != NULL && !fer_plan_takes(&found->plan, operands, out_tensors))
        found = found->next;
    return found;
}

static inline bool binds(const fer_plan *plan, const fer_dl_tensor *const *tensors,
                         fer_bound *bound)
{
    return fer_plan_bind(plan, tensors, bound) && fer_plan_results(plan, tensors, NULL, bound);
}

/* The specialisation for operands that the checker has nothing against. */
static fer_status select_slowly(const fer_op *op, fer_tensor *const *operands, size_t num_operands,
                                const fer_specialisation **out_specialisation, fer_error *error)
{
    FER_TRY(check_count(op, operands, num_operands, error));
    size_t num_vars = fer_signature_folded(op->signature)->num_dtype_vars;
    fer_dtype *dtypes = calloc(num_vars + 1, sizeof *dtypes);
    if (dtypes == NULL)
        return fer_fail_memory(error);
    fer_status status = explain(op, operands, dtypes, error);
    if (status == FER_OK)
        status = fer_op_select(op, dtypes, out_specialisation, error);
    free(dtypes);
    return status;
}

/* The way for whatever the plan did not take: the first call with new dtypes, and every mistake. */
static __attribute__((noinline, cold)) fer_status
bind_slowly(const fer_op *op, fer_tensor *const *operands, size_t num_operands,
            const fer_specialisation **out_specialisation, const fer_dl_tensor **out_tensors,
            fer_bound *bound, fer_error *error)
{
    FER_TRY(select_slowly(op, operands, num_operands, out_specialisation, error));
    const fer_plan *plan = &(*out_specialisation)->plan;
    if (fer_plan_takes(plan, operands, out_tensors) && binds(plan, out_tensors, bound))
        return FER_OK;
    return fer_fail_at(error, FER_VALUE_ERROR, &(fer_place){.op = op->name},
                       "%s: these operands do not fit the declaration %s", op->name,
                       fer_op_text(op));
}

static fer_status check_writable(const fer_op *op, const fer_plan *plan,
                                 fer_tensor *const *operands, fer_error *error)
{
    for (size_t i = 0; i < plan->num_operands; i++)
        if (plan->operands[i].is_inout && operands[i]->is_read_only)
            return fer_fail_at(error, FER_VALUE_ERROR,
                               &(fer_place){.op = op->name, .operand = operand_name(op, i)},
                               "%s: operand '%s' is inout, but the tensor is read-only", op->name,
                               operand_name(op, i));
    return FER_OK;
}

/* `found` is what `find` gave, with the operands' part of `tensors`. */
static inline __attribute__((always_inline)) fer_status
bind(const fer_op *op, fer_tensor *const *operands, size_t num_operands,
     const fer_specialisation *found, const fer_specialisation **out_specialisation,
     const fer_dl_tensor **tensors, fer_bound *bound, fer_error *error)
{
    if (__builtin_expect(found == NULL || !binds(&found->plan, tensors, bound), 0))
        FER_TRY(bind_slowly(op, operands, num_operands, &found, tensors, bound, error));
    if (found->plan.num_inout > 0)
        FER_TRY(check_writable(op, &found->plan, operands, error));
    *out_specialisation = found;
    return FER_OK;
}

fer_status fer_op_bind(const fer_op *op, fer_tensor *const *operands, size_t num_operands,
                       const fer_specialisation **out_specialisation, fer_bound *bound,
                       fer_error *error)
{
    const fer_dl_tensor *tensors[FER_MAX_OPERANDS];
    *out_specialisation = NULL;
    const fer_specialisation *found = find(op, operands, num_operands, tensors);
    return bind(op, operands, num_operands, found, out_specialisation, tensors, bound, error);
}

static fer_status check_inout_overlap(const fer_op *op, const fer_plan *plan,
                                      fer_tensor *const *operands, fer_error *error)
{
    for (size_t i = 0; i < plan->num_operands; i++)
        for (size_t j = 0; plan->operands[i].is_inout && j < plan->num_operands; j++)
            if (i != j && fer_tensors_overlap(operands[i], operands[j]))
                return fer_fail_at(
                    error, FER_VALUE_ERROR,
                    &(fer_place){.op = op->name, .operand = operand_name(op, i)},
                    "%s: operand '%s' is inout, but its memory overlaps operand '%s'", op->name,
                    operand_name(op, i), operand_name(op, j));
    return FER_OK;
}

/* A copy would be changed in its place, and its owner would not see it. */
#define ADVICE                                                                                     \
    "; give a compact copy, and copy its elements back (in Python x.numpy()[...] = copy.numpy())"

/* --- Given results ---------------------------------------------------------------------------- */

static fer_status fail_result_type(const fer_op *op, size_t index, fer_dtype dtype,
                                   const fer_extents *expected, const fer_tensor *result,
                                   fer_error *error)
{
    fer_text wanted = FER_TEXT_INIT;
    fer_text actual = FER_TEXT_INIT;
    fer_append_extents(&wanted, dtype, expected->rank, expected->extents);
    fer_append_extents(&actual, (fer_dtype)result->dtype, result->rank, result->extents);
    fer_place place = {
        .op = op->name,
        .expected = fer_text_string(&wanted),
        .actual = fer_text_string(&actual),
    };
    fer_status status = fer_fail_at(error, FER_VALUE_ERROR, &place,
                                    "%s: result %zu is %s, but the given tensor is %s", op->name,
                                    index, place.expected, place.actual);
    fer_text_free(&wanted);
    fer_text_free(&actual);
    return status;
}

__attribute__((format(printf, 4, 5))) static fer_status
fail_result(const fer_op *op, size_t index, fer_error *error, const char *format, ...)
{
    fer_text what = FER_TEXT_INIT;
    va_list arguments;
    va_start(arguments, format);
    fer_text_vprintf(&what, format, arguments);
    va_end(arguments);
    fer_status status = fer_fail_at(error, FER_VALUE_ERROR, &(fer_place){.op = op->name},
                                    "%s: the tensor given for result %zu %s", op->name, index,
                                    fer_text_string(&what));
    fer_text_free(&what);
    return status;
}

static bool has_extents(const fer_tensor *tensor, const fer_extents *expected)
{
    return tensor->rank == expected->rank &&
           memcmp(tensor->extents, expected->extents, expected->rank * sizeof *expected->extents) ==
               0;
}

static fer_status check_result_overlap(const fer_op *op, fer_tensor *const *operands,
                                       const fer_tensor *result, size_t index, fer_error *error)
{
    for (size_t i = 0; i < op->num_operands; i++)
        if (fer_tensors_overlap(result, operands[i]))
            return fail_result(op, index, error, "overlaps operand '%s'", operand_name(op, i));
    return FER_OK;
}

/* Whether a kernel may write there what the operands' extents say; the results before it may be
 * written. */
static fer_status check_result(const fer_op *op, const fer_plan *plan, const fer_bound *bound,
                               fer_tensor *const *operands, fer_tensor *const *results,
                               size_t index, fer_error *error)
{
    const fer_tensor *result = results[index];
    if (result == NULL)
        return fail_result(op, index, error, "is NULL");
    if (result->dtype != plan->results[index].dtype || !has_extents(result, &bound->results[index]))
        return fail_result_type(op, index, (fer_dtype)plan->results[index].dtype,
                                &bound->results[index], result, error);
    if (result->is_read_only)
        return fail_result(op, index, error, "is read-only");
    if (!fer_tensor_is_compact(result))
        return fail_result(op, index, error, "is not compact" ADVICE);
    int device = operands[0]->dl.device.device_id;
    if (result->dl.device.device_id != device)
        return fail_result(op, index, error,
                           "is on device %d and the operands on device %d; insert an explicit "
                           "transfer",
                           result->dl.device.device_id, device);
    FER_TRY(check_result_overlap(op, operands, result, index, error));
    for (size_t i = 0; i < index; i++)
        if (fer_tensors_overlap(result, results[i]))
            return fail_result(op, index, error, "overlaps the one for result %zu", i);
    return FER_OK;
}

/* Whether a tensor shares no memory with those behind it. */
static inline bool is_apart(const fer_dl_tensor *const *tensors, size_t index, size_t num_tensors)
{
    const fer_tensor *tensor = fer_tensor_of(tensors[index]);
    for (size_t i = index + 1; i < num_tensors; i++)
        if (fer_compact_tensors_overlap(tensor, fer_tensor_of(tensors[i])))
            return false;
    return true;
}

/* The same for all results of a plain plan at once, compared with the operands' extents where they
 * lie. Lists them. */
static inline bool fits_plainly(const fer_plan *plan, fer_tensor *const *operands,
                                fer_tensor *const *results, const fer_dl_tensor **tensors)
{
    for (size_t i = plan->num_results; i-- > 0;) {
        const fer_tensor *result = results[i];
        const fer_result_plan *wanted = &plan->results[i];
        if (result == NULL ||
            ((result->call_dtype != wanted->dtype || result->rank != wanted->num_axes) &&
             (result->call_dtype != wanted->dtype || wanted->is_simple)) ||
            result->is_read_only || result->dl.device.device_id != operands[0]->dl.device.device_id)
            return false;
        tensors[i] = &result->dl;
        if (!is_apart(tensors, i, plan->num_results + plan->num_operands))
            return false;
    }
    return fer_given_hold(plan, tensors);
}

/* --- Calling ---------------------------------------------------------------------------------- */

static fer_status fail_result_count(const fer_op *op, size_t num_results, fer_error *error)
{
    return fer_fail_at(error, FER_TYPE_ERROR, &(fer_place){.op = op->name},
                       "%s: expected room for %zu result%s, got %zu", op->name, op->num_results,
                       op->num_results == 1 ? "" : "s", num_results);
}

/* Checks and measures: after it, bound->results says what the results are. */
static inline __attribute__((always_inline)) fer_status
prepare(const fer_op *op, fer_tensor *const *operands, size_t num_operands, size_t num_results,
        const fer_specialisation *found, const fer_specialisation **out_specialisation,
        const fer_dl_tensor **tensors, fer_bound *bound, fer_error *error)
{
    FER_TRY(bind(op, operands, num_operands, found, out_specialisation, tensors, bound, error));
    const fer_plan *plan = &(*out_specialisation)->plan;
    if (num_results != plan->num_results)
        return fail_result_count(op, num_results, error);
    if (plan->num_inout > 0)
        FER_TRY(check_inout_overlap(op, plan, operands, error));
    if (plan->num_open > 0)
        FER_TRY(measure(*out_specialisation, tensors, bound, error));
    return FER_OK;
}

/* --- Operands that are not compact ------------------------------------------------------------ */

/* No plan takes them: the call is made with compact copies, which see what their owner wrote since
 * the last one. */

/* Whether there are such operands, and a call with copies of them could do. */
static __attribute__((noinline, cold)) bool
has_strided(const fer_op *op, fer_tensor *const *operands, size_t num_operands)
{
    bool has = false;
    for (size_t i = 0; i < num_operands; i++)
        has |= operands[i] != NULL && !fer_tensor_is_compact(operands[i]);
    return has && num_operands == op->num_operands;
}

/* What of the operands' own memory would not show in their copies. */
static fer_status check_copied(const fer_op *op, const fer_plan *plan, fer_tensor *const *operands,
                               fer_tensor *const *results, size_t num_results, fer_error *error)
{
    FER_TRY(check_writable(op, plan, operands, error));
    for (size_t i = 0; i < plan->num_operands; i++)
        if (plan->operands[i].is_inout && !fer_tensor_is_compact(operands[i]))
            return fer_fail_at(error, FER_VALUE_ERROR,
                               &(fer_place){.op = op->name, .operand = operand_name(op, i)},
                               "%s: operand '%s' is inout, but the tensor is not compact" ADVICE,
                               op->name, operand_name(op, i));
    FER_TRY(check_inout_overlap(op, plan, operands, error));
    for (size_t i = 0; i < num_results; i++)
        if (results[i] != NULL)
            FER_TRY(check_result_overlap(op, operands, results[i], i, error));
    return FER_OK;
}

static void release_all(fer_tensor **tensors, size_t num_tensors)
{
    for (size_t i = 0; i < num_tensors; i++)
        fer_tensor_release(tensors[i]);
}

/* Says all that is wrong before it copies. The operands that come are for the caller to release. */
static fer_status compact_operands(const fer_op *op, fer_tensor *const *operands,
                                   fer_tensor *const *results, size_t num_results,
                                   fer_tensor **out_operands, fer_error *error)
{
    const fer_specialisation *specialisation;
    FER_TRY(select_slowly(op, operands, op->num_operands, &specialisation, error));
    FER_TRY(check_copied(op, &specialisation->plan, operands, results, num_results, error));
    for (size_t i = 0; i < op->num_operands; i++) {
        fer_status status = fer_tensor_compact(operands[i], &out_operands[i], error);
        if (status != FER_OK) {
            release_all(out_operands, i);
            return status;
        }
    }
    return FER_OK;
}

static __attribute__((noinline, cold)) fer_status call_strided(const fer_op *op,
                                                               fer_tensor *const *operands,
                                                               fer_tensor **out_results,
                                                               size_t num_results, fer_error *error)
{
    fer_tensor *compact[FER_MAX_OPERANDS];
    FER_TRY(compact_operands(op, operands, NULL, 0, compact, error));
    fer_status status = fer_call(op, compact, op->num_operands, out_results, num_results, error);
    release_all(compact, op->num_operands);
    return status;
}

static __attribute__((noinline, cold)) fer_status
call_into_strided(const fer_op *op, fer_tensor *const *operands, fer_tensor *const *results,
                  size_t num_results, fer_error *error)
{
    fer_tensor *compact[FER_MAX_OPERANDS];
    FER_TRY(compact_operands(op, operands, results, num_results, compact, error));
    fer_status status = fer_call_into(op, compact, op->num_operands, results, num_results, error);
    release_all(compact, op->num_operands);
    return status;
}

/* --- The two calls ---------------------------------------------------------------------------- */

static __attribute__((noinline)) fer_status
call_into_measured(const fer_op *op, fer_tensor *const *operands, size_t num_operands,
                   fer_tensor *const *results, size_t num_results, fer_error *error)
{
    const fer_specialisation *specialisation;
    const fer_dl_tensor *tensors[FER_MAX_OPERANDS];
    fer_bound bound;
    const fer_specialisation *found = find(op, operands, num_operands, tensors);
    if (found == NULL && has_strided(op, operands, num_operands))
        return call_into_strided(op, operands, results, num_results, error);
    FER_TRY(prepare(op, operands, num_operands, num_results, found, &specialisation, tensors,
                    &bound, error));
    for (size_t i = 0; i < num_results; i++) {
        FER_TRY(check_result(op, &specialisation->plan, &bound, operands, results, i, error));
        tensors[i] = &results[i]->dl;
    }
    return fer_specialisation_run(specialisation, tensors, error);
}

/* A plain plan has a short way; any doubt there is left to the long one, which says what is wrong.
 */
fer_status fer_call_into(const fer_op *op, fer_tensor *const *operands, size_t num_operands,
                         fer_tensor *const *results, size_t num_results, fer_error *error)
{
    const fer_dl_tensor *tensors[FER_MAX_OPERANDS];
    const fer_specialisation *found = find(op, operands, num_operands, tensors);
    if (__builtin_expect(found != NULL && found->plan.is_plain &&
                             num_results == found->plan.num_results &&
                             fits_plainly(&found->plan, operands, results, tensors),
                         1))
        return run(found, found->run, tensors, NULL, error);
    return call_into_measured(op, operands, num_operands, results, num_results, error);
}

/* Makes results where they were measured, and runs. */
static inline __attribute__((always_inline)) fer_status
run_allocated(const fer_specialisation *specialisation, const fer_extents *extents,
              const fer_dl_tensor **tensors, fer_tensor **out_results, fer_error *error)
{
    const fer_plan *plan = &specialisation->plan;
    int32_t device = tensors[plan->num_results]->device.device_id;
    fer_status status = FER_OK;
    for (size_t i = 0; i < plan->num_results; i++, extents++) {
        out_results[i] =
            fer_tensor_allocate((fer_dtype)plan->results[i].dtype, extents->rank, extents->extents,
                                device, extents->num_elements, extents->num_bytes);
        if (out_results[i] == NULL) {
            status = fer_fail_memory(error);
            goto failed;
        }
        tensors[i] = &out_results[i]->dl;
    }
    status = run(specialisation, specialisation->run, tensors, NULL, error);
    if (__builtin_expect(status == FER_OK, 1))
        return FER_OK;

failed:
    for (size_t i = 0; i < plan->num_results; i++) {
        fer_tensor_release(out_results[i]);
        out_results[i] = NULL;
    }
    return status;
}

static __attribute__((noinline)) fer_status
call_measured(const fer_op *op, fer_tensor *const *operands, size_t num_operands,
              fer_tensor **out_results, size_t num_results, fer_error *error)
{
    const fer_specialisation *specialisation;
    const fer_dl_tensor *tensors[FER_MAX_OPERANDS];
    fer_bound bound;
    const fer_specialisation *found = find(op, operands, num_operands, tensors);
    if (found == NULL && has_strided(op, operands, num_operands))
        return call_strided(op, operands, out_results, num_results, error);
    FER_TRY(prepare(op, operands, num_operands, num_results, found, &specialisation, tensors,
                    &bound, error));
    return run_allocated(specialisation, bound.results, tensors, out_results, error);
}

/* Checks operands that a plain plan without runs takes, and measures its results. False: any doubt.
 */
static inline __attribute__((always_inline)) bool
measures_plainly(const fer_plan *plan, const fer_dl_tensor *const *tensors, fer_extents *extents)
{
    if (!plan->is_plain || plan->has_runs ||
        !fer_matches_hold(plan->matches, plan->num_matches, tensors, false))
        return false;
    const fer_result_plan *result = plan->results;
    for (const fer_result_plan *end = result + plan->num_results; result < end; result++)
        if (!fer_measure_simple(result, false, tensors, extents++))
            return false;
    return true;
}

fer_status fer_call(const fer_op *op, fer_tensor *const *operands, size_t num_operands,
                    fer_tensor **out_results, size_t num_results, fer_error *error)
{
    for (size_t i = 0; i < num_results; i++)
        out_results[i] = NULL;
    const fer_dl_tensor *tensors[FER_MAX_OPERANDS];
    fer_extents extents[FER_MAX_OPERANDS];
    const fer_specialisation *found = find(op, operands, num_operands, tensors);
    if (__builtin_expect(found != NULL && num_results == found->plan.num_results &&
                             measures_plainly(&found->plan, tensors, extents),
                         1))
        return run_allocated(found, extents, tensors, out_results, error);
    return call_measured(op, operands, num_operands, out_results, num_results, error);
}
