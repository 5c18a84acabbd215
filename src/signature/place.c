#include "signature/signature.h"

#include <stdio.h>
#include <string.h>

static size_t axis_of(const fer_dim_place *place)
{
    return place->type_axis == NULL ? place->axis : *place->type_axis;
}

static void append_place(fer_text *text, const fer_dim_place *place)
{
    const fer_signature_spec *spec = place->spec;
    const fer_operand *item = place->item;
    if (item == NULL) {
        fer_text_append(text, "condition '");
        fer_condition_append(text, place->condition);
        fer_text_append_char(text, '\'');
        return;
    }
    bool is_operand = item >= spec->operands && item < spec->operands + spec->num_operands;
    if (is_operand)
        fer_text_printf(text, "operand '%s'", item->name);
    else if (item->name != NULL)
        fer_text_printf(text, "result '%s'", item->name);
    else
        fer_text_printf(text, "result %zu", (size_t)(item - spec->results));
    fer_text_printf(text, " axis %zu", axis_of(place));
    if (item->type.axes[place->axis].dim != NULL)
        fer_text_printf(text, " ('%s')", fer_dim_text(item->type.axes[place->axis].dim));
}

static fer_place error_place(const fer_dim_place *place)
{
    const fer_signature_spec *spec = place->spec;
    bool is_operand = place->item != NULL && place->item >= spec->operands &&
                      place->item < spec->operands + spec->num_operands;
    return (fer_place){
        .op = spec->name,
        .operand = is_operand ? place->item->name : NULL,
        .has_axis = place->item != NULL,
        .axis = (int)axis_of(place),
        .expected = place->expected,
        .actual = place->actual,
    };
}

static size_t place_dims(const fer_dim_place *place, const fer_dim *out_dims[2])
{
    if (place->item == NULL) {
        out_dims[0] = place->condition->left;
        out_dims[1] = place->condition->right;
        return 2;
    }
    out_dims[0] = place->item->type.axes[place->axis].dim;
    return out_dims[0] == NULL ? 0 : 1;
}

static const fer_dim *value_of(const fer_substitution *values, size_t num_values,
                               fer_namespace space, const char *name)
{
    for (size_t i = 0; i < num_values; i++)
        if (values[i].space == space && strcmp(values[i].name, name) == 0)
            return values[i].dim;
    return NULL;
}

static bool has_symbol(const fer_dim *dim, const char *name)
{
    for (size_t i = 0; i < fer_dim_num_symbols(dim); i++)
        if (strcmp(fer_dim_symbol_at(dim, i, NULL), name) == 0)
            return true;
    return false;
}

/* Appends ` with n = 3, m = 5`: what the names in the place's dims stand for. */
static void append_values(fer_text *text, const fer_dim_place *place,
                          const fer_substitution *values, size_t num_values)
{
    const fer_dim *dims[2];
    size_t num_dims = place_dims(place, dims);
    const char *separator = " with ";
    for (size_t d = 0; d < num_dims; d++) {
        for (size_t i = 0; i < fer_dim_num_symbols(dims[d]); i++) {
            fer_namespace space;
            const char *name = fer_dim_symbol_at(dims[d], i, &space);
            const fer_dim *value = value_of(values, num_values, space, name);
            if (value == NULL || (d == 1 && has_symbol(dims[0], name)))
                continue;
            fer_text_printf(text, "%s%s = %s", separator, name, fer_dim_text(value));
            separator = ", ";
        }
    }
}

fer_status fer_fail_dim(const fer_dim_place *place, fer_status kind, fer_error *error,
                        const char *format, ...)
{
    if (error == NULL)
        return kind;
    fer_text message = FER_TEXT_INIT;
    fer_text_printf(&message, "%s: ", place->spec->name);
    append_place(&message, place);
    fer_text_append_char(&message, ' ');
    va_list arguments;
    va_start(arguments, format);
    fer_text_vprintf(&message, format, arguments);
    va_end(arguments);
    fer_place where = error_place(place);
    fer_status status = message.has_failed
                            ? fer_fail_memory(error)
                            : fer_fail_at(error, kind, &where, "%s", fer_text_string(&message));
    fer_text_free(&message);
    return status;
}

fer_status fer_fail_arithmetic(const fer_dim_place *place, const fer_substitution *values,
                               size_t num_values, fer_status kind, fer_error *error)
{
    if (error == NULL || kind == FER_MEMORY_ERROR)
        return kind;
    fer_text message = FER_TEXT_INIT;
    fer_text_printf(&message, "%s: ", place->spec->name);
    append_place(&message, place);
    append_values(&message, place, values, num_values);
    fer_text_printf(&message, ": %s", error->message);
    fer_place where = error_place(place);
    fer_status status = message.has_failed
                            ? fer_fail_memory(error)
                            : fer_fail_at(error, kind, &where, "%s", fer_text_string(&message));
    fer_text_free(&message);
    return status;
}

fer_status fer_fail_negative(const fer_dim_place *place, int64_t value,
                             const fer_substitution *values, size_t num_values, fer_error *error)
{
    char actual[24];
    snprintf(actual, sizeof actual, "%lld", (long long)value);
    fer_dim_place where = *place;
    where.expected = "0 or more";
    where.actual = actual;
    fer_text with = FER_TEXT_INIT;
    append_values(&with, place, values, num_values);
    fer_status status = with.has_failed ? fer_fail_memory(error)
                                        : fer_fail_dim(&where, FER_VALUE_ERROR, error,
                                                       "is %s%s; a dim is not negative", actual,
                                                       fer_text_string(&with));
    fer_text_free(&with);
    return status;
}

fer_status fer_fail_condition(const fer_dim_place *place, const char *is_false,
                              const fer_substitution *values, size_t num_values, fer_error *error)
{
    fer_text expected = FER_TEXT_INIT;
    fer_text with = FER_TEXT_INIT;
    fer_condition_append(&expected, place->condition);
    append_values(&with, place, values, num_values);
    fer_dim_place where = *place;
    where.expected = fer_text_string(&expected);
    where.actual = with.length == 0 ? "false" : fer_text_string(&with) + strlen(" with ");
    fer_status status = expected.has_failed || with.has_failed
                            ? fer_fail_memory(error)
                            : fer_fail_dim(&where, FER_VALUE_ERROR, error, "%s%s", is_false,
                                           fer_text_string(&with));
    fer_text_free(&expected);
    fer_text_free(&with);
    return status;
}

fer_status fer_fail_in_op(const char *op, fer_status kind, fer_error *error)
{
    if (error == NULL || kind == FER_MEMORY_ERROR)
        return kind;
    fer_place place = fer_place_of(error);
    place.op = op;
    return fer_fail_at(error, kind, &place, "%s: %s", op, error->message);
}
