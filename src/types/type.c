/* Tensor types, and their text. */
#include "base/arithmetic.h"
#include "base/text.h"
#include "types/device.h"
#include "types/dtype.h"
#include "types/expression.h"
#include "types/form.h"

#include <stdlib.h>
#include <string.h>

struct fer_type {
    atomic_size_t references;
    fer_dtype dtype;
    fer_device device;
    size_t rank;
    fer_dim *dims[FER_MAX_RANK]; /* NULL: open */
    char *text;
};

static fer_status judge_dim(const fer_dim *dim, size_t axis, fer_error *error)
{
    fer_place place = {.has_axis = true, .axis = (int)axis};
    for (size_t i = 0; i < fer_dim_num_symbols(dim); i++) {
        fer_namespace space;
        const char *name = fer_dim_symbol_at(dim, i, &space);
        if (space != FER_NAMESPACE_CALLER)
            return fer_fail_at(error, FER_TYPE_ERROR, &place,
                               "axis %zu is %s, whose name %s belongs to a signature; such names "
                               "are reserved",
                               axis, fer_dim_text(dim), name);
    }
    place.expected = "0 or more";
    place.actual = fer_dim_text(dim);
    if (fer_dim_is_static(dim) && dim->num_terms > 0 && dim->terms[0].coefficient < 0)
        return fer_fail_at(error, FER_VALUE_ERROR, &place,
                           "axis %zu is %s; a dim of a tensor is not negative", axis,
                           fer_dim_text(dim));
    return FER_OK;
}

/* Elements and bytes of the static dims alone: what is symbolic is judged when it is known. */
static fer_status judge_size(const fer_type *type, fer_error *error)
{
    int64_t extents[FER_MAX_RANK];
    for (size_t i = 0; i < type->rank; i++) {
        const fer_dim *dim = type->dims[i];
        extents[i] = 1;
        if (dim != NULL && fer_dim_is_static(dim))
            extents[i] = dim->num_terms == 0 ? 0 : dim->terms[0].coefficient;
    }
    int64_t num_elements, num_bytes;
    if (!fer_count_elements(extents, type->rank, &num_elements))
        return fer_fail(error, FER_OVERFLOW_ERROR, "%s has more elements than int64 counts",
                        type->text);
    if (__builtin_mul_overflow(num_elements, (int64_t)fer_dtype_bytes(type->dtype), &num_bytes))
        return fer_fail(error, FER_OVERFLOW_ERROR, "%s has more bytes than int64 counts",
                        type->text);
    return FER_OK;
}

static fer_status make_text(fer_type *type, fer_error *error)
{
    fer_text text = FER_TEXT_INIT;
    fer_text_printf(&text, "%s[", fer_dtype_name(type->dtype));
    for (size_t i = 0; i < type->rank; i++) {
        fer_text_append(&text, i > 0 ? ", " : "");
        fer_text_append(&text, type->dims[i] == NULL ? "?" : fer_dim_text(type->dims[i]));
    }
    fer_text_append_char(&text, ']');
    fer_append_device(&text, type->device.id);
    return fer_text_take(&text, &type->text, error);
}

static fer_status judge_head(fer_dtype dtype, size_t rank, fer_device device, fer_error *error)
{
    FER_TRY(fer_dtype_check(dtype, error));
    if (rank > FER_MAX_RANK)
        return fer_fail(error, FER_VALUE_ERROR, "a type of rank %zu; the highest is %d", rank,
                        FER_MAX_RANK);
    return fer_device_check(device, error);
}

fer_status fer_type_create(fer_dtype dtype, size_t rank, const fer_dim *const *dims,
                           fer_device device, fer_type **out_type, fer_error *error)
{
    *out_type = NULL;
    FER_TRY(judge_head(dtype, rank, device, error));
    for (size_t i = 0; i < rank; i++)
        if (dims[i] != NULL)
            FER_TRY(judge_dim(dims[i], i, error));
    fer_type *type = malloc(sizeof *type);
    if (type == NULL)
        return fer_fail_memory(error);
    *type = (fer_type){.dtype = dtype, .device = device, .rank = rank};
    atomic_init(&type->references, 1);
    for (size_t i = 0; i < rank; i++)
        type->dims[i] = dims[i] == NULL ? NULL : fer_dim_retain(dims[i]);
    fer_status status;
    FER_TRY_DONE(make_text(type, error));
    FER_TRY_DONE(judge_size(type, error));
    *out_type = type;

done:
    if (status != FER_OK)
        fer_type_release(type);
    return status;
}

fer_type *fer_type_retain(const fer_type *type)
{
    fer_type *shared = (fer_type *)type;
    atomic_fetch_add_explicit(&shared->references, 1, memory_order_relaxed);
    return shared;
}

void fer_type_release(fer_type *type)
{
    if (type == NULL || atomic_fetch_sub_explicit(&type->references, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < type->rank; i++)
        fer_dim_release(type->dims[i]);
    free(type->text);
    free(type);
}

fer_dtype fer_type_dtype(const fer_type *type)
{
    return type->dtype;
}

size_t fer_type_rank(const fer_type *type)
{
    return type->rank;
}

const fer_dim *fer_type_dim(const fer_type *type, size_t axis)
{
    return type->dims[axis];
}

fer_device fer_type_device(const fer_type *type)
{
    return type->device;
}

const char *fer_type_text(const fer_type *type)
{
    return type->text;
}

bool fer_type_equal(const fer_type *a, const fer_type *b)
{
    if (a->dtype != b->dtype || a->rank != b->rank || a->device.id != b->device.id)
        return false;
    for (size_t i = 0; i < a->rank; i++)
        if (a->dims[i] == NULL || b->dims[i] == NULL || !fer_dim_equal(a->dims[i], b->dims[i]))
            return false;
    return true;
}
