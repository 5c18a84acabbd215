#include "signature/bind.h"

#include "signature/unify.h"
#include <stdio.h>
#include <string.h>

static const char REBIND[] = "; if the two are equal, rebind the value to say so";

static const char *operand_name(const fer_binder *b, size_t operand)
{
    return b->spec->operands[operand].name;
}

static size_t num_dims_of(const fer_template *type)
{
    size_t num_dims = 0;
    for (size_t i = 0; i < type->num_axes; i++)
        num_dims += type->axes[i].run == NULL;
    return num_dims;
}

static fer_status check_count(const fer_binder *b, size_t num_operands)
{
    const char *op = b->spec->name;
    if (num_operands != b->spec->num_operands)
        return fer_fail_count(b->error, &(fer_count){.op = op,
                                                     .what = "operand",
                                                     .expected = b->spec->num_operands,
                                                     .actual = num_operands});
    for (size_t i = 0; i < num_operands; i++)
        if (b->operands[i] == NULL)
            return fer_fail_at(b->error, FER_TYPE_ERROR,
                               &(fer_place){.op = op, .operand = operand_name(b, i)},
                               "%s: operand '%s' is no tensor", op, operand_name(b, i));
    return FER_OK;
}

/* VALUE with what was expected and what came; `why` continues the sentence. */
__attribute__((format(printf, 5, 6))) static fer_status
fail_operand(const fer_binder *b, size_t operand, const char *expected, const char *actual,
             const char *format, ...)
{
    fer_text why = FER_TEXT_INIT;
    va_list arguments;
    va_start(arguments, format);
    fer_text_vprintf(&why, format, arguments);
    va_end(arguments);
    fer_place place = {.op = b->spec->name,
                       .operand = operand_name(b, operand),
                       .expected = expected,
                       .actual = actual};
    fer_status status = why.has_failed
                            ? fer_fail_memory(b->error)
                            : fer_fail_at(b->error, FER_VALUE_ERROR, &place, "%s: operand '%s' %s",
                                          place.op, place.operand, fer_text_string(&why));
    fer_text_free(&why);
    return status;
}

static fer_status check_device(const fer_binder *b, size_t operand)
{
    int first = (int)fer_type_device(b->operands[0]).id;
    int device = (int)fer_type_device(b->operands[operand]).id;
    if (device == first)
        return FER_OK;
    char expected[16], actual[16];
    snprintf(expected, sizeof expected, "%d", first);
    snprintf(actual, sizeof actual, "%d", device);
    return fail_operand(b, operand, expected, actual,
                        "is on device %s, but operand '%s' is on device %s; insert an explicit "
                        "transfer",
                        actual, operand_name(b, 0), expected);
}

static fer_status bind_dtype_var(fer_binder *b, size_t operand, const char *name)
{
    size_t index = (size_t)(fer_spec_find_dtype_var(b->spec, name) - b->spec->dtype_vars);
    uint32_t allowed = b->spec->dtype_vars[index].allowed;
    fer_dtype dtype = fer_type_dtype(b->operands[operand]);
    const char *actual = fer_dtype_name(dtype);
    if (allowed != 0 && (allowed & FER_DTYPE_BIT(dtype)) == 0) {
        fer_text expected = FER_TEXT_INIT;
        fer_constraint_append(&expected, allowed);
        fer_status status = expected.has_failed
                                ? fer_fail_memory(b->error)
                                : fail_operand(b, operand, fer_text_string(&expected), actual,
                                               "is %s, but its dtype %s is one of %s", actual, name,
                                               fer_text_string(&expected));
        fer_text_free(&expected);
        return status;
    }
    if (b->dtypes[index] == FER_DTYPE_INVALID) {
        b->dtypes[index] = dtype;
        b->dtype_operands[index] = operand;
        return FER_OK;
    }
    const char *expected = fer_dtype_name(b->dtypes[index]);
    if (b->dtypes[index] != dtype)
        return fail_operand(b, operand, expected, actual,
                            "is %s, but its dtype %s is %s, bound by operand '%s'", actual, name,
                            expected, operand_name(b, b->dtype_operands[index]));
    return FER_OK;
}

