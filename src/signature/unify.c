#include "signature/unify.h"

#include "signature/bind.h"
#include "types/substitute.h"
#include <stdlib.h>
#include <string.h>

fer_status fer_signature_require_complete(const fer_signature *signature, fer_error *error)
{
    if (fer_signature_is_complete(signature))
        return FER_OK;
    const fer_signature_spec *spec = &signature->folded;
    fer_text names = FER_TEXT_INIT;
    const char *first = NULL;
    size_t num_names = 0;
    for (size_t i = 0; i < spec->num_params; i++) {
        const fer_param *param = &spec->params[i];
        if (param->has_value)
            continue;
        fer_text_printf(&names, "%s'%s'", num_names == 0 ? "" : ", ", param->name);
        first = num_names == 0 ? param->name : first;
        num_names++;
    }
    const char *op = spec->name;
    fer_status status =
        names.has_failed
            ? fer_fail_memory(error)
            : fer_fail_at(error, FER_VALUE_ERROR, &(fer_place){.op = op},
                          "%s: parameter%s %s %s no value; give %s at declaration, or subscript "
                          "the op: %s<%s = ...> in a program, --param %s=... with `ferrule call`, "
                          "%s[{'%s': ...}] in Python, fer_op_specialise in C",
                          op, num_names == 1 ? "" : "s", fer_text_string(&names),
                          num_names == 1 ? "has" : "have", num_names == 1 ? "it" : "them", op,
                          first, first, op, first);
    fer_text_free(&names);
    return status;
}

static fer_status check_condition(const fer_binder *b, size_t index)
{
    const fer_condition *condition = &b->spec->conditions[index];
    fer_dim_place place = {.spec = &b->signature->declared,
                           .condition = &b->signature->declared.conditions[index]};
    fer_dim *left = NULL;
    fer_dim *right = NULL;
    fer_decision decision = FER_UNDECIDED;
    fer_status status = fer_dim_fold(condition->left, b->values, b->num_values, &left, b->error);
    if (status == FER_OK)
        status = fer_dim_fold(condition->right, b->values, b->num_values, &right, b->error);
    if (status != FER_OK)
        status = fer_fail_arithmetic(&place, b->values, b->num_values, status, b->error);
    else
        status = fer_comparison_decide(condition->comparison, left, right, &decision, b->error);
    if (status == FER_OK && decision == FER_IS_FALSE)
        status = fer_fail_condition(&place, "is false", b->values, b->num_values, b->error);
    fer_dim_release(left);
    fer_dim_release(right);
    return status;
}

/* The dims of a result under construction; NULL is an open one. */
typedef struct extent_list {
    const fer_dim *dims[FER_MAX_RANK];
    fer_dim *owned[FER_MAX_RANK]; /* those that this list releases */
    size_t rank;
} extent_list;

static size_t result_rank(const fer_binder *b, const fer_template *type)
{
    size_t rank = 0;
    for (size_t i = 0; i < type->num_axes; i++) {
        const char *run = type->axes[i].run;
        rank += run == NULL ? 1 : fer_binder_find_run(b, run)->num_dims;
    }
    return rank;
}

static void append_extents_of_run(const fer_binder *b, const char *name, extent_list *extents)
{
    const fer_run_binding *run = fer_binder_find_run(b, name);
    for (size_t i = 0; i < run->num_dims; i++)
        extents->dims[extents->rank++] =
            fer_type_dim(b->operands[run->operand], run->first_axis + i);
}

static fer_status check_not_negative(const fer_binder *b, const fer_dim_place *place,
                                     const fer_dim *dim)
{
    int64_t value = 0;
    if (fer_dim_is_static(dim))
        FER_TRY(fer_dim_value(dim, &value, b->error));
    if (value >= 0)
        return FER_OK;
    return fer_fail_negative(place, value, b->values, b->num_values, b->error);
}

static fer_status append_extent(const fer_binder *b, size_t result, size_t axis,
                                extent_list *extents)
{
    if (fer_signature_open_symbol(b->signature, result, axis) != NULL) {
        extents->dims[extents->rank++] = NULL;
        return FER_OK;
    }
    const fer_dim *dim = b->spec->results[result].type.axes[axis].dim;
    fer_dim_place place = {.spec = &b->signature->declared,
                           .item = &b->signature->declared.results[result],
                           .axis = axis,
                           .type_axis = &extents->rank};
    fer_dim **extent = &extents->owned[extents->rank];
    fer_status status = fer_dim_fold(dim, b->values, b->num_values, extent, b->error);
    if (status != FER_OK)
        return fer_fail_arithmetic(&place, b->values, b->num_values, status, b->error);
    FER_TRY(check_not_negative(b, &place, *extent));
    extents->dims[extents->rank++] = *extent;
    return FER_OK;
}

