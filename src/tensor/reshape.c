/* Reshape: the elements of a tensor, in row-major order, under another shape. */
#include "base/arithmetic.h"
#include "base/text.h"
#include "tensor/tensor.h"

#include <inttypes.h>
#include <string.h>

#define NO_AXIS SIZE_MAX

typedef struct reshape {
    const fer_tensor *from;
    size_t rank;
    int64_t extents[FER_MAX_RANK];
    size_t inferred_axis; /* or NO_AXIS */
} reshape;

void fer_tensor_set_shape(fer_tensor *tensor, size_t rank, const int64_t *extents)
{
    tensor->rank = (uint8_t)rank;
    tensor->dl.ndim = (int32_t)rank;
    memcpy(tensor->extents, extents, rank * sizeof *extents);
}

/* --- The shape -------------------------------------------------------------------------------- */

static void append_shape(fer_text *text, const int64_t *extents, size_t rank)
{
    for (size_t axis = 0; axis < rank; axis++)
        fer_text_printf(text, "%s%" PRId64, axis == 0 ? "[" : ", ", extents[axis]);
    fer_text_append(text, rank == 0 ? "[]" : "]");
}

__attribute__((format(printf, 3, 4))) static fer_status fail(const reshape *r, fer_error *error,
                                                             const char *format, ...)
{
    va_list arguments;
    fer_text why = FER_TEXT_INIT;
    fer_text_printf(&why, "reshape of %s", fer_dtype_name(fer_tensor_dtype(r->from)));
    append_shape(&why, r->from->extents, r->from->rank);
    fer_text_append(&why, " to ");
    append_shape(&why, r->extents, r->rank);
    fer_text_append(&why, ": ");
    va_start(arguments, format);
    fer_text_vprintf(&why, format, arguments);
    va_end(arguments);
    fer_status status = why.has_failed
                            ? fer_fail_memory(error)
                            : fer_fail(error, FER_VALUE_ERROR, "%s", fer_text_string(&why));
    fer_text_free(&why);
    return status;
}

static fer_status take_shape(reshape *r, size_t rank, const int64_t *shape, fer_error *error)
{
    if (rank > FER_MAX_RANK)
        return fer_fail(error, FER_VALUE_ERROR, "reshape to rank %zu: the highest rank is %d", rank,
                        FER_MAX_RANK);
    if (rank > 0 && shape == NULL)
        return fer_fail(error, FER_VALUE_ERROR, "reshape to rank %zu needs a shape", rank);
    r->rank = rank;
    r->inferred_axis = NO_AXIS;
    if (rank > 0)
        memcpy(r->extents, shape, rank * sizeof *shape);
    for (size_t axis = 0; axis < rank; axis++) {
        if (shape[axis] < -1)
            return fail(r, error, "axis %zu is negative", axis);
        if (shape[axis] != -1)
            continue;
        if (r->inferred_axis != NO_AXIS)
            return fail(r, error, "only one dim can be inferred");
        r->inferred_axis = axis;
    }
    return FER_OK;
}

static fer_status infer(reshape *r, fer_error *error)
{
    int64_t extents[FER_MAX_RANK];
    int64_t others;
    int64_t count = r->from->num_elements;
    memcpy(extents, r->extents, sizeof extents);
    extents[r->inferred_axis] = 1;
    if (!fer_count_elements(extents, r->rank, &others))
        return fail(r, error, "there are %" PRId64 " elements, not so many", count);
    if (others == 0)
        return fail(r, error, "beside a dim of 0 none can be inferred");
    if (count % others != 0)
        return fail(r, error, "there are %" PRId64 " elements, which the other dims do not divide",
                    count);
    r->extents[r->inferred_axis] = count / others;
    return FER_OK;
}

static fer_status check_count(const reshape *r, fer_error *error)
{
    int64_t wanted;
    int64_t count = r->from->num_elements;
    if (!fer_count_elements(r->extents, r->rank, &wanted))
        return fail(r, error, "there are %" PRId64 " elements, not so many", count);
    if (count != wanted)
        return fail(r, error, "there are %" PRId64 " elements, not %" PRId64, count, wanted);
    return FER_OK;
}

/* --- The tensor ------------------------------------------------------------------------------- */

static void release_owner(void *owner)
{
    fer_tensor_release(owner);
}

/* A view of a view keeps what the first one keeps, so that no chain grows. */
static const fer_tensor *owner_of(const fer_tensor *tensor)
{
    return tensor->deleter == release_owner ? tensor->context : tensor;
}

static fer_status share(const reshape *r, fer_tensor **out_tensor, fer_error *error)
{
    const fer_tensor *from = r->from;
    fer_tensor *owner = fer_tensor_retain(owner_of(from));
    fer_status status = fer_tensor_borrow_strided(
        (fer_dtype)from->dtype, r->rank, r->extents, NULL, from->dl.data, from->is_read_only,
        fer_tensor_device(from), release_owner, owner, out_tensor, error);
    if (status != FER_OK)
        fer_tensor_release(owner);
    return status;
}

fer_status fer_tensor_reshape(const fer_tensor *tensor, size_t rank, const int64_t *shape,
                              fer_tensor **out_tensor, fer_error *error)
{
    *out_tensor = NULL;
    reshape r = {.from = tensor};
    FER_TRY(take_shape(&r, rank, shape, error));
    if (r.inferred_axis != NO_AXIS)
        FER_TRY(infer(&r, error));
    FER_TRY(check_count(&r, error));
    if (fer_tensor_is_compact(tensor))
        return share(&r, out_tensor, error);
    fer_tensor *copy;
    FER_TRY(fer_tensor_compact(tensor, &copy, error));
    fer_tensor_set_shape(copy, r.rank, r.extents);
    *out_tensor = copy;
    return FER_OK;
}