static fer_status bind_dtype(fer_binder *b, size_t operand)
{
    const fer_template *type = &b->spec->operands[operand].type;
    if (type->dtype_var != NULL)
        return bind_dtype_var(b, operand, type->dtype_var);
    fer_dtype dtype = fer_type_dtype(b->operands[operand]);
    if (dtype == type->dtype)
        return FER_OK;
    const char *expected = fer_dtype_name(type->dtype);
    const char *actual = fer_dtype_name(dtype);
    const char *param = b->signature->declared.operands[operand].type.dtype_var;
    if (param != NULL)
        return fail_operand(b, operand, expected, actual, "is %s, but parameter '%s' makes it %s",
                            actual, param, expected);
    return fail_operand(b, operand, expected, actual, "is %s, but %s is declared", actual,
                        expected);
}

static fer_status check_rank(const fer_binder *b, size_t operand)
{
    const fer_template *type = &b->spec->operands[operand].type;
    size_t rank = fer_type_rank(b->operands[operand]);
    size_t num_dims = num_dims_of(type);
    bool has_run = num_dims < type->num_axes;
    if (rank == num_dims || (has_run && rank > num_dims))
        return FER_OK;
    char expected[32];
    char actual[32];
    snprintf(expected, sizeof expected, "%zu", num_dims);
    snprintf(actual, sizeof actual, "%zu", rank);
    return fail_operand(b, operand, expected, actual, "has rank %s, but rank %s%s is declared",
                        actual, expected, has_run ? " or more" : "");
}

/* An error about one axis: `op: operand 'x' axis 1 is 3, but WHY`. A caller's symbolic dim may be
 * equal at run time, so then the message offers rebind. */
__attribute__((format(printf, 5, 6))) static fer_status fail_axis(const fer_binder *b,
                                                                  size_t operand, size_t axis,
                                                                  const fer_dim *expected,
                                                                  const char *format, ...)
{
    const fer_dim *actual = fer_type_dim(b->operands[operand], axis);
    bool is_open_question = !fer_dim_is_static(actual) || !fer_dim_is_static(expected);
    fer_text why = FER_TEXT_INIT;
    va_list arguments;
    va_start(arguments, format);
    fer_text_vprintf(&why, format, arguments);
    va_end(arguments);
    fer_place place = {.op = b->spec->name,
                       .operand = operand_name(b, operand),
                       .has_axis = true,
                       .axis = (int)axis,
                       .expected = fer_dim_text(expected),
                       .actual = fer_dim_text(actual)};
    fer_status status =
        why.has_failed
            ? fer_fail_memory(b->error)
            : fer_fail_at(b->error, FER_VALUE_ERROR, &place,
                          "%s: operand '%s' axis %zu is %s, %s%s", place.op, place.operand, axis,
                          place.actual, fer_text_string(&why), is_open_question ? REBIND : "");
    fer_text_free(&why);
    return status;
}

static fer_status require_closed(const fer_binder *b, size_t operand, size_t axis)
{
    if (fer_type_dim(b->operands[operand], axis) != NULL)
        return FER_OK;
    const char *op = b->spec->name;
    const char *name = operand_name(b, operand);
    fer_place place = {.op = op, .operand = name, .has_axis = true, .axis = (int)axis};
    return fer_fail_at(b->error, FER_VALUE_ERROR, &place,
                       "%s: operand '%s' axis %zu is not known before a kernel runs, so that "
                       "nothing can be bound to it",
                       op, name, axis);
}

static fer_status bind_symbol(fer_binder *b, size_t operand, size_t axis, const char *name)
{
    const fer_dim *dim = fer_type_dim(b->operands[operand], axis);
    for (size_t i = b->signature->num_constants; i < b->num_values; i++) {
        const fer_substitution *bound = &b->values[i];
        if (strcmp(bound->name, name) != 0)
            continue;
        if (fer_dim_equal(bound->dim, dim))
            return FER_OK;
        return fail_axis(
            b, operand, axis, bound->dim, "but %s is %s, bound by operand '%s' axis %zu", name,
            fer_dim_text(bound->dim), operand_name(b, b->origins[i].operand), b->origins[i].axis);
    }
    b->values[b->num_values] =
        (fer_substitution){.space = FER_NAMESPACE_SIGNATURE, .name = name, .dim = dim};
    b->origins[b->num_values++] = (fer_origin){.operand = operand, .axis = axis};
    return FER_OK;
}