static fer_status make_extents(const fer_binder *b, size_t result, extent_list *extents)
{
    const fer_template *type = &b->spec->results[result].type;
    const char *op = b->spec->name;
    size_t rank = result_rank(b, type);
    if (rank > FER_MAX_RANK)
        return fer_fail_at(b->error, FER_VALUE_ERROR, &(fer_place){.op = op},
                           "%s: result %zu would have rank %zu; the highest rank is %d", op, result,
                           rank, FER_MAX_RANK);
    for (size_t i = 0; i < type->num_axes; i++) {
        if (type->axes[i].run != NULL)
            append_extents_of_run(b, type->axes[i].run, extents);
        else
            FER_TRY(append_extent(b, result, i, extents));
    }
    return FER_OK;
}

static fer_status make_result(const fer_binder *b, size_t result, fer_type **out_type)
{
    const fer_template *type = &b->spec->results[result].type;
    fer_dtype dtype = type->dtype;
    if (type->dtype_var != NULL)
        dtype = b->dtypes[fer_spec_find_dtype_var(b->spec, type->dtype_var) - b->spec->dtype_vars];
    extent_list extents = {.rank = 0};
    fer_status status = make_extents(b, result, &extents);
    if (status == FER_OK) {
        status = fer_type_create(dtype, extents.rank, extents.dims, fer_type_device(b->operands[0]),
                                 out_type, b->error);
        if (status != FER_OK)
            status = fer_fail_in_op(b->spec->name, status, b->error);
    }
    for (size_t i = 0; i < FER_MAX_RANK; i++)
        fer_dim_release(extents.owned[i]);
    return status;
}

static fer_status unify(fer_binder *b, size_t num_operands, fer_unification *unification)
{
    FER_TRY(fer_bind_operands(b, num_operands));
    for (size_t i = 0; i < b->spec->num_conditions; i++)
        FER_TRY(check_condition(b, i));
    for (size_t i = 0; i < b->spec->num_results; i++)
        FER_TRY(make_result(b, i, &unification->results[i]));
    return FER_OK;
}

fer_status fer_unify(const fer_signature *signature, const fer_type *const *operands,
                     size_t num_operands, fer_unification *out_unification, fer_error *error)
{
    *out_unification = (fer_unification){0};
    const fer_signature_spec *spec = &signature->folded;
    /* One element at least, so that NULL always means that there is no memory. */
    fer_unification unification = {
        .dtypes = calloc(spec->num_dtype_vars + 1, sizeof(fer_dtype)),
        .results = calloc(spec->num_results + 1, sizeof(fer_type *)),
        .num_results = spec->num_results,
    };
    fer_status status = FER_OK;
    if (unification.dtypes == NULL || unification.results == NULL) {
        status = fer_fail_memory(error);
        goto done;
    }
    fer_binder b = {
        .signature = signature,
        .spec = spec,
        .operands = operands,
        .error = error,
        .dtypes = unification.dtypes,
        .num_values = signature->num_constants,
    };
    if (signature->num_constants > 0)
        memcpy(b.values, signature->constants, signature->num_constants * sizeof *b.values);
    FER_TRY_DONE(unify(&b, num_operands, &unification));
    *out_unification = unification;
    return FER_OK;

done:
    if (unification.results != NULL)
        fer_unification_clear(&unification);
    else
        free(unification.dtypes);
    return status;
}

void fer_unification_clear(fer_unification *unification)
{
    for (size_t i = 0; i < unification->num_results; i++)
        fer_type_release(unification->results[i]);
    free(unification->results);
    free(unification->dtypes);
    *unification = (fer_unification){0};
}

fer_status fer_signature_infer(const fer_signature *signature, const fer_type *const *operands,
                               size_t num_operands, fer_type **out_types, size_t num_results,
                               fer_error *error)
{
    for (size_t i = 0; i < num_results; i++)
        out_types[i] = NULL;
    if (num_results != signature->folded.num_results)
        return fer_fail_count(error, &(fer_count){.op = signature->folded.name,
                                                  .what = "result",
                                                  .is_room = true,
                                                  .expected = signature->folded.num_results,
                                                  .actual = num_results});
    fer_unification unification;
    FER_TRY(fer_unify(signature, operands, num_operands, &unification, error));
    for (size_t i = 0; i < num_results; i++) {
        out_types[i] = unification.results[i];
        unification.results[i] = NULL;
    }
    fer_unification_clear(&unification);
    return FER_OK;
}