static fer_status bind_dim(fer_binder *b, size_t operand, size_t template_axis, size_t axis)
{
    FER_TRY(require_closed(b, operand, axis));
    const fer_dim *expected = b->spec->operands[operand].type.axes[template_axis].dim;
    if (!fer_dim_is_static(expected))
        return bind_symbol(b, operand, axis, fer_dim_symbol_name(expected, NULL));
    if (fer_dim_equal(expected, fer_type_dim(b->operands[operand], axis)))
        return FER_OK;
    const char *param = fer_signature_pinned_param(b->signature, operand, template_axis);
    if (param != NULL)
        return fail_axis(b, operand, axis, expected, "but parameter '%s' makes it %s", param,
                         fer_dim_text(expected));
    return fail_axis(b, operand, axis, expected, "but %s is declared", fer_dim_text(expected));
}

/* `[7, 8]`: what a run is bound to. */
static void append_run(fer_text *text, const fer_binder *b, const fer_run_binding *run)
{
    fer_text_append_char(text, '[');
    for (size_t i = 0; i < run->num_dims; i++) {
        const fer_dim *dim = fer_type_dim(b->operands[run->operand], run->first_axis + i);
        fer_text_printf(text, "%s%s", i == 0 ? "" : ", ", fer_dim_text(dim));
    }
    fer_text_append_char(text, ']');
}

static fer_status fail_run_length(const fer_binder *b, const fer_run_binding *bound,
                                  const fer_run_binding *run)
{
    fer_text expected = FER_TEXT_INIT;
    fer_text actual = FER_TEXT_INIT;
    append_run(&expected, b, bound);
    append_run(&actual, b, run);
    fer_status status =
        expected.has_failed || actual.has_failed
            ? fer_fail_memory(b->error)
            : fail_operand(b, run->operand, fer_text_string(&expected), fer_text_string(&actual),
                           "has %s for *%s, but *%s is %s, bound by operand '%s'; operands "
                           "are not broadcast",
                           fer_text_string(&actual), run->name, run->name,
                           fer_text_string(&expected), operand_name(b, bound->operand));
    fer_text_free(&expected);
    fer_text_free(&actual);
    return status;
}

const fer_run_binding *fer_binder_find_run(const fer_binder *b, const char *name)
{
    for (size_t i = 0; i < b->num_runs; i++)
        if (strcmp(b->runs[i].name, name) == 0)
            return &b->runs[i];
    return NULL;
}

static fer_status bind_run(fer_binder *b, fer_run_binding run)
{
    for (size_t i = 0; i < run.num_dims; i++)
        FER_TRY(require_closed(b, run.operand, run.first_axis + i));
    const fer_run_binding *bound = fer_binder_find_run(b, run.name);
    if (bound == NULL) {
        b->runs[b->num_runs++] = run;
        return FER_OK;
    }
    if (bound->num_dims != run.num_dims)
        return fail_run_length(b, bound, &run);
    for (size_t i = 0; i < run.num_dims; i++) {
        const fer_dim *expected = fer_type_dim(b->operands[bound->operand], bound->first_axis + i);
        if (!fer_dim_equal(expected, fer_type_dim(b->operands[run.operand], run.first_axis + i)))
            return fail_axis(b, run.operand, run.first_axis + i, expected,
                             "but *%s has %s there, bound by operand '%s' axis %zu", run.name,
                             fer_dim_text(expected), operand_name(b, bound->operand),
                             bound->first_axis + i);
    }
    return FER_OK;
}

static fer_status bind_dims(fer_binder *b, size_t operand)
{
    const fer_template *type = &b->spec->operands[operand].type;
    size_t run_length = fer_type_rank(b->operands[operand]) - num_dims_of(type);
    size_t axis = 0;
    for (size_t i = 0; i < type->num_axes; i++) {
        if (type->axes[i].run == NULL) {
            FER_TRY(bind_dim(b, operand, i, axis++));
            continue;
        }
        FER_TRY(bind_run(b, (fer_run_binding){.name = type->axes[i].run,
                                              .operand = operand,
                                              .first_axis = axis,
                                              .num_dims = run_length}));
        axis += run_length;
    }
    return FER_OK;
}

fer_status fer_bind_operands(fer_binder *b, size_t num_operands)
{
    FER_TRY(fer_signature_require_complete(b->signature, b->error));
    FER_TRY(check_count(b, num_operands));
    for (size_t i = 0; i < num_operands; i++) {
        FER_TRY(check_rank(b, i));
        FER_TRY(bind_dtype(b, i));
    }
    for (size_t i = 0; i < num_operands; i++)
        FER_TRY(bind_dims(b, i));
    for (size_t i = 1; i < num_operands; i++)
        FER_TRY(check_device(b, i));
    return FER_OK;
}
